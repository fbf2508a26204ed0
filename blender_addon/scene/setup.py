"""Scenes made without a window: open a rig, lay a curve, raise a ground, save; for batch bakes and the demo."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import bpy
import numpy as np

from ..motion import animal
from ..motion.errors import GaitsmithError, RigError, TerrainError
from ..motion.rotations import Array
from ..motion.terrain import HeightField
from .bone_map import BoneMap
from .curves import metres_per_unit
from .importers import ImportOptions, import_file, lies_down
from .rigs import guess_map, map_of, object_frame

#: Legs of a plausible length, metres: beyond, a file's unit is taken for centimetres.
_PLAUSIBLE_LEG = (0.25, 2.5)
#: A ground mesh has at most this many vertices along a side.
_MOST_VERTICES = 400
#: A field whose cells were not square gets about so many points at most.
_MOST_CELLS = 16_000_000


def empty_scene() -> None:
    """A fresh file without objects; enabled add-ons stay."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def open_rig(path: Path) -> None:
    """Open a .blend, or import a .glb, .gltf, .fbx or .bvh into an empty scene.

    Raises:
        RigError: Blender cannot read it.
    """
    if path.suffix.lower() != ".blend":
        empty_scene()
        import_file(path)
        bpy.context.view_layer.update()
        if path.suffix.lower() == ".bvh" and any(lies_down(ob) for ob in bpy.context.scene.objects):
            # Motion capture has Y up, Blender's own exporter Z.
            empty_scene()
            import_file(path, ImportOptions(forward="-Y", up="Z"))
        return
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise RigError(f"Blender cannot open {path.name} ({str(error).strip()})", "Save the file again") from error
    active = bpy.context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
        bpy.ops.object.mode_set(mode="OBJECT")


def find_armature(name: str = "") -> bpy.types.Object:
    """The armature of that name; without a name the only one that can walk, generated Rigify rigs before metarigs.

    Raises:
        RigError: there is none, or several.
    """
    found = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    names = ", ".join(sorted(ob.name for ob in found)) or "none"
    if name:
        for ob in found:
            if ob.name == name:
                return ob
        raise RigError(f"There is no armature {name!r}; there are: {names}", "Name one of them")
    walking = [ob for ob in found if not map_of(ob).lacking]
    generated = [ob for ob in walking if guess_map(ob).family == "rigify generated"]
    best = generated or walking or found
    if not best:
        raise RigError("The file holds no armature", "Choose a file with a rigged character")
    if len(best) > 1:
        raise RigError(f"The file holds several armatures: {names}", "Name the one that shall walk")
    return best[0]


def find_object(name: str) -> bpy.types.Object:
    """The object of that name in the open scene; raises `GaitsmithError` without one."""
    found = bpy.context.scene.objects.get(name)
    if found is None:
        names = ", ".join(sorted(ob.name for ob in bpy.context.scene.objects)[:20])
        raise GaitsmithError(f"There is no object {name!r} in the scene", f"There are: {names}")
    return found


def find_collection(name: str) -> bpy.types.Collection:
    """The collection of that name in the open file; raises `GaitsmithError` without one."""
    found = bpy.data.collections.get(name)
    if found is None:
        raise GaitsmithError(f"There is no collection {name!r}", "Check its name in the .blend")
    return found


def find_ground(name: str) -> bpy.types.Object | bpy.types.Collection:
    """The object or collection of that name in the open file; raises `GaitsmithError` without either."""
    found = bpy.data.objects.get(name) or bpy.data.collections.get(name)
    if found is None:
        raise GaitsmithError(f"There is no object or collection {name!r} to stand on", "Check its name in the .blend")
    return found


def plausible_size(ob: bpy.types.Object, bones: BoneMap | None = None) -> str:
    """Scale an armature whose legs are tens of metres long to centimetres; says so, or nothing."""
    found = bones or map_of(ob)
    four = found.kind == "quadruped"
    chain = animal.leg_roles("left_hind") if four else ("left_hip", "left_ankle")
    names = [found.bones[role] for role in chain if role in found.bones]
    if len(names) < 2 or any(name not in ob.data.bones for name in names):
        return ""
    bpy.context.view_layer.update()
    rest = [np.array(ob.data.bones[name].head_local) for name in (names[0], names[-1])]
    leg = float(np.linalg.norm(rest[0] - rest[1])) * object_frame(ob)[2]
    low, high = animal.PLAUSIBLE_LEG if four else _PLAUSIBLE_LEG
    if leg <= high or leg * 0.01 < low:
        return ""
    ob.scale = [value * 0.01 for value in ob.scale]
    bpy.context.view_layer.update()
    return f"The rig's legs were {leg:.0f} m long: it was taken to be in centimetres and scaled"


def curve_from_points(points: Sequence[Sequence[float]], cyclic: bool = False, name: str = "Path") -> bpy.types.Object:
    """A poly curve through points (n, 3) in metres."""
    unit = metres_per_unit()
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(max(len(points) - 1, 0))
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*(value / unit for value in place), 1.0)
    spline.use_cyclic_u = cyclic
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def read_heights(path: Path, axes: str, height: float) -> Array:
    """Heights (nx, ny) in metres of a .npy or .png.

    Args:
        path: the file.
        axes: ``yx``: rows along y, columns along x; ``xy`` the other way.
        height: of white, metres; for .npy a factor.

    Raises:
        TerrainError: it holds no grid of numbers.
    """
    try:
        if path.suffix.lower() == ".npy":
            grid = np.load(path, allow_pickle=False)
        else:
            image = bpy.data.images.load(str(path))
            if not image.has_data and not len(image.pixels):
                raise ValueError("it is no picture")
            image.colorspace_settings.name = "Non-Color"
            flat = np.empty(len(image.pixels), dtype=np.float32)
            image.pixels.foreach_get(flat)
            # Blender's first row is the lowest: rows along y.
            grid = flat.reshape(image.size[1], image.size[0], -1)[:, :, 0]
            bpy.data.images.remove(image)
    except (OSError, ValueError, RuntimeError, EOFError) as error:
        raise TerrainError(f"The height field {path.name} cannot be read ({error})", "Save it again") from error
    if grid.ndim != 2 or min(grid.shape) < 2 or grid.dtype.kind not in "fiu":
        shape = " x ".join(map(str, grid.shape))
        raise TerrainError(
            f"The height field {path.name} holds {shape} values of the kind {grid.dtype}",
            "Give a grid of at least 2 x 2 plain numbers",
        )
    grid = grid.astype(np.float64) * height
    return np.asarray(grid.T if axes == "yx" else grid)


def field_of(heights: Array, size: tuple[float, float], centre: tuple[float, float] = (0.0, 0.0)) -> HeightField:
    """Heights (nx, ny) spread over ``size`` metres as a field; resampled where its cells are not square.

    Raises:
        TerrainError: a side is so much longer than the other that square cells would fill the memory.
    """
    nx, ny = heights.shape
    steps = np.array([size[0] / (nx - 1), size[1] / (ny - 1)])
    cell = float(steps.min())
    if np.ptp(steps) > 1e-6 * cell:
        # Rather coarser along one side than without end along the other.
        cell = max(cell, float(np.sqrt(size[0] * size[1] / _MOST_CELLS)))
        if cell > 0.5 * min(size):
            raise TerrainError(
                f"The height field is {size[0]:g} x {size[1]:g} m, a thread to walk on", "Check its size, in metres"
            )
        heights = _stretched(heights, int(round(size[0] / cell)) + 1, int(round(size[1] / cell)) + 1)
    return HeightField(np.array(centre) - 0.5 * np.array(size), cell, heights)


def ground_mesh(field: HeightField, name: str = "Ground") -> bpy.types.Object:
    """A mesh of a height field, to look at; holes stay open."""
    unit = metres_per_unit()
    nx, ny = field.heights.shape
    i = np.unique(np.linspace(0, nx - 1, min(nx, _MOST_VERTICES)).round().astype(int))
    j = np.unique(np.linspace(0, ny - 1, min(ny, _MOST_VERTICES)).round().astype(int))
    x, y = np.meshgrid(field.origin[0] + field.cell * i, field.origin[1] + field.cell * j, indexing="ij")
    z = field.heights[np.ix_(i, j)]
    vertices = np.stack([x, y, np.nan_to_num(z)], axis=-1).reshape(-1, 3) / unit
    k = (np.arange(len(i) - 1)[:, None] * len(j) + np.arange(len(j) - 1)).ravel()
    faces = np.stack([k, k + len(j), k + len(j) + 1, k + 1], axis=-1)
    known = ~np.isnan(z).ravel()
    faces = faces[known[faces].all(axis=1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def set_fps(scene: bpy.types.Scene, fps: float) -> None:
    """Set the frame rate; broken ones by ``fps_base``: 23.976 is 24 / 1.001."""
    whole = max(int(np.ceil(fps - 1e-9)), 1)
    scene.render.fps = whole
    scene.render.fps_base = whole / fps


def fit_frame_range(first: int, last: int) -> None:
    """Let the scene play frames ``first`` to ``last``; Blender's range begins at 0 at the earliest."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = max(first, 0), max(last, 0)


def discard_actions(names: Iterable[str]) -> None:
    """Remove actions from the file."""
    for name in names:
        bpy.data.actions.remove(bpy.data.actions[name])


def keep_actions(names: Iterable[str]) -> None:
    """Let actions that nothing plays yet be saved with the file."""
    for name in names:
        bpy.data.actions[name].use_fake_user = True


def save_blend(path: Path, before: Callable[[], None] | None = None) -> None:
    """Save the file; whole or not at all.

    Args:
        path: where.
        before: called when the file is complete, before it takes its place; if it raises, nothing is changed.

    Raises:
        GaitsmithError: it cannot be written.
    """
    part = path.with_name(f".{path.stem}.{os.getpid()}.part.blend")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(part), compress=True, copy=True)
        if before is not None:
            before()
        part.replace(path)
    except (RuntimeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().splitlines()[-1]
        raise GaitsmithError(f"{path} cannot be written ({reason})", "Check the folder and the space left") from error
    finally:
        # While it writes, Blender's own name for the file ends with @.
        for rest in (part, part.with_suffix(".blend1"), part.with_name(f"{part.name}@")):
            with contextlib.suppress(OSError):
                rest.unlink()


def _stretched(heights: Array, nx: int, ny: int) -> Array:
    """Bilinear resampling to (nx, ny) points."""
    i = np.linspace(0, heights.shape[0] - 1, nx)
    j = np.linspace(0, heights.shape[1] - 1, ny)
    a, b = np.minimum(i.astype(int), heights.shape[0] - 2), np.minimum(j.astype(int), heights.shape[1] - 2)
    u, v = (i - a)[:, None], (j - b)[None, :]
    corner = [heights[np.ix_(a + di, b + dj)] for di in (0, 1) for dj in (0, 1)]
    return np.asarray(
        (corner[0] * (1 - v) + corner[1] * v) * (1 - u) + (corner[2] * (1 - v) + corner[3] * v) * u
    )
