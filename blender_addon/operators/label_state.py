"""The labels that panels and overlays show: those of the character's action, read once for each change of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ..motion.errors import GaitsmithError
from ..motion.label_doubts import Doubt, doubts_of_tracks
from ..motion.label_lanes import View
from ..motion.label_tracks import LabelTracks
from . import common

#: Radius of a ring on a foot as a share of the leg's length.
_RING = 0.06


@dataclass(frozen=True)
class Shown:
    """An action's labels as they are shown.

    Attributes:
        armature, action: their names.
        tracks: the labels. doubts: what of them is worth a look.
    """

    armature: str
    action: str
    tracks: LabelTracks
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True)
class SolePoint:
    """Where a foot touches the ground.

    Attributes:
        name: of the contact. bone: what carries it. offset: (3,) in the bone's frame, in the armature's units.
        drop: how much lower in the world it is. radius: of its ring; both in the scene's units.
    """

    name: str
    bone: str
    offset: tuple[float, float, float]
    drop: float
    radius: float


_cache: tuple[tuple[object, ...], Shown | None, str] | None = None
_draft: LabelTracks | None = None
_soles: dict[str, tuple[SolePoint, ...]] = {}
_unknown: set[str] = set()


def shown(context: bpy.types.Context) -> Shown | None:
    """The labels of the action that the character plays; None without any, or while they cannot be read."""
    found = _look(context)[0]
    if found is not None and _draft is not None:
        return Shown(found.armature, found.action, _draft, ())
    return found


def view_of(region: Any, tracks: LabelTracks, scale: float = 1.0) -> View:
    """Where lanes lie in a region that shows frames, of a timeline or dope sheet; ``scale``: of the interface."""
    # Blender answers in whole pixels: far apart they are exact enough.
    zero, far = (float(region.view2d.view_to_region(frame, 0.0, clip=False)[0]) for frame in (0.0, 10000.0))
    return View.of(zero, (far - zero) / 10000.0, (float(region.width), float(region.height)), tracks, scale)


def problem(context: bpy.types.Context) -> str:
    """What is wrong with the labels that are kept; empty if nothing is."""
    return _look(context)[1]


def draft(tracks: LabelTracks | None) -> None:
    """Show other labels while something is dragged; None shows what is kept again."""
    global _draft
    _draft = tracks


def owner(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Action] | None:
    """The character and the action it plays; None without either."""
    if context.scene is None or context.view_layer is None or not hasattr(context.scene, "gaitsmith"):
        return None
    ob = common.chosen_armature(context)
    action = ob.animation_data.action if ob is not None and ob.animation_data else None
    return (ob, action) if ob is not None and action is not None else None


def _look(context: bpy.types.Context) -> tuple[Shown | None, str]:
    global _cache
    from ..scene import labels

    found = owner(context)
    if found is None:
        return None, ""
    ob, action = found
    text = labels.text_of(action)
    if not text:
        return None, ""
    key = (ob.name_full, action.name_full, text, labels.frames_of(action), labels.player_of(action, ob))
    if _cache is None or _cache[0] != key:
        try:
            tracks = labels.read(action, ob)
            one = Shown(ob.name, action.name, tracks, doubts_of_tracks(tracks)) if tracks is not None else None
            _cache = (key, one, "")
        except GaitsmithError as error:
            _cache = (key, None, str(error))
    return _cache[1:]


def soles(context: bpy.types.Context, ob: bpy.types.Object) -> tuple[SolePoint, ...]:
    """Where the character's feet touch the ground; nothing until its bones were looked at, in a moment."""
    if ob.name_full not in _soles and ob.name_full not in _unknown:
        if bpy.app.background:
            _read_soles(ob)
        else:
            common.later(_soles_later, 0.0)
    return _soles.get(ob.name_full, ())


def _soles_later() -> None:
    found = owner(bpy.context)
    if found is not None:
        _read_soles(found[0])
        common.redraw(bpy.context, "VIEW_3D")


def _read_soles(ob: bpy.types.Object) -> None:
    from ..motion.animal import LEGS
    from ..scene import labels, rigs
    from ..scene.curves import metres_per_unit

    try:
        skeleton = labels.skeleton_for(ob)
    except GaitsmithError:
        _unknown.add(ob.name_full)
        return
    scale, unit = float(rigs.object_frame(ob)[2]), metres_per_unit()
    points, radius = [], _RING * float(skeleton.leg_length) / unit
    for foot in skeleton.feet:
        toe, ankle = skeleton.names[foot.toe], skeleton.names[foot.ankle]
        if skeleton.four_legged:
            bone = ob.data.bones[toe]
            length = bone.length if foot.toe != foot.ankle else 0.0
            points.append(SolePoint(foot.side, toe, (0.0, length, 0.0), 0.0, radius))
            continue
        heel = tuple(float(value) / scale for value in foot.heel)
        height = foot.ball_height if foot.toe != foot.ankle else foot.ankle_height
        points.append(SolePoint(f"{foot.side}_heel", ankle, (heel[0], heel[1], heel[2]), 0.0, radius))
        points.append(SolePoint(f"{foot.side}_toe", toe, (0.0, 0.0, 0.0), float(height) / unit, radius))
    order = LEGS if skeleton.four_legged else [point.name for point in points]
    _soles[ob.name_full] = tuple(sorted(points, key=lambda point: list(order).index(point.name)))


def forget() -> None:
    """Another file, or a step of undo: nothing that was known may hold."""
    global _cache, _draft
    _cache = _draft = None
    _soles.clear()
    _unknown.clear()
    common.never(_soles_later)
