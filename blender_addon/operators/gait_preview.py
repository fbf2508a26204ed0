"""Play and stop the gait preview: an animal that goes in the viewport while its speed and gait are changed."""

from __future__ import annotations

import time

import bpy

from . import common, gait_stage, gait_state

#: How often Blender is asked for the next moment, seconds.
TICK_SECONDS = 1.0 / 60.0


class GAITSMITH_OT_gait_preview(bpy.types.Operator):
    """Let the animal go in the viewport. Change gait and speed while it plays. Esc, or the button again, stops it"""

    bl_idname = "gaitsmith.gait_preview"
    bl_label = "Play Gait"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs an animal, unless it plays."""
        if context.scene is None:
            return False
        wanted = "" if common.state(context).gaits_playing else gait_stage.missing(context)
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start or stop it; without a window it stands at its beginning."""
        if common.state(context).gaits_playing:
            gait_state.end(context)
            common.redraw(context, "VIEW_3D")
            return {"FINISHED"}
        with common.telling_errors(self, context, "gaits") as failed:
            common.object_mode(context)
            gait_state.begin(context)
            gait_state.tick(context, 0.0)
        return {"CANCELLED"} if failed else {"FINISHED"}

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Start, and go on with every tick of a timer."""
        playing = common.state(context).gaits_playing
        done = self.execute(context)
        if playing or done != {"FINISHED"} or bpy.app.background or context.window is None:
            return done
        if common.state(context).message_where == "gaits":
            common.state(context).message = ""
        manager = context.window_manager
        self._then = time.perf_counter()
        self._timer = manager.event_timer_add(TICK_SECONDS, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """The next moment; everything but Esc goes through to Blender."""
        if event.type == "ESC" and event.value == "PRESS":
            return self._stop(context)
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        now = time.perf_counter()
        seconds, self._then = now - self._then, now
        if not gait_state.tick(context, seconds):
            return self._stop(context)
        common.redraw(context, "VIEW_3D")
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator (a file is opened, the window closes)."""
        context.window_manager.event_timer_remove(self._timer)
        gait_state.end(context)

    def _stop(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        gait_state.end(context)
        common.redraw(context, "VIEW_3D")
        return {"FINISHED"}


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """Leave nothing running."""
    gait_state.end(bpy.context)


CLASSES = (GAITSMITH_OT_gait_preview,)
