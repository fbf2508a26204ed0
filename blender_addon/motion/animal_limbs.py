"""Legs of four-legged skeletons for `limb_ik`: their joints, how these bend, and their turns written back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .animal import leg_roles
from .limb_ik import Hinges, LimbTurn, bends, carried_top, solve_chain
from .rotations import Array
from .skeleton import Foot, Skeleton

#: Turning a bone that hangs down about the body's left by a positive angle takes it backwards: stifles, wrists and the
#: joints of the paws flex so, hocks and elbows forwards.
_FORWARDS = ("hock", "elbow")
#: Joints that carry the leg's fold and are never straightened out; the others follow, and hang back when they stand.
_LEADING = ("knee", "hock", "elbow")
#: Least bend of the leading joints, radians and of that at rest: stifles and hocks of dogs and horses stretch to 150 to
#: 165 degrees. How far beyond their rest the others may be bent up, radians.
_LEAST_BEND, _LEAST_OF_REST, _BENT_UP = np.radians(2.0), 0.3, np.radians(8.0)
#: Bounds of the leading joints' share of a fold, and the others' share, radians.
_SHARES, _FOLLOWING = (0.35, 1.2), 0.35
#: A rest pose that bends a leading joint this far the other way (radians) is believed.
_OTHER_WAY = np.radians(15.0)


@dataclass(frozen=True, eq=False)
class Limb:
    """One leg's joints and how they bend.

    Attributes:
        foot: where it ends.
        joints: the joints whose bones the leg consists of, top first (n,).
        scapula: the shoulder blade's joint, -1 without one.
        end: joint at the leg's end: the toes'; -1 for the sole's point that the last joint carries.
        axes: the inner joints' hinges (n - 1, 3), in the frame of the joint before each.
        straight, share: see `limb_ik.Hinges`.
        lateral: the body's left (3,) in the frame of the scapula's parent, or of the leg's.
    """

    foot: Foot
    joints: tuple[int, ...]
    scapula: int
    end: int
    axes: Array
    straight: Array
    share: Array
    lateral: Array

    @classmethod
    def of(cls, skeleton: Skeleton, foot: Foot) -> Limb:
        """Read a leg from the rest pose; raises `RigError` when the skeleton lacks its joints."""
        has_toe = foot.toe != foot.ankle
        joints = foot.chain[:-1] if has_toe else foot.chain
        end = foot.toe if has_toe else -1
        positions, rotations = skeleton.rest_world
        points = _points(positions[None], rotations[None], joints, end, foot)
        parts = [_part(skeleton, foot.side, joint) for joint in joints[1:]]
        across = [_hinge(points[0], at, part) for at, part in enumerate(parts)]
        angles = bends(points, np.stack(across)[None])[0]
        straight, share = np.empty(len(parts)), np.empty(len(parts))
        for at, part in enumerate(parts):
            rest, leads = float(angles[at]), part in _LEADING
            straight[at] = max(_LEAST_BEND, _LEAST_OF_REST * rest) if leads else min(rest, 0.0) - _BENT_UP
            share[at] = np.clip(rest, *_SHARES) if leads else _FOLLOWING
        role = f"{foot.side.split('_')[0]}_scapula"
        scapula = skeleton.index(role) if foot.side.endswith("fore") and skeleton.has(role) else -1
        carrier = skeleton.parents[scapula if scapula >= 0 else foot.hip]
        return cls(
            foot=foot, joints=tuple(joints), scapula=scapula, end=end,
            axes=rot.inv_rotate(rotations[list(joints[:-1])], np.stack(across)), straight=straight, share=share,
            lateral=rot.inv_rotate(rotations[carrier], np.array([1.0, 0.0, 0.0])),
        )  # fmt: skip

    def points(self, positions: Array, rotations: Array) -> Array:
        """The leg's joints and its end (f, n + 1, 3) in a pose: world positions (f, b, 3), rotations (f, b, 4)."""
        return _points(positions, rotations, self.joints, self.end, self.foot)

    def hinges(self, rotations: Array) -> Hinges:
        """The hinges in a pose: world rotations (f, b, 4)."""
        return Hinges(rot.rotate(rotations[:, list(self.joints[:-1])], self.axes), self.straight, self.share)

    def solve(
        self, skeleton: Skeleton, positions: Array, rotations: Array, target: Array, twist: Array | float = 0.0
    ) -> LimbTurn:
        """Turn the leg in a pose (f, b, 3), (f, b, 4) so that its end comes to ``target`` (f, 3): `solve_chain`."""
        top = positions[:, self.scapula] if self.scapula >= 0 else None
        return solve_chain(
            self.points(positions, rotations), target, self.hinges(rotations), twist=twist, scapula=top,
            protraction=self._across(skeleton, rotations),
        )  # fmt: skip

    def top(self, skeleton: Skeleton, positions: Array, rotations: Array, target: Array) -> Array:
        """Where the leg's top (f, 3) is when its end goes to ``target`` (f, 3): a shoulder moves with its blade."""
        points = self.points(positions, rotations)
        if self.scapula < 0:
            return points[:, 0]
        return carried_top(points, target, positions[:, self.scapula], self._across(skeleton, rotations))

    def _across(self, skeleton: Skeleton, rotations: Array) -> Array:
        """The body's left (f, 3) where the leg hangs."""
        carrier = skeleton.parents[self.scapula if self.scapula >= 0 else self.foot.hip]
        return rot.rotate(rotations[:, carrier], self.lateral)

    def write(
        self, skeleton: Skeleton, locals_: Array, rotations: Array, turn: LimbTurn, toe: Array | None = None
    ) -> None:
        """Put a leg's turns into local rotations, in place; what hangs on the leg's last joint goes along with it.

        Args:
            skeleton: the joints.
            locals_: rotations in the parents' frames (f, b, 4), changed.
            rotations: world rotations of the pose that was solved (f, b, 4).
            turn: from `solve`.
            toe: wished world rotation of the toe joint (f, 4); it keeps its angle to the leg without. Ignored on
                rigs without one.
        """
        parents = skeleton.parents
        turns = {joint: turn.segments[:, at] for at, joint in enumerate(self.joints)}
        before: Array = np.broadcast_to(rot.IDENTITY, turn.scapula.shape)
        order: Sequence[int] = self.joints
        if self.scapula >= 0:
            turns[self.scapula] = turn.scapula
            order = (self.scapula, *self.joints)
        for joint in order:
            above = rot.mul(before, rotations[:, parents[joint]])
            locals_[:, joint] = rot.inv_mul(above, rot.mul(turns[joint], rotations[:, joint]))
            before = turns[joint]
        if toe is not None and self.end >= 0:
            locals_[:, self.end] = rot.inv_mul(rot.mul(before, rotations[:, parents[self.end]]), toe)


def limbs_of(skeleton: Skeleton) -> tuple[Limb, ...]:
    """The four legs in the order of `animal.LEGS`; raises `RigError` when one is missing."""
    return tuple(Limb.of(skeleton, foot) for foot in skeleton.feet)


def _points(positions: Array, rotations: Array, joints: Sequence[int], end: int, foot: Foot) -> Array:
    tip = positions[:, end] if end >= 0 else positions[:, joints[-1]] + rot.rotate(rotations[:, joints[-1]], foot.ball)
    return np.concatenate([positions[:, list(joints)], tip[:, None]], axis=1)


def _part(skeleton: Skeleton, leg: str, joint: int) -> str:
    """What a joint is: its role without the side."""
    role = next(role for role in leg_roles(leg) if skeleton.has(role) and skeleton.index(role) == joint)
    return role.split("_", 1)[1]


def _hinge(points: Array, at: int, part: str) -> Array:
    """An inner joint's hinge at rest (3,), world: across the body, or across its own bend where that is clear."""
    across = np.array([-1.0 if part in _FORWARDS else 1.0, 0.0, 0.0])
    before, after = (points[at + k + 1] - points[at + k] for k in (0, 1))
    before, after = before / np.linalg.norm(before), after / np.linalg.norm(after)
    normal = np.cross(before, after)
    sine = float(np.linalg.norm(normal))
    along = float(normal @ across)
    if sine > np.sin(_OTHER_WAY) and abs(along) > 0.8 * sine:
        believed = along > 0.0 or part in _LEADING
        return np.asarray(normal / sine if believed else -normal / sine)
    return across
