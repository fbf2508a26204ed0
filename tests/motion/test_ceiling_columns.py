"""What is over a walk, found in the columns of its surface, without Blender."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion.ceiling import Ceiling
from blender_addon.motion.ceiling_columns import HALF_WIDTH, ceiling_over
from blender_addon.motion.surface import STEP_UP, Surface, over_dips, walk_level
from tests.motion.made_triangles import Soup, box, sheet, together

LINE = np.array([(0.0, 0.0, 0.0), (6.0, 0.0, 0.0)])
FLOOR = sheet(-2.0, -3.0, 8.0, 3.0)


def over(*parts: Soup, cell: float = 0.025) -> Ceiling:
    vertices, faces = together(*parts)
    surface = Surface.around(vertices, faces, LINE, 0.8, cell)
    return ceiling_over(surface, over_dips(walk_level(surface, vertices, faces)), 6.0, vertices, faces)


def test_nothing_is_over_open_ground() -> None:
    found = over(FLOOR)
    assert found.open
    assert (found.arc[0], found.arc[-1]) == (0.0, 6.0)


@settings(max_examples=25, deadline=None)
@given(first=st.floats(0.5, 4.0), length=st.floats(0.2, 1.5), height=st.floats(0.8, 3.0))
def test_a_block_is_a_ceiling_as_high_as_its_underside_along_its_length(
    first: float, length: float, height: float
) -> None:
    found = over(FLOOR, box(first, -1.0, height, first + length, 1.0, height + 0.5))
    # Within a cell and the reach along the walk.
    inside = (found.arc > first + 0.1) & (found.arc < first + length - 0.1)
    outside = (found.arc < first - 0.15) | (found.arc > first + length + 0.15)
    assert found.height[inside] == pytest.approx(height)
    assert np.all(np.isinf(found.height[outside]))
    assert np.isfinite(found.height).any()


@given(aside=st.floats(0.0, 0.7))
@settings(max_examples=25, deadline=None)
def test_a_block_beside_the_walk_counts_within_half_a_bodys_width(aside: float) -> None:
    found = over(FLOOR, box(2.0, aside, 1.4, 4.0, 2.0, 1.8))
    if abs(aside - HALF_WIDTH) > 0.03:
        assert found.open == (aside > HALF_WIDTH)


def test_a_sheet_that_looks_up_is_a_ceiling_over_ground_that_is_walked_on() -> None:
    assert over(FLOOR, sheet(2.0, -1.0, 4.0, 1.0, 1.5)).over(np.array([1.0, 3.0])) == pytest.approx([np.inf, 1.5])
    # Beside the middle it may be the top of a ledge.
    assert over(FLOOR, sheet(2.0, 0.15, 4.0, 1.0, 1.5)).open


def test_the_lowest_of_several_counts_and_what_can_be_stepped_on_does_not() -> None:
    found = over(FLOOR, box(2.0, -1.0, 1.9, 4.0, 1.0, 2.0), box(2.5, -1.0, 1.4, 3.5, 1.0, 1.5))
    assert found.over(np.array([2.2, 3.0])) == pytest.approx([1.9, 1.4])
    assert over(FLOOR, box(2.0, -1.0, 0.1, 4.0, 1.0, 0.9 * STEP_UP)).open


def test_a_ceiling_follows_the_floor_that_is_walked_on() -> None:
    """Up stairs of 0.2 m the ceiling at 2.2 m stays where it is, and the treads are none."""
    treads = [box(1.0 + 0.4 * k, -1.0, 0.2 * k, 1.4 + 0.4 * k, 1.0, 0.2 * (k + 1)) for k in range(5)]
    landing = box(3.0, -1.0, 0.8, 8.0, 1.0, 1.0)
    assert over(FLOOR, *treads, landing).open
    assert over(FLOOR, *treads, landing, box(4.0, -1.0, 2.2, 8.0, 1.0, 2.4)).over(np.array([5.0])) == pytest.approx(2.2)


def test_a_ditchs_rims_are_no_ceiling_over_its_floor() -> None:
    assert over(sheet(-2.0, -3.0, 3.0, 3.0), sheet(3.0, -3.0, 4.0, 3.0, -1.0), sheet(4.0, -3.0, 8.0, 3.0)).open
