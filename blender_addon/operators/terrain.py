"""Take the selected objects as the ground."""

from __future__ import annotations

import bpy

from . import common

COLLECTION_NAME = "Ground"


def selected_grounds(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Selected meshes that are not worn by an armature."""
    return [
        ob for ob in context.view_layer.objects.selected
        if ob.type == "MESH" and not any(m.type == "ARMATURE" for m in ob.modifiers) and ob.find_armature() is None
    ]  # fmt: skip


class GAITSMITH_OT_ground_from_selection(bpy.types.Operator):
    """Let the feet stand on the selected meshes. Several are also put in a collection of their own, named Ground"""

    bl_idname = "gaitsmith.ground_from_selection"
    bl_label = "Stand on Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a selected mesh."""
        if context.view_layer is not None and selected_grounds(context):
            return True
        cls.poll_message_set("Select the meshes that form the ground")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Choose the object, or gather several in a collection."""
        chosen = common.settings(context)
        grounds = selected_grounds(context)
        if len(grounds) == 1:
            chosen.ground, chosen.ground_object = "OBJECT", grounds[0]
            return {"FINISHED"}
        collection = bpy.data.collections.new(COLLECTION_NAME)
        context.scene.collection.children.link(collection)
        for ob in grounds:
            collection.objects.link(ob)
        chosen.ground, chosen.ground_collection = "COLLECTION", collection
        return {"FINISHED"}


CLASSES = (GAITSMITH_OT_ground_from_selection,)
