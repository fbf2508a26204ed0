"""Optimisers on the fused Adam kernels, several times faster on a CPU, and how their learning rates fall."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

#: The learning rate falls to this share of its start.
FLOOR = 0.01


class Optimizer(Protocol):
    """What the training loop asks of an optimiser."""

    learning_rate: float

    def step(self) -> Any:
        """One step with the present learning rate."""
        ...

    def zero_grad(self) -> None:
        """Forget the gradients."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """For checkpoints."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        ...


class Schedule(Protocol):
    """How the learning rate changes."""

    def __call__(self, done: float, total: int) -> float:
        """The factor on the learning rate when ``done`` (0..1) of ``total`` iterations are over."""
        ...


def cosine(done: float, total: int = 0) -> float:
    """From 1 to nearly 0 along half a cosine."""
    return FLOOR + (1.0 - FLOOR) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))


@dataclass(frozen=True)
class WarmRestarts:
    """Cosines one after another, each longer than the one before (Loshchilov and Hutter 2017, 2019).

    As many as fit whole into the run, stretched to fill it: the last one ends with the run.

    Attributes:
        first: iterations of the first cosine. growth: length of each cosine relative to the one before.
    """

    first: int
    growth: float = 2.0

    def cycles(self, total: int) -> tuple[float, ...]:
        """Where each cosine ends, as shares of the run; the last is 1."""
        lengths = [float(self.first)]
        while sum(lengths) + lengths[-1] * self.growth <= total:
            lengths.append(lengths[-1] * self.growth)
        return tuple(sum(lengths[: i + 1]) / sum(lengths) for i in range(len(lengths)))

    def __call__(self, done: float, total: int) -> float:
        """The factor on the learning rate."""
        start = 0.0
        for end in self.cycles(total):
            if done < end or end >= 1.0:
                return cosine((done - start) / (end - start))
            start = end
        return FLOOR


class AdamW(torch.optim.AdamW):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019), fused."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float, decay: float) -> None:
        super().__init__(parameters, lr=learning_rate, weight_decay=decay, fused=True)

    @property
    def learning_rate(self) -> float:
        """The present learning rate."""
        return float(self.param_groups[0]["lr"])

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self.param_groups[0]["lr"] = value


class RAdam(torch.optim.Adam):
    """Rectified Adam (Liu et al. 2019).

    Rectification is a factor on the step; while the variance cannot be estimated yet (the first five
    steps) RAdam moves by the momentum alone. Both fit around the fused kernel.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float) -> None:
        super().__init__(parameters, lr=learning_rate, fused=True)
        self.learning_rate = learning_rate
        self.taken = 0

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:  # type: ignore[override]
        """One step with the present `learning_rate`."""
        self.taken += 1
        beta1, beta2 = self.param_groups[0]["betas"]
        factor = rectification(self.taken, beta2)
        self.param_groups[0]["lr"] = self.learning_rate * factor
        super().step(closure)
        if factor == 0.0:
            rate = self.learning_rate / (1.0 - beta1**self.taken)
            for parameter, state in self.state.items():
                parameter.add_(state["exp_avg"], alpha=-rate)

    def state_dict(self) -> dict[str, Any]:
        """As `torch.optim.Adam`, with the number of steps taken."""
        return {**super().state_dict(), "taken": self.taken}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.taken = int(state_dict["taken"])
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "taken"})


def rectification(step: int, beta2: float) -> float:
    """The factor on Adam's step number ``step`` (from 1); 0 while the variance is not tractable."""
    limit = 2.0 / (1.0 - beta2) - 1.0
    length = limit - 2.0 * step * beta2**step / (1.0 - beta2**step)
    if length <= 5.0:
        return 0.0
    return float(
        ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
    )
