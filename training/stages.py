"""A training in stages: each with its share of the time, its checkpoint, and one folder that belongs to all of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blender_addon.motion.errors import DatasetError

from .lmm.run import Limits
from .optimizer import Optimizer, Schedule, cosine
from .settings import StageSettings
from .trainer import Budget, Outcome, Task, Trainer, Watch


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

    def claim(self, mark: str, resume: bool) -> None:
        """Make sure that what lies in the folder belongs to the training called ``mark``, or is gone.

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
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
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
