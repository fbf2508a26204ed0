"""Retarget: another armature's actions onto the character; read bit by bit, solved in a thread, written in one go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from .. import retargeting
from ..motion.errors import GaitsmithError
from . import bake, common, request
from .watched import Watched
from .worker import Worker

#: Reading's share of the progress.
READING = 0.4


def missing(context: bpy.types.Context) -> str:
    """What retargeting still needs, in words; empty when it can begin."""
    if context.scene is None or context.view_layer is None:
        return "Open a scene first"
    chosen, target = common.settings(context), common.chosen_armature(context)
    source = chosen.retarget_source
    if source is None:
        return "Still needed: a source, the armature whose action you want"
    if target is None:
        return "Still needed: a character, chosen under Character"
    if source == target:
        return "Source and character are the same armature: choose another source, or another character"
    if not chosen.retarget_all and chosen.retarget_action is None:
        data = source.animation_data
        if data is None or data.action is None:
            return f"{source.name} has no action: choose one"
    if chosen.retarget_plant and chosen.ground == "OBJECT" and chosen.ground_object is None:
        return "Choose the object to stand on, or a flat ground"
    if chosen.retarget_plant and chosen.ground == "COLLECTION" and chosen.ground_collection is None:
        return "Choose the collection to stand on, or a flat ground"
    return ""


class RetargetRun:
    """Retargeting from reading to writing, apart from any operator: `begin`, then `look` until it says True.

    Attributes:
        message: what to tell the user at the end.
        failed: it did not come to an end; nothing was written.
        cancelled: because the user did not want it any more.
    """

    def __init__(self) -> None:
        self.message = ""
        self.failed = self.cancelled = False
        self._target = ""
        self._reading: Iterator[tuple[float, str]] | None = None
        self._found: Any = None
        self._worker: Worker[Any] | None = None

    def begin(self, context: bpy.types.Context) -> None:
        """Check what was chosen; raises `GaitsmithError` when something is missing."""
        wanted = missing(context)
        if wanted:
            raise GaitsmithError(wanted)
        chosen, target = common.settings(context), common.chosen_armature(context)
        source = chosen.retarget_source
        self._target = target.name
        self._reading = retargeting.reading(
            source, target, _actions(chosen), request.ground_of(chosen), _settings(chosen, target),
            deform=chosen.rig_bones == "DEFORM",
        )  # fmt: skip
        now = common.state(context)
        now.retargeting, now.retarget_cancel, now.retarget_fraction, now.retarget_stage = True, False, 0.0, "Reading"

    def look(self, context: bpy.types.Context) -> bool:
        """Read a little more, or show how far the computing is; once computed, write. True when it is over."""
        now = common.state(context)
        over = True
        try:
            over = self._look(context, now)
        except GaitsmithError as error:
            self.failed, self.message = True, str(error)
        finally:
            if over:
                now.retargeting = now.retarget_cancel = False
        return over

    def cancel(self) -> None:
        """Ask it to stop, at once where nothing is computing."""
        if self._reading is not None:
            self._reading.close()  # type: ignore[attr-defined]
        if self._worker is not None:
            self._worker.cancel()

    def wait(self, context: bpy.types.Context) -> None:
        """Run to the end without a window."""
        while not self.look(context):
            if self._worker is not None:
                self._worker.wait()

    def _look(self, context: bpy.types.Context, now: Any) -> bool:
        if self._worker is None:
            return self._read(now)
        if now.retarget_cancel:
            self._worker.cancel()
        if self._worker.running:
            now.retarget_fraction = READING + (1.0 - READING) * self._worker.fraction
            now.retarget_stage = self._worker.stage
            return False
        if self._worker.cancelled:
            return self._stopped()
        if self._worker.error:
            print(self._worker.detail)  # noqa: T201 - Blender's console is where users look
            raise GaitsmithError(self._worker.error)
        self._write(context, self._worker.result)
        return True

    def _read(self, now: Any) -> bool:
        assert self._reading is not None
        if now.retarget_cancel:
            self._reading.close()  # type: ignore[attr-defined]
            return self._stopped()
        try:
            share, stage = next(self._reading)
        except StopIteration as stop:
            self._found = stop.value
            self._worker = Worker(lambda progress: retargeting.solve(self._found, progress))
            return False
        now.retarget_fraction, now.retarget_stage = READING * share, stage
        return False

    def _stopped(self) -> bool:
        self.failed = self.cancelled = True
        self.message = "Cancelled. Nothing was changed"
        return True

    def _write(self, context: bpy.types.Context, solved: Any) -> None:
        target = bpy.data.objects.get(self._target)
        if target is None:
            raise GaitsmithError(
                f"The armature {self._target!r} was removed or renamed meanwhile", "Choose it, then retarget again"
            )
        done = retargeting.write(self._found, solved, target)
        first = done[0]
        names = ", ".join(repr(one.written.action) for one in done)
        frames = f"frames {first.written.frame_start} to {first.written.frame_end}, " if len(done) == 1 else ""
        notes = dict.fromkeys(note for one in done for note in (*one.report.notes, *self._found.rig.notes))
        self.message = "\n".join([f"{target.name}: {frames}{names}", *notes])
        rows = request.report_rows(first.report, first.written.frame_start, self._found.fps)
        bake.fill_report(common.settings(context), request.Done(self.message, first.report.title, rows))


def _actions(chosen: Any) -> list[bpy.types.Action]:
    from ..scene import sources

    if chosen.retarget_all:
        found = sources.fitting_actions(chosen.retarget_source)
        if not found:
            raise GaitsmithError(
                f"No action in the file moves {chosen.retarget_source.name!r}", "Choose another source, or one action"
            )
        return found
    return [chosen.retarget_action] if chosen.retarget_action is not None else []


def _settings(chosen: Any, target: bpy.types.Object) -> retargeting.RetargetSettings:
    return retargeting.RetargetSettings(
        plant=chosen.retarget_plant, at_source=chosen.retarget_at_source,
        level="tilt" if chosen.retarget_plant else "height", source_fps=chosen.retarget_fps or None,
        root_motion=request.ROOT_MOTIONS[chosen.root_motion], output=_output(chosen), markers=chosen.markers,
        lifts=chosen.lifts, fit_scene=chosen.fit_scene, controls=request.controls_of(chosen, target),
        tolerance=request.tolerance_of(chosen),
    )  # fmt: skip


def _output(chosen: Any) -> str:
    """Where one action goes; layers are for motion along a path."""
    return {"REPLACE": "replace", "NLA": "nla"}.get(chosen.output, "new")


class GAITSMITH_OT_retarget(Watched, bpy.types.Operator):
    """Carry the source's action over to the character, its feet planted again. Esc cancels; one undo takes it back"""

    bl_idname = "gaitsmith.retarget"
    bl_label = "Retarget"
    bl_options = {"REGISTER", "UNDO"}
    run_class, where, busy, wish_to_cancel = RetargetRun, "retarget", "retargeting", "retarget_cancel"
    # Reading a source plays the scene: a piece a tick.
    tick_seconds = 0.02

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a source and a character, and nothing else at work."""
        if context.scene is None:
            return False
        now = common.state(context)
        wanted = "Another bake is running" if now.retargeting or now.baking else missing(context)
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted


class GAITSMITH_OT_retarget_cancel(bpy.types.Operator):
    """Stop retargeting. Nothing of it stays"""

    bl_idname = "gaitsmith.retarget_cancel"
    bl_label = "Cancel Retarget"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it to stop."""
        common.state(context).retarget_cancel = True
        return {"FINISHED"}


CLASSES = (GAITSMITH_OT_retarget, GAITSMITH_OT_retarget_cancel)
