"""Panel Preview: look at the motion before any key is written."""

from __future__ import annotations

import bpy

from ..operators import common
from .common import Sidebar, columns, message


class GAITSMITH_PT_preview(Sidebar, bpy.types.Panel):
    """Show the motion in the viewport."""

    bl_idname = "GAITSMITH_PT_preview"
    bl_label = "Preview"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen, now = common.settings(context), common.state(context)
        layout = self.layout
        layout.operator(
            "gaitsmith.preview", text="Stop preview" if now.preview else "Preview",
            icon="PAUSE" if now.preview else "PLAY", depress=now.preview,
        )  # fmt: skip
        column = columns(layout)
        column.prop(chosen, "show_skeleton")
        column.prop(chosen, "show_footprints")
        column.prop(chosen, "show_path")
        column.prop(chosen, "show_marks")
        column.prop(chosen, "show_gait")
        message(layout, context, "preview")


CLASSES = (GAITSMITH_PT_preview,)
