"""What is doubtful in labels, span by span, in words an animator can act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .clip import BoolArray
from .clip_labels import ClipLabels
from .contact_labels import CONTACT_POINTS, feet_of
from .label_tracks import IntArray, LabelTracks, words_of
from .phases import LONGEST_STEP
from .runs import runs
from .skeleton import SIDES

#: Contacts, and swings of a foot, that are shorter, seconds, may be none.
SHORTEST_CONTACT_S, SHORTEST_SWING_S = 0.08, 0.1
#: In a walk both feet leave the ground for no longer than that, seconds.
LONGEST_FLOAT_S = 0.06
#: A run has a moment without a foot on the ground at least so often, seconds.
LONGEST_GROUNDED_S = 0.7
#: A gait that lasts less than a step, seconds, is doubtful.
SHORTEST_GAIT_S = 0.4
#: Unreliable phases shorter than this, seconds, are not worth a word.
_SHORTEST_UNSURE_S = 0.2

GOES = ("walk", "run")


@dataclass(frozen=True)
class Doubt:
    """A span that is worth a look: its first and last frame, and why."""

    first: int
    last: int
    words: str


def doubts_of_tracks(tracks: LabelTracks) -> tuple[Doubt, ...]:
    """The doubtful spans of an action's labels, in its frame numbers, in order; not those set by hand throughout."""
    found = doubts(
        tracks.contacts, tracks.reliable if tracks.two_legged else None, tracks.gaits, tracks.gait_names, tracks.fps,
        tracks.points,
    )  # fmt: skip
    by_hand = tracks.edited.frames
    kept = [doubt for doubt in found if not by_hand[doubt.first : doubt.last + 1].all()]
    return tuple(Doubt(d.first + tracks.first, d.last + tracks.first, d.words) for d in kept)


def doubts_of_clip(labels: ClipLabels, fps: float) -> tuple[Doubt, ...]:
    """The doubtful spans of a two-legged clip's labels, rows of the clip."""
    return doubts(labels.contacts, labels.phase.reliable, labels.gaits, labels.gait_names, fps, CONTACT_POINTS)


def doubts(
    contacts: BoolArray, reliable: BoolArray | None, gaits: IntArray, gait_names: Sequence[str], fps: float,
    points: Sequence[str],
) -> tuple[Doubt, ...]:  # fmt: skip
    """The doubtful spans, as rows, in order.

    Args:
        contacts: (f, points). reliable: of the phase (f,); None without one. gaits: index into ``gait_names`` (f,).
        fps: frames per second. points: names of the contacts' columns.
    """
    found = [*_blinks(contacts, fps, points), *_short_gaits(gaits, gait_names, fps)]
    if reliable is not None:
        going = np.isin(gaits, [gait_names.index(name) for name in gait_names if name != "stand"])
        found += _unsure(going & ~reliable, fps)
        found += _against_gait(feet_of(contacts), gaits, gait_names, fps)
    return tuple(sorted(found, key=lambda doubt: (doubt.first, doubt.last)))


def _blinks(contacts: BoolArray, fps: float, points: Sequence[str]) -> Iterator[Doubt]:
    """Contacts and swings too short to be any; what touches an end may go on beyond it."""
    for column, point in zip(contacts.T, points, strict=True):
        kinds = ((True, SHORTEST_CONTACT_S, "touches for"), (False, SHORTEST_SWING_S, "is up for"))
        for value, shortest, words in kinds:
            for first, end in runs(column, value):
                if first > 0 and end < len(column) and end - first < shortest * fps:
                    yield Doubt(first, end - 1, f"the {words_of(point)} {words} {(end - first) / fps:.2f} s only")


def _short_gaits(gaits: IntArray, names: Sequence[str], fps: float) -> Iterator[Doubt]:
    edges = [0, *(np.flatnonzero(np.diff(gaits)) + 1).tolist(), len(gaits)]
    for first, end in zip(edges[:-1], edges[1:], strict=True):
        if first > 0 and end < len(gaits) and end - first < SHORTEST_GAIT_S * fps:
            yield Doubt(first, end - 1, f"{names[gaits[first]]} for {(end - first) / fps:.2f} s only")


def _unsure(unsure: BoolArray, fps: float) -> Iterator[Doubt]:
    for first, end in runs(unsure):
        if end - first >= _SHORTEST_UNSURE_S * fps:
            yield Doubt(first, end - 1, f"no steps for {(end - first) / fps:.1f} s: its phase is a guess")


def _against_gait(feet: BoolArray, gaits: IntArray, names: Sequence[str], fps: float) -> Iterator[Doubt]:
    """Feet that do what the gait never does."""
    for name in GOES:
        if name not in names:
            continue
        going = gaits == names.index(name)
        if name == "walk":
            for first, end in runs(going & ~feet.any(axis=1)):
                if end - first > LONGEST_FLOAT_S * fps:
                    yield Doubt(first, end - 1, f"both feet are up for {(end - first) / fps:.2f} s of a walk")
        else:
            for first, end in runs(going & feet.any(axis=1)):
                if end - first > LONGEST_GROUNDED_S * fps:
                    yield Doubt(first, end - 1, f"a run without a flight for {(end - first) / fps:.1f} s")
        for side, column in zip(SIDES, feet.T, strict=True):
            for first, end in runs(column):
                if end - first > LONGEST_STEP * fps and going[first:end].all():
                    yield Doubt(first, end - 1, f"the {side} foot stands for {(end - first) / fps:.1f} s of a {name}")
