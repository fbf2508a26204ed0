"""An animator's own cycle as the shape of a rig's gaits: read from its action, kept with the armature object."""

from __future__ import annotations

import json
from dataclasses import replace

import bpy
import numpy as np

from ..motion.clip import Clip
from ..motion.errors import RigError
from ..motion.gait_analysis.cycles import Cycle, check_cycle
from ..motion.gait_model.shape import PoseShape
from ..motion.skeleton import Skeleton
from .in_place import floor_of
from .read_actions import read_action
from .rigs import read_rig

#: Custom property of an armature object that holds its cycle (JSON).
SHAPE_PROPERTY = "gaitsmith_gait_shape"
_DIGITS = 5


def read_cycle(ob: bpy.types.Object) -> tuple[Clip, Cycle]:
    """The armature's action as one cycle on the rig's ground.

    Raises:
        RigError, ClipError: there is no action, or it is no usable cycle; with what to do.
    """
    rig = read_rig(ob)
    clip = read_action(ob, skeleton=rig.skeleton)
    clip = replace(
        clip, hips=clip.hips - [0.0, 0.0, floor_of(rig)], contacts=np.zeros((len(clip), 4), dtype=np.bool_)
    )
    return clip, check_cycle(clip).demand()


def keep(ob: bpy.types.Object, clip: Clip) -> None:
    """Keep a cycle with the armature; raises `ClipError` when no shape can be made of it."""
    PoseShape.of(clip)
    ob[SHAPE_PROPERTY] = json.dumps({
        "action": clip.name, "fps": clip.fps, "joints": clip.skeleton.names,
        "hips": clip.hips.round(_DIGITS).tolist(), "rotations": clip.rotations.round(_DIGITS).tolist(),
    })  # fmt: skip


def clear(ob: bpy.types.Object) -> None:
    """Forget it."""
    if SHAPE_PROPERTY in ob:
        del ob[SHAPE_PROPERTY]


def name_of(ob: bpy.types.Object) -> str:
    """Name of the action that the kept cycle was read from; empty without one."""
    try:
        return str(json.loads(ob.get(SHAPE_PROPERTY, "{}")).get("action", ""))
    except (ValueError, TypeError, AttributeError):
        return ""


def kept(ob: bpy.types.Object, skeleton: Skeleton) -> PoseShape | None:
    """The shape that the gaits of this armature take; None for the model's own.

    Raises:
        RigError: what is kept does not fit the rig any more.
    """
    text = ob.get(SHAPE_PROPERTY)
    if text is None:
        return None
    try:
        data = json.loads(text)
        if tuple(data["joints"]) != skeleton.names:
            raise ValueError("other bones are mapped now")
        hips = np.array(data["hips"], dtype=np.float64)
        rotations = np.array(data["rotations"], dtype=np.float64)
        return PoseShape.of(Clip(
            skeleton, float(data["fps"]), hips, rotations, np.zeros((len(hips), 3)),
            np.zeros((len(hips), 4), np.bool_), str(data["action"]),
        ))  # fmt: skip
    except (ValueError, TypeError, KeyError) as error:
        raise RigError(
            f"The gait's shape that is kept with {ob.name!r} cannot be used ({error})",
            "Use an action as the gait's shape again, or take it away (Gaits)",
        ) from error
