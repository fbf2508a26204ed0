"""The vectors of the Mode-Adaptive Neural Network: what it is told of frame i, and what it tells of frame i + 1.

Zhang et al. 2018. Everything is in the root space of its own frame. Rotations are those of
root space, not of the parents': errors do not add up along a chain, and feet are in place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.filters import derivative
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .layout import Layout
from .poses import clip_poses
from .trajectory import FUTURE, PAST, SAMPLES, clip_trajectory, sampled

#: Blocks of the input that are the pose, in order; of the input and the output alike.
POSE_BLOCKS: tuple[str, ...] = ("joint_positions", "joint_rotations", "joint_velocities")
TRAJECTORY_BLOCKS: tuple[str, ...] = ("trajectory_positions", "trajectory_directions", "trajectory_velocities")


def input_layout(joints: int, actions: int) -> Layout:
    """The input, of frame i: trajectory, desired speed and actions at 12 samples, and the pose (dog, 27 bones: 480)."""
    return Layout.of(
        trajectory_positions=2 * SAMPLES,
        trajectory_directions=2 * SAMPLES,
        trajectory_velocities=2 * SAMPLES,
        speeds=SAMPLES,
        actions=actions * SAMPLES,
        joint_positions=3 * joints,
        joint_rotations=6 * joints,
        joint_velocities=3 * joints,
    )


def output_layout(joints: int, feet: int) -> Layout:
    """The output: trajectory from now on and pose of frame i + 1, the root's motion from i to it, and contacts.

    363 numbers for the paper's dog, as published, and its contacts: planting needs to know what the network means.
    """
    return Layout.of(
        trajectory_positions=2 * FUTURE,
        trajectory_directions=2 * FUTURE,
        trajectory_velocities=2 * FUTURE,
        joint_positions=3 * joints,
        joint_rotations=6 * joints,
        joint_velocities=3 * joints,
        root_velocity=2,
        root_turning=1,
        contacts=feet,
    )


def gating_columns(skeleton: Skeleton, actions: int) -> npt.NDArray[np.int64]:
    """Columns of x that the gating network sees: velocities of the feet, actions and desired speed now (12 + A + 1)."""
    places = input_layout(len(skeleton), actions).slices
    velocity = places["joint_velocities"].start
    feet = [velocity + 3 * foot.toe + axis for foot in skeleton.feet for axis in range(3)]
    now = places["actions"].start + PAST * actions
    return np.array([*feet, *range(now, now + actions), places["speeds"].start + PAST], dtype=np.int64)


@dataclass(frozen=True)
class MannFrames:
    """A clip's frames as the network meets them, float64.

    Attributes:
        inputs: x (frames, size) with the true trajectory, metres, metres a second, one-hot actions.
        steps: the root's velocity (x, y in metres a second) and turning (radians a second) to the next frame, in this
            frame's root space (frames, 3).
        contacts: (frames, feet), 0 or 1.
    """

    inputs: Array
    steps: Array
    contacts: Array


def clip_frames(clip: Clip, labels: npt.NDArray[np.int64], actions: int) -> MannFrames:
    """Inputs, steps and contacts of every frame of a clip.

    Args:
        clip: the motion. labels: index of the action shown by each frame (frames,). actions: how many there are.
    """
    count, joints = len(clip), len(clip.skeleton)
    poses = clip_poses(clip)
    places, turns = clip.skeleton.fk(poses.hips, poses.rotations)
    to_root = rot.inv(rot.from_yaw(clip.root[:, 2]))[:, None]
    velocity = rot.rotate(to_root, derivative(clip.world[0], clip.fps))
    positions, directions, velocities = clip_trajectory(clip)
    inputs = input_layout(joints, actions).join(
        trajectory_positions=positions.reshape(count, -1),
        trajectory_directions=directions.reshape(count, -1),
        trajectory_velocities=velocities.reshape(count, -1),
        speeds=np.linalg.norm(velocities, axis=-1),
        actions=sampled(np.eye(actions)[labels], clip.fps).reshape(count, -1),
        joint_positions=places.reshape(count, -1),
        joint_rotations=rot.to_6d(turns).reshape(count, -1),
        joint_velocities=velocity.reshape(count, -1),
    )
    return MannFrames(inputs, poses.root_step * clip.fps, poses.contacts)


class ForwardKinematics:
    """Positions of all joints from rotations in root space, without a loop over joints, for one skeleton.

    Args:
        skeleton: whose offsets hold.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        joints = len(skeleton)
        self.joints = joints
        self.parents = np.array([0, *skeleton.parents[1:]], dtype=np.int64)
        self.offsets = np.array(skeleton.offsets)
        self.offsets[0] = 0.0
        # Row j: the joints whose arms lead from the hips to joint j.
        chain = np.zeros((joints, joints))
        for joint in range(1, joints):
            chain[joint] = chain[self.parents[joint]]
            chain[joint, joint] = 1.0
        self.chain = chain
        self._ankles = np.array([foot.ankle for foot in skeleton.feet], dtype=np.int64)
        self._balls = np.stack([foot.ball for foot in skeleton.feet])

    def axes(self, raw: Array) -> Array:
        """Orthonormal axes (..., b, 3, 3), a row each, of predicted ones (..., 6 b); see `rotations.from_6d`."""
        raw = raw.reshape(*raw.shape[:-1], self.joints, 2, 3)
        x = raw[..., 0, :] / np.sqrt(np.maximum(np.sum(raw[..., 0, :] ** 2, axis=-1, keepdims=True), 1e-12))
        y = raw[..., 1, :] - np.sum(x * raw[..., 1, :], axis=-1, keepdims=True) * x
        y = y / np.sqrt(np.maximum(np.sum(y * y, axis=-1, keepdims=True), 1e-12))
        z = np.empty_like(x)
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            z[..., a] = x[..., b] * y[..., c] - x[..., c] * y[..., b]
        return np.stack([x, y, z], axis=-2)

    def positions(self, hips: Array, axes: Array) -> Array:
        """Joint positions (..., b, 3), metres, of the hips' (..., 3) and axes (..., b, 3, 3)."""
        arms = np.einsum("...jka,jk->...ja", axes[..., self.parents, :, :], self.offsets)
        found: Array = self.chain @ arms + hips[..., None, :]
        return found

    def balls(self, positions: Array, axes: Array) -> Array:
        """The soles' points under the balls of the feet (..., feet, 3), metres."""
        turned = np.einsum("...jka,jk->...ja", axes[..., self._ankles, :, :], self._balls)
        found: Array = positions[..., self._ankles, :] + turned
        return found


def rotations_of(axes: Array) -> Array:
    """Quaternions (..., 4) of orthonormal axes (..., 3, 3), one a row."""
    return rot.from_matrix(np.swapaxes(axes, -1, -2))


def pose_columns(layout: Layout) -> slice:
    """Where the pose lies in an input or an output."""
    return slice(layout.slices[POSE_BLOCKS[0]].start, layout.slices[POSE_BLOCKS[-1]].stop)
