"""Panel Terrain: what the feet stand on."""

from __future__ import annotations

import bpy

from ..operators import common
from .common import Sidebar, columns, message


class GAITSMITH_PT_terrain(Sidebar, bpy.types.Panel):
    """Choose the ground."""

    bl_idname = "GAITSMITH_PT_terrain"
    bl_label = "Terrain"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        self.layout.row(align=True).prop(chosen, "ground", expand=True)
        column = columns(self.layout)
        if chosen.ground == "OBJECT":
            column.prop(chosen, "ground_object", text="Object")
        elif chosen.ground == "COLLECTION":
            column.prop(chosen, "ground_collection", text="Collection")
        column.operator("gaitsmith.ground_from_selection", icon="RESTRICT_SELECT_OFF")
        message(column, context, "terrain")


CLASSES = (GAITSMITH_PT_terrain,)
