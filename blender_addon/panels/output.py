"""Panel Output: where the keyframes go, and how to take them back."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import common
from ..scene import rigify
from .common import Sidebar, columns


class GAITSMITH_PT_output(Sidebar, bpy.types.Panel):
    """Where the keyframes go."""

    bl_idname = "GAITSMITH_PT_output"
    bl_label = "Output"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        layout = self.layout
        column = columns(layout)
        column.prop(chosen, "output")
        if chosen.output == "LAYER":
            _layer(column, chosen)
        column.prop(chosen, "root_motion")
        ob = common.chosen_armature(context)
        if ob is not None and rigify.has_controls(ob.data.bones):
            column.prop(chosen, "rig_bones")
            if chosen.rig_bones == "CONTROLS":
                column.prop(chosen, "controls")
        column.prop(chosen, "keys")
        if chosen.keys == "REDUCED":
            column.prop(chosen, "key_degrees")
            column.prop(chosen, "key_millimetres")
        column.prop(chosen, "frame_start")
        if chosen.output != "LAYER":
            column.prop(chosen, "fit_scene")
        column.prop(chosen, "markers")
        if chosen.markers:
            column.prop(chosen, "lifts")
        row = layout.row(align=True)
        row.operator("gaitsmith.unbake", icon="LOOP_BACK")
        row.operator("gaitsmith.bake_clear", icon="TRASH")
        row.operator("gaitsmith.push_nla", icon="NLA_PUSHDOWN")


def _layer(column: Any, chosen: Any) -> None:
    """Which frames the motion goes over."""
    column.prop(chosen, "layer_whole")
    if not chosen.layer_whole:
        column.prop(chosen, "layer_first")
        column.prop(chosen, "layer_last")
    column.prop(chosen, "layer_in")
    column.prop(chosen, "layer_out")


CLASSES = (GAITSMITH_PT_output,)
