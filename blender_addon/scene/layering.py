"""A bake over part of an existing action: blended in and out, what lies outside stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.rotations import Array
from . import compat
from . import keys as keyed
from .channels import Channel, quaternions_of, rotation_channel

#: Makes fewer keys of channels, given these and the first and the end of their frames in the motion.
Reduce = Callable[[Sequence[Channel], int, int], list[Channel]]


@dataclass(frozen=True)
class Layer:
    """Which frames a bake goes over.

    Attributes:
        first, last: frames of the scene; None for the motion's own.
        blend_in, blend_out: frames over which it comes in from ``first`` on and goes out up to ``last``.
    """

    first: int | None = None
    last: int | None = None
    blend_in: int = 10
    blend_out: int = 10

    def span(self, frame_start: int, frames: int) -> tuple[int, int]:
        """First and last frame of a motion that begins at ``frame_start``; raises `RigError` if none is left."""
        first = frame_start if self.first is None else max(self.first, frame_start)
        last = frame_start + frames - 1
        last = last if self.last is None else min(self.last, last)
        if last <= first:
            raise RigError(
                f"The motion (frames {frame_start} to {frame_start + frames - 1}) does not reach the layer's frames",
                "Choose frames of the layer within it",
            )
        return first, last

    def weights(self, first: int, last: int) -> Array:
        """Share (f,) of the new motion, smooth: 0 at the ends where it is blended."""
        frames = np.arange(first, last + 1, dtype=np.float64)
        weight = np.ones(len(frames))
        for width, away in ((self.blend_in, frames - first), (self.blend_out, last - frames)):
            if width > 0:
                weight *= _smooth(np.clip(away / width, 0.0, 1.0))
        return weight


def _smooth(t: Array) -> Array:
    return t * t * (3.0 - 2.0 * t)


def blend(
    ob: bpy.types.Object, store: Any, channels: Sequence[Channel], modes: dict[str, str], layer: Layer,
    frame_start: int,
) -> tuple[list[Channel], int, int]:  # fmt: skip
    """The channels over the layer's frames, blended with what the character does there; and first and last frame.

    Args:
        ob: the armature object.
        store: what holds the curves of the action below.
        channels: the new motion.
        modes: bone -> rotation mode; empty for the object.
        layer: which frames.
        frame_start: frame of the channels' first values.
    """
    first, last = layer.span(frame_start, len(channels[0].values))
    weight = layer.weights(first, last)[:, None]
    part = slice(first - frame_start, last - frame_start + 1)
    found = []
    for channel in channels:
        new, old = channel.values[part], below(ob, store, channel, first, last)
        if channel.path in ("location", "scale"):
            found.append(replace(channel, values=old + weight * (new - old), curve=None))
            continue
        mode = modes[channel.bone]
        turns = [quaternions_of(channel.path, values, mode) for values in (old, new)]
        away = rot.unroll(rot.inv_mul(turns[0], turns[1]))
        for side in _sides(weight[:, 0]):
            # Where it comes in or goes out, by the shorter way round.
            away[side] = away[side] if away[side, 0].sum() >= 0.0 else -away[side]
        mixed = rot.unroll(rot.mul(turns[0], rot.exp(weight * _log(away))))
        values = rotation_channel(channel.bone, mixed, mode).values
        twin = nearest_twin(channel.path, mode, values[0], old[0])
        found.append(replace(channel, values=values * twin[0] + twin[1], curve=None))
    return found, first, last


def _sides(weight: Array) -> list[slice]:
    """Frames where the motion comes in, and where it goes out."""
    whole = np.flatnonzero(weight >= 1.0)
    middle = (int(whole[0]), int(whole[-1]) + 1) if len(whole) else (len(weight) // 2,) * 2
    return [slice(0, middle[0]), slice(middle[1], len(weight))]


def nearest_twin(path: str, mode: str, values: Array, goal: Array) -> tuple[Array, Array]:
    """Factors and summands (components,) that turn rotation values into the same rotation nearest to ``goal``.

    They hold for any values of the channel, and so for whole curves with their handles.
    """
    count, turn = len(values), 2.0 * np.pi
    plus = np.ones(count)
    if path == "rotation_quaternion":
        return (-plus, np.zeros(count)) if float(values @ goal) < 0.0 else (plus, np.zeros(count))
    choices = [(plus, np.zeros(count)), (-plus, np.zeros(count))]
    angles = np.array([True, False, False, False])
    if path == "rotation_euler":
        middle = "XYZ".index(mode[1])
        choices[1] = (np.where(np.arange(3) == middle, -1.0, 1.0), np.full(3, np.pi))
        angles = np.ones(3, dtype=bool)
    found = []
    for factor, summand in choices:
        made = values * factor + summand
        whole = np.where(angles, turn * np.round((goal - made) / turn), 0.0)
        found.append((float(np.abs(made + whole - goal).sum()), factor, summand + whole))
    _, factor, summand = min(found, key=lambda choice: choice[0])
    return factor, summand


def _log(q: Array) -> Array:
    """Rotation vectors (f, 3) of quaternions whose signs are meant: angles up to 2 pi."""
    length = np.linalg.norm(q[:, 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(length, q[:, :1])
    return np.asarray(np.where(length > 1e-9, angle / np.maximum(length, 1e-12), 2.0) * q[:, 1:])


def below(ob: bpy.types.Object, store: Any, channel: Channel, first: int, last: int) -> Array:
    """What a channel does without the bake (f, components)."""
    owner = ob.pose.bones[channel.bone] if channel.bone else ob
    static = np.array(getattr(owner, channel.path), dtype=np.float64)
    values = np.tile(static, (last - first + 1, 1))
    for index in range(values.shape[1]):
        curve = store.fcurves.find(channel.data_path, index=index) if store is not None else None
        if curve is not None:
            values[:, index] = [curve.evaluate(frame) for frame in range(first, last + 1)]
    return values


def put(
    ob: bpy.types.Object, store: Any, channel: Channel, group: Any, first: int, last: int, layer: Layer
) -> None:
    """Write a blended channel over its frames; keys outside stay, and the curve outside keeps its shape.

    Only where a rotation has come full circle, what comes after is written another way: the same rotations.
    """
    ends = first - (layer.blend_in == 0), last + (layer.blend_out == 0)
    around = below(ob, store, channel, *ends)
    count = channel.values.shape[1]
    twin = np.ones(count), np.zeros(count)
    if channel.path not in ("location", "scale"):
        owner = ob.pose.bones[channel.bone] if channel.bone else ob
        twin = nearest_twin(channel.path, owner.rotation_mode, around[-1], channel.values[-1])
    for index in range(count):
        curve = store.fcurves.find(channel.data_path, index=index)
        if curve is None:
            curve = store.fcurves.new(channel.data_path, index=index)
        if curve.group is None:
            curve.group = group
        if channel.curve is None:
            frames = np.arange(first, last + 1, dtype=np.float64)
            inside = keyed.made(frames, channel.values[:, index], keyed.LINEAR)
        else:
            inside = keyed.sparse(channel.curve, index, first)
        after = twin[0][index], twin[1][index]
        write_around(curve, inside, ends, (around[0, index], around[-1, index]), after)


def write_around(
    curve: Any, inside: keyed.Keys, ends: tuple[int, int], values: tuple[float, float],
    twin: tuple[float, float] = (1.0, 0.0),
) -> None:  # fmt: skip
    """Put keys between what a curve has up to ``ends[0]`` and from ``ends[1]`` on.

    Args:
        curve: the curve; what it has between goes.
        inside: the keys.
        ends: where what stays ends and begins again.
        values: of the curve there, for curves that have no keys beyond.
        twin: factor and summand for what comes after (another way to write the same rotation).
    """
    before, after = keyed.cut(keyed.read(curve), float(ends[0]), float(ends[1]))
    places, codes = np.array(inside.places), np.array(inside.codes)
    parts = []
    if ends[0] < inside.frames[0]:
        parts.append(before if len(before) else _single(ends[0], values[0]))
        parts[0].codes[-1, 0] = keyed.CONSTANT if parts[0].codes[-1, 0] == keyed.CONSTANT else keyed.LINEAR
    else:
        parts.append(before.part(before.frames < ends[0]))
        if len(before) > len(parts[0]):
            # The key at the seam keeps the handle of the side that stays.
            places[0, 1], codes[0, 1] = before.places[-1, 1], 0
    if not len(after):
        after = _single(ends[1], values[1])
    after = after.scaled(*twin)
    rest = after if ends[1] > inside.frames[-1] else after.part(after.frames > ends[1])
    if len(rest) < len(after) and len(rest):
        places[-1, 2], codes[-1, 2], codes[-1, 0] = after.places[0, 2], 0, after.codes[0, 0]
    parts += [replace(inside, places=places, codes=codes), rest]
    keyed.write(curve, keyed.joined(*parts))


def _single(frame: int, value: float) -> keyed.Keys:
    return keyed.made(np.array([float(frame)]), np.array([value]), keyed.LINEAR)


def hold(ob: bpy.types.Object, store: Any, path: str, value: float, group: Any, first: int, last: int) -> bool:
    """Set another property over the layer's frames alone; True where it was otherwise before."""
    curve = store.fcurves.find(path, index=0)
    if curve is None:
        was = float(compat.number_at(ob, path) or 0.0)
        around = was, was
        curve = store.fcurves.new(path, index=0)
        curve.group = group
    else:
        around = curve.evaluate(first - 1), curve.evaluate(last + 1)
    inside = keyed.made(np.array([float(first), float(last)]), np.array([value, value]), keyed.CONSTANT)
    write_around(curve, inside, (first - 1, last + 1), around)
    return any(abs(other - value) > 1e-6 for other in around)
