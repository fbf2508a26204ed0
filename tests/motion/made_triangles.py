"""Triangles of boxes and sheets, as `scene.terrain.Triangles` holds them: vertices (n, 3) and faces (m, 3)."""

from __future__ import annotations

import numpy as np

from blender_addon.motion.rotations import Array
from blender_addon.motion.surface import IntArray

Soup = tuple[Array, IntArray]

#: Of a box, by its corners: x quickest, then y, then z; counter-clockwise seen from outside.
_SIDES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def box(x0: float, y0: float, z0: float, x1: float, y1: float, z1: float) -> Soup:
    """A box between two corners."""
    corners = [(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]
    return np.array(corners, dtype=np.float64), np.array([part for side in _SIDES for part in _halves(*side)])


def sheet(x0: float, y0: float, x1: float, y1: float, z: float = 0.0, far: float | None = None) -> Soup:
    """A rectangle that looks up; ``far``: its height at ``x1``, where it is inclined."""
    end = z if far is None else far
    corners = [(x0, y0, z), (x1, y0, end), (x1, y1, end), (x0, y1, z)]
    return np.array(corners, dtype=np.float64), np.array(_halves(0, 1, 2, 3))


def together(*parts: Soup) -> Soup:
    """All of them in one."""
    begin = np.cumsum([0, *(len(vertices) for vertices, _ in parts[:-1])])
    faces = [faces + first for (_, faces), first in zip(parts, begin, strict=True)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces)


def _halves(a: int, b: int, c: int, d: int) -> list[tuple[int, int, int]]:
    return [(a, b, c), (a, c, d)]
