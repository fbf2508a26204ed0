"""Labels of an action, found automatically: contacts, phase and gaits; and the reason where there is none to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .animal import LEGS
from .clip import BoolArray, Clip
from .clip_labels import label_clip
from .contact_labels import CONTACT_POINTS, feet_of
from .contacts import foot_points, with_contacts
from .errors import Cancelled, ClipError
from .filters import derivative, lowpass
from .gait_analysis.body_feet import body_feet, loaded_feet
from .gait_analysis.classify import GAIT_LABELS, label_gaits
from .gait_analysis.cycles import check_cycle
from .gait_analysis.footfalls import contacts_of
from .gait_labels import BIPED_GAITS
from .label_tracks import IntArray, LabelTracks
from .levelling import find_floors, levelled
from .phases import global_phase
from .repair import mended
from .retarget import grounded_rest
from .root_track import with_root
from .rotations import Array
from .skeleton import SIDES, Skeleton

#: Contacts are found at this rate at least; what is slower is resampled to it.
LEAST_FPS = 50.0
USUAL_FPS = 60.0
#: An action holds no step of two legs, and of four, if it is shorter, seconds.
SHORTEST_S = {2: 0.5, 4: 0.25}
#: Legs of characters on two legs and on four, metres: beyond, the scene's unit is taken to be wrong.
PLAUSIBLE_LEG = {2: (0.25, 2.5), 4: (0.02, 2.5)}
#: Feet that run back under a body that stays, faster than this, m/s, go on a treadmill.
TREADMILL_SPEED = 0.3
#: The body stays if it covers less than this share of the way that the belt does.
_STAYS = 0.2
#: The belt's speed is that of the lower foot while it is within this share of the leg's length of its lowest.
_LOW = 0.05
#: A foot that never comes closer to the ground than this share of the leg hops along in the air.
_HELD_UP = 0.1

#: Called with the share done; False asks to stop.
Progress = Callable[[float, str], bool]


@dataclass(frozen=True)
class Found:
    """Labels at the rate they are found at: as in `LabelTracks`, and what was noticed."""

    contacts: BoolArray
    gaits: IntArray
    notes: tuple[str, ...] = ()


def points_of(skeleton: Skeleton) -> tuple[str, ...]:
    """What of a character touches the ground: heels and toes of two legs, four paws."""
    return LEGS if skeleton.four_legged else CONTACT_POINTS


def gaits_of(skeleton: Skeleton) -> tuple[str, ...]:
    """The gaits that a character's frames are labelled with."""
    return GAIT_LABELS if skeleton.four_legged else BIPED_GAITS


def detect(
    clip: Clip, first: int = 1, tags: Sequence[str] = (), progress: Progress = lambda *_: True
) -> LabelTracks:
    """The labels of an action as it was read.

    Args:
        clip: the action at the scene's rate; root and contacts are not looked at.
        first: number of its first frame.
        tags: as in a data set: "slope" or "uneven" for ground that is not level.
        progress: called between the steps.

    Raises:
        ClipError: it is too short, of a giant or a dwarf, no foot ever stands, or only one does while the other drags.
        Cancelled: ``progress`` said so.
    """
    legs, leg = 4 if clip.skeleton.four_legged else 2, clip.skeleton.leg_length
    shortest, longest = PLAUSIBLE_LEG[legs]
    if not shortest <= leg <= longest:
        raise ClipError(
            f"The legs are {leg:.3g} m long, and nobody walks on such",
            "Scale the armature to its true size (by 0.01 where centimetres were read as metres), then detect",
        )
    if clip.seconds < SHORTEST_S[legs]:
        raise ClipError(
            f"{clip.name!r} lasts {clip.seconds:.2f} s, too short to find steps in",
            f"Choose an action of {SHORTEST_S[legs]:g} s or more",
        )
    _go_on(progress, 0.1, "Levelling")
    ready, notes = readied(clip)
    _go_on(progress, 0.4, "Finding contacts")
    found = _of_four(ready) if clip.skeleton.four_legged else _of_two(ready, tags)
    notes = (*notes, *found.notes, *_check(ready, found.contacts))
    _go_on(progress, 0.9, "Phase and gaits")
    at = np.clip(np.round(np.arange(len(clip)) * ready.fps / clip.fps).astype(int), 0, len(ready) - 1)
    contacts = found.contacts[at]
    two = not clip.skeleton.four_legged
    reliable = global_phase(feet_of(contacts), clip.fps).reliable if two else np.zeros(len(clip), bool)
    return LabelTracks(
        first, clip.fps, points_of(clip.skeleton), contacts, reliable, found.gaits[at], gaits_of(clip.skeleton),
        np.zeros(len(clip), np.int64), notes=notes,
    )  # fmt: skip


def readied(clip: Clip) -> tuple[Clip, tuple[str, ...]]:
    """An action as data sets hold it: mended, on its feet, level, with root and contacts; and what was noticed.

    Of a body that walks on the spot the ground is taken to run under it: the clip then travels.
    """
    clip, words = mended(clip)
    clip = replace(clip, skeleton=grounded_rest(clip.skeleton))
    clip = clip.resampled(USUAL_FPS) if clip.fps < LEAST_FPS else clip
    belt = None if clip.skeleton.four_legged else belt_velocity(clip)
    if belt is not None:
        way = -belt * np.arange(len(clip))[:, None] / clip.fps
        clip = clip.moved(np.concatenate([way, np.zeros((len(clip), 1))], axis=1))
        speed = float(np.linalg.norm(belt))
        words = (*words, f"It goes on the spot: labelled as on a treadmill of {speed:.1f} m/s. To learn travel from "
                         "it, give it root motion")  # fmt: skip
    clip = levelled(clip, find_floors([clip], keep_slope=True)[0])
    return with_root(with_contacts(clip)), words


def belt_velocity(clip: Clip) -> Array | None:
    """Velocity (2,) of the ground under a two-legged body that goes on the spot, m/s; None of one that travels."""
    feet = foot_points(clip)
    lower = np.argmin(feet[..., 2], axis=1)
    row = np.arange(len(clip))
    heights = feet[row, lower, 2]
    low = heights < np.percentile(heights, 5) + _LOW * clip.skeleton.leg_length
    velocity = derivative(feet[..., :2], clip.fps)[row, lower]
    if not low.any():
        return None
    belt = np.median(velocity[low], axis=0)
    body = lowpass(clip.hips[:, :2], clip.fps, 1.0)
    way = float(np.linalg.norm(np.ptp(body, axis=0)))
    if np.linalg.norm(belt) < TREADMILL_SPEED or way > _STAYS * float(np.linalg.norm(belt)) * clip.seconds:
        return None
    return np.asarray(belt)


def _of_two(clip: Clip, tags: Sequence[str]) -> Found:
    labels = label_clip(clip, tags)
    notes = ("The ground is not level: contacts were found by the feet's speed alone",) if labels.uneven else ()
    return Found(labels.contacts, labels.gaits, notes)


def _of_four(clip: Clip) -> Found:
    feet = body_feet(clip)
    cycle = check_cycle(clip)
    if cycle.usable and cycle.gait.label in GAIT_LABELS:
        # One stride has no other before it or after it to be told from: the cycle goes round.
        once = clip.cut(0, cycle.frames)
        row = np.arange(len(clip)) % cycle.frames
        down = loaded_feet(body_feet(once), clip.fps, cyclic=True)[row]
        gaits = np.full(len(clip), GAIT_LABELS.index(cycle.gait.label), np.int64)
        return Found(down, gaits, (f"It is one cycle of a {cycle.gait.name}", *cycle.notes))
    contacts = contacts_of(clip, feet)
    notes: tuple[str, ...] = ()
    if contacts is not clip.contacts:
        notes = ("Its feet slide, as on the spot: contacts were found by their motion under the body",)
    return Found(contacts, label_gaits(clip), notes)


def _check(clip: Clip, contacts: BoolArray) -> tuple[str, ...]:
    """What is odd about contacts, in words; raises `ClipError` where there is nothing to label."""
    four = clip.skeleton.four_legged
    down = (contacts if four else feet_of(contacts)).any(axis=0)
    names = [name.replace("_", " ") for name in (LEGS if four else SIDES)]
    if not down.any():
        raise ClipError(
            f"No foot of {clip.name!r} ever stands still: no contact was found",
            "See that the map of its bones and its scale are right, or set contacts by hand",
        )
    missing = [name for name, stands in zip(names, down, strict=True) if not stands]
    if not missing:
        return ()
    if four:
        return (f"Never stands: {', '.join(missing)}",)
    heights = foot_points(clip)[..., 2]
    lowest = float(heights[:, names.index(missing[0])].min() - np.percentile(heights, 5))
    if lowest < _HELD_UP * clip.skeleton.leg_length:
        raise ClipError(
            f"Only one foot of {clip.name!r} ever stands: the {missing[0]} one is down but never still",
            "See that the map of its bones is right, or set its contacts by hand",
        )
    return (f"It hops: the {missing[0]} foot never comes down. A stride is from landing to landing",)


def _go_on(progress: Progress, share: float, stage: str) -> None:
    if not progress(share, stage):
        raise Cancelled
