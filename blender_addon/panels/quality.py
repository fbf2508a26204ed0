"""Panel Quality: the figures of the last bake, each against what is good."""

from __future__ import annotations

import bpy

from .. import choices
from ..operators import common
from .common import Sidebar

ICONS = {item[0]: item[3] for item in choices.VERDICTS}


class GAITSMITH_PT_quality(Sidebar, bpy.types.Panel):
    """How good the last bake is."""

    bl_idname = "GAITSMITH_PT_quality"
    bl_label = "Quality"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Useful after a bake."""
        return context.scene is not None and len(common.settings(context).report) > 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw one line a figure: verdict, name, value, what is wanted, and a button to the worst frame."""
        chosen = common.settings(context)
        layout = self.layout
        if chosen.report_title:
            layout.label(text=chosen.report_title)
        grid = layout.column(align=True)
        for index, figure in enumerate(chosen.report):
            row = grid.row(align=True)
            row.alert = figure.verdict == "BAD"
            row.label(text=f"{figure.label}: {figure.text}", icon=ICONS[figure.verdict])
            side = row.row(align=True)
            side.alignment = "RIGHT"
            word = f"{figure.verdict.lower()}, " if figure.verdict != "NONE" else ""
            if figure.wanted:
                side.label(text=f"{word}{figure.wanted}")
            if figure.frame != choices.NO_FRAME:
                side.operator("gaitsmith.figure_jump", text="", icon="TRACKING_FORWARDS_SINGLE").index = index


CLASSES = (GAITSMITH_PT_quality,)
