"""Triangles drawn into columns around a path, and the walk from one surface to the next, without Blender."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion.errors import TerrainError
from blender_addon.motion.rotations import Array
from blender_addon.motion.surface import STEP_UP, Surface, over_dips, walk_height, walk_level
from tests.motion.made_triangles import Soup, box, sheet, together

LINE = np.array([(0.0, 0.0, 0.0), (6.0, 0.0, 0.0)])
FLOOR = sheet(-2.0, -3.0, 8.0, 3.0)


def drawn(*parts: Soup, path: Array = LINE, margin: float = 0.6, cell: float = 0.05) -> tuple[Surface, Array]:
    """The columns around a path, and the heights (n,) along it."""
    vertices, faces = together(*parts)
    surface = Surface.around(vertices, faces, path, margin, cell)
    return surface, walk_level(surface, vertices, faces)


@settings(max_examples=30, deadline=None)
@given(rise=st.floats(-0.6, 0.6), offset=st.floats(-1.0, 1.0), turn=st.floats(-3.0, 3.0))
def test_an_inclined_plane_has_its_own_height_in_every_column(rise: float, offset: float, turn: float) -> None:
    size = 30.0
    vertices, faces = sheet(-size, -size, size, size)
    slope = rise * np.array([np.cos(turn), np.sin(turn)])
    vertices[:, 2] = offset + vertices[:, :2] @ slope
    surface = Surface.around(vertices, faces, LINE + [0.0, 0.0, offset], 0.6, 0.05)
    heights = walk_height(surface, walk_level(surface, vertices, faces))
    known = np.argwhere(np.isfinite(heights))
    wanted = offset + (surface.origin + surface.cell * known) @ slope
    assert heights[np.isfinite(heights)] == pytest.approx(wanted, abs=1e-6)
    # All there is within the margin of the path, and little beyond it.
    places = surface.origin + surface.cell * np.argwhere(np.ones(surface.shape, bool))
    away = np.hypot(places[:, 0] - np.clip(places[:, 0], 0.0, 6.0), places[:, 1])
    covered = np.isfinite(heights).ravel()
    assert covered[away < 0.55].all()
    assert not covered[away > 0.65].any()


def test_large_and_small_triangles_cover_the_same_columns() -> None:
    """A large triangle is tried on every column, small ones are drawn cell by cell."""
    x, y = np.arange(-2.0, 8.01, 0.04), np.arange(-1.0, 1.01, 0.04)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    first = (np.arange(len(x) - 1)[:, None] * len(y) + np.arange(len(y) - 1)).ravel()
    faces = np.concatenate([np.stack([first, first + len(y), first + len(y) + 1], axis=-1),
                            np.stack([first, first + len(y) + 1, first + 1], axis=-1)])  # fmt: skip
    fine = np.column_stack([grid, 0.1 * grid[:, 0]]), faces
    coarse = sheet(-2.0, -1.0, x[-1], y[-1], -0.2, 0.1 * x[-1])
    small, large = (walk_height(*drawn(part)) for part in (fine, coarse))
    assert np.array_equal(np.isnan(small), np.isnan(large))
    assert np.nanmax(np.abs(small - large)) < 1e-9


def test_what_looks_down_carries_nobody() -> None:
    vertices, faces = sheet(-2.0, -3.0, 8.0, 3.0, 0.3)
    _, level = drawn((vertices, faces[:, ::-1]), FLOOR)
    assert np.all(level == 0.0)
    with pytest.raises(TerrainError, match="no ground under the path"):
        drawn((vertices, faces[:, ::-1]))


@given(step=st.floats(0.05, 0.9))
@settings(max_examples=30, deadline=None)
def test_a_step_is_taken_if_it_is_in_reach_and_else_the_walk_goes_on_below(step: float) -> None:
    _, level = drawn(FLOOR, sheet(3.0, -3.0, 8.0, 3.0, step))
    assert level[0] == 0.0
    assert level[-1] == pytest.approx(step if step <= STEP_UP else 0.0)


def test_where_a_walk_begins_decides_on_which_of_two_floors_it_goes() -> None:
    parts = FLOOR, sheet(-2.0, -3.0, 8.0, 3.0, 2.4)
    assert np.all(drawn(*parts)[1] == 0.0)
    assert drawn(*parts, path=LINE + [0.0, 0.0, 2.1])[1] == pytest.approx(2.4)


def test_a_hole_is_bridged_along_the_walk_and_stays_a_hole_in_the_ground() -> None:
    surface, level = drawn(sheet(-2.0, -3.0, 3.0, 3.0), sheet(4.0, -3.0, 8.0, 3.0, 0.2))
    arc = np.linspace(0.0, 6.0, len(level))
    inside = (arc > 3.1) & (arc < 3.9)
    assert level[inside] == pytest.approx(0.2 * (arc[inside] - 3.0), abs=0.02)
    heights = walk_height(surface, level)
    x = surface.origin[0] + surface.cell * np.arange(surface.shape[0])
    middle = round(-surface.origin[1] / surface.cell)
    assert np.isnan(heights[(x > 3.06) & (x < 3.94), middle]).all()


def test_beside_the_walk_the_ground_is_what_can_be_stepped_on_from_it() -> None:
    surface, level = drawn(FLOOR, box(2.0, 0.2, 0.0, 4.0, 3.0, 0.3), box(2.0, -3.0, 0.0, 4.0, -0.2, 0.8))
    heights = walk_height(surface, level)
    at = {y: round((y - surface.origin[1]) / surface.cell) for y in (0.4, 0.0, -0.4)}
    row = round((3.0 - surface.origin[0]) / surface.cell)
    assert [heights[row, at[y]] for y in (0.4, 0.0, -0.4)] == pytest.approx([0.3, 0.0, 0.0])


def test_walls_are_refused_where_they_stand_and_not_beside_or_below() -> None:
    with pytest.raises(TerrainError, match=r"upright stands across the path 3\.0 m from its start, near x 2\.9"):
        drawn(FLOOR, box(3.0, -1.0, 0.0, 3.2, 1.0, 2.0))
    drawn(FLOOR, box(3.0, 0.1, 0.0, 3.2, 1.0, 2.0))
    drawn(FLOOR, box(3.0, -1.0, 0.0, 3.2, 1.0, 0.4))
    drawn(FLOOR, box(3.0, -1.0, 1.0, 3.2, 1.0, 2.0))


def test_somebody_who_leaps_goes_on_level_over_a_ditch() -> None:
    _, level = drawn(sheet(-2.0, -3.0, 3.0, 3.0), sheet(3.0, -3.0, 4.0, 3.0, -1.0), sheet(4.0, -3.0, 8.0, 3.0))
    assert level.min() == -1.0
    assert np.all(over_dips(level) == 0.0)


def test_undersides_are_what_looks_down_near_the_walk_and_high_enough() -> None:
    vertices, faces = together(FLOOR, box(2.0, -0.5, 1.5, 4.0, 0.5, 2.0), box(2.0, -0.5, 0.1, 4.0, 0.5, 0.3))
    surface = Surface.around(vertices, faces, LINE, 0.6, 0.05)
    columns, heights = surface.undersides(vertices, faces, 0.5, 0.3)
    assert heights == pytest.approx(1.5)
    places = surface.origin + surface.cell * np.stack(np.unravel_index(columns, surface.shape), axis=-1)
    low, high = places.min(axis=0), places.max(axis=0)
    assert low == pytest.approx([2.0, -0.3], abs=0.051)
    assert high == pytest.approx([4.0, 0.3], abs=0.051)
    assert [len(part) for part in surface.undersides(vertices, faces, 3.0, 0.3)] == [0, 0]


def test_a_path_over_itself_is_refused_on_two_levels_and_not_on_one() -> None:
    floor = sheet(-9.0, -6.0, 11.0, 6.0)
    up, down = sheet(-6.0, -1.0, 0.0, 1.0, 0.0, 2.4), sheet(2.0, -1.0, 8.0, 1.0, 2.4, 0.0)
    bridge = up, sheet(0.0, -1.0, 2.0, 1.0, 2.4), down
    over = np.array([(-7.0, 0.0, 0.0), (9.0, 0.0, 0.0), (9.0, 4.0, 0.0), (1.0, 4.0, 0.0), (1.0, -4.0, 0.0)])
    for path in (over, over[::-1]):
        with pytest.raises(TerrainError, match=r"over itself near x [01]\.\d\d, y -?0\.\d\d, 2\.4 m higher") as caught:
            drawn(floor, *bridge, path=path)
        assert "Split the curve" in caught.value.remedy
        drawn(floor, path=path)
    drawn(floor, *bridge, path=over[:2])
    drawn(floor, *bridge, path=over[2:])


@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.3, 0.5])
@pytest.mark.parametrize("width", [0.9, 1.5, 2.3])
def test_a_walk_goes_on_behind_a_gap_though_a_floor_goes_on_beneath(floor: float, width: float) -> None:
    path = LINE + [0.0, 0.0, 1.0]
    last = 2.0 + width
    parts = (sheet(-2.0, -3.0, 8.0, 3.0, floor, floor), box(-1.0, -2.0, -2.0, 2.0, 2.0, 1.0),
             box(last, -2.0, -2.0, 5.5, 2.0, 1.0), box(5.5, -2.0, -2.0, 8.0, 2.0, 1.0))  # fmt: skip
    surface, level = drawn(*parts, path=path, cell=0.025)
    at = surface.walk[:, 0]
    inside = (at > 2.03) & (at < last - 0.03)
    assert np.allclose(level[inside], floor)
    assert np.allclose(level[(at < 1.97) | (at > last + 0.03)], 1.0)
    heights = walk_height(surface, over_dips(level))
    row = heights[:, round((0.0 - surface.origin[1]) / surface.cell)]
    x = surface.origin[0] + surface.cell * np.arange(len(row))
    low = x[np.isfinite(row) & (row < 0.9)]
    assert low.min() == pytest.approx(2.0, abs=0.04)
    assert low.max() == pytest.approx(last, abs=0.04)
