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
from . import keys as keyed
from .channels import Channel, quaternions_of, rotation_near

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
        # The shorter way round where it is blended in; then on without a jump.
        away = away if away[int(np.argmax(weight > 0.0)), 0] >= 0.0 else -away
        mixed = rot.mul(turns[0], rot.exp(weight * _log(away)))
        if channel.path == "rotation_quaternion":
            mixed = rot.unroll(mixed)
            mixed = mixed if float(mixed[0] @ old[0]) >= 0.0 else -mixed
            found.append(replace(channel, values=mixed, curve=None))
        else:
            near = old + weight * (new - old)
            found.append(replace(channel, values=rotation_near(channel.path, mixed, mode, near), curve=None))
    return found, first, last


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
    """Write a blended channel over its frames; keys outside stay, and the curve outside keeps its shape."""
    flip = False
    ends = first - (layer.blend_in == 0), last + (layer.blend_out == 0)
    around = below(ob, store, channel, *ends)
    for index in range(channel.values.shape[1]):
        curve = store.fcurves.find(channel.data_path, index=index)
        fresh = curve is None
        if fresh:
            curve = store.fcurves.new(channel.data_path, index=index)
        if curve.group is None:
            curve.group = group
        if channel.curve is None:
            frames = np.arange(first, last + 1, dtype=np.float64)
            inside = keyed.made(frames, channel.values[:, index], keyed.LINEAR)
        else:
            inside = keyed.sparse(channel.curve, index, first)
        if index == 0 and channel.path == "rotation_quaternion":
            flip = float(channel.values[-1] @ around[-1]) < 0.0
        write_around(curve, inside, ends, (around[0, index], around[-1, index]), flip)


def write_around(
    curve: Any, inside: keyed.Keys, ends: tuple[int, int], values: tuple[float, float], flip: bool = False
) -> None:
    """Put keys between what a curve has up to ``ends[0]`` and from ``ends[1]`` on.

    Args:
        curve: the curve; what it has between goes.
        inside: the keys.
        ends: where what stays ends and begins again.
        values: of the curve there, for curves that have no keys beyond.
        flip: turn round what comes after (a quaternion's other sign).
    """
    old = keyed.read(curve)
    before, after = keyed.cut(old, float(ends[0]), float(ends[1]))
    if flip:
        after = after.negated()
    parts = []
    if ends[0] < inside.frames[0]:
        parts.append(before if len(before) else keyed.made(np.array([float(ends[0])]), np.array([values[0]]), 1))
        parts[0].codes[-1, 0] = parts[0].codes[-1, 0] if parts[0].codes[-1, 0] == keyed.CONSTANT else keyed.LINEAR
    else:
        parts.append(before.part(before.frames < ends[0]))
        if len(before) > len(parts[0]):
            # The key at the seam keeps the handle of the side that stays.
            inside.places[0, 1], inside.codes[0, 1] = before.places[-1, 1], 0
    parts.append(inside)
    if ends[1] > inside.frames[-1]:
        value = -values[1] if flip else values[1]
        parts.append(after if len(after) else keyed.made(np.array([float(ends[1])]), np.array([value]), 1))
    else:
        rest = after.part(after.frames > ends[1])
        if len(after) > len(rest):
            inside.places[-1, 2], inside.codes[-1, 2] = after.places[0, 2], 0
            inside.codes[-1, 0] = after.codes[0, 0]
        parts.append(rest)
    keyed.write(curve, keyed.joined(*parts))


def hold(ob: bpy.types.Object, store: Any, path: str, value: float, group: Any, first: int, last: int) -> bool:
    """Set another property over the layer's frames alone; True where it was otherwise before."""
    curve = store.fcurves.find(path, index=0)
    if curve is None:
        was = float(ob.path_resolve(path))
        around = was, was
        curve = store.fcurves.new(path, index=0)
        curve.group = group
    else:
        around = curve.evaluate(first - 1), curve.evaluate(last + 1)
    inside = keyed.made(np.array([float(first), float(last)]), np.array([value, value]), keyed.CONSTANT)
    write_around(curve, inside, (first - 1, last + 1), around)
    return any(abs(other - value) > 1e-6 for other in around)
