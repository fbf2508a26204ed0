"""The vectors of the Phase-Functioned Neural Network: what it is told of frame i and of its last pose, and its answer.

Holden et al. 2017, section 4. Everything is in the root space of its own frame. Heights, those
of the joints too, are counted from the `reference_height` of the ground that the body walks on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.clip import BoolArray, Clip
from ..motion.contact_labels import CONTACT_POINTS
from ..motion.filters import derivative
from ..motion.phases import Phase
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .features import sample_root
from .layout import Layout
from .poses import clip_poses
from .trajectory import FUTURE, PAST, SAMPLE_TIMES, SAMPLES, clip_trajectory, sampled

#: Heights are felt in the middle and this far to the left and to the right, metres.
ASIDE = 0.25
#: The ground's reference height is a mean along the way between these samples: -20 to +20 frames.
REFERENCE_SAMPLES = slice(PAST - 2, PAST + 3)
#: So many points for each of these samples.
_BETWEEN = 10
#: Blocks of the input that are the pose.
POSE_BLOCKS: tuple[str, ...] = ("joint_positions", "joint_velocities")
#: Points (..., 2) in the world -> heights (...), metres.
Heights = Callable[[Array], Array]


def input_layout(joints: int, gaits: int) -> Layout:
    """The input: trajectory, heights and gaits at 12 samples, and the pose of the frame before."""
    return Layout.of(
        trajectory_positions=2 * SAMPLES,
        trajectory_directions=2 * SAMPLES,
        trajectory_heights=3 * SAMPLES,
        gaits=gaits * SAMPLES,
        joint_positions=3 * joints,
        joint_velocities=3 * joints,
    )


def output_layout(joints: int) -> Layout:
    """The answer: trajectory from the next frame on, this frame's pose, the root's motion and the phase's to the next.

    Joint angles are exponential maps of the joints' rotations away from rest, in root space.
    """
    return Layout.of(
        trajectory_positions=2 * FUTURE,
        trajectory_directions=2 * FUTURE,
        joint_positions=3 * joints,
        joint_velocities=3 * joints,
        joint_angles=3 * joints,
        root_velocity=2,
        root_turning=1,
        phase_change=1,
        contacts=len(CONTACT_POINTS),
    )


def pose_columns(layout: Layout) -> slice:
    """Where the pose lies in an input."""
    return slice(layout.slices[POSE_BLOCKS[0]].start, layout.slices[POSE_BLOCKS[-1]].stop)


def sample_points(positions: Array, directions: Array) -> Array:
    """Where heights are felt (..., 3, samples, 2): under the samples (..., samples, 2), left and right of them."""
    left = ASIDE * np.stack([-directions[..., 1], directions[..., 0]], axis=-1)
    return np.stack([positions, positions + left, positions - left], axis=-3)


def reference_points(positions: Array) -> Array:
    """Points (..., k, 2) on the way from -20 to +20 frames, of samples (..., samples, 2)."""
    near = positions[..., REFERENCE_SAMPLES, :]
    part = np.arange(_BETWEEN)[:, None] / _BETWEEN
    between = near[..., :-1, None, :] + part * np.diff(near, axis=-2)[..., None, :]
    return np.concatenate([between.reshape(*near.shape[:-2], -1, 2), near[..., -1:, :]], axis=-2)


def reference_height(heights: Array) -> Array:
    """The height (...) that all others are counted from, of heights (..., k) at `reference_points`.

    Their mean, those nearest weighing most: so many that it is smooth even over stairs, where a mean of the samples
    themselves would jump by several centimetres from frame to frame.
    """
    count = heights.shape[-1]
    weights = 1.0 - np.cos(2.0 * np.pi * (np.arange(count) + 1.0) / (count + 1.0))
    return np.asarray(heights @ (weights / weights.sum()))


def felt_points(positions: Array, directions: Array) -> Array:
    """All points (..., n, 2) at which the ground under a trajectory (..., samples, 2) is looked up."""
    samples = sample_points(positions, directions)
    flat = samples.reshape(*samples.shape[:-3], 3 * SAMPLES, 2)
    return np.concatenate([flat, reference_points(positions)], axis=-2)


@dataclass(frozen=True)
class Felt:
    """The ground as it is felt: heights (..., 3, samples) over their reference height (...), metres in the world."""

    heights: Array
    reference: Array

    @classmethod
    def of(cls, heights: Array) -> Felt:
        """From the heights (..., n) at `felt_points`."""
        count = 3 * SAMPLES
        reference = reference_height(heights[..., count:])
        samples = heights[..., :count].reshape(*heights.shape[:-1], 3, SAMPLES)
        return cls(samples - reference[..., None, None], reference)


def points_along(root: Array, fps: float) -> Array:
    """The `felt_points` (frames, n, 2) of every frame of a root track (frames, 3), metres in the world."""
    frames = np.arange(len(root))
    world = np.stack([sample_root(root, frames + seconds * fps, fps) for seconds in SAMPLE_TIMES], axis=1)
    return felt_points(world[..., :2], rot.direction_of_yaw(world[..., 2]))


def felt_along(root: Array, fps: float, ground: Heights) -> Felt:
    """The ground felt at every frame of a root track (frames, 3)."""
    return Felt.of(ground(points_along(root, fps)))


@dataclass(frozen=True)
class PfnnFrames:
    """A clip's frames as the network meets them, float64; the first frame has no frame before it.

    Attributes:
        trajectory: positions and directions (frames, 4 * samples), metres.
        gaits: (frames, gaits * samples), 0 to 1.
        pose: joint positions and velocities (frames, 6 b); positions counted from the reference height.
        angles: exponential maps (frames, 3 b), radians.
        steps: the root's velocity (m/s), turning and the phase's change (rad/s) to the next frame (frames, 4).
        contacts: (frames, 4), 0 or 1.
        heights: counted from the reference height (frames, 3 * samples), metres.
        phase: (frames,), radians, 0 to 2 pi.
    """

    trajectory: Array
    gaits: Array
    pose: Array
    angles: Array
    steps: Array
    contacts: Array
    heights: Array
    phase: Array


def clip_frames(clip: Clip, phase: Phase, gaits: Array, felt: Felt, contacts: BoolArray) -> PfnnFrames:
    """All that the network is told, and should answer, of every frame of a clip.

    Args:
        clip: the motion. phase: its phase. gaits: share of each gait shown by each frame (frames, gaits).
        felt: the ground under it, from `felt_along`.
        contacts: of heels and toes (frames, 4), columns as `contact_labels.CONTACT_POINTS`.
    """
    count = len(clip)
    poses = clip_poses(clip)
    places, turns = clip.skeleton.fk(poses.hips, poses.rotations)
    places[..., 2] -= felt.reference[:, None]
    to_root = rot.inv(rot.from_yaw(clip.root[:, 2]))[:, None]
    velocity = rot.rotate(to_root, derivative(clip.world[0], clip.fps))
    positions, directions, _ = clip_trajectory(clip)
    change = np.diff(phase.angle, append=phase.angle[-1:]) * clip.fps
    if count > 1:
        change[-1] = change[-2]
    return PfnnFrames(
        trajectory=np.concatenate([positions.reshape(count, -1), directions.reshape(count, -1)], axis=1),
        gaits=sampled(gaits, clip.fps).reshape(count, -1),
        pose=np.concatenate([places.reshape(count, -1), velocity.reshape(count, -1)], axis=1),
        angles=angles_of(clip.skeleton, turns).reshape(count, -1),
        steps=np.concatenate([poses.root_step * clip.fps, change[:, None]], axis=1),
        contacts=contacts.astype(np.float64),
        heights=felt.heights.reshape(count, -1),
        phase=np.mod(phase.angle, 2.0 * np.pi),
    )


def angles_of(skeleton: Skeleton, turns: Array) -> Array:
    """Exponential maps (frames, b, 3) of root-space rotations (frames, b, 4).

    Less than half a turn in the first frame, and from then on continuous, beyond half a turn too.
    """
    away = rot.mul(turns, rot.inv(skeleton.rest_world[1]))
    away = rot.unroll(np.concatenate([rot.positive(away[:1]), away[1:]]))
    length = np.linalg.norm(away[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(length, away[..., :1])
    # So near to rest an exponential map is twice the quaternion's vector.
    return np.asarray(np.where(length > 1e-9, angle / np.maximum(length, 1e-9), 2.0) * away[..., 1:])


def rotations_of(skeleton: Skeleton, angles: Array) -> Array:
    """Rotations in root space (..., b, 4) of exponential maps (..., b, 3): the inverse of `angles_of`."""
    return np.asarray(rot.mul(rot.exp(angles), skeleton.rest_world[1]))


class RestBody:
    """Positions of all joints from exponential maps, without a loop over joints, for one skeleton.

    Args:
        skeleton: whose offsets hold.

    Attributes:
        joints: how many. parents: (b,), the hips their own. arms: bones in the rest pose (b, 3), root space, metres.
        chain: (b, b), row j with ones at the joints whose arms lead from the hips to joint j.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.joints = len(skeleton)
        self.parents: npt.NDArray[np.int64] = np.array([0, *skeleton.parents[1:]], dtype=np.int64)
        places = skeleton.rest_world[0]
        self.arms = places - places[self.parents]
        self.chain = np.zeros((self.joints, self.joints))
        for joint in range(1, self.joints):
            self.chain[joint] = self.chain[self.parents[joint]]
            self.chain[joint, joint] = 1.0

    def positions(self, hips: Array, angles: Array) -> Array:
        """Joint positions (..., b, 3), metres, of the hips' (..., 3) and exponential maps (..., b, 3)."""
        vector = angles[..., self.parents, :]
        angle = np.sqrt(np.sum(vector * vector, axis=-1, keepdims=True))
        # Rodrigues: v + sin(a)/a (w x v) + (1 - cos a)/a^2 (w x (w x v)).
        first = np.sinc(angle / np.pi)
        second = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
        once = _cross(vector, np.broadcast_to(self.arms, vector.shape))
        arms = self.arms + first * once + second * _cross(vector, once)
        return np.asarray(self.chain @ arms + hips[..., None, :])


def _cross(a: Array, b: Array) -> Array:
    found = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[..., x] = a[..., y] * b[..., z] - a[..., z] * b[..., y]
    return found
