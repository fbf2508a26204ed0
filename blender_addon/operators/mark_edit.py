"""Edit the schedule's marks in the viewport: drag them along the curve, change what they ask for, add and remove."""

from __future__ import annotations

from typing import Any

import bpy

from .. import choices
from ..motion.schedule import RESTS
from . import common, flow, mark_picking
from .schedule import add_mark, mouse_on_curve, sort_marks

HELP = (
    "Drag a mark along the path. Over a mark: wheel or G changes what it asks for, X removes it. "
    "Ctrl click on the path: new mark. Esc or right click: done"
)


class GAITSMITH_OT_marks_edit(bpy.types.Operator):
    """Drag the schedule's marks along the path, change their gaits with the wheel. Esc or right click ends it"""

    bl_idname = "gaitsmith.marks_edit"
    bl_label = "Edit Marks"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a curve."""
        if context.scene is not None and common.chosen_curve(context) is not None:
            return True
        cls.poll_message_set("Draw or choose a path first")
        return False

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begin."""
        chosen = common.settings(context)
        chosen.show_marks = True
        self._dragged = -1
        self._before = 0.0
        common.state(context).marks_editing = True
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(HELP)
        common.redraw(context, "VIEW_3D")
        return {"RUNNING_MODAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Without a window there is nothing to edit on."""
        self.report({"ERROR"}, "Marks are edited with the mouse; scripts set marks[...].at and .action")
        return {"CANCELLED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the mouse."""
        chosen = common.settings(context)
        if common.chosen_curve(context) is None:
            return self._finish(context)
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            if self._dragged < 0:
                return self._finish(context)
            chosen.marks[self._dragged].at = self._before
            self._dragged = -1
            return {"RUNNING_MODAL"}
        view = view_under(context, event)
        if self._dragged >= 0:
            return self._drag(context, event, view)
        if view is None:
            return {"PASS_THROUGH"}
        under = mark_at(context, event, view)
        if event.type == "MOUSEMOVE" and under is not None and under != chosen.active_mark:
            chosen.active_mark = under
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            return self._press(context, event, view, under)
        return self._change(context, event, under) if under is not None else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator (a file is opened, the window closes)."""
        self._finish(context)

    def _press(self, context: bpy.types.Context, event: bpy.types.Event, view: Any, under: int | None) -> set[str]:
        chosen = common.settings(context)
        if under is not None:
            chosen.active_mark = self._dragged = under
            self._before = chosen.marks[under].at
            return {"RUNNING_MODAL"}
        place = mouse_on_curve(context, event, view) if event.ctrl else None
        if place is None:
            return {"PASS_THROUGH"}
        add_mark(chosen, place)
        _keep(context, "Add Mark")
        return {"RUNNING_MODAL"}

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event, view: Any) -> set[str]:
        chosen = common.settings(context)
        place = mouse_on_curve(context, event, view) if event.type == "MOUSEMOVE" and view is not None else None
        if place is not None:
            chosen.marks[self._dragged].at = place
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            moved = chosen.marks[self._dragged].at != self._before
            sort_marks(chosen, self._dragged)
            self._dragged = -1
            if moved:
                _keep(context, "Slide Mark")
        common.redraw(context, "VIEW_3D")
        return {"RUNNING_MODAL"}

    def _change(self, context: bpy.types.Context, event: bpy.types.Event, under: int) -> set[str]:
        chosen = common.settings(context)
        step = {"WHEELUPMOUSE": 1, "WHEELDOWNMOUSE": -1, "G": 1}.get(event.type, 0) if event.value == "PRESS" else 0
        if step:
            chosen.active_mark = under
            cycle(context, chosen.marks[under], -step if event.shift else step)
            _keep(context, "Change Mark")
            return {"RUNNING_MODAL"}
        if event.type in {"X", "DEL"} and event.value == "PRESS":
            chosen.marks.remove(under)
            chosen.active_mark = max(under - 1, 0)
            _keep(context, "Remove Mark")
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def _finish(self, context: bpy.types.Context) -> set[str]:
        self._dragged = -1
        common.state(context).marks_editing = False
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        common.redraw(context, "VIEW_3D")
        return {"FINISHED"}


def cycle(context: bpy.types.Context, mark: Any, step: int) -> None:
    """Let a mark ask for the next action that the pack offers; a pause that came with a stand goes with it."""
    rested = mark.action_name in RESTS and mark.pause == choices.USUAL_PAUSE_S
    mark.action = mark_picking.next_action(choices.offered_actions(context), mark.action_name, step)
    if rested and mark.action_name not in RESTS:
        mark.pause = 0.0


def view_under(context: bpy.types.Context, event: bpy.types.Event) -> Any:
    """Region and view (a pair) of the 3D view under the mouse; None elsewhere, also over its sidebar."""
    for area in context.window.screen.areas if context.window is not None else ():
        if area.type != "VIEW_3D":
            continue
        inside = [r for r in area.regions
                  if 0 <= event.mouse_x - r.x < r.width and 0 <= event.mouse_y - r.y < r.height]  # fmt: skip
        if inside and all(region.type == "WINDOW" for region in inside):
            return inside[0], area.spaces.active.region_3d
    return None


def mark_at(context: bpy.types.Context, event: bpy.types.Event, view: Any) -> int | None:
    """Index of the mark under the mouse; None without one."""
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    region, region_3d = view
    poles: list[tuple[mark_picking.Point, mark_picking.Point] | None] = []
    for spot in flow.mark_spots(context):
        foot, head = (location_3d_to_region_2d(region, region_3d, place) for place in (spot.foot, spot.head))
        poles.append(((foot.x, foot.y), (head.x, head.y)) if foot is not None and head is not None else None)
    mouse = (event.mouse_x - region.x, event.mouse_y - region.y)
    return mark_picking.mark_under(poles, mouse, mark_picking.REACH * context.preferences.system.ui_scale)


def _keep(context: bpy.types.Context, words: str) -> None:
    """One step of undo."""
    common.redraw(context, "VIEW_3D")
    if bpy.ops.ed.undo_push.poll():
        bpy.ops.ed.undo_push(message=words)


CLASSES = (GAITSMITH_OT_marks_edit,)
