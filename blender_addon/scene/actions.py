"""Baked motion as keyframes: written in bulk, all or nothing, slots bound, and checked through the depsgraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import RigError
from ..motion.key_reduction import Curve
from ..motion.rotations import Array
from . import compat, unbake
from . import keys as points_of
from .channels import Channel, ObjectBase, RootMotion, in_place, rotation_channel
from .curves import metres_per_unit
from .layering import Layer, Reduce, blend, hold, put
from .obstacles import undriven, unlocked
from .rigs import Rig, check_writable

Mode = Literal["new", "replace", "nla", "layer"]
#: Custom property that marks actions made here.
MARK = "gaitsmith"
#: Names of markers that are set here.
MARKERS = (
    "L foot", "R foot", "L lifts", "R lifts",
    *(f"{leg}{words}" for words in ("", " lifts") for leg in ("LH", "RH", "LF", "RF")),
)  # fmt: skip

_CONSTANT, _LINEAR = points_of.CONSTANT, points_of.LINEAR
_MANUAL_LIMIT = 1_048_574


@dataclass(frozen=True)
class Written:
    """What a bake wrote.

    Attributes:
        action: name of the action.
        frame_start, frame_end: first and last key.
        curves: number of curves.
        mode: where it went.
        keys: number of keys written.
        notes: what could not be written, and why.
    """

    action: str
    frame_start: int
    frame_end: int
    curves: int
    mode: Mode
    keys: int = 0
    notes: tuple[str, ...] = ()


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
    mode: Mode = "new", contacts: Sequence[tuple[str, int]] = (), layer: Layer | None = None,
    reduce: Reduce | None = None, fitted: bool = False,
) -> Written:  # fmt: skip
    """Write channels as keys: one a frame, or those of their curves.

    Nothing is left behind if this fails: the action is made whole before the armature gets it. What was there is kept
    with the action (`unbake`); an existing action is copied, never changed.

    Args:
        ob: the armature object.
        rig: what `read_rig` found.
        channels: from `channels.channels_of`.
        name: of a new action.
        frame_start: frame of the first key; may be negative.
        mode: ``new`` action, ``replace`` the active action's curves of these bones (others stay), a new action as
            an ``nla`` strip, or a ``layer`` over some frames of the active action.
        contacts: (text, frame) to set as the action's markers.
        layer: which frames; the whole motion when not given.
        reduce: makes fewer keys of what a layer blends; given the channels and the frames' indices.
        fitted: the scene's frame range will be set to the motion's.

    Raises:
        RigError: the armature cannot be written.
    """
    _check(ob, rig, channels, frame_start)
    old = ob.animation_data.action if ob.animation_data else None
    moved = {(channel.bone, channel.path) for channel in channels}
    channels, locked = unlocked(ob, rig, channels)
    channels, driven = undriven(ob, rig, channels)
    notes = (*locked, *driven)
    copied = old is not None and mode in ("replace", "layer")
    slot = compat.slot_name(ob)
    made = old.copy() if copied and old is not None else bpy.data.actions.new(name)
    try:
        store = compat.curve_store(ob, made, slot if copied else "")
        singles = _settled(ob, rig, moved, {curve.data_path for curve in store.fcurves})
        first, last = frame_start, frame_start + len(channels[0].values) - 1
        _take_marks(made, first, last)
        record = unbake.capture(ob, [c.bone for c in (*channels, *singles)], [path for path, _ in rig.switches])
        record["fitted"] = fitted
        if mode == "layer":
            first, last, more = _layer(ob, rig, store, (channels, singles), frame_start, layer or Layer(), reduce)
            notes = (*notes, *more)
        else:
            _fill_all(ob, rig, store, channels, singles, frame_start)
        for text, frame in contacts:
            if first <= frame_start + frame <= last:
                made.pose_markers.new(text).frame = frame_start + frame
        made[MARK] = 1
        curves, keys = len(store.fcurves), sum(len(curve.keyframe_points) for curve in store.fcurves)
        name, record["tracks"], more = _hand_over(ob, made, old, mode, name)
        unbake.keep(made, record, old)
    except BaseException:
        if ob.animation_data is not None and ob.animation_data.action != old:
            compat.bind_slot(ob, old, slot)
        bpy.data.actions.remove(made)
        raise
    return Written(name, first, last, curves, mode, keys, (*notes, *more))


def _check(ob: bpy.types.Object, rig: Rig, channels: Sequence[Channel], frame_start: int) -> None:
    """Refuse what cannot be written."""
    check_writable(ob)
    _check_bones(ob, rig)
    frames = len(channels[0].values) if channels else 0
    if frames == 0:
        raise RigError("There is nothing to write", "Bake at least one frame")
    if not all(np.all(np.isfinite(channel.values)) for channel in channels):
        raise RigError("The motion holds values that are not numbers", "Look for broken bones in the rig")
    if abs(frame_start) + frames > _MANUAL_LIMIT:
        raise RigError(f"Frame {frame_start} is beyond Blender's range", "Choose a start frame nearer to 1")


def _check_bones(ob: bpy.types.Object, rig: Rig) -> None:
    """Bakes take time, and animators do not wait for them."""
    wanted = (*rig.skeleton.names, *rig.probes, *rig.still, *(control.bone for control in rig.controls))
    gone = [name for name in dict.fromkeys(wanted) if name not in ob.pose.bones]
    if gone:
        raise RigError(
            f"Bones of {ob.name!r} were removed or renamed while it was baked: {', '.join(gone[:4])}", "Bake again"
        )


def _hand_over(
    ob: bpy.types.Object, made: bpy.types.Action, old: bpy.types.Action | None, mode: Mode, name: str
) -> tuple[str, list[str], tuple[str, ...]]:
    """Give the armature its action, the one step that is seen: its name, names of new NLA tracks, and notes."""
    if mode == "nla":
        data = ob.animation_data or ob.animation_data_create()
        tracks = []
        if old is not None:
            tracks.append(compat.add_strip(ob, old, old.name))
            data.action = None
        tracks.append(compat.add_strip(ob, made, name))
        return made.name, tracks, ()
    slot = compat.slot_name(ob)
    others = [user.name for user in bpy.data.user_map(subset={old})[old] if user != ob] if old is not None else []
    others = [name for name in others if name in bpy.data.objects]
    compat.bind_action(ob, made, slot)
    if mode == "new" or old is None:
        return made.name, [], ()
    kept = old.name
    if others or old.library is not None:
        made.name = f"{kept} {ob.name}"
        whose = f"{others[0]!r} uses it too" if others else "it is linked"
        return made.name, [], (f"The action {kept!r} was left as it is ({whose}): {ob.name!r} got a copy",)
    old.name = f"{kept} (before)"
    made.name = kept
    return made.name, [], ()


def _take_marks(made: bpy.types.Action, first: int, last: int) -> None:
    """Markers of an earlier bake go where the new motion is."""
    for marker in list(made.pose_markers):
        if marker.name in MARKERS and first <= marker.frame <= last:
            made.pose_markers.remove(marker)


def _fill_all(
    ob: bpy.types.Object, rig: Rig, store: Any, channels: Sequence[Channel], singles: Sequence[Channel], first: int
) -> None:
    """Keys for whole curves; what these had before goes."""
    numbers = first + np.arange(len(channels[0].values))
    for channel in channels:
        _fill(store, channel.data_path, channel.bone or ob.name, numbers, channel.values, _LINEAR, curve=channel.curve)
    for channel in singles:
        _fill(store, channel.data_path, channel.bone, numbers[:1], channel.values, _CONSTANT)
    for path, value in rig.switches:
        _fill(store, path, "Switches", numbers[:1], np.array([[value]]), _CONSTANT, single=True)


def _layer(
    ob: bpy.types.Object, rig: Rig, store: Any, parts: tuple[Sequence[Channel], Sequence[Channel]], frame_start: int,
    layer: Layer, reduce: Reduce | None,
) -> tuple[int, int, tuple[str, ...]]:  # fmt: skip
    """Write over the layer's frames: first and last of them, and what to tell."""
    channels, singles = parts
    frames = len(channels[0].values)
    still = [replace(channel, values=np.tile(channel.values, (frames, 1))) for channel in singles]
    modes = {channel.bone: ob.pose.bones[channel.bone].rotation_mode for channel in (*channels, *still) if channel.bone}
    mixed, first, last = blend(ob, store, [*channels, *still], modes | {"": ob.rotation_mode}, layer, frame_start)
    if reduce is not None:
        mixed = reduce(mixed, first - frame_start, last - frame_start + 1)
    for channel in mixed:
        put(ob, store, channel, _group(store, channel.bone or ob.name), first, last, layer)
    turned = [hold(ob, store, path, value, _group(store, "Switches"), first, last) for path, value in rig.switches]
    if not any(turned):
        return first, last, ()
    return first, last, ("Switches of the rig were set another way before the layer: where it is blended in and out, "
                         "limbs may jump. Key the controls that the action below uses",)  # fmt: skip


def _settled(ob: bpy.types.Object, rig: Rig, keyed: set[tuple[str, str]], animated: set[str]) -> list[Channel]:
    """Single keys for what must stand at rest while ``keyed`` moves, where it does not or is ``animated``."""
    bones = {bone for bone, _ in keyed}
    found = []
    for name in dict.fromkeys((*rig.still, *(control.bone for control in rig.controls))):
        bone = ob.pose.bones[name]
        place = Channel(name, "location", np.zeros((1, 3)))
        if name in bones:
            moved = max(abs(value) for value in bone.location) > 1e-7 or place.data_path in animated
            if (name, "location") not in keyed and moved:
                found.append(place)
            continue
        rest = [
            place, rotation_channel(name, rot.IDENTITY[None], bone.rotation_mode),
            Channel(name, "scale", np.ones((1, 3))),
        ]  # fmt: skip
        posed = np.abs(np.array(bone.matrix_basis) - np.eye(4)).max() > 1e-6
        found += [channel for channel in rest if posed or channel.data_path in animated]
    return found


def _group(store: Any, name: str) -> Any:
    return store.groups.get(name) or store.groups.new(name)


def _fill(
    store: Any, path: str, group: str, frames: Array, values: Array, interpolation: int, single: bool = False,
    curve: Curve | None = None,
) -> None:  # fmt: skip
    """One curve a component, all keys at once."""
    count = len(frames)
    flat = np.empty((count, 2), dtype=np.float32)
    flat[:, 0] = frames
    codes = np.full(count, interpolation, dtype=np.int32)
    holder = _group(store, group)
    for index in range(1 if single else values.shape[1]):
        old = store.fcurves.find(path, index=index)
        if old is not None:
            store.fcurves.remove(old)
        made = store.fcurves.new(path, index=index)
        made.group = holder
        if curve is not None:
            points_of.write(made, points_of.sparse(curve, index, int(frames[0])))
            continue
        flat[:, 1] = values[:, index]
        points = made.keyframe_points
        points.add(count)
        points.foreach_set("co", flat.ravel())
        points.foreach_set("interpolation", codes)
        made.update()


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
    ob: bpy.types.Object, rig: Rig, clip: Clip, frame_start: int, *, motion: RootMotion = "bone", samples: int = 12,
    loose: Sequence[int] = (), span: tuple[int, int] | None = None,
) -> BakeError:  # fmt: skip
    """Compare what Blender evaluates with the motion asked for, on frames spread over the clip.

    Args:
        ob: the baked armature object.
        rig: as read before the bake.
        clip: the motion on ``rig.skeleton`` that was written.
        frame_start: frame of its first frame.
        motion: what carries the travel.
        samples: how many frames to look at; the first and the last are among them.
        loose: joints whose place counts alone.
        span: first and last index of the frames to look at; all when not given.
    """
    scene = bpy.context.scene
    before, between = scene.frame_current, scene.frame_subframe
    if motion == "in place":
        clip = in_place(clip, rig)
    positions, world = _at_probes(ob, rig, *clip.world)
    low, high = span or (0, len(clip) - 1)
    picked = np.unique(np.linspace(low, high, min(samples, high - low + 1)).round().astype(int))
    turning = [joint for joint in range(len(rig.probes)) if joint not in loose]
    worst_metres, worst_degrees, bone = 0.0, 0.0, ""
    try:
        for frame in picked:
            scene.frame_set(int(frame_start + frame))
            found_places, found_turns = evaluated(ob, rig.probes)
            away = np.linalg.norm(found_places - positions[frame], axis=-1)
            angle = np.degrees(rot.angle_between(found_turns, world[frame]))[turning]
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
