"""What lies on a path before it is planned."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion.abilities import Abilities, Leap
from blender_addon.motion.errors import TerrainError
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import FlatGround, HeightField
from blender_addon.motion.way_ahead import WayAhead, as_planned, slopes, way_ahead

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
    assert found.leap.furthest == pytest.approx(0.5 * LEAP.furthest)
    assert found.leap.speed_for(0.75) == pytest.approx(0.5 * LEAP.speed_for(1.5))
    assert found.leap.flight == LEAP.flight


def test_slopes_of_a_straight_incline_are_its_own() -> None:
    assert np.allclose(slopes(0.3 * 0.05 * np.arange(60), 0.05), 0.3)


def trench(first: float, depth: float) -> HeightField:
    """Level ground with a ditch of a metre across `PATH`."""
    return HeightField.from_function(
        lambda xy: np.where(np.abs(-xy[..., 1] - first - 0.5) < 0.5, -depth, 0.0), (-1.5, -9.5, 1.5, 1.5)
    )


def planned(ground: HeightField, *marks: Mark) -> WayAhead:
    ahead = way_ahead(PATH, ground, Schedule([Mark(0.0, 1.2), *marks]), GAITS, Abilities(leap=LEAP), 1.0)
    return as_planned(ahead, PATH, ground, make_plan(PATH, ahead.schedule, leap=ahead.leap))


def test_a_ditch_whose_leap_is_left_out_is_not_walked_over_in_the_air() -> None:
    shallow = trench(0.2, 0.4)
    found = planned(shallow, Mark(0.2, action="jump"))
    assert found.leapt == () and found.ground is shallow
    assert found.notes[-1] == "The gap at 0.20 m is walked over, for the jump over it is left out"
    for at, more in ((0.2, ()), (4.0, (Mark(4.0, action="stand", pause=1.0),))):
        with pytest.raises(TerrainError, match=r"1\.00 m deep") as caught:
            planned(trench(at, 1.0), Mark(at, action="jump"), *more)
        assert "run up" in caught.value.remedy


def test_a_ditch_that_the_plan_leaps_over_stays_bridged() -> None:
    found = planned(trench(4.0, 1.0), Mark(4.0, action="jump"))
    assert len(found.leapt) == 1 and found.notes == ()
    assert np.abs(found.ground.height(PATH.position(np.linspace(0.0, 8.0, 200)))).max() < 1e-9
