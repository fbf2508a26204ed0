"""Draws the labels of the character's action: lanes over the timeline and dope sheet, rings on the standing feet."""

from __future__ import annotations

from typing import Any

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from ..motion.label_tracks import words_of
from ..motion.picture import ring
from ..operators import common, label_edit, label_state
from ..operators.label_state import Shown, SolePoint, view_of
from .draw import Pen, text
from .label_shapes import LEFT, LETTER, RIGHT, WORD_SIZE, Colour, shapes

#: Where gait and phase of the current frame are written in the viewport, pixels at scale 1.
_AT = (70.0, 40.0)
#: Names stand this far from their rings, pixels at scale 1.
_AWAY = 20.0

_handles: list[tuple[Any, Any]] = []


def draw_lanes() -> None:
    """Over the timeline or dope sheet."""
    context = bpy.context
    found = _wanted(context, "show_bars")
    if found is None or context.region is None:
        return
    view = view_of(context.region, found.tracks, context.preferences.system.ui_scale)
    made = shapes(view, found.tracks, found.doubts, label_edit.hovered())
    pen = Pen(context, flat=True)
    if made.boxes:
        pen.boxes(made.boxes)
    for points, colour, width in made.lines:
        pen.strip(points, colour, width)
    pen.done()
    for x, y, words, colour in made.words:
        text(x, y, words, colour, WORD_SIZE)


def draw_feet() -> None:
    """In the viewport's world: a ring around all that is labelled as standing."""
    context = bpy.context
    found = _wanted(context, "show_feet")
    if found is None:
        return
    pen = Pen(context)
    for sole, place in standing(context, found):
        pen.strip(ring(tuple(place), sole.radius), colour_of(sole.name), 3.0)
    pen.done()


def draw_words() -> None:
    """On the viewport's screen: the names beside the rings, and gait and phase of the frame."""
    context = bpy.context
    found = _wanted(context, "show_feet")
    if found is None or context.region is None or context.region_data is None:
        return
    scale = context.preferences.system.ui_scale
    for sole, place in standing(context, found):
        spot = location_3d_to_region_2d(context.region, context.region_data, place)
        if spot is not None:
            words = words_of(sole.name)
            # Heels are named to the left of their ring, toes and paws to the right: they stand close together.
            aside = -(len(words) * LETTER + _AWAY) if sole.name.endswith("heel") else _AWAY
            text(spot.x + aside * scale, spot.y - 0.7 * _AWAY * scale, words, colour_of(sole.name), WORD_SIZE)
    text(_AT[0] * scale, _AT[1] * scale, caption(found, context.scene.frame_current), (1.0, 1.0, 1.0, 1.0), 14)


def standing(context: bpy.types.Context, found: Shown) -> list[tuple[SolePoint, Vector]]:
    """What stands on the current frame, and where in the world it is."""
    ob, row = bpy.data.objects.get(found.armature), found.tracks.at(context.scene.frame_current)
    if ob is None or row is None:
        return []
    down = dict(zip(found.tracks.points, found.tracks.contacts[row].tolist(), strict=True))
    places = []
    for sole in label_state.soles(context, ob):
        bone = ob.pose.bones.get(sole.bone)
        if bone is not None and down.get(sole.name):
            place = ob.matrix_world @ (bone.matrix @ Vector(sole.offset))
            places.append((sole, place - Vector((0.0, 0.0, sole.drop))))
    return places


def caption(found: Shown, frame: int) -> str:
    """Gait, action and phase of a frame, for reading."""
    tracks, row = found.tracks, found.tracks.at(frame)
    if row is None:
        return ""
    words = tracks.gait_names[tracks.gaits[row]]
    if tracks.actions[row]:
        words += f", {tracks.action_names[tracks.actions[row]]}"
    if tracks.phase is not None:
        words += f"   phase {tracks.phase.share(row):.2f}" + ("" if tracks.phase.reliable[row] else " (a guess)")
    return words


def colour_of(point: str) -> Colour:
    """Left and right, as everywhere."""
    return LEFT if point.startswith("left") else RIGHT


def _wanted(context: bpy.types.Context, what: str) -> Shown | None:
    if context.scene is None or not hasattr(context.scene, "gaitsmith"):
        return None
    if not getattr(common.settings(context).labels, what):
        return None
    return label_state.shown(context)


def register() -> None:
    """Hang the drawing on both editors; in the background there is nothing to draw on."""
    if bpy.app.background:
        return
    for space, function, when in (
        (bpy.types.SpaceDopeSheetEditor, draw_lanes, "POST_PIXEL"),
        (bpy.types.SpaceView3D, draw_feet, "POST_VIEW"),
        (bpy.types.SpaceView3D, draw_words, "POST_PIXEL"),
    ):
        _handles.append((space, space.draw_handler_add(function, (), "WINDOW", when)))


def unregister() -> None:
    """Take it away."""
    while _handles:
        space, handle = _handles.pop()
        space.draw_handler_remove(handle, "WINDOW")
