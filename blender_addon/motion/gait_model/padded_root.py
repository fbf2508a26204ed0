"""A plan made ready for the gait model: continued beyond both ends, with where pelvis and chest are on the ground."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import rotations as rot
from ..plan import Plan
from ..rotations import Array
from ..speed_profile import smoothed
from .body import Body

#: The trunk bends at most so far each side of its middle, radians, and follows the way with so much blur, seconds.
_MOST_BEND = 0.6
_BLUR = 0.15
#: Seconds (0.6 m) that a course goes on beyond both ends of its plan.
_PAD = 2.5
#: Below this speed (m/s) of its girdles an animal of 0.6 m stands.
STANDING = 0.03


@dataclass(frozen=True, eq=False)
class PaddedRoot:
    """The root over time, with ``pad`` frames before the plan's first and after its last.

    Attributes:
        fps: frames per second.
        pad: frames added at each end.
        root: (f, 3) x, y in metres, yaw in radians.
        speed: (f,) of the root, m/s.
        pace: (f,) what the steps must keep up with, m/s: of the girdles over the ground, turning on the spot counted
            twice, as steps sideways must be short.
        bend: (f,) angle in the ground's plane from the trunk's middle to each girdle, radians; left is positive.
        turning: (f,) how much of the movement is turning on the spot, 0..1.
        scale: shoulder height over that of an animal of 0.6 m.
    """

    fps: float
    pad: int
    root: Array
    speed: Array
    pace: Array
    bend: Array
    turning: Array
    scale: float

    def __len__(self) -> int:
        return len(self.root)

    @classmethod
    def of(cls, plan: Plan, body: Body, pad: int | None = None) -> PaddedRoot:
        """From a plan: its ends go on as they are, a standing one stands, a moving one keeps speed and curvature.

        Args:
            plan: the root over time.
            body: whose girdles follow it.
            pad: frames added at each end; None adds what the slowest stride takes.
        """
        fps = plan.fps
        pad = int(np.ceil(_PAD * np.sqrt(body.height / 0.6) * fps)) if pad is None else pad
        root = _continued(plan.root, pad)
        velocity = np.gradient(root[:, :2], axis=0) * fps if len(root) > 1 else np.zeros((len(root), 2))
        speed = np.linalg.norm(velocity, axis=1)
        rate = smoothed(np.gradient(root[:, 2]) * fps, _BLUR, fps)
        half = 0.5 * body.trunk_length
        blurred = smoothed(speed, _BLUR, fps)
        curvature = rate / np.maximum(blurred, 0.8 * half * np.abs(rate) / _MOST_BEND + 0.25)
        bend = _MOST_BEND * np.tanh(curvature * half / _MOST_BEND)
        turn = half * np.abs(rate)
        turning = turn / (turn + speed + 0.1)
        pace = np.hypot(speed, turn * (1.0 + turning))
        return cls(fps, pad, root, speed, pace, smoothed(bend, _BLUR, fps), turning, body.height / 0.6)

    @cached_property
    def moving_from(self) -> float:
        """The pace (m/s) from which on the animal makes steps."""
        return STANDING * float(np.sqrt(self.scale))

    def girdles(self, trunk_length: float) -> tuple[Array, Array, Array, Array]:
        """Ground position (f, 2) and yaw (f,) of pelvis and chest; their middle is the root."""
        half = 0.5 * trunk_length
        # Half a circle's chord each side, with the trunk's own length kept.
        forward = rot.direction_of_yaw(self.root[:, 2])
        reach = half * np.sinc(self.bend / np.pi)[:, None]
        chest, pelvis = self.root[:, :2] + reach * forward, self.root[:, :2] - reach * forward
        return pelvis, self.root[:, 2] - self.bend, chest, self.root[:, 2] + self.bend


def dilated(values: Array, reach: int) -> Array:
    """The greatest value within ``reach`` frames to each side (f,)."""
    padded = np.pad(values, reach, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1))


def _continued(root: Array, pad: int) -> Array:
    """The root's track with ``pad`` frames more at each end, speed and turning kept."""
    if len(root) < 2:
        return np.repeat(root[:1], 2 * pad + 1, axis=0)
    parts = []
    for end, inner, way in ((root[0], root[1], -1.0), (root[-1], root[-2], 1.0)):
        turn = way * (end[2] - inner[2]) if way > 0 else inner[2] - end[2]
        step = (end[:2] - inner[:2]) if way > 0 else inner[:2] - end[:2]
        local = rot.rotate_2d(-0.5 * (end[2] + inner[2]), step)
        numbers = way * np.arange(1, pad + 1)
        yaw = end[2] + turn * numbers
        steps = way * rot.rotate_2d(yaw - way * 0.5 * turn, np.broadcast_to(local, (pad, 2)))
        parts.append(np.concatenate([end[:2] + np.cumsum(steps, axis=0), yaw[:, None]], axis=1))
    return np.concatenate([parts[0][::-1], root, parts[1]])
