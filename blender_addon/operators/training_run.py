"""One training in the background: its folder, its child process, what it reports. Apart from any operator; no bpy."""

from __future__ import annotations

import itertools
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import jobs
from ..motion.errors import GaitsmithError

PLAN_NAME = "training.json"
DATASET_NAME = "dataset"
PACK_NAME = "pack"
SETTINGS_NAME = "settings.toml"
#: The loss curve keeps so many points; beyond that every other one is dropped.
CURVE_POINTS = 400
#: A child that does not end when asked is killed after so many seconds.
PATIENCE_SECONDS = 8.0


@dataclass(frozen=True)
class TrainingPlan:
    """What a training shall do; lies in its folder, so that it can be resumed after Blender was closed.

    Attributes:
        name: title of the pack. system: ``mm`` or ``lmm``. minutes: how long it may take.
        mirror: learn the mirror images too. python: the Python that trains.
    """

    name: str
    system: str
    minutes: float
    mirror: bool
    python: str

    def save(self, folder: Path) -> None:
        """Write it, whole or not at all."""
        path = folder / PLAN_NAME
        scratch = path.with_suffix(".tmp")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / SETTINGS_NAME).write_text(f"mirror = {str(self.mirror).lower()}\n", encoding="utf-8")
            scratch.write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")
            os.replace(scratch, path)
        except OSError as error:
            raise GaitsmithError(
                f"The training's folder cannot be written ({error})", f"See that {folder} exists and the disk has room"
            ) from error

    @classmethod
    def load(cls, folder: Path) -> TrainingPlan | None:
        """Read it; None if there is none, or it is damaged."""
        try:
            data = json.loads((folder / PLAN_NAME).read_text(encoding="utf-8"))
            return cls(
                str(data["name"]), str(data["system"]), float(data["minutes"]), bool(data["mirror"]),
                str(data["python"]),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def command(self, folder: Path, resume: bool) -> tuple[str, ...]:
        """The command that trains, in the child's own words."""
        arguments = ["train", self.system, str(folder / DATASET_NAME), "--out", str(folder / PACK_NAME)]
        arguments += ["--title", self.name, "--json-lines", "--settings", str(folder / SETTINGS_NAME)]
        if self.system != "mm":
            arguments += ["--minutes", f"{self.minutes:g}"]
            if resume:
                arguments.append("--resume")
        return jobs.training_command(self.python, *arguments)


class TrainingRun:
    """A running training.

    Attributes:
        folder, plan: where it works, and what it does.
        stage, fraction, loss, left: for the panel.
        losses: the loss curve so far, thinned out.
        pack: folder of the finished pack; None until it is done. report: the file that tells of it; empty without.
        remarks: what did not go as it should, though the pack is whole.
        error: why it failed; empty otherwise.
    """

    def __init__(self, folder: Path, plan: TrainingPlan, resume: bool = False) -> None:
        self.folder, self.plan = folder, plan
        self.stage, self.fraction, self.loss, self.left = "Starting", 0.0, "", ""
        self.losses: list[float] = []
        self.pack: Path | None = None
        self.report, self.error = "", ""
        self.remarks: list[str] = []
        self._stride, self._skipped = 1, 0
        self._asked_at: float | None = None
        self._began = time.monotonic()
        self.job = jobs.Job(plan.command(folder, resume), cwd=jobs.package_root())

    @property
    def running(self) -> bool:
        """Whether the child still works."""
        return self.job.state == "running"

    @property
    def cancelled(self) -> bool:
        """Whether it ended because the user asked."""
        return self.job.state == "cancelled"

    def look(self) -> bool:
        """Take over what the child reported; True when it has ended."""
        ended = not self.running
        for event in self.job.poll():
            self._take(event)
        if not ended:
            if self._asked_at is not None and time.monotonic() - self._asked_at > PATIENCE_SECONDS:
                self.job.insist()
            return False
        if self.job.state == "failed":
            self.error = self.job.failure()
        elif self.job.state == "done" and self.pack is None:
            self.pack = self.folder / PACK_NAME
        return True

    def ask_to_end(self) -> None:
        """Cancel without waiting; its checkpoint stays."""
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            self.stage = "Stopping"
            self.job.ask_to_end()

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.get("event")
        if kind == "done":
            self.pack = Path(str(event.get("pack") or self.folder / PACK_NAME))
            self.report = str(event.get("report") or "")
            self.fraction = 1.0
        elif kind == "remark":
            self.remarks.append(str(event.get("message") or ""))
        elif kind == "stage":
            self.stage = str(event.get("stage") or event.get("message") or self.stage).capitalize()
        elif kind == "progress":
            self._take_progress(event)

    def _take_progress(self, event: dict[str, Any]) -> None:
        self.stage = str(event.get("stage") or self.stage).capitalize()
        fraction = event.get("fraction")
        if isinstance(fraction, (int, float)):
            self.fraction = min(max(float(fraction), 0.0), 1.0)
        loss = event.get("loss")
        if isinstance(loss, (int, float)) and loss == loss:
            self._add_loss(float(loss))
            self.loss = f"loss {loss:.4g}"
            if isinstance(event.get("validation"), (int, float)):
                self.loss += f", held-out {event['validation']:.3g} {event.get('unit') or ''}".rstrip()
        left = event.get("seconds_left")
        if not isinstance(left, (int, float)):
            left = jobs.remaining_seconds(time.monotonic() - self._began, self.fraction)
        self.left = f"{duration(left)} left" if left is not None else ""

    def _add_loss(self, loss: float) -> None:
        self._skipped += 1
        if self._skipped < self._stride:
            return
        self._skipped = 0
        self.losses.append(loss)
        if len(self.losses) > CURVE_POINTS:
            del self.losses[1::2]
            self._stride *= 2


def unfinished(root: Path) -> Path | None:
    """The folder of the latest training that was begun and not finished; None without one."""
    try:
        folders = [path for path in root.iterdir() if TrainingPlan.load(path) is not None]
    except OSError:
        return None
    folders = [path for path in folders if (path / DATASET_NAME).is_dir()]
    return max(folders, key=lambda path: (path / PLAN_NAME).stat().st_mtime, default=None)


def has_checkpoint(folder: Path) -> bool:
    """Whether a training has left anything that was learnt in its folder."""
    return any(folder.glob(f".{PACK_NAME}.training/*.pt"))


def free_folder(root: Path, name: str) -> Path:
    """A folder for a new training of this name: not one where an interrupted training left its checkpoints."""
    for number in itertools.count(1):
        folder = root / (name if number == 1 else f"{name}-{number}")
        if TrainingPlan.load(folder) is None or not has_checkpoint(folder):
            return folder
    raise AssertionError  # itertools.count never ends


def duration(seconds: float) -> str:
    """A time for reading: ``40 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
