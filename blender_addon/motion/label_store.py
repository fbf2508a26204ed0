"""Labels as text, the form in which they lie on an action: runs of frames, short, and checked when read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from .animal import LEGS
from .clip import BoolArray
from .contact_labels import CONTACT_POINTS
from .errors import ClipError
from .label_tracks import NO_ACTION, Edited, LabelTracks
from .runs import runs

SCHEMA = 1
#: More frames than any action has.
_MOST_FRAMES = 10_000_000
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)


def to_text(tracks: dict[str, LabelTracks]) -> str:
    """The labels of an action as one line of text; keys name who plays it (its slot)."""
    entries = {key: _entry(value) for key, value in tracks.items()}
    return json.dumps({"schema": SCHEMA, "labels": entries}, ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> dict[str, LabelTracks]:
    """What `to_text` wrote; raises `ClipError` for anything damaged, or written by a later version."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ClipError(f"The labels have version {data['schema']}, not {SCHEMA}", "Update the add-on")
        return {str(key): _tracks(entry) for key, entry in data["labels"].items()}
    except ClipError:
        raise
    except _DAMAGE as error:
        raise ClipError(f"The action's labels are damaged ({error!r})", "Clear them, then detect anew") from error


def _entry(tracks: LabelTracks) -> dict[str, Any]:
    edited = tracks.edited
    return {
        "first": tracks.first, "frames": len(tracks), "fps": tracks.fps,
        "contacts": {p: _runs(tracks.contacts[:, k]) for k, p in enumerate(tracks.points)},
        "reliable": _runs(tracks.reliable), "gaits": _steps(tracks.gaits), "gait_names": list(tracks.gait_names),
        "actions": _steps(tracks.actions), "action_names": list(tracks.action_names),
        "edited": {
            "contacts": {p: _runs(edited.contacts[:, k]) for k, p in enumerate(tracks.points)},
            "reliable": _runs(edited.reliable), "gaits": _runs(edited.gaits), "actions": _runs(edited.actions),
        },
        "notes": list(tracks.notes),
    }  # fmt: skip


def _tracks(entry: dict[str, Any]) -> LabelTracks:
    frames = int(entry["frames"])
    if not 0 < frames < _MOST_FRAMES:
        raise ValueError(f"{frames} frames")
    points = next((known for known in (CONTACT_POINTS, LEGS) if set(known) == set(entry["contacts"])), None)
    if points is None:
        raise ValueError(f"contacts of {', '.join(entry['contacts'])}")
    edited = entry["edited"]
    names = tuple(str(name) for name in entry["action_names"])
    if names[0] != NO_ACTION:
        raise ValueError("actions without names")
    return LabelTracks(
        int(entry["first"]), float(entry["fps"]), points, _columns(entry["contacts"], points, frames),
        _mask(entry["reliable"], frames), _values(entry["gaits"], frames),
        tuple(str(name) for name in entry["gait_names"]), _values(entry["actions"], frames), names,
        Edited(
            _columns(edited["contacts"], points, frames), _mask(edited["reliable"], frames),
            _mask(edited["gaits"], frames), _mask(edited["actions"], frames),
        ), tuple(str(note) for note in entry["notes"]),
    )  # fmt: skip


def _runs(mask: BoolArray) -> list[int]:
    """First and one-past-last rows of the runs of a mask, one after the other."""
    return [edge for run in runs(mask) for edge in run]


def _mask(edges: list[int], frames: int) -> BoolArray:
    mask = np.zeros(frames, bool)
    if len(edges) % 2 or edges != sorted(edges) or (edges and not 0 <= edges[0] <= edges[-1] <= frames):
        raise ValueError("runs out of order")
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        mask[first:last] = True
    return mask


def _columns(columns: dict[str, list[int]], points: tuple[str, ...], frames: int) -> BoolArray:
    return np.stack([_mask(columns[point], frames) for point in points], axis=1)


def _steps(values: npt.NDArray[np.int64]) -> list[list[int]]:
    """Rows at which a value begins, each with the value."""
    starts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist()]
    return [[start, int(values[start])] for start in starts]


def _values(steps: list[list[int]], frames: int) -> npt.NDArray[np.int64]:
    values = np.zeros(frames, np.int64)
    for start, value in steps:
        if not 0 <= start < frames:
            raise ValueError(f"row {start}")
        values[start:] = value
    return values
