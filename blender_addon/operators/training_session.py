"""The training that goes on: actions are gathered, a child trains, its pack is installed. Operators only call this."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import bpy

from .. import library, preferences
from ..motion import label_summary, takes
from ..motion.dataset import Dataset
from ..motion.errors import DatasetError, GaitsmithError
from ..motion.takes import Take
from . import common
from .training_run import DATASET_NAME, PLAN_NAME, TrainingPlan, TrainingRun, duration, free_folder, has_checkpoint
from .training_run import unfinished as _unfinished
from .worker import Progress, Worker

TICK_SECONDS = 0.3
#: Remarks on the training and its actions that the panel tells at the end.
REMARKS_SHOWN = 3

#: The training that runs now, whatever file is open; there is never more than one.
_run: TrainingRun | None = None
#: The reading of actions that comes before it, and what shall follow.
_gathering: Gathering | None = None
_plan: TrainingPlan | None = None
#: What is to be said of the actions when their training is over.
_remarks: list[str] = []
_shown: tuple[tuple[str, str], float, list[tuple[str, str]]] | None = None


def losses() -> Sequence[float]:
    """The loss curve of the running training."""
    return _run.losses if _run is not None else ()


def trainings_folder() -> Path:
    """Where trainings work: data set, checkpoints, finished pack."""
    return preferences.user_folder() / "training"


def sources(context: bpy.types.Context) -> list[tuple[str, str]]:
    """Names (armature, action) of what would be learnt from, by the panel's choice."""
    from ..scene import read_actions

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
    return [(ob.name, action.name) for action in read_actions.actions_for(ob)]


def sources_shown(context: bpy.types.Context) -> list[tuple[str, str]]:
    """`sources`, looked up at most once a second: panels ask at every redraw."""
    global _shown
    ob = common.chosen_armature(context)
    key = (common.settings(context).train_source, ob.name_full if ob is not None else "")
    if _shown is None or _shown[0] != key or time.monotonic() - _shown[1] > 1.0:
        _shown = (key, time.monotonic(), sources(context))
    return [pair for pair in _shown[2] if pair[1] in bpy.data.actions]


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
    found = sources_shown(context)
    if not found:
        return "No actions chosen"
    fps = context.scene.render.fps / context.scene.render.fps_base
    seconds = sum(float(bpy.data.actions[name].frame_range[1] - bpy.data.actions[name].frame_range[0]) / fps
                  for _, name in found)  # fmt: skip
    return f"{len(found)} action{'s' if len(found) != 1 else ''} ({duration(seconds)})"


def unfinished(_context: bpy.types.Context) -> bool:
    """Whether a training waits to be resumed."""
    return not busy() and _unfinished(trainings_folder()) is not None


class Gathering:
    """Turns the chosen actions into a data set: one action a `step` in the main thread, the rest in another.

    Attributes:
        folder: where the data set is written; None only describes it.
        table: what was found, as lines of text; empty until it is done.
        remarks: what of it is wrong or was mended, a line each.
        error: why it failed; empty otherwise.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], folder: Path | None) -> None:
        if not pairs:
            raise DatasetError("No actions are chosen", "Select armatures with actions, or change From")
        self.folder, self.table, self.error = folder, "", ""
        self.remarks: list[str] = []
        self._pairs, self._read = list(pairs), 0
        self._takes: list[Take] = []
        self._starts: dict[str, int] = {}
        self._worker: Worker[str] | None = None

    @property
    def fraction(self) -> float:
        """Share of the actions that were read."""
        return self._read / len(self._pairs)

    def step(self, context: bpy.types.Context) -> bool:
        """Do a little; True when it is over. Raises `GaitsmithError` for an action that cannot be read."""
        if self._read < len(self._pairs):
            take = _take(*self._pairs[self._read])
            self._takes.append(take)
            self._starts[take.path] = round(bpy.data.actions[take.path].frame_range[0])
            self._read += 1
            return False
        if self._worker is None:
            self._worker = Worker(self._finish)
        if self._worker.running:
            return False
        self.table, self.error = self._worker.result or "", self._worker.error
        if self._worker.detail:
            print(self._worker.detail)  # noqa: T201 - Blender's console is where users look
        return True

    def run(self, context: bpy.types.Context) -> None:
        """All steps, and wait; raises `GaitsmithError`."""
        while not self.step(context):
            if self._worker is not None:
                self._worker.wait()
        if self.error:
            raise GaitsmithError(self.error)

    def _finish(self, progress: Progress) -> str:
        dataset = takes.prepare(self._takes)
        if self.folder is not None:
            dataset.save(self.folder)
        self.remarks = takes.remarks(dataset)
        progress(1.0, "Read")
        labels = label_summary.summary(dataset, self._frame_of(dataset))
        return "\n".join([takes.describe(dataset), "", *labels.lines()])

    def _frame_of(self, dataset: Dataset) -> Callable[[int, int], int]:
        """The action's frame that a row of a clip is at."""
        rates = {take.path: take.clip.fps for take in self._takes}

        def frame_of(number: int, row: int) -> int:
            source = dataset.sources[number]
            return self._starts[source.path] + int(source.first + row * rates[source.path] / dataset.fps + 1e-6)

        return frame_of


def _take(armature: str, action: str) -> Take:
    """One action, read."""
    from ..scene import labels, read_actions

    ob, found = bpy.data.objects.get(armature), bpy.data.actions.get(action)
    if ob is None or found is None:
        raise DatasetError(f"Action {action} was removed while it was to be read", "Press the button again")
    clip = read_actions.read_action(ob, found, skeleton=labels.skeleton_for(ob))
    # Animators' floors are level: only their height is looked for.
    return Take(clip, path=action, group=armature, level="height", labels=labels.read(found, ob))


def start(context: bpy.types.Context) -> None:
    """Begin: read the actions, then train; raises `GaitsmithError`. Without a window it waits for the reading."""
    global _gathering, _plan
    chosen = common.settings(context)
    folder = free_folder(trainings_folder(), library.folder_name(chosen.train_name))
    plan = TrainingPlan(
        chosen.train_name.strip() or "My motion", chosen.train_system, chosen.train_minutes, chosen.train_mirror,
        training_python(chosen.train_system),
    )  # fmt: skip
    gathering = Gathering(sources(context), folder / DATASET_NAME)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
    plan.save(folder)
    _gathering, _plan = gathering, plan
    _watch(context)
    if bpy.app.background:
        while _gathering is not None:
            look(context)


def resume(context: bpy.types.Context) -> None:
    """Go on with the training that was interrupted last; raises `GaitsmithError`."""
    global _run, _remarks
    folder = _unfinished(trainings_folder())
    plan = TrainingPlan.load(folder) if folder is not None else None
    if folder is None or plan is None:
        raise GaitsmithError("There is no training to resume", "Start one with Train")
    _run, _remarks = TrainingRun(folder, plan, resume=True), []
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


def check(context: bpy.types.Context) -> str:
    """What the chosen actions would give: minutes, speeds, contacts, defects; as lines of text."""
    gathering = Gathering(sources(context), None)
    gathering.run(context)
    return gathering.table


def look(context: bpy.types.Context) -> bool:
    """Show how far it is; at its end install the pack. True when it is over."""
    over = _look_gathering(context) if _gathering is not None else _look_run(context)
    common.state(context).training = not over
    common.redraw(context, "VIEW_3D")
    return over


def _look_gathering(context: bpy.types.Context) -> bool:
    """Read one action more; when all are read start the child."""
    global _gathering, _run, _remarks
    gathering, plan, now = _gathering, _plan, common.state(context)
    assert gathering is not None and plan is not None and gathering.folder is not None
    try:
        over = gathering.step(context)
        now.train_stage, now.train_fraction = "Reading the actions", gathering.fraction
        if not over:
            return False
        if gathering.error:
            raise GaitsmithError(gathering.error)
        _gathering = None
        _run, _remarks = TrainingRun(gathering.folder.parent, plan), gathering.remarks
    except GaitsmithError as error:
        _gathering = None
        shutil.rmtree(gathering.folder.parent, ignore_errors=True)
        common.tell(context, str(error), "train", error=True)
        return True
    return False


def _look_run(context: bpy.types.Context) -> bool:
    global _run
    run, now = _run, common.state(context)
    if run is None:
        return True
    over = run.look()
    now.train_fraction, now.train_stage = run.fraction, run.stage
    now.train_left, now.train_loss = run.left, run.loss
    if over:
        _run = None
        _conclude(context, run)
    return over


def stop(context: bpy.types.Context) -> None:
    """Cancel whatever of it runs: the reading at once, the child by asking."""
    global _gathering
    if _gathering is not None and _gathering.folder is not None:
        shutil.rmtree(_gathering.folder.parent, ignore_errors=True)
        _gathering = None
        common.state(context).training = False
        common.tell(context, "Stopped. Nothing was kept", "train")
    elif _run is not None:
        _run.ask_to_end()


def busy() -> bool:
    """Whether a training runs or is being prepared."""
    return _run is not None or _gathering is not None


def _conclude(context: bpy.types.Context, run: TrainingRun) -> None:
    if run.cancelled:
        common.tell(context, "Training stopped. It can be resumed", "train")
        return
    if run.error or run.pack is None:
        if not has_checkpoint(run.folder):
            # To resume it would fail in the same way.
            (run.folder / PLAN_NAME).unlink(missing_ok=True)
        common.tell(context, run.error or "The training ended without a pack", "train", error=True)
        return
    try:
        pack = library.install(run.pack, replace=True)
    except GaitsmithError as error:
        common.tell(context, str(error), "train", error=True)
        return
    (run.folder / PLAN_NAME).unlink(missing_ok=True)
    lines = [f"Trained and installed {pack.label}: choose it under Motion"]
    lines += [f"What it learned and how well: {run.report}"] if run.report else []
    lines += [*run.remarks, *_remarks][:REMARKS_SHOWN]
    common.tell(context, "\n".join(lines), "train")


def _watch(context: bpy.types.Context) -> None:
    now = common.state(context)
    now.training, now.train_fraction, now.train_stage, now.train_left, now.train_loss = True, 0.0, "Starting", "", ""
    now.message = ""
    if not bpy.app.background:
        common.later(_tick, TICK_SECONDS, outlive_file=True)


def _tick() -> float | None:
    return None if look(bpy.context) else TICK_SECONDS


def end() -> None:
    """The add-on goes, or Blender closes: end the child; its checkpoint stays."""
    global _run, _gathering
    common.never(_tick)
    _gathering = None
    if _run is not None:
        _run.job.cancel()
        _run = None
