"""Panel Gaits: watch an animal's gaits at any speed, in place or along the path, and bake what is seen."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import animal, common, gait_shape, gait_stage
from .common import Sidebar, columns, message, words


class GAITSMITH_PT_gaits(Sidebar, bpy.types.Panel):
    """Gaits of a four-legged character, as they are played in the viewport."""

    bl_idname = "GAITSMITH_PT_gaits"
    bl_parent_id = "GAITSMITH_PT_preview"
    bl_label = "Gaits"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, gaits, playing = self.layout, common.settings(context).gaits, common.state(context).gaits_playing
        wanted = gait_stage.missing(context)
        if animal.legs(context) != 4 and not playing:
            words(layout, wanted, "INFO")
            return
        layout.operator(
            "gaitsmith.gait_preview", text="Stop (Esc)" if playing else "Play gait",
            icon="PAUSE" if playing else "PLAY", depress=playing,
        )  # fmt: skip
        column = columns(layout.column())
        column.prop(gaits, "gait")
        column.prop(gaits, "speed")
        low, high = animal.speed_range(context, gaits.gait)
        layout.prop(gaits, "share", text=f"{low:.1f} to {high:.1f} m/s", slider=True)
        told = gait_stage.too_fast(context)
        if told:
            words(layout, told, "INFO")
        layout.row(align=True).prop(gaits, "where", expand=True)
        row = layout.row(align=True)
        row.prop(gaits, "show_diagram")
        row.prop(gaits, "show_footfalls")
        if wanted and not playing:
            words(layout, wanted, "INFO")
        _bake(layout, gaits)
        _shape(layout, context)
        message(layout, context, "gaits")


def _bake(layout: Any, gaits: Any) -> None:
    """Turn what is seen into keys."""
    column = columns(layout.column())
    if gaits.where == "PLACE":
        column.prop(gaits, "length")
        if gaits.length == "SECONDS":
            column.prop(gaits, "seconds")
    layout.operator("gaitsmith.gait_bake", icon="REC")


def _shape(layout: Any, context: bpy.types.Context) -> None:
    """An animator's own cycle as the poses of the gait."""
    row = layout.row(align=True)
    row.operator("gaitsmith.gait_shape_use", icon="ACTION")
    told = gait_shape.told(context)
    if told:
        row.operator("gaitsmith.gait_shape_clear", text="", icon="X")
        words(layout, told, "INFO")


CLASSES = (GAITSMITH_PT_gaits,)
