"""What is over a walk: the lowest underside above the body, found in the columns of its surface."""

from __future__ import annotations

import numpy as np

from .ceiling import Ceiling
from .rotations import Array
from .surface import STEP_UP, WALL_AT, IntArray, Surface

#: Half of a body's width, metres.
HALF_WIDTH = 0.25
#: A sheet without thickness counts within this distance of the path's middle, metres: beside it, it may be a ledge.
_SHEET_WIDTH = 0.1
#: The ceiling is looked up at every so many points of the walk.
_EVERY = 2
#: And so far to both sides along it, metres.
_ALONG = 0.05


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
    ahead = np.gradient(xy, axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    under = _around(surface, xy, ahead, HALF_WIDTH)
    reach = HALF_WIDTH + 2.0 * surface.cell + _ALONG
    lowest = float(level.min())
    down = _Columns.under(under, surface, *surface.undersides(vertices, faces, lowest + STEP_UP, reach))
    height = down.first_above(under, floor[:, None] + STEP_UP).min(axis=1)
    if np.any(surface.heights > lowest + WALL_AT):
        under = _around(surface, xy, ahead, _SHEET_WIDTH)
        up = _Columns.under(under, surface, surface.columns, surface.heights)
        sheet = up.first_above(under, floor[:, None] + WALL_AT)
        walked = up.first_above(under, floor[:, None] - STEP_UP) <= floor[:, None] + STEP_UP
        height = np.minimum(height, np.where(walked, sheet, np.inf).min(axis=1))
    return Ceiling(place, height)


class _Columns:
    """Heights in columns, to be looked up from below."""

    @classmethod
    def under(cls, wanted: IntArray, surface: Surface, columns: IntArray, heights: Array) -> _Columns:
        """Those of the columns (k,) and heights (k,) that are among the wanted columns (n, m)."""
        known = np.zeros(surface.shape[0] * surface.shape[1], dtype=np.bool_)
        known[wanted.ravel()] = True
        kept = known[columns]
        return cls(columns[kept], heights[kept])

    def __init__(self, columns: IntArray, heights: Array) -> None:
        self._base = float(heights.min(initial=0.0))
        self._tall = float(heights.max(initial=0.0)) - self._base + 1.0
        keys = columns * self._tall + (heights - self._base)
        order = np.argsort(keys, kind="stable")
        self._keys, self._columns, self._heights = keys[order], columns[order], heights[order]

    def first_above(self, columns: IntArray, level: Array) -> Array:
        """The lowest height (n, k) above levels (n, 1) in columns (n, k); inf where there is none."""
        if not len(self._keys):
            return np.full(columns.shape, np.inf)
        above = np.clip(level - self._base, -0.5, self._tall - 0.5)
        at = np.searchsorted(self._keys, columns * self._tall + above, side="right")
        known = np.minimum(at, len(self._keys) - 1)
        found = (at < len(self._keys)) & (self._columns[known] == columns) & (self._heights[known] > level)
        return np.where(found, self._heights[known], np.inf)


def _around(surface: Surface, xy: Array, ahead: Array, half: float) -> IntArray:
    """Grid points (n, k) across the walk at places (n, 2) with directions (n, 2), so far to both sides, metres."""
    step = surface.cell
    across = np.linspace(-half, half, 2 * max(int(round(half / step)), 1) + 1)
    along = np.linspace(-_ALONG, _ALONG, 2 * max(int(round(_ALONG / step)), 1) + 1)
    left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=-1)
    a, b = (part.ravel() for part in np.meshgrid(along, across, indexing="ij"))
    places = xy[:, None] + ahead[:, None] * a[:, None] + left[:, None] * b[:, None]
    index = np.rint((places - surface.origin) / step).astype(np.int64)
    index = np.clip(index, 0, np.array(surface.shape) - 1)
    return np.asarray(index[..., 0] * surface.shape[1] + index[..., 1])
