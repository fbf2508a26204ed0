"""Courses and terrains have the shapes and sizes that the quality figures name."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion import courses


def turning(points: np.ndarray, cyclic: bool) -> np.ndarray:
    closed = np.concatenate([points, points[:2]]) if cyclic else points
    step = np.diff(closed, axis=0)
    angle = np.arctan2(step[:, 1], step[:, 0])
    return np.degrees((np.diff(angle) + np.pi) % (2 * np.pi) - np.pi)


@pytest.mark.parametrize("course", courses.all_courses(), ids=lambda c: c.name)
def test_every_course_starts_at_the_origin_along_minus_y_without_doubled_points(course: courses.Course) -> None:
    np.testing.assert_allclose(course.points[0], 0.0, atol=1e-12)
    step = np.diff(course.points, axis=0)
    assert np.all(np.linalg.norm(step, axis=-1) > 1e-3)
    heading = np.arctan2(step[0, 0], -step[0, 1])
    assert abs(heading) < 0.05
    turns = np.abs(turning(course.points, course.cyclic))
    assert np.any(turns > 30.0) == course.sharp


@pytest.mark.parametrize(
    ("name", "length"),
    [("straight", 10.0), ("circle", 4 * np.pi), ("s", 4 * np.pi), ("right_angle", 6.0),
     ("hairpin", 6.0 + 0.6 * np.pi), ("square", 16.0), ("star", 5 * 4 * np.sin(np.radians(72))), ("eight", 8 * np.pi)],
)  # fmt: skip
def test_lengths_are_those_of_the_ideal_shapes(name: str, length: float) -> None:
    assert courses.course(name).length == pytest.approx(length, rel=1e-3)


def test_closed_courses_end_where_they_began() -> None:
    for name in ("circle", "square", "star", "eight"):
        points = courses.course(name).points
        step = np.linalg.norm(points[-1] - points[0])
        assert courses.course(name).cyclic and 1e-3 < step < 2.01


def test_the_star_has_five_tips_on_its_circle_and_turns_of_144_degrees() -> None:
    star = courses.star(2.0)
    turns = turning(star.points, True)
    assert np.sum(np.abs(turns) > 30.0) == 5
    np.testing.assert_allclose(turns[np.abs(turns) > 30.0], 144.0, atol=1e-6)
    tips = star.points[1:]
    centre = tips.mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(tips - centre, axis=-1), 2.0, atol=1e-9)


def test_bends_keep_their_radius() -> None:
    for name, centre in (("circle", (2.0, 0.0)), ("eight", (2.0, 0.0))):
        points = courses.course(name).points[:200]
        np.testing.assert_allclose(np.linalg.norm(points - centre, axis=-1), 2.0, atol=1e-9)


def test_the_hairpin_is_1_2_metres_wide() -> None:
    points = courses.hairpin().points
    assert abs(points[-1, 0] - points[0, 0]) == pytest.approx(1.2)


def test_the_spiral_winds_from_its_outer_to_its_inner_radius() -> None:
    points = courses.spiral(3.0, 0.8).points
    step = np.diff(points, axis=0)
    curvature = np.radians(turning(points, False)) / np.linalg.norm(step[1:], axis=-1)
    assert 1 / curvature[0] == pytest.approx(3.0, rel=0.05)
    assert 1 / curvature[-1] == pytest.approx(0.8, rel=0.15)
    assert np.all(curvature > 0)


def test_speeds_end_at_what_the_pack_covers() -> None:
    assert courses.speeds_up_to(2.5) == (0.3, 0.5, 0.8, 1.2, 2.5)
    assert courses.speeds_up_to(1.2) == (0.3, 0.5, 0.8, 1.2)
    assert courses.speeds_up_to(1.0) == (0.3, 0.5, 0.8, 1.0)


def ahead(distance: np.ndarray | float) -> np.ndarray:
    distance = np.asarray(distance, dtype=float)
    return np.stack([np.zeros_like(distance), -distance], axis=-1)


def test_slopes_rise_ahead_or_across_at_15_degrees() -> None:
    tan = np.tan(np.radians(15.0))
    assert courses.ground("slope_up").function(ahead(2.0)) == pytest.approx(2 * tan)
    assert courses.ground("slope_down").function(ahead(2.0)) == pytest.approx(-2 * tan)
    assert courses.ground("slope_across").function(np.array([2.0, 5.0])) == pytest.approx(2 * tan)


def test_stairs_have_steps_of_18_by_30_cm_up_and_down_again() -> None:
    s = np.arange(0.0, 10.0, 0.001)
    height = courses.ground("stairs").function(ahead(s))
    rise = np.diff(height)
    edges = s[1:][np.abs(rise) > 0.01]
    np.testing.assert_allclose(np.abs(rise[np.abs(rise) > 0.01]), 0.18)
    assert np.sum(rise > 0.01) == np.sum(rise < -0.01) == 8
    np.testing.assert_allclose(np.diff(edges)[:7], 0.30, atol=2e-3)
    assert height[0] == 0.0 and height[-1] == pytest.approx(0.0) and edges[-1] < 9.0


def test_noise_spans_15_cm_smoothly_and_is_the_same_every_time() -> None:
    hills = courses.ground("noise")
    x, y = np.meshgrid(np.arange(-20, 20, 0.05), np.arange(-20, 20, 0.05))
    xy = np.stack([x, y], axis=-1)
    height = hills.function(xy)
    assert 0.12 < np.ptp(height) <= 0.15
    assert hills.function(np.zeros(2)) == pytest.approx(0.0)
    assert np.max(np.abs(np.diff(height, axis=0))) / 0.05 < 0.4
    np.testing.assert_array_equal(height, courses.noise()(xy))


def test_the_kerb_goes_up_and_down_once() -> None:
    height = courses.ground("kerb").function(ahead(np.array([0.0, 2.9, 3.1, 6.9, 7.1])))
    np.testing.assert_allclose(height, [0.0, 0.0, 0.12, 0.12, 0.0])


@pytest.mark.parametrize("ground", courses.all_grounds(), ids=lambda g: g.name)
def test_grounds_become_height_fields_that_agree_with_their_function(ground: courses.Ground) -> None:
    course = courses.straight()
    field = ground.field(course)
    xy = ahead(np.array([0.503, 1.237, 3.333, 8.765]))
    np.testing.assert_allclose(field.height(xy), ground.function(xy), atol=2e-3)
    assert np.all(field.has_ground(course.points))
