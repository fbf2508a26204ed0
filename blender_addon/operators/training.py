"""Train a pack from actions: gather them, start the child, watch it, install what comes out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy

from .. import library, preferences
from ..motion.errors import DatasetError, GaitsmithError
from . import common
from .training_run import DATASET_NAME, PLAN_NAME, TrainingPlan, TrainingRun, duration
from .training_run import unfinished as _unfinished

TICK_SECONDS = 0.3

#: The training that runs now, whatever file is open; there is never more than one.
_run: TrainingRun | None = None


def losses() -> Sequence[float]:
    """The loss curve of the running training."""
    return _run.losses if _run is not None else ()


def trainings_folder() -> Path:
    """Where trainings work: data set, checkpoints, finished pack."""
    return preferences.user_folder() / "training"


def sources(context: bpy.types.Context) -> list[tuple[str, str]]:
    """Names (armature, action) of what would be learnt from, by the panel's choice."""
    chosen = common.settings(context)
    ob = common.chosen_armature(context)
    if chosen.train_source == "SELECTED":
        armatures = [o for o in context.view_layer.objects.selected if o.type == "ARMATURE"]
        return [(o.name, action.name) for o in armatures for action in actions_of(o)]
    if ob is None:
        return []
    if chosen.train_source == "ACTIVE":
        action = ob.animation_data.action if ob.animation_data else None
        return [(ob.name, action.name)] if action is not None else []
    from ..scene import read_actions

    return [(ob.name, action.name) for action in bpy.data.actions if read_actions.fits(action, ob)]


def actions_of(ob: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """The actions an object uses: its own, and those of its NLA strips; each once."""
    data, seen = ob.animation_data, set()
    if data is None:
        return
    strips = [strip.action for track in data.nla_tracks for strip in track.strips if not track.mute]
    for action in [data.action, *strips]:
        if action is not None and action.name not in seen:
            seen.add(action.name)
            yield action


def source_summary(context: bpy.types.Context) -> str:
    """How many actions are chosen, and how long they are together."""
    found = sources(context)
    if not found:
        return "No actions chosen"
    fps = context.scene.render.fps / context.scene.render.fps_base
    seconds = sum(float(bpy.data.actions[name].frame_range[1] - bpy.data.actions[name].frame_range[0]) / fps
                  for _, name in found)  # fmt: skip
    return f"{len(found)} action{'s' if len(found) != 1 else ''} ({duration(seconds)})"


def unfinished(_context: bpy.types.Context) -> bool:
    """Whether a training waits to be resumed."""
    return _run is None and _unfinished(trainings_folder()) is not None


def start(context: bpy.types.Context) -> None:
    """Read the actions, write the data set, start the child; raises `GaitsmithError`."""
    global _run
    chosen = common.settings(context)
    python = training_python(chosen.train_system)
    folder = trainings_folder() / library.folder_name(chosen.train_name)
    dataset = read_dataset(context)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
    plan = TrainingPlan(
        chosen.train_name.strip() or "My motion", chosen.train_system, chosen.train_minutes, chosen.train_mirror, python
    )
    plan.save(folder)
    dataset.save(folder / DATASET_NAME)
    _run = TrainingRun(folder, plan)
    _watch(context)


def resume(context: bpy.types.Context) -> None:
    """Go on with the training that was interrupted last; raises `GaitsmithError`."""
    global _run
    folder = _unfinished(trainings_folder())
    plan = TrainingPlan.load(folder) if folder is not None else None
    if folder is None or plan is None:
        raise GaitsmithError("There is no training to resume", "Start one with Train")
    _run = TrainingRun(folder, plan, resume=True)
    _watch(context)


def training_python(system: str) -> str:
    """The Python for a system's training: the user's for what needs torch, Blender's own else."""
    python = preferences.python_path()
    if system == "mm":
        return python or sys.executable
    if not python:
        raise GaitsmithError(
            "Training needs a Python with torch, and none is chosen", "Choose one in the add-on's preferences"
        )
    return python


def read_dataset(context: bpy.types.Context) -> Any:
    """The chosen actions as a data set; raises `DatasetError` when there is nothing, or too little."""
    from ..scene import read_actions

    found = sources(context)
    if not found:
        raise DatasetError("No actions are chosen", "Select armatures with actions, or change From")
    return read_actions.dataset(context, found)


def check(context: bpy.types.Context) -> str:
    """What the chosen actions would give: minutes, speeds, contacts, defects; as lines of text."""
    from ..scene import read_actions

    return read_actions.describe(read_dataset(context))


def look(context: bpy.types.Context) -> bool:
    """Show how far the training is; at its end install the pack. True when it is over."""
    global _run
    run, now = _run, common.state(context)
    if run is None:
        return True
    over = run.look()
    now.training, now.train_fraction, now.train_stage = not over, run.fraction, run.stage
    now.train_left, now.train_loss = run.left, run.loss
    if over:
        _run = None
        _conclude(context, run)
    common.redraw(context, "VIEW_3D")
    return over


def _conclude(context: bpy.types.Context, run: TrainingRun) -> None:
    if run.cancelled:
        common.tell(context, "Training stopped. It can be resumed", "train")
        return
    if run.error or run.pack is None:
        common.tell(context, run.error or "The training ended without a pack", "train", error=True)
        return
    try:
        pack = library.install(run.pack, replace=True)
    except GaitsmithError as error:
        common.tell(context, str(error), "train", error=True)
        return
    (run.folder / PLAN_NAME).unlink(missing_ok=True)
    common.settings(context).pack_id = pack.id
    common.tell(context, f"Trained and installed {pack.label}: choose it under Motion", "train")


def _watch(context: bpy.types.Context) -> None:
    now = common.state(context)
    now.training, now.train_fraction, now.train_stage, now.train_left, now.train_loss = True, 0.0, "Starting", "", ""
    now.message = ""
    if not bpy.app.background:
        common.later(_tick, TICK_SECONDS)


def _tick() -> float | None:
    return None if look(bpy.context) else TICK_SECONDS


class _Idle:
    """Only while nothing is trained."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """See above."""
        if context.scene is None:
            return False
        if _run is not None:
            cls.poll_message_set("A training is running")
            return False
        return cls.wanted(context)

    @classmethod
    def wanted(cls, context: bpy.types.Context) -> bool:
        """Needs actions."""
        if sources(context):
            return True
        cls.poll_message_set("Choose an armature that has an action, or change From")
        return False


class GAITSMITH_OT_train(_Idle, bpy.types.Operator):
    """Learn a pack from the chosen actions, in the background. You can go on working, cancel, and resume later"""

    bl_idname = "gaitsmith.train"
    bl_label = "Train"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start it."""
        with common.telling_errors(self, context, "train") as failed:
            common.object_mode(context)
            start(context)
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_train_resume(_Idle, bpy.types.Operator):
    """Go on with the training that was stopped or interrupted last"""

    bl_idname = "gaitsmith.train_resume"
    bl_label = "Resume Training"

    @classmethod
    def wanted(cls, context: bpy.types.Context) -> bool:
        """Needs an interrupted training."""
        if unfinished(context):
            return True
        cls.poll_message_set("No training was interrupted")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Resume it."""
        with common.telling_errors(self, context, "train") as failed:
            resume(context)
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_train_cancel(bpy.types.Operator):
    """Stop the training. What it has learnt so far is kept, and it can be resumed"""

    bl_idname = "gaitsmith.train_cancel"
    bl_label = "Stop Training"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Needs a running training."""
        if _run is None:
            cls.poll_message_set("No training is running")
        return _run is not None

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Ask it to end."""
        if _run is not None:
            _run.ask_to_end()
        return {"FINISHED"}


class GAITSMITH_OT_data_check(_Idle, bpy.types.Operator):
    """See what the chosen actions hold before training: minutes, speeds, contacts, defects"""

    bl_idname = "gaitsmith.data_check"
    bl_label = "Check Data"

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Read the actions, then show the table."""
        self._lines: list[str] = []
        with common.telling_errors(self, context, "train") as failed:
            self._lines = check(context).splitlines()
        return {"CANCELLED"} if failed else context.window_manager.invoke_popup(self, width=620)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the table."""
        for line in self._lines:
            self.layout.label(text=line)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Say it in the info editor."""
        with common.telling_errors(self, context, "train") as failed:
            self.report({"INFO"}, check(context))
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_preferences(bpy.types.Operator):
    """Open the add-on's preferences, where the Python with torch is chosen"""

    bl_idname = "gaitsmith.preferences"
    bl_label = "Open Preferences"

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Show them."""
        from .. import ADDON_ID

        bpy.ops.preferences.addon_show(module=ADDON_ID)
        return {"FINISHED"}


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """The add-on goes, or Blender closes: end the child; its checkpoint stays."""
    global _run
    common.never(_tick)
    if _run is not None:
        _run.job.cancel()
        _run = None


CLASSES = (
    GAITSMITH_OT_train,
    GAITSMITH_OT_train_resume,
    GAITSMITH_OT_train_cancel,
    GAITSMITH_OT_data_check,
    GAITSMITH_OT_preferences,
)
