"""Un-bake: what was there before a bake is kept with the action that the bake made, and put back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

import bpy

from ..motion.errors import RigError
from . import compat

#: Custom properties of a baked action: what was there (JSON), and the action before (which keeps it in the file).
RECORD, RECORD_ACTION = "gaitsmith_before", "gaitsmith_before_action"
#: How many bakes can be taken back one after the other; the state before the first is always among them.
MOST_STEPS = 4


def capture(ob: bpy.types.Object, bones: Collection[str], paths: Iterable[str]) -> dict[str, Any]:
    """What a bake of these bones (empty: the object itself) and other properties may change, as plain data."""
    data = ob.animation_data
    action = data.action if data is not None else None
    scene = bpy.context.scene
    return {
        "data": data is not None, "action": action.name if action is not None else "",
        "slot": compat.slot_name(ob), "tracks": [], "scene": [scene.frame_start, scene.frame_end],
        "bones": {name: _transform(ob.pose.bones[name]) for name in dict.fromkeys(bones) if name in ob.pose.bones},
        "object": _transform(ob) if "" in bones else {},
        "values": {path: value for path in paths if (value := compat.number_at(ob, path)) is not None},
    }  # fmt: skip


def keep(made: bpy.types.Action, record: dict[str, Any], old: bpy.types.Action | None) -> None:
    """Hang what was there onto the action that a bake made."""
    made[RECORD] = json.dumps(record)
    if RECORD_ACTION in made:
        del made[RECORD_ACTION]
    if old is not None:
        made[RECORD_ACTION] = old
    _shorten(made)


def _shorten(made: bpy.types.Action) -> None:
    """Forget the steps between the latest ones and the first.

    Their actions stay until Blender drops what nothing uses: somebody may want to compare bakes.
    """
    chain = [made]
    while isinstance(before := chain[-1].get(RECORD_ACTION), bpy.types.Action) and before not in chain:
        chain.append(before)
    steps = [action for action in chain if RECORD in action]
    if len(steps) <= MOST_STEPS:
        return
    keeper, dropped = steps[-3], steps[-2]
    first = dropped.get(RECORD_ACTION)
    keeper[RECORD] = dropped[RECORD]
    del keeper[RECORD_ACTION]
    if first is not None:
        keeper[RECORD_ACTION] = first
        del dropped[RECORD_ACTION]


def baked_action(ob: bpy.types.Object) -> bpy.types.Action | None:
    """The action of the latest bake on an armature: in use, or in its topmost strip; None without one."""
    data = ob.animation_data
    if data is None:
        return None
    if data.action is not None:
        return data.action if RECORD in data.action else None
    for track in reversed(data.nla_tracks):
        for strip in track.strips:
            if strip.action is not None and RECORD in strip.action:
                return strip.action
    return None


def unbake(ob: bpy.types.Object) -> str:
    """Put back what was there before the latest bake; returns the name of the baked action.

    Raises:
        RigError: there is no bake to take back.
    """
    made = baked_action(ob)
    if made is None:
        raise RigError(f"{ob.name!r} has no bake that can be taken back", "Clear takes off any action")
    record = json.loads(made[RECORD])
    old = made.get(RECORD_ACTION)
    data = ob.animation_data
    for track in list(data.nla_tracks):
        if track.name in record["tracks"] and all(strip.action in (made, old) for strip in track.strips):
            data.nla_tracks.remove(track)
    name = made.name
    compat.bind_slot(ob, old, record["slot"])
    if old is not None and record["action"] and old.name != record["action"]:
        # The baked action may have taken its name.
        made.name = f"{made.name} (taken back)"
        old.name = record["action"]
    if not record["data"] and not data.drivers and not data.nla_tracks:
        ob.animation_data_clear()
    _restore(ob, record)
    if made.users == int(made.use_fake_user):
        bpy.data.actions.remove(made)
    ob.update_tag()
    bpy.context.view_layer.update()
    return name


def _restore(ob: bpy.types.Object, record: dict[str, Any]) -> None:
    for name, kept in record["bones"].items():
        bone = ob.pose.bones.get(name)
        if bone is not None:
            _set_transform(bone, kept)
    _set_transform(ob, record["object"])
    for path, value in record["values"].items():
        _set_value(ob, path, value)
    if record.get("fitted"):
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = record["scene"]


_PARTS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def _transform(thing: Any) -> dict[str, list[float]]:
    return {part: list(getattr(thing, part)) for part in _PARTS}


def _set_transform(thing: Any, kept: dict[str, list[float]]) -> None:
    for part, values in kept.items():
        if list(getattr(thing, part)) != values:
            setattr(thing, part, values)


def _set_value(ob: bpy.types.Object, path: str, value: Any) -> None:
    try:
        if path.endswith('"]'):
            owner, _, key = path[:-2].rpartition('["')
            ob.path_resolve(owner)[key] = value
        else:
            owner, _, key = path.rpartition(".")
            setattr(ob.path_resolve(owner), key, value)
    except (ValueError, KeyError, AttributeError):
        return
