"""Distance of synthesised motion to capture: Frechet distance of one-second windows of pose and velocity.

Such distances miss foot skating altogether: show them only beside the skate figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .clip import Clip
from .errors import DatasetError
from .metrics_basics import at_measuring_rate
from .rotations import Array

#: Length of a window, and from one window's start to the next, in seconds.
WINDOW_SECONDS = 1.0
HOP_SECONDS = 0.1
#: Poses taken from a window, evenly, first and last frame included.
POSES = 5
#: Principal components kept: more than this needs more windows than a bake has.
COMPONENTS = 24


def window_features(clip: Clip) -> Array:
    """Features (windows, d) of a clip's one-second windows, at 60 fps.

    Joint positions (m) and velocities (m/s) of 5 poses, all seen from the root in the middle of the
    window, so that place and heading do not matter and travel does. No rows when the clip is shorter.
    """
    clip = at_measuring_rate(clip)
    length, hop = round(WINDOW_SECONDS * clip.fps) + 1, round(HOP_SECONDS * clip.fps)
    positions = clip.world[0]
    starts = np.arange(0, len(clip) - length + 1, hop)
    if len(starts) == 0:
        return np.zeros((0, POSES * len(clip.skeleton) * 6))
    velocity = np.gradient(positions, axis=0) * clip.fps
    at = starts[:, None] + np.linspace(0, length - 1, POSES).round().astype(int)
    root = clip.root[starts + length // 2]
    turn = rot.inv(rot.from_yaw(root[:, 2]))[:, None, None]
    origin = np.concatenate([root[:, :2], np.zeros((len(root), 1))], axis=-1)
    places = rot.rotate(turn, positions[at] - origin[:, None, None])
    speeds = rot.rotate(turn, velocity[at])
    return np.concatenate([places.reshape(len(starts), -1), speeds.reshape(len(starts), -1)], axis=-1)


@dataclass(frozen=True)
class CaptureSpace:
    """The space in which distances are taken: principal components of the capture.

    Attributes:
        mean, scale: of each feature (d,).
        components: directions kept (d, k).
        features: the capture in it (windows, k).
    """

    mean: Array
    scale: Array
    components: Array
    features: Array

    @classmethod
    def of(cls, clips: Sequence[Clip], components: int = COMPONENTS) -> CaptureSpace:
        """Build it from capture that trained nothing (held back). Raises `DatasetError` under twice as many windows."""
        features = np.concatenate([window_features(clip) for clip in clips]) if clips else np.zeros((0, 1))
        if len(features) < 2 * components:
            raise DatasetError(
                "There is too little held-back motion to take distances to",
                f"Hold back at least {2 * components * HOP_SECONDS:.0f} seconds",
            )
        mean = features.mean(axis=0)
        # One scale for all positions and one for all velocities: a joint that never moves stays unimportant.
        half = features.shape[1] // 2
        spread = features.std(axis=0)
        scale = np.concatenate([np.full(half, np.sqrt(np.mean(part**2)) + 1e-9) for part in np.split(spread, 2)])
        _, _, directions = np.linalg.svd((features - mean) / scale, full_matrices=False)
        kept = directions[:components].T
        return cls(mean, scale, kept, (features - mean) / scale @ kept)

    def distance(self, clips: Sequence[Clip]) -> float:
        """Frechet distance of clips to the capture, no unit; NaN when they have no two windows."""
        found = np.concatenate([window_features(clip) for clip in clips]) if clips else np.zeros((0, len(self.mean)))
        if len(found) < 2:
            return float("nan")
        return frechet_distance((found - self.mean) / self.scale @ self.components, self.features)


def frechet_distance(a: Array, b: Array) -> float:
    """Frechet distance of two samples (n, k), (m, k) taken as Gaussians.

    |mean a - mean b|^2 + tr(A + B - 2 (A^1/2 B A^1/2)^1/2), A and B their covariances.
    """
    shift = np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2)
    cov_a, cov_b = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    values, vectors = np.linalg.eigh(np.atleast_2d(cov_a))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    cross = np.linalg.eigvalsh(root @ np.atleast_2d(cov_b) @ root)
    traces = np.trace(np.atleast_2d(cov_a)) + np.trace(np.atleast_2d(cov_b))
    return max(0.0, float(shift + traces - 2.0 * np.sum(np.sqrt(np.maximum(cross, 0.0)))))
