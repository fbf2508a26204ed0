"""Panel Packs: what is installed, import, remove, credits and licences."""

from __future__ import annotations

import bpy

from .. import library
from .common import Sidebar, message, words


class GAITSMITH_PT_packs(Sidebar, bpy.types.Panel):
    """The installed packs."""

    bl_idname = "GAITSMITH_PT_packs"
    bl_label = "Packs"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw one box a pack."""
        layout = self.layout
        packs = library.installed()
        if not packs:
            words(layout, "No pack is installed. Import one, or train one from your own actions.", "INFO")
        for pack in packs:
            box = layout.box()
            row = box.row(align=True)
            row.label(text=pack.label, icon="ERROR" if pack.problem else "ASSET_MANAGER")
            row.operator("gaitsmith.pack_credits", text="", icon="INFO").pack = pack.id
            if not pack.shipped:
                row.operator("gaitsmith.pack_remove", text="", icon="TRASH").pack = pack.id
            if pack.problem or pack.summary:
                words(box, pack.problem or pack.summary)
        layout.operator("gaitsmith.pack_import", icon="IMPORT")
        message(layout, context, "packs")


CLASSES = (GAITSMITH_PT_packs,)
