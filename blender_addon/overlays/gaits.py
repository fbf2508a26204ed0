"""Draws the gait preview in the 3D viewport: the animal, where its feet have stood, the gait diagram and the speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ..motion.gait_analysis.diagram import LABELS
from ..motion.gait_stream import Shown, Stance
from ..motion.picture import ring
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
        points, colours, standing = footfalls(stream.stances, shown, stage.paw, stream.fps)
        for width, chosen in ((3.5, standing), (1.5, ~standing)):
            if chosen.any():
                pen.many(points[chosen].reshape(-1, 3), colours[chosen].reshape(-1, 4), width)
    pen.many(shown.body, np.repeat(np.array((*SIDES, BODY))[stage.sides], 2, axis=0), 3.0, in_front=True)
    gpu.matrix.pop()
    pen.done()


def footfalls(stances: Sequence[Stance], shown: Shown, paw: float, fps: float) -> tuple[Any, Any, Any]:
    """Rings where feet stand and have stood, older ones fainter.

    Returns:
        pairs of points (n, 2 * corners, 3) from the root's place, their colours (n, 2 * corners, 4), and which of
        the rings are of feet that stand (n,).
    """
    seen = [s for s in stances if s.first <= shown.frame and shown.frame - s.last <= FADE_S * fps]
    places = np.array([stance.place for stance in seen]).reshape(-1, 1, 3) - [*shown.root[:2], 0.0]
    age = np.array([(shown.frame - stance.last) / fps for stance in seen])
    lines = np.repeat(ring(np.zeros(3), paw), 2, axis=0)[1:-1]
    colours = np.array([LEG_COLOURS[stance.leg] for stance in seen]).reshape(-1, 1, 4)
    colours = np.repeat(colours, len(lines), axis=1)
    colours[..., 3] = np.where(age <= 0.0, 1.0, 0.7 * (1.0 - age / FADE_S))[:, None]
    return places + lines, colours, age <= 0.0


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


def bars(stances: Sequence[Stance], frame: float, fps: float) -> list[tuple[int, float, float]]:
    """(leg, from, to) of each stance in the diagram's window, in seconds from the present."""
    found = []
    for stance in stances:
        begin, end = (stance.first - frame) / fps, (stance.last + 1 - frame) / fps
        begin, end = max(begin, -BEFORE_S), min(end, AFTER_S)
        if end > begin:
            found.append((stance.leg, begin, end))
    return found


def _diagram(context: bpy.types.Context, stances: Sequence[Stance], shown: Shown, fps: float, scale: float) -> None:
    """A row a leg; bars while its foot stands; what comes is faint. Time scrolls to the left."""
    left, bottom, second, row = (scale * value for value in (LEFT, BOTTOM, SECOND, ROW))
    width, now = (BEFORE_S + AFTER_S) * second, left + BEFORE_S * second
    boxes = [(left - 40 * scale, bottom - 8 * scale, width + 48 * scale, 4 * row + 14 * scale, BOX)]
    for leg, begin, end in bars(stances, shown.frame, fps):
        level = bottom + (3 - leg) * row
        red, green, blue, _ = LEG_COLOURS[leg]
        for first, last, strength in ((begin, min(end, 0.0), 1.0), (max(begin, 0.0), end, AHEAD)):
            if last > first:
                colour = (red, green, blue, strength)
                boxes.append((now + first * second, level, (last - first) * second, 0.75 * row, colour))
    pen = Pen(context, flat=True)
    pen.boxes(boxes)
    pen.lines(np.array([[now, bottom - 4 * scale, 0], [now, bottom + 4 * row, 0]], np.float32), MARK, 1.0)
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
