"""Footfall analysis against sequences made with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_addon.motion.animal import LEGS
from blender_addon.motion.errors import ClipError
from blender_addon.motion.gait_analysis.body_feet import feet_under
from blender_addon.motion.gait_analysis.footfalls import analyse, analyse_cycle
from blender_addon.motion.gait_analysis.stride import Stride, circular_mean, mean_stride
from tests.motion.made_footfalls import contacts_of, sliding_feet

FPS = 60.0
phases = st.floats(0.0, 0.999)
lags = st.tuples(phases, phases, phases).map(lambda rest: np.array([0.0, *rest]))
duties = st.tuples(*[st.floats(0.15, 0.8)] * 4).map(np.array)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs((np.asarray(one) - other + 0.5) % 1.0 - 0.5).max())


@given(lags, duties, st.floats(0.3, 2.0), st.floats(0.0, 1.0), st.floats(0.1, 8.0))
def test_any_sequence_is_measured_as_it_was_made(lag, duty, seconds, start, speed) -> None:
    frame = np.arange(round(6.5 * seconds * FPS))
    phase = start + frame / FPS / seconds
    contacts = contacts_of(phase, lag, duty)
    assume(np.min(np.minimum(duty, 1.0 - duty)) * seconds * FPS > 4)  # what a frame rate can show
    root = np.stack([0.0 * frame, -speed * frame / FPS, 0.0 * frame], axis=1)
    found = analyse(contacts, FPS, root=root)
    # The halts that a very slow walk seems to make are not at stake here.
    assume(not np.any(contacts.all(axis=1)) or seconds < 1.0)
    assert len(found) >= 3
    frames = 1.0 / (seconds * FPS)
    assert apart(found.lags, lag) <= 1.5 * frames
    assert found.duty == pytest.approx(duty, abs=1.5 * frames)
    assert found.frequency == pytest.approx(1.0 / seconds, rel=2.5 * frames)
    assert found.speed == pytest.approx(speed, rel=1e-6)
    assert found.length == pytest.approx(speed * seconds, rel=2.5 * frames)
    assert not found.mean.in_place


@given(lags, duties, st.integers(30, 90))
def test_a_cycle_of_contacts_gives_its_one_stride(lag, duty, frames) -> None:
    contacts = contacts_of(np.arange(frames) / frames, lag, duty)
    assume(np.min(np.minimum(duty, 1.0 - duty)) * frames > 4)
    found = analyse(contacts, FPS, cyclic=True)
    assert len(found) == 1
    assert found.frequency == pytest.approx(FPS / frames)
    assert apart(found.lags, lag) <= 1.5 / frames
    assert found.duty == pytest.approx(duty, abs=1.5 / frames)


@given(lags, st.floats(0.2, 0.75), st.integers(24, 90), st.floats(0.2, 2.0), st.floats(0.02, 0.2))
def test_sliding_feet_tell_lags_and_speed_of_a_treadmill(lag, duty, frames, length, lift) -> None:
    assume(min(duty, 1.0 - duty) * frames > 8)
    feet = sliding_feet(0.37 + np.arange(frames) / frames, lag, np.full(4, duty), length, lift)
    found = analyse_cycle(feet, FPS)
    assert apart(found.lags, lag) < 0.01
    assert found.mean.in_place
    assert found.length == pytest.approx(length, rel=0.08)
    # A foot that is still low just after it has left the ground is taken for one that bears.
    assert np.all(np.abs(found.duty - duty) < 0.12)


@given(lags, duties)
def test_suspensions_are_the_phases_without_a_foot(lag, duty) -> None:
    stride = Stride(0.0, 60.0, FPS, duty, lag)
    phase = (np.arange(2000) + 0.5) / 2000
    down = contacts_of(phase, lag, duty).any(axis=1)
    assert sum(end - start for start, end in stride.suspensions) == pytest.approx(1.0 - down.mean(), abs=0.003)
    for start, end in stride.suspensions:
        assert 0.0 <= start < 1.0
        inside = (phase - start) % 1.0 < end - start
        assert np.mean(down[inside]) < 0.01 or end - start < 0.002


def test_beats_group_legs_that_stand_together() -> None:
    trot = Stride(0.0, 60.0, FPS, np.full(4, 0.4), np.array([0.0, 0.5, 0.52, 0.98]))
    assert trot.beats == (("left_hind", "right_fore"), ("right_hind", "left_fore"))
    walk = Stride(0.0, 60.0, FPS, np.full(4, 0.6), np.array([0.0, 0.5, 0.25, 0.75]))
    assert walk.beats == (("left_hind",), ("left_fore",), ("right_hind",), ("right_fore",))
    assert walk.sequence == ("left_hind", "left_fore", "right_hind", "right_fore")
    canter = Stride(0.0, 60.0, FPS, np.full(4, 0.4), np.array([0.0, 0.3, 0.31, 0.6]))
    assert len(canter.beats) == 3
    pronk = Stride(0.0, 60.0, FPS, np.full(4, 0.4), np.array([0.0, 0.99, 0.01, 0.02]))
    assert pronk.beats == (LEGS,)
    assert sorted(pronk.sequence) == sorted(LEGS)


def test_means_of_lags_go_round_the_circle() -> None:
    assert circular_mean(np.array([[0.95], [0.05]]))[0] == pytest.approx(0.0, abs=1e-9)
    strides = [Stride(0.0, 60.0, FPS, np.full(4, 0.5), np.array([0.0, lag, 0.5, lag])) for lag in (0.97, 0.05)]
    assert mean_stride(strides).lags == pytest.approx([0.0, 0.01, 0.5, 0.01])


def test_a_start_and_a_stop_leave_whole_strides_only() -> None:
    lag, duty = np.array([0.0, 0.5, 0.25, 0.75]), np.full(4, 0.65)
    walk = contacts_of(0.3 + np.arange(300) / 60.0, lag, duty)
    stand = np.ones((120, 4), dtype=bool)
    contacts = np.concatenate([stand, walk, stand, walk, stand])
    found = analyse(contacts, FPS)
    for stride in found.strides:
        assert apart(stride.lags, lag) < 0.03
        assert stride.seconds == pytest.approx(1.0, abs=0.05)
        assert 120 <= stride.first < stride.last < 420 or 540 <= stride.first < stride.last < 840
    assert len(found) >= 6


def test_flickering_contacts_and_hopping_feet_make_no_strides() -> None:
    flicker = np.zeros((240, 4), dtype=bool)
    flicker[::6] = True
    assert len(analyse(flicker, FPS)) == 0
    assert len(analyse(np.ones((240, 4), dtype=bool), FPS)) == 0
    with pytest.raises(ClipError, match="no whole stride"):
        _ = analyse(flicker, FPS).mean


def test_other_numbers_of_feet_are_refused() -> None:
    with pytest.raises(ClipError, match="four feet"):
        analyse(np.ones((60, 2), dtype=bool), FPS)


def test_turns_of_a_curve_are_summed_and_its_way_is_the_arc() -> None:
    frame = np.arange(400)
    yaw = 2.0 * np.pi * frame / 400  # a circle of half a metre in 400 frames
    root = np.stack([-0.5 * np.cos(yaw), -0.5 * np.sin(yaw), yaw], axis=1)
    contacts = contacts_of(frame / 60.0, np.array([0.0, 0.5, 0.25, 0.75]), np.full(4, 0.65))
    mean = analyse(contacts, FPS, root=root).mean
    assert mean.length == pytest.approx(np.pi * 60.0 / 400.0, rel=1e-3)
    assert mean.turn == pytest.approx(2.0 * np.pi * 60.0 / 400.0)


def test_turning_the_world_changes_nothing_under_the_body() -> None:
    rng = np.random.default_rng(3)
    feet, root = rng.normal(size=(10, 4, 3)), np.zeros((10, 3))
    turned = root + [3.0, -2.0, 1.1]
    turn = np.array([[np.cos(1.1), -np.sin(1.1)], [np.sin(1.1), np.cos(1.1)]])
    moved = np.concatenate([feet[..., :2] @ turn.T + [3.0, -2.0], feet[..., 2:]], axis=-1)
    one, other = feet_under(feet, root, 0.5), feet_under(moved, turned, 0.5)
    assert one.ahead == pytest.approx(-feet[..., 1])
    assert one.left == pytest.approx(feet[..., 0])
    assert other.ahead == pytest.approx(one.ahead)
    assert other.left == pytest.approx(one.left)
