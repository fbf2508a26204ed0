"""Two-bone leg inverse kinematics about each knee's own hinge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .rotations import Array
from .skeleton import Foot, Skeleton

#: A leg is never stretched beyond this share of its length: a straight knee has no defined plane.
MAX_REACH = 0.9995


@dataclass(frozen=True)
class LegTurn:
    """How a leg must turn, as world rotations to apply on the left of the source's.

    Attributes:
        thigh: for the hip joint and what hangs on it down to the knee (..., 4).
        shin: for the knee joint and what hangs on it down to the ankle (..., 4).
        shortfall: how far the ankle stays from its target (...), metres; 0 when it is in reach.
    """

    thigh: Array
    shin: Array
    shortfall: Array


def solve_leg(
    hip: Array, knee: Array, ankle: Array, hinge: Array, target: Array, twist: Array | float = 0.0
) -> LegTurn:
    """Turn thigh and shin so that the ankle comes to ``target``; the hip stays.

    The knee bends about its hinge; what the source bends sideways (bow legs, capture noise) stays as it is, and
    shrinks with the bend of a leg that is stretched. The leg then swings to its target by the shortest arc.

    Args:
        hip, knee, ankle: source positions (..., 3), metres.
        hinge: unit axis (..., 3), world, about which the knee bends by positive angles: see `knee_hinge`.
        target: wished ankle position (..., 3).
        twist: extra turn (...) of the leg about the line from hip to target, radians: the knee follows the foot.
    """
    thigh, shin = knee - hip, ankle - knee
    upper, lower = _length(thigh), _length(shin)
    t, s = thigh / upper, shin / lower
    reach = target - hip
    wished = _length(reach)
    distance = np.clip(wished, np.abs(upper - lower) + 1e-3 * (upper + lower), MAX_REACH * (upper + lower))
    cosine = (distance**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    bend = np.arccos(np.clip(cosine, -1.0, 1.0))
    new_shin = _bend(t, s, hinge, bend)
    folded = rot.between(s, new_shin)
    line = upper * t + lower * new_shin
    direction = reach / np.maximum(wished, 1e-9)
    swing = rot.between(line / np.maximum(_length(line), 1e-9), direction)
    if np.any(np.asarray(twist) != 0.0):
        swing = rot.mul(rot.from_axis_angle(direction, twist), swing)
    return LegTurn(thigh=swing, shin=rot.mul(swing, folded), shortfall=(wished - distance)[..., 0])


def knee_hinge(skeleton: Skeleton, foot: Foot, positions: Array, rotations: Array) -> Array:
    """The knee's hinge in the hip joint's frame (3,), found from the bent frames of a motion.

    Args:
        positions, rotations: world positions (f, b, 3) and rotations (f, b, 4).

    Where a motion never bends the knee, the rest pose decides: its own bend, else the character's left.
    """
    thigh = positions[:, foot.knee] - positions[:, foot.hip]
    shin = positions[:, foot.ankle] - positions[:, foot.knee]
    normal = _cross(thigh / _length(thigh), shin / _length(shin))
    local = rot.inv_rotate(rotations[:, foot.hip], normal)
    rest_positions, rest_rotations = skeleton.rest_world
    thigh = rest_positions[foot.knee] - rest_positions[foot.hip]
    shin = rest_positions[foot.ankle] - rest_positions[foot.knee]
    rest = _cross(thigh / _length(thigh), shin / _length(shin))
    rest = rest / np.linalg.norm(rest) if np.linalg.norm(rest) > 0.03 else np.zeros(3)
    prior = rot.inv_rotate(rest_rotations[foot.hip], np.array([1.0, 0.0, 0.0]) + 2.0 * rest)
    # Weighting by the sine once more gives the well-bent frames the say.
    weight = np.maximum(_length(local), 0.0)
    total = np.sum(np.where(local @ prior > 0.0, 1.0, 0.0)[:, None] * weight * local, axis=0) / max(len(local), 1)
    axis = total + 1e-3 * prior
    return np.asarray(axis / np.linalg.norm(axis))


def two_bones(hip: Array, goal: Array, upper: Array | float, lower: Array | float, knee: Array) -> Array:
    """Where a knee (f, 3) is between ``hip`` and ``goal``, bent towards where ``knee`` is.

    Args:
        hip, goal: ends (f, 3).
        upper, lower: lengths (f,) or one for all.
        knee: a point (f, 3) on the side to which it bends.
    """
    line = goal - hip
    far = np.maximum(np.linalg.norm(line, axis=-1), 1e-9)
    reach = np.clip(far, np.abs(upper - lower) + 1e-9, upper + lower)
    along = (reach**2 + upper**2 - lower**2) / (2.0 * reach)
    high = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    line = line / far[..., None]
    side = knee - hip
    side = side - np.sum(side * line, axis=-1, keepdims=True) * line
    side = side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-12)
    return np.asarray(hip + along[..., None] * line + high[..., None] * side)


def _bend(t: Array, s: Array, hinge: Array, bend: Array) -> Array:
    """The shin's direction (..., 3) at the angle ``bend`` (..., 1) to the thigh ``t``, forwards of the hinge."""
    axis = hinge - np.sum(hinge * t, axis=-1, keepdims=True) * t
    axis = axis / np.maximum(_length(axis), 1e-9)
    sideways = np.sum(s * axis, axis=-1, keepdims=True)
    sine = np.sin(bend)
    sideways = sideways * np.minimum(1.0, sine / np.maximum(_length(_cross(t, s)), 1e-9))
    back = np.sqrt(np.maximum(sine**2 - sideways**2, 0.0))
    return np.asarray(np.cos(bend) * t + back * _cross(axis, t) + sideways * axis)


def _length(v: Array) -> Array:
    return np.asarray(np.linalg.norm(v, axis=-1, keepdims=True))


def _cross(a: Array, b: Array) -> Array:
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
