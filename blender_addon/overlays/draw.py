"""Draws the preview, the schedule's marks and the loss curve in the 3D viewport."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ..motion.gait_analysis.diagram import LABELS
from ..motion.picture import Picture, logarithmic
from ..operators import common, flow, preview_state, training_session
from ..scene.shot import scene_fps
from .colours import Colour, gait_colour

BODY: Colour = (1.0, 0.78, 0.25, 1.0)
SIDES: tuple[Colour, Colour] = ((0.35, 0.65, 1.0, 1.0), (1.0, 0.45, 0.4, 1.0))
#: Of an animal's legs, in the order of `motion.animal.LEGS`: fore legs are lighter than hind legs.
LEG_COLOURS: tuple[Colour, ...] = (
    (0.25, 0.5, 1.0, 1.0), (1.0, 0.32, 0.28, 1.0), (0.55, 0.85, 1.0, 1.0), (1.0, 0.68, 0.5, 1.0)
)
FAINT = 0.35
#: Share of its strength that a line keeps behind the ground.
HIDDEN = 0.3
PATH: Colour = (0.5, 0.9, 0.5, 0.8)
MARK: Colour = (1.0, 1.0, 1.0, 1.0)
ACTIVE: Colour = (1.0, 0.6, 0.1, 1.0)
BOX: Colour = (0.08, 0.08, 0.08, 0.75)
TEXT_SIZE = 12
#: The gait diagram shows this much time before and after the current frame, seconds.
GAIT_SECONDS = 1.5

_handles: list[Any] = []


def draw_world() -> None:
    """In world space: body, footprints, planned path, marks."""
    context = bpy.context
    if context.scene is None or not hasattr(context.scene, "gaitsmith"):
        return
    chosen = common.settings(context)
    pen = Pen(context)
    found = preview_state.picture(context)
    if found is not None:
        _draw_picture(context, chosen, pen, found)
    if chosen.show_marks:
        for points, action in flow.stretches_drawn(context):
            pen.strip(points, gait_colour(action), 3.0)
        for spot in flow.mark_spots(context):
            pen.lines([spot.foot, spot.head], ACTIVE if spot.active else MARK, 2.0)
    pen.done()


def _draw_picture(context: bpy.types.Context, chosen: Any, pen: Pen, found: Picture) -> None:
    scene = context.scene
    place = found.place(scene.frame_current_final, chosen.frame_start, scene_fps(scene))
    if chosen.show_path and len(found.path) > 1:
        pen.strip(found.path, PATH, 1.5)
    if chosen.show_footprints:
        for step in found.footprints:
            stands = step.first <= place <= step.last
            red, green, blue, _ = _feet(found)[step.side][1]
            pen.strip(step.outline, (red, green, blue, 1.0 if stands else FAINT), 3.0 if stands else 1.5)
    if chosen.show_skeleton:
        body = found.body(place).reshape(-1, 2, 3)
        for side, colour in enumerate((*SIDES, BODY)):
            bones = body[found.sides == side]
            if len(bones):
                pen.lines(bones.reshape(-1, 3), colour, 3.0, in_front=True)


def draw_screen() -> None:
    """On the screen: the marks' labels, the gait diagram, the loss curve."""
    context = bpy.context
    if context.scene is None or not hasattr(context.scene, "gaitsmith") or context.region is None:
        return
    chosen = common.settings(context)
    if chosen.show_marks and context.region_data is not None:
        for spot in flow.mark_spots(context):
            where = location_3d_to_region_2d(context.region, context.region_data, spot.head)
            if where is not None:
                _mark_head(context, where.x, where.y, spot)
    found = preview_state.picture(context)
    if chosen.show_gait and found is not None:
        _draw_gait(context, chosen, found)
    if common.state(context).training:
        _draw_loss(training_session.losses())


def _mark_head(context: bpy.types.Context, x: float, y: float, spot: flow.Spot) -> None:
    """A knob on the mark's pole, and its label beside it."""
    colour = ACTIVE if spot.active else MARK
    half = 5.0 * context.preferences.system.ui_scale
    pen = Pen(context, flat=True)
    pen.boxes([
        (x - half, y - half, 2 * half, 2 * half, colour),
        (x - 0.7 * half, y - 0.7 * half, 1.4 * half, 1.4 * half, gait_colour(spot.action)),
    ])
    pen.done()
    _label(context, x + 3 * half, y - half, spot.text, colour)


def _feet(found: Picture) -> tuple[tuple[str, Colour], ...]:
    """Name and colour of each foot, in the order of the contacts."""
    if found.contacts.shape[1] == len(LEG_COLOURS):
        return tuple(zip(LABELS, LEG_COLOURS, strict=True))
    return (("left", SIDES[0]), ("right", SIDES[1]))


def _draw_gait(context: bpy.types.Context, chosen: Any, found: Picture) -> None:
    """Bars of stance for each foot, time running to the right, the present in the middle."""
    left, bottom, width, height = 60.0, 60.0, 360.0, 14.0
    feet = _feet(found)
    row, rows = height + 4, len(feet)
    place = found.place(context.scene.frame_current_final, chosen.frame_start, scene_fps(context.scene))
    scale = width / (2 * GAIT_SECONDS * found.fps)
    pen = Pen(context, flat=True)
    pen.box(left - 50, bottom - 8, width + 60, rows * row + 16, BOX)
    for step in found.footprints:
        start = left + width / 2 + (step.first - place) * scale
        stop = left + width / 2 + (step.last + 1 - place) * scale
        start, stop = max(start, left), min(stop, left + width)
        if stop > start:
            pen.box(start, bottom + (rows - 1 - step.side) * row, stop - start, height, feet[step.side][1])
    now = left + width / 2
    pen.lines([(now, bottom - 4, 0.0), (now, bottom + rows * row + 2, 0.0)], MARK, 1.0)
    pen.done()
    for number, (name, colour) in enumerate(feet):
        text(left - 44, bottom + (rows - 1 - number) * row + 2, name, colour)


def _draw_loss(losses: Sequence[float]) -> None:
    """The loss so far, on a logarithmic scale."""
    if len(losses) < 2:
        return
    left, bottom, width, height = 60.0, 120.0, 260.0, 90.0
    pen = Pen(bpy.context, flat=True)
    pen.box(left - 8, bottom - 8, width + 16, height + 32, BOX)
    pen.strip(logarithmic(losses, left, bottom, width, height), ACTIVE, 2.0)
    pen.done()
    text(left, bottom + height + 8, f"training loss {losses[-1]:.3g}", MARK)


class Pen:
    """Draws lines and boxes with one state of the GPU."""

    def __init__(self, context: bpy.types.Context, flat: bool = False) -> None:
        self._thick = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        self._many = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
        self._plain = gpu.shader.from_builtin("SMOOTH_COLOR")
        self._viewport = (context.region.width, context.region.height)
        self._flat = flat
        gpu.state.blend_set("ALPHA")
        if not flat:
            gpu.state.depth_test_set("LESS_EQUAL")

    def lines(self, points: Any, colour: Colour, width: float, in_front: bool = False) -> None:
        """Pairs of points (2n, 3)."""
        self._draw("LINES", points, colour, width, in_front)

    def strip(self, points: Any, colour: Colour, width: float) -> None:
        """One unbroken line (n, 3); in the world, what the ground hides of it shows through faintly."""
        if not self._flat:
            self._draw("LINE_STRIP", points, (*colour[:3], colour[3] * HIDDEN), width, True)
        self._draw("LINE_STRIP", points, colour, width, False)

    def _draw(self, kind: str, points: Any, colour: Colour, width: float, in_front: bool) -> None:
        if in_front and not self._flat:
            gpu.state.depth_test_set("NONE")
        batch = batch_for_shader(self._thick, kind, {"pos": np.ascontiguousarray(points, np.float32)})
        self._thick.bind()
        self._thick.uniform_float("viewportSize", self._viewport)
        self._thick.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
        self._thick.uniform_float("color", colour)
        batch.draw(self._thick)
        if in_front and not self._flat:
            gpu.state.depth_test_set("LESS_EQUAL")

    def many(self, points: Any, colours: Any, width: float, in_front: bool = False) -> None:
        """Lines at once, each of pairs of points (n, 2 * pairs, 3) and in a colour of its own (n, 4)."""
        if in_front and not self._flat:
            gpu.state.depth_test_set("NONE")
        content = {
            "pos": np.ascontiguousarray(points, np.float32).reshape(-1, 3),
            "color": np.repeat(np.asarray(colours, np.float32), points.shape[1], axis=0),
        }
        batch = batch_for_shader(self._many, "LINES", content)
        self._many.bind()
        self._many.uniform_float("viewportSize", self._viewport)
        self._many.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
        batch.draw(self._many)
        if in_front and not self._flat:
            gpu.state.depth_test_set("LESS_EQUAL")

    def box(self, left: float, bottom: float, width: float, height: float, colour: Colour) -> None:
        """A filled rectangle on the screen."""
        self.boxes([(left, bottom, width, height, colour)])

    def boxes(self, boxes: Sequence[tuple[float, float, float, float, Colour]]) -> None:
        """Filled rectangles on the screen: left, bottom, width, height, colour; later ones over earlier ones."""
        places, colours, corners = [], [], []
        for number, (left, bottom, width, height, colour) in enumerate(boxes):
            right, top = left + width, bottom + height
            places += [(left, bottom, 0), (right, bottom, 0), (right, top, 0), (left, top, 0)]
            colours += [colour] * 4
            corners += [(4 * number, 4 * number + 1, 4 * number + 2), (4 * number, 4 * number + 2, 4 * number + 3)]
        batch = batch_for_shader(self._plain, "TRIS", {"pos": places, "color": colours}, indices=corners)
        self._plain.bind()
        batch.draw(self._plain)

    def done(self) -> None:
        """Put the state back."""
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")


def _label(context: bpy.types.Context, x: float, y: float, words: str, colour: Colour) -> None:
    """Text on a dark ground."""
    blf.size(0, TEXT_SIZE * context.preferences.system.ui_scale)
    width, height = blf.dimensions(0, words)
    pen = Pen(context, flat=True)
    pen.box(x - 4, y - 5, width + 8, height + 9, BOX)
    pen.done()
    text(x, y, words, colour)


def text(x: float, y: float, words: str, colour: Colour, size: int = TEXT_SIZE) -> None:
    """Write words on the screen."""
    blf.size(0, size * bpy.context.preferences.system.ui_scale)
    blf.color(0, *colour)
    blf.position(0, x, y, 0)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.draw(0, words)
    blf.disable(0, blf.SHADOW)


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
