"""How alike two motions move their legs: the plane of each knee, and the sharpness of its movement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .animal_limbs import limbs_of
from .clip import Clip
from .ik import knee_hinge
from .metrics_basics import at_measuring_rate
from .metrics_smoothness import knee_acceleration
from .retarget_animal import facing_forward, first_bend
from .rotations import Array

#: A knee nearer to the line from hip to ankle than this share of the leg tells no plane.
STRAIGHT = 0.04


def knee_plane_difference(clip: Clip, source: Clip) -> Array:
    """Angle (f, legs) in degrees between the planes in which the knees of two motions bend.

    NaN in straight legs, and in those that capture has bent backwards. The lines from hip to ankle are first laid onto
    each other by the shortest turn: what is left is how far the knee points elsewhere.

    Animals stand on legs of their own shape: by how much their knees point elsewhere at rest is taken away, and legs
    whose first hinge bends to the other side cannot be compared (NaN).

    Args:
        clip: the motion.
        source: what it was made from, frame by frame, facing the same way.
    """
    count = min(len(clip), len(source))
    four = clip.skeleton.four_legged
    found = []
    for leg in range(len(clip.skeleton.feet)):
        angle, bent = _apart(_Knee.of(clip, leg, count), _Knee.of(source, leg, count))
        if four:
            rests = [_at_rest(motion) for motion in (clip, source)]
            own = _apart(*(_Knee.of(rest, leg, 1) for rest in rests))[0]
            angle = rot.wrap_angle(angle - own)
            sides = [first_bend(rest.skeleton, rest.skeleton.feet[leg]) for rest in rests]
            bent = bent if sides[0] * sides[1] >= 0.0 else np.zeros(count)
        found.append(np.where(bent > STRAIGHT, np.degrees(np.abs(angle)), np.nan))
    return np.stack(found, axis=1)


@dataclass(frozen=True)
class _Knee:
    """The line from hip to ankle (f, 3), unit; the knee's way off it (f, 3), metres; how far it is bent, in legs (f,).

    A knee bent backwards is not bent.
    """

    line: Array
    side: Array
    bent: Array

    @classmethod
    def of(cls, motion: Clip, leg: int, count: int) -> _Knee:
        (hip, knee, ankle), hinge = _knee(motion, leg, count)
        line = ankle - hip
        line = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-9)
        side = knee - hip
        side = side - np.sum(side * line, axis=-1, keepdims=True) * line
        forward = np.sum(np.cross(knee - hip, ankle - knee) * hinge, axis=-1) > 0.0
        return cls(line, side, forward * np.linalg.norm(side, axis=-1) / motion.skeleton.leg_length)


def _apart(ours: _Knee, theirs: _Knee) -> tuple[Array, Array]:
    """Signed angle (f,) from their knee's direction to ours about the leg, radians, and how far both are bent (f,)."""
    other = rot.rotate(rot.between(theirs.line, ours.line), theirs.side)
    sine = np.sum(np.cross(other, ours.side) * ours.line, axis=-1)
    return np.arctan2(sine, np.sum(other * ours.side, axis=-1)), np.minimum(ours.bent, theirs.bent)


def _at_rest(motion: Clip) -> Clip:
    """One frame of a body's rest pose, facing -Y."""
    skeleton = facing_forward(motion.skeleton)
    return Clip(
        skeleton, motion.fps, skeleton.offsets[:1], skeleton.rest_rotations[None], np.zeros((1, 3)),
        np.ones((1, len(skeleton.feet)), dtype=bool),
    )  # fmt: skip


def _knee(motion: Clip, leg: int, count: int) -> tuple[list[Array], Array]:
    """Hip, knee and what follows it (frames, 3), and the knee's hinge; of four legs stifle and elbow are the knees."""
    skeleton, (positions, rotations) = motion.skeleton, motion.world
    foot = skeleton.feet[leg]
    if not skeleton.four_legged:
        points = [positions[:count, joint] for joint in (foot.hip, foot.knee, foot.ankle)]
        return points, rot.rotate(rotations[:count, foot.hip], knee_hinge(skeleton, foot, positions, rotations))
    limb = limbs_of(skeleton)[leg]
    line = limb.points(positions[:count], rotations[:count])
    return [line[:, at] for at in range(3)], rot.rotate(rotations[:count, limb.joints[0]], limb.axes[0])


def pop_ratio(clip: Clip, source: Clip) -> float:
    """99th percentile of the knees' angular acceleration over that of the source; NaN if the source never moves."""
    ours, theirs = (
        float(np.nanpercentile(knee_acceleration(at_measuring_rate(motion)), 99.0)) if len(motion) > 2 else float("nan")
        for motion in (clip, source)
    )
    return ours / theirs if theirs > 0.0 else float("nan")
