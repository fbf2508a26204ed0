"""Armatures, curves and grounds for the add-on's tests."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.skeleton import Skeleton


def empty_scene() -> None:
    """A fresh file; add-ons stay."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def armature_of(skeleton: Skeleton, name: str = "Rig", root: bool = False, unit: float = 1.0) -> bpy.types.Object:
    """An armature whose bones have the skeleton's names and rest places, each rolled at random.

    Args:
        skeleton: rest pose.
        name: of the object.
        root: put a bone "Root" on top.
        unit: metres per unit of the armature (the object is left at scale 1).
    """
    random = np.random.default_rng(3)
    data = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    positions, rotations = skeleton.rest_world
    made = {}
    if root:
        top = data.edit_bones.new("Root")
        top.head, top.tail = (0, 0, 0), (0, -0.3 / unit, 0)
    for joint, bone_name in enumerate(skeleton.names):
        bone = data.edit_bones.new(bone_name)
        children = [k for k, parent in enumerate(skeleton.parents) if parent == joint]
        tail = positions[children[0]] if children else positions[joint] + skeleton.tails[joint]
        if np.linalg.norm(tail - positions[joint]) < 0.01:
            tail = positions[joint] + (0, 0, 0.1)
        bone.head, bone.tail = positions[joint] / unit, tail / unit
        bone.roll = random.uniform(-3, 3)
        parent = skeleton.parents[joint]
        if parent >= 0:
            bone.parent = made[parent]
        elif root:
            bone.parent = top
        made[joint] = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def random_clip(skeleton: Skeleton, frames: int = 30, fps: float = 30.0, seed: int = 0, spread: float = 0.6) -> Clip:
    """Smooth arbitrary motion of every joint while the root wanders over metres and full turns."""
    from blender_addon.motion import rotations as rot

    random = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, frames)[:, None, None]
    count = len(skeleton)
    waves = [random.normal(size=(1, count, 3)) * np.sin(2 * np.pi * k * t + random.uniform(0, 6, (1, count, 3)))
             for k in (1, 2, 3)]  # fmt: skip
    away = rot.exp(spread * sum(waves) / 2)
    rotations = rot.mul(skeleton.rest_rotations, away)
    s = t[:, 0, 0]
    root = np.stack([4 * s + np.sin(5 * s), -6 * s, 7 * s], axis=-1)
    rotations[:, 0] = rot.mul(rot.from_yaw(root[:, 2]), rotations[:, 0])
    hips = np.concatenate([root[:, :2] + 0.05 * np.sin(9 * t[:, 0]), 0.9 + 0.1 * np.sin(12 * t[:, 0])], axis=-1)
    return Clip(skeleton, fps, hips, rot.unroll(rotations), root, np.zeros((frames, 2), bool))


def poly_curve(points: Sequence[Sequence[float]], name: str = "Path", cyclic: bool = False) -> bpy.types.Object:
    """A poly curve object through points."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0) if len(place) == 3 else (*place, 0.0, 1.0)
    spline.use_cyclic_u = cyclic
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob
