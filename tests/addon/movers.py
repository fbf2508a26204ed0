"""Animated armatures, and what Blender makes of them, for the tests of retargeting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.retarget import retarget
from blender_addon.scene import actions, channels, rigs
from tests.synthetic import walk


def steady_walk(seconds: float, speed: float, fps: float = 30.0, turning: float = 0.0) -> Clip:
    """A made-up walk whose feet stand still while they stand."""
    made = walk(seconds, speed, turning, fps)
    # With knees bent enough for both feet to reach the ground, flat.
    return plant_feet(replace(made, hips=made.hips - [0.0, 0.0, 0.06])).clip


def animate(ob: bpy.types.Object, clip: Clip, name: str = "Walk", frame_start: int = 1) -> bpy.types.Action:
    """Give an armature an action that moves it as the clip does; the clip's rate is the scene's."""
    rig = rigs.read_rig(ob)
    moved = retarget(clip, rig.skeleton)
    written = actions.write(ob, rig, channels.channels_of(rig, moved, "hips"), name=name, frame_start=frame_start)
    return bpy.data.actions[written.action]


def joints(ob: bpy.types.Object, bones: Sequence[str], frames: Sequence[int]) -> np.ndarray:
    """Where the heads of bones are in the world (f, b, 3), through the depsgraph."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        final = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(final.matrix_world @ final.pose.bones[name].head) for name in bones])
    return np.array(found)


def set_fps(fps: float) -> None:
    """The scene's rate."""
    whole = int(np.ceil(fps))
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = whole, whole / fps
