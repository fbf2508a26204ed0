"""Paws and hooves as planting sees feet: a sole that the toes carry, about the point that bears."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal import contact_offsets
from .bridging import BoolArray, bridge, minimum_jerk
from .clip import Clip
from .feet import FootMotion, FootShape, FootTarget, sole_points
from .footfalls import Footfalls
from .rotations import UP, Array
from .runs import runs
from .skeleton import Skeleton
from .terrain import Terrain

#: A sole reaches at least so far before and behind the point that bears, of the leg's length.
_LEAST_SOLE = 0.04
#: A pad rolls from heel to tip over this much of its height, metres: softly.
_ROLL = 0.002
#: A swinging paw's tip comes this near to the ground, metres, softly; a paw is bent up by so much at most, radians; and
#: that only this far into the swing.
_NEAR, _MOST_BENT, _RAMP = 0.004, np.radians(50.0), 0.12


def paw_motions(clip: Clip) -> tuple[FootMotion, ...]:
    """The four feet of an animal, in the order of `animal.LEGS`, each as a rigid foot at its toe joint."""
    return tuple(_motion(clip, shape) for shape in paw_shapes(clip.skeleton))


def paw_shapes(skeleton: Skeleton) -> tuple[FootShape, ...]:
    """The feet's soles: ``ball`` is the point that bears, in the toe joint's frame, and lies on the ground."""
    positions, rotations = skeleton.rest_world
    least = _LEAST_SOLE * skeleton.leg_length
    found = []
    for foot, bears in zip(skeleton.feet, contact_offsets(skeleton), strict=True):
        turn = rotations[foot.toe]
        ahead, left = (rot.inv_rotate(turn, np.array(axis)) for axis in ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)))
        heel = positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.heel) - positions[foot.toe]
        heel = rot.inv_rotate(turn, heel)
        found.append(FootShape(
            foot=replace(foot, ankle=foot.toe, heel=heel, ball=bears, ball_height=0.0), ball=bears,
            ahead=ahead, left=left, toe_left=left,
            heel_length=max(float((bears - heel) @ ahead), least),
            tip_length=max(float((foot.tip - bears) @ ahead), least),
        ))  # fmt: skip
    return tuple(found)


def bend_up(target: FootTarget, motion: FootMotion) -> FootTarget:
    """The target with paws bent up in their swings, where their tip would be in the ground that the motion was made on.

    Long paws that hang would otherwise lift the whole leg, and jerk it off the ground.
    """
    shape = motion.shape
    points = sole_points(shape, motion.ball, motion.rotation, motion.toe_rotation)
    depth = np.maximum(_NEAR - points[:, 2, 2], 0.0)
    length = max(float(np.linalg.norm(shape.foot.tip - shape.ball)), 1e-6)
    hang = (points[:, 1, 2] - points[:, 2, 2]) / length
    before, after = (np.arcsin(np.clip(sine, -1.0, 1.0)) for sine in (hang, hang - depth**2 / (depth + _NEAR) / length))
    angle = np.minimum(before - after, _MOST_BENT)
    left = rot.rotate(target.rotation, shape.left)
    turn = rot.exp(-left * (angle * share_of_swing(target.contact, _RAMP))[:, None])
    return replace(target, rotation=rot.mul(turn, target.rotation), toe_turn=rot.mul(turn, target.toe_turn))


def share_of_swing(contact: BoolArray, ramp: float) -> Array:
    """0 where a foot stands (f,), 1 in the middle of its swings, smooth over ``ramp`` of each at either end."""
    out = np.zeros(len(contact))
    for first, last in runs(~contact):
        u = (np.arange(first, last) - first + 1) / (last - first + 1)
        out[first:last] = minimum_jerk(np.minimum(u, 1.0 - u) / ramp)
    return out


def roll_pad(
    target: FootTarget, shape: FootShape, falls: Footfalls, turn: Array, terrain: Terrain, fps: float
) -> FootTarget:
    """The target (ball f, 3) of a leg without a paw, whose pad turns with it: over what of the pad is lowest.

    The point that bears keeps its place from above and comes up by as much as heel or tip would sink.

    Args:
        turn: world rotation (f, 4) that the leg's solution gives its last joint.
        fps: frames per second.
    """
    points = sole_points(shape, target.ball, turn, turn)
    sunk = terrain.height(points[..., :2]) - points[..., 2]
    lift = _ROLL * np.log(np.mean(np.exp((sunk - sunk[:, 1:2]) / _ROLL), axis=1))
    shift = np.maximum(lift, 0.0) + sunk[:, 1]
    return replace(target, ball=target.ball + bridge(shift[:, None], falls.stands, fps) * UP)


def _motion(clip: Clip, shape: FootShape) -> FootMotion:
    positions, rotations = clip.world
    turn = rotations[:, shape.foot.toe]
    ahead, left = rot.rotate(turn, shape.ahead), rot.rotate(turn, shape.left)
    level = ahead[:, :2] + np.stack([left[:, 1], -left[:, 0]], axis=-1)
    return FootMotion(
        shape=shape, ball=positions[:, shape.foot.toe] + rot.rotate(turn, shape.ball), rotation=turn, toe_rotation=turn,
        yaw=np.unwrap(rot.yaw_of_direction(level)), pitch=np.arcsin(np.clip(-ahead[:, 2], -1.0, 1.0)),
        roll=np.arcsin(np.clip(left[:, 2], -1.0, 1.0)),
    )  # fmt: skip
