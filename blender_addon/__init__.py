"""Gaitsmith: locomotion along a drawn root curve. This module only lets Blender in; it imports no bpy itself."""

from __future__ import annotations

#: What Blender calls this add-on: ``bl_ext.<repository>.gaitsmith`` as an extension, else the package's name.
ADDON_ID = ".".join(__package__.split(".")[:3]) if __package__.startswith("bl_ext") else __package__.partition(".")[0]


def register() -> None:
    """Called by Blender when the add-on is enabled."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Called by Blender when the add-on is disabled."""
    from . import registration

    registration.unregister()
