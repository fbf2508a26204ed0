"""Leaps in a plan: run-up, surge, place and label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion.abilities import Leap
from blender_addon.motion.facing import Facing
from blender_addon.motion.leap import Flight, clock_of
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.schedule import AUTO, Mark, Schedule

LEAP = Leap(
    speed=1.0, flight=0.3, flight_speed=2.3, behind=0.32, ahead=0.4, phase=1.6, nearest=1.2, furthest=1.8,
    slow=2.0, fast=2.5,
)  # fmt: skip
PATH = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -12.0]]), False)


def plan(*marks: Mark, leap: Leap | None = LEAP, path: RootPath = PATH, laps: int = 1) -> Plan:
    return make_plan(path, Schedule(marks), speeds=(0.3, 2.7), leap=leap, laps=laps)


def at(plan: Plan, seconds: float) -> float:
    """Distance along the path at a time, metres."""
    return float(np.interp(seconds, np.arange(len(plan)) / plan.fps, plan.distance))


@settings(max_examples=25, deadline=None)
@given(mark=st.floats(3.0, 9.0), speed=st.floats(0.5, 2.2), reach=st.one_of(st.none(), st.floats(1.2, 1.8)))
def test_the_root_takes_off_at_the_mark_and_flies_at_the_leaps_speed(
    mark: float, speed: float, reach: float | None
) -> None:
    made = plan(Mark(0.0, speed), Mark(mark, action="jump", reach=reach))
    (take_off,) = made.leaps
    flies = LEAP.flight_speed if reach is None else 2.0 + (reach - 1.2) / 0.6 * 0.5
    assert at(made, take_off) == pytest.approx(mark, abs=0.03)
    assert at(made, take_off + LEAP.flight) - mark == pytest.approx(flies * LEAP.flight, abs=0.04)
    assert made.distance[-1] == pytest.approx(PATH.length, abs=1e-6)
    assert np.all(np.diff(made.distance) > -1e-9)


def test_the_walk_before_and_after_a_leap_has_the_leaps_speed() -> None:
    made = plan(Mark(0.0, 2.0), Mark(6.0, action="jump"))
    (take_off,) = made.leaps
    times = np.arange(len(made)) / made.fps
    before = made.speed[(times > take_off - 0.9) & (times < take_off - 0.6)]
    after = made.speed[(times > take_off + 0.6) & (times < take_off + 1.2)]
    assert np.allclose(before, LEAP.speed, atol=0.05)
    assert after.min() == pytest.approx(LEAP.speed, abs=0.1)
    assert made.speed.max() > 1.8
    assert any("1.00 m/s" in note for note in made.notes)


def test_the_jump_is_labelled_from_its_gathering_to_its_landing() -> None:
    made = plan(Mark(0.0, 1.0), Mark(5.0, action="jump"))
    frames = np.flatnonzero(made.action == made.actions.index("jump"))
    (take_off,) = made.leaps
    assert frames[0] / 60 == pytest.approx(take_off - 0.3, abs=0.02)
    assert frames[-1] / 60 == pytest.approx(take_off + LEAP.flight + 0.3, abs=0.03)


def test_a_leap_shortens_the_plan_by_what_it_gains() -> None:
    marks = (Mark(0.0, 1.0), Mark(5.0, action="jump"))
    even, made = plan(*marks, leap=None), plan(*marks)
    peak = 1.0 + 1.3 / (0.5 + 0.5 * np.sinc(0.3 / 1.3))
    assert even.seconds - made.seconds == pytest.approx((peak - 1.0) * 0.65, abs=0.04)


@pytest.mark.parametrize("mark", [0.3, 11.2])
def test_leaps_too_near_to_the_ends_are_left_out_and_told(mark: float) -> None:
    made = plan(Mark(0.0, 1.0), Mark(mark, action="jump"))
    assert made.leaps == ()
    assert "jump" not in made.actions
    assert any("left out" in note for note in made.notes)


def test_of_two_leaps_too_near_to_each_other_the_first_stays() -> None:
    made = plan(Mark(0.0, 1.0), Mark(4.0, action="jump"), Mark(4.8, action="jump"), Mark(8.0, action="jump"))
    assert [round(at(made, leap)) for leap in made.leaps] == [4, 8]
    assert sum("left out" in note for note in made.notes) == 1


def test_a_mark_within_a_leap_comes_after_it() -> None:
    made = plan(Mark(0.0, 1.0), Mark(4.0, action="jump"), Mark(4.5, 2.0))
    (take_off,) = made.leaps
    assert at(made, take_off) == pytest.approx(4.0, abs=0.03)
    assert made.speed[made.distance > 8.0].max() == pytest.approx(2.0, abs=0.02)


def test_a_leap_comes_back_on_every_lap() -> None:
    square = RootPath.from_points(np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]]), True)
    made = plan(Mark(0.0, 1.0), Mark(3.0, action="jump"), path=square, laps=2)
    assert [at(made, leap) for leap in made.leaps] == [pytest.approx(3.0, abs=0.05), pytest.approx(27.0, abs=0.3)]


def test_what_befalls_a_leap_on_every_lap_is_told_once_by_its_mark() -> None:
    square = RootPath.from_points(np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]]), True)
    made = plan(Mark(0.0, 1.8), Mark(3.0, action="jump"), path=square, laps=3)
    assert [note for note in made.notes if "jump" in note] == [
        "The jump at 3.00 m is taken at 1.00 m/s, as it was learned"
    ]


def test_without_leaps_nothing_changes() -> None:
    marks = (Mark(0.0, 1.4, AUTO), Mark(4.0, 0.8))
    one, two = plan(*marks, leap=None), plan(*marks)
    assert np.array_equal(one.positions, two.positions)
    assert np.array_equal(one.action, two.action)
    assert one.notes == two.notes


@given(gap=st.floats(4.0, 6.0), speeds=st.lists(st.floats(1.5, 3.0), min_size=1, max_size=4))
def test_a_clock_goes_forward_and_back_to_the_same_time(gap: float, speeds: list[float]) -> None:
    flights = [Flight(0.0, 0.3, speed) for speed in speeds]
    clock = clock_of([5.0 + gap * k for k in range(len(speeds))], flights, [1.0] * len(speeds))
    times = np.linspace(0.0, 40.0, 300)
    assert np.allclose(clock.own_at(clock.even_at(times)), times, atol=1e-6)
    assert np.allclose(clock.even_at(times[:5]), times[:5])
    middle = 0.5 * sum(clock.flights[0])
    assert clock.even_at(np.array([middle]))[0] == pytest.approx(5.0, abs=2e-3)


def test_a_leap_round_a_corner_or_aside_is_told_and_one_straight_ahead_is_not() -> None:
    corner = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -5.0], [5.0, -5.0]]), False)
    asked = (Mark(0.0, 1.0), Mark(4.6, action="jump"))
    (note,) = [note for note in plan(*asked, path=corner).notes if "bend" in note]
    assert "jump at 4.60 m" in note and "90 degrees" in note
    sideways = make_plan(
        PATH, Schedule([Mark(0.0, 1.0), Mark(6.0, action="jump")]), speeds=(0.3, 2.7), leap=LEAP,
        facing=Facing("fixed", yaw=np.pi / 2),
    )  # fmt: skip
    (note,) = [note for note in sideways.notes if "aside" in note]
    assert "jump at 6.00 m" in note and "90 degrees" in note
    straight = [plan(Mark(0.0, 1.0), Mark(at, action="jump"), path=path) for at, path in ((6.0, PATH), (2.5, corner))]
    assert not any("straight" in note for made in straight for note in made.notes)
