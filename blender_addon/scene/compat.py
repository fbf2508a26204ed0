"""The differences between Blender 4.2 and 5.3, asked by feature, never by version number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def bind_action(owner: bpy.types.ID, action: bpy.types.Action | None, slot: str = "") -> None:
    """Give ``owner`` an action and the slot in it that is meant for it; without the slot it would not play.

    Args:
        owner: who gets it.
        action: the action.
        slot: name of its slot (`slot_name`), where it has one of that name.
    """
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if action is not None and hasattr(action, "slots"):
        named = next((found for found in action.slots if slot and found.identifier == slot), None)
        data.action_slot = named or own_slot(owner, action)


def own_slot(owner: bpy.types.ID, action: bpy.types.Action) -> Any:
    """The slot of ``action`` that ``owner`` uses: bound, else of its name, else a new one; None before 4.4."""
    if not hasattr(action, "slots"):
        return None
    data = owner.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    for slot in action.slots:
        if slot.target_id_type == owner.id_type and slot.name_display == owner.name:
            return slot
    return action.slots.new(id_type=owner.id_type, name=owner.name)


def slot_name(owner: bpy.types.ID) -> str:
    """The slot that an owner's action is bound by; empty without one and before 4.4."""
    data = owner.animation_data
    slot = getattr(data, "action_slot", None) if data is not None else None
    return slot.identifier if slot is not None else ""


def bind_slot(owner: bpy.types.ID, action: bpy.types.Action | None, slot: str) -> None:
    """Give ``owner`` an action by a slot it was bound by before (`slot_name`); by none if that is empty."""
    data = owner.animation_data
    data.action = action
    if action is not None and hasattr(action, "slots"):
        data.action_slot = next((found for found in action.slots if found.identifier == slot), None)


def curve_store(owner: bpy.types.ID, action: bpy.types.Action, slot_of: str = "") -> Any:
    """What holds ``fcurves`` and ``groups`` of an action for ``owner``: the action itself, or a channelbag.

    Args:
        owner: whose curves.
        action: where.
        slot_of: the slot by name (`slot_name`), where the action is not yet bound to its owner.
    """
    if not hasattr(action, "slots"):
        return action
    slot = next((found for found in action.slots if found.identifier == slot_of), None) or own_slot(owner, action)
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strips = [strip for strip in layer.strips if strip.type == "KEYFRAME"]
    strip = strips[0] if strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def action_curves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """Every curve of an action, whatever slot it lies in."""
    if not hasattr(action, "slots"):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in getattr(strip, "channelbags", ()):
                yield from bag.fcurves


def add_strip(owner: bpy.types.ID, action: bpy.types.Action, name: str) -> str:
    """Lay an action down on an NLA track of its own, its slot bound, where its keys are; the track's name."""
    data = owner.animation_data or owner.animation_data_create()
    track = data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, int(action.frame_range[0]), action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = own_slot(owner, action)
    return track.name


def number_at(owner: bpy.types.ID, path: str) -> bool | int | float | None:
    """The value of a property; None if it is no number or not there.

    Custom properties whose values have names, such as Rigify's choice of a parent, resolve to the name: they are read
    as they are stored.
    """
    try:
        if path.endswith('"]'):
            above, _, key = path[:-2].rpartition('["')
            value = owner.path_resolve(above).get(key)
        else:
            value = owner.path_resolve(path)
    except ValueError:
        return None
    return value if isinstance(value, bool | int | float) else None


def set_output(render: bpy.types.RenderSettings, kind: str) -> None:
    """Set the kind of rendered output: ``PNG``, or ``FFMPEG`` for films (H.264 in MP4)."""
    image = render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "VIDEO" if kind == "FFMPEG" else "IMAGE"
    image.file_format = kind
    if kind == "FFMPEG":
        render.ffmpeg.format = "MPEG4"
        render.ffmpeg.codec = "H264"
        render.ffmpeg.constant_rate_factor = "HIGH"
