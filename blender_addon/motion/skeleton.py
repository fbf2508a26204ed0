"""Skeletons: joints, their rest pose, their anatomical roles, and forward kinematics.

Model space: metres, Z up, facing -Y, left at +X.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import animal
from . import rotations as rot
from .errors import RigError
from .rotations import Array

_TRUNK_ROLES: tuple[str, ...] = (
    "hips", "spine_1", "spine_2", "spine_3", "spine_4", "spine_5", "spine_6",
    "neck", "neck_2", "neck_3", "neck_4", "head",
)  # fmt: skip

#: Anatomical roles of a two-legged character. A role names the joint a bone starts at. ``spine_1``,
#: ``spine_2`` ... run from the hips up and are as many as the skeleton has; so do ``neck``, ``neck_2`` ...
BIPED_ROLES: tuple[str, ...] = (
    *_TRUNK_ROLES,
    "left_clavicle", "left_shoulder", "left_elbow", "left_wrist",
    "right_clavicle", "right_shoulder", "right_elbow", "right_wrist",
    "left_hip", "left_knee", "left_ankle", "left_toe",
    "right_hip", "right_knee", "right_ankle", "right_toe",
)  # fmt: skip

#: Without these a character cannot walk.
REQUIRED_ROLES: tuple[str, ...] = (
    "hips", "left_hip", "left_knee", "left_ankle", "right_hip", "right_knee", "right_ankle",
)  # fmt: skip

#: Anatomical roles of a four-legged character. The fore leg from shoulder blade to hoof: ``wrist`` is the carpus (a
#: horse's knee), ``fore_paw`` where the toes or the pastern begin. The hind leg: ``knee`` is the stifle, ``hock`` the
#: ankle, ``hind_paw`` and ``hind_hoof`` as in front. ``tail_1`` ... run from the body on.
QUADRUPED_ROLES: tuple[str, ...] = (
    *_TRUNK_ROLES,
    *(
        f"{side}_{part}"
        for side in ("left", "right")
        for part in ("scapula", "shoulder", "elbow", "wrist", "fore_paw", "fore_hoof",
                     "hip", "knee", "hock", "hind_paw", "hind_hoof")
    ),
    *(f"tail_{number}" for number in range(1, 9)),
)  # fmt: skip

#: Without these four legs cannot walk.
REQUIRED_QUADRUPED_ROLES: tuple[str, ...] = (
    "hips",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "elbow", "hip", "knee", "hock")),
)

SIDES: tuple[str, str] = ("left", "right")


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot's joints and its sole, for planting and for measuring.

    Attributes:
        side: ``left`` or ``right``; of four-legged bodies the leg, as in `animal.LEGS`.
        hip, knee, ankle, toe: joint indices; ``toe`` is the ball of the foot. Of four-legged bodies the leg's first
            two joints (hip and stifle, shoulder and elbow), the one above the toes, and the toes.
        heel: the heel's point on the sole, in the ankle joint's frame (3,), metres.
        ball: the sole's point under the ball, in the ankle joint's frame (3,), metres.
        tip: the tip of the toes on the sole, in the toe joint's frame (3,), metres.
        ball_height: height of the toe joint over the ground when the foot stands flat, metres.
        ankle_height: height of the ankle joint over the ground when the foot stands flat, metres.
        chain: all joints of a four-legged body's leg, top first; empty for two legs.
    """

    side: str
    hip: int
    knee: int
    ankle: int
    toe: int
    heel: Array
    ball: Array
    tip: Array
    ball_height: float
    ankle_height: float
    chain: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Sole:
    """What a foot's mesh looks like from below, in the joints' frames, metres.

    Attributes:
        heel, ball: points on the sole in the ankle joint's frame (3,).
        tip: the tip of the toes on the sole in the toe joint's frame (3,); the ankle's for a foot without toe joint.
    """

    heel: Array
    ball: Array
    tip: Array


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints with a rest pose.

    Joint 0 is the hips and the only one without a parent; a parent comes before its children.
    Two skeletons are equal only if they are the same object.

    Attributes:
        names: joint names (b).
        parents: index of each joint's parent (b,), -1 for joint 0.
        offsets: rest translation of each joint in its parent's frame (b, 3), metres; for joint 0 in
            model space.
        rest_rotations: rest rotation of each joint in its parent's frame (b, 4).
        tails: end of each joint's bone in the joint's own frame (b, 3), metres.
        roles: role -> joint name.
        ball_height: height of the toe joints over the ground in a flat stance, metres.
        soles: side (or leg) -> the measured sole; feet without one are guessed from their bones.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    rest_rotations: Array
    tails: Array
    roles: Mapping[str, str] = field(default_factory=dict)
    ball_height: float = 0.02
    soles: Mapping[str, Sole] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.names)
        if count == 0 or len(set(self.names)) != count:
            raise RigError("A skeleton needs joints with distinct names")
        if len(self.parents) != count or self.parents[0] != -1 or any(
            not 0 <= p < i for i, p in enumerate(self.parents[1:], start=1)
        ):
            raise RigError("A skeleton needs one root joint, and parents before their children")
        for array, shape in (
            (self.offsets, (count, 3)), (self.rest_rotations, (count, 4)), (self.tails, (count, 3)),
        ):  # fmt: skip
            if array.shape != shape or not np.all(np.isfinite(array)):
                raise RigError(f"A skeleton's rest pose must be finite and of shape {shape}")
        unknown = sorted(set(self.roles.values()) - set(self.names))
        if unknown:
            raise RigError(f"Roles name joints the skeleton lacks: {', '.join(unknown)}")

    def __len__(self) -> int:
        return len(self.names)

    def index(self, role: str) -> int:
        """Joint index of a role; raises `RigError` when the skeleton has no such joint."""
        if role not in self.roles:
            raise RigError(f"The skeleton has no {role.replace('_', ' ')}", "Map that bone by hand")
        return self.names.index(self.roles[role])

    def has(self, role: str) -> bool:
        """Whether a joint is mapped to ``role``."""
        return role in self.roles

    @cached_property
    def four_legged(self) -> bool:
        """Whether the roles are a four-legged body's."""
        return any(role.endswith(("_hock", "_paw", "_hoof")) for role in self.roles)

    @cached_property
    def missing_roles(self) -> tuple[str, ...]:
        """Roles without which its kind of body cannot walk, and which no joint has."""
        required = REQUIRED_QUADRUPED_ROLES if self.four_legged else REQUIRED_ROLES
        return tuple(role for role in required if role not in self.roles)

    @cached_property
    def levels(self) -> tuple[tuple[Array, Array], ...]:
        """(children, parents) index arrays by depth, for kinematics without a loop over joints."""
        depth = [0] * len(self)
        for joint, parent in enumerate(self.parents[1:], start=1):
            depth[joint] = depth[parent] + 1
        parents = np.array(self.parents)
        found = []
        for level in range(1, max(depth) + 1):
            children = np.array([j for j, d in enumerate(depth) if d == level])
            found.append((children, parents[children]))
        return tuple(found)

    @cached_property
    def rest_world(self) -> tuple[Array, Array]:
        """World positions (b, 3) and rotations (b, 4) of the rest pose."""
        return self.fk(self.offsets[0], self.rest_rotations)

    @cached_property
    def mirror_map(self) -> Array:
        """Index (b,) of each joint's partner on the other side; itself for joints in the middle.

        Roles decide first, then names with left/right in one of the usual styles.
        """
        partner = {name: name for name in self.names}
        by_role = dict(self.roles)
        for role, name in by_role.items():
            other = _swap_side(role)
            if other != role and other in by_role:
                partner[name] = by_role[other]
        for name in self.names:
            other = _swap_side(name)
            if partner[name] == name and partner.get(other) == other:
                partner[name], partner[other] = other, name
        return np.array([self.names.index(partner[name]) for name in self.names])

    @cached_property
    def feet(self) -> tuple[Foot, ...]:
        """Left and right foot, or the four of `animal.LEGS`; raises `RigError` when a leg is missing."""
        if self.four_legged:
            return tuple(animal.foot_of(self, leg) for leg in animal.LEGS)
        return tuple(self._foot(side) for side in SIDES)

    @cached_property
    def leg_length(self) -> float:
        """Hip to knee to ankle in the rest pose, mean of the legs, metres; four legs: `animal.leg_height`."""
        if self.four_legged:
            return animal.leg_height(self)
        positions = self.rest_world[0]
        lengths = []
        for side in SIDES:
            hip, knee, ankle = (positions[self.index(f"{side}_{part}")] for part in ("hip", "knee", "ankle"))
            lengths.append(np.linalg.norm(hip - knee) + np.linalg.norm(knee - ankle))
        return float(np.mean(lengths))

    def fk(self, hips: Array, rotations: Array) -> tuple[Array, Array]:
        """World positions (..., b, 3) and rotations (..., b, 4) of all joints.

        Args:
            hips: position of joint 0 (..., 3), metres.
            rotations: rotation of each joint in its parent's frame (..., b, 4); joint 0's in the
                world. Rest rotation included, not relative to it.
        """
        rotations = np.asarray(rotations, dtype=np.float64)
        positions = np.empty((*rotations.shape[:-1], 3))
        world = np.array(rotations)
        positions[..., 0, :] = hips
        for children, parents in self.levels:
            turn = world[..., parents, :]
            world[..., children, :] = rot.mul(turn, rotations[..., children, :])
            positions[..., children, :] = positions[..., parents, :] + rot.rotate(turn, self.offsets[children])
        return positions, world

    def local_rotations(self, world: Array) -> Array:
        """Rotations in the parents' frames (..., b, 4) from world rotations (..., b, 4)."""
        local = np.array(world)
        parents = np.array(self.parents[1:], dtype=int)
        local[..., 1:, :] = rot.inv_mul(world[..., parents, :], world[..., 1:, :])
        return local

    def to_json(self) -> dict[str, Any]:
        """A plain description, for packs and data sets."""
        return {
            "names": list(self.names), "parents": list(self.parents),
            "offsets": np.round(self.offsets, 7).tolist(),
            "rest_rotations": np.round(self.rest_rotations, 9).tolist(),
            "tails": np.round(self.tails, 7).tolist(),
            "roles": dict(self.roles), "ball_height": self.ball_height,
            "soles": {
                side: {part: np.round(getattr(sole, part), 7).tolist() for part in ("heel", "ball", "tip")}
                for side, sole in self.soles.items()
            },
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Skeleton:
        """The inverse of `to_json`; raises `RigError` for anything malformed."""
        try:
            return cls(
                names=tuple(str(name) for name in data["names"]),
                parents=tuple(int(parent) for parent in data["parents"]),
                offsets=np.array(data["offsets"], dtype=np.float64),
                rest_rotations=rot.normalize(np.array(data["rest_rotations"], dtype=np.float64)),
                tails=np.array(data["tails"], dtype=np.float64),
                roles={str(k): str(v) for k, v in dict(data.get("roles", {})).items()},
                ball_height=float(data.get("ball_height", 0.02)),
                soles={
                    str(side): Sole(*(np.array(sole[part], dtype=np.float64) for part in ("heel", "ball", "tip")))
                    for side, sole in dict(data.get("soles", {})).items()
                },
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RigError(
                f"The description of the skeleton is malformed ({error})", "Choose a file that Gaitsmith has written"
            ) from error

    def _foot(self, side: str) -> Foot:
        positions, rotations = self.rest_world
        hip, knee, ankle = (self.index(f"{side}_{part}") for part in ("hip", "knee", "ankle"))
        toe = self.index(f"{side}_toe") if self.has(f"{side}_toe") else ankle
        if side in self.soles:
            return self._measured_foot(side, hip, knee, ankle, toe)
        ground = positions[toe, 2] - self.ball_height
        if toe == ankle:
            ground = min(positions[ankle, 2], float(_tail_world(self, ankle)[2])) - self.ball_height
        ankle_height = float(positions[ankle, 2] - ground)
        ball_point = positions[toe] if toe != ankle else _tail_world(self, ankle)
        tip = _tail_world(self, toe)
        length = max(float(np.linalg.norm((ball_point - positions[ankle])[:2])), 0.5 * ankle_height)
        ahead = ball_point - positions[ankle]
        ahead = np.array([ahead[0], ahead[1], 0.0])
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
        # A heel reaches about a third of the ankle-to-ball length behind the ankle.
        heel = positions[ankle] - ahead * 0.35 * length
        points = [np.array([p[0], p[1], ground]) for p in (heel, ball_point, tip)]
        return Foot(
            side=side, hip=hip, knee=knee, ankle=ankle, toe=toe,
            heel=rot.inv_rotate(rotations[ankle], points[0] - positions[ankle]),
            ball=rot.inv_rotate(rotations[ankle], points[1] - positions[ankle]),
            tip=rot.inv_rotate(rotations[toe], points[2] - positions[toe]),
            ball_height=float(ball_point[2] - ground), ankle_height=ankle_height,
        )  # fmt: skip

    def _measured_foot(self, side: str, hip: int, knee: int, ankle: int, toe: int) -> Foot:
        positions, rotations = self.rest_world
        sole = self.soles[side]
        ground = float((positions[ankle] + rot.rotate(rotations[ankle], sole.ball))[2])
        joint = positions[toe] if toe != ankle else _tail_world(self, ankle)
        return Foot(
            side=side, hip=hip, knee=knee, ankle=ankle, toe=toe, heel=sole.heel, ball=sole.ball, tip=sole.tip,
            ball_height=float(joint[2]) - ground, ankle_height=float(positions[ankle, 2]) - ground,
        )  # fmt: skip


def make_skeleton(
    names: Sequence[str],
    parents: Sequence[int],
    offsets: Array,
    tails: Array | None = None,
    roles: Mapping[str, str] | None = None,
    rest_rotations: Array | None = None,
    ball_height: float = 0.02,
) -> Skeleton:
    """A `Skeleton` with what is not given filled in: rest rotations identity, tails at the first child."""
    offsets = np.asarray(offsets, dtype=np.float64)
    count = len(names)
    if tails is None:
        tails = np.zeros((count, 3))
        for joint in range(count):
            children = [c for c, p in enumerate(parents) if p == joint]
            if children:
                tails[joint] = offsets[children].mean(axis=0) if len(children) > 1 else offsets[children[0]]
    if rest_rotations is None:
        rest_rotations = np.tile(rot.IDENTITY, (count, 1))
    return Skeleton(
        names=tuple(names), parents=tuple(int(p) for p in parents), offsets=offsets,
        rest_rotations=rest_rotations, tails=np.asarray(tails, dtype=np.float64), roles=dict(roles or {}),
        ball_height=ball_height,
    )  # fmt: skip


def _tail_world(skeleton: Skeleton, joint: int) -> Array:
    positions, rotations = skeleton.rest_world
    return positions[joint] + rot.rotate(rotations[joint], skeleton.tails[joint])


_SIDE_PAIRS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_SHORT_PAIRS = ((".L", ".R"), ("_L", "_R"), (".l", ".r"), ("_l", "_r"), ("-L", "-R"), ("-l", "-r"))


def _swap_side(name: str) -> str:
    for left, right in _SIDE_PAIRS:
        if left in name:
            return name.replace(left, right)
        if right in name:
            return name.replace(right, left)
    for left, right in _SHORT_PAIRS:
        for one, other in ((left, right), (right, left)):
            if name.endswith(one):
                return name[: -len(one)] + other
            if f"{one}." in name:
                return name.replace(f"{one}.", f"{other}.")
    if len(name) > 1 and name[0] in "LR" and name[1].isupper():
        return ("R" if name[0] == "L" else "L") + name[1:]
    return name
