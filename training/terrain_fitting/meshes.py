"""Meshes as ground: OBJ and PLY files read plainly, and their top surface on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blender_addon.motion.errors import TerrainError
from blender_addon.motion.rotations import Array
from blender_addon.motion.terrain import HeightField

Faces = npt.NDArray[np.int64]

#: Files that are meshes.
MESHES: tuple[str, ...] = (".obj", ".ply")
#: A grid has at most so many points to a side.
_LARGEST = 8000
#: Points of triangles that are looked up at once.
_CHUNK = 2_000_000
_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip


def read_mesh(path: Path) -> tuple[Array, Faces]:
    """Vertices (n, 3), metres, Z up, and triangles (m, 3) of an OBJ (its Y is up) or PLY (its Z is up) file.

    Raises:
        TerrainError: it cannot be read, or has no faces.
    """
    try:
        raw = path.read_bytes()
        vertices, polygons = _read_obj(raw) if path.suffix.lower() == ".obj" else _read_ply(raw)
        faces = _triangles(polygons)
    except (OSError, ValueError, KeyError, IndexError, UnicodeDecodeError) as error:
        raise TerrainError(f"The mesh {path} cannot be read ({error})", "Export it again, as OBJ or PLY") from error
    if not len(faces) or not len(vertices):
        raise TerrainError(f"The mesh {path} has no faces", "Export a mesh with faces to stand on")
    if faces.min() < 0 or faces.max() >= len(vertices) or not np.all(np.isfinite(vertices)):
        raise TerrainError(f"The mesh {path} is damaged: its faces or vertices are none", "Export it again")
    return vertices, faces


def top_surface(vertices: Array, faces: Faces, cell: float) -> Array:
    """The highest point over each place of a grid (nx, ny), metres; holes are filled from their edges.

    Raises:
        TerrainError: nothing can be stood upon, or it is too large.
    """
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    size = np.ceil((high - low) / cell - 1e-9).astype(int) + 1
    if size.max() > _LARGEST:
        raise TerrainError(
            f"The ground is {max(high - low):.0f} m long: too large for cells of {cell:g} m", "Check its scale"
        )
    if size.min() < 2:
        raise TerrainError("The ground is hardly wider than nothing", "Check its scale and which way is up")
    heights = np.full(tuple(size), -np.inf)
    corners = vertices[faces] - [*low, 0.0]
    corners[..., :2] /= cell
    first = np.ceil(corners[..., :2].min(axis=1) - 1e-6).astype(np.int64)
    span = np.floor(corners[..., :2].max(axis=1) + 1e-6).astype(np.int64) - first + 1
    widest = np.maximum(span, 0).max(axis=1)
    # Triangles of about the same size are drawn together, each over a square that holds it.
    for power in range(int(np.ceil(np.log2(max(int(widest.max(initial=1)), 1)))) + 1):
        side = 2**power
        chosen = np.flatnonzero((span.min(axis=1) > 0) & (widest <= side) & (widest > side // 2))
        step = max(1, _CHUNK // side**2)
        for at in range(0, len(chosen), step):
            part = chosen[at : at + step]
            _draw(heights, corners[part], first[part], side)
    heights[np.isneginf(heights)] = np.nan
    return HeightField(np.zeros(2), cell, heights).filled


def _draw(heights: Array, corners: Array, first: npt.NDArray[np.int64], side: int) -> None:
    """Raise a grid to triangles (m, 3, 3), each within ``side`` points from its first (m, 2); x, y in cells."""
    offsets = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    points = first[:, None] + offsets
    a, b, c = (corners[:, None, k] for k in range(3))
    area: Array = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    # Upright walls have no area from above, and nobody stands on them.
    safe = np.where(np.abs(area) > 1e-9, area, np.inf)
    away = points - a[..., :2]
    v = (away[..., 0] * (c[..., 1] - a[..., 1]) - away[..., 1] * (c[..., 0] - a[..., 0])) / safe
    w = (away[..., 1] * (b[..., 0] - a[..., 0]) - away[..., 0] * (b[..., 1] - a[..., 1])) / safe
    inside = (v >= -1e-6) & (w >= -1e-6) & (v + w <= 1.0 + 1e-6) & np.isfinite(safe)
    inside &= (points[..., 0] < heights.shape[0]) & (points[..., 1] < heights.shape[1]) & np.all(points >= 0, axis=-1)
    z = a[..., 2] + v * (b[..., 2] - a[..., 2]) + w * (c[..., 2] - a[..., 2])
    np.maximum.at(heights, (points[inside][:, 0], points[inside][:, 1]), z[inside])


def _triangles(polygons: Sequence[Sequence[int]]) -> Faces:
    found = [(face[0], face[k], face[k + 1]) for face in polygons for k in range(1, len(face) - 1)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _read_obj(raw: bytes) -> tuple[Array, list[list[int]]]:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for line in raw.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            x, y, z = (float(word) for word in words[1:4])
            vertices.append([x, -z, y])
        elif words[0] == "f":
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            faces.append([number - 1 if number > 0 else len(vertices) + number for number in numbers])
    return np.array(vertices).reshape(-1, 3), faces


def _read_ply(raw: bytes) -> tuple[Array, list[list[int]]]:
    end = raw.index(b"end_header")
    head, body = raw[:end].decode("ascii"), raw[raw.index(b"\n", end) + 1 :]
    lines = [line.split() for line in head.splitlines() if line.split()]
    if lines[0] != ["ply"]:
        raise ValueError("it is no PLY file")
    order = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}[
        next(words[1] for words in lines if words[0] == "format")
    ]
    elements: list[tuple[str, int, list[list[str]]]] = []
    for words in lines:
        if words[0] == "element":
            elements.append((words[1], int(words[2]), []))
        elif words[0] == "property":
            elements[-1][2].append(words[1:])
    reader = _Words(body) if not order else _Bytes(body, order)
    vertices, faces = np.zeros((0, 3)), []
    for name, count, properties in elements:
        if any(words[0] == "list" for words in properties):
            found = [reader.lists(properties) for _ in range(count)]
            if name == "face":
                faces = found
            continue
        table = reader.table(count, [words[0] for words in properties])
        if name == "vertex":
            named = [words[1] for words in properties]
            vertices = np.stack([table[named.index(axis)] for axis in "xyz"], axis=-1)
    return vertices, faces


class _Words:
    """The body of an ASCII PLY file."""

    def __init__(self, body: bytes) -> None:
        self._words, self._at = body.split(), 0

    def table(self, count: int, kinds: list[str]) -> list[Array]:
        """Columns of ``count`` rows."""
        part = self._take(count * len(kinds))
        return list(np.array([float(word) for word in part]).reshape(count, len(kinds)).T)

    def lists(self, properties: list[list[str]]) -> list[int]:
        """One row with a list in it; the list."""
        found: list[int] = []
        for words in properties:
            if words[0] == "list":
                values = [int(word) for word in self._take(int(self._take(1)[0]))]
                found = values if words[3].startswith("vertex_ind") else found
            else:
                self._take(1)
        return found

    def _take(self, count: int) -> list[bytes]:
        self._at += count
        if self._at > len(self._words):
            raise ValueError("it ends too soon")
        return self._words[self._at - count : self._at]


class _Bytes:
    """The body of a binary PLY file."""

    def __init__(self, body: bytes, order: str) -> None:
        self._body, self._order, self._at = body, order, 0

    def table(self, count: int, kinds: list[str]) -> list[Array]:
        """Columns of ``count`` rows."""
        row = np.dtype([(f"c{k}", self._order + _TYPES[kind]) for k, kind in enumerate(kinds)])
        found = np.frombuffer(self._body, row, count, self._at)
        self._at += count * row.itemsize
        return [found[name].astype(np.float64) for name in row.names or ()]

    def lists(self, properties: list[list[str]]) -> list[int]:
        """One row with a list in it; the list."""
        found: list[int] = []
        for words in properties:
            if words[0] == "list":
                count = int(self._values(words[1], 1)[0])
                values = self._values(words[2], count)
                found = values if words[3].startswith("vertex_ind") else found
            else:
                self._values(words[0], 1)
        return found

    def _values(self, kind: str, count: int) -> list[int]:
        of = np.dtype(self._order + _TYPES[kind])
        found = np.frombuffer(self._body, of, count, self._at)
        self._at += count * of.itemsize
        return [int(value) for value in found]
