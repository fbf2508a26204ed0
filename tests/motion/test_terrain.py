"""Terrain: heights, normals, holes, and paths that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import RegularGridInterpolator

from blender_addon.motion import courses
from blender_addon.motion.errors import TerrainError
from blender_addon.motion.terrain import FlatGround, HeightField, require_ground, without_dips


@given(st.integers(0, 10_000))
def test_heights_between_grid_points_are_bilinear(seed: int) -> None:
    rng = np.random.default_rng(seed)
    heights, cell, origin = rng.normal(size=(5, 7)), 0.3, rng.normal(size=2)
    field = HeightField(origin, cell, heights)
    axes = (origin[0] + cell * np.arange(5), origin[1] + cell * np.arange(7))
    points = origin + rng.uniform(0.0, 1.0, (3, 4, 2)) * [4 * cell, 6 * cell]
    expected = RegularGridInterpolator(axes, heights)(points)
    np.testing.assert_allclose(field.height(points), expected, atol=1e-9)
    assert np.all(field.has_ground(points))


def test_height_goes_on_beyond_the_border_but_is_no_ground() -> None:
    field = HeightField(np.zeros(2), 1.0, np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(field.height(np.array([[-5.0, -5.0], [9.0, 9.0]])), [1.0, 4.0])
    assert not np.any(field.has_ground(np.array([[-5.0, -5.0], [9.0, 9.0]])))


@given(st.floats(-0.8, 0.8), st.floats(-0.8, 0.8))
def test_normal_of_a_plane(a: float, b: float) -> None:
    field = HeightField.from_function(lambda p: a * p[..., 0] + b * p[..., 1], (-1, -1, 1, 1), 0.1)
    expected = np.array([-a, -b, 1.0]) / np.sqrt(a * a + b * b + 1.0)
    np.testing.assert_allclose(field.normal(np.array([[0.03, 0.21], [-0.4, 0.0]])), [expected] * 2, atol=1e-9)


def test_holes_are_flagged_and_filled_from_around() -> None:
    heights = np.full((40, 30), 2.0)
    heights[10:20, 8:19] = np.nan
    field = HeightField(np.zeros(2), 0.1, heights)
    inside = np.array([[1.45, 1.35]])
    assert not field.has_ground(inside)[0]
    np.testing.assert_allclose(field.height(inside), 2.0)
    assert np.all(np.isfinite(field.filled))
    np.testing.assert_array_equal(field.filled[~np.isnan(heights)], 2.0)


def test_flat_ground_is_level_everywhere() -> None:
    points = np.random.default_rng(0).normal(size=(3, 5, 2))
    np.testing.assert_array_equal(FlatGround(0.3).height(points), np.full((3, 5), 0.3))
    np.testing.assert_array_equal(FlatGround().normal(points)[..., 2], 1.0)
    assert FlatGround().has_ground(points).shape == (3, 5)


@pytest.mark.parametrize("ground", courses.all_grounds(), ids=lambda g: g.name)
def test_every_terrain_of_the_courses_can_be_walked(ground: courses.Ground) -> None:
    course = courses.straight()
    path = np.stack([np.zeros(500), -np.linspace(0.0, course.length, 500)], axis=1)
    require_ground(ground.field(course), path)


def test_a_path_off_the_terrain_is_refused() -> None:
    field = HeightField(np.zeros(2), 1.0, np.zeros((3, 3)))
    with pytest.raises(TerrainError, match="no ground"):
        require_ground(field, np.array([[10.0, 10.0], [11.0, 10.0]]))


def test_a_path_over_a_wide_hole_is_refused_and_over_a_narrow_one_is_not() -> None:
    heights = np.zeros((60, 20))
    heights[20:45] = np.nan
    path = np.stack([np.linspace(0.1, 5.8, 200), np.full(200, 1.0)], axis=1)
    with pytest.raises(TerrainError, match="hole"):
        require_ground(HeightField(np.zeros(2), 0.1, heights), path)
    assert require_ground(HeightField(np.zeros(2), 0.1, heights), path, ditches=True) == pytest.approx(2.6, abs=0.1)
    # Nobody leaps over what has one rim alone, nor so far.
    for rows in (slice(40, 60), slice(20, 55)):
        ended = np.zeros((60, 20))
        ended[rows] = np.nan
        with pytest.raises(TerrainError, match="hole"):
            require_ground(HeightField(np.zeros(2), 0.1, ended), path, ditches=True)
    heights[25:] = 0.0
    require_ground(HeightField(np.zeros(2), 0.1, heights), path)


def test_a_wall_across_the_path_is_refused() -> None:
    field = HeightField.from_function(lambda p: np.where(p[..., 0] > 1.0, 2.0, 0.0), (0, -1, 2, 1), 0.02)
    path = np.stack([np.linspace(0.1, 1.9, 300), np.zeros(300)], axis=1)
    with pytest.raises(TerrainError, match="wall"):
        require_ground(field, path)


def test_a_slope_that_nobody_can_stand_on_is_a_wall_and_steep_stairs_are_none() -> None:
    path = np.stack([np.linspace(0.1, 3.9, 77), np.zeros(77)], axis=1)
    bounds = (0, -1, 4, 1)
    for degrees, refused in ((75.0, True), (-75.0, True), (60.0, False)):
        rise = np.tan(np.radians(degrees))
        slope = HeightField.from_function(lambda p: rise * np.clip(p[..., 0] - 1.0, 0.0, 0.5), bounds, 0.02)  # noqa: B023
        if refused:
            with pytest.raises(TerrainError, match=r"wall of 1\.[6-9]"):
                require_ground(slope, path)
        else:
            require_ground(slope, path)
    stairs = HeightField.from_function(
        lambda p: 0.22 * np.floor(np.clip(p[..., 0] - 0.5, 0.0, 3.0) / 0.2), bounds, 0.02
    )
    require_ground(stairs, path)


def test_the_sides_of_a_ditch_are_no_walls_to_those_who_may_leap() -> None:
    field = HeightField.from_function(lambda p: np.where(np.abs(p[..., 0] - 2.0) < 0.5, -2.0, 0.0), (0, -1, 4, 1), 0.02)
    path = np.stack([np.linspace(0.1, 3.9, 400), np.zeros(400)], axis=1)
    require_ground(field, path, ditches=True)
    with pytest.raises(TerrainError, match="wall"):
        require_ground(field, path)
    for place in (0.8, 3.2):
        wall = HeightField.from_function(lambda p: 2.0 * (np.abs(p[..., 0] - place) < 0.2), (0, -1, 4, 1), 0.02)  # noqa: B023
        with pytest.raises(TerrainError, match="wall"):
            require_ground(wall, path, ditches=True)
    cliff = HeightField.from_function(lambda p: np.where(p[..., 0] > 2.0, -2.0, 0.0), (0, -1, 4, 1), 0.02)
    with pytest.raises(TerrainError, match="wall"):
        require_ground(cliff, path, ditches=True)


@given(st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=60), st.floats(0.05, 0.3))
def test_ground_without_its_dips_is_as_high_as_its_lower_rim(heights: list[float], step: float) -> None:
    ground = np.array(heights)
    reach = int(np.ceil(3.0 / step))
    expected = [
        min(max(heights[max(first, 0) : first + reach + 1]) for first in range(i - reach, i + 1))
        for i in range(len(heights))
    ]
    assert np.allclose(without_dips(ground, step), expected)


@pytest.mark.parametrize("heights", [np.zeros((1, 4)), np.full((3, 3), np.nan), np.full((3, 3), np.inf)])
def test_a_broken_height_field_is_refused(heights: np.ndarray) -> None:
    with pytest.raises(TerrainError):
        HeightField(np.zeros(2), 0.1, heights)
