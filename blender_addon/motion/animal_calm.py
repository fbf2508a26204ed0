"""Swinging paws give way along their legs where the joints would jerk."""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .animal_limbs import Limb
from .bridging import BoolArray, calm
from .clip import Clip
from .limb_ik import LimbTurn, bends, levers
from .rotations import Array
from .runs import runs

#: Metres by which a swinging paw gives way to spare its joints one rad/s^2 of acceleration.
_GIVE = 1.5e-3
#: So many metres for each radian it gives at least, however straight the leg.
_LEAST_LEVER = 0.01
#: Joints that are calmed: those that follow the leg's first.
_JOINTS = 2


def calm_swing(body: Clip, limb: Limb, turn: LimbTurn, end: Array, contact: BoolArray) -> Array:
    """A leg's end (f, 3) drawn in or let out in its swings, so that its joints are no more accelerated than before.

    As far as the paw's way allows: `bridging.calm`. Standing paws stay.

    Args:
        body: as it is carried.
        limb, end: the leg, and where it shall end (f, 3).
        turn: the leg's solution for that.
        contact: when its foot stands (f,).
    """
    positions, rotations = body.world
    points, hinges = limb.points(positions, rotations), limb.hinges(rotations)
    parts = rot.rotate(turn.segments, np.diff(points, axis=1))
    posed = np.concatenate([np.zeros((len(end), 1, 3)), np.cumsum(parts, axis=1)], axis=1)
    hinges = type(hinges)(rot.rotate(turn.segments[:, :-1], hinges.axes), hinges.straight, hinges.share)
    bent, lever = levers(posed, hinges, _JOINTS)
    own = np.mean(bends(points, limb.hinges(rotations).axes)[:, :_JOINTS], axis=1)
    price = (lever**2 + _LEAST_LEVER**2) / _GIVE**2
    change = calm(bent, own, price, runs(~contact), body.fps)
    line = posed[:, -1]
    return np.asarray(end - (lever * change / np.maximum(np.linalg.norm(line, axis=1), 1e-6))[:, None] * line)
