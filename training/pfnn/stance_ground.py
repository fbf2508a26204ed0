"""The ground under a motion as its own feet tell it: a smooth surface through the places where they stood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.contacts import foot_points, standing_heights
from blender_addon.motion.rotations import Array
from blender_addon.motion.runs import runs

#: Stands nearer than this count most, metres; further ones where fewer than `_FEW` are so near.
_NEAR, _FEW = 0.25, 4
#: A slope is believed as far as stands so far apart tell it, metres.
_APART = 0.1
#: Points that are looked up at once.
_CHUNK = 20_000


@dataclass(frozen=True)
class StanceGround:
    """A surface through stands: a plane through those around, near ones weighing most.

    Attributes:
        spots: where feet stood (n, 3), metres; z is the ground's height.
    """

    spots: Array

    @classmethod
    def of(cls, clip: Clip) -> StanceGround:
        """The ground under the stands of a clip's contacts; level at 0 where there are none."""
        points, rest = foot_points(clip), standing_heights(clip.skeleton)
        found = [
            np.median(points[first:last, foot], axis=0) - [0.0, 0.0, rest[foot]]
            for foot in range(points.shape[1]) for first, last in runs(clip.contacts[:, foot])
        ]  # fmt: skip
        return cls(np.array(found) if found else np.zeros((1, 3)))

    def __call__(self, xy: Array) -> Array:
        """Heights (...) at points (..., 2)."""
        flat = xy.reshape(-1, 2)
        parts = [self._heights(flat[at : at + _CHUNK]) for at in range(0, len(flat), _CHUNK)]
        return np.concatenate(parts).reshape(xy.shape[:-1])

    def _heights(self, points: Array) -> Array:
        away = self.spots[None, :, :2] - points[:, None]
        square = np.sum(away**2, axis=-1)
        few = min(_FEW, len(self.spots)) - 1
        reach = np.maximum(_NEAR**2, np.partition(square, few, axis=1)[:, few])
        weight = np.exp(-0.5 * square / reach[:, None])
        rows = np.concatenate([np.ones((*square.shape, 1)), away], axis=-1)
        normal = np.einsum("nk,nka,nkb->nab", weight, rows, rows)
        normal += _APART**2 * weight.sum(axis=1)[:, None, None] * np.diag([1e-9, 1.0, 1.0])
        right = np.einsum("nk,nka,k->na", weight, rows, self.spots[:, 2])
        return np.asarray(np.linalg.solve(normal, right[..., None])[:, 0, 0])
