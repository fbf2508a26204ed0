"""The ground under a path: meshes of the scene, as their modifiers shape them, as a field of heights in metres."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np
import numpy.typing as npt

from ..motion.ceiling import Ceiling
from ..motion.ceiling_columns import ceiling_over
from ..motion.errors import TerrainError
from ..motion.polyline import Polyline
from ..motion.rotations import Array
from ..motion.surface import Surface, over_dips, walk_height, walk_level
from ..motion.terrain import HeightField
from .curves import metres_per_unit

IntArray = npt.NDArray[np.int64]

#: Types of objects that have a surface.
SOLID_TYPES = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
#: Width of the ground that is read to each side of the path, metres.
MARGIN = 1.2
_KEPT_FIELDS = 4
_fields: dict[tuple[int, ...], tuple[HeightField, Ceiling]] = {}


@dataclass(frozen=True)
class Triangles:
    """A triangle soup in the world.

    Attributes:
        vertices: (n, 3) metres.
        faces: (m, 3) indices; counter-clockwise seen from the side that is up.
    """

    vertices: Array
    faces: IntArray

    @cached_property
    def key(self) -> int:
        """A checksum of the content, for caches."""
        return zlib.crc32(self.faces.tobytes(), zlib.crc32(self.vertices.tobytes()))


def ground_objects(
    ground: bpy.types.Object | bpy.types.Collection | Sequence[bpy.types.Object] | None,
    character: bpy.types.Object | None = None,
) -> list[bpy.types.Object]:
    """The objects that make the ground, without the character's own.

    Raises:
        TerrainError: nothing among them has a surface.
    """
    if ground is None:
        return []
    if isinstance(ground, bpy.types.Object):
        objects = [ground]
    else:
        objects = list(ground.all_objects) if isinstance(ground, bpy.types.Collection) else list(ground)
    kept = [
        ob for ob in objects
        if (ob.type in SOLID_TYPES or ob.instance_type != "NONE") and not _belongs_to(ob, character)
    ]  # fmt: skip
    if not kept:
        name = getattr(ground, "name", "The ground")
        raise TerrainError(f"{name!r} holds nothing to stand on", "Pick mesh objects or a collection of them")
    return kept


def read_triangles(objects: Iterable[bpy.types.Object]) -> Triangles:
    """Everything the objects show in the world: modifiers, instances and geometry nodes applied.

    An object seen only from its back (all its faces look down) is turned over.

    Raises:
        TerrainError: there is not one face.
    """
    wanted = {ob.name_full: ob for ob in objects}
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    vertices: list[Array] = []
    faces: list[IntArray] = []
    count = 0
    seen: set[str] = set()

    def add(ob: bpy.types.Object, matrix: Array) -> None:
        nonlocal count
        found = _mesh_of(ob, matrix)
        if found is not None:
            vertices.append(found[0])
            faces.append(found[1] + count)
            count += len(found[0])

    for instance in depsgraph.object_instances:
        holder = instance.parent if instance.is_instance else instance.object
        name = holder.original.name_full if holder is not None else ""
        if name in wanted and instance.object.type in SOLID_TYPES:
            seen.add(name)
            add(instance.object, np.array(instance.matrix_world))
    for name in sorted(set(wanted) - seen):
        # Hidden in the view: still there to stand on.
        if wanted[name].type in SOLID_TYPES:
            add(wanted[name].evaluated_get(depsgraph), np.array(wanted[name].matrix_world))
    if not faces:
        raise TerrainError("The ground has no faces", "Pick objects with faces to stand on")
    soup = np.concatenate(vertices)
    if not np.all(np.isfinite(soup)):
        raise TerrainError("The ground holds vertices that are not finite numbers", "Delete these vertices")
    return Triangles(soup * metres_per_unit(), np.concatenate(faces))


def height_field(ground: Triangles, path: Array, *, margin: float = MARGIN, cell: float = 0.025) -> HeightField:
    """The heights on which somebody stands who walks along the path.

    Where surfaces lie above each other, the walk decides: it begins on the surface nearest to the path's first point
    and steps from one to the next; each place beside the path takes the surface that is in reach from there.

    Args:
        ground: the surface.
        path: (n, 3) points in metres, in order of travel; only the first point's height counts.
        margin: how far to each side, metres.
        cell: size of a cell, metres; coarser on very long paths.

    Raises:
        TerrainError: no ground under the path, or a wall across it.
    """
    return ground_and_ceiling(ground, path, margin=margin, cell=cell)[0]


def ground_and_ceiling(
    ground: Triangles, path: Array, *, margin: float = MARGIN, cell: float = 0.025
) -> tuple[HeightField, Ceiling]:
    """The heights on which somebody stands who walks along the path, and what is over him; see `height_field`."""
    surface = Surface.around(ground.vertices, ground.faces, path, margin, cell)
    level = walk_level(surface, ground.vertices, ground.faces)
    rims = over_dips(level)
    ceiling = ceiling_over(surface, rims, Polyline.of(path).length, ground.vertices, ground.faces)
    return HeightField(surface.origin, surface.cell, walk_height(surface, rims)), ceiling


def read_ground(
    ground: bpy.types.Object | bpy.types.Collection | Sequence[bpy.types.Object],
    path: Array,
    character: bpy.types.Object | None = None,
) -> HeightField:
    """The field of heights of objects or a collection under a path (n, 3), metres; see `height_field`."""
    return read_surroundings(ground, path, character)[0]


def read_surroundings(
    ground: bpy.types.Object | bpy.types.Collection | Sequence[bpy.types.Object],
    path: Array,
    character: bpy.types.Object | None = None,
) -> tuple[HeightField, Ceiling]:
    """The ground of objects or a collection under a path (n, 3), metres, and the ceiling over it.

    The last few are kept: a bake after a change of speed draws nothing anew.
    """
    found = read_triangles(ground_objects(ground, character))
    key = (found.key, len(found.faces), zlib.crc32(np.ascontiguousarray(path).tobytes()), len(path))
    if key not in _fields:
        while len(_fields) >= _KEPT_FIELDS:
            _fields.pop(next(iter(_fields)))
        _fields[key] = ground_and_ceiling(found, path)
    return _fields[key]


def _belongs_to(ob: bpy.types.Object, character: bpy.types.Object | None) -> bool:
    if character is None:
        return False
    step: bpy.types.Object | None = ob
    while step is not None:
        if step == character:
            return True
        step = step.parent
    return any(modifier.type == "ARMATURE" and modifier.object == character for modifier in ob.modifiers)


def _mesh_of(ob: bpy.types.Object, matrix: Array) -> tuple[Array, IntArray] | None:
    """World vertices (n, 3) in units and triangles (m, 3) of an evaluated object."""
    mesh = ob.to_mesh()
    try:
        if mesh is None or not len(mesh.vertices):
            return None
        mesh.calc_loop_triangles()
        places = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        corners = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
        mesh.vertices.foreach_get("co", places)
        mesh.loop_triangles.foreach_get("vertices", corners)
    finally:
        ob.to_mesh_clear()
    vertices = places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    faces = corners.reshape(-1, 3).astype(np.int64)
    if not len(faces):
        return None
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        faces = faces[:, ::-1]
    a, b, c = (vertices[faces[:, k], :2] for k in range(3))
    up = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    if up.max(initial=0.0) <= 0.0:
        faces = faces[:, ::-1]
    return vertices, np.ascontiguousarray(faces)
