"""Create the pack's character; show, correct, save and load the bone map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from .. import library
from ..motion.errors import RigError
from ..scene.bone_map import BoneMap, preset_for
from . import common

#: Guesses below this confidence (0..1) are pointed out.
SURE = 0.7


@dataclass(frozen=True)
class Summary:
    """What the panel says of a character.

    Attributes:
        text: how many bones are mapped, or what is wrong.
        fits: whether it can walk.
        legs: 2 or 4; 0 when it is not known.
    """

    text: str
    fits: bool
    legs: int = 0


_summaries: dict[tuple[str, int, str], Summary] = {}


def summary(ob: bpy.types.Object) -> Summary:
    """How well an armature fits; kept until its bones or its map change."""
    from ..scene import rigs

    key = (ob.name_full, len(ob.data.bones), str(ob.get(rigs.MAP_PROPERTY, "")))
    if key not in _summaries:
        _summaries.clear()
        _summaries[key] = _summarise(ob, bone_map(ob))
    return _summaries[key]


def _summarise(ob: bpy.types.Object, found: BoneMap) -> Summary:
    try:
        found.check(bone.name for bone in ob.data.bones)
    except RigError as error:
        return Summary(str(error), False)
    unsure = [role.replace("_", " ") for role, sure in found.confidence.items() if sure < SURE]
    legs = 4 if found.kind == "quadruped" else 2
    text = f"{'Four' if legs == 4 else 'Two'} legs, {len(found.bones)} parts of the body mapped"
    return Summary(f"{text}. Look at: {', '.join(unsure)}" if unsure else text, True, legs)


def bone_map(ob: bpy.types.Object) -> BoneMap:
    """Part of the body -> bone of an armature: the corrected map if there is one, else the automatic one."""
    from ..scene import rigs

    return rigs.kept_map(ob) or rigs.guess_map(ob)


def has_reference(ob: bpy.types.Object) -> bool:
    """Whether a pose is kept in place of the rest pose."""
    from ..scene import rest_pose

    return rest_pose.REFERENCE_PROPERTY in ob


def presets() -> Path:
    """The folder of saved maps."""
    from .. import preferences

    return preferences.user_folder() / "bone maps"


def show_map(chosen: Any, found: BoneMap) -> None:
    """Put a map into the panel's list, every known part a row."""
    chosen.bones.clear()
    for role in found.roles:
        row = chosen.bones.add()
        row.role, row.bone, row.required = role, found.bones.get(role, ""), role in found.required
        row.reason, row.sure = found.reasons.get(role, ""), found.confidence.get(role, 1.0) >= SURE


def map_shown(chosen: Any) -> BoneMap:
    """The map as the panel's list holds it, empty rows left out."""
    return BoneMap.chosen({row.role: row.bone for row in chosen.bones if row.bone})


class _NeedsArmature:
    """Needs an armature."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """See above."""
        if context.scene is not None and common.chosen_armature(context) is not None:
            return True
        cls.poll_message_set("Choose or select an armature")
        return False


class GAITSMITH_OT_character_create(bpy.types.Operator):
    """Add the chosen pack's own character, with a simple body, ready to walk"""

    bl_idname = "gaitsmith.character_create"
    bl_label = "Create"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a usable pack."""
        from . import animal

        pack = library.find(animal.pack_id(context)) if context.scene is not None else None
        if pack is None or pack.problem:
            cls.poll_message_set("Choose an installed pack under Motion first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Create it and choose it."""
        from . import request

        with common.telling_errors(self, context, "character") as failed:
            common.object_mode(context)
            common.settings(context).armature = request.create_character(context)
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_bones_map(_NeedsArmature, bpy.types.Operator):
    """Find out by itself which bone is which part of the body, and list it below for you to look at and correct"""

    bl_idname = "gaitsmith.bones_map"
    bl_label = "Map Bones"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Map them anew."""
        from ..scene import rigs

        ob = common.chosen_armature(context)
        with common.telling_errors(self, context, "character") as failed:
            chosen = common.settings(context)
            saved = None
            if not len(chosen.bones) and rigs.kept_map(ob) is None:
                saved = preset_for(presets(), [bone.name for bone in ob.data.bones])
            show_map(chosen, saved or (rigs.guess_map(ob) if len(chosen.bones) else bone_map(ob)))
            if saved is not None:
                common.tell(context, f"Saved for such a rig: {saved.family}. Press Use Map to use it", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_bones_apply(_NeedsArmature, bpy.types.Operator):
    """Use the map as it stands in the list for this character. It is saved with the armature"""

    bl_idname = "gaitsmith.bones_apply"
    bl_label = "Use Map"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Check it and keep it."""
        from ..scene import rigs

        ob = common.chosen_armature(context)
        with common.telling_errors(self, context, "character") as failed:
            found = map_shown(common.settings(context))
            found.check(bone.name for bone in ob.data.bones)
            rigs.keep_map(ob, found.bones)
            common.tell(context, f"The map is in use: {summary(ob).text.lower()}", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_bones_save(_NeedsArmature, bpy.types.Operator):
    """Save the map in the list to a file, for other characters with the same bones"""

    bl_idname = "gaitsmith.bones_save"
    bl_label = "Save Map"

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"}, description="The file to write")
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the file."""
        ob = common.chosen_armature(context)
        presets().mkdir(parents=True, exist_ok=True)
        self.filepath = str(presets() / bpy.path.ensure_ext(bpy.path.clean_name(ob.name), ".json"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write it."""
        with common.telling_errors(self, context, "character") as failed:
            path = Path(bpy.path.abspath(bpy.path.ensure_ext(self.filepath, ".json")))
            bones = common.chosen_armature(context).data.bones
            map_shown(common.settings(context)).save(path, [bone.name for bone in bones])
            common.tell(context, f"Saved {path.name}", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_bones_load(_NeedsArmature, bpy.types.Operator):
    """Load a map from a file into the list. Press Use Map to use it"""

    bl_idname = "gaitsmith.bones_load"
    bl_label = "Load Map"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"}, description="The file to read")
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the file."""
        self.filepath = str(presets() / "")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read it into the list."""
        with common.telling_errors(self, context, "character") as failed:
            show_map(common.settings(context), BoneMap.load(Path(bpy.path.abspath(self.filepath))))
            common.tell(context, "Loaded. Press Use Map to use it", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_reference_use(_NeedsArmature, bpy.types.Operator):
    """Align by the pose the character shows now instead of its rest pose. Pose it upright, feet flat, and press this"""

    bl_idname = "gaitsmith.reference_use"
    bl_label = "Use Pose as Reference"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Keep the pose with the armature."""
        from ..scene import rest_pose, rigs

        ob = common.chosen_armature(context)
        with common.telling_errors(self, context, "character") as failed:
            before = ob.get(rest_pose.REFERENCE_PROPERTY)
            rest_pose.keep_reference(ob)
            try:
                rigs.read_rig(ob)
            except RigError:
                rest_pose.clear_reference(ob)
                if before is not None:
                    ob[rest_pose.REFERENCE_PROPERTY] = before
                raise
            common.tell(context, "This pose is the reference now, in place of the rest pose", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_reference_clear(_NeedsArmature, bpy.types.Operator):
    """Align by the character's rest pose again"""

    bl_idname = "gaitsmith.reference_clear"
    bl_label = "Use Rest Pose"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget the kept pose."""
        from ..scene import rest_pose

        rest_pose.clear_reference(common.chosen_armature(context))
        common.tell(context, "The rest pose is the reference again", "character")
        return {"FINISHED"}


CLASSES = (
    GAITSMITH_OT_reference_use,
    GAITSMITH_OT_reference_clear,
    GAITSMITH_OT_character_create,
    GAITSMITH_OT_bones_map,
    GAITSMITH_OT_bones_apply,
    GAITSMITH_OT_bones_save,
    GAITSMITH_OT_bones_load,
)
