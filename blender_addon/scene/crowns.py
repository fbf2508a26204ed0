"""How high a character's head reaches, measured on its own mesh in the rest pose."""

from __future__ import annotations

import bpy

from ..motion import rotations as rot
from ..motion.crown import Crown
from .rigs import Rig
from .soles import foot_points

#: Fewer vertices make no head.
_LEAST = 12


def crown_of(ob: bpy.types.Object, rig: Rig) -> Crown:
    """The top of a character: of the mesh that follows its head, hats and hair included; guessed without.

    Args:
        ob: the armature object.
        rig: as it was read.
    """
    guess = Crown.of(rig.skeleton)
    name = rig.skeleton.names[guess.joint]
    points = foot_points(ob, [name, *(child.name for child in ob.data.bones[name].children_recursive)])
    if len(points) < _LEAST:
        return guess
    places, turns = rig.skeleton.rest_world
    local = rot.inv_rotate(rig.joints[0][guess.joint], (points - rig.joints[1][guess.joint]) * rig.scale)
    return Crown.of(rig.skeleton, float((places[guess.joint] + rot.rotate(turns[guess.joint], local))[:, 2].max()))
