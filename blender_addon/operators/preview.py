"""Switch the preview on and off, and dismiss messages."""

from __future__ import annotations

import bpy

from . import common, preview_state


class GAITSMITH_OT_preview(bpy.types.Operator):
    """Show the motion in the viewport without writing keys. It follows the timeline and every change of the path"""

    bl_idname = "gaitsmith.preview"
    bl_label = "Preview"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs path and character, unless it is on."""
        if context.scene is None:
            return False
        wanted = "" if common.state(context).preview else common.missing(context)
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Toggle it."""
        if common.state(context).preview:
            preview_state.stop(context)
        else:
            with common.telling_errors(self, context, "preview") as failed:
                common.adopt_selection(context)
                preview_state.start(context)
            if failed:
                return {"CANCELLED"}
        common.redraw(context, "VIEW_3D")
        return {"FINISHED"}


class GAITSMITH_OT_dismiss(bpy.types.Operator):
    """Put this message away"""

    bl_idname = "gaitsmith.dismiss"
    bl_label = "Dismiss Message"
    bl_description = "Put this message away"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear it."""
        common.state(context).message = ""
        return {"FINISHED"}


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """Leave nothing running."""
    preview_state.clear()


CLASSES = (GAITSMITH_OT_preview, GAITSMITH_OT_dismiss)
