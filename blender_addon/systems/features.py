"""The matching features of Motion Matching and Learned Motion Matching, and their normalisation.

Holden et al. 2020, section 3. 27 numbers a frame for two legs, 39 for four.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.contacts import foot_points
from ..motion.filters import derivative
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .layout import Layout
from .poses import pose_layout, relative_trajectory

Float32 = npt.NDArray[np.float32]

#: Future samples of the trajectory, seconds ahead (+20, +40, +60 frames at 60 fps).
HORIZON_SECONDS: tuple[float, ...] = (1 / 3, 2 / 3, 1.0)

#: The animator's dials: larger values make a group count for more in the search.
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "trajectory_position": 1.5,
    "trajectory_direction": 1.5,
    "foot_position": 0.75,
    "foot_velocity": 1.0,
    "hip_velocity": 1.0,
}


def feature_layout(feet: int = 2) -> Layout:
    """The feature vector of a character with so many feet."""
    samples = len(HORIZON_SECONDS)
    return Layout.of(
        trajectory_position=2 * samples,
        trajectory_direction=2 * samples,
        foot_position=3 * feet,
        foot_velocity=3 * feet,
        hip_velocity=3,
    )


def layouts(skeleton: Skeleton) -> tuple[Layout, Layout]:
    """Feature and pose layouts of Motion Matching and Learned Motion Matching on a skeleton."""
    feet = len(skeleton.feet)
    return feature_layout(feet), pose_layout(len(skeleton), feet)


def clip_features(clip: Clip) -> Array:
    """Features of every frame (frames, 27 or 39), not normalised: metres, metres a second, unit directions.

    Everything is in root space; feet are the points of `contacts.foot_points`. The trajectory beyond the clip's last
    frame is extrapolated at the last half second's mean velocity and turning rate: holding the last frame would look
    like a stop.
    """
    layout = feature_layout(len(clip.skeleton.feet))
    root, fps = clip.root, clip.fps
    points = np.concatenate([clip.world[0][:, :1], foot_points(clip)], axis=1)
    velocity = derivative(points, fps)
    to_root = rot.inv(rot.from_yaw(root[:, 2]))[:, None]
    base = np.concatenate([root[:, :2], np.zeros((len(clip), 1))], axis=-1)[:, None]
    feet = rot.rotate(to_root, points[:, 1:] - base)
    velocity = rot.rotate(to_root, velocity)
    future = [sample_root(root, np.arange(len(clip)) + seconds * fps, fps) for seconds in HORIZON_SECONDS]
    trajectory, direction = relative_trajectory(root, np.stack(future, axis=1))
    return layout.join(
        trajectory_position=trajectory.reshape(len(clip), -1),
        trajectory_direction=direction.reshape(len(clip), -1),
        foot_position=feet.reshape(len(clip), -1),
        foot_velocity=velocity[:, 1:].reshape(len(clip), -1),
        hip_velocity=velocity[:, 0],
    )


def sample_root(root: Array, at: Array, fps: float) -> Array:
    """Root (x, y, yaw) at fractional frames ``at`` (m,), extrapolated past both ends -> (m, 3)."""
    last = len(root) - 1
    window = max(1, min(last, round(0.5 * fps)))
    inside = np.clip(at, 0.0, last)
    low = np.minimum(inside.astype(int), max(last - 1, 0))
    t = (inside - low)[:, None]
    value = (1.0 - t) * root[low] + t * root[np.minimum(low + 1, last)]
    if last == 0:
        return value
    after, before = np.maximum(at - last, 0.0), np.minimum(at, 0.0)
    for frames, rate in ((after, (root[-1] - root[-1 - window]) / window), (before, (root[window] - root[0]) / window)):
        moving = np.nonzero(frames)[0]
        if len(moving):
            value[moving] = _extrapolate(value[moving], rate, frames[moving])
    return value


def _extrapolate(start: Array, rate: Array, frames: Array) -> Array:
    """Go on along a circular arc: constant speed and turning rate per frame."""
    half = 0.5 * rate[2] * frames
    # The chord of an arc: shorter than the arc by sinc, turned by half the angle.
    chord = frames * np.sinc(half / np.pi)
    step = rot.rotate_2d(half, chord[:, None] * rate[:2])
    return np.concatenate([start[:, :2] + step, (start[:, 2] + rate[2] * frames)[:, None]], axis=1)


@dataclass(frozen=True)
class Normalizer:
    """Mean and scale of the features; one scale for each group, divided by the group's weight.

    Attributes:
        mean: (27,). scale: (27,); normalised = (x - mean) / scale.
    """

    mean: Float32
    scale: Float32

    @classmethod
    def fit(cls, features: Array, layout: Layout, weights: Mapping[str, float] = DEFAULT_WEIGHTS) -> Normalizer:
        """Fit to features (n, size): the mean of each group's deviations is its common scale."""
        scale = np.empty(layout.size)
        for block in layout:
            deviation = float(layout.get(features, block.name).std(axis=0).mean())
            scale[layout.slices[block.name]] = max(deviation, 1e-6) / max(weights.get(block.name, 1.0), 1e-6)
        return cls(features.mean(axis=0).astype(np.float32), scale.astype(np.float32))

    def apply(self, features: npt.NDArray[Any]) -> Float32:
        """Normalise (..., 27)."""
        return ((features - self.mean) / self.scale).astype(np.float32)

    def undo(self, normalized: npt.NDArray[Any]) -> Float32:
        """The inverse of `apply`."""
        return (normalized * self.scale + self.mean).astype(np.float32)
