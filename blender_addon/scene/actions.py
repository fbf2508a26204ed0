"""Baked motion as keyframes: written in bulk, all or nothing, slots bound, and checked through the depsgraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import RigError
from ..motion.rotations import Array
from . import compat
from .channels import Channel, ObjectBase, RootMotion, in_place, rotation_channel
from .curves import metres_per_unit
from .rigs import Rig

Mode = Literal["new", "replace", "nla"]
#: Custom property that marks actions made here.
MARK = "gaitsmith"

_CONSTANT, _LINEAR = 0, 1
_MANUAL_LIMIT = 1_048_574


@dataclass(frozen=True)
class Written:
    """What a bake wrote.

    Attributes:
        action: name of the action.
        frame_start, frame_end: first and last key.
        curves: number of curves.
        mode: where it went.
    """

    action: str
    frame_start: int
    frame_end: int
    curves: int
    mode: Mode


@dataclass(frozen=True)
class BakeError:
    """Blender's own evaluation against the motion that was asked for.

    Attributes:
        metres, degrees: greatest difference of any joint in any looked-at frame.
        bone: where the greatest distance is.
        frames: the frames looked at.
    """

    metres: float
    degrees: float
    bone: str
    frames: tuple[int, ...]


def object_base(ob: bpy.types.Object) -> ObjectBase:
    """The frame an armature object's own channels live in; raises `RigError` where they are not plain."""
    deltas = (*ob.delta_location, *ob.delta_rotation_euler, *ob.delta_rotation_quaternion[1:])
    if max(abs(value) for value in deltas) > 1e-6 or ob.constraints:
        raise RigError(
            f"The object {ob.name!r} has delta transforms or constraints",
            "Remove them, or let the root bone carry the travel",
        )
    above = np.eye(4)
    if ob.parent is not None:
        above = np.array(ob.matrix_world) @ np.linalg.inv(np.array(ob.matrix_basis))
    scale = float(np.mean(np.linalg.norm(above[:3, :3], axis=0)))
    return ObjectBase(
        rot.from_matrix(above[:3, :3] / scale), above[:3, 3], scale, ob.rotation_mode, metres_per_unit()
    )  # fmt: skip


def write(
    ob: bpy.types.Object, rig: Rig, channels: Sequence[Channel], *, name: str, frame_start: int = 1,
    mode: Mode = "new", contacts: Sequence[tuple[str, int]] = (),
) -> Written:  # fmt: skip
    """Write channels as keys, one a frame.

    Nothing is left behind if this fails: the action is made whole before the armature gets it.

    Args:
        ob: the armature object.
        rig: what `read_rig` found.
        channels: from `channels.channels_of`.
        name: of a new action.
        frame_start: frame of the first key; may be negative.
        mode: ``new`` action, ``replace`` the active action's curves of these bones (others stay), or a new action as
            an ``nla`` strip.
        contacts: (text, frame) to set as the action's markers.

    Raises:
        RigError: the armature cannot be written.
    """
    frames = len(channels[0].values) if channels else 0
    if frames == 0:
        raise RigError("There is nothing to write", "Bake at least one frame")
    if not all(np.all(np.isfinite(channel.values)) for channel in channels):
        raise RigError("The motion holds values that are not numbers", "Look for broken bones in the rig")
    if abs(frame_start) + frames > _MANUAL_LIMIT:
        raise RigError(f"Frame {frame_start} is beyond Blender's range", "Choose a start frame nearer to 1")
    old = ob.animation_data.action if ob.animation_data else None
    if old is not None and old.library is not None and mode == "replace":
        mode = "new"
    numbers = frame_start + np.arange(frames)
    singles = _settled(ob, rig, channels)
    made = bpy.data.actions.new(name)
    try:
        store = compat.curve_store(ob, made)
        for channel in channels:
            _fill(store, channel.data_path, channel.bone or ob.name, numbers, channel.values, _LINEAR)
        for channel in singles:
            _fill(store, channel.data_path, channel.bone, numbers[:1], channel.values, _CONSTANT)
        for path, value in rig.switches:
            _fill(store, path, "Switches", numbers[:1], np.array([[value]]), _CONSTANT, single=True)
        for text, frame in contacts:
            made.pose_markers.new(text).frame = frame_start + frame
        made[MARK] = 1
        if mode == "replace" and old is not None:
            _keep_others(ob, old, store)
        curves = len(store.fcurves)
        name = _hand_over(ob, made, old, mode, name)
    except BaseException:
        bpy.data.actions.remove(made)
        raise
    return Written(name, frame_start, frame_start + frames - 1, curves, mode)


def _hand_over(
    ob: bpy.types.Object, made: bpy.types.Action, old: bpy.types.Action | None, mode: Mode, name: str
) -> str:
    """Give the armature its action; the one step that is seen."""
    if mode == "nla":
        data = ob.animation_data or ob.animation_data_create()
        if old is not None:
            compat.add_strip(ob, old, old.name)
            data.action = None
        compat.add_strip(ob, made, name)
        return made.name
    compat.bind_action(ob, made)
    if mode == "replace" and old is not None and old.users - int(old.use_fake_user) <= 0:
        kept = old.name
        bpy.data.actions.remove(old)
        made.name = kept
    return made.name


def _keep_others(ob: bpy.types.Object, old: bpy.types.Action, store: Any) -> None:
    """Carry over the curves of the old action that the new motion does not set, keys, handles and all."""
    ours = {(curve.data_path, curve.array_index) for curve in store.fcurves}
    for curve in compat.curve_store(ob, old).fcurves:
        if (curve.data_path, curve.array_index) in ours:
            continue
        copy = store.fcurves.new(curve.data_path, index=curve.array_index)
        count = len(curve.keyframe_points)
        copy.keyframe_points.add(count)
        for key, size in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
            buffer = np.empty(count * size, dtype=np.float32)
            curve.keyframe_points.foreach_get(key, buffer)
            copy.keyframe_points.foreach_set(key, buffer)
        for key in ("interpolation", "handle_left_type", "handle_right_type"):
            codes = np.empty(count, dtype=np.int32)
            curve.keyframe_points.foreach_get(key, codes)
            copy.keyframe_points.foreach_set(key, codes)
        copy.extrapolation = curve.extrapolation
        copy.update()


def _settled(ob: bpy.types.Object, rig: Rig, channels: Sequence[Channel]) -> list[Channel]:
    """Single keys for what must stand at rest while the channels play, where it does not."""
    keyed = {(channel.bone, channel.path) for channel in channels}
    bones = {bone for bone, _ in keyed}
    found = []
    for name in dict.fromkeys((*rig.still, *(control.bone for control in rig.controls))):
        bone = ob.pose.bones[name]
        if name in bones:
            if (name, "location") not in keyed and max(abs(value) for value in bone.location) > 1e-7:
                found.append(Channel(name, "location", np.zeros((1, 3))))
        elif np.abs(np.array(bone.matrix_basis) - np.eye(4)).max() > 1e-6:
            found += [
                Channel(name, "location", np.zeros((1, 3))),
                rotation_channel(name, rot.IDENTITY[None], bone.rotation_mode),
                Channel(name, "scale", np.ones((1, 3))),
            ]
    return found


def _fill(
    store: Any, path: str, group: str, frames: Array, values: Array, interpolation: int, single: bool = False
) -> None:
    """One curve a component, all keys at once."""
    count = len(frames)
    flat = np.empty((count, 2), dtype=np.float32)
    flat[:, 0] = frames
    codes = np.full(count, interpolation, dtype=np.int32)
    holder = store.groups.get(group) or store.groups.new(group)
    for index in range(1 if single else values.shape[1]):
        curve = store.fcurves.new(path, index=index)
        curve.group = holder
        flat[:, 1] = values[:, index]
        points = curve.keyframe_points
        points.add(count)
        points.foreach_set("co", flat.ravel())
        points.foreach_set("interpolation", codes)
        curve.update()


def clear(ob: bpy.types.Object, rig: Rig | None = None) -> str:
    """Take the active action off an armature and put its bones back into the rest pose.

    Returns the action's name. The action stays in the file if anything else uses it.

    Raises:
        RigError: there is none.
    """
    data = ob.animation_data
    if data is None or data.action is None:
        raise RigError(f"The armature {ob.name!r} has no action", "Bake first")
    action, name = data.action, data.action.name
    moved = {curve.data_path.split('"')[1] for curve in compat.action_curves(action) if '"' in curve.data_path}
    data.action = None
    for bone in ob.pose.bones:
        if bone.name in moved:
            bone.matrix_basis.identity()
            bone.location = (0.0, 0.0, 0.0)
            bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
            bone.rotation_euler = (0.0, 0.0, 0.0)
            bone.rotation_axis_angle = (0.0, 0.0, 1.0, 0.0)
    if action.get(MARK) and action.users == 0:
        bpy.data.actions.remove(action)
    return name


def push_to_nla(ob: bpy.types.Object) -> str:
    """Lay the active action down as an NLA strip; returns its name, raises `RigError` if there is none."""
    data = ob.animation_data
    if data is None or data.action is None:
        raise RigError(f"The armature {ob.name!r} has no action", "Bake first")
    action = data.action
    compat.add_strip(ob, action, action.name)
    data.action = None
    return action.name


def measure(
    ob: bpy.types.Object, rig: Rig, clip: Clip, frame_start: int, *, motion: RootMotion = "bone", samples: int = 12
) -> BakeError:
    """Compare what Blender evaluates with the motion asked for, on frames spread over the clip.

    Args:
        ob: the baked armature object.
        rig: as read before the bake.
        clip: the motion on ``rig.skeleton`` that was written.
        frame_start: frame of its first frame.
        motion: what carries the travel.
        samples: how many frames to look at; the first and the last are among them.
    """
    scene = bpy.context.scene
    before, between = scene.frame_current, scene.frame_subframe
    if motion == "in place":
        clip = in_place(clip, rig)
    positions, world = _at_probes(ob, rig, *clip.world)
    picked = np.unique(np.linspace(0, len(clip) - 1, min(samples, len(clip))).round().astype(int))
    worst_metres, worst_degrees, bone = 0.0, 0.0, ""
    try:
        for frame in picked:
            scene.frame_set(int(frame_start + frame))
            found_places, found_turns = evaluated(ob, rig.probes)
            away = np.linalg.norm(found_places - positions[frame], axis=-1)
            angle = np.degrees(rot.angle_between(found_turns, world[frame]))
            if away.max() > worst_metres:
                worst_metres, bone = float(away.max()), rig.probes[int(away.argmax())]
            worst_degrees = max(worst_degrees, float(angle.max()))
    finally:
        scene.frame_set(before, subframe=between)
    return BakeError(worst_metres, worst_degrees, bone, tuple(int(frame_start + frame) for frame in picked))


def _at_probes(ob: bpy.types.Object, rig: Rig, positions: Array, world: Array) -> tuple[Array, Array]:
    """Where the probes shall be: each hangs rigidly on its joint."""
    rest = np.array([np.array(ob.data.bones[name].matrix_local) for name in rig.probes], dtype=np.float64)
    count = len(rig.probes)
    turn = rot.inv_mul(rig.joints[0][:count], rot.from_matrix(rest[:, :3, :3]))
    arm = rot.inv_rotate(rig.joints[0][:count], rest[:, :3, 3] - rig.joints[1][:count]) * rig.scale
    return positions + rot.rotate(world, arm), rot.mul(world, turn)


def evaluated(ob: bpy.types.Object, bones: Iterable[str]) -> tuple[Array, Array]:
    """World places (b, 3) in metres and rotations (b, 4) of bones at the current frame, through the depsgraph."""
    final = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    above = np.array(final.matrix_world, dtype=np.float64)
    matrices = above @ np.array([np.array(final.pose.bones[name].matrix, dtype=np.float64) for name in bones])
    axes = matrices[:, :3, :3] / np.linalg.norm(matrices[:, :3, :3], axis=1, keepdims=True)
    return matrices[:, :3, 3] * metres_per_unit(), rot.from_matrix(axes)
