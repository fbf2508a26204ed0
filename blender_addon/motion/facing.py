"""Which way the body faces along the way: the path's turning, corners turned in steps, a fixed yaw, or an object."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .errors import PathError
from .rotations import yaw_of_direction
from .rounding import Track
from .speed_profile import smoothed

Array = npt.NDArray[np.float64]

#: Nearer than this (metres) to the object to face, the wish says nothing: the turn is spread over the passage.
_TOO_NEAR = 0.3


@dataclass(frozen=True)
class Facing:
    """Where the body shall look.

    Attributes:
        kind: "path" along the direction of travel, "fixed" one yaw, "object" towards a place.
        yaw: radians, for "fixed".
        target: (x, y) metres, for "object".

    Raises:
        PathError: numbers that are not finite, or no target for "object".
    """

    kind: Literal["path", "fixed", "object"] = "path"
    yaw: float = 0.0
    target: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("path", "fixed", "object"):
            raise PathError(f'Nothing is known of facing "{self.kind}"', "Choose path, fixed or object")
        if not math.isfinite(self.yaw):
            raise PathError("The facing's angle is not a number", "Give the facing a number of degrees")
        if self.kind == "object" and (self.target is None or not all(math.isfinite(x) for x in self.target)):
            raise PathError("There is no object to face", "Pick an object to face, or face along the path")


@dataclass(frozen=True)
class Turn:
    """One corner turned in time.

    Attributes:
        start, end: seconds.
        angle: radians, counter-clockwise positive.
    """

    start: float
    end: float
    angle: float


def facing_along(track: Track, facing: Facing) -> Array:
    """Wished yaw (n,), unwrapped radians, at each node of the track, the corners' own turning left out.

    Along the path the corners' angles are missing here; :func:`yaw_over_time` adds them as turns.
    """
    if facing.kind == "fixed":
        return np.full(len(track.s), facing.yaw)
    if facing.kind == "object":
        assert facing.target is not None
        away = np.asarray(facing.target) - track.positions
        known = np.hypot(away[:, 0], away[:, 1]) > _TOO_NEAR
        if not known.any():
            return track.heading.copy()
        yaw = np.unwrap(yaw_of_direction(away[known]))
        return np.interp(track.travelled, track.travelled[known], yaw)
    rest = np.diff(track.heading)
    for corner in track.corners:
        rest[max(corner.first - 1, 0) : corner.last + 1] = 0.0
    bare = np.concatenate([[0.0], np.cumsum(rest)])
    # What a corner skipped is its angle, but for the grid: measure it there so that nothing is lost.
    return np.asarray(track.heading[0] + bare)


def corner_angles(track: Track) -> tuple[float, ...]:
    """The turning (radians) that :func:`facing_along` left out at each corner."""
    change = np.diff(track.heading)
    return tuple(float(change[max(c.first - 1, 0) : c.last + 1].sum()) for c in track.corners)


def yaw_over_time(wished: Array, turns: tuple[Turn, ...], fps: float, edge: float, soften: float) -> Array:
    """Facing (f,) at each frame.

    Args:
        wished: (f,) yaw without the corners, radians.
        turns: the corners.
        fps: frames per second.
        edge: seconds over which a turn's rate rises and falls.
        soften: seconds to each side over which the rest is averaged.
    """
    yaw = smoothed(wished, soften, fps)
    time = np.arange(len(wished)) / fps
    for turn in turns:
        yaw = yaw + turn.angle * _trapezoid(time - turn.start, turn.end - turn.start, edge)
    return yaw


def _trapezoid(time: Array, seconds: float, edge: float) -> Array:
    """From 0 to 1 in ``seconds``: the rate rises over ``edge`` like a half cosine, stays, and falls again."""
    edge = min(edge, 0.5 * seconds)
    rate = 1.0 / (seconds - edge)

    def risen(t: Array) -> Array:
        t = np.clip(t, 0.0, edge)
        return np.asarray(0.5 * (t - edge / np.pi * np.sin(np.pi * t / edge)))

    rising = risen(time) + np.clip(time - edge, 0.0, max(seconds - 2.0 * edge, 0.0))
    falling = np.clip(time - (seconds - edge), 0.0, edge)
    return np.asarray(rate * (rising + falling - risen(falling)))
