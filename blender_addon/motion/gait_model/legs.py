"""The legs under a trunk: from hip and shoulder blade to the paws, without overstretch."""

from __future__ import annotations

import numpy as np

from .. import rotations as rot
from ..limb_ik import Hinges, solve_chain
from ..rotations import Array
from .body import Body, pitch
from .footholds import FootPaths
from .trunk import Trunk


def solve_legs(body: Body, trunk: Trunk, feet: FootPaths) -> Array:
    """World turns away from rest (f, b, 4) of all joints, the legs' solved.

    Args:
        body: the skeleton.
        trunk: with the legs as at rest under it.
        feet: where the feet are.
    """
    turns = np.array(trunk.turns)
    world = trunk.rotations(body)
    for leg, limb in enumerate(body.limbs):
        foot = limb.foot
        height = body.limbs[leg].points(body.positions[None], body.rotations[None])[0, -1, 2]
        end = feet.position[:, leg] + np.array([0.0, 0.0, height])
        heading = rot.from_yaw(feet.yaw[:, leg])
        flat = foot.toe != foot.ankle
        joints = list(limb.joints[:-1] if flat else limb.joints)
        points = limb.points(trunk.positions, world)
        hinges = limb.hinges(world)
        target = end
        if flat:
            # Heel up is nose-down: the paw's own way of folding.
            paw = rot.mul(heading, pitch(-feet.peel[:, leg]))
            target = end + rot.rotate(paw, body.positions[foot.ankle] - body.positions[foot.toe])
            points = points[:, :-1]
            inner = len(joints) - 1
            hinges = Hinges(hinges.axes[:, :inner], hinges.straight[:inner], hinges.share[:inner])
        top = trunk.positions[:, limb.scapula] if limb.scapula >= 0 else None
        carrier = body.skeleton.parents[limb.scapula if limb.scapula >= 0 else foot.hip]
        across = rot.rotate(world[:, carrier], limb.lateral)
        turn = solve_chain(points, target, hinges, scapula=top, protraction=across)
        if limb.scapula >= 0:
            turns[:, limb.scapula] = rot.mul(turn.scapula, turns[:, limb.scapula])
        for at, joint in enumerate(joints):
            turns[:, joint] = rot.mul(turn.segments[:, at], turns[:, joint])
        if flat:
            turns[:, foot.ankle] = paw
            turns[:, foot.toe] = rot.mul(heading, pitch(-feet.curl[:, leg]))
    return turns
