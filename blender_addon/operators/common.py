"""What all operators share: who walks where, what is missing, how errors reach the panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..motion.errors import GaitsmithError


def settings(context: bpy.types.Context) -> Any:
    """The scene's settings."""
    return context.scene.gaitsmith


def state(context: bpy.types.Context) -> Any:
    """What is going on now."""
    return context.window_manager.gaitsmith


def chosen_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature of the panel; if none is chosen there, the active or a selected one."""
    return settings(context).armature or _selected(context, "ARMATURE")


def chosen_curve(context: bpy.types.Context) -> bpy.types.Object | None:
    """The curve of the panel; if none is chosen there, the active or a selected one."""
    return settings(context).curve or _selected(context, "CURVE")


def _selected(context: bpy.types.Context, kind: str) -> bpy.types.Object | None:
    active = context.view_layer.objects.active if context.view_layer else None
    if active is not None and active.type == kind:
        return active
    return next((ob for ob in context.view_layer.objects.selected if ob.type == kind), None)


def missing(context: bpy.types.Context) -> str:
    """What a bake still needs, in words; empty when it can begin."""
    if context.scene is None or context.view_layer is None:
        return "Open a scene first"
    wanted = []
    if chosen_curve(context) is None:
        wanted.append("a path: draw one, or select a curve")
    if chosen_armature(context) is None:
        wanted.append("a character: create one, or select an armature")
    if wanted:
        return "Still needed: " + "; and ".join(wanted)
    chosen = settings(context)
    if chosen.facing == "OBJECT" and chosen.facing_object is None:
        return "Choose the object that the body shall face"
    if chosen.ground == "OBJECT" and chosen.ground_object is None:
        return "Choose the object to stand on, or a flat ground"
    if chosen.ground == "COLLECTION" and chosen.ground_collection is None:
        return "Choose the collection to stand on, or a flat ground"
    return ""


def adopt_selection(context: bpy.types.Context) -> None:
    """Write what was picked by selection into the panel, so that it stays when the selection changes."""
    chosen = settings(context)
    if chosen.armature is None:
        chosen.armature = chosen_armature(context)
    if chosen.curve is None:
        chosen.curve = chosen_curve(context)


def tell(context: bpy.types.Context, message: str, where: str = "bake", error: bool = False) -> None:
    """Show a line in the panel named ``where``."""
    now = state(context)
    now.message, now.message_where, now.message_is_error = message, where, error
    redraw(context, "VIEW_3D")


@contextmanager
def telling_errors(operator: bpy.types.Operator, context: bpy.types.Context, where: str) -> Iterator[list[str]]:
    """Report a `GaitsmithError` in the status bar and in the panel instead of letting it through.

    Yields a list that holds the message afterwards, if there was an error.
    """
    said: list[str] = []
    try:
        yield said
    except GaitsmithError as error:
        said.append(str(error))
        operator.report({"ERROR"}, str(error))
        tell(context, str(error), where, error=True)


def redraw(context: bpy.types.Context, *kinds: str) -> None:
    """Have all areas of these kinds drawn again."""
    manager = context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type in kinds:
                area.tag_redraw()


def object_mode(context: bpy.types.Context) -> None:
    """Leave edit, pose or any other mode, so that data is up to date and can be written."""
    ob = context.view_layer.objects.active
    if ob is not None and ob.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
        bpy.ops.object.mode_set(mode="OBJECT")


def later(function: Callable[[], float | None], seconds: float, outlive_file: bool = False) -> None:
    """Call soon, from Blender's own loop; never twice at a time for one function.

    Args:
        function: returns the seconds to its next call, or None.
        seconds: to its first.
        outlive_file: go on when another file is opened.
    """
    if not bpy.app.timers.is_registered(function):
        bpy.app.timers.register(function, first_interval=seconds, persistent=outlive_file)


def never(function: Callable[[], float | None]) -> None:
    """Take back `later`."""
    if bpy.app.timers.is_registered(function):
        bpy.app.timers.unregister(function)
