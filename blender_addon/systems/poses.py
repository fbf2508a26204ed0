"""The pose vector of Motion Matching and Learned Motion Matching (y of Holden et al. 2020).

Root space, 60 frames a second. Only the hips translate: every other joint keeps its skeleton's
offset, so only the hips' position is stored, not 3b constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.filters import derivative
from ..motion.rotations import Array
from .layout import Layout


def pose_layout(joints: int, feet: int = 2) -> Layout:
    """The pose vector of a skeleton with so many joints and feet."""
    return Layout.of(
        hips_position=3,
        rotations=6 * joints,
        hips_velocity=3,
        angular_velocities=3 * joints,
        root_velocity=2,
        root_turning=1,
        contacts=feet,
    )


@dataclass(frozen=True)
class Poses:
    """Poses in root space; any leading axes.

    Attributes:
        hips: position of the hips (..., 3), metres.
        rotations: rotation in the parent's frame (..., b, 4); joint 0's relative to the root.
        root_step: the root's motion from this frame to the next, in this frame's root space (..., 3):
            x, y in metres, yaw in radians.
        contacts: (..., feet), 0..1.
    """

    hips: Array
    rotations: Array
    root_step: Array
    contacts: Array

    def first_two(self) -> Poses:
        """The first two frames of (c, frames, ...): what a motion that never jumps would have been, itself."""
        rows = np.minimum(np.arange(2), self.hips.shape[1] - 1)
        return Poses(self.hips[:, rows], self.rotations[:, rows], self.root_step[:, rows], self.contacts[:, rows])


def clip_poses(clip: Clip) -> Poses:
    """The clip's frames in root space (frames, ...); the last step repeats the one before."""
    turn = rot.inv(rot.from_yaw(clip.root[:, 2]))
    base = np.concatenate([clip.root[:, :2], np.zeros((len(clip), 1))], axis=-1)
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.mul(turn, clip.rotations[:, 0])
    step = np.zeros((len(clip), 3))
    if len(clip) > 1:
        delta = np.diff(clip.root, axis=0)
        step[:-1, :2] = rot.rotate_2d(-clip.root[:-1, 2], delta[:, :2])
        step[:-1, 2] = delta[:, 2]
        step[-1] = step[-2]
    return Poses(rot.rotate(turn, clip.hips - base), rotations, step, clip.contacts.astype(np.float64))


def relative_root(origin: Array, root: Array) -> Array:
    """``root`` (c, 3) x, y, yaw as seen from ``origin`` (c, 3); the yaw is not wrapped."""
    away = rot.rotate_2d(-origin[:, 2], root[:, :2] - origin[:, :2])
    return np.concatenate([away, root[:, 2:] - origin[:, 2:]], axis=1)


def relative_trajectory(root: Array, future: Array) -> tuple[Array, Array]:
    """Future roots as seen from ``root``.

    Args:
        root: (n, 3) x, y, yaw. future: (n, samples, 3).

    Returns:
        positions (n, samples, 2) in metres, and facing directions (n, samples, 2), in root space.
    """
    turn = -root[:, None, 2]
    return (
        rot.rotate_2d(turn, future[..., :2] - root[:, None, :2]),
        rot.direction_of_yaw(future[..., 2] + turn),
    )


def encode_poses(poses: Poses, fps: float) -> Array:
    """Pose vectors (frames, size) of consecutive frames; velocities by central differences."""
    frames, joints = poses.rotations.shape[:2]
    turning = rot.angular_velocity(poses.rotations, 1.0 / fps)
    return pose_layout(joints, poses.contacts.shape[-1]).join(
        hips_position=poses.hips,
        rotations=rot.to_6d(poses.rotations).reshape(frames, -1),
        hips_velocity=derivative(poses.hips, fps),
        angular_velocities=turning.reshape(frames, -1),
        root_velocity=poses.root_step[:, :2] * fps,
        root_turning=poses.root_step[:, 2:] * fps,
        contacts=poses.contacts,
    )


def decode_poses(vectors: npt.NDArray[Any], joints: int, fps: float, feet: int = 2) -> Poses:
    """Poses from pose vectors (..., size); rotations are orthonormalised."""
    layout = pose_layout(joints, feet)
    vectors = np.asarray(vectors, dtype=np.float64)
    axes = layout.get(vectors, "rotations").reshape(*vectors.shape[:-1], joints, 6)
    step = np.concatenate([layout.get(vectors, "root_velocity"), layout.get(vectors, "root_turning")], axis=-1) / fps
    return Poses(layout.get(vectors, "hips_position"), rot.from_6d(axes), step, layout.get(vectors, "contacts"))
