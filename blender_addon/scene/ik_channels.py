"""Limbs by their IK controls: what feet, hands, heels and poles must do for the limbs to move as asked. Numbers only.

The sole's frame (``base``) is the foot with its roll taken back: the foot's control keeps still while heel or toes
roll over the ground, and the roll itself is one angle, as an animator would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..motion import rotations as rot
from ..motion.ik import two_bones
from ..motion.rotations import Array
from ..motion.runs import runs
from .paw_chains import Heel, Move, apply, inverse

if TYPE_CHECKING:
    from .controls import Control
    from .rigs import Rig

_STILL: Move = (rot.IDENTITY, np.zeros(3))
#: The plane of a limb bent by less than these shares of its length is blended into that of the rest pose.
_STRAIGHT = (0.0015, 0.006)
#: A heel's roll begins so long before it lands, seconds; and a stand is flat by this share of it.
_BEFORE_LANDING, _FLAT_BY = 0.15, 0.4
_MOST_ROLL = 1.4
#: Toes bent by up to so much (radians) may stand flat.
_LEVEL = 0.15


@dataclass(frozen=True)
class Roll:
    """The control that rolls a foot over toes (angles above 0) and heel (below 0).

    Attributes:
        bone, mode: the control and its rotation mode.
        axis: (3,) the axis at rest, in the armature's space.
        ball, heel: (3,) the points rolled over, at rest, in the armature's units.
    """

    bone: str
    mode: str
    axis: Array
    ball: Array
    heel: Array

    @property
    def path(self) -> str:
        """Its channel."""
        return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            self.mode, "rotation_euler"
        )

    def move(self, angle: Array) -> Move:
        """How the foot moves from the sole's frame."""
        turn = rot.from_axis_angle(self.axis, angle)
        pivot = np.where((angle < 0.0)[:, None], self.heel, self.ball)
        return turn, pivot - rot.rotate(turn, pivot)


@dataclass(frozen=True)
class Limb:
    """A leg or an arm with IK controls. Joints as in `Control`.

    Attributes:
        start, middle, end: hip, knee, ankle; or shoulder, elbow, wrist.
        ride: the joint that the start hangs on.
        pole: the number of its pole, and (3,) the pole's place at rest in the armature's units.
        base, carrier: numbers of the sole's frame and of what carries the toes; None for arms.
        toe: the toe joint; None without.
        roll: how the foot rolls; None where it cannot.
        controls: names of the controls.
        fk: names of the FK controls that are idle.
    """

    start: int
    middle: int
    end: int
    ride: int
    pole: tuple[int, Array]
    base: int | None
    carrier: int | None
    toe: int | None
    roll: Roll | None
    controls: tuple[str, ...]
    fk: tuple[str, ...]

    def carry(self, control: Control, moves: dict[int, Move], roll: Array | None) -> None:
        """Once the foot's control has moved: the foot itself, and what carries the toes."""
        if self.base is None or self.carrier is None or self.base != control.joint:
            return
        base = moves[self.base]
        moves[self.end] = moves[self.carrier] = base
        if self.roll is not None and roll is not None:
            angle = angle_of(self.roll, roll)
            moves[self.end] = compose(base, self.roll.move(angle))
            moves[self.carrier] = compose(base, self.roll.move(np.minimum(angle, 0.0)))

    def moves(
        self, rig: Rig, moves: Sequence[Move], stands: Array, fps: float
    ) -> tuple[dict[int, Move], dict[str, Array]]:
        """See `limb_moves`; ``stands`` (f,): of its own foot."""
        found = {self.pole[0]: pole_move(self, rig, moves)}
        if self.base is None or self.carrier is None:
            return found, {}
        found[self.base] = found[self.carrier] = moves[self.end]
        if self.roll is None or self.toe is None:
            return found, {}
        angle = _roll_angle(self.roll, moves[self.end], moves[self.toe], stands, fps)
        base = compose(moves[self.end], inverse(self.roll.move(angle)))
        found[self.base] = base
        found[self.carrier] = compose(base, self.roll.move(np.minimum(angle, 0.0)))
        return found, {self.roll.bone: angle}

    def near(self, bone: str, joint: int | None) -> list[int]:
        """See `IkRig.near`."""
        near = [self.middle] if joint == self.ride else []
        if bone in self.controls:
            moved = (self.middle,) if self.controls[-1] == bone else (self.middle, self.end, self.toe)
            near += [number for number in moved if number is not None]
        return near


@dataclass(frozen=True)
class PawLimb:
    """A leg of an animal, with a heel that turns by itself. Joints as in `Control`.

    Attributes:
        start, middle, end: hip, knee, hock; or shoulder, elbow, wrist.
        paw: the joint below, about which the heel turns.
        last: the joint that the foot's control moves: the paw's, or a hoof's below.
        ride: the joint that the start hangs on.
        pole: the number of its pole, and (3,) the pole's place at rest in the armature's units.
        frame: the number of what carries the heel's control.
        heel: how that moves.
        controls: names of the controls: pole, foot, pastern's if there is one, heel's.
        fk: names of the FK controls that are idle.
    """

    start: int
    middle: int
    end: int
    paw: int
    last: int
    ride: int
    pole: tuple[int, Array]
    frame: int
    heel: Heel
    controls: tuple[str, ...]
    fk: tuple[str, ...]
    base: None = None
    roll: None = None

    def carry(self, control: Control, moves: dict[int, Move], roll: Array | None) -> None:
        """Once pole and paw have moved: what carries the heel's control."""
        del roll
        if control.bone == self.controls[-2]:
            self._carry(moves)

    def _carry(self, moves: dict[int, Move]) -> None:
        pole = apply(moves.get(self.pole[0], _STILL), self.pole[1])
        moves[self.frame] = self.heel.move(moves[self.ride], moves[self.paw], pole)

    def moves(
        self, rig: Rig, moves: Sequence[Move], stands: Array, fps: float
    ) -> tuple[dict[int, Move], dict[str, Array]]:
        """See `limb_moves`."""
        del stands, fps
        found = {self.pole[0]: pole_move(self, rig, moves)}
        self._carry(all_moves := dict(enumerate(moves)) | found)
        return found | {self.frame: all_moves[self.frame]}, {}

    def near(self, bone: str, joint: int | None) -> list[int]:
        """See `IkRig.near`."""
        near = [self.middle, self.end] if joint == self.ride or bone in self.controls else []
        return near + ([self.paw] if bone in self.controls[1:-1] else [])


AnyLimb = Limb | PawLimb


@dataclass(frozen=True)
class IkRig:
    """The limbs of a rig that are keyed by IK controls.

    Attributes:
        limbs: left and right leg, then arms; or an animal's legs in the order of its feet.
        extra: how many numbers are taken beyond joints and root.
        both: the idle FK controls get keys too.
    """

    limbs: tuple[AnyLimb, ...]
    extra: int
    both: bool

    @property
    def loose(self) -> tuple[int, ...]:
        """Joints whose places are kept but whose twist is the IK's own."""
        return tuple(joint for limb in self.limbs for joint in (limb.start, limb.middle))

    @property
    def fk(self) -> tuple[str, ...]:
        """Names of the idle FK controls."""
        return tuple(name for limb in self.limbs for name in limb.fk)

    @property
    def turning_back(self) -> tuple[str, ...]:
        """Names of controls that stand at the far end of their joint's bone: heels of paws, and pasterns."""
        return tuple(name for limb in self.limbs if isinstance(limb, PawLimb) for name in limb.controls[2:])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the limbs' IK controls."""
        return tuple(name for limb in self.limbs for name in limb.controls)

    def roll_of(self, control: Control) -> Roll | None:
        """The roll on top of a foot's control."""
        return next((limb.roll for limb in self.limbs if limb.base is not None and limb.base == control.joint), None)

    def carry(self, control: Control, moves: dict[int, Move], roll: Array | None) -> None:
        """Once a control has moved: what it carries through IK."""
        for limb in self.limbs:
            limb.carry(control, moves, roll)

    def unrolled(self, control: Control, goal: Move, was: Array, now: Array) -> Move:
        """Where a foot's control belongs when its roll came out as ``now`` and not as ``was``."""
        roll = self.roll_of(control)
        assert roll is not None
        foot = compose(goal, roll.move(angle_of(roll, was)))
        return compose(foot, inverse(roll.move(angle_of(roll, now))))

    def finish(self, moves: dict[int, Move], rig: Rig) -> None:
        """Place knees and elbows; their twist is left open."""
        rest = rig.joints[1]
        for limb in self.limbs:
            # A control that has no keys stands still.
            start = apply(moves[limb.ride], rest[limb.start])
            goal = apply(moves.setdefault(limb.end, _STILL), rest[limb.end])
            pole = apply(moves.get(limb.pole[0], _STILL), limb.pole[1])
            upper, lower = (np.linalg.norm(rest[limb.middle] - rest[other]) for other in (limb.start, limb.end))
            middle = two_bones(start, goal, upper, lower, pole)
            moves[limb.start] = moves[limb.ride]
            moves[limb.middle] = (np.broadcast_to(rot.IDENTITY, (len(middle), 4)), middle - rest[limb.middle])

    def near(self, bone: str, joint: int | None, count: int) -> Array:
        """The joints (count,) that a control moves through IK: its limb's, and knees and elbows of what it carries.

        Args:
            bone: the control.
            joint: the joint it moves; None for a roll.
            count: of the skeleton's joints.
        """
        near = np.zeros(count, dtype=bool)
        for limb in self.limbs:
            near[limb.near(bone, joint)] = True
        return near


def compose(one: Move, two: Move) -> Move:
    """The move that does ``two`` first."""
    return rot.mul(one[0], two[0]), rot.rotate(one[0], two[1]) + one[1]


def angle_of(roll: Roll, values: Array) -> Array:
    """The angles (f,) of a roll's channel; its control turns about its own x axis."""
    from .channels import quaternions_of

    q = quaternions_of(roll.path, values, roll.mode)
    return np.asarray(rot.wrap_angle(2.0 * np.arctan2(q[:, 1], q[:, 0])))


def limb_moves(
    ik: IkRig, rig: Rig, moves: Sequence[Move], contacts: Array, fps: float
) -> tuple[dict[int, Move], dict[str, Array]]:
    """The moves of the numbers beyond joints and root, and the angle (f,) of each roll by its bone.

    Args:
        ik: the limbs.
        rig: the rig.
        moves: of every joint, in the armature's space and units.
        contacts: (f, feet) which foot stands.
        fps: frames a second.
    """
    found: dict[int, Move] = {}
    angles: dict[str, Array] = {}
    for number, limb in enumerate(ik.limbs):
        # Arms do not ask what stands.
        more, rolled = limb.moves(rig, moves, contacts[:, min(number, contacts.shape[1] - 1)], fps)
        found |= more
        angles |= rolled
    return found, angles


def pole_move(limb: AnyLimb, rig: Rig, moves: Sequence[Move]) -> Move:
    """The pole ahead of knee or elbow, in the limb's own plane, as far away as at rest."""
    rest = rig.joints[1]
    start, middle, end = (apply(moves[joint], rest[joint]) for joint in (limb.start, limb.middle, limb.end))
    length = sum(float(np.linalg.norm(rest[limb.middle] - rest[other])) for other in (limb.start, limb.end))
    line = end - start
    line = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-9)
    bent = _across(middle - start, line)
    usual = _across(rot.rotate(moves[limb.start][0], limb.pole[1] - rest[limb.middle]), line)
    usual = usual / np.maximum(np.linalg.norm(usual, axis=-1, keepdims=True), 1e-9)
    share = (np.linalg.norm(bent, axis=-1, keepdims=True) / length - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0])
    share = np.clip(share, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    side = share * bent / np.maximum(np.linalg.norm(bent, axis=-1, keepdims=True), 1e-9) + (1.0 - share) * usual
    side = side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-9)
    away = float(np.linalg.norm(limb.pole[1] - rest[limb.middle]))
    place = middle + away * side
    return np.broadcast_to(rot.IDENTITY, (len(place), 4)), place - limb.pole[1]


def _across(vector: Array, line: Array) -> Array:
    return np.asarray(vector - np.sum(vector * line, axis=-1, keepdims=True) * line)


def _twist(q: Array, axis: Array) -> Array:
    """The angle (f,) by which rotations (f, 4) turn about an axis (3,)."""
    return np.asarray(rot.wrap_angle(2.0 * np.arctan2(q[:, 1:] @ axis, q[:, 0])))


def _roll_angle(roll: Roll, foot: Move, toe: Move, stands: Array, fps: float) -> Array:
    """Over the toes as far as these stay behind; over the heel from shortly before a landing until the foot is flat."""
    bend = -_twist(rot.inv_mul(foot[0], toe[0]), roll.axis)
    # Toes that are bent a little where the foot stands flat do not lift the heel.
    level = float(np.clip(np.median(bend[stands]), 0.0, _LEVEL)) if stands.any() else 0.0
    angle = np.clip(bend - level, 0.0, _MOST_ROLL)
    sole = compose(foot, inverse(roll.move(angle)))[0]
    last = 0
    for begin, end in runs(stands):
        flat = begin + int(_FLAT_BY * (end - begin))
        early = max(begin - max(round(_BEFORE_LANDING * fps), 1), last)
        pitch = _twist(rot.inv_mul(sole[flat], sole[early : flat + 1]), roll.axis)
        rise = np.clip((np.arange(early, flat + 1) - early) / max(begin - early, 1), 0.0, 1.0)
        heel = np.clip(pitch, -_MOST_ROLL, 0.0) * rise * rise * (3.0 - 2.0 * rise)
        angle[early : flat + 1] += np.where(angle[early : flat + 1] > 0.0, 0.0, heel)
        last = end
    return np.asarray(angle)
