"""Four-legged skeletons: the chains of their legs, the foot at each chain's end, and the sizes they are scaled by.

Legs are always in the order of `LEGS`, the left hind first: phase lags of gaits are counted from it.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from . import rotations as rot
from .rotations import Array

if TYPE_CHECKING:
    from .skeleton import Foot, Skeleton

#: Columns of a four-legged clip's contacts.
LEGS: tuple[str, ...] = ("left_hind", "right_hind", "left_fore", "right_fore")
#: Parts of a leg from the trunk down; the scapula in front of them turns with the leg but is no hinge of it.
HIND_CHAIN: tuple[str, ...] = ("hip", "knee", "hock", "hind_paw", "hind_hoof")
FORE_CHAIN: tuple[str, ...] = ("shoulder", "elbow", "wrist", "fore_paw", "fore_hoof")
#: Legs of other lengths, metres, are taken for another unit's: from a cat's to a giraffe's.
PLAUSIBLE_LEG: tuple[float, float] = (0.1, 3.0)
#: A leg's last joint lies flat on the ground if its height at rest is under this share of the leg's.
_FLAT_SHARE = 0.14
#: A shoulder blade's top is at least so much higher than the shoulder joint; without one it is guessed.
_WITHERS = 1.15


def leg_roles(leg: str) -> tuple[str, ...]:
    """Roles of a leg's joints, top first, whether or not a skeleton has them."""
    side, end = leg.split("_")
    return tuple(f"{side}_{part}" for part in (HIND_CHAIN if end == "hind" else FORE_CHAIN))


def above_in_leg(role: str, roles: Container[str]) -> str | None:
    """Of a leg's joint the next one above it among ``roles``; None for a leg's first joint and for other parts."""
    for leg in LEGS:
        chain = leg_roles(leg)
        if role in chain:
            return next((above for above in reversed(chain[: chain.index(role)]) if above in roles), None)
    return None


def leg_joints(skeleton: Skeleton, leg: str) -> tuple[int, ...]:
    """Indices of a leg's joints, top first; raises `RigError` when the first three are not there."""
    roles = leg_roles(leg)
    needed = roles[: 3 if leg.endswith("hind") else 2]
    return tuple(skeleton.index(role) for role in roles if role in needed or skeleton.has(role))


def foot_of(skeleton: Skeleton, leg: str) -> Foot:
    """The foot at the end of a leg.

    Its ``toe`` is the last joint where that one lies on the ground at rest, else the leg ends in a point that the
    last joint carries: the measured sole, or the end of its bone.
    """
    from .skeleton import Foot

    positions, rotations = skeleton.rest_world
    chain = leg_joints(skeleton, leg)
    top, last = positions[chain[0]], chain[-1]
    flat = len(chain) > 3 and positions[last, 2] < _FLAT_SHARE * top[2]
    ankle, toe = (chain[-2], last) if flat else (last, last)
    tip = positions[last] + rot.rotate(rotations[last], skeleton.tails[last])
    if not flat and tip[2] > _FLAT_SHARE * top[2]:
        tip = np.array([*positions[last][:2], 0.0])
    under = np.array([*(positions[toe] if flat else tip)[:2], 0.0])
    sole = skeleton.soles.get(leg)
    ball = sole.ball if sole is not None else rot.inv_rotate(rotations[ankle], under - positions[ankle])
    end = np.array([*tip[:2], 0.0])
    return Foot(
        side=leg, hip=chain[0], knee=chain[1], ankle=ankle, toe=toe,
        heel=sole.heel if sole is not None else ball, ball=ball,
        tip=sole.tip if sole is not None else rot.inv_rotate(rotations[toe], end - positions[toe]),
        ball_height=float(positions[toe, 2]) if flat else 0.0, ankle_height=float(positions[ankle, 2]), chain=chain,
    )  # fmt: skip


def contact_offsets(skeleton: Skeleton) -> Array:
    """Where each leg's contact point lies in its last joint's frame (4, 3), metres: under that joint, on the sole.

    Paws bend where their toes begin, so the toes carry the point that bears, not the foot above them.
    """
    positions, rotations = skeleton.rest_world
    return np.stack([
        rot.inv_rotate(
            rotations[foot.toe],
            positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.ball) - positions[foot.toe],
        )
        for foot in skeleton.feet
    ])  # fmt: skip


def contact_points(skeleton: Skeleton, positions: Array, rotations: Array) -> Array:
    """Where each leg meets the ground (..., 4, 3), metres, from world positions (..., b, 3) and rotations (same, 4)."""
    toes = [foot.toe for foot in skeleton.feet]
    return np.asarray(positions[..., toes, :] + rot.rotate(rotations[..., toes, :], contact_offsets(skeleton)))


def leg_height(skeleton: Skeleton) -> float:
    """From hip or shoulder to the ground contact in the rest pose, mean of the four legs, metres."""
    positions, rotations = skeleton.rest_world
    tops = positions[[foot.hip for foot in skeleton.feet]]
    return float(np.mean(np.linalg.norm(tops - contact_points(skeleton, positions, rotations), axis=-1)))


def shoulder_height(skeleton: Skeleton) -> float:
    """Height of the withers over the ground in the rest pose, metres: what gaits are scaled by.

    The tops of the shoulder blades; where a rig has none, or one beside the joint, as much over the shoulder joints
    as animals have it.
    """
    positions = skeleton.rest_world[0]
    joints = [float(positions[skeleton.index(f"{side}_shoulder"), 2]) for side in ("left", "right")]
    blades = [
        float(positions[skeleton.index(f"{side}_scapula"), 2])
        for side in ("left", "right") if skeleton.has(f"{side}_scapula")
    ]  # fmt: skip
    guessed = _WITHERS * float(np.mean(joints))
    blade = float(np.mean(blades)) if blades else 0.0
    return blade if blade > 1.05 * float(np.mean(joints)) else guessed


def girdles(skeleton: Skeleton, positions: Array) -> tuple[Array, Array]:
    """Middle of the hip joints and middle of the shoulder joints (..., 3), metres, from positions (..., b, 3)."""
    hind, fore = (
        0.5 * (positions[..., skeleton.index(f"left_{part}"), :] + positions[..., skeleton.index(f"right_{part}"), :])
        for part in ("hip", "shoulder")
    )
    return hind, fore


def trunk_ends(skeleton: Skeleton, positions: Array, rotations: Array) -> tuple[Array, Array]:
    """Both ends of the trunk (..., 3), metres: middle of the hip joints, and of the shoulders as the chest has them.

    Shoulder blades swing with the legs, and not all skeletons have them: the point in front is fixed to what carries
    them.

    Args:
        positions: world positions (..., b, 3), metres.
        rotations: world rotations (..., b, 4).
    """
    rest, turns = skeleton.rest_world
    part = "scapula" if skeleton.has("left_scapula") else "shoulder"
    carrier = skeleton.parents[skeleton.index(f"left_{part}")]
    arm = rot.inv_rotate(turns[carrier], girdles(skeleton, rest)[1] - rest[carrier])
    fore = positions[..., carrier, :] + rot.rotate(rotations[..., carrier, :], arm)
    return girdles(skeleton, positions)[0], np.asarray(fore)
