"""Panel Schedule: what the character does where along the curve."""

from __future__ import annotations

from typing import Any

import bpy

from .. import choices
from ..motion.schedule import JUMP, RESTS
from ..operators import common, flow
from .common import Sidebar, columns, message, words


class GAITSMITH_UL_marks(bpy.types.UIList):
    """The schedule's marks, in order along the curve."""

    def draw_item(
        self, _context, layout, _data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ) -> None:  # type: ignore[no-untyped-def]
        """Draw a mark: where, what, how fast."""
        row = layout.row(align=True)
        row.label(text=f"{item.at:.1f} m")
        row.label(text=choices.action_item(item.action_name)[1].lower())
        row.label(text="" if item.action_name == JUMP else resting(item) or f"{item.speed:.1f} m/s")


def resting(mark: Any) -> str:
    """How long a mark rests, for reading; empty for marks that go on."""
    return f"{mark.pause:.1f} s" if mark.action_name in RESTS else ""


class GAITSMITH_PT_schedule(Sidebar, bpy.types.Panel):
    """Speed and action along the curve."""

    bl_idname = "GAITSMITH_PT_schedule"
    bl_label = "Schedule"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        layout = self.layout
        column = columns(layout)
        column.prop(chosen, "action", text="From the start")
        if chosen.action_name not in RESTS:
            column.prop(chosen, "speed")
        row = layout.row()
        row.template_list(
            "GAITSMITH_UL_marks", "", chosen, "marks", chosen, "active_mark", rows=3 if len(chosen.marks) else 1
        )
        buttons = row.column(align=True)
        buttons.operator("gaitsmith.mark_add", text="", icon="ADD")
        buttons.operator("gaitsmith.mark_remove", text="", icon="REMOVE")
        if len(chosen.marks):
            buttons.operator("gaitsmith.mark_move", text="", icon="ARROW_LEFTRIGHT")
        if len(chosen.marks):
            layout.operator(
                "gaitsmith.marks_edit", text="Edit in the viewport", icon="GREASEPENCIL",
                depress=common.state(context).marks_editing,
            )  # fmt: skip
        if 0 <= chosen.active_mark < len(chosen.marks):
            mark = chosen.marks[chosen.active_mark]
            column = columns(layout)
            column.prop(mark, "at")
            column.prop(mark, "action")
            if mark.action_name not in RESTS and mark.action_name != JUMP:
                column.prop(mark, "speed")
                column.prop(mark, "ease")
            if mark.action_name != JUMP:
                column.prop(mark, "pause")
        seconds, told = flow.plan_facts(context)
        if seconds is not None:
            layout.label(text=f"{seconds:.1f} s in all", icon="TIME")
        if told:
            words(layout, told, "ERROR" if seconds is None else "INFO")
        message(layout, context, "schedule")


CLASSES = (GAITSMITH_UL_marks, GAITSMITH_PT_schedule)
