"""Labels of one action, frame by frame: contacts, phase, gaits, actions; which were set by hand, and how to set them.

Frames are the action's own numbers, first and last of a range both included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .clip import BoolArray
from .contact_labels import CONTACT_POINTS, feet_of
from .dataset import Labelled
from .errors import ClipError
from .phases import Phase, global_phase
from .runs import runs

IntArray = npt.NDArray[np.int64]

#: The first of the action names: nothing but the gait.
NO_ACTION = ""
#: What automatic labels leave over beside an edited range is dropped if it is shorter than this, seconds.
CRUMB_S = 0.1
#: Longer names do not fit anything.
LONGEST_NAME = 40


@dataclass(frozen=True)
class Span:
    """A stretch of frames with one label: its first and last frame, and its name (empty for contacts)."""

    first: int
    last: int
    name: str = ""


@dataclass(frozen=True, eq=False)
class Edited:
    """What was set by hand: contacts (f, points), reliable, gaits and actions (f,) each."""

    contacts: BoolArray
    reliable: BoolArray
    gaits: BoolArray
    actions: BoolArray

    @classmethod
    def nothing(cls, frames: int, points: int) -> Edited:
        """Of so many frames, none."""
        return cls(np.zeros((frames, points), bool), *(np.zeros(frames, bool) for _ in range(3)))

    @property
    def any(self) -> bool:
        """Whether anything was."""
        return bool(self.contacts.any() or self.reliable.any() or self.gaits.any() or self.actions.any())

    @property
    def frames(self) -> BoolArray:
        """Frames (f,) of which something was."""
        return np.asarray(self.contacts.any(axis=1) | self.reliable | self.gaits | self.actions)


@dataclass(frozen=True, eq=False)
class LabelTracks:
    """The labels of an action.

    Attributes:
        first: number of the first labelled frame.
        fps: frames per second that they were found at.
        points: what touches the ground, a column of ``contacts`` each: `CONTACT_POINTS`, or `animal.LEGS`.
        contacts: (f, points).
        reliable: (f,) where the phase comes from steps; set by hand to False, it is not learned from.
        gaits: index into ``gait_names`` (f,).
        gait_names: the vocabulary.
        actions: index into ``action_names`` (f,).
        action_names: `NO_ACTION`, then names of what is done beside a gait, or in what style.
        edited: what of it was set by hand.
        notes: what was noticed when they were found, in words.
    """

    first: int
    fps: float
    points: tuple[str, ...]
    contacts: BoolArray
    reliable: BoolArray
    gaits: IntArray
    gait_names: tuple[str, ...]
    actions: IntArray
    action_names: tuple[str, ...] = (NO_ACTION,)
    edited: Edited = field(default_factory=lambda: Edited.nothing(0, 0))
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        frames = len(self.contacts)
        if not len(self.edited.gaits):
            object.__setattr__(self, "edited", Edited.nothing(frames, len(self.points)))
        found = [t.shape for t in (self.contacts, self.reliable, self.gaits, self.actions)]
        found += [t.shape for t in (self.edited.contacts, self.edited.reliable, self.edited.gaits, self.edited.actions)]
        wanted = [(frames, len(self.points)), (frames,), (frames,), (frames,)] * 2
        known = frames and 0 <= self.gaits.min() <= self.gaits.max() < len(self.gait_names)
        known = known and 0 <= self.actions.min() <= self.actions.max() < len(self.action_names)
        if found != wanted or not known or not self.fps > 0.0:
            raise ClipError("The labels do not fit together", "Detect them anew")

    def __len__(self) -> int:
        return len(self.contacts)

    @property
    def last(self) -> int:
        """Number of the last labelled frame."""
        return self.first + len(self) - 1

    @property
    def two_legged(self) -> bool:
        """Whether they are of two legs, whose stride has a global phase."""
        return self.points == CONTACT_POINTS

    @property
    def feet(self) -> BoolArray:
        """When each foot is down: (f, 2), or (f, 4) of animals."""
        return feet_of(self.contacts) if self.two_legged else self.contacts

    @cached_property
    def phase(self) -> Phase | None:
        """The phase that follows from the contacts, reliable where it is said to be; None of four legs."""
        if not self.two_legged:
            return None
        return Phase(global_phase(self.feet, self.fps).angle, self.reliable)

    def spans(self, lane: str) -> tuple[Span, ...]:
        """Spans of a point's contacts, of "phase" (where it is reliable), of "gait" or of "action"."""
        if lane in self.points:
            return self._of_mask(self.contacts[:, self.points.index(lane)])
        if lane == "phase":
            return self._of_mask(self.reliable)
        values, names = (self.gaits, self.gait_names) if lane == "gait" else (self.actions, self.action_names)
        edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
        pairs = zip(edges[:-1], edges[1:], strict=True)
        found = (Span(self.first + begin, self.first + end - 1, names[values[begin]]) for begin, end in pairs)
        return tuple(span for span in found if span.name != NO_ACTION)

    def edited_spans(self, lane: str) -> tuple[Span, ...]:
        """Spans of a lane (as in `spans`) that were set by hand."""
        if lane in self.points:
            return self._of_mask(self.edited.contacts[:, self.points.index(lane)])
        return self._of_mask(getattr(self.edited, _TRACKS[lane]))

    def at(self, frame: int) -> int | None:
        """Row of a frame's number; None outside."""
        return frame - self.first if self.first <= frame <= self.last else None

    def learned_names(self) -> list[str]:
        """What each frame is learned as (f,): its action, or else its gait."""
        return [self.action_names[action] or self.gait_names[gait]
                for action, gait in zip(self.actions, self.gaits, strict=True)]  # fmt: skip

    def sampled(self, rows: npt.NDArray[Any]) -> Labelled:
        """Contacts and reliability at fractional rows (n,), the nearest frame's, held at both ends."""
        at = np.clip(np.round(rows).astype(np.int64), 0, len(self) - 1)
        out = (self.edited.reliable & ~self.reliable)[at]
        return Labelled(self.contacts[at], self.reliable[at], self.edited.frames[at], out if out.any() else None)

    def _of_mask(self, mask: BoolArray) -> tuple[Span, ...]:
        return tuple(Span(self.first + a, self.first + b - 1) for a, b in runs(mask))


#: Lanes that are not contacts, and the track behind each.
_TRACKS = {"phase": "reliable", "gait": "gaits", "action": "actions"}


def blank(
    first: int, frames: int, fps: float, points: Sequence[str], gait_names: Sequence[str]
) -> LabelTracks:
    """Labels of an action on which nothing is labelled yet: no contacts, the first gait."""
    none = np.zeros(frames, np.int64)
    return LabelTracks(
        first, fps, tuple(points), np.zeros((frames, len(points)), bool), np.zeros(frames, bool), none,
        tuple(gait_names), none.copy(),
    )  # fmt: skip


def with_contact(tracks: LabelTracks, point: str, first: int, last: int, down: bool = True) -> LabelTracks:
    """Say that a point touches the ground over a range of frames, or that it does not.

    Raises:
        ClipError: the point is unknown, or the range misses the labelled frames.
    """
    if point not in tracks.points:
        raise ClipError(f"There is no {point!r} to label", f"Choose one of: {', '.join(tracks.points)}")
    part, column = _rows(tracks, first, last), tracks.points.index(point)
    contacts, edited = tracks.contacts.copy(), tracks.edited.contacts.copy()
    contacts[part, column], edited[part, column] = down, True
    return _refreshed(replace(tracks, contacts=contacts, edited=replace(tracks.edited, contacts=edited)))


def with_gait(tracks: LabelTracks, name: str, first: int, last: int) -> LabelTracks:
    """Set the gait over a range of frames; raises `ClipError` for an unknown gait or a range beside the labels."""
    if name not in tracks.gait_names:
        raise ClipError(f"{name!r} is no gait of this character", f"Choose one of: {', '.join(tracks.gait_names)}")
    part = _rows(tracks, first, last)
    gaits, edited = tracks.gaits.copy(), tracks.edited.gaits.copy()
    gaits[part], edited[part] = tracks.gait_names.index(name), True
    return replace(tracks, gaits=gaits, edited=replace(tracks.edited, gaits=edited))


def with_action(tracks: LabelTracks, name: str, first: int, last: int) -> LabelTracks:
    """Name what is done over a range of frames; `NO_ACTION` takes the name away. Raises `ClipError`."""
    name = name.strip().lower()
    if len(name) > LONGEST_NAME or (name and not name.isprintable()):
        raise ClipError("That name is too long or holds odd letters", f"Use {LONGEST_NAME} letters at most")
    part = _rows(tracks, first, last)
    names = tracks.action_names if name in tracks.action_names else (*tracks.action_names, name)
    actions, edited = tracks.actions.copy(), tracks.edited.actions.copy()
    actions[part], edited[part] = names.index(name), True
    return replace(tracks, actions=actions, action_names=names, edited=replace(tracks.edited, actions=edited))


def with_reliable(tracks: LabelTracks, first: int, last: int, sure: bool) -> LabelTracks:
    """Say whether the phase of a range of frames is one to learn from; raises `ClipError`."""
    if not tracks.two_legged:
        raise ClipError("Four legs have no common phase", "Set their contacts and gaits instead")
    part = _rows(tracks, first, last)
    reliable, edited = tracks.reliable.copy(), tracks.edited.reliable.copy()
    reliable[part], edited[part] = sure, True
    return replace(tracks, reliable=reliable, edited=replace(tracks.edited, reliable=edited))


def move_end(tracks: LabelTracks, point: str, span: Span, end: str, to: int) -> tuple[LabelTracks, Span]:
    """Move the ``first`` or the ``last`` frame of a contact; it keeps a frame, and may swallow its neighbours.

    The end counts as set by hand, with the frames it was moved over; the contact's other end does not.

    Returns:
        the labels, and the contact as it is now.

    Raises:
        ClipError: there is no such contact or end.
    """
    if span not in tracks.spans(point) if point in tracks.points else True:
        raise ClipError("There is no such contact", "Choose a frame in which the foot stands")
    to = int(np.clip(to, tracks.first, tracks.last))
    if end not in ("first", "last"):
        raise ClipError(f"A contact has no {end!r}", "Move its first or its last frame")
    first, last = (min(to, span.last), span.last) if end == "first" else (span.first, max(to, span.first))
    column, contacts, edited = tracks.points.index(point), tracks.contacts.copy(), tracks.edited.contacts.copy()
    contacts[_rows(tracks, span.first, span.last), column] = False
    contacts[_rows(tracks, first, last), column] = True
    # The frames on both sides of the end: there it happens, whatever is found elsewhere.
    old, new = (span.first, first) if end == "first" else (span.last + 1, last + 1)
    edited[_rows(tracks, min(old, new) - 1, max(old, new)), column] = True
    moved = _refreshed(replace(tracks, contacts=contacts, edited=replace(tracks.edited, contacts=edited)))
    now = next(s for s in moved.spans(point) if s.first <= first <= s.last)
    return moved, now


def nearest_end(tracks: LabelTracks, point: str, frame: int) -> tuple[Span, str]:
    """The contact and the end of it that lie nearest to a frame; raises `ClipError` where the point has none."""
    found = [(abs(at - frame), span, end) for span in tracks.spans(point)
             for at, end in ((span.first, "first"), (span.last, "last"))]  # fmt: skip
    if not found:
        raise ClipError(f"The {words_of(point)} has no contact", "Set one over a range of frames first")
    return min(found, key=lambda item: item[0])[1:]


def released(tracks: LabelTracks, first: int, last: int) -> LabelTracks:
    """Forget that frames were set by hand: detecting again may change them. Raises `ClipError`."""
    part = _rows(tracks, first, last)
    masks = {name: getattr(tracks.edited, name).copy() for name in ("contacts", "reliable", "gaits", "actions")}
    for mask in masks.values():
        mask[part] = False
    return _refreshed(replace(tracks, edited=Edited(**masks)))


def merged(found: LabelTracks, kept: LabelTracks) -> LabelTracks:
    """Labels found anew, but for what was set by hand in ``kept``: that stays, on its frames.

    Where an edited contact begins later than the one that is found, a sliver of that would be left over: what is
    shorter than `CRUMB_S` beside an edited range goes.

    Raises:
        ClipError: they are of another kind of body.
    """
    if found.points != kept.points:
        raise ClipError("The labels are of another kind of character", "Clear them, then detect")
    kept = fitted(kept, found.first, found.last)
    edited = kept.edited
    shortest = max(1, round(CRUMB_S * found.fps))
    gait_names = tuple(dict.fromkeys((*found.gait_names, *kept.gait_names)))
    names = tuple(dict.fromkeys((*found.action_names, *kept.action_names)))
    contacts = np.where(edited.contacts, kept.contacts, found.contacts)
    for column, mask in zip(contacts.T, edited.contacts.T, strict=True):
        _drop_crumbs(column, mask, shortest)
    gaits = _chosen(edited.gaits, kept.gaits, kept.gait_names, found.gaits, found.gait_names, gait_names)
    _drop_crumbs(gaits, edited.gaits, shortest)
    actions = _chosen(edited.actions, kept.actions, kept.action_names, found.actions, found.action_names, names)
    reliable = np.where(edited.reliable, kept.reliable, found.reliable)
    return _refreshed(replace(
        found, contacts=contacts, reliable=reliable, gaits=gaits, gait_names=gait_names, actions=actions,
        action_names=names, edited=edited,
    ))  # fmt: skip


def fitted(tracks: LabelTracks, first: int, last: int) -> LabelTracks:
    """The labels for an action that has these frames now.

    As many frames elsewhere: its keys were moved, and the labels go with them. Otherwise frames that are gone lose
    their labels, and new ones go on as the nearest does, feet up, not set by hand.
    """
    if last < first:
        raise ClipError("The action has no frames", "Choose an action that moves")
    if last - first == tracks.last - tracks.first:
        return replace(tracks, first=first) if first != tracks.first else tracks
    at = np.clip(np.arange(first, last + 1) - tracks.first, 0, len(tracks) - 1)
    there = (np.arange(first, last + 1) >= tracks.first) & (np.arange(first, last + 1) <= tracks.last)
    edited = Edited(
        tracks.edited.contacts[at] & there[:, None],
        *(mask[at] & there for mask in (tracks.edited.reliable, tracks.edited.gaits, tracks.edited.actions)),
    )
    return replace(
        tracks, first=first, contacts=tracks.contacts[at] & there[:, None], reliable=tracks.reliable[at] & there,
        gaits=tracks.gaits[at], actions=np.where(there, tracks.actions[at], 0), edited=edited,
    )  # fmt: skip


def words_of(point: str) -> str:
    """A point's name for reading."""
    return point.replace("_", " ")


def _rows(tracks: LabelTracks, first: int, last: int) -> slice:
    if last < first:
        first, last = last, first
    if last < tracks.first or first > tracks.last:
        raise ClipError(
            f"Frames {first} to {last} lie outside the labelled ones ({tracks.first} to {tracks.last})",
            "Choose frames of the action",
        )
    return slice(max(first - tracks.first, 0), last - tracks.first + 1)


def _refreshed(tracks: LabelTracks) -> LabelTracks:
    """Reliability found anew from the contacts, but where it was set by hand."""
    if not tracks.two_legged:
        return tracks
    found = global_phase(tracks.feet, tracks.fps).reliable
    return replace(tracks, reliable=np.where(tracks.edited.reliable, tracks.reliable, found))


def _chosen(
    edited: BoolArray, kept: IntArray, kept_names: Sequence[str], found: IntArray, found_names: Sequence[str],
    names: Sequence[str],
) -> IntArray:  # fmt: skip
    kept, found = (np.array([names.index(name) for name in own], np.int64)[track]
                   for track, own in ((kept, kept_names), (found, found_names)))  # fmt: skip
    return np.where(edited, kept, found)


def _drop_crumbs(values: npt.NDArray[Any], edited: BoolArray, shortest: int) -> None:
    """Let short runs of equal values beside edited frames take the edited value, in place."""
    for first, last in runs(edited, False):
        end = _run_end(values[first:last]) + first
        goes_on = end == last and (last == len(values) or values[last] == values[first])
        if first > 0 and values[first - 1] != values[first] and end - first < shortest and not goes_on:
            values[first:end] = values[first - 1]
        begin = last - _run_end(values[first:last][::-1])
        if last < len(values) and values[last] != values[last - 1] and last - begin < shortest and begin > first:
            values[begin:last] = values[last]


def _run_end(values: npt.NDArray[Any]) -> int:
    """Length of the run of equal values that an array begins with."""
    other = np.flatnonzero(values != values[0])
    return int(other[0]) if len(other) else len(values)
