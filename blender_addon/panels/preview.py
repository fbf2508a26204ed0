"""Panel Preview: look at the motion before any key is written."""

from __future__ import annotations

import bpy

from ..operators import common
from .common import Sidebar, message


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
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for name in ("show_skeleton", "show_footprints", "show_path", "show_marks", "show_gait"):
            grid.prop(chosen, name)
        message(layout, context, "preview")


CLASSES = (GAITSMITH_PT_preview,)
