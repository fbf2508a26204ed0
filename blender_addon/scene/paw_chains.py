"""How Rigify's paws turn the heel by themselves: the hidden chains between an animal's hip and paw. Numbers only.

A hidden leg of two bones reaches from hip or shoulder to the paw's joint. Behind, a second one hangs on it and tells
how the foot stands; in front, the foot turns towards its knee by a share. The heel's control turns on top of that.
Points and axes are of the rest pose, in the armature's space and units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion import rotations as rot
from ..motion.rotations import Array
from .chain_solver import Chain

#: A rigid move from the rest pose in the armature's space: rotation (f, 4), translation (f, 3).
Move = tuple[Array, Array]


@dataclass(frozen=True)
class HiddenLeg:
    """Two bones: the first turns freely, the second about its own x axis, with a pole.

    Attributes:
        chain: the bones.
        front: (3,) the direction of the first bone that is turned to the pole.
    """

    chain: Chain
    front: Array

    def move(self, hip: Move, target: Array, pole: Array) -> tuple[Move, Move]:
        """The moves of both bones.

        Args:
            hip: what carries the first.
            target: (f, 3) the end's goal.
            pole: (f, 3) the pole's place.
        """
        begin, joint, end = self.chain.points
        start = apply(hip, begin)
        # As Blender begins: the rest pose, turned until it points to the goal and the front to the pole.
        mine, theirs = _frame(end - begin, self.front), _frame(target - start, pole - start)
        turn = rot.from_matrix(theirs @ np.swapaxes(mine, -1, -2))
        one, two = self.chain.solve(turn, turn, start, target)
        first = one, start - rot.rotate(one, begin)
        return first, (two, apply(first, joint) - rot.rotate(two, joint))


@dataclass(frozen=True)
class HindHeel:
    """Behind, shin and foot hang once more on the hidden thigh and reach for the paw: so the heel stands.

    Attributes:
        leg: the hidden leg.
        chain: shin and foot; the shin turns about its x axis, the foot freely.
    """

    leg: HiddenLeg
    chain: Chain

    def move(self, hip: Move, paw: Move, pole: Array) -> Move:
        """The move of what carries the heel's control."""
        knee, heel, end = self.chain.points
        target = apply(paw, end)
        thigh = self.leg.move(hip, target, pole)[0]
        start = apply(thigh, knee)
        one, two = self.chain.solve(thigh[0], thigh[0], start, target)
        return two, start + rot.rotate(one, heel - knee) - rot.rotate(two, heel)


@dataclass(frozen=True)
class ForeHeel:
    """In front, the foot turns by a share towards the hidden leg's knee.

    Attributes:
        leg: the hidden leg.
        paw: (3,) where the foot turns.
        axis: (3,) what is turned towards the knee.
        share: 0..1 how far.
        own: the rotation (4,) of what carries the heel's control from what turns; the rest pose needs it.
    """

    leg: HiddenLeg
    paw: Array
    axis: Array
    share: float
    own: Array

    def move(self, hip: Move, paw: Move, pole: Array) -> Move:
        """The move of what carries the heel's control."""
        target = apply(paw, self.paw)
        knee = apply(self.leg.move(hip, target, pole)[0], self.leg.chain.points[1])
        whole = rot.between(np.broadcast_to(rot.rotate(paw[0], self.axis), knee.shape), knee - target)
        turn = rot.mul(rot.mul(rot.slerp(rot.IDENTITY, whole, self.share), paw[0]), self.own)
        return turn, target - rot.rotate(turn, self.paw)


@dataclass(frozen=True)
class PlainHeel:
    """The heel's control hangs on the paw's: nothing turns by itself."""

    def move(self, hip: Move, paw: Move, pole: Array) -> Move:
        """The move of what carries the heel's control."""
        del hip, pole
        return paw


Heel = HindHeel | ForeHeel | PlainHeel


def apply(move: Move, point: Array) -> Array:
    """Where a point goes."""
    return np.asarray(rot.rotate(move[0], point) + move[1])


def inverse(move: Move) -> Move:
    """The move that takes it back."""
    turn = rot.inv(move[0])
    return turn, -rot.rotate(turn, move[1])


def _frame(line: Array, up: Array) -> Array:
    """Axes (f, 3, 3), in columns: along a line, across it towards ``up``, and across both."""
    along = line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12)
    across = up - np.sum(up * along, axis=-1, keepdims=True) * along
    across = across / np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-12)
    return np.stack([along, across, np.cross(along, across)], axis=-1)
