"""Where an animal goes in the gait preview: straight on without end, or along a curve as fast as its bends allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .facing import Facing
from .limits import Limits, caps
from .path import RootPath
from .rotations import Array
from .rounding import round_off

#: Laps of a closed curve that are laid out: the middle one is walked, so that its ends meet smoothly.
_LAPS = 3
#: The last metres of an open curve at which it stands.
_AT_END = 0.002
#: The body's facing is averaged over so many metres of the way: sharp corners are taken as bends.
_SOFT = 0.25


@dataclass(frozen=True)
class Way:
    """Root and greatest speed over the distance travelled.

    Attributes:
        travelled: (n,) metres, ascending; empty for straight on.
        positions: (n, 2) metres.
        yaw: (n,) radians, unwrapped.
        cap: (n,) greatest speed, m/s, braking for what comes included.
        begin, length: of the part that is walked, metres: distances count from ``begin``.
        cyclic: whether the end is the beginning.
    """

    travelled: Array
    positions: Array
    yaw: Array
    cap: Array
    begin: float
    length: float
    cyclic: bool

    @classmethod
    def straight(cls) -> Way:
        """Straight on along -Y, without an end."""
        none = np.zeros(0)
        return cls(none, np.zeros((0, 2)), none, none, 0.0, np.inf, False)

    @classmethod
    def along(cls, path: RootPath, limits: Limits, start: float = 0.0) -> Way:
        """Along a curve, slower in its bends; a closed one goes on for ever."""
        track = round_off(path.unrolled(start, _LAPS if path.cyclic else 1), limits.rounding)
        facing = Facing("path")
        yaw = _softened(track.travelled, track.heading)
        fast = np.full(len(track.s), np.inf)
        cap = caps(track, fast, yaw, (), facing, limits)
        length = float(track.travelled[-1])
        if not path.cyclic:
            cap[-1] = 0.0
        square = np.where(np.isfinite(cap), cap, 1e3) ** 2 + 2.0 * limits.deceleration * track.travelled
        cap = np.sqrt(
            np.maximum(np.minimum.accumulate(square[::-1])[::-1] - 2.0 * limits.deceleration * track.travelled, 0.0)
        )
        if not path.cyclic:
            return cls(track.travelled, track.positions, yaw, cap, 0.0, length, False)
        return cls(track.travelled, track.positions, yaw, cap, length / _LAPS, length / _LAPS, True)

    def root(self, distance: Array) -> Array:
        """x, y, yaw (m, 3) at distances (m,) travelled, metres; yaw goes on turning round and round."""
        distance = np.asarray(distance, dtype=np.float64)
        if not len(self.travelled):
            return np.stack([np.zeros_like(distance), -distance, np.zeros_like(distance)], axis=-1)
        laps = np.floor(distance / self.length) if self.cyclic else np.zeros_like(distance)
        at = self.begin + distance - laps * self.length
        x, y, yaw = (np.interp(at, self.travelled, row) for row in (*self.positions.T, self.yaw))
        round_ = np.interp([self.begin, self.begin + self.length], self.travelled, self.yaw) if self.cyclic else (0, 0)
        return np.stack([x, y, yaw + laps * (round_[1] - round_[0])], axis=-1)

    def greatest(self, distance: float) -> float:
        """The greatest speed at a distance travelled, m/s; 0 at the end of an open curve."""
        if not len(self.travelled):
            return np.inf
        if not self.cyclic and distance > self.length - _AT_END:
            return 0.0
        at = self.begin + (distance % self.length if self.cyclic else distance)
        return float(np.interp(at, self.travelled, self.cap))


def _softened(travelled: Array, heading: Array) -> Array:
    """The heading averaged along the way, its ends taken to go straight on."""
    step = float(travelled[-1]) / max(len(travelled) - 1, 1)
    reach = max(int(round(0.5 * _SOFT / max(step, 1e-6))), 1)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    padded = np.concatenate([np.full(reach, heading[0]), heading, np.full(reach, heading[-1])])
    return np.asarray(np.convolve(padded, kernel / kernel.sum(), mode="valid"))
