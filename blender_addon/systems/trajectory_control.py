"""Trajectories at run time, frame by frame: where characters come from, and where they are wished.

For the systems whose networks predict the trajectory themselves (Holden et al. 2017, Zhang et al. 2018); what a wish
and that prediction become together is each system's own. All arrays have a leading axis of characters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion import rotations as rot
from ..motion.rotations import Array
from .protocol import Wish
from .trajectory import FUTURE, PAST, SAMPLE_SECONDS, SAMPLE_TIMES

#: How far a character may be from its plan and still know the way: metres, radians. Learned are deviations of as much.
REACH_M, REACH_RAD = 0.2, 0.2


@dataclass(frozen=True)
class Trajectory:
    """Positions in metres, facings, and velocities in metres a second, in root space.

    Attributes:
        values: all three, in this order (c, 3, samples, 2).
    """

    values: Array

    @classmethod
    def of(cls, positions: Array, directions: Array, velocities: Array) -> Trajectory:
        """Of three arrays (c, samples, 2)."""
        return cls(np.stack([positions, directions, velocities], axis=1))

    @property
    def positions(self) -> Array:
        """(c, samples, 2)."""
        return self.values[:, 0]

    @property
    def directions(self) -> Array:
        """(c, samples, 2)."""
        return self.values[:, 1]

    @property
    def velocities(self) -> Array:
        """(c, samples, 2)."""
        return self.values[:, 2]

    @property
    def here(self) -> Array:
        """Where the first sample is: x, y in metres, yaw in radians (c, 3)."""
        return np.concatenate([self.values[:, 0, 0], rot.yaw_of_direction(self.values[:, 1, :1])], axis=1)

    def within_reach(self) -> Trajectory:
        """The same brought so near that the first sample is no further off than was learned."""
        here = self.here
        away = np.sqrt(np.sum(here[:, :2] ** 2, axis=1, keepdims=True))
        if np.all(away <= REACH_M) and np.all(np.abs(here[:, 2]) <= REACH_RAD):
            return self
        place = here[:, :2] * np.minimum(1.0, REACH_M / np.maximum(away, 1e-9))
        turn = np.clip(here[:, 2], -REACH_RAD, REACH_RAD)
        near = rot.rotate_2d(turn[:, None, None], self.seen_from(here).values)
        near[:, 0] += place[:, None]
        return Trajectory(near)

    def seen_from(self, root: Array) -> Trajectory:
        """The same as seen from ``root`` (c, 3): x, y, yaw in the space that this trajectory is in."""
        values = self.values.copy()
        values[:, 0] -= root[:, None, :2]
        return Trajectory(rot.rotate_2d(-root[:, 2, None, None], values))


@dataclass(frozen=True)
class Wanted:
    """A wish for the frames of one chunk, in the root space of the chunk's first frame.

    Attributes:
        trajectory: now, the future samples, and one sample on (c, 7, 2). speeds: (c, 7). actions: (c, 7, actions).
    """

    trajectory: Trajectory
    speeds: Array
    actions: Array

    @classmethod
    def of(cls, wish: Wish) -> Wanted:
        """The wish, its velocities taken from its positions."""
        places = wish.positions
        velocities = np.empty_like(places)
        velocities[:, 1:-1] = (places[:, 2:] - places[:, :-2]) / (2.0 * SAMPLE_SECONDS)
        velocities[:, 0] = (places[:, 1] - places[:, 0]) / SAMPLE_SECONDS
        velocities[:, -1] = (places[:, -1] - places[:, -2]) / SAMPLE_SECONDS
        return cls(Trajectory.of(places, wish.directions, velocities), wish.speeds, wish.actions)

    def after(self, seconds: float) -> Wanted:
        """The same wish some time later (less than one sample): now and the future samples (c, 6, ...)."""
        part = seconds / SAMPLE_SECONDS
        values, speeds = self.trajectory.values, self.speeds
        return Wanted(
            Trajectory((1.0 - part) * values[:, :, :-1] + part * values[:, :, 1:]),
            (1.0 - part) * speeds[:, :-1] + part * speeds[:, 1:],
            self.actions[:, :-1] if part < 0.5 else self.actions[:, 1:],
        )


@dataclass(frozen=True)
class Trail:
    """The last second of characters, oldest first, the present frame last.

    Attributes:
        roots: x, y, yaw in a space that stays where it is (c, frames, 3).
        speeds: wished speeds (c, frames). actions: wished actions (c, frames, actions).
    """

    roots: Array
    speeds: Array
    actions: Array

    @staticmethod
    def frames(fps: float) -> int:
        """How many frames are kept: to the oldest sample, and one more for its velocity."""
        return round(PAST * SAMPLE_SECONDS * fps) + 2

    @classmethod
    def joined(cls, places: Array, directions: Array, speeds: Array, actions: Array, fps: float) -> Trail:
        """The trail through past samples and the present one (c, 7, ...), joined by lines."""
        times = np.arange(1 - cls.frames(fps), 1) / fps
        yaw = np.unwrap(rot.yaw_of_direction(directions), axis=1)
        at = np.clip(times / SAMPLE_SECONDS + PAST, 0.0, PAST)
        low = np.minimum(at.astype(np.int64), PAST - 1)
        part = at - low
        roots = np.concatenate([places, yaw[..., None]], axis=-1)
        joined = (1.0 - part)[:, None] * roots[:, low] + part[:, None] * roots[:, low + 1]
        return cls(
            joined, (1.0 - part) * speeds[:, low] + part * speeds[:, low + 1], actions[:, np.round(at).astype(np.int64)]
        )

    def wishing(self, speeds: Array, actions: Array) -> Trail:
        """The trail with what is wished now (c,), (c, actions) put at its end."""
        new_speeds, new_actions = self.speeds.copy(), self.actions.copy()
        new_speeds[:, -1], new_actions[:, -1] = speeds, actions
        return Trail(self.roots, new_speeds, new_actions)

    def moved(self, step: Array) -> Trail:
        """One frame on, by ``step`` (c, 3) in root space."""
        last = self.roots[:, -1]
        root = np.concatenate([last[:, :2] + rot.rotate_2d(last[:, 2], step[:, :2]), last[:, 2:] + step[:, 2:]], axis=1)
        return Trail(
            np.concatenate([self.roots[:, 1:], root[:, None]], axis=1),
            np.concatenate([self.speeds[:, 1:], self.speeds[:, -1:]], axis=1),
            np.concatenate([self.actions[:, 1:], self.actions[:, -1:]], axis=1),
        )

    def past(self, fps: float) -> tuple[Trajectory, Array, Array]:
        """Trajectory (c, 6, 2), speeds (c, 6) and actions (c, 6, actions) at the past samples, as seen from now."""
        rows = self.roots.shape[1] - 1 + np.round(np.array(SAMPLE_TIMES[:PAST]) * fps).astype(np.int64)
        root, now = self.roots[:, rows], self.roots[:, -1]
        velocities = (self.roots[:, rows + 1, :2] - self.roots[:, rows - 1, :2]) * (0.5 * fps)
        trajectory = Trajectory.of(root[..., :2], rot.direction_of_yaw(root[..., 2]), velocities).seen_from(now)
        return trajectory, self.speeds[:, rows], self.actions[:, rows]


def unit_facings(facings: Array, wished: Array) -> Array:
    """Facings (..., 2) made unit; where own and ``wished`` ones were opposite and cancel out, the wish holds."""
    length = np.sqrt(np.sum(facings**2, axis=-1, keepdims=True))
    return np.where(length > 1e-3, facings / np.maximum(length, 1e-3), wished)


def wish_share(tau: float | Array) -> Array:
    """Share of the wish at each future sample (6,), or (n, 6) for taus (n, 1); none of it now.

    It is t^tau, t from 0 now to 1 at the last sample: smaller tau obeys quicker, larger tau moves more naturally.
    """
    t = np.arange(FUTURE) / (FUTURE - 1)
    return np.asarray(np.where(t > 0.0, np.maximum(t, 1e-12) ** tau, 0.0))
