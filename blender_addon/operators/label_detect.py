"""Detect the labels of the character's action: read a piece a tick, find in a thread, write at the end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import bpy

from ..motion.clip import Clip
from ..motion.errors import GaitsmithError
from ..motion.label_detection import detect
from ..motion.label_tracks import LabelTracks, merged
from . import common, label_state
from .labels import missing
from .watched import Watched
from .worker import Worker

#: Reading's share of the progress.
READING = 0.5


class DetectRun:
    """Detection from reading to writing, apart from any operator: `begin`, then `look` until it says True.

    Attributes:
        keep: leave alone what was set by hand.
        message: what to tell at the end. failed, cancelled: it did not come to an end, and nothing was changed.
    """

    keep = False

    def __init__(self) -> None:
        self.message = ""
        self.failed = self.cancelled = False
        self._names = ("", "")
        self._first = 1
        self._reading: Generator[float, None, Clip] | None = None
        self._worker: Worker[LabelTracks] | None = None

    def begin(self, context: bpy.types.Context) -> None:
        """Look at what there is; raises `GaitsmithError` when something is missing."""
        from ..scene import labels, sources

        wanted = missing(context)
        if wanted:
            raise GaitsmithError(wanted)
        ob = common.chosen_armature(context)
        action = labels.action_of(ob)
        sources.check_action(action, ob)
        self._names, self._first = (ob.name, action.name), labels.frames_of(action)[0]
        self._reading = sources.read_in_pieces(ob.name, action.name, labels.skeleton_for(ob))
        now = common.state(context)
        now.labelling, now.label_cancel, now.label_fraction, now.label_stage = True, False, 0.0, "Reading"

    def look(self, context: bpy.types.Context) -> bool:
        """Read a little more, or see how far the finding is; at its end write. True when it is over."""
        now = common.state(context)
        over = True
        try:
            over = self._look(now)
        except GaitsmithError as error:
            self.failed, self.message = True, str(error)
        finally:
            if over:
                now.labelling = now.label_cancel = False
                common.redraw(context, "DOPESHEET_EDITOR")
        return over

    def cancel(self) -> None:
        """Ask it to stop."""
        if self._reading is not None:
            self._reading.close()
        if self._worker is not None:
            self._worker.cancel()

    def wait(self, context: bpy.types.Context) -> None:
        """Run to the end without a window."""
        while not self.look(context):
            if self._worker is not None:
                self._worker.wait()

    def _look(self, now: Any) -> bool:
        if now.label_cancel:
            self.cancel()
            if self._worker is None or not self._worker.running:
                return self._stopped()
        if self._worker is None:
            return self._read(now)
        if self._worker.running:
            now.label_fraction = READING + (1.0 - READING) * self._worker.fraction
            now.label_stage = self._worker.stage
            return False
        if self._worker.cancelled:
            return self._stopped()
        if self._worker.error:
            if self._worker.detail:
                print(self._worker.detail)  # noqa: T201 - Blender's console is where users look
            raise GaitsmithError(self._worker.error)
        self._write(self._worker.result)
        return True

    def _read(self, now: Any) -> bool:
        assert self._reading is not None
        try:
            now.label_fraction = READING * next(self._reading)
        except StopIteration as stop:
            clip, first = stop.value, self._first
            self._worker = Worker(lambda progress: detect(clip, first, progress=progress))
        return False

    def _stopped(self) -> bool:
        self.failed = self.cancelled = True
        self.message = "Cancelled. The labels are as they were"
        return True

    def _write(self, found: LabelTracks | None) -> None:
        from ..scene import labels, sources

        assert found is not None
        ob, action = sources.object_named(self._names[0]), sources.action_named(self._names[1])
        kept = labels.read(action, ob) if self.keep else None
        if kept is not None:
            found = replace(merged(found, kept), notes=found.notes)
        labels.write(action, ob, found)
        self.message = "\n".join([f"{action.name}: {outcome(found)}", *found.notes])


class DetectAgainRun(DetectRun):
    """Detection that leaves alone what was set by hand."""

    keep = True


def outcome(tracks: LabelTracks) -> str:
    """What there is now, in a line: contacts, gaits, how much by hand."""
    contacts = sum(len(tracks.spans(point)) for point in tracks.points)
    gaits = dict.fromkeys(span.name for span in tracks.spans("gait"))
    hand = int(tracks.edited.frames.sum())
    words = f"{contacts} contacts; {', '.join(gaits)}"
    return words + (f"; {hand} frames kept as set by hand" if hand else "")


class _Detect(Watched):
    """Shared by both ways to detect."""

    where, busy, wish_to_cancel = "labels", "labelling", "label_cancel"
    tick_seconds = 0.02

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a character with an action, and nothing else at work."""
        if context.scene is None:
            return False
        now = common.state(context)
        wanted = "A bake is running" if now.retargeting or now.baking else missing(context)
        if wanted:
            cls.poll_message_set(wanted)  # type: ignore[attr-defined]
        return not wanted


class GAITSMITH_OT_labels_detect(_Detect, bpy.types.Operator):
    """Find contacts, phase and gaits of the character's action anew, whatever was labelled before. Esc cancels"""

    bl_idname = "gaitsmith.labels_detect"
    bl_label = "Detect Labels"
    bl_options = {"REGISTER", "UNDO"}
    run_class = DetectRun


class GAITSMITH_OT_labels_again(_Detect, bpy.types.Operator):
    """Find contacts, phase and gaits anew, but leave alone what you set by hand. Esc cancels"""

    bl_idname = "gaitsmith.labels_again"
    bl_label = "Detect Where Not Edited"
    bl_options = {"REGISTER", "UNDO"}
    run_class = DetectAgainRun

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs labels."""
        if not super().poll(context):
            return False
        if label_state.shown(context) is None:
            cls.poll_message_set("Nothing is labelled yet: detect first")
            return False
        return True


class GAITSMITH_OT_labels_cancel(bpy.types.Operator):
    """Stop detecting. The labels stay as they were"""

    bl_idname = "gaitsmith.labels_cancel"
    bl_label = "Cancel Detection"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it to stop."""
        common.state(context).label_cancel = True
        return {"FINISHED"}


CLASSES = (GAITSMITH_OT_labels_detect, GAITSMITH_OT_labels_again, GAITSMITH_OT_labels_cancel)
