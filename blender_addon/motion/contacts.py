"""Automatic foot contacts from the speed and height of the balls of the feet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .animal import contact_points
from .clip import BoolArray, Clip
from .filters import derivative
from .rotations import Array
from .runs import clean_runs
from .skeleton import Skeleton

#: Leg length (hip to knee to ankle) in metres for which the default thresholds hold.
REFERENCE_LEG = 0.87


@dataclass(frozen=True)
class ContactSettings:
    """When a foot counts as standing.

    Attributes:
        speed_on, speed_off: speed of the ball in m/s below which a contact begins, above which it ends.
        height_on, height_off: height of the ball over its height in a flat stance, metres, likewise.
        cleanup: gaps and spikes up to this long are removed, seconds (4 frames at 60 fps).

    Lengths and speeds hold for legs of `REFERENCE_LEG` and are scaled to the skeleton's.
    """

    speed_on: float = 0.3
    speed_off: float = 0.5
    height_on: float = 0.035
    height_off: float = 0.06
    cleanup: float = 4.0 / 60.0


#: Paws touch for a tenth of a second in a gallop, come down along the ground and are lifted only a little in a walk.
ANIMAL_CONTACTS = ContactSettings(speed_on=0.45, speed_off=0.75, height_on=0.025, height_off=0.045, cleanup=2.0 / 60.0)


#: On ground of unknown height a foot stands where it is slow, however high; so it must be slower.
UNEVEN_CONTACTS = ContactSettings(speed_on=0.22, speed_off=0.42, height_on=np.inf, height_off=np.inf)
#: Feet that stand at heights further apart than this, metres, stand on uneven ground.
UNEVEN_RISE = 0.12


def detect_contacts(
    positions: Array,
    fps: float,
    *,
    rest_height: float | Array = 0.0,
    leg_length: float = REFERENCE_LEG,
    settings: ContactSettings | None = None,
) -> BoolArray:
    """Contacts (frames, feet) of points (frames, feet, 3) in metres, usually the toe joints.

    A contact begins when both speed and height are under their ``on`` thresholds and ends when either is
    over its ``off`` threshold.

    Args:
        positions: world positions of the balls of the feet (frames, feet, 3).
        fps: frames per second.
        rest_height: height of those points in a flat stance, metres; a number, (feet,) or (frames, feet).
        leg_length: the skeleton's, metres; scales all thresholds.
        settings: the thresholds.
    """
    settings = settings or ContactSettings()
    scale = leg_length / REFERENCE_LEG
    speed = np.linalg.norm(derivative(positions, fps), axis=-1) / scale
    height = (positions[..., 2] - rest_height) / scale
    on = (speed < settings.speed_on) & (height < settings.height_on)
    off = (speed > settings.speed_off) | (height > settings.height_off)
    return clean_runs(hysteresis(on, off), int(round(settings.cleanup * fps)))


def hysteresis(on: BoolArray, off: BoolArray) -> BoolArray:
    """State (frames, ...) that is switched by ``on`` and ``off`` and otherwise kept; starts unset.

    Where both hold, ``off`` wins.
    """
    event = np.where(off, -1, np.where(on, 1, 0))
    frame = np.arange(len(event)).reshape(-1, *([1] * (event.ndim - 1)))
    last = np.maximum.accumulate(np.where(event != 0, frame, -1), axis=0)
    state = np.take_along_axis(event, np.maximum(last, 0), axis=0)
    return np.asarray((last >= 0) & (state > 0))


def foot_points(clip: Clip) -> Array:
    """The points (f, feet, 3) contacts are read from: the toe joints, or the ankles where there are none.

    Of four legs the points in which they meet the ground.
    """
    positions, rotations = clip.world
    if clip.skeleton.four_legged:
        return contact_points(clip.skeleton, positions, rotations)
    return np.asarray(positions[:, [foot.toe for foot in clip.skeleton.feet]])


def standing_heights(skeleton: Skeleton) -> Array:
    """Height (feet,) of the points of `foot_points` over the ground in a flat stance, metres."""
    if skeleton.four_legged:
        return np.zeros(len(skeleton.feet))
    return np.array([foot.ball_height if foot.toe != foot.ankle else foot.ankle_height for foot in skeleton.feet])


def usual_settings(skeleton: Skeleton) -> ContactSettings:
    """The thresholds for two legs or for four."""
    return ANIMAL_CONTACTS if skeleton.four_legged else ContactSettings()


def with_contacts(clip: Clip, settings: ContactSettings | None = None) -> Clip:
    """The clip with its contacts detected anew; the ground is taken to be at height 0."""
    found = detect_contacts(
        foot_points(clip), clip.fps, rest_height=standing_heights(clip.skeleton),
        leg_length=clip.skeleton.leg_length, settings=settings or usual_settings(clip.skeleton),
    )  # fmt: skip
    return replace(clip, contacts=found)


def on_uneven_ground(clip: Clip) -> bool:
    """Whether the feet stand at heights that no level floor has; found from where they are slow."""
    slow = with_contacts(clip, UNEVEN_CONTACTS).contacts
    heights = (foot_points(clip)[..., 2] - standing_heights(clip.skeleton))[slow]
    if len(heights) < 8:
        return False
    scale = clip.skeleton.leg_length / REFERENCE_LEG
    return float(np.subtract(*np.percentile(heights, [90, 10]))) > UNEVEN_RISE * scale


def flat_frames(clip: Clip, down: BoolArray | None = None) -> BoolArray:
    """When each foot stands flat (frames, feet): in contact, and its ankle rests too (under 0.25 leg lengths a second).

    Paws and hooves bear on their toes and are flat while they touch. ``down``: contacts to go by instead of the
    clip's own.
    """
    if clip.skeleton.four_legged:
        return np.asarray(clip.contacts if down is None else down)
    ankles = clip.world[0][:, [foot.ankle for foot in clip.skeleton.feet]]
    still = np.linalg.norm(derivative(ankles, clip.fps), axis=-1) < 0.25 * clip.skeleton.leg_length
    return np.asarray((clip.contacts if down is None else down) & still)
