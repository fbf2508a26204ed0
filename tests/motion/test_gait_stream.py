"""The gait preview's motion: it goes on without a jump, answers a change of speed or gait, and follows its way."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.gait_stream import Asked, Shown, Stream, performer
from blender_addon.motion.gait_way import Way
from blender_addon.motion.limits import Limits
from blender_addon.motion.path import RootPath
from tests.animals import animal

LEGS = {"Leg", "Paw", "Foot"}


@functools.cache
def model(name: str = "fox"):
    return performer(animal(name), GaitSettings(lead="left"))


def stream(gait: str = "auto", speed: float = 1.0, way: Way | None = None, name: str = "fox") -> Stream:
    made = Stream(*model(name), way or Way.straight(), Asked(gait, speed))
    job = made.job()
    assert job is not None
    made.take(job.make())
    return made


def play(made: Stream, seconds: float, late: float = 0.0) -> list[Shown]:
    """Tick by tick; what is to be made comes so many seconds late, as from a thread."""
    shown, waiting = [], []
    for tick in range(round(seconds * 60)):
        if not waiting and (job := made.job()) is not None:
            waiting.append((tick + round(late * 60), job.make()))
        if waiting and waiting[0][0] <= tick:
            made.take(waiting.pop()[1], max(late, 1e-3))
        made.advance(1.0 / 60.0)
        now = made.shown()
        assert now is not None
        shown.append(now)
    return shown


def steps(shown: list[Shown]) -> np.ndarray:
    """How far any drawn point goes from tick to tick, as seen from the root, metres."""
    return np.array([np.abs(b.body - a.body).max() for a, b in zip(shown, shown[1:], strict=False)])


def test_a_steady_gait_goes_on_over_many_pieces_without_a_jump() -> None:
    shown = play(stream("trot", 2.4), 20.0)
    assert {now.gait for now in shown} == {"trot"}
    usual = np.percentile(steps(shown), 99)
    assert steps(shown).max() < 1.6 * usual
    assert np.ptp([now.stride for now in shown]) < 0.02 * shown[0].stride


def test_footfalls_keep_their_time_over_many_pieces() -> None:
    made = stream("trot", 2.4)
    play(made, 20.0)
    landings = np.array([stance.first for stance in made.stances if stance.leg == 0])
    assert np.ptp(np.diff(landings)) <= 1
    assert np.mean(np.diff(landings)) / 60.0 == pytest.approx(made.shown().stride, rel=0.03)


def test_feet_stand_still_on_the_ground_that_goes_by() -> None:
    made = stream("walk", 1.0)
    body = [np.abs(np.diff(np.stack([now.body + [*now.root[:2], 0.0] for now in play(made, 1.0)]), axis=0))]
    # In the world some drawn point (the paw that stands) hardly moves, at every tick.
    assert body[0].sum(axis=2).min(axis=1).max() < 0.002


@pytest.mark.parametrize("late", [0.0, 0.25])
def test_another_speed_is_answered_at_once_and_goes_through_the_gaits(late: float) -> None:
    made = stream("auto", 1.0)
    play(made, 2.0, late)
    made.ask(Asked("auto", 5.5))
    shown = play(made, 6.0, late)
    first = next(tick for tick, now in enumerate(shown) if now.speed > 1.05) / 60.0
    assert first < late + 0.7
    order = list(dict.fromkeys(now.gait for now in shown))
    assert order == ["walk", "trot", "canter", "gallop"]
    assert shown[-1].speed == pytest.approx(5.5)
    assert steps(shown).max() < 0.25


def test_another_gait_is_answered_at_once() -> None:
    made = stream("trot", 2.0)
    play(made, 1.0)
    made.ask(Asked("pace", 2.0))
    shown = play(made, 3.0)
    first = next(tick for tick, now in enumerate(shown) if now.gait == "pace") / 60.0
    assert first < 0.7
    assert shown[-1].gait == "pace"


def test_a_gait_is_not_made_beyond_its_speeds() -> None:
    shown = play(stream("gallop", 1.0), 0.5)
    assert shown[-1].gait == "walk"


def test_an_open_curve_is_walked_to_its_end_and_begun_anew() -> None:
    way = Way.along(RootPath.from_points([[1.0, 0.0], [1.0, -4.0]]), Limits())
    shown = play(stream("walk", 1.2, way), 9.0)
    y = np.array([now.root[1] for now in shown])
    assert y[0] == pytest.approx(0.0, abs=0.05) and y.min() == pytest.approx(-4.0, abs=0.02)
    again = int(np.argmax(np.diff(y) > 1.0))
    assert again > 0 and shown[again].gait == "stand"
    assert y[again + 1] == pytest.approx(0.0, abs=0.05)


def test_a_closed_curve_goes_round_and_round_without_a_seam() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    circle = RootPath.from_points(np.stack([2.0 * np.cos(angle), 2.0 * np.sin(angle)], -1), cyclic=True)
    way = Way.along(circle, Limits())
    laps = way.root(np.linspace(0.0, 3.0 * way.length, 2000))
    assert np.hypot(*laps[:, :2].T) == pytest.approx(2.0, abs=0.03)
    assert np.diff(laps[:, 2]).max() < 0.02 and np.diff(laps[:, 2]).min() > 0.0
    assert laps[-1, 2] - laps[0, 2] == pytest.approx(6.0 * np.pi, abs=1e-3)


def test_bends_and_ends_are_taken_as_slowly_as_they_ask() -> None:
    corner = RootPath.from_points([[0.0, 0.0], [0.0, -3.0], [3.0, -3.0]])
    way = Way.along(corner, Limits(deceleration=2.0))
    assert way.greatest(3.0) < 1.0 < way.greatest(1.5)
    assert way.greatest(way.length) == 0.0
    speeds = np.array([way.greatest(at) for at in np.linspace(0.0, way.length, 500)])
    # Nothing asks to brake harder than the limit: v^2 falls by 2 a per metre at most.
    assert np.diff(np.minimum(speeds, 30.0) ** 2).min() > -2.0 * 2.0 * way.length / 499 - 0.05
