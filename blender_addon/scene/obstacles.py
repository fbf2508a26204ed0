"""What stands in the way of keys: locked channels, and drivers that overrule them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.errors import RigError
from .channels import Channel, eulers, quaternions_of, rotation_near
from .rigs import Rig

#: Joints that a walk cannot do without.
_NEEDED = ("hips", "hip", "knee", "ankle")
_AXES = "XYZ"


def unlocked(ob: bpy.types.Object, rig: Rig, channels: Sequence[Channel]) -> tuple[list[Channel], tuple[str, ...]]:
    """The channels without what is locked, and what to tell about it.

    Locked axes keep the value that they have now, as they do when an animator moves the bone. Deform bones and helpers
    of a generated rig are all locked, against being moved by hand: keys on them are asked for expressly.

    Raises:
        RigError: everything is locked.
    """
    if rig.kind == "rigify deform":
        return list(channels), ()
    found, said = [], []
    for channel in channels:
        owner = ob.pose.bones.get(channel.bone) if channel.bone else ob
        helper = rig.kind.startswith("rigify") and channel.bone.startswith("MCH-")
        locks = _locks(owner, channel.path) if owner is not None and not helper else (False, False, False)
        if owner is None or not any(locks):
            found.append(channel)
            continue
        held = _held(owner, channel, locks)
        if float(np.abs(held.values - channel.values).max()) > 1e-5:
            axes = " ".join(axis for axis, lock in zip(_AXES, locks, strict=True) if lock)
            said.append(f"{channel.bone or ob.name} {channel.path.split('_')[0]} {axes}")
        if not all(locks):
            found.append(held)
    if not found:
        raise RigError("All channels are locked", "Unlock them in the sidebar (Item > Transform), then bake")
    if not said:
        return found, ()
    more = f" and {len(said) - 4} more" if len(said) > 4 else ""
    return found, (f"Locked channels were left as they are: {', '.join(said[:4])}{more}. Unlock them in the sidebar "
                   f"(Item > Transform) for the whole motion",)  # fmt: skip


def _locks(owner: bpy.types.Object | bpy.types.PoseBone, path: str) -> tuple[bool, bool, bool]:
    locks = owner.lock_location if path == "location" else owner.lock_rotation
    return bool(locks[0]), bool(locks[1]), bool(locks[2])


def _held(owner: bpy.types.Object | bpy.types.PoseBone, channel: Channel, locks: Sequence[bool]) -> Channel:
    """The channel with its locked axes at their present value."""
    now = np.array(getattr(owner, channel.path), dtype=np.float64)
    values = np.array(channel.values)
    if channel.path in ("location", "rotation_euler"):
        values[:, list(locks)] = now[list(locks)]
        return replace(channel, values=values, curve=None)
    if all(locks):
        return replace(channel, values=np.tile(now, (len(values), 1)), curve=None)
    # As Blender locks the axes of a quaternion: by its Euler angles.
    angles = eulers(quaternions_of(channel.path, values, ""), "XYZ")
    angles[:, list(locks)] = eulers(quaternions_of(channel.path, now[None], ""), "XYZ")[0, list(locks)]
    turn = rot.unroll(quaternions_of("rotation_euler", angles, "XYZ"))
    return replace(channel, values=rotation_near(channel.path, turn, "", values), curve=None)


def undriven(ob: bpy.types.Object, rig: Rig, channels: Sequence[Channel]) -> tuple[list[Channel], tuple[str, ...]]:
    """The channels without those that drivers rule, and what to tell about it.

    Raises:
        RigError: a driver rules the hips or a leg, or a switch that the keys need.
    """
    data = ob.animation_data
    driven = {curve.data_path for curve in data.drivers if not curve.mute} if data is not None else set()
    if not driven:
        return list(channels), ()
    switch = next((path for path, _ in rig.switches if path in driven), None)
    if switch is not None:
        raise RigError(
            f"A driver rules {switch}, which must be keyed", "Remove or mute that driver, then bake"
        )
    roles = {name: role for role, name in rig.skeleton.roles.items()}
    joints = {control.bone: control.joint for control in rig.controls}
    ruled = [channel for channel in channels if channel.data_path in driven]
    for channel in ruled:
        joint = joints.get(channel.bone, -1)
        role = roles.get(rig.skeleton.names[joint], "") if 0 <= joint < len(rig.skeleton) else "hips"
        if role.removeprefix("left_").removeprefix("right_") in _NEEDED:
            raise RigError(
                f"A driver rules {channel.path.replace('_', ' ')} of {channel.bone or ob.name!r}, without which the "
                f"character cannot walk",
                "Remove or mute that driver (right click on the property), then bake",
            )
    if not ruled:
        return list(channels), ()
    names = ", ".join(dict.fromkeys(channel.bone for channel in ruled))
    kept = [channel for channel in channels if channel.data_path not in driven]
    return kept, (f"Drivers rule {names}: these were not keyed. Mute the drivers for the whole motion",)
