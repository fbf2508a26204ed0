"""Measures of smoothness and life: knee acceleration (pops), jerk (jitter), angular update (liveliness), sway.

Derivatives are per second at the clip's own rate; compare them only at one rate (`at_measuring_rate`).
"""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .animal import contact_points
from .clip import Clip
from .metrics_basics import difference, low_pass
from .rotations import Array
from .skeleton import Skeleton

#: Sway is what the hips do above this frequency, Hz; strides are faster, bends of the path slower.
SWAY_CUTOFF_HZ = 0.35
#: Frames that turn faster are left out: there the path itself bends too fast to be told from sway, rad/s.
SWAY_TURN_LIMIT = 1.0


def knee_joints(skeleton: Skeleton) -> tuple[int, ...]:
    """The knees; of four legs stifle and hock, elbow and wrist of each: the two joints that follow a leg's first."""
    if not skeleton.four_legged:
        return tuple(foot.knee for foot in skeleton.feet)
    return tuple(joint for foot in skeleton.feet for joint in foot.chain[1:3])


def knee_angles(clip: Clip) -> Array:
    """Flexion (f, knees) of `knee_joints`: angle between thigh and shank, radians; 0 is a straight leg."""
    positions, skeleton = clip.world[0], clip.skeleton
    lines: list[list[Array]] = []
    if skeleton.four_legged:
        ends = contact_points(skeleton, *clip.world)
        for number, foot in enumerate(skeleton.feet):
            points = [*(positions[:, joint] for joint in foot.chain), ends[:, number]]
            lines += [points[at : at + 3] for at in range(len(foot.chain[1:3]))]
    else:
        lines = [[positions[:, joint] for joint in (foot.hip, foot.knee, foot.ankle)] for foot in skeleton.feet]
    found = []
    for above, knee, below in lines:
        thigh, shank = knee - above, below - knee
        cross = np.linalg.norm(np.cross(thigh, shank), axis=-1)
        found.append(np.arctan2(cross, np.sum(thigh * shank, axis=-1)))
    return np.stack(found, axis=1)


def knee_acceleration(clip: Clip) -> Array:
    """|Angular acceleration| (f, knees) of the knees, degrees/s^2; NaN at the first and last frame.

    Second central difference of the knee joint's own rotation, as rotation vectors. The knees are
    `knee_joints`.
    """
    knees = np.array(knee_joints(clip.skeleton))
    rotations = clip.rotations[:, knees]
    out = np.full(rotations.shape[:2], np.nan)
    if len(clip) > 2:
        velocity = rot.log(rot.inv_mul(rotations[:-1], rotations[1:])) * clip.fps
        out[1:-1] = np.degrees(np.linalg.norm(np.diff(velocity, axis=0), axis=-1) * clip.fps)
    return out


def jerk(clip: Clip) -> Array:
    """Norm of the third derivative of the joints' world positions (f,), mean of the joints, m/s^3.

    Third difference over four frames; NaN where there are none (two frames at the start, one at the end).
    """
    third = difference(clip.world[0], 3, clip.fps)
    return np.asarray(np.mean(np.linalg.norm(third, axis=-1), axis=-1), dtype=np.float64)


def angular_update(clip: Clip) -> Array:
    """Angle by which the joints turned since the frame before (f,), mean of the joints, degrees/s.

    The joints' own (parent-space) rotations, the hips' in the world. Toes are left out: most capture holds
    them stiff and planting bends them over the floor, which is no restlessness. NaN at the first frame.
    """
    out = np.full(len(clip), np.nan)
    if len(clip) > 1:
        toes = {foot.toe for foot in clip.skeleton.feet} - {foot.ankle for foot in clip.skeleton.feet}
        joints = [joint for joint in range(len(clip.skeleton)) if joint not in toes]
        before, after = clip.rotations[:-1, joints], clip.rotations[1:, joints]
        sign = np.where(np.sum(before * after, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        chord = np.linalg.norm(after - sign * before, axis=-1)
        angle = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
        out[1:] = np.degrees(np.mean(angle, axis=-1)) * clip.fps
    return out


def hips_sway(clip: Clip) -> Array:
    """Sideways distance (f,) of the hips from their own slower way, metres: what is faster than 0.35 Hz.

    The hips' velocity sideways to the root's facing is integrated, so that a bend, which turns the facing
    with it, is no sway. A body led too tightly along its path loses its sway, which no other measure
    shows. NaN in frames that turn faster than 1 rad/s.
    """
    if len(clip) < 3:
        return np.full(len(clip), np.nan)
    yaw = np.unwrap(clip.root[:, 2])
    sideways = rot.rotate_2d(-yaw, np.gradient(clip.hips[:, :2], axis=0))[:, 0]
    track = np.cumsum(sideways - low_pass(sideways, SWAY_CUTOFF_HZ, clip.fps))
    sway = np.abs(track - low_pass(track, SWAY_CUTOFF_HZ, clip.fps))
    return np.where(np.abs(np.gradient(yaw)) * clip.fps > SWAY_TURN_LIMIT, np.nan, sway)
