"""The first panel: the Bake button, always in sight, and what it says."""

from __future__ import annotations

import bpy

from ..operators import common
from .common import Sidebar, message, words


class GAITSMITH_PT_bake(Sidebar, bpy.types.Panel):
    """Bake the motion."""

    bl_idname = "GAITSMITH_PT_bake"
    bl_label = "Bake"
    bl_options = {"HIDE_HEADER"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        now, layout = common.state(context), self.layout
        if now.baking:
            row = layout.row(align=True)
            row.progress(factor=now.bake_fraction, text=f"{now.bake_stage} {now.bake_fraction:.0%}")
            row.operator("gaitsmith.bake_cancel", text="", icon="X")
        else:
            row = layout.row()
            row.scale_y = 1.6
            row.operator("gaitsmith.bake", icon="REC")
            wanted = common.missing(context)
            if wanted:
                words(layout, wanted, "INFO")
        message(layout, context, "bake")


CLASSES = (GAITSMITH_PT_bake,)
