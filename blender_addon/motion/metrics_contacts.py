"""Measures of labels: contacts and phases against reference labels, over frames and over events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .clip import BoolArray
from .metrics_basics import IntArray, intervals
from .rotations import Array


@dataclass(frozen=True)
class ContactScore:
    """Agreement of contacts with reference labels.

    Attributes:
        frames: F1 of the frames marked as contact, frames within the tolerance of a reference change forgiven.
        landings: F1 of the first frames of contacts, matched one to one within the tolerance.
        lift_offs: F1 of the frames after contacts, likewise.
    """

    frames: float
    landings: float
    lift_offs: float


def contact_score(found: BoolArray, reference: BoolArray, tolerance: int = 2) -> ContactScore:
    """F1 of contacts ``found`` (f, feet) against ``reference`` (f, feet), tolerance in frames.

    F1 = 2 hits / (2 hits + misses + false ones). Changes at the very first and last frame are no events.
    """
    hits = wrong = 0
    events = {"landing": [0, 0, 0], "lift": [0, 0, 0]}
    for foot in range(reference.shape[1]):
        ours, theirs = found[:, foot], reference[:, foot]
        clear = _away_from_changes(theirs, tolerance)
        hits += int(np.sum(ours & theirs & clear))
        wrong += int(np.sum((ours != theirs) & clear))
        for column, name in enumerate(events):
            a, b = (_events(mask, column) for mask in (ours, theirs))
            for k, count in enumerate((_matches(a, b, tolerance), len(a), len(b))):
                events[name][k] += count
    scores = [2.0 * n / max(a + b, 1) if a + b else 1.0 for n, a, b in events.values()]
    frames = 2.0 * hits / (2.0 * hits + wrong) if hits + wrong else 1.0
    return ContactScore(frames, scores[0], scores[1])


def phase_error(found: Array, reference: Array) -> float:
    """Mean circular distance of phases (...) in radians, in [0, pi]."""
    return float(np.mean(np.abs(rot.wrap_angle(np.asarray(found) - np.asarray(reference)))))


def _events(mask: BoolArray, column: int) -> IntArray:
    at = intervals(mask)[:, column]
    return at[(at > 0) & (at < len(mask))]


def _matches(a: IntArray, b: IntArray, tolerance: int) -> int:
    """Greatest number of pairs one to one within the tolerance: greedy in order of time is best on a line."""
    i = j = count = 0
    while i < len(a) and j < len(b):
        if abs(int(a[i]) - int(b[j])) <= tolerance:
            count, i, j = count + 1, i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return count


def _away_from_changes(mask: BoolArray, tolerance: int) -> BoolArray:
    clear = np.ones(len(mask), dtype=bool)
    for change in np.flatnonzero(mask[1:] != mask[:-1]) + 1:
        clear[max(change - tolerance, 0) : change + tolerance] = False
    return clear
