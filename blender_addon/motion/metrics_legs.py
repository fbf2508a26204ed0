"""How alike two motions move their legs: the plane of each knee, and the sharpness of its movement."""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .clip import Clip
from .ik import knee_hinge
from .metrics_basics import at_measuring_rate
from .metrics_smoothness import knee_acceleration
from .rotations import Array

#: A knee nearer to the line from hip to ankle than this share of the leg tells no plane.
STRAIGHT = 0.04


def knee_plane_difference(clip: Clip, source: Clip) -> Array:
    """Angle (f, legs) in degrees between the planes in which the knees of two motions bend.

    NaN in straight legs, and in those that capture has bent backwards.

    The lines from hip to ankle are first laid onto each other by the shortest turn: what is left is how far the
    knee points elsewhere.

    Args:
        clip: the motion.
        source: what it was made from, frame by frame, facing the same way.
    """
    count = min(len(clip), len(source))
    found = []
    for ours, theirs in zip(clip.skeleton.feet, source.skeleton.feet, strict=True):
        sides = []
        for motion, foot in ((clip, ours), (source, theirs)):
            positions = motion.world[0][:count]
            hip, knee, ankle = (positions[:, joint] for joint in (foot.hip, foot.knee, foot.ankle))
            line = ankle - hip
            line = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-9)
            side = knee - hip
            side = side - np.sum(side * line, axis=-1, keepdims=True) * line
            hinge = rot.rotate(motion.world[1][:count, foot.hip], knee_hinge(motion.skeleton, foot, *motion.world))
            forward = np.sum(np.cross(knee - hip, ankle - knee) * hinge, axis=-1) > 0.0
            sides.append((line, side, forward * np.linalg.norm(side, axis=-1) / motion.skeleton.leg_length))
        (line, side, bent), (other_line, other, other_bent) = sides
        other = rot.rotate(rot.between(other_line, line), other)
        sine = np.sum(np.cross(other, side) * line, axis=-1)
        angle = np.degrees(np.abs(np.arctan2(sine, np.sum(other * side, axis=-1))))
        found.append(np.where(np.minimum(bent, other_bent) > STRAIGHT, angle, np.nan))
    return np.stack(found, axis=1)


def pop_ratio(clip: Clip, source: Clip) -> float:
    """99th percentile of the knees' angular acceleration over that of the source; NaN if the source never moves."""
    ours, theirs = (
        float(np.nanpercentile(knee_acceleration(at_measuring_rate(motion)), 99.0)) if len(motion) > 2 else float("nan")
        for motion in (clip, source)
    )
    return ours / theirs if theirs > 0.0 else float("nan")
