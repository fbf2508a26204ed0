"""Motion on the spot where a rig stands, without a path: where its ground is, and the keys for it."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.path import RootPath
from ..motion.terrain import FlatGround
from .channels import Channel, channels_of
from .rigs import Rig, read_rig
from .shot import Shot, scene_fps


def floor_of(rig: Rig) -> float:
    """Height of the ground under the rig's feet in its rest pose, metres, in the world."""
    hips = rig.place[2] + rot.rotate(rig.standing, rig.joints[1][0] * rig.scale)[2]
    return float(hips - rig.skeleton.rest_world[0][0, 2])


def standing(ob: bpy.types.Object | None, scene: bpy.types.Scene, *, deform: bool = False) -> Shot:
    """A character that goes on the spot, read; its path is a metre ahead of it.

    Raises:
        RigError: what is missing or broken, and what to do.
    """
    rig = read_rig(ob, deform=deform)
    floor = floor_of(rig)
    ahead = rot.direction_of_yaw(np.array(rig.facing))
    points = np.array([[*rig.place[:2], floor], [*(rig.place[:2] + ahead), floor]])
    return Shot(
        rig, RootPath.from_points(points), points, FlatGround(floor), scene_fps(scene), "in place", None,
        f"{rig.name} in place", rig.notes,
    )  # fmt: skip


def raised(rig: Rig, clip: Clip) -> Clip:
    """A clip on ``rig.skeleton`` that was made on level ground at height 0, on the rig's own ground."""
    return replace(clip, hips=clip.hips + [0.0, 0.0, floor_of(rig)])


def channels(rig: Rig, clip: Clip) -> list[Channel]:
    """The channels of a raised clip, played where the rig stands."""
    return channels_of(rig, clip, "in place", np.full(len(clip), floor_of(rig)))
