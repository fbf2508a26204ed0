"""Contacts of heels and toes of two legs, as they are labelled for learning and shown for correction."""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .clip import BoolArray, Clip
from .contacts import (
    REFERENCE_LEG,
    ContactSettings,
    detect_contacts,
    foot_points,
    on_uneven_ground,
    standing_heights,
)
from .rotations import Array
from .runs import runs

#: Columns of labelled contacts.
CONTACT_POINTS: tuple[str, ...] = ("left_heel", "left_toe", "right_heel", "right_toe")
#: Heels, balls and tips of the toes land when they have come to rest, which is later than they are slow for
#: planting; tuned to landings labelled by others and lift-offs labelled by eye (tests/motion/test_contact_labels.py).
HEEL = ContactSettings(speed_on=0.16, speed_off=0.35, height_on=0.03, height_off=0.05)
BALL = ContactSettings(speed_on=0.25, speed_off=0.5, height_on=0.035, height_off=0.06)
TIP = ContactSettings(speed_on=0.15, speed_off=0.5, height_on=0.03, height_off=0.03)
#: A heel or ball this much over where it stood, metres, has rolled up.
ROLLED_UP = 0.015
#: Ground of unknown height is where a point was lowest within this time to either side, seconds.
_NEARBY = 0.3


def sole_points(clip: Clip) -> Array:
    """Where the feet touch the ground that they stand on (f, 4, 3), in the order of `CONTACT_POINTS`, metres.

    The heel's point on the sole; under the ball the toe joint's place, as much lower as it stands over flat ground.
    """
    positions, rotations = clip.world
    balls = foot_points(clip) - standing_heights(clip.skeleton)[:, None] * rot.UP
    found = []
    for side, foot in enumerate(clip.skeleton.feet):
        heel = positions[:, foot.ankle] + rot.rotate(rotations[:, foot.ankle], foot.heel)
        found += [heel, balls[:, side]]
    return np.stack(found, axis=1)


def label_contacts(clip: Clip, uneven: bool | None = None) -> BoolArray:
    """Contacts (f, 4) in the order of `CONTACT_POINTS`; a toe's lasts as long as its ball or its tip stands.

    Args:
        clip: two-legged motion. uneven: whether its ground is not level: then heights are counted from where each
            point was lowest around that time, not from the floor; found out from its feet when None.
    """
    uneven = on_uneven_ground(clip) if uneven is None else uneven
    points = sole_points(clip)
    heels = _detect(clip, points[:, ::2], HEEL, uneven)
    toes = _detect(clip, points[:, 1::2], BALL, uneven)
    if all(foot.toe != foot.ankle for foot in clip.skeleton.feet):
        # The tip's height in the rest pose is a guess: what counts is how high it is over its lowest.
        toes |= _detect(clip, _tips(clip), TIP, True)
    return np.stack([heels, toes], axis=-1).reshape(len(clip), -1)


def flat_contacts(clip: Clip, contacts: BoolArray) -> BoolArray:
    """When heels and balls themselves rest on the ground (f, 4), of labelled contacts (f, 4).

    Without the ends of each contact in which the foot has already rolled up from them, or has yet to come down: what
    is to be planted, or to have ground under it, must rest there.
    """
    found = contacts.copy()
    lift = ROLLED_UP * clip.skeleton.leg_length / REFERENCE_LEG
    heights = sole_points(clip)[..., 2]
    for column, height in zip(found.T, heights.T, strict=True):
        for first, last in runs(column):
            low = height[first:last] < np.median(height[first:last]) + lift
            column[first : first + int(np.argmax(low))] = False
            column[last - int(np.argmax(low[::-1])) : last] = False
    return found


def feet_of(contacts: BoolArray) -> BoolArray:
    """When each foot bears on the ground (f, 2) with its heel or its toe, of contacts (f, 4)."""
    return np.asarray(contacts.reshape(len(contacts), 2, 2).any(axis=2))


def _tips(clip: Clip) -> Array:
    """Tips of the toes (f, 2, 3), metres."""
    positions, rotations = clip.world
    feet = clip.skeleton.feet
    return np.stack([positions[:, foot.toe] + rot.rotate(rotations[:, foot.toe], foot.tip) for foot in feet], axis=1)


def _detect(clip: Clip, points: Array, settings: ContactSettings, nearby: bool) -> BoolArray:
    ground = _lowest(points[..., 2], round(_NEARBY * clip.fps)) if nearby else 0.0
    return detect_contacts(
        points, clip.fps, rest_height=ground, leg_length=clip.skeleton.leg_length, settings=settings
    )  # fmt: skip


def _lowest(heights: Array, window: int) -> Array:
    """The least of heights (f, n) within ``window`` frames to either side of each."""
    padded = np.pad(heights, ((window, window), (0, 0)), mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * window + 1, axis=0).min(axis=-1))
