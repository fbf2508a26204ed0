"""Use an animator's own cycle as the shape of an animal's gaits, and take it away again."""

from __future__ import annotations

import bpy

from . import animal, common, gait_state


def told(context: bpy.types.Context) -> str:
    """What the panel says of the character's own cycle; empty without one."""
    from ..scene import gait_shape

    ob = common.chosen_armature(context)
    name = gait_shape.name_of(ob) if ob is not None else ""
    return f'Moves in the manner of "{name}"' if name else ""


class GAITSMITH_OT_gait_shape_use(bpy.types.Operator):
    """Move in the manner of the character's action, a keyed cycle of a gait: its poses, at any speed, on any way"""

    bl_idname = "gaitsmith.gait_shape_use"
    bl_label = "Use Action as Shape"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs an animal with an action."""
        if context.scene is None:
            return False
        ob, wanted = common.chosen_armature(context), ""
        if ob is None or animal.legs(context) != 4:
            wanted = "Choose an animal under Character: its action is used"
        elif ob.animation_data is None or ob.animation_data.action is None:
            wanted = "The animal has no action: give it one cycle of a gait"
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Look at it, and keep it."""
        from ..scene import gait_shape

        ob = common.chosen_armature(context)
        with common.telling_errors(self, context, "gaits") as failed:
            common.object_mode(context)
            clip, cycle = gait_shape.read_cycle(ob)
            gait_shape.keep(ob, clip)
            gait_state.scene_changed()
            stride = f"one stride of a {cycle.gait.label.replace('_', ' ')} in {cycle.seconds:.2f} s"
            common.tell(context, "\n".join([f"{clip.name}: {stride}. Gaits take its poses now", *cycle.notes]), "gaits")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_gait_shape_clear(bpy.types.Operator):
    """Move in the gait model's own manner again"""

    bl_idname = "gaitsmith.gait_shape_clear"
    bl_label = "Own Shape Away"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a kept cycle."""
        if context.scene is not None and told(context):
            return True
        cls.poll_message_set("The character moves in the gait model's own manner")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget it."""
        from ..scene import gait_shape

        gait_shape.clear(common.chosen_armature(context))
        gait_state.scene_changed()
        common.tell(context, "The gait model's own poses are used again", "gaits")
        return {"FINISHED"}


CLASSES = (GAITSMITH_OT_gait_shape_use, GAITSMITH_OT_gait_shape_clear)
