"""Feet as the body sees them: how far ahead, how high, and when they bear it, for cycles whose feet slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..animal import contact_points
from ..clip import BoolArray, Clip
from ..errors import ClipError
from ..filters import derivative
from ..root_track import root_track
from ..rotations import Array
from ..runs import clean_runs

#: A foot bears when it is lower than this share of its lift, and does not move ahead under the body.
LOW = 0.2
#: Feet that lift less than this share of the legs' length stay down.
_STILL_LIFT = 0.015
#: A foot that is low and moves ahead less than this many lengths of the leg per second rests.
_RESTING = 0.3
#: Lift is measured within this time to either side, seconds.
_WINDOW = 0.8
#: Gaps and spikes of bearing up to this long are removed, seconds.
_FLICKER = 0.05


@dataclass(frozen=True, eq=False)
class BodyFeet:
    """Feet relative to the body; columns as `animal.LEGS`.

    Attributes:
        ahead: how far each foot is ahead of the body's middle (f, 4), metres.
        left: how far to its left (f, 4), metres.
        height: over the ground's level of the rest pose (f, 4), metres.
        leg: length of the legs, metres.
        root: root track of the body (f, 3): x, y (metres), yaw (radians).
    """

    ahead: Array
    left: Array
    height: Array
    leg: float
    root: Array


def body_feet(clip: Clip) -> BodyFeet:
    """The feet of a clip under its root, or under the body where the root stays at 0; `ClipError` without four legs."""
    if not clip.skeleton.four_legged:
        raise ClipError(f"{clip.name or 'The clip'} is not of an animal", "Choose motion of an animal with four legs")
    positions, rotations = clip.world
    balls = contact_points(clip.skeleton, positions, rotations)
    root = clip.root if np.any(clip.root) else root_track(clip.skeleton, positions, clip.fps)
    return feet_under(balls, root, clip.skeleton.leg_length)


def feet_under(feet: Array, root: Array, leg: float) -> BodyFeet:
    """Feet (f, 4, 3), metres in the world, under a root track (f, 3); ``leg`` is the legs' length, metres."""
    away = feet[..., :2] - root[:, None, :2]
    sine, cosine = np.sin(root[:, 2:]), np.cos(root[:, 2:])
    ahead = away[..., 0] * sine - away[..., 1] * cosine
    left = away[..., 0] * cosine + away[..., 1] * sine
    return BodyFeet(ahead, left, np.asarray(feet[..., 2]), leg, root)


def harmonic_phases(feet: BodyFeet) -> Array:
    """Phase of each foot's mid-stance (4,) in [0, 1) of a cycle, from the first harmonics of its motion.

    At mid-stance a foot is lowest, and moves back through the middle of its swing: both harmonics tell the phase, and
    they are added, as metres, so that the larger one weighs more.
    """
    frames = len(feet.height)
    wave = np.exp(-2j * np.pi * np.arange(frames) / frames)[:, None]
    height, ahead = (np.mean(signal * wave, axis=0) for signal in (feet.height, feet.ahead))
    return np.asarray((-np.angle(-height - 1j * ahead) / (2.0 * np.pi)) % 1.0 % 1.0)


def loaded_feet(feet: BodyFeet, fps: float, *, cyclic: bool = False) -> BoolArray:
    """When each foot bears the body (f, 4): it is low and does not move ahead under the body.

    Feet that leave and meet the ground softly are taken to bear for longer: 0.05 to 0.15 more duty than contacts say.

    Args:
        feet: the feet under the body.
        fps: frames per second.
        cyclic: the frame after the last is the first.
    """
    frames = len(feet.height)
    copies = 3 if cyclic else 1
    height, ahead = np.tile(feet.height, (copies, 1)), np.tile(feet.ahead, (copies, 1))
    window = frames if cyclic else max(1, round(_WINDOW * fps))
    lowest, highest = _extremes(height, window)
    lift = highest - lowest
    still = lift < _STILL_LIFT * feet.leg
    # Where an animal halts its feet rest under the body.
    back = derivative(ahead, fps) < (0.0 if cyclic else _RESTING * feet.leg)
    low = height <= lowest + LOW * lift
    down = clean_runs((low & back) | still, min(round(_FLICKER * fps), frames // 10))
    return down[frames : 2 * frames] if cyclic else down


def treadmill_speed(
    feet: BodyFeet, down: BoolArray, fps: float, span: tuple[int, int] | None = None, *, cyclic: bool = False
) -> float:
    """Median backward speed of the feet that are down, under the body, m/s; 0 when none is.

    Args:
        feet: the feet under the body.
        down: which of them bear (f, 4).
        fps: frames per second.
        span: the frames [first, last) it is the speed of; all when not given.
        cyclic: the frame after the last is the first.
    """
    if cyclic:
        back = -0.5 * fps * (np.roll(feet.ahead, -1, axis=0) - np.roll(feet.ahead, 1, axis=0))
    else:
        back = -derivative(feet.ahead, fps)
    part = slice(*span) if span is not None else slice(None)
    speeds = back[part][down[part]]
    return float(max(np.median(speeds), 0.0)) if len(speeds) else 0.0


def _extremes(values: Array, window: int) -> tuple[Array, Array]:
    """Lowest and highest value within ``window`` frames to either side, per column (f, n)."""
    pad = ((window, window), (0, 0))
    low, high = (
        np.lib.stride_tricks.sliding_window_view(np.pad(values, pad, constant_values=end), 2 * window + 1, axis=0)
        for end in (np.inf, -np.inf)
    )
    return low.min(axis=-1), high.max(axis=-1)
