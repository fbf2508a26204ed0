"""What is over a walk: the lowest underside above the body, found in the columns of its surface. No Blender here."""

from __future__ import annotations

import numpy as np

from ..motion.ceiling import Ceiling
from ..motion.rotations import Array
from .surface import STEP_UP, WALL_AT, IntArray, Surface

#: Half of a body's width, metres.
HALF_WIDTH = 0.25
#: A sheet without thickness counts within this distance of the path's middle, metres: beside it, it may be a ledge.
_SHEET_WIDTH = 0.1
#: The ceiling is looked up at every so many points of the walk.
_EVERY = 2
_CHUNK = 4096


def ceiling_over(surface: Surface, level: Array, length: float, vertices: Array, faces: IntArray) -> Ceiling:
    """The ceiling over a walk.

    What looks down counts within a body's width of the path. What looks up counts only over its middle and over
    ground that is walked on: there it is a sheet without thickness, elsewhere the top of what stands or rises there.

    Args:
        surface: the columns around the path.
        level: height of the walk at its points (n,), metres.
        length: of the path as seen from above, metres.
        vertices, faces: what the surface was drawn from.
    """
    arc = np.linspace(0.0, length, len(surface.walk))
    place = np.linspace(0.0, length, max(int(np.ceil((len(arc) - 1) / _EVERY)), 1) + 1)
    xy = np.stack([np.interp(place, arc, surface.walk[:, axis]) for axis in (0, 1)], axis=-1)
    floor = np.interp(place, arc, level)
    reach = HALF_WIDTH + 2.0 * surface.cell + 0.1
    down = _Columns(*surface.undersides(vertices, faces, float(level.min()) + STEP_UP, reach))
    up = _Columns(surface.columns, surface.heights)
    high = surface.heights > level.min() + WALL_AT
    height = np.full(len(place), np.inf)
    ahead = np.gradient(xy, axis=0) if len(xy) > 1 else np.zeros_like(xy)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    for begin in range(0, len(place), _CHUNK):
        rows = slice(begin, begin + _CHUNK)
        if down:
            under = _around(surface, xy[rows], ahead[rows], HALF_WIDTH)
            height[rows] = down.first_above(under, floor[rows, None] + STEP_UP).min(axis=1)
        if np.any(high):
            under = _around(surface, xy[rows], ahead[rows], _SHEET_WIDTH)
            sheet = up.first_above(under, floor[rows, None] + WALL_AT)
            walked = up.first_above(under, floor[rows, None] - STEP_UP) <= floor[rows, None] + STEP_UP
            height[rows] = np.minimum(height[rows], np.where(walked, sheet, np.inf).min(axis=1))
    return Ceiling(place, height)


class _Columns:
    """Heights in columns, to be looked up from below."""

    def __init__(self, columns: IntArray, heights: Array) -> None:
        self._base = float(heights.min(initial=0.0))
        self._tall = float(heights.max(initial=0.0)) - self._base + 1.0
        keys = columns * self._tall + (heights - self._base)
        order = np.argsort(keys, kind="stable")
        self._keys, self._columns, self._heights = keys[order], columns[order], heights[order]

    def __bool__(self) -> bool:
        return len(self._keys) > 0

    def first_above(self, columns: IntArray, level: Array) -> Array:
        """The lowest height (n, k) above levels (n, 1) in columns (n, k); inf where there is none."""
        above = np.clip(level - self._base, 0.0, self._tall - 0.5)
        at = np.searchsorted(self._keys, columns * self._tall + above, side="right")
        known = np.minimum(at, len(self._keys) - 1)
        found = (at < len(self._keys)) & (self._columns[known] == columns) & (self._heights[known] > level)
        return np.where(found, self._heights[known], np.inf)


def _around(surface: Surface, xy: Array, ahead: Array, half: float) -> IntArray:
    """Grid points (n, k) across the walk at places (n, 2) with directions (n, 2), so far to both sides, metres."""
    step = surface.cell
    across = np.linspace(-half, half, 2 * max(int(round(half / step)), 1) + 1)
    along = np.linspace(-0.05, 0.05, 2 * max(int(round(0.05 / step)), 1) + 1)
    left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=-1)
    a, b = (part.ravel() for part in np.meshgrid(along, across, indexing="ij"))
    places = xy[:, None] + ahead[:, None] * a[:, None] + left[:, None] * b[:, None]
    index = np.rint((places - surface.origin) / step).astype(np.int64)
    index = np.clip(index, 0, np.array(surface.shape) - 1)
    return np.asarray(index[..., 0] * surface.shape[1] + index[..., 1])
