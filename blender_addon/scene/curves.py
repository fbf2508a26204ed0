"""Root curves: any curve object of Blender as a polyline in metres; what walks along it is none of its business."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..motion.errors import PathError
from ..motion.rotations import Array

#: Smooth parts are sampled this finely (metres).
SPACING = 0.025
#: A curve is never sampled by more points than this.
MOST_POINTS = 200_000

#: Depth of `_bring_up_to_date`: what Blender reports of a curve meanwhile is the reader's own doing.
_updating = 0


@dataclass(frozen=True)
class CurveReading:
    """A curve object, read.

    Attributes:
        points: (n, 3) metres in the world; corners are points of their own, smooth parts lie `SPACING` apart.
        cyclic: the last point joins the first.
        notes: what the user may want to know (several splines, ...).
    """

    points: Array
    cyclic: bool
    notes: tuple[str, ...] = ()


def metres_per_unit(scene: bpy.types.Scene | None = None) -> float:
    """How long a Blender unit is in this scene, metres."""
    scene = scene or bpy.context.scene
    return float(scene.unit_settings.scale_length) if scene is not None else 1.0


def polyline(ob: bpy.types.Object | None) -> tuple[Array, bool]:
    """Points (n, 3) in metres and whether they close; see `read_curve`."""
    found = read_curve(ob)
    return found.points, found.cyclic


def read_curve(ob: bpy.types.Object | None) -> CurveReading:
    """Read a curve object: Bezier, poly or NURBS, in two or three dimensions, wherever it hangs in the scene.

    With several splines the longest is taken. Poly corners and Bezier handles that break stay sharp. Where
    modifiers, shape keys or hooks shape the curve, the shape they give it is read.

    Raises:
        PathError: no curve, no spline, points that are no numbers, no length.
    """
    if ob is None:
        raise PathError("There is no root curve", "Draw a path or pick a curve")
    if ob.type != "CURVE":
        raise PathError(f"{ob.name!r} is no curve", "Pick a curve object, or convert it to a curve")
    _bring_up_to_date(ob)
    splines = [spline for spline in ob.data.splines if len(_control_points(spline))]
    if not splines:
        raise PathError(f"The curve {ob.name!r} has no points", "Draw a path of at least two points")
    world = np.array(ob.matrix_world) * metres_per_unit()
    shaped = bool([m for m in ob.modifiers if m.show_viewport]) or ob.data.shape_keys is not None
    for spline in splines:
        _check_finite(ob, spline, world)
    candidates = []
    for index, spline in enumerate(splines):
        whole = shaped or _is_nurbs(spline)
        points = _to_world(world, _tessellated(ob, index, shaped) if whole else _exact(spline, world))
        if len(points):
            candidates.append((_spread(points) if whole else points, bool(spline.use_cyclic_u)))
        if shaped:
            break
    if not candidates:
        raise PathError(f"The curve {ob.name!r} has no length", "Give it at least two points that lie apart")
    points, cyclic = max(candidates, key=lambda found: _length(found[0]))
    notes = ()
    if len(candidates) > 1:
        notes = (f"The curve {ob.name!r} has {len(candidates)} splines; the longest was taken",)
    return CurveReading(points, cyclic, notes)


def being_read() -> bool:
    """Whether a curve is brought up to date by its reader at this moment: no change by the user."""
    return _updating > 0


def _bring_up_to_date(ob: bpy.types.Object) -> None:
    """Take over what is drawn in edit mode; Blender reports that as a change, whether there was one or not."""
    global _updating
    _updating += 1
    try:
        ob.update_from_editmode()
        bpy.context.view_layer.update()
    finally:
        _updating -= 1


def _control_points(spline: bpy.types.Spline) -> bpy.types.bpy_prop_collection:
    return spline.bezier_points if spline.type == "BEZIER" else spline.points


def _is_nurbs(spline: bpy.types.Spline) -> bool:
    return spline.type == "NURBS" and spline.order_u > 2 and len(spline.points) > 2


def _check_finite(ob: bpy.types.Object, spline: bpy.types.Spline, world: Array) -> None:
    points = _control_points(spline)
    flat = np.empty(len(points) * (3 if spline.type == "BEZIER" else 4))
    points.foreach_get("co", flat)
    numbers = [flat]
    if spline.type == "BEZIER":
        for side in ("handle_left", "handle_right"):
            numbers.append(np.empty(len(points) * 3))
            points.foreach_get(side, numbers[-1])
    if not all(np.all(np.isfinite(array)) for array in (*numbers, world)):
        raise PathError(
            f"The curve {ob.name!r} holds points that are not finite numbers",
            "Delete these points or draw the curve again; look for broken drivers on it",
        )


def _exact(spline: bpy.types.Spline, world: Array) -> Array:
    """Points (n, 3) in the object's space, from the control points themselves."""
    if spline.type != "BEZIER":
        flat = np.empty(len(spline.points) * 4)
        spline.points.foreach_get("co", flat)
        return flat.reshape(-1, 4)[:, :3]
    count = len(spline.bezier_points)
    knots, left, right = (np.empty(count * 3) for _ in range(3))
    for name, array in (("co", knots), ("handle_left", left), ("handle_right", right)):
        spline.bezier_points.foreach_get(name, array)
    knots, left, right = (array.reshape(-1, 3) for array in (knots, left, right))
    pieces = [knots[:1]]
    for k in range(count if spline.use_cyclic_u else count - 1):
        following = (k + 1) % count
        pieces.append(_bezier(np.stack([knots[k], right[k], left[following], knots[following]]), world)[1:])
    points = np.concatenate(pieces)
    return points[:-1] if spline.use_cyclic_u and len(points) > 1 else points


def _bezier(control: Array, world: Array) -> Array:
    """One cubic segment (4, 3) sampled evenly along its arc length, both ends included exactly."""
    coarse = _cubic(control, np.linspace(0.0, 1.0, 33))
    lengths = np.linalg.norm(np.diff(_to_world(world, coarse), axis=0), axis=1)
    length = float(lengths.sum())
    away = _to_world(world, control)
    chord = float(np.linalg.norm(away[3] - away[0]))
    if length - chord < 1e-6 * max(length, 1e-9):
        return control[[0, 3]]
    count = int(min(max(np.ceil(length / SPACING), 8), MOST_POINTS // 8))
    fine = np.linspace(0.0, 1.0, 8 * count + 1)
    steps = np.linalg.norm(np.diff(_to_world(world, _cubic(control, fine)), axis=0), axis=1)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    points = _cubic(control, np.interp(np.linspace(0.0, arc[-1], count + 1), arc, fine))
    points[0], points[-1] = control[0], control[3]
    return points


def _cubic(control: Array, t: Array) -> Array:
    t = t[:, None]
    u = 1.0 - t
    return u**3 * control[0] + 3 * u * u * t * control[1] + 3 * u * t * t * control[2] + t**3 * control[3]


def _tessellated(ob: bpy.types.Object, index: int, shaped: bool) -> Array:
    """One spline as Blender itself tessellates it, in the object's space, without bevel or extrusion.

    Nothing is linked into the scene unless modifiers or shape keys of a bevelled curve must be evaluated.
    """
    thick = ob.data.bevel_depth != 0.0 or ob.data.extrude != 0.0 or ob.data.bevel_object is not None
    if shaped and not thick:
        return _mesh_points(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    copy, data = ob.copy(), ob.data.copy()
    copy.data = data
    try:
        data.bevel_depth = data.extrude = data.offset = 0.0
        data.bevel_object = data.taper_object = None
        data.bevel_factor_start, data.bevel_factor_end = 0.0, 1.0
        kept = [spline for spline in data.splines if len(_control_points(spline))][index]
        if not shaped:
            for spline in list(data.splines):
                if spline != kept:
                    data.splines.remove(spline)
        for spline in data.splines:
            spline.resolution_u = max(spline.resolution_u, _resolution(spline, np.array(ob.matrix_world)))
        data.resolution_u = max(data.resolution_u, *(spline.resolution_u for spline in data.splines))
        if not shaped:
            return _mesh_points(copy)
        bpy.context.scene.collection.objects.link(copy)
        return _mesh_points(copy.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    finally:
        bpy.data.objects.remove(copy)
        bpy.data.curves.remove(data)


def _resolution(spline: bpy.types.Spline, world: Array) -> int:
    """Points a segment that are about `SPACING` apart, going by the control polygon; Blender allows 1024."""
    flat = np.array([point.co[:3] for point in _control_points(spline)])
    length = _length(_to_world(world * metres_per_unit(), flat))
    return int(np.clip(np.ceil(1.3 * length / SPACING / max(len(flat) - 1, 1)), 32, 1024))


def _mesh_points(ob: bpy.types.Object) -> Array:
    mesh = ob.to_mesh()
    points = np.empty(len(mesh.vertices) * 3 if mesh is not None else 0)
    if mesh is not None:
        mesh.vertices.foreach_get("co", points)
    ob.to_mesh_clear()
    return points.reshape(-1, 3)


def _to_world(world: Array, points: Array) -> Array:
    return np.asarray(points @ world[:3, :3].T + world[:3, 3])


def _length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _spread(points: Array) -> Array:
    """Tessellation thinned or filled to about `SPACING`, along its chords; both ends stay."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    count = int(min(max(np.ceil(arc[-1] / SPACING), 2), MOST_POINTS))
    if len(points) < count:
        return points
    at = np.linspace(0.0, arc[-1], count + 1)
    return np.stack([np.interp(at, arc, points[:, axis]) for axis in range(3)], axis=-1)
