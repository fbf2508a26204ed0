"""Calm standing: where the plan stands, the motion is played slowly, so that nobody fidgets.

Captured standing is short and its hands are busy; played at a third of its pace it breathes and sways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .clip import BoolArray, Clip, interpolate_cubic
from .filters import derivative, lowpass
from .inertialize import inertialize_positions, inertialize_rotations
from .rotations import Array, normalize, unroll
from .runs import runs


@dataclass(frozen=True)
class SettleSettings:
    """How standing is calmed.

    Attributes:
        pace: how fast the motion is played while standing, 1 leaves it alone.
        ease: seconds over which the pace is taken back.
        shortest: stands shorter than this many seconds are left alone.
        ready: seconds before the plan goes on at which the motion is itself again.
        still: hips slower than this (m/s) have arrived.
    """

    pace: float = 0.25
    ease: float = 0.4
    shortest: float = 0.8
    ready: float = 0.5
    still: float = 0.15


def settle(clip: Clip, standing: BoolArray, settings: SettleSettings | None = None) -> Clip:
    """Slow the motion down in stands of the plan, once the feet are down and the hips have arrived.

    Args:
        clip: motion with contacts, already on its plan.
        standing: frames (f,) in which the plan stands and does not turn.
        settings: how.

    Returns:
        The clip with hips, rotations and contacts replayed; the root track stays.
    """
    settings = settings or SettleSettings()
    times = np.arange(len(clip), dtype=np.float64)
    jumps: list[int] = []
    arrived = _arrived(clip, settings)
    for begin, end in runs(standing):
        first = next((a for a, b in runs(arrived[begin:end]) if b - a > settings.ease * clip.fps), None)
        if first is None:
            continue
        first += begin
        goes_on = end < len(clip)
        last = end - round(settings.ready * clip.fps) if goes_on else end
        if last - first < settings.shortest * clip.fps:
            continue
        times[first:last] = first + _slowed(last - first, clip.fps, settings)
        if goes_on:
            jumps.append(last)
    if np.array_equal(times, np.arange(len(clip))):
        return clip
    hips = interpolate_cubic(clip.hips, times)
    rotations = normalize(interpolate_cubic(unroll(clip.rotations), times))
    nearest = np.clip(np.round(times).astype(int), 0, len(clip) - 1)
    return replace(
        clip,
        hips=inertialize_positions(hips, jumps, clip.fps),
        rotations=inertialize_rotations(rotations, jumps, clip.fps),
        contacts=clip.contacts[nearest],
    )


def standing_frames(speed: Array, yaw: Array, fps: float) -> BoolArray:
    """Frames (f,) in which a plan stands: slower than 2 cm/s and turning slower than 3 degrees/s."""
    return np.asarray((np.abs(speed) < 0.02) & (np.abs(derivative(yaw, fps)) < 0.05))


def _arrived(clip: Clip, settings: SettleSettings) -> BoolArray:
    speed = np.linalg.norm(derivative(lowpass(clip.hips, clip.fps, 3.0), clip.fps), axis=-1)
    return np.asarray((speed < settings.still) & clip.contacts.all(axis=1))


def _slowed(frames: int, fps: float, settings: SettleSettings) -> Array:
    """Time in frames (frames,) from 0: at full pace first, then eased to the settled one."""
    t = np.clip(np.arange(frames) / max(settings.ease * fps, 1.0), 0.0, 1.0)
    rate = 1.0 + (settings.pace - 1.0) * t * t * (3.0 - 2.0 * t)
    return np.concatenate([[0.0], np.cumsum(rate)[:-1]])
