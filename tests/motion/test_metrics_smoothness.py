"""Knee acceleration, jerk and angular update of joints that swing as known functions of time."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion import metrics as measure
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from tests.motion.made_motion import glide, with_joint
from tests.synthetic import walk

ACROSS = np.array([1.0, 0.0, 0.0])


def bent_knee(angle: np.ndarray, fps: float = 60.0) -> Clip:
    return with_joint(glide(np.zeros((len(angle), 2)), fps=fps), "left_knee", rot.from_axis_angle(ACROSS, angle))


def test_knee_acceleration_is_the_second_derivative_of_the_knee_in_degrees() -> None:
    t = np.arange(120) / 60.0
    clip = bent_knee(0.5 * np.sin(4.0 * t))
    found = measure.knee_acceleration(clip)
    expected = np.degrees(np.abs(0.5 * 16.0 * np.sin(4.0 * t)))
    np.testing.assert_allclose(found[1:-1, 0], expected[1:-1], atol=1.0)
    np.testing.assert_allclose(found[1:-1, 1], 0.0, atol=1e-6)
    assert np.all(np.isnan(found[[0, -1]]))


def test_a_snapping_knee_shows_as_a_pop_at_its_frame() -> None:
    angle = np.where(np.arange(60) < 30, 0.2, 0.3)
    found = measure.knee_acceleration(bent_knee(angle))[:, 0]
    assert int(np.nanargmax(found)) in (29, 30)
    assert np.nanmax(found) == pytest.approx(np.degrees(0.1) * 3600.0, rel=1e-6)


def test_knee_angle_is_the_angle_between_thigh_and_shank() -> None:
    bend = np.linspace(0.1, 1.5, 20)
    straight = measure.knee_angles(glide(np.zeros((1, 2))))[0, 0]
    # Bending backwards adds to the rest pose's slight bend.
    np.testing.assert_allclose(np.abs(np.diff(measure.knee_angles(bent_knee(bend))[:, 0])), np.diff(bend), atol=1e-6)
    assert straight == pytest.approx(np.arccos(np.clip((0.42**2 - 0.02 * 0.01) / np.hypot(0.42, 0.01)
                                                       / np.hypot(0.42, 0.02), -1, 1)), abs=1e-6)  # fmt: skip


def test_jerk_of_a_carried_body_is_that_of_its_track() -> None:
    t = np.arange(240) / 60.0
    clip = glide(np.stack([0.2 * np.sin(3.0 * t), 0.0 * t], axis=-1))
    expected = np.abs(0.2 * 27.0 * np.cos(3.0 * (t - 0.5 / 60.0)))
    np.testing.assert_allclose(measure.jerk(clip)[2:-1], expected[2:-1], atol=0.03)


def test_angular_update_is_the_mean_turn_of_all_joints_but_the_toes_per_second() -> None:
    frames, rate = 61, np.radians(90.0)
    clip = bent_knee(rate * np.arange(frames) / 60.0)
    np.testing.assert_allclose(measure.angular_update(clip)[1:], 90.0 / (len(clip.skeleton) - 2), rtol=1e-6)


def test_angular_update_ignores_the_signs_of_quaternions() -> None:
    clip = walk(1.0)
    flipped = np.array(clip.rotations)
    flipped[::2] *= -1.0
    changed = type(clip)(clip.skeleton, clip.fps, clip.hips, flipped, clip.root, clip.contacts)
    np.testing.assert_allclose(measure.angular_update(changed)[1:], measure.angular_update(clip)[1:], atol=1e-6)


def test_figures_are_alike_at_other_frame_rates_once_brought_to_sixty() -> None:
    fast, slow = walk(4.0, fps=60.0), walk(4.0, fps=30.0)
    assert measure.at_measuring_rate(slow).fps == measure.MEASURE_FPS
    for function in (measure.angular_update, measure.jerk):
        ours = np.nanmean(function(measure.at_measuring_rate(slow))[10:-10])
        assert ours == pytest.approx(np.nanmean(function(fast)[10:-10]), rel=0.25)


def test_sway_is_sideways_to_the_facing_and_not_the_path() -> None:
    t = np.arange(1200) / 60.0
    swaying = 0.03 * np.sin(2 * np.pi * 0.9 * t)
    for yaw in (0.0, 1.0):
        travel, aside = rot.direction_of_yaw(yaw), rot.direction_of_yaw(yaw + np.pi / 2)
        along = 0.8 * t + 0.02 * np.sin(2 * np.pi * 1.8 * t)
        track = along[:, None] * travel + swaying[:, None] * aside
        found = measure.hips_sway(glide(track, np.full(len(t), yaw)))
        expected = 0.03 / np.sqrt(2) * (1 - 1 / (1 + (0.9 / 0.35) ** 4)) ** 2
        assert np.sqrt(np.mean(found[120:-120] ** 2)) == pytest.approx(expected, rel=0.02)


def test_sway_is_not_taken_in_quick_turns() -> None:
    t = np.arange(600) / 60.0
    found = measure.hips_sway(glide(np.zeros((600, 2)), np.where(t < 5.0, 0.0, 2.0 * (t - 5.0))))
    assert np.all(np.isfinite(found[:240])) and np.all(np.isnan(found[360:]))


@pytest.mark.parametrize("speed", [0.3, 0.8, 1.2])
def test_the_bends_of_a_path_are_no_sway(speed: float) -> None:
    t = np.arange(1800) / 60.0
    # An S of 2 m radius: the yaw turns one way, then the other.
    yaw = np.cumsum(np.where(t < 15.0, 1.0, -1.0) * speed / 2.0) / 60.0
    track = np.cumsum(speed * rot.direction_of_yaw(yaw), axis=0) / 60.0
    assert np.nanmax(measure.hips_sway(glide(track, yaw))) < 0.003
