"""Panel Retarget: another armature's action onto the character, feet planted again."""

from __future__ import annotations

import bpy

from ..operators import common, retarget
from .common import Sidebar, columns, message, words


class GAITSMITH_PT_retarget(Sidebar, bpy.types.Panel):
    """Take over motion that another armature has."""

    bl_idname = "GAITSMITH_PT_retarget"
    bl_label = "Retarget"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen, now = common.settings(context), common.state(context)
        layout = self.layout
        column = columns(layout)
        column.prop(chosen, "retarget_source", icon="ARMATURE_DATA")
        column.prop(chosen, "retarget_all")
        if not chosen.retarget_all:
            column.prop(chosen, "retarget_action")
        column.prop(chosen, "retarget_plant")
        column.prop(chosen, "retarget_at_source")
        column.prop(chosen, "retarget_fps")
        if now.retargeting:
            row = layout.row(align=True)
            row.progress(factor=now.retarget_fraction, text=f"{now.retarget_stage} {now.retarget_fraction:.0%}")
            row.operator("gaitsmith.retarget_cancel", text="", icon="X")
        else:
            wanted = retarget.missing(context)
            if wanted:
                words(layout, wanted, "INFO")
            row = layout.row()
            row.scale_y = 1.3
            row.operator("gaitsmith.retarget", icon="ARMATURE_DATA")
        message(layout, context, "retarget")


CLASSES = (GAITSMITH_PT_retarget,)
