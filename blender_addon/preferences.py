"""The add-on's preferences: the Python that trains, the folder for user packs, defaults."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
from bpy.props import StringProperty

from . import ADDON_ID

#: What holds while Blender has not enabled the add-on by its preferences (background scripts, tests).
DEFAULTS = {"python_path": "", "user_folder": ""}


class GAITSMITH_preferences(bpy.types.AddonPreferences):
    """Settings that belong to the machine, not to a scene."""

    bl_idname = ADDON_ID

    python_path: StringProperty(
        name="Python with torch", subtype="FILE_PATH", default=DEFAULTS["python_path"],
        description="The Python program that trains packs. Baking needs none",
    )
    user_folder: StringProperty(
        name="Folder", subtype="DIR_PATH", default=DEFAULTS["user_folder"],
        description="Where imported and trained packs, data sets and checkpoints are kept. "
        "Left empty, Blender's own folder for this add-on",
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.use_property_split = True
        column = layout.column()
        row = column.row(align=True)
        row.prop(self, "python_path")
        row.operator("gaitsmith.check_python", text="Check", icon="CHECKMARK")
        state = context.window_manager.gaitsmith
        if state.check_text:
            for line in state.check_text.splitlines():
                column.label(text=line)
        row = column.row()
        row.operator("gaitsmith.create_python", icon="IMPORT")
        if not online_access():
            column.label(text="First allow online access: Preferences, System, Network", icon="INTERNET_OFFLINE")
        column.separator()
        column.prop(self, "user_folder")
        column.label(text=f"In use: {user_folder()}")


def get() -> Any:
    """The preferences, or their defaults where the add-on is registered but not enabled."""
    addon = bpy.context.preferences.addons.get(ADDON_ID)
    found = addon.preferences if addon is not None else None
    return found if found is not None else SimpleNamespace(**DEFAULTS)


def python_path() -> str:
    """The Python that trains, as an absolute path; empty if none is chosen."""
    chosen = get().python_path.strip()
    return bpy.path.abspath(chosen) if chosen else ""


def user_folder() -> Path:
    """The folder for packs, data sets and checkpoints; need not exist yet."""
    chosen = get().user_folder.strip()
    if chosen:
        return Path(bpy.path.abspath(chosen))
    if ADDON_ID.startswith("bl_ext"):
        return Path(bpy.utils.extension_path_user(ADDON_ID))
    return Path(bpy.utils.user_resource("DATAFILES")) / ADDON_ID


def online_access() -> bool:
    """Whether the user allows Blender to go online."""
    return bool(getattr(bpy.app, "online_access", False))


CLASSES = (GAITSMITH_preferences,)
