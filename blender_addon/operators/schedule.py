"""Add, remove and move the schedule's marks."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty

from ..motion.schedule import JUMP, RESTS
from . import common

#: A new mark lies this far behind the last one, metres.
SPACING_M = 2.0
#: What a new mark does behind nothing but standing.
USUAL_ACTION = "walk"


def add_mark(chosen: Any, at: float | None = None, length: float | None = None) -> int:
    """Put a mark after the active one (or at ``at``) with the settings that hold there; returns its index."""
    index = chosen.active_mark if 0 <= chosen.active_mark < len(chosen.marks) else -1
    place = (chosen.marks[index].at if index >= 0 else chosen.start) + SPACING_M if at is None else at
    # After a rest or a leap it goes on as it came.
    while index >= 0 and chosen.marks[index].action_name in (*RESTS, JUMP):
        index -= 1
    before = chosen.marks[index] if index >= 0 else chosen
    if length is not None:
        place = min(place, length)
    mark = chosen.marks.add()
    mark.at, mark.speed = place, before.speed
    mark.action_name = before.action_name if before.action_name not in (*RESTS, JUMP) else USUAL_ACTION
    return sort_marks(chosen, len(chosen.marks) - 1)


def sort_marks(chosen: Any, active: int) -> int:
    """Order the marks along the curve, keep ``active`` the active one; returns its new index."""
    marks = chosen.marks
    for index in range(1, len(marks)):
        place = index
        while place > 0 and marks[place - 1].at > marks[place].at:
            marks.move(place, place - 1)
            if active in (place, place - 1):
                active = 2 * place - 1 - active
            place -= 1
    chosen.active_mark = active
    return active


class GAITSMITH_OT_mark_add(bpy.types.Operator):
    """Add a place along the curve from which speed or action change"""

    bl_idname = "gaitsmith.mark_add"
    bl_label = "Add Mark"
    bl_options = {"REGISTER", "UNDO"}

    at: FloatProperty(
        name="At (m)", default=-1.0, options={"SKIP_SAVE"},
        description="Distance along the curve; negative: behind the active mark",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it."""
        from .flow import curve_length

        add_mark(common.settings(context), None if self.at < 0.0 else self.at, curve_length(context))
        return {"FINISHED"}


class GAITSMITH_OT_mark_remove(bpy.types.Operator):
    """Remove the mark that is selected in the list"""

    bl_idname = "gaitsmith.mark_remove"
    bl_label = "Remove Mark"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a mark."""
        if context.scene is not None and len(common.settings(context).marks):
            return True
        cls.poll_message_set("There is no mark to remove")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        chosen = common.settings(context)
        index = min(max(chosen.active_mark, 0), len(chosen.marks) - 1)
        chosen.marks.remove(index)
        chosen.active_mark = max(index - 1, 0)
        return {"FINISHED"}


class GAITSMITH_OT_mark_move(bpy.types.Operator):
    """Slide the selected mark along the curve: move the mouse, click to keep it, right click or Esc to put it back"""

    bl_idname = "gaitsmith.mark_move"
    bl_label = "Slide Mark"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    at: FloatProperty(name="At (m)", min=0.0, description="Distance along the curve", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a mark and a curve."""
        if context.scene is None or not len(common.settings(context).marks):
            cls.poll_message_set("Add a mark first")
            return False
        if common.chosen_curve(context) is None:
            cls.poll_message_set("Draw or choose a path first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Put it there."""
        chosen = common.settings(context)
        chosen.marks[chosen.active_mark].at = self.at
        sort_marks(chosen, chosen.active_mark)
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begin to slide."""
        chosen = common.settings(context)
        self._before = chosen.marks[chosen.active_mark].at
        self.at = self._before
        context.window_manager.modal_handler_add(self)
        if context.area is not None:
            context.area.header_text_set("Slide the mark along the path: click to keep, right click or Esc to put back")
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the mouse."""
        chosen = common.settings(context)
        if event.type == "MOUSEMOVE":
            place = mouse_on_curve(context, event)
            if place is not None:
                chosen.marks[chosen.active_mark].at = self.at = place
            common.redraw(context, "VIEW_3D")
            return {"RUNNING_MODAL"}
        if event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            self._end(context)
            return self.execute(context)
        if event.type in {"RIGHTMOUSE", "ESC"}:
            chosen.marks[chosen.active_mark].at = self._before
            self._end(context)
            return {"CANCELLED"}
        looking_around = event.type in {"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}
        return {"PASS_THROUGH"} if looking_around else {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context) -> None:
        if context.area is not None:
            context.area.header_text_set(None)


def mouse_on_curve(context: bpy.types.Context, event: bpy.types.Event, view: Any = None) -> float | None:
    """Distance along the curve of the place nearest to the mouse on screen; None outside a 3D view.

    Args:
        context: the scene. event: where the mouse is.
        view: region and view of the 3D view; the context's area when not given.
    """
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    from .flow import path_points

    area = context.area
    if view is None and area is not None and area.type == "VIEW_3D":
        view = next(((r, area.spaces.active.region_3d) for r in area.regions if r.type == "WINDOW"), None)
    found = path_points(context)
    if view is None or found is None:
        return None
    region, region_3d = view
    points, distances = found
    mouse_x, mouse_y = event.mouse_x - region.x, event.mouse_y - region.y
    best: tuple[float, float] | None = None
    for point, distance in zip(points, distances, strict=True):
        spot = location_3d_to_region_2d(region, region_3d, point)
        if spot is not None:
            far = (spot.x - mouse_x) ** 2 + (spot.y - mouse_y) ** 2
            if best is None or far < best[0]:
                best = (far, float(distance))
    return best[1] if best else None


CLASSES = (GAITSMITH_OT_mark_add, GAITSMITH_OT_mark_remove, GAITSMITH_OT_mark_move)
