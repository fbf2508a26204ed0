"""The root track of a motion: where a character is on the ground and which way it faces, without its sway."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal import girdles
from .clip import Clip
from .filters import lowpass
from .rotations import Array
from .skeleton import Skeleton
from .terrain import Terrain

#: -3 dB frequencies in Hz. Steps sway the hips at about 1 Hz (a stride) to 2 Hz; below 0.5 Hz corners and
#: starts smear.
POSITION_CUTOFF = 1.0
FACING_CUTOFF = 0.7
#: What carries the travel follows the ground's height below this frequency, Hz.
HEIGHT_CUTOFF = 1.0


def body_yaw(skeleton: Skeleton, positions: Array) -> Array:
    """The body's yaw (frames,), radians, unwrapped and unfiltered.

    From the lines right-to-left through hips and through shoulders, each of weight one, projected on the
    ground; without shoulders the hips alone. Four legs: the line from the hips to the shoulders.

    Args:
        skeleton: the joints; needs both hips.
        positions: world positions (frames, b, 3), metres.
    """
    if skeleton.four_legged:
        hind, fore = girdles(skeleton, positions)
        return np.unwrap(rot.yaw_of_direction((fore - hind)[:, :2]))
    across = np.zeros((len(positions), 2))
    for part in ("hip", "shoulder"):
        if not (skeleton.has(f"left_{part}") and skeleton.has(f"right_{part}")):
            continue
        left, right = skeleton.index(f"left_{part}"), skeleton.index(f"right_{part}")
        line = (positions[:, left] - positions[:, right])[:, :2]
        across += line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-6)
    forward = np.stack([across[:, 1], -across[:, 0]], axis=-1)
    return np.unwrap(rot.yaw_of_direction(forward))


def root_track(
    skeleton: Skeleton,
    positions: Array,
    fps: float,
    *,
    position_cutoff: float = POSITION_CUTOFF,
    facing_cutoff: float = FACING_CUTOFF,
) -> Array:
    """Root transform (frames, 3): x, y in metres and yaw in radians, unwrapped.

    The hips on the ground, low-passed, and the low-passed facing of hips and shoulders. What is taken away
    here (sway, twist) stays in the pose relative to the root. Four legs: the middle between hips and shoulders.

    Args:
        skeleton: the joints.
        positions: world positions (frames, b, 3), metres.
        fps: frames per second.
        position_cutoff: -3 dB frequency of the position, Hz.
        facing_cutoff: -3 dB frequency of the yaw, Hz.
    """
    middle = positions[:, 0]
    if skeleton.four_legged:
        hind, fore = girdles(skeleton, positions)
        middle = 0.5 * (hind + fore)
    place = lowpass(middle[:, :2], fps, position_cutoff)
    yaw = lowpass(body_yaw(skeleton, positions), fps, facing_cutoff)
    return np.concatenate([place, yaw[:, None]], axis=-1)


def with_root(clip: Clip) -> Clip:
    """The clip with its root track computed anew from the body."""
    return replace(clip, root=root_track(clip.skeleton, clip.world[0], clip.fps))


def ground_under_root(clip: Clip, ground: Terrain) -> Array:
    """Height of the ground under the root (f,), metres, without its bumps; ``ground``: as the body takes it."""
    level = np.asarray(ground.height(clip.root[:, :2]))
    return level if np.ptp(level) < 1e-9 else lowpass(level, clip.fps, HEIGHT_CUTOFF)
