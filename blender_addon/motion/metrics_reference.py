"""What the capture itself does: statistics of its frames, pooled by speed or over the frames that were used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .clip import Clip
from .errors import DatasetError
from .metrics_basics import Ground, IntArray, at_measuring_rate, hips_speed
from .metrics_feet import foot_skate, low_and_fast, measured_rest_heights
from .metrics_smoothness import angular_update, hips_sway, jerk, knee_acceleration
from .rotations import Array
from .terrain import FlatGround

#: Ranges of hips speed over which the capture is pooled, m/s.
SPEED_EDGES: tuple[float, ...] = (0.0, 0.15, 0.4, 0.65, 1.0, 1.4, 2.0, 3.0, 12.0)
#: A range with fewer seconds than this borrows from the nearest that has them.
LEAST_SECONDS = 3.0
#: Classes of knee acceleration, degrees/s^2: 2.3% apart, so that percentiles of mixtures can be taken.
KNEE_EDGES: Array = np.concatenate([[0.0], np.geomspace(10.0, 1e6, 512)])


@dataclass(frozen=True)
class Baseline:
    """Pooled statistics of frames of capture, at 60 fps.

    Attributes:
        frames: how many frames.
        jerk: mean norm of the third derivative of joint positions, m/s^3.
        update: mean joint angular update, degrees/s.
        knee_p99, knee_p999: percentiles of the knees' angular acceleration, degrees/s^2.
        skate: foot skate over all frames, cm/frame.
        skate_ratio: share of frames with the toe low and fast, 0..1.
        sway: root mean square of the hips' sideways sway, metres.
    """

    frames: int
    jerk: float
    update: float
    knee_p99: float
    knee_p999: float
    skate: float
    skate_ratio: float
    sway: float


@dataclass(frozen=True)
class FrameStats:
    """Measures of each frame of one clip at 60 fps; NaN where a frame lacks neighbours.

    Attributes:
        speed: horizontal speed of the hips (f,), m/s.
        jerk, update: as in `Baseline` (f,).
        knee: knee acceleration (f, legs), degrees/s^2.
        skate: mean of the feet (f,), cm/frame.
        low_fast: share of the feet low and fast (f,).
        sway: the hips' sideways sway (f,), metres.
    """

    speed: Array
    jerk: Array
    update: Array
    knee: Array
    skate: Array
    low_fast: Array
    sway: Array

    @classmethod
    def of(cls, clip: Clip, ground: Ground | None = None, rest: Array | None = None) -> FrameStats:
        """Measure a clip, brought to 60 fps first; ``rest`` as in `foot_skate`."""
        clip = at_measuring_rate(clip)
        ground = FlatGround() if ground is None else ground
        return cls(
            hips_speed(clip), jerk(clip), angular_update(clip), knee_acceleration(clip),
            foot_skate(clip, ground, rest).mean(axis=1), low_and_fast(clip, ground, rest).mean(axis=1),
            hips_sway(clip),
        )  # fmt: skip

    @classmethod
    def pooled(cls, parts: Sequence[FrameStats]) -> FrameStats:
        """Frames of several, one after the other."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def at(self, frames: IntArray) -> FrameStats:
        """Only these frames (m,), in this order, repeated where they repeat."""
        return FrameStats(**{name: getattr(self, name)[frames] for name in self.__dataclass_fields__})

    def __len__(self) -> int:
        return len(self.speed)

    def baseline(self) -> Baseline:
        """Pool all frames; figures without a measurable frame are NaN."""
        knee = self.knee[np.isfinite(self.knee)]
        p99, p999 = np.percentile(knee, [99.0, 99.9]) if len(knee) else (np.nan, np.nan)
        return Baseline(
            len(self), _mean(self.jerk), _mean(self.update), float(p99), float(p999),
            _mean(self.skate), _mean(self.low_fast), float(np.sqrt(_mean(self.sway**2))),
        )  # fmt: skip


@dataclass(frozen=True)
class SpeedTable:
    """What the capture does at each range of speed: small enough to travel in a pack.

    Attributes:
        edges: limits of the ranges (n + 1,), m/s.
        seconds: seconds of capture in each range (n,).
        jerk, update, skate, skate_ratio, sway: as in `Baseline`, of each range (n,).
        knee: histogram of the knees' acceleration over `KNEE_EDGES` (n, classes), counts.
    """

    edges: Array
    seconds: Array
    jerk: Array
    update: Array
    skate: Array
    skate_ratio: Array
    sway: Array
    knee: Array

    @classmethod
    def of(cls, stats: FrameStats, edges: Iterable[float] = SPEED_EDGES) -> SpeedTable:
        """Pool frames by speed; ranges with under 3 s borrow from the nearest that has them.

        Raises:
            DatasetError: no range has 3 s of motion.
        """
        limits = np.array(list(edges), dtype=np.float64)
        count = len(limits) - 1
        which = np.clip(np.searchsorted(limits, stats.speed, side="right") - 1, 0, count - 1)
        parts = [stats.at(np.flatnonzero(which == k)) for k in range(count)]
        seconds = np.array([len(part) / 60.0 for part in parts])
        filled = np.flatnonzero(seconds >= LEAST_SECONDS)
        if len(filled) == 0:
            raise DatasetError(
                "The motion is too short to compare with",
                f"Give at least {LEAST_SECONDS:.0f} seconds of motion at one speed",
            )
        lender = [int(filled[np.argmin(np.abs(filled - k))]) for k in range(count)]
        pools = [parts[k].baseline() for k in lender]
        knee = [np.histogram(parts[k].knee[np.isfinite(parts[k].knee)], KNEE_EDGES)[0] for k in lender]
        return cls(
            limits, seconds, np.array([p.jerk for p in pools]), np.array([p.update for p in pools]),
            np.array([p.skate for p in pools]), np.array([p.skate_ratio for p in pools]),
            np.array([p.sway for p in pools]), np.array(knee, dtype=np.float64),
        )  # fmt: skip

    def ranges(self, speeds: Array) -> IntArray:
        """Index (m,) of the range of each speed (m,), m/s."""
        which = np.searchsorted(self.edges, speeds, side="right") - 1
        return np.asarray(np.clip(which, 0, len(self.seconds) - 1), dtype=np.int64)

    def at(self, speeds: Array) -> Baseline:
        """What the capture does in frames at these speeds (m,), m/s: ranges weighted by their share."""
        share = np.bincount(self.ranges(speeds), minlength=len(self.seconds)) / max(len(speeds), 1)
        spread = share @ (self.knee / np.maximum(self.knee.sum(axis=1, keepdims=True), 1.0))
        return Baseline(
            len(speeds), float(share @ self.jerk), float(share @ self.update),
            _quantile(spread, 0.99), _quantile(spread, 0.999),
            float(share @ self.skate), float(share @ self.skate_ratio),
            float(np.sqrt(share @ self.sway**2)),
        )  # fmt: skip

    def knee_p999(self, speeds: Array) -> Array:
        """99.9th percentile (m,) of the capture's knee acceleration at each speed (m,), degrees/s^2."""
        each = np.array([_quantile(row / max(row.sum(), 1.0), 0.999) for row in self.knee])
        return each[self.ranges(speeds)]

    def to_json(self) -> dict[str, Any]:
        """A plain description, for packs."""
        return {
            name: (getattr(self, name).astype(int) if name == "knee" else np.round(getattr(self, name), 6)).tolist()
            for name in self.__dataclass_fields__
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SpeedTable:
        """The inverse of `to_json`; raises `DatasetError` for anything malformed."""
        try:
            table = cls(**{name: np.array(data[name], dtype=np.float64) for name in cls.__dataclass_fields__})
            count = len(table.seconds)
            shapes = [np.shape(getattr(table, name)) for name in cls.__dataclass_fields__]
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"The table of the capture's speeds is malformed ({error})") from error
        if shapes != [(count + 1,), *[(count,)] * 6, (count, len(KNEE_EDGES) - 1)] or count == 0:
            raise DatasetError("The table of the capture's speeds has arrays of the wrong size")
        return table


@dataclass(frozen=True)
class Reference:
    """What a synthesised clip is held against.

    Attributes:
        capture: the capture by speed.
        source: the source frames that went into the clip, pooled; None when they are unknown.
    """

    capture: SpeedTable
    source: Baseline | None = None


@dataclass(frozen=True)
class CaptureReference:
    """The measured capture, from which references for single results are drawn.

    Attributes:
        clips: measures of each clip, in the order given.
        table: all of them by speed.
    """

    clips: tuple[FrameStats, ...]
    table: SpeedTable

    @cached_property
    def pooled(self) -> FrameStats:
        """All clips' frames, one after the other."""
        return FrameStats.pooled(self.clips)

    def between(self, low: float, high: float) -> Baseline:
        """Pool all capture frames whose speed lies in [low, high), m/s."""
        speed = self.pooled.speed
        return self.pooled.at(np.flatnonzero((speed >= low) & (speed < high))).baseline()

    def source(self, used: IntArray) -> Baseline:
        """Pool the source frames ``used`` at 60 fps; frames count as often as they were used.

        Args:
            used: clip index and frame in it (m, 2), or frame counted through all clips (m,). Negative
                frames (a result's frames without a source) are left out.

        Raises:
            DatasetError: an index is out of range, or none is left.
        """
        used = np.asarray(used, dtype=np.int64)
        used = used[np.all(used >= 0, axis=-1)] if used.ndim == 2 else used[used >= 0]
        lengths = np.array([len(stats) for stats in self.clips])
        if used.ndim == 2:
            if np.any(used[:, 0] >= len(lengths)) or np.any(used[:, 1] >= lengths[used[:, 0]]):
                raise DatasetError("Source frames lie outside the capture they are said to come from")
            used = (np.cumsum(lengths) - lengths)[used[:, 0]] + used[:, 1]
        if len(used) == 0 or np.max(used) >= lengths.sum():
            raise DatasetError("Source frames are missing or lie outside the capture")
        return self.pooled.at(used).baseline()

    def reference(self, used: IntArray | None = None) -> Reference:
        """The reference for a result made of the frames ``used`` (as in `source`), or of unknown ones."""
        return Reference(self.table, None if used is None else self.source(used))


def capture_reference(
    clips: Sequence[Clip], edges: Iterable[float] = SPEED_EDGES, ground: Ground | None = None
) -> CaptureReference:
    """Measure capture: level it first, the ground is flat at height 0 unless given.

    The feet's resting heights are measured in each clip's contacts. ``edges`` limit the ranges of speed
    over which it is pooled, m/s. Raises `DatasetError` when there is too little of it.
    """
    if not clips:
        raise DatasetError("There is no motion to compare with")
    level = FlatGround() if ground is None else ground
    stats = tuple(FrameStats.of(clip, level, measured_rest_heights(clip, level)) for clip in clips)
    return CaptureReference(stats, SpeedTable.of(FrameStats.pooled(stats), edges))


def _mean(values: Array) -> float:
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else float("nan")


def _quantile(share: Array, q: float) -> float:
    """Quantile of a distribution given as shares of `KNEE_EDGES`' classes, even within a class."""
    total = np.concatenate([[0.0], np.cumsum(share)])
    rising = np.concatenate([[True], np.diff(total) > 0.0])
    return float(np.interp(q, total[rising], KNEE_EDGES[rising])) if total[-1] > 0.0 else float("nan")
