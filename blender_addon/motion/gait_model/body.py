"""What the gait model knows of a skeleton: its sizes, the chains of trunk, neck and tail, and its legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rotations as rot
from ..animal import LEGS, girdles, shoulder_height
from ..animal_limbs import Limb, limbs_of
from ..errors import RigError
from ..rotations import Array
from ..skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Body:
    """A four-legged skeleton as the gait model sees it; positions are of the rest pose, metres.

    Attributes:
        skeleton: the joints.
        height: of the withers.
        positions, rotations: the rest pose in the world (b, 3), (b, 4).
        spine: joints after the hips up to the one that carries the shoulders, in order; empty with a single bone.
        neck: joints after the chest up to the one before the head.
        head: the head's joint, -1 without one.
        tail: joints from the body on.
        limbs: the legs in the order of `animal.LEGS`.
        pelvis, chest: middles of the hip joints and of the shoulder joints (3,).
        places: where each foot's bearing joint or point stands, seen from its girdle's middle on the ground (4, 2).
    """

    skeleton: Skeleton
    height: float
    positions: Array
    rotations: Array
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int
    tail: tuple[int, ...]
    limbs: tuple[Limb, ...]
    pelvis: Array
    chest: Array
    places: Array

    @property
    def chest_joint(self) -> int:
        """The joint that carries the shoulders."""
        return self.spine[-1] if self.spine else 0

    @property
    def blade_reach(self) -> float:
        """How far shoulder joints lie ahead of their blades' tops, metres; 0 without blades."""
        limb = self.limbs[2]
        if limb.scapula < 0:
            return 0.0
        return max(float(self.positions[limb.scapula, 1] - self.positions[limb.foot.hip, 1]), 0.0)

    @property
    def trunk_length(self) -> float:
        """From the middle of the hips to the middle of the shoulders along the ground, metres."""
        return float(np.linalg.norm((self.chest - self.pelvis)[:2]))

    @classmethod
    def of(cls, skeleton: Skeleton) -> Body:
        """Read a skeleton; raises `RigError` when it is no four-legged one or lacks a leg."""
        if not skeleton.four_legged or skeleton.missing_roles:
            missing = ", ".join(role.replace("_", " ") for role in skeleton.missing_roles)
            raise RigError(
                f"The gait model moves animals on four legs; this rig lacks {missing}" if missing
                else "The gait model moves animals on four legs; this rig has two", "Map the bones of all four legs",
            )  # fmt: skip
        positions, rotations = skeleton.rest_world
        pelvis, chest = girdles(skeleton, positions)
        limbs = limbs_of(skeleton)
        carriers = [skeleton.parents[limb.scapula if limb.scapula >= 0 else limb.foot.hip] for limb in limbs[2:]]
        shared = [joint for joint in _way_up(skeleton, carriers[0]) if joint in _way_up(skeleton, carriers[1])]
        spine = tuple(reversed(shared[:-1]))
        head = skeleton.index("head") if skeleton.has("head") else -1
        above = _way_up(skeleton, skeleton.parents[head]) if head >= 0 else []
        neck = tuple(joint for joint in reversed(above) if joint not in (0, *spine))
        tail = tuple(skeleton.index(f"tail_{n}") for n in range(1, 9) if skeleton.has(f"tail_{n}"))
        places = np.array([
            limb.points(positions[None], rotations[None])[0, -1, :2] - (pelvis if at < 2 else chest)[:2]
            for at, limb in enumerate(limbs)
        ])  # fmt: skip
        return cls(
            skeleton, shoulder_height(skeleton), positions, rotations, spine, neck, head, tail, limbs, pelvis, chest,
            _even(places),
        )  # fmt: skip


def pitch(angle: Array | float) -> Array:
    """Nose-up rotations (..., 4) by angles (...), radians, of a body facing -Y."""
    return rot.from_axis_angle(np.array([-1.0, 0.0, 0.0]), angle)


def roll(angle: Array | float) -> Array:
    """Rotations (..., 4) that lift the left side, by angles (...), radians, of a body facing -Y."""
    return rot.from_axis_angle(np.array([0.0, -1.0, 0.0]), angle)


def _way_up(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and its parents up to the hips."""
    found = []
    while joint >= 0:
        found.append(joint)
        joint = skeleton.parents[joint]
    return found


def _even(places: Array) -> Array:
    """The feet's places made alike left and right: a rest pose may stand askew."""
    mirrored = places[[LEGS.index(leg) for leg in ("right_hind", "left_hind", "right_fore", "left_fore")]]
    return np.asarray(0.5 * (places + mirrored * np.array([-1.0, 1.0])))
