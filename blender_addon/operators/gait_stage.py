"""What the gait preview reads from the scene: which animal goes where, and in what manner."""

from __future__ import annotations

from typing import Any

import bpy

from .. import gait_entry
from ..motion.animal import shoulder_height
from ..motion.errors import GaitsmithError
from ..motion.gait_names import GAITS
from ..motion.gait_picture import Stage
from ..motion.gait_stream import Asked, Stream, performer
from ..motion.gait_way import Way
from ..motion.picture import PAW_SHARE, bone_sides
from ..motion.schedule import AUTO
from ..motion.terrain import FlatGround
from . import animal, common, request

#: A path with less of it left is none, metres.
SHORTEST_M = 0.5


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
        place, level = found.points[0], 0.0
    else:
        found = shot.read_shot(
            ob, common.chosen_curve(context), request.ground_of(chosen), reverse=chosen.reverse, scene=context.scene
        )
        if chosen.start > found.path.length - SHORTEST_M:
            raise GaitsmithError("The path ends where the animal would start", "Set its start nearer to 0 (Path)")
        way = Way.along(found.path, limits, chosen.start)
        flat = isinstance(found.ground, FlatGround)
        ground, place, level = None if flat else found.ground, None, float(found.points[0, 2]) if flat else 0.0
    skeleton = found.rig.skeleton
    perform, choose = performer(skeleton, request.gaits_of(ob, skeleton), ground)
    height = shoulder_height(skeleton)
    fastest = {gait: gait_entry.speeds_of(_limiting(chosen.gaits, gait), height)[1] for gait in (AUTO, *GAITS)}
    stage = Stage(
        found.rig.name, bone_sides(skeleton), fastest, curves.metres_per_unit(context.scene),
        PAW_SHARE * skeleton.leg_length, place, found.rig.facing, level,
    )  # fmt: skip
    return stage, Stream(perform, choose, way, asked(chosen, stage), acceleration=limits.acceleration)


def asked(chosen: Any, stage: Stage) -> Asked:
    """What the panel's sliders ask for now, no faster than the gait is made."""
    return Asked(chosen.gaits.gait, min(chosen.gaits.speed, stage.fastest[chosen.gaits.gait]))


def too_fast(context: bpy.types.Context) -> str:
    """Words about the sliders' speed where the gait is not made as fast; empty where it is."""
    gaits, height = common.settings(context).gaits, animal.height_of(context)
    gait = _limiting(gaits, gaits.gait)
    used = min(gaits.speed, gait_entry.speeds_of(gait, height)[1])
    return " ".join(gait_entry.used_instead(gait, gaits.speed, used, height))


def _limiting(gaits: Any, gait: str) -> str:
    """The gait whose speeds hold: along a path, as in a bake, an animal that goes faster goes over into another."""
    return gait if gaits.where == "PLACE" else AUTO
