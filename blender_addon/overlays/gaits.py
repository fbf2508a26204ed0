"""Draws the gait preview in the 3D viewport: the animal, where its feet have stood, the gait diagram and the speed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import bpy
import gpu
from mathutils import Matrix

from ..motion.gait_analysis.diagram import LABELS
from ..motion.gait_picture import bars, footfalls
from ..motion.gait_stream import Shown, Stance
from ..operators import common, gait_state
from .draw import BODY, BOX, LEG_COLOURS, MARK, SIDES, Pen, text

#: The diagram shows so many seconds before and after the present.
BEFORE_S, AFTER_S = 2.5, 0.8
#: Footfalls fade away in so many seconds.
FADE_S = 2.5
#: Size of the diagram, pixels at scale 1: its left and bottom, width of a second, height of a row.
LEFT, BOTTOM, SECOND, ROW = 70.0, 70.0, 120.0, 15.0
AHEAD = 0.35

_handles: list[Any] = []


def draw_world() -> None:
    """In world space: the animal and its footfalls."""
    context, playing = bpy.context, gait_state.playing()
    shown = playing[0].shown() if playing is not None else None
    if playing is None or shown is None or context.scene is None or not hasattr(context.scene, "gaitsmith"):
        return
    stream, stage = playing
    pen = Pen(context)
    gpu.matrix.push()
    gpu.matrix.multiply_matrix(Matrix(stage.matrix(shown.root).tolist()))
    if common.settings(context).gaits.show_footfalls:
        rings = footfalls(stream.stances, shown, stage.paw, stream.fps, FADE_S)
        colours = [(*LEG_COLOURS[leg][:3], share) for leg, share in zip(rings.legs, rings.strength, strict=True)]
        for width, chosen in ((3.5, rings.standing), (1.5, ~rings.standing)):
            if chosen.any():
                pen.many(rings.lines[chosen], list(compress(colours, chosen)), width)
    pen.many(shown.body.reshape(-1, 2, 3), [(*SIDES, BODY)[side] for side in stage.sides], 3.0, in_front=True)
    gpu.matrix.pop()
    pen.done()


def draw_screen() -> None:
    """On the screen: gait, speed and stride in words, and the gait diagram."""
    context, playing = bpy.context, gait_state.playing()
    shown = playing[0].shown() if playing is not None else None
    if playing is None or shown is None or context.region is None or not hasattr(context.scene, "gaitsmith"):
        return
    scale = context.preferences.system.ui_scale
    height = 4 * ROW * scale
    if common.settings(context).gaits.show_diagram:
        _diagram(context, playing[0].stances, shown, playing[0].fps, scale)
    else:
        height = 0.0
    text(LEFT * scale, BOTTOM * scale + height + 26 * scale, words(shown), MARK, 16)


def words(shown: Shown) -> str:
    """Gait, speed and stride."""
    if shown.stride <= 0.0 or shown.speed <= 0.0:
        return shown.gait.capitalize()
    stride = f"stride {shown.speed * shown.stride:.2f} m in {shown.stride:.2f} s"
    return f"{shown.gait.capitalize()}   {shown.speed:.2f} m/s   {stride}"


def _diagram(context: bpy.types.Context, stances: Sequence[Stance], shown: Shown, fps: float, scale: float) -> None:
    """A row a leg; bars while its foot stands; what comes is faint. Time scrolls to the left."""
    left, bottom, second, row = (scale * value for value in (LEFT, BOTTOM, SECOND, ROW))
    width, now = (BEFORE_S + AFTER_S) * second, left + BEFORE_S * second
    boxes = [(left - 40 * scale, bottom - 8 * scale, width + 48 * scale, 4 * row + 14 * scale, BOX)]
    for leg, begin, end in bars(stances, shown.frame, fps, BEFORE_S, AFTER_S):
        level = bottom + (3 - leg) * row
        red, green, blue, _ = LEG_COLOURS[leg]
        for first, last, strength in ((begin, min(end, 0.0), 1.0), (max(begin, 0.0), end, AHEAD)):
            if last > first:
                colour = (red, green, blue, strength)
                boxes.append((now + first * second, level, (last - first) * second, 0.75 * row, colour))
    pen = Pen(context, flat=True)
    pen.boxes(boxes)
    pen.lines([(now, bottom - 4 * scale, 0.0), (now, bottom + 4 * row, 0.0)], MARK, 1.0)
    pen.done()
    for leg, name in enumerate(LABELS):
        text(left - 32 * scale, bottom + (3 - leg) * row + 1, name, LEG_COLOURS[leg])


def register() -> None:
    """Hang the drawing on the 3D view; in the background there is nothing to draw on."""
    if bpy.app.background:
        return
    add = bpy.types.SpaceView3D.draw_handler_add
    _handles.append(add(draw_world, (), "WINDOW", "POST_VIEW"))
    _handles.append(add(draw_screen, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Take it away."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
