"""Panel Character: whose armature walks, and which bones it walks with."""

from __future__ import annotations

import bpy

from ..operators import character as bone_map
from ..operators import common
from .common import Sidebar, columns, message, words


class GAITSMITH_UL_bones(bpy.types.UIList):
    """The bone map, one part of the body a row."""

    def draw_item(
        self, context, layout, _data, item, _icon, _active_data, _active_property, _index=0, _flag=0
    ) -> None:  # type: ignore[no-untyped-def]
        """Draw a part and its bone."""
        ob = common.chosen_armature(context)
        row = layout.split(factor=0.38, align=True)
        row.label(text=item.role.replace("_", " "))
        bad = item.required and not item.bone
        row.alert = bad
        if ob is not None:
            icon = "ERROR" if bad else "BONE_DATA" if item.sure else "QUESTION"
            row.prop_search(item, "bone", ob.data, "bones", text="", icon=icon)


class GAITSMITH_PT_character(Sidebar, bpy.types.Panel):
    """Choose the armature that walks."""

    bl_idname = "GAITSMITH_PT_character"
    bl_label = "Character"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        column = columns(self.layout)
        column.prop(chosen, "armature", text="")
        ob = common.chosen_armature(context)
        if ob is None:
            words(column, "No armature is chosen or selected.", "INFO")
        else:
            if chosen.armature is None:
                column.label(text=f"Selected: {ob.name}", icon="RESTRICT_SELECT_OFF")
            summary = bone_map.summary(ob)
            words(column, summary.text, "CHECKMARK" if summary.fits else "ERROR")
        row = column.row(align=True)
        row.operator("gaitsmith.character_create", icon="ADD")
        row.operator("gaitsmith.bones_map", text="Map...", icon="BONE_DATA")
        message(column, context, "character")


class GAITSMITH_PT_bones(Sidebar, bpy.types.Panel):
    """The bone map: look, correct, save, load."""

    bl_idname = "GAITSMITH_PT_bones"
    bl_parent_id = "GAITSMITH_PT_character"
    bl_label = "Bones"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Useful once the map was made."""
        return context.scene is not None and len(common.settings(context).bones) > 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the list and its buttons."""
        chosen = common.settings(context)
        layout = self.layout
        layout.template_list("GAITSMITH_UL_bones", "", chosen, "bones", chosen, "active_bone", rows=8)
        if 0 <= chosen.active_bone < len(chosen.bones) and chosen.bones[chosen.active_bone].reason:
            item = chosen.bones[chosen.active_bone]
            words(layout, f"{item.role.replace('_', ' ').capitalize()}: {item.reason}", "INFO")
        row = layout.row(align=True)
        row.operator("gaitsmith.bones_map", text="Again", icon="FILE_REFRESH")
        row.operator("gaitsmith.bones_apply", icon="CHECKMARK")
        row.operator("gaitsmith.bones_save", text="", icon="FILE_TICK")
        row.operator("gaitsmith.bones_load", text="", icon="FILE_FOLDER")
        row = layout.row(align=True)
        row.operator("gaitsmith.reference_use", icon="ARMATURE_DATA")
        ob = common.chosen_armature(context)
        if ob is not None and bone_map.has_reference(ob):
            row.operator("gaitsmith.reference_clear", text="", icon="X")
            words(layout, "A pose is the reference, in place of the rest pose.", "INFO")


CLASSES = (GAITSMITH_UL_bones, GAITSMITH_PT_character, GAITSMITH_PT_bones)
