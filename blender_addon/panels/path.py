"""Panel Path: the root curve, where on it the character starts, and where the body looks."""

from __future__ import annotations

import bpy

from ..operators import common, flow
from .common import Sidebar, columns, message, metres, words


class GAITSMITH_PT_path(Sidebar, bpy.types.Panel):
    """Choose or draw the curve to follow."""

    bl_idname = "GAITSMITH_PT_path"
    bl_label = "Path"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        column = columns(self.layout)
        row = column.row(align=True)
        row.prop(chosen, "curve", text="")
        if context.mode == "EDIT_CURVE":
            row.operator("gaitsmith.curve_done", icon="CHECKMARK")
        else:
            row.operator("gaitsmith.curve_draw", text="Draw", icon="GREASEPENCIL")
        curve = common.chosen_curve(context)
        if curve is None:
            words(column, "No curve is chosen or selected.", "INFO")
        else:
            if chosen.curve is None:
                column.label(text=f"Selected: {curve.name}", icon="RESTRICT_SELECT_OFF")
            length, problem = flow.curve_facts(context)
            if problem and context.mode == "EDIT_CURVE":
                words(column, "Draw in the viewport with the left mouse button, then press Done.", "GREASEPENCIL")
            elif problem:
                words(column, problem, "ERROR")
            else:
                text = "..." if length is None else f"{metres(length)} long"
                column.label(text=text, icon="DRIVER_DISTANCE")
        column.prop(chosen, "start")
        column.prop(chosen, "reverse")
        column.prop(chosen, "facing")
        if chosen.facing == "OBJECT":
            column.prop(chosen, "facing_object")
        elif chosen.facing == "FIXED":
            column.prop(chosen, "facing_angle")
        message(column, context, "path")


CLASSES = (GAITSMITH_PT_path,)
