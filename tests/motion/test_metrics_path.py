"""Path, heading, speed, response and rest, on tracks whose errors are known by construction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import courses
from blender_addon.motion import metrics as measure
from tests.motion.made_motion import glide
from tests.synthetic import walk


def brute_distance(point: np.ndarray, points: np.ndarray) -> float:
    """Distance to a polyline by sampling it finely."""
    t = np.linspace(0.0, 1.0, 4001)[:, None]
    dense = np.concatenate([a + t * (b - a) for a, b in zip(points[:-1], points[1:], strict=True)])
    return float(np.min(np.linalg.norm(dense - point, axis=-1)))


@given(st.integers(0, 10_000))
def test_distance_to_a_polyline_agrees_with_dense_sampling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2.0, 2.0, (rng.integers(2, 6), 2))
    at = rng.uniform(-3.0, 3.0, (3, 2))
    expected = [brute_distance(p, points) for p in at]
    np.testing.assert_allclose(measure.distance_to_polyline(at, points), expected, atol=2e-3)


def test_distance_survives_doubled_points_collinear_points_and_reversals() -> None:
    points = np.array([[0, 0], [0, 0], [0, -1], [0, -2], [0, -2], [0, -1]], dtype=float)
    found = measure.distance_to_polyline(np.array([[0.3, -2.0], [0.0, -3.0], [0.4, -0.5]]), points)
    np.testing.assert_allclose(found, [0.3, 1.0, 0.4], atol=1e-12)
    np.testing.assert_allclose(measure.distance_to_polyline(np.array([[3.0, 4.0]]), points[:2]), [5.0])


def test_a_cyclic_curve_includes_its_closing_side() -> None:
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    at = np.array([[0.0, 1.0]])
    assert measure.distance_to_polyline(at, square, cyclic=True)[0] == pytest.approx(0.0)
    assert measure.distance_to_polyline(at, square, cyclic=False)[0] == pytest.approx(1.0)


def test_path_error_of_the_hips_keeps_the_drift_and_drops_the_shake() -> None:
    t = np.arange(600) / 60.0
    track = np.stack([0.05 + 0.02 * np.sin(2 * np.pi * 6.0 * t), -1.0 * t], axis=-1)
    clip = glide(track)
    curve = np.array([[0.0, 1.0], [0.0, -12.0]])
    error = measure.hips_path_error(clip, curve)
    np.testing.assert_allclose(error[60:-60], 0.05, atol=1e-3)
    assert measure.root_path_error(clip, curve).max() == pytest.approx(0.07, abs=1e-3)


@pytest.mark.parametrize("yaw", [0.0, 1.2, np.pi, 5.0])
def test_the_body_faces_where_its_root_faces(yaw: float) -> None:
    clip = glide(np.zeros((120, 2)), np.full(120, yaw))
    error = measure.heading_error(measure.body_facing(clip), np.full(120, yaw))
    assert np.max(error) < 1e-9


def test_heading_error_takes_the_shorter_way_round() -> None:
    found = measure.heading_error(np.array([0.1, 3.1]), np.array([2 * np.pi, -3.1]))
    np.testing.assert_allclose(found, [0.1, 2 * np.pi - 6.2])


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_speed_error_is_the_difference_of_mean_speeds_along_the_plan(fps: float) -> None:
    t = np.arange(int(10 * fps)) / fps
    plan = np.stack([0.0 * t, -1.0 * t], axis=-1)
    # Slower by 0.1 along the path; sway across it is no progress.
    track = np.stack([0.04 * np.sin(2 * np.pi * t), -0.9 * t], axis=-1)
    error = measure.speed_error(track, plan, fps)
    assert np.isnan(error[0])
    np.testing.assert_allclose(error[np.isfinite(error)], 0.1, atol=1e-9)


def test_speed_error_follows_a_bend() -> None:
    angle = np.linspace(0.0, 3.0, 300)
    bend = 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    error = measure.speed_error(1.05 * bend, bend, 60.0)
    speed = 2.0 * (angle[1] - angle[0]) * 60.0
    np.testing.assert_allclose(error[60:-60], 0.05 * speed, rtol=1e-3)


def test_only_even_walking_is_steady() -> None:
    speed = np.concatenate([np.zeros(60), np.linspace(0.0, 1.0, 60), np.ones(240)])
    steady = measure.steady_frames(speed, 60.0)
    assert not np.any(steady[:145]) and np.all(steady[155:325])


@pytest.mark.parametrize(
    ("course", "count"),
    [("straight", 0), ("circle", 0), ("s", 0), ("hairpin", 0), ("eight", 0), ("spiral", 0), ("right_angle", 1),
     ("square", 4), ("star", 5)],
)  # fmt: skip
def test_corners_are_found_where_the_courses_have_them(course: str, count: int) -> None:
    found = courses.course(course)
    assert len(measure.corners(found.points, found.cyclic)) == count
    # The same curve, drawn with a point every 3 cm.
    points = np.concatenate([found.points, found.points[:1]]) if found.cyclic else found.points
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=-1))])
    s = np.arange(0.0, length[-1], 0.03)
    dense = np.stack([np.interp(s, length, points[:, k]) for k in range(2)], axis=-1)
    assert len(measure.corners(dense, found.cyclic)) == count


def test_frames_near_corners_are_those_within_a_metre() -> None:
    xy = np.array([[0.0, 0.0], [0.0, -0.9], [0.0, -1.1]])
    assert measure.near_corners(xy, np.array([[0.0, 0.0]])).tolist() == [True, True, False]
    assert not np.any(measure.near_corners(xy, np.zeros((0, 2))))


def test_response_is_counted_from_the_frame_the_plan_starts() -> None:
    fps, delay = 60.0, 0.4
    t = np.arange(360) / fps
    speed = np.clip((t - 1.0) * 1.0, 0.0, 1.0)
    late = np.clip(t - 1.0 - delay, 0.0, None)
    # The integral of the same ramp, later by the delay.
    place = np.where(late < 1.0, 0.5 * late**2, late - 0.5)
    clip = glide(np.stack([0.0 * t, -place], axis=-1))
    seconds, target, start = measure.start_response(clip, speed)
    assert target == pytest.approx(1.0, abs=0.03)
    assert start == 60
    # 90% is reached after 0.9 s of the ramp; the hips' speed is taken over 0.2 s and smoothed.
    assert seconds == pytest.approx(delay + 0.9, abs=0.06)


def test_there_is_no_response_without_a_start_from_standing() -> None:
    clip = walk(2.0)
    assert np.isnan(measure.start_response(clip, np.ones(len(clip)))[0])
    assert np.isnan(measure.start_response(clip, np.zeros(len(clip)))[0])


def test_response_time_counts_until_within_the_tolerance() -> None:
    values = np.array([0.0, 0.0, 0.5, 0.95, 1.0])
    assert measure.response_time(values, 1, 1.0, 10.0, 0.1) == pytest.approx(0.2)
    assert np.isnan(measure.response_time(values, 1, 2.0, 10.0, 0.1))


def test_rest_is_the_fastest_joint_of_the_last_second() -> None:
    t = np.arange(300) / 60.0
    place = np.where(t < 3.0, t, 3.0 + 0.3 * np.clip(t - 4.5, 0.0, None))
    clip = glide(np.stack([0.0 * t, -place], axis=-1))
    planned = np.where(t < 3.0, 1.0, 0.0)
    speed, frame = measure.rest_speed(clip, planned)
    assert speed == pytest.approx(0.3) and frame > 4.5 * 60
    assert np.isnan(measure.rest_speed(clip, np.ones(300))[0])


def test_longest_run_of_frames() -> None:
    mask = np.array([1, 0, 1, 1, 1, 0, 1], dtype=bool)
    assert measure.longest_run(mask, 60.0) == (pytest.approx(0.05), 2)
    assert measure.longest_run(~np.ones(3, dtype=bool), 60.0) == (0.0, 0)


def test_turning_in_place_counts_as_moving() -> None:
    speed = np.zeros(60)
    yaw = np.concatenate([np.zeros(30), np.arange(30) / 60.0])
    moving = measure.moving_frames(speed, yaw, 60.0)
    assert not np.any(moving[:29]) and np.all(moving[31:])
