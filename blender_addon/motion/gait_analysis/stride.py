"""One stride of four legs in numbers: duty, phase lags, sequence, suspension, length and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..animal import LEGS
from ..errors import ClipError
from ..rotations import Array

#: Legs whose mid-stances are no further apart than this share of the stride make one beat.
TOGETHER = 0.06
#: Suspensions shorter than this share of the stride are none.
_INSTANT = 1e-6


@dataclass(frozen=True, eq=False)
class Stride:
    """From one mid-stance of the left hind to its next; legs in the order of `animal.LEGS`.

    Phases count from the left hind's mid-stance in shares of the stride. Mid-stances, unlike landings, hardly depend
    on the threshold that finds contacts.

    Attributes:
        first, last: where it begins and ends, frames (fractional); of a mean stride 0 and the mean duration.
        fps: frames per second of those.
        duty: share of the stride that each foot is on the ground (4,).
        lags: phase of each leg's mid-stance (4,), in [0, 1); the left hind's is 0.
        length: how far the body travels, metres; nan where that is not known.
        turn: how far it turns, radians.
        in_place: whether the length is that of a treadmill: from the feet's backward speed in stance.
    """

    first: float
    last: float
    fps: float
    duty: Array
    lags: Array
    length: float = float("nan")
    turn: float = 0.0
    in_place: bool = False

    @property
    def seconds(self) -> float:
        """Duration."""
        return (self.last - self.first) / self.fps

    @property
    def frequency(self) -> float:
        """Strides per second."""
        return 1.0 / self.seconds

    @property
    def speed(self) -> float:
        """Mean speed over the ground, m/s; nan where the length is not known."""
        return self.length / self.seconds

    @cached_property
    def sequence(self) -> tuple[str, ...]:
        """Legs in the order of their mid-stances, from the left hind."""
        behind = np.where(self.lags > 1.0 - 0.5 * TOGETHER, self.lags - 1.0, self.lags)
        order = sorted(range(4), key=lambda leg: (leg != 0, behind[leg]))
        return tuple(LEGS[leg] for leg in order)

    @cached_property
    def beats(self) -> tuple[tuple[str, ...], ...]:
        """Legs that stand together, beat by beat, the left hind's first: two beats of a trot, four of a walk."""
        order = np.argsort(self.lags, kind="stable")
        phases = self.lags[order]
        gaps = np.diff(phases, append=phases[0] + 1.0)
        found: list[list[int]] = [[]]
        for leg, gap in zip(order, gaps, strict=True):
            found[-1].append(int(leg))
            if gap > TOGETHER:
                found.append([])
        groups = [group for group in found if group]
        if len(groups) > 1 and gaps[-1] <= TOGETHER:
            groups[0] = groups.pop() + groups[0]
        return tuple(tuple(LEGS[leg] for leg in sorted(group)) for group in groups)

    @cached_property
    def stances(self) -> tuple[tuple[float, float], ...]:
        """Phases (start, end) of each leg's stance, start in [0, 1), end up to 1 later."""
        starts = (self.lags - 0.5 * self.duty) % 1.0
        return tuple((float(start), float(start + duty)) for start, duty in zip(starts, self.duty, strict=True))

    @cached_property
    def suspensions(self) -> tuple[tuple[float, float], ...]:
        """Phases (start, end) in which no foot is on the ground, start in [0, 1), end up to 1 later."""
        spans = sorted(self.stances)
        reach = max(end for _, end in spans) - 1.0
        found = []
        for start, end in spans:
            if start > reach + _INSTANT:
                found.append((reach % 1.0, reach % 1.0 + start - reach))
            reach = max(reach, end)
        return tuple(found)


def circular_mean(phases: Array) -> Array:
    """Mean of phases (n, ...) in [0, 1) along the first axis, round the circle."""
    mean = np.angle(np.mean(np.exp(2j * np.pi * np.asarray(phases)), axis=0)) / (2.0 * np.pi)
    return np.asarray(mean % 1.0 % 1.0)


def mean_stride(strides: Sequence[Stride]) -> Stride:
    """The mean of some strides, from 0 to the mean duration; raises `ClipError` when there are none."""
    if not strides:
        raise ClipError("There is no whole stride in the motion", "Choose a longer piece, in which all four feet step")
    lags = circular_mean(np.stack([stride.lags for stride in strides]))
    fps = strides[0].fps
    return Stride(
        first=0.0, last=float(np.mean([stride.seconds for stride in strides])) * fps, fps=fps,
        duty=np.mean([stride.duty for stride in strides], axis=0), lags=np.where(np.arange(4) == 0, 0.0, lags),
        length=float(np.mean([stride.length for stride in strides])),
        turn=float(np.mean([stride.turn for stride in strides])),
        in_place=any(stride.in_place for stride in strides),
    )  # fmt: skip
