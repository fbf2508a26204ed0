"""Create the pack's character; show, correct, save and load the bone map."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from .. import library
from ..motion.errors import RigError
from ..motion.skeleton import BIPED_ROLES, REQUIRED_ROLES
from . import common

#: A saved map is a page of text; a larger file is none.
PRESET_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True)
class Summary:
    """What the panel says of a character.

    Attributes:
        text: how many bones are mapped, or what is wrong.
        fits: whether it can walk.
    """

    text: str
    fits: bool


_summaries: dict[tuple[str, int, str], Summary] = {}


def summary(ob: bpy.types.Object) -> Summary:
    """How well an armature fits; kept until its bones or its map change."""
    from ..scene import rigs

    key = (ob.name_full, len(ob.data.bones), str(ob.get(rigs.MAP_PROPERTY, "")))
    if key not in _summaries:
        _summaries.clear()
        _summaries[key] = _summarise(bone_map(ob))
    return _summaries[key]


def _summarise(found: Mapping[str, str]) -> Summary:
    lacking = [role.replace("_", " ") for role in REQUIRED_ROLES if not found.get(role)]
    if lacking:
        return Summary(f"Cannot walk yet: no bone for {', '.join(lacking)}. Press Map and choose them", False)
    doubled = sorted({bone for bone in found.values() if list(found.values()).count(bone) > 1})
    if doubled:
        return Summary(f"One bone plays two parts: {', '.join(doubled)}. Press Map and correct it", False)
    return Summary(f"Two legs, {len(found)} parts of the body mapped", True)


def bone_map(ob: bpy.types.Object) -> dict[str, str]:
    """Part of the body -> bone of an armature: the corrected map if there is one, else the automatic one."""
    from ..scene import rigs

    return dict(rigs.bone_map(ob))


def show_map(chosen: Any, found: Mapping[str, str]) -> None:
    """Put a map into the panel's list, every known part a row."""
    chosen.bones.clear()
    for role in [*BIPED_ROLES, *(role for role in found if role not in BIPED_ROLES)]:
        row = chosen.bones.add()
        row.role, row.bone, row.required = role, found.get(role, ""), role in REQUIRED_ROLES


def map_shown(chosen: Any) -> dict[str, str]:
    """The map as the panel's list holds it, empty rows left out."""
    return {row.role: row.bone for row in chosen.bones if row.bone}


def check_map(ob: bpy.types.Object, found: Mapping[str, str]) -> None:
    """Raise `RigError` for missing, unknown or twice-mapped bones."""
    unknown = sorted({bone for bone in found.values() if bone not in ob.data.bones})
    if unknown:
        raise RigError(f"The rig has no bones named {', '.join(unknown)}", "Choose other bones in the list")
    said = _summarise(found)
    if not said.fits:
        raise RigError(said.text.partition(". ")[0], "Choose the bones in the list, then press Use Map")


def save_preset(path: Path, found: Mapping[str, str]) -> None:
    """Write a map to a file."""
    try:
        path.write_text(json.dumps({"gaitsmith_bones": dict(found)}, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise RigError(f"The map could not be saved ({error})", "Choose another folder") from error


def load_preset(path: Path) -> dict[str, str]:
    """Read a map from a file; raises `RigError` for anything else."""
    try:
        if path.stat().st_size > PRESET_LIMIT_BYTES:
            raise ValueError("the file is too large")
        data = json.loads(path.read_text(encoding="utf-8"))["gaitsmith_bones"]
        return {str(role): str(bone) for role, bone in data.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RigError(f"This file holds no bone map ({error})", "Choose one that was saved with this panel") from error


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
        pack = library.find(common.settings(context).pack_id) if context.scene is not None else None
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
            found = rigs.guess_bones(ob) if len(chosen.bones) else bone_map(ob)
            show_map(chosen, found)
            common.tell(context, summary(ob).text, "character")
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
            check_map(ob, found)
            rigs.keep_map(ob, found)
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
        self.filepath = bpy.path.ensure_ext(bpy.path.clean_name(ob.name), ".json")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write it."""
        with common.telling_errors(self, context, "character") as failed:
            path = Path(bpy.path.abspath(bpy.path.ensure_ext(self.filepath, ".json")))
            save_preset(path, map_shown(common.settings(context)))
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
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read it into the list."""
        with common.telling_errors(self, context, "character") as failed:
            show_map(common.settings(context), load_preset(Path(bpy.path.abspath(self.filepath))))
            common.tell(context, "Loaded. Press Use Map to use it", "character")
        return {"CANCELLED"} if failed else {"FINISHED"}


CLASSES = (
    GAITSMITH_OT_character_create,
    GAITSMITH_OT_bones_map,
    GAITSMITH_OT_bones_apply,
    GAITSMITH_OT_bones_save,
    GAITSMITH_OT_bones_load,
)
