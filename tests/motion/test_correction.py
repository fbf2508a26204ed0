"""Path correction: how near the body comes to the plan, and that it comes there smoothly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.correction import correct_path
from blender_addon.motion.errors import ClipError
from blender_addon.motion.root_track import with_root
from tests.synthetic import walk


def drifting_plan(frames: int) -> np.ndarray:
    t = np.arange(frames) / 60.0
    return np.stack([0.1 * np.sin(2.0 * t), 0.05 * t, 0.2 * np.sin(1.5 * t)], axis=1)


def test_the_root_follows_the_plan_within_millimetres() -> None:
    clip = walk(4.0)
    plan = clip.root + drifting_plan(len(clip))
    moved = correct_path(clip, plan)
    # Sideways (x, for a body that faces -y) only what is slower than sway is corrected: 2 cm of 10.
    assert np.abs(moved.root - plan)[:, 0].max() < 0.025
    assert np.abs(moved.root - plan)[:, 1].max() < 0.004
    # The body's facing, low-passed at 0.7 Hz, lags nowhere but is a little less than the plan's.
    assert np.abs(moved.root - plan)[:, 2].max() < 0.012


def test_sway_stays_and_drift_goes() -> None:
    clip = walk(12.0)
    t = np.arange(len(clip)) / 60.0
    sway = np.stack([0.03 * np.sin(2 * np.pi * 0.9 * t), 0.0 * t, 0.0 * t], axis=1)
    drift = np.stack([0.2 * np.sin(0.5 * t), 0.0 * t, 0.0 * t], axis=1)
    moved = correct_path(clip.moved(sway + drift), clip.root).root - clip.root
    middle = slice(120, -120)
    assert np.abs(moved - sway)[middle, 0].max() < 0.01
    assert np.abs(moved)[middle, 0].max() > 0.02


def test_in_a_tight_bend_all_is_corrected() -> None:
    clip = walk(6.0, speed=0.4, turning=1.0)
    off = 0.03 * np.sin(2 * np.pi * 0.9 * np.arange(len(clip)) / 60.0)
    moved = correct_path(clip.moved(off[:, None] * [1.0, 0.0, 0.0]), clip.root)
    assert np.abs(moved.root - clip.root)[60:-60, :2].max() < 0.008


def test_the_body_moves_rigidly_with_the_root() -> None:
    clip = walk(3.0)
    moved = correct_path(clip, clip.root + drifting_plan(len(clip)))
    turn = rot.from_yaw(moved.root[:, 2] - clip.root[:, 2])[:, None]
    arm = clip.world[0] - np.concatenate([clip.root[:, :2], np.zeros((len(clip), 1))], axis=1)[:, None]
    expected = rot.rotate(turn, arm)
    expected[..., :2] += moved.root[:, None, :2]
    np.testing.assert_allclose(moved.world[0], expected, atol=1e-9)


def test_strength_scales_the_correction() -> None:
    clip = walk(3.0)
    plan = clip.root + drifting_plan(len(clip))
    whole = correct_path(clip, plan).root - clip.root
    np.testing.assert_allclose(correct_path(clip, plan, 0.25).root - clip.root, 0.25 * whole, atol=1e-12)
    assert correct_path(clip, plan, 0.0) is clip


def test_exact_puts_the_root_on_the_plan_and_keeps_the_hips_smooth() -> None:
    clip = walk(4.0)
    jitter = np.random.default_rng(1).normal(scale=0.003, size=clip.root.shape)
    plan = clip.root + drifting_plan(len(clip)) + jitter
    moved = correct_path(clip, plan, 0.3, exact=True)
    np.testing.assert_array_equal(moved.root, plan)
    shaken = np.abs(np.diff(moved.hips, 2, axis=0)).max()
    assert shaken < 1.5 * np.abs(np.diff(clip.hips, 2, axis=0)).max() + 1e-3


def test_whole_turns_between_plan_and_clip_are_no_difference() -> None:
    clip = walk(2.0)
    moved = correct_path(clip, clip.root + [0.0, 0.0, 4.0 * np.pi])
    np.testing.assert_allclose(moved.root, clip.root, atol=1e-9)


def test_jitter_of_the_plan_does_not_reach_the_body() -> None:
    clip = walk(3.0)
    noise = np.random.default_rng(0).normal(scale=0.01, size=clip.root.shape)
    moved = correct_path(clip, clip.root + noise)
    assert np.abs(np.diff(moved.root - clip.root, 3, axis=0)).max() < 0.05 * np.abs(np.diff(noise, 3, axis=0)).max()


def test_a_plan_of_other_length_or_with_nan_is_refused() -> None:
    clip = walk(1.0)
    with pytest.raises(ClipError, match="shape"):
        correct_path(clip, clip.root[:-1])
    broken = np.array(clip.root)
    broken[3, 1] = np.nan
    with pytest.raises(ClipError, match="numbers"):
        correct_path(clip, broken)


def test_one_frame_is_enough() -> None:
    clip = walk(1.0).cut(0, 1)
    moved = correct_path(clip, clip.root + 0.5)
    np.testing.assert_allclose(moved.root, clip.root + 0.5, atol=1e-9)
    assert len(replace(moved, name="x")) == 1


def test_hips_that_follow_a_bend_are_not_pushed_out_of_it() -> None:
    # A track is low-passed and so runs inside its own bend; the plan is not. Held against each other as they
    # are, the body would be moved outward by the difference.
    plan = walk(8.0, speed=0.8, turning=1.2).root
    clip = with_root(walk(8.0, speed=0.8, turning=1.2))
    moved = correct_path(clip, plan)
    middle = slice(120, -120)
    assert np.linalg.norm(clip.root - plan, axis=1)[middle].max() > 0.008
    assert np.linalg.norm((moved.hips - clip.hips)[middle, :2], axis=1).max() < 0.002
