"""What panels and overlay ask about the path: length, duration, places of the marks; kept until something changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from .. import choices
from ..motion.errors import GaitsmithError
from ..motion.path import RootPath
from ..motion.polyline import Polyline
from ..motion.rotations import Array
from ..motion.schedule import JUMP, RESTS
from . import common

#: Height of a drawn mark's pole, metres.
MARK_HEIGHT_M = 0.6
#: Points of the curve among which the mouse finds the nearest.
PATH_SAMPLES = 400


@dataclass(frozen=True)
class Spot:
    """One mark as it is drawn: a pole on the curve with a label, in the colour of its action."""

    foot: tuple[float, float, float]
    head: tuple[float, float, float]
    text: str
    active: bool
    action: str = "walk"


@dataclass(frozen=True)
class CurveFacts:
    """What is known of the chosen curve.

    Attributes:
        path: the path on the ground; None if there is a problem.
        line: the curve in space.
        problem: what is wrong with it, in words.
    """

    path: RootPath | None
    line: Polyline
    problem: str = ""


#: What stands in for a curve that is read in a moment.
_PENDING = CurveFacts(None, Polyline.of([(0.0, 0.0, 0.0)]))

_curve_cache: dict[str, CurveFacts] = {}
_stale: set[str] = set()
_plan_cache: dict[str, tuple[float | None, str]] = {}


def forget() -> None:
    """Curves have changed: what is known is shown until they are read again."""
    _stale.update(_curve_cache)
    _plan_cache.clear()


def forget_plan() -> None:
    """The schedule or another setting has changed."""
    _plan_cache.clear()


def _unknown(name: str) -> bool:
    return name not in _curve_cache or name in _stale


def curve(context: bpy.types.Context) -> CurveFacts | None:
    """The chosen curve; None if none is chosen.

    Panels may not read it themselves (Blender forbids them to touch data): what is not known yet is read
    in a moment, and everything drawn again.
    """
    ob = common.chosen_curve(context)
    if ob is None:
        return None
    if _unknown(ob.name_full):
        if not bpy.app.background:
            common.later(_read_later, 0.0)
            return _curve_cache.get(ob.name_full, _PENDING)
        curve_now(context)
    return _curve_cache[ob.name_full]


def curve_now(context: bpy.types.Context) -> CurveFacts | None:
    """The same, read at once if need be: for operators."""
    ob = common.chosen_curve(context)
    if ob is None:
        return None
    if _unknown(ob.name_full):
        _curve_cache[ob.name_full] = _read(ob)
        _stale.discard(ob.name_full)
        _plan_cache.clear()
    return _curve_cache[ob.name_full]


def _read_later() -> None:
    curve_now(bpy.context)
    common.redraw(bpy.context, "VIEW_3D")


def _read(ob: bpy.types.Object) -> CurveFacts:
    from ..scene import curves

    try:
        points, cyclic = curves.polyline(ob)
        path = RootPath.from_points(points, cyclic)
    except GaitsmithError as error:
        return CurveFacts(None, _PENDING.line, str(error))
    return CurveFacts(path, Polyline.of(points, cyclic))


def curve_facts(context: bpy.types.Context) -> tuple[float | None, str]:
    """Length of the chosen curve on the ground, metres (None: not known yet), and what is wrong with it."""
    found = curve(context)
    if found is None or found.path is None:
        return None, found.problem if found is not None else ""
    return found.path.length, ""


def curve_length(context: bpy.types.Context) -> float | None:
    """Length of the chosen curve, metres, for operators; None without a usable one."""
    found = curve_now(context)
    return found.path.length if found is not None and found.path is not None else None


def path_points(context: bpy.types.Context) -> tuple[Array, Array] | None:
    """Points (n, 3) evenly along the curve, in the scene's units, and their distances along the travel (n,), metres."""
    found = curve_now(context)
    if found is None or found.path is None:
        return None
    points, places = found.line.between(0.0, found.line.length, PATH_SAMPLES)
    travelled = found.line.length - places if common.settings(context).reverse else places
    return points / _metres_per_unit(context), travelled


def _metres_per_unit(context: bpy.types.Context) -> float:
    from ..scene import curves

    return curves.metres_per_unit(context.scene)


def plan_facts(context: bpy.types.Context) -> tuple[float | None, str]:
    """Duration of the plan, seconds, and what cannot be as asked; without duration, what is wrong with the schedule.

    (None, "") without a usable curve.
    """
    found = curve(context)
    if found is None or found.path is None:
        return None, ""
    key = context.scene.name_full
    if key not in _plan_cache:
        from . import request

        try:
            plan = request.plan_of(context, found.path)
            _plan_cache[key] = (plan.seconds, "\n".join(plan.notes))
        except GaitsmithError as error:
            _plan_cache[key] = (None, str(error))
    return _plan_cache[key]


def mark_spots(context: bpy.types.Context) -> Sequence[Spot]:
    """The marks as they are drawn along the curve."""
    chosen = common.settings(context)
    found = curve(context) if len(chosen.marks) else None
    if found is None or found.path is None:
        return ()
    # Travelled backwards, distances count from the curve's other end.
    places = [found.line.length - mark.at if chosen.reverse else mark.at for mark in chosen.marks]
    feet = found.line.at(places) / _metres_per_unit(context)
    height = MARK_HEIGHT_M / _metres_per_unit(context)
    spots = []
    for index, (mark, foot) in enumerate(zip(chosen.marks, feet.tolist(), strict=True)):
        head = (foot[0], foot[1], foot[2] + height)
        spots.append(Spot(tuple(foot), head, mark_text(mark), index == chosen.active_mark, mark.action_name))
    return spots


def stretches_drawn(context: bpy.types.Context) -> Sequence[tuple[Array, str]]:
    """The curve from mark to mark, as points (n, 3) in the scene's units, each with what is done there.

    Rests and leaps are done at their mark, and change nothing behind it.
    """
    chosen = common.settings(context)
    found = curve(context) if len(chosen.marks) else None
    if found is None or found.path is None:
        return ()
    length, begin, action = found.line.length, min(chosen.start, found.line.length), chosen.action_name
    changes = [(m.at, m.action_name) for m in chosen.marks if m.action_name not in (*RESTS, JUMP)]
    parts = []
    for place, following in [*changes, (length, "")]:
        end = min(max(place, begin), length)
        if end > begin:
            ends = (length - begin, length - end) if chosen.reverse else (begin, end)
            points, _ = found.line.between(*ends, max(2, int((end - begin) / length * PATH_SAMPLES)))
            parts.append((points / _metres_per_unit(context), action))
        begin, action = end, following
    return parts


def mark_text(mark: object) -> str:
    """A mark's label."""
    name = choices.action_item(mark.action_name)[1].lower()  # type: ignore[attr-defined]
    text = f"{mark.at:.1f} m  {name}"  # type: ignore[attr-defined]
    if mark.action_name not in (*RESTS, JUMP):  # type: ignore[attr-defined]
        text += f" {mark.speed:.1f} m/s"  # type: ignore[attr-defined]
    return text + (f", pause {mark.pause:.1f} s" if mark.pause > 0.0 else "")  # type: ignore[attr-defined]


@persistent
def _on_depsgraph(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """A curve was edited or moved: forget it, and have the preview made anew."""
    from ..scene import curves
    from . import gait_state, preview_state

    if not hasattr(scene, "gaitsmith") or curves.being_read():
        return
    chosen = scene.gaitsmith
    watched = {ob.name_full for ob in (chosen.curve, chosen.ground_object, chosen.facing_object) if ob is not None}
    watched |= {ob.data.name_full for ob in (chosen.curve, chosen.ground_object) if ob is not None and ob.data}
    known = watched | set(_curve_cache)
    playing = _is_playing()
    mover = chosen.armature.name_full if chosen.armature is not None else ""
    for update in depsgraph.updates:
        what = update.id
        if mover and not playing and update.is_updated_transform and what.name_full == mover:
            gait_state.scene_changed()
        edited = update.is_updated_geometry and isinstance(what, bpy.types.Curve)
        # While the animation plays, things that move by it would ask for a new preview at every frame.
        changed = edited or (not playing and (update.is_updated_geometry or update.is_updated_transform))
        if changed and what.name_full in known:
            forget()
            preview_state.scene_changed()
            return


def _is_playing() -> bool:
    manager = bpy.context.window_manager
    return manager is not None and any(window.screen.is_animation_playing for window in manager.windows)


@persistent
def _on_load(*_arguments: object) -> None:
    from . import animal, gait_state, label_state, preview_state

    _curve_cache.clear()
    forget()
    animal.forget()
    label_state.forget()
    gait_state.end(bpy.context)
    preview_state.clear()


@persistent
def _on_undo(*_arguments: object) -> None:
    from . import animal, label_state, preview_state

    forget()
    animal.forget()
    label_state.forget()
    preview_state.scene_changed()
    # What it tells of may just have been taken back.
    now = common.state(bpy.context)
    if not now.message_is_error:
        now.message = ""


def register() -> None:
    """Watch for changes."""
    bpy.app.handlers.depsgraph_update_post.append(_on_depsgraph)
    bpy.app.handlers.load_post.append(_on_load)
    bpy.app.handlers.undo_post.append(_on_undo)
    bpy.app.handlers.redo_post.append(_on_undo)


def unregister() -> None:
    """Stop watching, and forget."""
    common.never(_read_later)
    _curve_cache.clear()
    forget()
    for handlers, function in (
        (bpy.app.handlers.depsgraph_update_post, _on_depsgraph),
        (bpy.app.handlers.load_post, _on_load),
        (bpy.app.handlers.undo_post, _on_undo),
        (bpy.app.handlers.redo_post, _on_undo),
    ):
        if function in handlers:
            handlers.remove(function)


CLASSES = ()
