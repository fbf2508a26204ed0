"""Blender's own solver for chains of two bones, step by step: where it stops is what a rig's hidden bones show.

Selectively damped least squares (Buss and Kim, "Selectively damped least squares for inverse kinematics", 2005) as in
Blender's ``intern/iksolver``: each step takes 0.8 of the way and at most an eighth of a turn, and steps of less than a
thousandth end it after the eleventh. Results depend on the way there wherever a chain has more freedom than its goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion import rotations as rot
from ..motion.rotations import Array

_MOST_STEPS, _LEAST_STEPS = 500, 12
_STEP, _MOST_ANGLE, _DONE = 0.8, np.pi / 4.0, 1e-3
_SMALL = 1e-10


@dataclass(frozen=True)
class Chain:
    """Two bones at rest, in any frame that stands still.

    Attributes:
        points: (3, 3) start, joint and end.
        axes: (2, 3, 3) of each bone, those about which it turns in rows; what is locked is zero.
    """

    points: Array
    axes: Array

    def solve(self, first: Array, second: Array, start: Array, goal: Array) -> tuple[Array, Array]:
        """Turn the bones until the end is at the goal.

        Args:
            first, second: rotations (f, 4) of the bones from rest to begin with.
            start: (f, 3) where the first one stands.
            goal: (f, 3).

        Returns:
            Rotations (f, 4) of both.
        """
        arms = np.diff(self.points, axis=0)
        size = float(np.linalg.norm(arms, axis=1).sum())
        first, second = np.array(first), np.array(second)
        reach = (goal - start) / size
        busy = np.arange(len(reach))
        for number in range(_MOST_STEPS):
            one, two = first[busy], second[busy]
            joint = rot.rotate(one, arms[0] / size)
            end = joint + rot.rotate(two, arms[1] / size)
            ways = [rot.rotate(turn[:, None], axes) for turn, axes in zip((one, two), self.axes, strict=True)]
            columns = [np.cross(ways[0], end[:, None]), np.cross(ways[1], (end - joint)[:, None])]
            step = _step(np.concatenate(columns, axis=1), _clamped(reach[busy] - end))
            turned = [rot.exp(np.einsum("fk,fkc->fc", part, way))
                      for part, way in zip((step[:, :3], step[:, 3:]), ways, strict=True)]  # fmt: skip
            first[busy] = rot.mul(turned[0], one)
            second[busy] = rot.mul(turned[0], rot.mul(turned[1], two))
            if number + 1 >= _LEAST_STEPS:
                busy = busy[np.abs(step).max(axis=1) >= _DONE]
            if not len(busy):
                break
        return rot.normalize(first), rot.normalize(second)


def _clamped(way: Array) -> Array:
    """At most a quarter of the chain's length at once."""
    return np.asarray(way * np.minimum(1.0, 0.25 / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-12)))


def _step(rows: Array, way: Array) -> Array:
    """Angles (f, d) of a step from derivatives (f, d, 3) of the end by the angles, and its way (f, 3)."""
    v, sizes, u = np.linalg.svd(rows, full_matrices=False)
    inverse = np.where(sizes > _SMALL, 1.0 / np.maximum(sizes, _SMALL), 0.0)
    amounts = np.einsum("fic,fc->fi", u, way) * inverse
    parts = v * amounts[:, None, :]
    most = np.abs(parts).max(axis=1)
    reach = np.einsum("fji,fj->fi", np.abs(v), np.linalg.norm(rows, axis=-1)) * inverse
    limit = _MOST_ANGLE / np.maximum(reach, 1.0)
    damp = np.where(limit < most, limit / np.maximum(most, _SMALL), 1.0)
    step = _STEP * np.sum(parts * damp[:, None, :], axis=2)
    widest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(np.where(widest > _MOST_ANGLE, step * _MOST_ANGLE / (_MOST_ANGLE + widest), step))
