"""The one training loop: a task gives batches and losses, the loop does everything else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from blender_addon.motion.errors import Cancelled, DatasetError

from . import checkpoints
from .optimizer import Optimizer, RAdam, Schedule, cosine
from .progress import Progress, Reporter, Silent
from .settings import StageSettings

_REPORT_SECONDS = 0.5
#: A gradient longer than this many times the usual one is shortened to it: one odd window must not undo minutes.
_LONGEST_GRADIENT = 3.0


class Task(Protocol):
    """What is trained.

    Attributes:
        name: of the stage. terms: names of the losses. unit: of the validation figure.
        module: all parameters to train.
    """

    name: str
    terms: tuple[str, ...]
    unit: str
    module: nn.Module

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw a batch and return the losses (terms,), not weighted; ``done`` is the share of the budget used."""
        ...

    def validate(self) -> float | None:
        """The figure that matters, on held-out data; None without any."""
        ...

    def memory(self) -> list[int]:
        """Whole numbers to be kept in checkpoints, from which `recall` restores what batches depend on."""
        ...

    def recall(self, memory: list[int]) -> None:
        """Go on drawing batches as if never interrupted."""
        ...


@dataclass(frozen=True)
class Budget:
    """How long a stage runs: a number of iterations, or of seconds."""

    iterations: int | None = None
    seconds: float | None = None

    def fraction(self, iteration: int, elapsed: float) -> float:
        """Share done after so many iterations and seconds, 0..1."""
        if self.seconds is not None:
            return min(1.0, elapsed / max(self.seconds, 1e-9))
        return min(1.0, iteration / max(self.iterations or 1, 1))

    def total(self, iteration: int, elapsed: float) -> int:
        """Iterations in all; an estimate when seconds are the limit."""
        if self.iterations is not None:
            return self.iterations
        return max(iteration, round(iteration / max(self.fraction(iteration, elapsed), 1e-9)))


@dataclass
class Outcome:
    """What a stage came to.

    Attributes:
        iterations, seconds: used. loss: at the end. validation: at the end.
        history: (iteration, seconds, loss, validation or nan) now and then, from before it was resumed, too.
        unit: of the validation.
    """

    iterations: int = 0
    seconds: float = 0.0
    loss: float = math.nan
    validation: float | None = None
    history: list[tuple[float, ...]] = field(default_factory=list)
    unit: str = ""


@dataclass(frozen=True)
class Watch:
    """How a run is watched: report, checkpoint, cancel.

    Attributes:
        reporter: where progress goes. cancelled: asked once an iteration.
        span: the part of the whole run that this stage is (start, end), 0..1.
        checkpoint_seconds, validate_seconds: how often.
    """

    reporter: Reporter = field(default_factory=Silent)
    cancelled: Callable[[], bool] = lambda: False
    span: tuple[float, float] = (0.0, 1.0)
    checkpoint_seconds: float = 30.0
    validate_seconds: float = 20.0


class Trainer:
    """Trains one task: RAdam and a cosine of learning rates if not told otherwise, loss weights balanced at first.

    Every random choice comes from one generator, saved in the checkpoint: a run that is interrupted
    and resumed gives what it would have given (when iterations are its limit).
    """

    def __init__(
        self, task: Task, settings: StageSettings, budget: Budget, seed: int, path: Path, watch: Watch,
        optimizer: Optimizer | None = None, schedule: Schedule = cosine,
    ) -> None:  # fmt: skip
        unknown = sorted(set(settings.shares) - set(task.terms))
        if unknown:
            raise DatasetError(f"Stage {task.name} has no loss called {', '.join(unknown)}")
        self.task, self.settings, self.budget, self.path, self.watch = task, settings, budget, path, watch
        self._random = torch.Generator().manual_seed(seed)
        self._optimizer = optimizer or RAdam(task.module.parameters(), settings.learning_rate)
        self._schedule = schedule
        self._weights: Tensor | None = None
        self._outcome = Outcome()
        self._average = math.nan
        self._usual_gradient = math.nan

    def run(self, resume: bool) -> Outcome:
        """Train to the end of the budget.

        Raises:
            Cancelled: asked to stop; a checkpoint is left.
            DatasetError: the losses became infinite, or a checkpoint could not be written or read.
        """
        if resume:
            self._restore()
        outcome, watch = self._outcome, self.watch
        outcome.unit = self.task.unit
        began = time.monotonic() - outcome.seconds
        saved = reported = validated = time.monotonic()
        while self.budget.fraction(outcome.iterations, outcome.seconds) < 1.0:
            if watch.cancelled():
                self._save()
                raise Cancelled
            self._iterate()
            now = time.monotonic()
            outcome.seconds = now - began
            if now - validated > watch.validate_seconds:
                self._validate()
                validated = time.monotonic()
            if now - reported > _REPORT_SECONDS:
                self._report()
                reported = now
            if now - saved > watch.checkpoint_seconds:
                self._save()
                saved = time.monotonic()
        self._validate()
        self._report()
        self._save()
        return outcome

    def _iterate(self) -> None:
        outcome = self._outcome
        done = self.budget.fraction(outcome.iterations, outcome.seconds)
        total = self.budget.total(outcome.iterations, outcome.seconds)
        self._optimizer.learning_rate = self.settings.learning_rate * self._schedule(done, total)
        terms = self.task.losses(self._random, done)
        if self._weights is None:
            self._weights = balanced_weights(terms.detach(), self.task.terms, self.settings.shares)
        loss = self._weights @ terms
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._shorten_gradient()
        self._optimizer.step()
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DatasetError(
                f"Training the {self.task.name} broke down: its loss is not a number",
                "Check the clips for jumps and broken keys, or lower the learning rate",
            )
        self._average = value if math.isnan(self._average) else 0.99 * self._average + 0.01 * value
        outcome.iterations += 1
        outcome.loss = self._average

    def _shorten_gradient(self) -> None:
        """Clip the gradient's norm to a multiple of its running mean."""
        usual = self._usual_gradient
        limit = math.inf if math.isnan(usual) else _LONGEST_GRADIENT * usual
        length = min(float(nn.utils.clip_grad_norm_(self.task.module.parameters(), limit, foreach=True)), limit)
        self._usual_gradient = length if math.isnan(usual) else 0.99 * usual + 0.01 * length

    def _validate(self) -> None:
        outcome = self._outcome
        outcome.validation = self.task.validate()
        figure = math.nan if outcome.validation is None else outcome.validation
        outcome.history.append((float(outcome.iterations), outcome.seconds, outcome.loss, figure))

    def _report(self) -> None:
        outcome, (low, high) = self._outcome, self.watch.span
        done = self.budget.fraction(outcome.iterations, outcome.seconds)
        overall = low + (high - low) * done
        left = None
        if done > 0.01 and high > low:
            stage = outcome.seconds * (1.0 - done) / done
            left = stage + (1.0 - high) * outcome.seconds / (done * (high - low))
        self.watch.reporter.progress(
            Progress(
                self.task.name, outcome.iterations, self.budget.total(outcome.iterations, outcome.seconds), overall,
                outcome.loss, outcome.validation, self.task.unit, left,
            )
        )  # fmt: skip

    def _save(self) -> None:
        assert self._weights is not None or self._outcome.iterations == 0
        checkpoints.save(
            self.path,
            {
                "stage": self.task.name,
                "module": self.task.module.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "random": self._random.get_state(),
                "memory": self.task.memory(),
                "weights": self._weights,
                "average": self._average,
                "gradient": self._usual_gradient,
                "outcome": dict(vars(self._outcome)),
            },
        )

    def _restore(self) -> None:
        state = checkpoints.load(self.path)
        if state is None:
            return
        try:
            self.task.module.load_state_dict(state["module"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._random.set_state(state["random"])
            self.task.recall(state["memory"])
            self._weights, self._average = state["weights"], state["average"]
            self._usual_gradient = state["gradient"]
            self._outcome = Outcome(**state["outcome"])
        except (KeyError, TypeError, RuntimeError, ValueError) as error:
            raise _mismatch(self.path, error) from error


def balanced_weights(terms: Tensor, names: tuple[str, ...], shares: Mapping[str, float]) -> Tensor:
    """Weights (terms,) that make every term as large as its share at the first iteration."""
    wanted = torch.tensor([shares.get(name, 1.0) for name in names])
    return wanted / terms.clamp_min(1e-6)


def _mismatch(path: Path, error: Any) -> DatasetError:
    return DatasetError(
        f"The checkpoint {path} belongs to another training ({str(error).splitlines()[0]})",
        "Train without --resume, or with the settings and data it was begun with",
    )
