"""How low a body goes along its way: where the animator says so, and where the ceiling does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .abilities import Crouch
from .rotations import Array
from .schedule import JUMP, Schedule, Stretch

IntArray = npt.NDArray[np.int64]

CROUCH = "crouch"
#: Going down and getting up take about this long, seconds.
EASE = 1.0
#: Speeds this much too high (m/s) are not spoken of.
_NOTED = 0.005


@dataclass(frozen=True)
class Crouching:
    """How deep and how fast one crouches along a curve.

    Attributes:
        able: how deep and how fast one can, m/s; None: as deep and as fast as is asked.
        arc: places along the curve (n,), metres, evenly spaced, from its beginning to its end; none without ceilings.
        depth: how deep the ceiling there wants it (n,); 0 where one may stand.
        cyclic: the curve's end is its beginning.
    """

    able: Crouch | None = None
    arc: Array | None = None
    depth: Array | None = None
    cyclic: bool = False

    def under(self, distance: Array) -> Array:
        """How deep the ceiling wants it (m,) at distances along the curve (m,), metres, lap after lap."""
        if self.arc is None or self.depth is None:
            return np.zeros(len(distance))
        return sampled(self.arc, self.depth, distance, self.cyclic).max(axis=0)

    @property
    def usual(self) -> float:
        """How deep where nothing says how deep, 0 to 1 (`gait_labels.crouch_depth`)."""
        return self.able.usual if self.able is not None else 1.0

    def without_jumps(self, schedule: Schedule) -> tuple[Schedule, tuple[str, ...]]:
        """The schedule without the jumps for which the ceiling is too low; and words about them."""
        low = self.under(np.array([mark.at for mark in schedule.marks])) > 0.0
        out = [mark for mark, under in zip(schedule.marks, low, strict=True) if under and mark.action == JUMP]
        notes = tuple(f"The jump at {mark.at:.2f} m is left out: the ceiling is low there" for mark in out)
        return (Schedule(mark for mark in schedule.marks if mark not in out), notes) if out else (schedule, ())

    def slowed(self, stretches: Sequence[Stretch]) -> tuple[tuple[Stretch, ...], tuple[str, ...]]:
        """The stretches, those that crouch no faster than that is learned; and words about it."""
        kept, notes = [], []
        fastest = self.able.fastest if self.able is not None else np.inf
        for stretch in stretches:
            fast = stretch.action == CROUCH and stretch.speed > fastest + _NOTED
            if fast:
                notes.append(
                    f"Crouching at {stretch.speed:.2f} m/s from {stretch.at:.2f} m on is faster than this pack can: "
                    f"{fastest:.2f} m/s is used"
                )
            kept.append(replace(stretch, speed=fastest) if fast else stretch)
        return tuple(kept), tuple(dict.fromkeys(notes))

    def capped(self, speed: Array, distance: Array) -> tuple[Array, tuple[str, ...]]:
        """Speeds (m,), m/s, no faster under a ceiling than one can crouch; and words about it."""
        allowed = self.allowed(distance)
        slower = speed > allowed + _NOTED
        if not np.any(slower):
            return speed, ()
        note = (
            f"Where the ceiling is low, {float(allowed[slower].min()):.2f} m/s is used in place of "
            f"{float(speed[slower].max()):.2f} m/s: this pack crouches that low no faster"
        )
        return np.minimum(speed, allowed), (note,)

    def allowed(self, distance: Array) -> Array:
        """The highest speed (m,), m/s, at distances along the curve (m,), metres; inf where the ceiling is not low.

        Nobody goes down or gets up at a higher speed than that at which he crouches.
        """
        if self.able is None or self.arc is None or self.depth is None:
            return np.full(len(distance), np.inf)
        speeds = [self.able.fastest_at(float(deep)) if deep > 0.0 else np.inf for deep in self.depth]
        reach = [EASE * speed if speed < np.inf else 0.0 for speed in speeds]
        found = _lowest_near(np.array(speeds), np.array(reach), float(self.arc[-1]) / (len(speeds) - 1), self.cyclic)
        return np.asarray(sampled(self.arc, found, distance, self.cyclic).min(axis=0))

    def applied_to(
        self, actions: tuple[str, ...], action: IntArray, distance: Array, fps: float
    ) -> tuple[tuple[str, ...], IntArray, Array]:
        """The actions of a plan with the crouches that the ceiling wants, whatever else was to be done there.

        Args:
            actions: vocabulary. action: (f,) index into it. distance: (f,) along the curve, metres. fps: frame rate.

        Returns:
            vocabulary, action (f,) and depth (f,), 0 where nobody crouches.
        """
        low = spread(self.under(distance), round(0.5 * EASE * fps))
        if np.any(low) and CROUCH not in actions:
            actions = (*actions, CROUCH)
        if CROUCH not in actions:
            return actions, action, np.zeros(len(action))
        own = np.where(action == actions.index(CROUCH), self.usual, 0.0)
        return actions, np.where(low > 0.0, actions.index(CROUCH), action), np.maximum(own, low)


def sampled(arc: Array, values: Array, distance: Array, cyclic: bool) -> Array:
    """Values (n,) at evenly spaced places ``arc`` (n,) before and behind distances (m,), as (2, m)."""
    place = np.mod(distance, arc[-1]) if cyclic else np.clip(distance, arc[0], arc[-1])
    at = place / arc[-1] * (len(arc) - 1)
    low = np.clip(np.floor(at + 1e-9).astype(np.int64), 0, len(arc) - 1)
    high = np.clip(np.ceil(at - 1e-9).astype(np.int64), 0, len(arc) - 1)
    return np.stack([values[low], values[high]])


def _lowest_near(values: Array, reach: Array, step: float, cyclic: bool) -> Array:
    """The least of the values (n,) that reach so far, metres, to both sides; they lie ``step`` metres apart."""
    found = values.copy()
    last = len(values) - 1
    for away in range(1, int(reach.max() / step + 1e-9) + 1):
        reaching = np.where(reach >= away * step - 1e-9, values, np.inf)
        for shift in (away, -away):
            at = np.arange(last + 1) + shift
            inside = (at >= 0) & (at <= last) | cyclic
            found = np.where(inside, np.minimum(found, reaching[at % last if cyclic else np.clip(at, 0, last)]), found)
    return found


def eased(share: Array, fps: float) -> Array:
    """A share (f,) going over to what follows within `EASE` seconds, half of them before."""
    half = round(0.5 * EASE * fps)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(share, half, mode="edge"), window / window.sum(), mode="valid")


def spread(values: Array, frames: int) -> Array:
    """The greatest of the values (f,) within so many frames before and after each."""
    if not np.any(values) or frames < 1:
        return values
    padded = np.pad(values, frames, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * frames + 1).max(axis=-1))
