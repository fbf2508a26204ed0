"""Mend broken frames of captured motion: joints that flip and hips that leap for a few frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rotations as rot
from .clip import BoolArray, Clip
from .rotations import Array
from .runs import runs

#: No joint of a walker or runner turns faster than this, degrees a second (shins of sprinters reach 1100).
FASTEST_TURN = 1400.0
#: The hips of nobody move faster than this, metres a second.
FASTEST_HIPS = 9.0
#: Two leaps within so many seconds are one glitch: what lies between them is wrong.
LONGEST_SECONDS = 0.4


def mended(clip: Clip) -> tuple[Clip, tuple[str, ...]]:
    """The clip with glitches bridged, and what was mended, in words.

    A joint's frames between two leaps (faster than `FASTEST_TURN`) are replaced by the shortest way
    from the last good frame to the next; a lone leap is spread over its neighbours. Likewise the hips.
    Work at the capture's own frame rate: interpolation smears glitches.
    """
    rotations = rot.unroll(clip.rotations)
    steps = np.degrees(rot.angle_between(rotations[1:], rotations[:-1])) * clip.fps
    words = []
    for joint in np.flatnonzero((steps > FASTEST_TURN).any(axis=0)):
        bad = _between(steps[:, joint] > FASTEST_TURN, clip.fps)
        rotations[:, joint] = _bridged_rotations(rotations[:, joint], bad)
        words.append(f"{int(bad.sum())} broken frames of {clip.skeleton.names[joint]} mended")
    hips = np.array(clip.hips)
    leaps = np.linalg.norm(np.diff(hips, axis=0), axis=-1) * clip.fps > FASTEST_HIPS
    if leaps.any():
        bad = _between(leaps, clip.fps)
        hips = _bridged(hips, bad)
        words.append(f"{int(bad.sum())} leaping frames of the hips mended")
    if not words:
        return clip, ()
    return replace(clip, hips=hips, rotations=rot.unroll(rotations)), tuple(words)


def _between(leaps: BoolArray, fps: float) -> BoolArray:
    """The frames (f,) to replace, from leaps (f - 1,) between frame i and i + 1."""
    frames = len(leaps) + 1
    bad = np.zeros(frames, dtype=bool)
    places = np.flatnonzero(leaps)
    for place in places:
        bad[place : place + 2] = True
    for first, second in zip(places[:-1], places[1:], strict=True):
        if second - first <= LONGEST_SECONDS * fps:
            bad[first + 1 : second + 1] = True
    return bad


def _bridged(values: Array, bad: BoolArray) -> Array:
    good = np.flatnonzero(~bad)
    if len(good) == 0:
        return values
    frames = np.arange(len(values))
    return np.stack([np.interp(frames, good, values[good, k]) for k in range(values.shape[1])], axis=1)


def _bridged_rotations(values: Array, bad: BoolArray) -> Array:
    out = np.array(values)
    for first, last in runs(bad):
        if first == 0 and last == len(values):
            return out
        before = values[first - 1] if first > 0 else values[last]
        after = values[last] if last < len(values) else values[first - 1]
        share = np.arange(1, last - first + 1) / (last - first + 1)
        out[first:last] = rot.slerp(before, after, share)
    return out
