"""The ground as motion sees it: heights and normals over the horizontal plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .errors import TerrainError
from .rotations import UP, Array
from .runs import runs

BoolArray = npt.NDArray[np.bool_]

#: A surface steeper than this cannot be stood upon (about 70 degrees).
MAX_GRADIENT = 2.75
#: What rises or falls at once by more than this, metres, is a wall.
WALL = 0.6
#: Dips narrower than this, metres, have two rims that belong together.
WIDEST_DIP = 3.0
#: The longest stretch without ground that a walk may cross, metres.
LONGEST_HOLE = 1.5
#: Heights beyond this (metres) come from a wrong unit.
_HIGHEST = 50_000.0


class Terrain(Protocol):
    """Anything with a height everywhere; holes are filled for sampling and flagged by `has_ground`."""

    def height(self, xy: Array) -> Array:
        """Height (...) in metres at horizontal points (..., 2)."""
        ...

    def normal(self, xy: Array) -> Array:
        """Upward unit normal (..., 3) at horizontal points (..., 2)."""
        ...

    def has_ground(self, xy: Array) -> BoolArray:
        """Whether there is real ground (...), not a filled hole, at horizontal points (..., 2)."""
        ...


@dataclass(frozen=True)
class FlatGround:
    """A level floor at ``level`` metres, without end."""

    level: float = 0.0

    def height(self, xy: Array) -> Array:
        """The floor's level at every point (..., 2)."""
        return np.full(np.shape(xy)[:-1], self.level)

    def normal(self, xy: Array) -> Array:
        """Straight up at every point (..., 2)."""
        return np.broadcast_to(UP, (*np.shape(xy)[:-1], 3)).copy()

    def has_ground(self, xy: Array) -> BoolArray:
        """True everywhere."""
        return np.ones(np.shape(xy)[:-1], dtype=bool)


@dataclass(frozen=True)
class HeightField:
    """Heights on a regular grid, bilinear between its points.

    Outside the grid the border's height goes on, but `has_ground` says no.

    Attributes:
        origin: x and y of grid point [0, 0] (2,), metres.
        cell: distance between neighbouring points, metres.
        heights: heights (nx, ny), metres, first axis along x; NaN marks a hole.
    """

    origin: Array
    cell: float
    heights: Array

    def __post_init__(self) -> None:
        heights = np.asarray(self.heights, dtype=np.float64)
        if heights.ndim != 2 or min(heights.shape) < 2 or not self.cell > 0.0:
            raise TerrainError("A height field needs at least 2 x 2 points and a positive cell size")
        if not (np.isfinite(self.cell) and np.all(np.isfinite(self.origin))):
            raise TerrainError("The terrain's place or size is no finite number", "Check its size and its centre")
        if np.any(np.isinf(heights)):
            raise TerrainError("The terrain has infinite heights", "Mark holes as NaN")
        if np.all(np.isnan(heights)):
            raise TerrainError("The terrain is nothing but a hole", "Pick a mesh that lies under the path")
        if np.nanmax(np.abs(heights)) > _HIGHEST:
            raise TerrainError("The terrain is higher than any mountain", "Check its scale and the scene's units")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "origin", np.asarray(self.origin, dtype=np.float64).reshape(2))

    @classmethod
    def from_function(
        cls, function: Callable[[Array], Array], bounds: tuple[float, float, float, float], cell: float = 0.02
    ) -> HeightField:
        """Sample ``function``: points (..., 2) -> heights (...), over ``bounds`` (x0, y0, x1, y1) in metres."""
        x0, y0, x1, y1 = bounds
        if not (x1 > x0 and y1 > y0 and cell > 0.0):
            raise TerrainError("A terrain's bounds must span an area and its cells must have a size")
        x = x0 + cell * np.arange(int(np.ceil((x1 - x0) / cell)) + 1)
        y = y0 + cell * np.arange(int(np.ceil((y1 - y0) / cell)) + 1)
        grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        return cls(np.array([x0, y0]), cell, np.asarray(function(grid), dtype=np.float64))

    @cached_property
    def filled(self) -> Array:
        """Heights (nx, ny) with each hole filled from the known heights around it."""
        return _fill_holes(self.heights)

    def height(self, xy: Array) -> Array:
        """Bilinear height (...) at points (..., 2)."""
        (i, j), (u, v), _ = self._locate(xy)
        h = self.filled
        low = h[i, j] * (1.0 - u) + h[i + 1, j] * u
        high = h[i, j + 1] * (1.0 - u) + h[i + 1, j + 1] * u
        return np.asarray(low * (1.0 - v) + high * v)

    def normal(self, xy: Array) -> Array:
        """Unit normal (..., 3) from the gradient over one cell to each side of points (..., 2)."""
        xy = np.asarray(xy, dtype=np.float64)
        step = self.cell
        gx = (self.height(xy + [step, 0.0]) - self.height(xy - [step, 0.0])) / (2.0 * step)
        gy = (self.height(xy + [0.0, step]) - self.height(xy - [0.0, step])) / (2.0 * step)
        n = np.stack([-gx, -gy, np.ones_like(gx)], axis=-1)
        return np.asarray(n / np.linalg.norm(n, axis=-1, keepdims=True))

    def has_ground(self, xy: Array) -> BoolArray:
        """Whether all four grid points around each point (..., 2) are known."""
        (i, j), _, inside = self._locate(xy)
        known = ~np.isnan(self.heights)
        return np.asarray(inside & known[i, j] & known[i + 1, j] & known[i, j + 1] & known[i + 1, j + 1])

    def _locate(self, xy: Array) -> tuple[tuple[npt.NDArray[np.intp], ...], tuple[Array, Array], BoolArray]:
        at = (np.asarray(xy, dtype=np.float64) - self.origin) / self.cell
        last = np.array(self.heights.shape) - 1
        inside = np.all((at >= -1e-9) & (at <= last + 1e-9), axis=-1)
        at = np.clip(at, 0.0, last)
        corner = np.minimum(np.floor(at).astype(np.intp), last - 1)
        rest = at - corner
        return (corner[..., 0], corner[..., 1]), (rest[..., 0], rest[..., 1]), inside


def without_dips(heights: Array, step: float, widest: float = WIDEST_DIP) -> Array:
    """Heights (n,) ``step`` metres apart, dips narrower than ``widest`` metres filled up to the lower of their rims.

    A morphological closing; beyond the ends there is no rim.
    """
    reach = int(np.ceil(widest / step))
    windows = np.lib.stride_tricks.sliding_window_view
    tallest = windows(np.pad(heights, reach, constant_values=-np.inf), reach + 1).max(axis=1)
    return np.asarray(windows(tallest, reach + 1).min(axis=1))


def require_ground(terrain: Terrain, xy: Array, gap: float = LONGEST_HOLE, ditches: bool = False) -> float:
    """Refuse a path that leaves the ground or runs against a wall.

    Args:
        terrain: the ground.
        xy: points along the path (n, 2), metres, in order and a few centimetres apart.
        gap: the longest stretch without ground that a walk may cross, metres.
        ditches: leave to those who may leap (`gaps.over_gaps`) what lies between two rims up to `WIDEST_DIP` apart:
            ditches with walls as sides, and longer holes.

    Returns:
        The longest such stretch on the path, metres; over it the ground is guessed from its edges.

    Raises:
        TerrainError: no ground under the path, a hole longer than ``gap``, or a wall higher than `WALL`.
    """
    xy = np.asarray(xy, dtype=np.float64)
    ground = terrain.has_ground(xy)
    if not np.any(ground):
        raise TerrainError("There is no ground under the path", "Move the terrain or the curve, or walk on flat ground")
    steps = np.concatenate([[0.0], np.linalg.norm(np.diff(xy, axis=0), axis=-1)])
    travelled = np.cumsum(steps)
    # Length of the hole each point lies in, so far: distance since the last point with ground.
    last = np.maximum.accumulate(np.where(ground, np.arange(len(xy)), -1))
    since = np.where(last >= 0, travelled - travelled[np.maximum(last, 0)], travelled)
    allowed = np.full(len(xy), gap)
    if ditches:
        known = np.flatnonzero(ground)
        allowed[known[0] : known[-1]] = max(gap, WIDEST_DIP)
    worst = int(np.argmax(since - allowed))
    if since[worst] > allowed[worst]:
        raise TerrainError(
            f"The path runs {since[worst]:.1f} m over a hole in the terrain, near x {xy[worst, 0]:.2f}, "
            f"y {xy[worst, 1]:.2f}",
            "Close the hole, pick more terrain objects or move the curve",
        )
    heights = terrain.height(xy)
    if ditches and travelled[-1] > 0.0:
        heights = without_dips(heights, travelled[-1] / (len(xy) - 1))
    rise = np.diff(heights)
    for way in (rise, -rise):
        # Of a wall that leans the path sees many steps, each of them low.
        for first, end in runs((way > MAX_GRADIENT * steps[1:]) & ground[1:] & ground[:-1]):
            if way[first:end].sum() > WALL:
                at = xy[first + 1]
                raise TerrainError(
                    f"A wall of {way[first:end].sum():.2f} m stands across the path near x {at[0]:.2f}, y {at[1]:.2f}",
                    "Lead the curve around it",
                )
    return float(since.max())


def _fill_holes(heights: Array) -> Array:
    """Fill NaN from ever coarser means (push and pull): nearby heights, in time that grows with the grid only."""
    if not np.any(np.isnan(heights)):
        return heights
    nx, ny = heights.shape
    even = np.pad(heights, ((0, nx % 2), (0, ny % 2)), constant_values=np.nan)
    blocks = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2)
    known = ~np.isnan(blocks)
    count = known.sum(axis=(1, 3))
    total = np.where(known, blocks, 0.0).sum(axis=(1, 3))
    coarse = _fill_holes(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    fine = np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1)[:nx, :ny]
    return np.where(np.isnan(heights), fine, heights)
