"""Contacts of heels and toes of two legs, as they are labelled for learning and shown for correction."""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .clip import BoolArray, Clip
from .contacts import foot_points, on_uneven_ground, standing_heights
from .labels import heels_down
from .rotations import Array

#: Columns of labelled contacts.
CONTACT_POINTS: tuple[str, ...] = ("left_heel", "left_toe", "right_heel", "right_toe")


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
    """Contacts (f, 4) in the order of `CONTACT_POINTS`: the heels', and the clip's own of the balls.

    Args:
        clip: two-legged motion. uneven: whether its ground is not level; found out from its feet when None.
    """
    uneven = on_uneven_ground(clip) if uneven is None else uneven
    return np.stack([heels_down(clip, uneven), clip.contacts], axis=-1).reshape(len(clip), -1)


def feet_of(contacts: BoolArray) -> BoolArray:
    """When each foot bears on the ground (f, 2) with its heel or its toe, of contacts (f, 4)."""
    return np.asarray(contacts.reshape(len(contacts), 2, 2).any(axis=2))
