"""Gaps under a path: found, leapt over by jumps near them, bridged for the body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.abilities import Leap
from blender_addon.motion.errors import TerrainError
from blender_addon.motion.gaps import RIM, Gap, bridged, gaps_along, over_gaps
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import FlatGround, HeightField

LEAP = Leap(
    speed=1.0, flight=0.3, flight_speed=2.3, behind=0.32, ahead=0.4, phase=1.6, nearest=1.2, furthest=1.8,
    slow=1.6, fast=3.6,
)  # fmt: skip
#: Straight ahead, towards -Y.
PATH = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -8.0]]), False)


def ground(profile: object, cell: float = 0.02) -> HeightField:
    """A ground whose height depends on the distance along `PATH` alone."""
    return HeightField.from_function(lambda xy: profile(-xy[..., 1]), (-1.5, -9.5, 1.5, 1.5), cell)  # type: ignore[operator]


def ditch(first: float, last: float, depth: float) -> HeightField:
    return ground(lambda s: np.where((s > first) & (s < last), -depth, 0.0))


def stairs(s: Array) -> Array:
    return 0.18 * np.floor(np.clip(s - 2.0, 0.0, 3.0) / 0.3)


@given(first=st.floats(1.0, 4.0), width=st.floats(0.3, 2.5), depth=st.floats(0.35, 5.0))
def test_a_ditch_is_a_gap_from_rim_to_rim(first: float, width: float, depth: float) -> None:
    (gap,) = gaps_along(PATH, ditch(first, first + width, depth))
    assert gap.first == pytest.approx(first, abs=0.05)
    assert gap.last == pytest.approx(first + width, abs=0.05)


def test_a_hole_is_a_gap() -> None:
    (gap,) = gaps_along(PATH, ground(lambda s: np.where((s > 3.0) & (s < 4.0), np.nan, 0.0)))
    assert (gap.first, gap.last) == (pytest.approx(3.0, abs=0.05), pytest.approx(4.0, abs=0.05))


@pytest.mark.parametrize(
    "profile",
    [
        stairs,
        lambda s: -stairs(s),
        lambda s: 0.4 * np.sin(s),
        lambda s: 0.15 * np.sin(np.pi * s),
        lambda s: np.where((s > 2.0) & (s < 2.5), 0.5, 0.0),
        lambda s: np.where((s > 2.0) & (s < 6.5), -0.5, 0.0),
        lambda s: np.where((s > 2.0) & (s < 2.6), -0.15, 0.0),
        lambda s: np.maximum(-0.5 * np.maximum(s - 2.0, 0.0), 0.5 * (s - 4.0)).clip(max=0.0),
    ],
    ids=["stairs up", "down", "hills", "bumps", "a box", "a lower road", "a groove", "a gentle dip"],
)
def test_what_is_walked_over_is_no_gap(profile: object) -> None:
    assert gaps_along(PATH, ground(profile)) == []


def test_level_ground_has_no_gap() -> None:
    assert gaps_along(PATH, FlatGround()) == []


def test_a_jump_near_a_gap_takes_off_and_lands_beside_its_rims() -> None:
    gap = Gap(4.0, 5.0)
    schedule, leapt, notes = over_gaps(Schedule([Mark(0.0, 1.2), Mark(3.6, action="jump")]), [gap], LEAP)
    jump = schedule.marks[1]
    assert leapt == (gap,)
    assert not notes
    assert jump.reach == pytest.approx(gap.width + 2.0 * RIM)
    # What speeds and feet together make of it is as wide as asked.
    flies = LEAP.flight * LEAP.speed_for(jump.reach)
    takes_off, lands = jump.at - LEAP.behind, jump.at + flies + LEAP.ahead
    assert takes_off + lands == pytest.approx(gap.first + gap.last)
    assert lands - takes_off == pytest.approx(jump.reach, abs=0.1)


def test_a_jump_that_is_moved_to_clear_a_gap_is_told_by_the_mark_that_was_set() -> None:
    asked = Schedule([Mark(0.0, 1.6), Mark(4.9, action="jump")])
    schedule, _, _ = over_gaps(asked, [Gap(4.0, 5.0)], LEAP)
    assert schedule.marks[1].at < 4.4
    for start in (0.0, 1.0):
        notes = make_plan(PATH, schedule, leap=LEAP, start=start).notes
        assert "The jump at 4.90 m is taken at 1.00 m/s, as it was learned" in notes
        assert not any("leap" in note for note in notes)

    for first, why in ((0.4, "too near to an end"), (0.0, "very start")):
        schedule, _, _ = over_gaps(Schedule([Mark(0.9, action="jump")]), [Gap(first, first + 0.5)], LEAP)
        (left_out,) = (note for note in make_plan(PATH, schedule, leap=LEAP).notes if "left out" in note)
        assert left_out.startswith("The jump at 0.90 m is left out")
        assert why in left_out


def test_of_two_jumps_near_a_gap_the_nearer_clears_it_and_the_other_stays() -> None:
    asked = Schedule([Mark(3.8, action="jump"), Mark(5.9, action="jump")])
    schedule, leapt, _ = over_gaps(asked, [Gap(4.0, 5.0)], LEAP)
    assert leapt == (Gap(4.0, 5.0),)
    assert schedule.marks[1] == asked.marks[1]
    assert schedule.marks[0].reach is not None


def test_a_jump_far_from_gaps_stays_where_it_is() -> None:
    asked = Schedule([Mark(0.0, 1.2), Mark(2.0, action="jump"), Mark(4.5, action="walk")])
    schedule, leapt, _ = over_gaps(asked, [Gap(4.0, 5.0)], LEAP)
    assert schedule == asked
    assert not leapt


def test_a_gap_wider_than_the_furthest_leap_is_told_and_leapt_as_far_as_can_be() -> None:
    schedule, _, notes = over_gaps(Schedule([Mark(4.0, action="jump")]), [Gap(3.8, 6.2)], LEAP)
    assert schedule.marks[0].reach == LEAP.furthest
    assert len(notes) == 1
    assert "2.40 m wide" in notes[0]
    assert "1.80 m" in notes[0]


def test_a_gap_that_nobody_asks_to_leap_over_is_told() -> None:
    gap = Gap(4.0, 4.8, 0.4)
    _, _, notes = over_gaps(Schedule([Mark(0.0, 1.2)]), [gap], LEAP)
    assert "0.80 m at 4.00 m" in notes[0]
    assert over_gaps(Schedule(), [gap], None) == (Schedule(), (), ())


def test_a_deep_ditch_over_which_nobody_leaps_is_refused_with_a_remedy() -> None:
    gaps = gaps_along(PATH, ditch(4.0, 5.0, 1.2))
    for leap, remedy in ((LEAP, "jump"), (None, "pack")):
        with pytest.raises(TerrainError, match=r"1\.0. m wide and 1\.20 m deep") as caught:
            over_gaps(Schedule([Mark(0.0, 1.2)]), gaps, leap)
        assert remedy in caught.value.remedy
    over_gaps(Schedule([Mark(0.0, 1.2), Mark(4.0, action="jump")]), gaps, LEAP)
    over_gaps(Schedule([Mark(0.0, 1.2)]), gaps_along(PATH, ditch(4.0, 5.0, 0.4)), None)


def test_a_hole_too_long_to_walk_over_wants_a_leap_and_a_shorter_one_does_not() -> None:
    for width, refused in ((1.8, True), (1.2, False)):
        gaps = gaps_along(PATH, ground(lambda s: np.where((s > 3.0) & (s < 3.0 + width), np.nan, 0.0)))  # noqa: B023
        for leap in (LEAP, None):
            if refused:
                with pytest.raises(TerrainError, match=r"1\.8 m over a hole"):
                    over_gaps(Schedule(), gaps, leap)
            else:
                over_gaps(Schedule(), gaps, leap)
        assert over_gaps(Schedule([Mark(3.0, action="jump")]), gaps, LEAP)[1] == tuple(gaps)


def test_a_bridged_gap_is_level_and_all_else_as_it_was() -> None:
    before = ditch(4.0, 5.0, 2.0)
    after = bridged(before, PATH, gaps_along(PATH, before))
    along = np.linspace(0.0, 8.0, 801)
    places = PATH.position(along)
    assert np.abs(after.height(places)).max() < 1e-9
    assert np.allclose(before.height(places[:380]), after.height(places[:380]))
    other = ditch(1.0, 1.5, 2.0)
    assert bridged(other, PATH, []) is other


RING = RootPath.from_points(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [-4.0, 4.0], [-4.0, 0.0]]), True)


def test_a_gap_over_the_beginning_of_a_closed_path_is_found_once_and_leapt_over_by_a_mark_on_either_side() -> None:
    ring = HeightField.from_function(
        lambda xy: np.where((np.abs(xy[..., 0]) < 0.5) & (xy[..., 1] < 1.0), -0.5, 0.0), (-6.0, -2.0, 6.0, 6.0)
    )
    (gap,) = gaps_along(RING, ring)
    assert gap.first == pytest.approx(RING.length - 0.5, abs=0.05)
    assert gap.last == pytest.approx(RING.length + 0.5, abs=0.05)
    for at in (0.3, RING.length - 0.9):
        schedule, leapt, _ = over_gaps(Schedule([Mark(at, action="jump")]), [gap], LEAP, RING.length)
        assert leapt == (gap,)
        jump = schedule.marks[0]
        flies = LEAP.flight * LEAP.speed_for(jump.reach)
        assert 2.0 * jump.at + flies + LEAP.ahead - LEAP.behind == pytest.approx(2.0 * RING.length)
    level = bridged(ring, RING, [gap]).height(RING.position(np.linspace(-1.0, 1.0, 50)))
    assert np.abs(level).max() < 1e-9


def test_gaps_in_the_middle_of_a_closed_path_are_found_once() -> None:
    ring = HeightField.from_function(
        lambda xy: np.where((np.abs(xy[..., 0] - 2.0) < 0.5) & (xy[..., 1] < 1.0), -0.5, 0.0), (-6.0, -2.0, 6.0, 6.0)
    )
    (gap,) = gaps_along(RING, ring)
    assert gap.middle == pytest.approx(2.0, abs=0.05)
