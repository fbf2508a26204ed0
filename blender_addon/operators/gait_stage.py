"""What the gait preview reads from the scene: which animal goes where, and in what manner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..motion.errors import GaitsmithError
from ..motion.gait_stream import Asked, Stream, performer
from ..motion.gait_way import Way
from ..motion.picture import PAW_SHARE, bone_sides
from ..motion.rotations import Array
from ..motion.terrain import FlatGround
from . import animal, common, request

#: A path with less of it left is none, metres.
SHORTEST_M = 0.5


@dataclass(frozen=True)
class Stage:
    """Where the animal is drawn, in metres.

    Attributes:
        name: of the armature object.
        sides: side of the body of each bone: 0 left, 1 right, 2 neither.
        in_place: the root stays, and the ground moves below it.
        place: (3,) of the root on the ground when in place; else its z alone counts: the height of a flat ground.
        facing: yaw when in place.
        unit: metres per unit of the scene.
        paw: radius of a drawn footfall.
    """

    name: str
    sides: npt.NDArray[np.int64]
    in_place: bool
    place: Array
    facing: float
    unit: float
    paw: float

    def matrix(self, root: Array) -> Array:
        """From what is relative to the root's place to the scene (4, 4), in its units, for a root (3,): x, y, yaw."""
        turn = self.facing - root[2] if self.in_place else 0.0
        found = np.eye(4)
        found[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        found[:3, 3] = self.place if self.in_place else [root[0], root[1], self.place[2]]
        found[:3] /= self.unit
        return found


def missing(context: bpy.types.Context) -> str:
    """What the gait preview still needs, in words; empty when it can begin."""
    if context.scene is None or context.view_layer is None:
        return "Open a scene first"
    ob = common.chosen_armature(context)
    if ob is None:
        return "Still needed: an animal. Choose its armature under Character, or select it"
    legs = animal.legs(context)
    if legs == 2:
        return f"Gaits are for four legs, and {ob.name} goes on two: choose an animal under Character"
    if legs == 0:
        return "The legs of this armature are not known: map its bones under Character"
    found = animal.facts(context)
    if found is not None and found.problem:
        return found.problem
    if common.settings(context).gaits.where == "CURVE" and common.chosen_curve(context) is None:
        return "Still needed: a path. Draw one under Path, or play in place"
    return ""


def read(context: bpy.types.Context) -> tuple[Stage, Stream]:
    """Where the animal is drawn, and its motion at the beginning; raises `GaitsmithError` for what is missing."""
    wanted = missing(context)
    if wanted:
        raise GaitsmithError(wanted)
    from ..scene import curves, in_place, shot

    chosen = common.settings(context)
    ob = common.chosen_armature(context)
    limits = request.limits_of(context)
    if chosen.gaits.where == "PLACE":
        found, way, ground = in_place.standing(ob, context.scene), Way.straight(), None
        place = found.points[0]
    else:
        found = shot.read_shot(
            ob, common.chosen_curve(context), request.ground_of(chosen), reverse=chosen.reverse, scene=context.scene
        )
        if chosen.start > found.path.length - SHORTEST_M:
            raise GaitsmithError("The path ends where the animal would start", "Set its start nearer to 0 (Path)")
        way = Way.along(found.path, limits, chosen.start)
        flat = isinstance(found.ground, FlatGround)
        ground, place = (None, found.points[0]) if flat else (found.ground, np.zeros(3))
    skeleton = found.rig.skeleton
    perform, choose = performer(skeleton, request.gaits_of(ob, skeleton), ground)
    stage = Stage(
        found.rig.name, bone_sides(skeleton), chosen.gaits.where == "PLACE", place, found.rig.facing,
        curves.metres_per_unit(context.scene), PAW_SHARE * skeleton.leg_length,
    )  # fmt: skip
    return stage, Stream(perform, choose, way, asked(chosen), acceleration=limits.acceleration)


def asked(chosen: Any) -> Asked:
    """What the panel's sliders ask for now."""
    return Asked(chosen.gaits.gait, chosen.gaits.speed)
