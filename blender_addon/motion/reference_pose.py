"""Find where a take still shows the actor's reference pose: arms held out, waiting for the start or the end."""

from __future__ import annotations

import numpy as np

from .clip import Clip
from .rotations import Array
from .skeleton import SIDES

#: Arms raised beyond this from hanging straight down, degrees, at a take's very end or beginning are a T- or A-pose.
RAISED_DEGREES = 55.0
#: Below this they are down again.
LOWERED_DEGREES = 40.0
#: They must stay down for so long.
LOWERED_SECONDS = 0.25


def arm_elevation(clip: Clip) -> Array:
    """Angle (f,) in degrees of the higher arm (shoulder to wrist, or elbow) from hanging straight down."""
    positions, _ = clip.world
    highest = np.zeros(len(clip))
    for side in SIDES:
        end = f"{side}_wrist" if clip.skeleton.has(f"{side}_wrist") else f"{side}_elbow"
        if not (clip.skeleton.has(f"{side}_shoulder") and clip.skeleton.has(end)):
            continue
        arm = positions[:, clip.skeleton.index(end)] - positions[:, clip.skeleton.index(f"{side}_shoulder")]
        sine = arm[:, 2] / np.maximum(np.linalg.norm(arm, axis=-1), 1e-9)
        highest = np.maximum(highest, 90.0 + np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0))))
    return highest


def without_reference_pose(clip: Clip) -> tuple[int, int]:
    """The frames, half open, between the reference poses at a take's beginning and end.

    ``(0, len(clip))`` where it begins and ends with the arms down, as of animals, which have none; an empty range
    where they are never down.
    """
    if clip.skeleton.four_legged:
        return 0, len(clip)
    raised = arm_elevation(clip)
    first = _leading(raised, clip.fps)
    last = len(clip) - _leading(raised[::-1], clip.fps)
    return first, max(first, last)


def _leading(raised: Array, fps: float) -> int:
    """Frames at the beginning with the arms out, until they have come down."""
    if raised[0] < RAISED_DEGREES:
        return 0
    window = max(1, round(LOWERED_SECONDS * fps))
    down = np.convolve(raised < LOWERED_DEGREES, np.ones(window), "valid") >= window - 0.5
    return int(np.argmax(down)) if down.any() else len(raised)
