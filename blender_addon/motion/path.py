"""The root curve as a clean polyline on the ground, measured along its arc length; it knows nothing of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import PathError
from .rotations import yaw_of_direction

Array = npt.NDArray[np.float64]

#: Neighbouring points closer than this (metres) are one point.
DOUBLED = 1e-5
#: A path shorter (or longer) than this cannot be walked along.
SHORTEST, LONGEST = 0.01, 50_000.0

_BLOCK = 32
_BRUTE_FORCE_PAIRS = 400_000


@dataclass(frozen=True)
class RootPath:
    """A polyline in metres, horizontal, with arc length.

    Attributes:
        points: (n, 2) vertices without doubles; a cyclic path repeats its first vertex at the end.
        arc: (n,) arc length at each vertex, metres, from 0 to ``length``.
        cyclic: whether the end is the beginning.
    """

    points: Array
    arc: Array
    cyclic: bool

    @classmethod
    def from_points(cls, points: npt.ArrayLike, cyclic: bool = False) -> RootPath:
        """Clean a polyline.

        Args:
            points: (n, 2) or (n, 3) in metres; heights are ignored, the ground gives them back later.
            cyclic: join the last point to the first.

        Raises:
            PathError: NaN or infinite points, fewer than two different points, no horizontal length, or a
                length no character could walk.
        """
        xy = np.asarray(points, dtype=np.float64)
        if xy.size == 0:
            raise PathError("The root curve has no points", "Draw a curve of at least two points")
        if xy.ndim != 2 or xy.shape[1] not in (2, 3):
            raise PathError(f"The root curve's points have the shape {xy.shape}", "Give n points of 2 or 3 numbers")
        bad = np.flatnonzero(~np.isfinite(xy).all(axis=1))
        if len(bad):
            raise PathError(
                f"{len(bad)} of the root curve's {len(xy)} points are not finite numbers, the first is point {bad[0]}",
                "Delete these points or draw the curve again; look for broken drivers or modifiers on it",
            )
        if len(xy) < 2:
            raise PathError("The root curve has only one point", "Draw a curve of at least two points")
        xy = _without_doubles(xy[:, :2])
        if cyclic and len(xy) > 1:
            if np.linalg.norm(xy[-1] - xy[0]) <= DOUBLED:
                xy = xy[:-1]
            xy = np.concatenate([xy, xy[:1]])
        arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(xy, axis=0), axis=1))])
        _check_length(float(arc[-1]))
        return cls(xy, arc, cyclic)

    @property
    def length(self) -> float:
        """Horizontal arc length, metres."""
        return float(self.arc[-1])

    def position(self, s: npt.ArrayLike) -> Array:
        """Points (m, 2) at arc lengths ``s`` (m,): clamped to the ends, or wrapped round a cyclic path."""
        s = self._inside(s)
        return np.stack([np.interp(s, self.arc, self.points[:, 0]), np.interp(s, self.arc, self.points[:, 1])], -1)

    def tangent(self, s: npt.ArrayLike) -> Array:
        """Unit directions (m, 2) of travel at arc lengths ``s`` (m,); at a vertex that of the segment that begins."""
        index = np.searchsorted(self.arc, self._inside(s), side="right") - 1
        index = np.clip(index, 0, len(self.arc) - 2)
        step = self.points[index + 1] - self.points[index]
        return np.asarray(step / (self.arc[index + 1] - self.arc[index])[..., None])

    def yaw(self, s: npt.ArrayLike) -> Array:
        """Yaw (m,) of the direction of travel at arc lengths ``s`` (m,), radians in (-pi, pi]."""
        return yaw_of_direction(self.tangent(s))

    def reversed(self) -> RootPath:
        """The same path walked the other way; a cyclic one keeps its first point."""
        return RootPath(self.points[::-1].copy(), self.length - self.arc[::-1], self.cyclic)

    def unrolled(self, start: float = 0.0, laps: int = 1) -> RootPath:
        """The open path that is really walked: from ``start`` (metres) to the end, or ``laps`` times round.

        Arc lengths of the result begin at 0.
        """
        if not self.cyclic:
            keep = self.arc > start + DOUBLED
            return RootPath.from_points(np.concatenate([self.position([start]), self.points[keep]]))
        start = start % self.length
        lap = np.concatenate([self.points[:-1][self.arc[:-1] > start + DOUBLED],
                              self.points[:-1][self.arc[:-1] <= start + DOUBLED]])  # fmt: skip
        first = self.position([start])
        return RootPath.from_points(np.concatenate([first, np.tile(np.concatenate([lap, first]), (laps, 1))]))

    def closest(self, xy: npt.ArrayLike) -> tuple[Array, Array]:
        """Where the path is nearest to points.

        Args:
            xy: (m, 2) metres.

        Returns:
            arc lengths (m,) of the nearest places, and the distances to them (m,), metres.
        """
        xy = np.asarray(xy, dtype=np.float64).reshape(-1, 2)
        if len(xy) * (len(self.arc) - 1) <= _BRUTE_FORCE_PAIRS:
            return self._closest_of(xy, np.broadcast_to(np.arange(len(self.arc) - 1), (len(xy), len(self.arc) - 1)))
        return self._closest_by_blocks(xy)

    def distance_to(self, xy: npt.ArrayLike) -> Array:
        """Distances (m,) in metres from points (m, 2) to the path."""
        return self.closest(xy)[1]

    def _inside(self, s: npt.ArrayLike) -> Array:
        s = np.asarray(s, dtype=np.float64)
        return np.asarray(np.mod(s, self.length) if self.cyclic else np.clip(s, 0.0, self.length))

    def _closest_of(self, xy: Array, segments: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """Nearest place among candidate ``segments`` (m, k) for each point (m, 2)."""
        begin = self.points[segments]
        step = self.points[segments + 1] - begin
        length = (self.arc[segments + 1] - self.arc[segments])
        offset = xy[:, None] - begin
        along = np.clip((offset[..., 0] * step[..., 0] + offset[..., 1] * step[..., 1]) / length**2, 0.0, 1.0)
        away = np.hypot(offset[..., 0] - along * step[..., 0], offset[..., 1] - along * step[..., 1])
        best = np.argmin(away, axis=1)
        row = np.arange(len(xy))
        return (self.arc[segments[row, best]] + along[row, best] * length[row, best]), away[row, best]

    def _closest_by_blocks(self, xy: Array) -> tuple[Array, Array]:
        """The same with a bounding box around every 32 segments; only boxes that may hold something nearer are read."""
        segments = len(self.arc) - 1
        starts = np.arange(0, segments, _BLOCK)
        padded = np.minimum(starts[:, None] + np.arange(_BLOCK + 1), segments)
        low, high = self.points[padded].min(axis=1), self.points[padded].max(axis=1)
        bound = np.hypot(
            np.maximum(np.maximum(low[:, 0] - xy[:, :1], xy[:, :1] - high[:, 0]), 0.0),
            np.maximum(np.maximum(low[:, 1] - xy[:, 1:], xy[:, 1:] - high[:, 1]), 0.0),
        )
        order = np.argsort(bound, axis=1)
        place, distance = np.zeros(len(xy)), np.full(len(xy), np.inf)
        active = np.arange(len(xy))
        for rank in range(len(starts)):
            block = order[active, rank]
            active = active[bound[active, block] < distance[active]]
            if not len(active):
                break
            block = order[active, rank]
            candidates = np.minimum(starts[block][:, None] + np.arange(_BLOCK), segments - 1)
            s, d = self._closest_of(xy[active], candidates)
            nearer = d < distance[active]
            place[active[nearer]], distance[active[nearer]] = s[nearer], d[nearer]
        return place, distance


def _without_doubles(xy: Array) -> Array:
    """Drop points that repeat the one kept before; the very last point is kept in place of its double."""
    kept = xy[np.concatenate([[True], np.linalg.norm(np.diff(xy, axis=0), axis=1) > DOUBLED])]
    # Points that creep by less than the tolerance each must not vanish together: compare with the last one kept.
    if np.linalg.norm(kept[-1] - xy[-1]) > DOUBLED:
        kept = np.concatenate([kept, xy[-1:]])
    return np.asarray(kept)


def _check_length(length: float) -> None:
    if length < SHORTEST:
        raise PathError(
            "The root curve has no length on the ground",
            "Give it at least two points that lie apart (seen from above), and check its scale",
        )
    if length > LONGEST:
        raise PathError(f"The root curve is {length / 1000.0:.3g} km long", "Check its scale and the scene's units")
