"""What lies on a path before it is planned."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion.abilities import Abilities, Leap
from blender_addon.motion.path import RootPath
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import FlatGround, HeightField
from blender_addon.motion.way_ahead import slopes, way_ahead

LEAP = Leap(
    speed=1.0, flight=0.31, flight_speed=2.3, behind=0.32, ahead=0.4, phase=1.6, nearest=1.2, furthest=1.8,
    slow=2.0, fast=2.5,
)  # fmt: skip
PATH = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -8.0]]), False)
GAITS = ("stand", "walk", "run", "crouch", "jump")


def hillside(degrees: float) -> HeightField:
    rise = np.tan(np.radians(degrees))
    return HeightField.from_function(lambda xy: rise * np.maximum(-xy[..., 1] - 2.0, 0.0), (-1.0, -9.0, 1.0, 1.0), 0.05)


def test_level_ground_and_plain_gaits_are_left_as_they_are() -> None:
    asked, ground = Schedule([Mark(0.0, 1.2), Mark(3.0, action="crouch")]), FlatGround()
    found = way_ahead(PATH, ground, asked, GAITS, Abilities(leap=LEAP, steepest=0.4), 1.0)
    assert (found.schedule, found.ground, found.leap, found.notes) == (asked, ground, LEAP, ())


@pytest.mark.parametrize(("degrees", "told"), [(15.0, False), (-15.0, False), (30.0, True), (-30.0, True)])
def test_ground_steeper_than_was_learned_is_told(degrees: float, told: bool) -> None:
    learned = Abilities(steepest=float(np.tan(np.radians(20.0))))
    found = way_ahead(PATH, hillside(degrees), Schedule(), GAITS, learned, 1.0)
    assert len(found.notes) == int(told)
    assert not told or ("30 degrees" in found.notes[0] and "20 degrees" in found.notes[0])


def test_models_that_feel_no_ground_are_not_told_off_for_slopes() -> None:
    assert way_ahead(PATH, hillside(40.0), Schedule(), (), Abilities(), 1.0).notes == ()


def test_gaits_that_were_not_learned_are_told_with_what_is_shown_instead() -> None:
    (note,) = way_ahead(PATH, FlatGround(), Schedule([Mark(2.0, action="crouch")]), (), Abilities(), 1.0).notes
    assert '"crouch"' in note
    assert '"walk" is shown' in note


def test_a_small_character_leaps_less_far() -> None:
    found = way_ahead(PATH, FlatGround(), Schedule(), GAITS, Abilities(leap=LEAP), 0.5)
    assert found.leap is not None
    assert found.leap.reach == pytest.approx(0.5 * LEAP.reach)
    assert found.leap.flight == LEAP.flight


def test_slopes_of_a_straight_incline_are_its_own() -> None:
    assert np.allclose(slopes(0.3 * 0.05 * np.arange(60), 0.05), 0.3)
