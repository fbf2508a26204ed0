"""Cycles: broken ones are refused by reason, sound ones pass however they are closed and wherever they go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_addon.motion.errors import ClipError
from blender_addon.motion.gait_analysis.classify import usual_length
from blender_addon.motion.gait_analysis.cycles import Cycle, check_cycle, check_points, in_place
from tests.animal_steps import stepping
from tests.motion.made_footfalls import BOOK, sliding_feet

LEG, HEIGHT = 0.5, 0.6
TOPS = np.array([[0.1, 0.35, 0.5], [-0.1, 0.35, 0.5], [0.1, -0.35, 0.48], [-0.1, -0.35, 0.48]])


def natural(name: str) -> tuple[float, float]:
    """Duration and length of a stride as an animal of this size makes it."""
    symmetric = name in ("lateral walk", "diagonal walk", "pace", "trot")
    speed = np.sqrt({True: 0.5, False: 3.0}[symmetric] * 9.81 * HEIGHT)
    length = usual_length(float(speed), HEIGHT, symmetric)
    return float(length / speed), length


def poses(name: str, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Feet and tops of the legs (f, 4, 3) of a gait of the books at stride phases (f,), as on a treadmill."""
    lags, duty = BOOK[name]
    feet = sliding_feet(phase, np.array(lags), np.full(4, duty), natural(name)[1], 0.08, LEG)
    points = np.stack([feet.left, -feet.ahead + TOPS[:, 1], feet.height], axis=-1)
    bob = 0.01 * np.sin(4.0 * np.pi * phase)
    return points, TOPS + np.stack([0.0 * bob, 0.0 * bob, bob], axis=-1)[:, None]


def check(feet: np.ndarray, tops: np.ndarray, fps: float = 30.0) -> Cycle:
    return check_points(feet, tops, fps, leg=LEG, height=HEIGHT)


def reasons(cycle: Cycle) -> list[str]:
    return [problem.reason for problem in cycle.problems]


@pytest.mark.parametrize("name", [name for name in BOOK if name not in ("pronk", "half bound")])
@pytest.mark.parametrize("copies", [0, 1])
@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_sound_cycle_passes_with_or_without_its_first_frame_at_the_end(name: str, copies: int, fps: float) -> None:
    frames = round(natural(name)[0] * fps)
    cycle = check(*poses(name, 0.21 + np.arange(frames + copies) / frames), fps)
    assert cycle.usable and cycle.demand() is cycle
    assert cycle.gait.name == name
    assert cycle.frames == frames
    assert cycle.seconds == pytest.approx(frames / fps, abs=0.6 / fps)
    assert cycle.travel == cycle.turn == 0.0
    assert cycle.slide < 0.25


@given(st.sampled_from(["lateral walk", "trot", "canter", "transverse gallop"]), st.floats(0.0, 1.0))
def test_a_doubled_last_frame_with_the_next_missing_is_refused(name: str, start: float) -> None:
    phase = start + np.arange(18) / 19.0
    feet, tops = poses(name, np.append(phase[:-1], phase[-2]))
    cycle = check(feet, tops)
    assert reasons(cycle)[0] == "doubled frame"
    with pytest.raises(ClipError, match="last pose"):
        cycle.demand()


@given(st.floats(0.0, 1.0))
def test_a_missing_frame_is_refused(start: float) -> None:
    feet, tops = poses("lateral walk", start + np.arange(22) / 24.0)
    found = reasons(check(feet, tops))
    # Where a foot lands just there, the leap shows as a seam that is open.
    assert found and set(found) <= {"missing frame", "open seam"}


@given(st.sampled_from(["lateral walk", "trot", "transverse gallop"]), st.floats(0.0, 1.0), st.floats(0.4, 0.75))
def test_part_of_a_cycle_does_not_close(name: str, start: float, share: float) -> None:
    feet, tops = poses(name, start + np.arange(round(24 * share)) / 24.0)
    assert {"open seam", "missing frame"} & set(reasons(check(feet, tops)))


def test_there_and_back_is_no_cycle() -> None:
    there = 0.1 + np.arange(12) / 24.0
    feet, tops = poses("trot", np.concatenate([there, there[::-1]]))
    assert not check(feet, tops).usable


def test_feet_that_never_come_down_are_named() -> None:
    feet, tops = poses("trot", np.arange(24) / 24.0)
    cycle = check(feet + np.array([0.0, 0.0, 0.12]) * (np.arange(4) == 3)[:, None], tops)
    assert reasons(cycle) == ["never touches"]
    assert "right fore" in cycle.problems[0].message


def test_an_idle_does_not_step() -> None:
    sway = 0.01 * np.sin(2.0 * np.pi * np.arange(60) / 60.0)
    tops = TOPS + np.stack([sway, 0.5 * sway, sway], axis=-1)[:, None]
    feet = np.tile(TOPS * [1.0, 1.0, 0.0], (60, 1, 1)) + np.stack([0.0 * sway, 0.1 * sway, 0.0 * sway], -1)[:, None]
    assert "no steps" in reasons(check(feet, tops))


def test_two_strides_are_counted() -> None:
    feet, tops = poses("trot", 2.0 * np.arange(48) / 48.0)
    cycle = check(feet, tops)
    assert reasons(cycle) == ["several strides"]
    assert "2 strides" in cycle.problems[0].message


def test_a_gallop_in_slow_motion_is_refused_as_no_gait() -> None:
    feet, tops = poses("rotary gallop", np.arange(36) / 36.0)
    cycle = check(feet, tops)
    assert reasons(cycle) == ["no gait"]
    assert "strides a second" in cycle.problems[0].message


@given(st.floats(-2.0, 2.0), st.floats(-np.pi, np.pi), st.floats(-0.8, 0.8))
def test_root_motion_is_taken_out_and_said(speed: float, heading: float, rate: float) -> None:
    seconds = np.arange(24) / 30.0
    assume(abs(speed) * seconds[-1] > 0.3 and (abs(rate * seconds[-1]) > 0.4 or rate == 0.0 or abs(rate) < 0.05))
    feet, tops = poses("lateral walk", 0.3 + np.arange(24) / 24.0)
    yaw = heading + rate * seconds
    way = np.cumsum(np.stack([np.sin(yaw), -np.cos(yaw)], -1) * speed / 30.0, axis=0)
    turn = np.zeros((24, 3, 3))
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = np.cos(yaw), -np.sin(yaw), np.sin(yaw), np.cos(yaw)
    turn[:, 2, 2] = 1.0
    moved = [np.einsum("fij,fkj->fki", turn, points) + np.append(way, np.zeros((24, 1)), 1)[:, None]
             for points in (feet, tops)]  # fmt: skip
    plain, cycle = check(feet, tops), check(*moved)
    assert cycle.travel == pytest.approx(abs(speed) * seconds[-1], rel=0.05)
    turned = rate * seconds[-1]
    assert cycle.turn == pytest.approx(turned if abs(turned) > np.radians(15) else 0.0, abs=1e-6)
    assert cycle.footfalls.lags == pytest.approx(plain.footfalls.lags, abs=0.04)
    assert any("taken out" in note for note in cycle.notes)
    assert cycle.gait.name == "lateral walk"


def test_clips_of_animals_are_checked_and_brought_in_place() -> None:
    clip = stepping("fox", 0.5, 0.8)  # one stride at two strides a second
    cycle = check_cycle(clip)
    assert cycle.usable, reasons(cycle)
    assert cycle.gait.label == "walk"
    assert cycle.seconds == pytest.approx(0.5, abs=0.01)
    assert cycle.travel == pytest.approx(0.4, rel=0.05)
    still = in_place(clip)
    assert np.abs(still.root).max() < 1e-9
    assert np.abs(still.hips[-1] - still.hips[0]).max() < 0.01
    assert check_cycle(still).travel == 0.0


def test_what_is_no_animal_or_no_motion_is_refused() -> None:
    clip = stepping("fox", 0.5, 0.8)
    with pytest.raises(ClipError, match="frames only"):
        check_cycle(clip.cut(0, 4))
    biped = replace(clip.skeleton, roles={role: name for role, name in clip.skeleton.roles.items()
                                          if not role.endswith(("hock", "paw", "hoof"))})  # fmt: skip
    with pytest.raises(ClipError, match="not of an animal"):
        check_cycle(replace(clip, skeleton=biped, contacts=clip.contacts[:, :2]))
