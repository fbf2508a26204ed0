"""Bake: read the scene, compute in a thread, write the keys in one go. Esc cancels and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from .. import choices
from ..motion.errors import GaitsmithError
from . import common, preview_state, request
from .watched import Watched
from .worker import Worker

VERDICTS = {"good": "GOOD", "look": "LOOK", "bad": "BAD"}


class BakeRun:
    """A bake from reading to writing, apart from any operator: `begin`, then `look` until it says True.

    Attributes:
        message: what to tell the user at the end.
        failed: it did not come to an end; nothing was written.
        cancelled: because the user did not want it any more.
    """

    def __init__(self) -> None:
        self.message = ""
        self.failed = self.cancelled = False
        self._request: Any = None
        self._worker: Worker[Any] | None = None

    def begin(self, context: bpy.types.Context) -> None:
        """Read the scene and start to compute; raises `GaitsmithError` when something is missing or broken."""
        wanted = common.missing(context)
        if wanted:
            raise GaitsmithError(wanted)
        common.adopt_selection(context)
        self._request = request.read(context)
        self._worker = Worker(lambda progress: request.solve(self._request, progress))
        now = common.state(context)
        now.baking, now.bake_cancel, now.bake_fraction, now.bake_stage = True, False, 0.0, "Planning"
        if now.message_where == "bake":
            now.message = ""

    def look(self, context: bpy.types.Context) -> bool:
        """Show how far it is; once computed, write. True when it is over."""
        worker, now = self._worker, common.state(context)
        assert worker is not None
        if now.bake_cancel:
            worker.cancel()
        if worker.running:
            now.bake_fraction, now.bake_stage = worker.fraction, worker.stage
            return False
        try:
            self._finish(context, worker)
        except GaitsmithError as error:
            self.failed, self.message = True, str(error)
        finally:
            now.baking = now.bake_cancel = False
        return True

    def cancel(self) -> None:
        """Ask it to stop; `look` says when it has."""
        if self._worker is not None:
            self._worker.cancel()

    def wait(self, context: bpy.types.Context) -> None:
        """Run to the end without a window."""
        assert self._worker is not None
        self._worker.wait()
        self.look(context)

    def _finish(self, context: bpy.types.Context, worker: Worker[Any]) -> None:
        if worker.cancelled:
            self.failed = self.cancelled = True
            self.message = "Cancelled. Nothing was changed"
            return
        if worker.error:
            print(worker.detail)  # noqa: T201 - Blender's console is where users look
            raise GaitsmithError(worker.error)
        self._write(context, worker.result)

    def _write(self, context: bpy.types.Context, result: Any) -> None:
        done = request.write(context, self._request, result)
        self.message = done.message
        fill_report(common.settings(context), done)


def fill_report(chosen: Any, done: request.Done) -> None:
    """Put the figures of a bake into the scene, for the panel Quality."""
    chosen.report.clear()
    chosen.report_title, chosen.report_words = done.title, "\n".join(done.words)
    for figure in done.figures:
        row = chosen.report.add()
        row.label, row.full, row.text, row.wanted = figure.label, figure.full, figure.text, figure.wanted
        row.verdict = VERDICTS.get(figure.mark, "NONE")
        row.frame = choices.NO_FRAME if figure.frame is None else figure.frame


class GAITSMITH_OT_bake(Watched, bpy.types.Operator):
    """Write the motion along the path as keyframes on the character. Esc cancels; one undo takes it all back"""

    bl_idname = "gaitsmith.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}
    run_class, where, busy, wish_to_cancel = BakeRun, "bake", "baking", "bake_cancel"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs path and character, and no other bake."""
        if context.scene is None:
            return False
        wanted = "A bake is running" if common.state(context).baking else common.missing(context)
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted


class GAITSMITH_OT_bake_cancel(bpy.types.Operator):
    """Stop baking. Nothing of it stays"""

    bl_idname = "gaitsmith.bake_cancel"
    bl_label = "Cancel Bake"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it to stop."""
        common.state(context).bake_cancel = True
        return {"FINISHED"}


class _OnCharacter:
    """Needs a character with an action."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """See above."""
        ob = common.chosen_armature(context) if context.scene is not None else None
        if ob is None:
            cls.poll_message_set("Choose or select an armature")
            return False
        if ob.animation_data is None or ob.animation_data.action is None:
            cls.poll_message_set("The character has no action: bake first")
            return False
        return True


class GAITSMITH_OT_bake_clear(_OnCharacter, bpy.types.Operator):
    """Take the baked action off the character and put it back into its rest pose"""

    bl_idname = "gaitsmith.bake_clear"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear it."""
        with common.telling_errors(self, context, "bake") as failed:
            message = request.clear(common.chosen_armature(context))
            common.settings(context).report.clear()
            common.tell(context, message, "bake")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_unbake(bpy.types.Operator):
    """Take the latest bake back: action, strips, switches, pose and frame range become what they were before it"""

    bl_idname = "gaitsmith.unbake"
    bl_label = "Un-bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a character with a bake on top."""
        ob = common.chosen_armature(context) if context.scene is not None else None
        if ob is None or not request.can_unbake(ob):
            cls.poll_message_set("There is no bake to take back")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Take it back."""
        with common.telling_errors(self, context, "bake") as failed:
            message = request.unbake(common.chosen_armature(context))
            common.settings(context).report.clear()
            common.tell(context, message, "bake")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_push_nla(_OnCharacter, bpy.types.Operator):
    """Lay the character's action down as a strip in the NLA editor, so that the next bake can go on top of it"""

    bl_idname = "gaitsmith.push_nla"
    bl_label = "To NLA"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Push it down."""
        with common.telling_errors(self, context, "bake") as failed:
            message = request.push_to_nla(common.chosen_armature(context))
            common.tell(context, message, "bake")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_figure_jump(bpy.types.Operator):
    """Go to the frame where this figure is worst"""

    bl_idname = "gaitsmith.figure_jump"
    bl_label = "Jump to Worst Frame"

    index: IntProperty(options={"HIDDEN", "SKIP_SAVE"}, description="Which figure")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """The figure in full."""
        report = common.settings(context).report
        if not 0 <= properties.index < len(report):
            return str(cls.__doc__)
        figure = report[properties.index]
        wanted = f" (wanted: {figure.wanted})" if figure.wanted else ""
        where = "" if figure.frame == choices.NO_FRAME else f". Click to go to the worst frame, {figure.frame}"
        return f"{figure.full}: {figure.text}{wanted}{where}"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Jump."""
        report = common.settings(context).report
        if not 0 <= self.index < len(report) or report[self.index].frame == choices.NO_FRAME:
            self.report({"INFO"}, "This figure belongs to no frame")
            return {"CANCELLED"}
        context.scene.frame_set(report[self.index].frame)
        return {"FINISHED"}


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """Leave nothing running, and nothing that says so: Blender drops a running operator without a word."""
    preview_state.clear()
    now = getattr(bpy.context.window_manager, "gaitsmith", None)
    if now is not None:
        now.baking = now.bake_cancel = False


CLASSES = (
    GAITSMITH_OT_bake,
    GAITSMITH_OT_bake_cancel,
    GAITSMITH_OT_bake_clear,
    GAITSMITH_OT_unbake,
    GAITSMITH_OT_push_nla,
    GAITSMITH_OT_figure_jump,
)
