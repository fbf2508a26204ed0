"""A training in stages: each with its share of the time, its checkpoint, and one folder that belongs to all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion.abilities import Abilities
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.layout import Layout
from blender_addon.systems.packs import PackInfo

from .coverage import describe, speeds_between
from .optimizer import Optimizer, Schedule, cosine
from .settings import LmmSettings, MannTrainingSettings, PfnnTrainingSettings, StageSettings
from .trainer import Budget, Outcome, Task, Trainer, Watch

#: What the networks that live on their own answers are measured by on held-out frames, by stage.
_HELD_OUT = {"steps": "held_out_joint_error_1_frame_cm", "windows": "held_out_joint_error_half_second_cm"}


@dataclass(frozen=True)
class Limits:
    """How long to train; without either the settings' iterations count.

    Attributes:
        iterations: of every stage. minutes: of all stages together.
    """

    iterations: int | None = None
    minutes: float | None = None


@dataclass
class Stages:
    """The stages of one training, in their order.

    Attributes:
        folder: where the checkpoints lie. settings: of each stage by its name. limits: how long in all.
        watch: reporter and cancelling, for the whole run. seed: of the batches.
        outcomes: what the stages that were run came to.
    """

    folder: Path
    settings: Mapping[str, StageSettings]
    limits: Limits
    watch: Watch
    seed: int
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def claim(self, mark: str, resume: bool, keep: Path | None = None) -> None:
        """Make sure that what lies in the folder belongs to the training called ``mark``, or is gone.

        ``keep``: a file that stays whatever happens: what the training begins with may lie there.

        Raises:
            DatasetError: asked to ``resume`` another training.
        """
        path = self.folder / "training.txt"
        if resume and path.exists():
            if path.read_text(encoding="utf-8") != mark:
                raise DatasetError(
                    f"What lies in {self.folder} was begun with other data or settings",
                    "Train without --resume, or with the data, settings and length it was begun with",
                )
            return
        for old in self.folder.glob("*"):
            if old != keep:
                old.unlink()
        self.folder.mkdir(parents=True, exist_ok=True)
        path.write_text(mark, encoding="utf-8")

    def run(self, task: Task, optimizer: Optimizer | None = None, schedule: Schedule = cosine) -> Outcome:
        """Train one stage to its end, from its checkpoint if there is one."""
        names = list(self.settings)
        shares = [stage.time_share for stage in self.settings.values()]
        at = names.index(task.name)
        share = shares[at] / sum(shares)
        if self.limits.minutes is not None:
            budget = Budget(seconds=60.0 * self.limits.minutes * share)
        else:
            budget = Budget(iterations=self.limits.iterations or self.settings[task.name].iterations)
        low = sum(shares[:at]) / sum(shares)
        whole = self.watch
        watch = Watch(
            whole.reporter, whole.cancelled, (low, low + share), whole.checkpoint_seconds, whole.validate_seconds
        )
        trainer = Trainer(
            task, self.settings[task.name], budget, self.seed + at, self.folder / f"{task.name}.pt", watch, optimizer,
            schedule,
        )  # fmt: skip
        self.outcomes[task.name] = trainer.run(resume=True)
        return self.outcomes[task.name]

    def clear(self) -> None:
        """Forget the checkpoints of a training that is done."""
        for name in self.settings:
            (self.folder / f"{name}.pt").unlink(missing_ok=True)

    def metrics(self) -> dict[str, Any]:
        """Seconds of all, and of each stage its iterations and its last loss."""
        found: dict[str, Any] = {"training_seconds": round(sum(o.seconds for o in self.outcomes.values()), 1)}
        for name, outcome in self.outcomes.items():
            found[f"{name}_iterations"] = outcome.iterations
            found[f"{name}_loss"] = round(outcome.loss, 6)
            if outcome.validation is not None and name in _HELD_OUT:
                found[_HELD_OUT[name]] = round(outcome.validation, 4)
        return found


def fingerprint(
    dataset: Dataset, settings: LmmSettings | MannTrainingSettings | PfnnTrainingSettings, limits: Limits
) -> str:
    """A text that two trainings share only if they have the same data, settings and length."""
    digest = hashlib.sha256(repr((settings, limits, dataset.held_out)).encode())
    for clip in dataset.clips:
        digest.update(np.ascontiguousarray(clip.hips).tobytes())
        digest.update(np.ascontiguousarray(clip.rotations[::7]).tobytes())
    return digest.hexdigest()


def learned_info(
    dataset: Dataset, system: str, title: str, *, fps: float, skeleton: Skeleton, layouts: Mapping[str, Layout],
    actions: tuple[str, ...], settings: MannTrainingSettings | PfnnTrainingSettings, metrics: Mapping[str, Any],
    abilities: Abilities | None = None,
) -> PackInfo:  # fmt: skip
    """What the pack of a network that lives on its own answers says of itself; speeds are those it has learned."""
    about = describe(dataset)
    learned = dataset.part(held_out=False)
    speeds = [np.linalg.norm(np.diff(clip.root[:, :2], axis=0), axis=1) * clip.fps for clip in learned.clips]
    return PackInfo(
        system=system, title=title, fps=fps, skeleton=skeleton, layouts=dict(layouts),
        speeds=speeds_between(speeds, fps), actions=actions, licence=about.licence, credits=about.credits,
        training={**about.training, "mirrored": settings.mirror, "settings": asdict(settings)},
        held_out=about.held_out, metrics=dict(metrics), reference=about.reference, abilities=abilities or Abilities(),
    )  # fmt: skip
