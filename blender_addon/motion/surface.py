"""Triangles drawn into a grid of columns around a path, and the walk that picks one height in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import TerrainError
from .polyline import Polyline
from .rotations import Array
from .terrain import WIDEST_DIP, without_dips

IntArray = npt.NDArray[np.int64]

#: A higher step than this (metres) is not taken: what lies above it is overhead, or a wall.
STEP_UP = 0.45
#: Walls are felt for at this height over the ground, metres.
WALL_AT = 0.7
#: The path is sampled this finely, metres.
_STRIDE = 0.05
#: Distance of the places around which columns are looked up, metres.
_HANDHOLD = 0.2
#: Places of the path this far apart along it, metres, are two passes; so far beside one the other is looked for.
_ELSEWHERE, _BESIDE = 1.0, 0.1
_MOST_CELLS = 4_000_000
_CHUNK = 2_000_000


@dataclass(frozen=True)
class Surface:
    """A grid around a path with every upward surface in each of its columns.

    Attributes:
        origin: (2,) of the grid, metres.
        cell: size of a cell, metres.
        shape: number of grid points along x and y.
        near: (nx * ny,) index of the nearest handhold of each grid point; -1 beyond the margin.
        columns, heights: grid point (k,) and height (k,) of each surface found, metres.
        walk: (n, 3) points along the path.
        handholds: (h,) indices into ``walk``.
    """

    origin: Array
    cell: float
    shape: tuple[int, int]
    near: IntArray
    columns: IntArray
    heights: Array
    walk: Array
    handholds: IntArray

    @classmethod
    def around(cls, vertices: Array, faces: IntArray, path: Array, margin: float, cell: float) -> Surface:
        """Draw triangles (m, 3) of vertices (n, 3) into a grid around a path (p, 3)."""
        walk = _sampled(np.asarray(path, dtype=np.float64))
        low, high = walk[:, :2].min(axis=0) - margin, walk[:, :2].max(axis=0) + margin
        cell = float(max(cell, np.sqrt(np.prod(high - low) / _MOST_CELLS)))
        origin = np.floor(low / cell) * cell
        nx, ny = (int(n) for n in np.ceil((high - origin) / cell).astype(int) + 1)
        every = max(int(round(_HANDHOLD / _STRIDE)), 1)
        handholds = np.unique(np.append(np.arange(0, len(walk), every), len(walk) - 1))
        near = _nearest(walk[handholds, :2], origin, cell, (nx, ny), margin)
        columns, heights = _draw(vertices, faces, origin, cell, (nx, ny), near)
        return cls(origin, cell, (nx, ny), near, columns, heights, walk, handholds)

    def undersides(self, vertices: Array, faces: IntArray, above: float, width: float) -> tuple[IntArray, Array]:
        """Grid points (k,) and heights (k,) of what looks down higher than ``above``, so near to the walk, metres."""
        high = vertices[:, 2] > above
        faces = faces[high[faces].any(axis=1)]
        if not len(faces):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        near = _nearest(self.walk[self.handholds, :2], self.origin, self.cell, self.shape, width)
        return _draw(vertices, faces[:, ::-1], self.origin, self.cell, self.shape, near)


def walk_level(surface: Surface, vertices: Array, faces: IntArray) -> Array:
    """Heights (n,) in metres along the walk.

    Raises:
        TerrainError: no ground under the path, a wall across it, or a path that goes over itself.
    """
    level = _carried(surface)
    _refuse_crossing(surface, level)
    _refuse_walls(surface.walk, over_dips(level), vertices, faces)
    return level


def over_dips(level: Array) -> Array:
    """Heights (n,) of the walk of somebody who leaps over ditches: their sides are neither walls nor ceilings."""
    return without_dips(level, _STRIDE)


def walk_height(surface: Surface, level: Array) -> Array:
    """Heights (nx, ny) in metres, NaN where there is no ground: look to both sides of the walk, on ``level`` (n,)."""
    reference = np.where(surface.near >= 0, level[surface.handholds][surface.near], np.nan)[surface.columns]
    found = np.full(surface.shape[0] * surface.shape[1], np.nan)
    # Ascending preference: later writes win. Worst are surfaces out of reach, the nearest of them last ...
    above = surface.heights > reference + STEP_UP
    order = np.argsort(np.where(above, reference - surface.heights - 1e6, surface.heights), kind="stable")
    # ... then those in reach, the highest last.
    found[surface.columns[order]] = surface.heights[order]
    return found.reshape(surface.shape)


def _sampled(path: Array) -> Array:
    """Points `_STRIDE` apart along a path (n, 3), by its length on the ground."""
    steps = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    count = max(int(np.ceil(arc[-1] / _STRIDE)), 1)
    at = np.linspace(0.0, arc[-1], count + 1)
    keep = np.concatenate([[True], steps > 0.0])
    return np.stack([np.interp(at, arc[keep], path[keep, axis]) for axis in range(3)], axis=-1)


def _nearest(places: Array, origin: Array, cell: float, shape: tuple[int, int], margin: float) -> IntArray:
    """Index of the nearest place (h, 2) of each grid point, flat; -1 where all are farther than the margin."""
    best = np.full(shape, np.inf)
    near = np.full(shape, -1, dtype=np.int64)
    reach = int(np.ceil(margin / cell)) + 1
    for index, place in enumerate((places - origin) / cell):
        i, j = int(place[0]), int(place[1])
        window = (slice(max(i - reach, 0), i + reach + 2), slice(max(j - reach, 0), j + reach + 2))
        x = np.arange(window[0].start, min(window[0].stop, shape[0])) - place[0]
        y = np.arange(window[1].start, min(window[1].stop, shape[1])) - place[1]
        away = x[:, None] ** 2 + y[None, :] ** 2
        nearer = away < best[window]
        best[window][nearer] = away[nearer]
        near[window][nearer] = index
    near[best > (margin / cell) ** 2] = -1
    return near.ravel()


def _draw(
    vertices: Array, faces: IntArray, origin: Array, cell: float, shape: tuple[int, int], near: IntArray
) -> tuple[IntArray, Array]:
    """Grid points (k,) and heights (k,) where triangles that look up cover the corridor."""
    places = np.column_stack([(vertices[:, :2] - origin) / cell, vertices[:, 2]])
    corners = places[faces]
    area = _cross(corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2])
    low = np.ceil(corners[:, :, :2].min(axis=1) - 1e-6)
    high = np.floor(corners[:, :, :2].max(axis=1) + 1e-6)
    low, high = np.maximum(low, 0), np.minimum(high, np.array(shape) - 1)
    size = high - low + 1
    kept = (area > 1e-9) & np.all(size > 0, axis=1)
    corners, area, low, size = corners[kept], area[kept], low[kept].astype(np.int64), size[kept].astype(np.int64)
    corridor = np.flatnonzero(near >= 0)
    cells = size.prod(axis=1)
    large = cells > max(len(corridor) // 8, 1)
    found_columns, found_heights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    points = np.stack([corridor // shape[1], corridor % shape[1]], axis=-1)
    for triangle, twice in zip(corners[large], area[large], strict=True):
        inside, z = _heights(points, triangle[None], np.array([twice]))
        found_columns.append(corridor[inside])
        found_heights.append(z[inside])
    small = np.flatnonzero(~large)
    ends = np.cumsum(cells[small])
    begin = 0
    while begin < len(small):
        last = int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + _CHUNK, side="right"))
        last = max(last, begin + 1)
        part = small[begin:last]
        begin = last
        owner = np.repeat(part, cells[part])
        first = np.repeat(np.cumsum(cells[part]) - cells[part], cells[part])
        offset = np.arange(len(owner)) - first
        points = low[owner] + np.stack([offset // size[owner, 1], offset % size[owner, 1]], axis=-1)
        column = points[:, 0] * shape[1] + points[:, 1]
        held = near[column] >= 0
        owner, points, column = owner[held], points[held], column[held]
        inside, z = _heights(points, corners[owner], area[owner])
        found_columns.append(column[inside])
        found_heights.append(z[inside])
    return np.concatenate(found_columns), np.concatenate(found_heights)


def _heights(points: IntArray, corners: Array, area: Array) -> tuple[npt.NDArray[np.bool_], Array]:
    """Which points (k, 2) lie in their triangles (k or 1, 3, 3), edges included, and the heights there."""
    a, b, c = (corners[:, k, :2] - points for k in range(3))
    u, v, w = _cross(b, c) / area, _cross(c, a) / area, _cross(a, b) / area
    inside = (u > -1e-7) & (v > -1e-7) & (w > -1e-7)
    return inside, np.asarray(u * corners[:, 0, 2] + v * corners[:, 1, 2] + w * corners[:, 2, 2])


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _carried(surface: Surface) -> Array:
    """Height of the walk (n,), metres: from one surface to the next within reach.

    Behind a ditch it goes on where it came from, though the ditch's floor may go on beneath.
    """
    index = np.rint((surface.walk[:, :2] - surface.origin) / surface.cell).astype(np.int64)
    column = index[:, 0] * surface.shape[1] + index[:, 1]
    order = np.lexsort((surface.heights, surface.columns))
    columns, heights = surface.columns[order], surface.heights[order]
    first, last = np.searchsorted(columns, column), np.searchsorted(columns, column, side="right")
    level = np.full(len(column), np.nan)
    now: float | None = None
    rim, fell = np.inf, 0
    for k in range(len(column)):
        here = heights[first[k] : last[k]]
        if not len(here):
            continue
        before = now
        across = here[np.abs(here - rim) <= STEP_UP] if (k - fell) * _STRIDE <= WIDEST_DIP else here[:0]
        if now is None:
            now = float(here[np.argmin(np.abs(here - surface.walk[k, 2]))])
        elif len(across):
            now, rim = float(across[-1]), np.inf
        else:
            within = int(np.searchsorted(here, now + STEP_UP, side="right"))
            now = float(here[within - 1] if within else here[0])
        if before is not None and before - now > STEP_UP:
            rim, fell = before, k
        level[k] = now
    if now is None:
        raise TerrainError("There is no ground under the path", "Move the terrain or the curve, or walk on flat ground")
    known = np.flatnonzero(~np.isnan(level))
    return np.interp(np.arange(len(level)), known, level[known])


def _refuse_crossing(surface: Surface, level: Array) -> None:
    """Refuse a path that goes over itself: each place has one ground, and feet of one pass would be on the other's."""
    shape = np.array(surface.shape)
    index = np.rint((surface.walk[:, :2] - surface.origin) / surface.cell).astype(np.int64)
    reach = round(_BESIDE / surface.cell)
    for aside in ((0, 0), (reach, 0), (-reach, 0), (0, reach), (0, -reach)):
        at = np.clip(index + aside, 0, shape - 1)
        near = surface.near[at[:, 0] * shape[1] + at[:, 1]]
        other = surface.handholds[near]
        apart = np.abs(level[other] - level)
        elsewhere = np.abs(other - np.arange(len(level))) * _STRIDE > _ELSEWHERE
        over = np.flatnonzero((near >= 0) & elsewhere & (apart > WALL_AT))
        if len(over):
            place = surface.walk[over[0]]
            raise TerrainError(
                f"The path goes over itself near x {place[0]:.2f}, y {place[1]:.2f}, {apart[over[0]]:.1f} m higher, "
                "and a bake knows one ground at each place",
                "Split the curve there, and bake its parts one after the other",
            )


def _refuse_walls(walk: Array, level: Array, vertices: Array, faces: IntArray) -> None:
    """Refuse a path that runs through something upright: felt for at the height of the hips."""
    corners = vertices[faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    steep = np.abs(normal[:, 2]) < 0.35 * length
    box = (walk[:, :2].min(axis=0), walk[:, :2].max(axis=0))
    steep &= np.all((high[:, :2] >= box[0]) & (low[:, :2] <= box[1]), axis=1)
    steep &= (high[:, 2] > level.min() + WALL_AT) & (low[:, 2] < level.max() + WALL_AT)
    arc = Polyline.of(walk).arc
    height = 0.5 * (level[1:] + level[:-1]) + WALL_AT
    for triangle in corners[steep]:
        lower, upper = triangle.min(axis=0), triangle.max(axis=0)
        along = np.flatnonzero(
            np.all(np.maximum(walk[1:, :2], walk[:-1, :2]) >= lower[:2] - 1e-9, axis=1)
            & np.all(np.minimum(walk[1:, :2], walk[:-1, :2]) <= upper[:2] + 1e-9, axis=1)
            & (height > lower[2]) & (height < upper[2])
        )  # fmt: skip
        for k in along:
            if _crosses(triangle, walk[k, :2], walk[k + 1, :2], float(height[k])):
                raise TerrainError(
                    f"Something upright stands across the path {arc[k]:.1f} m from its start, near "
                    f"x {walk[k, 0]:.2f}, y {walk[k, 1]:.2f}",
                    "Lead the curve around it, or leave it out of the ground",
                )


def _crosses(triangle: Array, start: Array, end: Array, z: float) -> bool:
    """Whether a level line at height ``z`` from start to end (2,) goes through the triangle (3, 3)."""
    cut = []
    for k in range(3):
        a, b = triangle[k], triangle[(k + 1) % 3]
        if (a[2] - z) * (b[2] - z) < 0.0:
            cut.append((a + (b - a) * ((z - a[2]) / (b[2] - a[2])))[:2])
    if len(cut) != 2:
        return False
    one, two = float(_cross(cut[1] - cut[0], start - cut[0])), float(_cross(cut[1] - cut[0], end - cut[0]))
    three, four = float(_cross(end - start, cut[0] - start)), float(_cross(end - start, cut[1] - start))
    return one * two <= 0.0 and three * four <= 0.0 and (one != two)
