"""What a data set covers and where it comes from, as a pack states it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError, GaitsmithError
from blender_addon.motion.labels import vocabulary
from blender_addon.motion.metrics_reference import capture_reference
from blender_addon.motion.rotations import Array
from blender_addon.systems.database import Database

#: Less than this, seconds, cannot hold a gait cycle of every foot, a turn and a stop.
LEAST_SECONDS = 60.0
#: A band of speeds counts as covered when so much motion of it is there.
_BAND, _LEAST_SECONDS = 0.1, 3.0
#: Slow walking is made of starts, stops and short steps: stated as the lowest speed if it is there.
_LOWEST = 0.3


def check_seconds(seconds: float, least: float = LEAST_SECONDS) -> None:
    """Raise `DatasetError` that says how much motion is missing, if there is too little to train on."""
    if seconds < least:
        raise DatasetError(
            f"The data set is too small to train on: {seconds:.0f} s of motion, {least:.0f} s are needed, "
            f"{least - seconds:.0f} s are missing",
            "Add clips, or use Motion Matching, which needs no training",
        )


@dataclass(frozen=True)
class About:
    """A data set described: actions, licence, credits, what was held out, and figures."""

    actions: tuple[str, ...]
    licence: str
    credits: tuple[str, ...]
    held_out: tuple[str, ...]
    training: dict[str, Any]
    reference: dict[str, Any]


def describe(dataset: Dataset) -> About:
    """What a pack made from ``dataset`` says of its origin."""
    learned = dataset.part(held_out=False)
    tags = Counter(tag for entry in learned.tags for tag in entry)
    licences = dict.fromkeys(source.licence for source in dataset.sources if source.licence)
    lines = [*dataset.credits, *(source.credit for source in dataset.sources)]
    known = [line for line in lines if line]
    # A short credit that a longer line holds already needs no line of its own.
    credits = tuple(
        line for line in dict.fromkeys(known) if not any(line != other and line in other for other in known)
    )
    return About(
        actions=tuple(action for action in vocabulary(dataset.skeleton) if tags[action]) or ("walk",),
        licence=", ".join(licences),
        credits=credits,
        held_out=tuple(clip.name for clip, held in zip(dataset.clips, dataset.held_out, strict=True) if held),
        training={
            "seconds": round(learned.seconds, 1),
            "clips": len(learned),
            "tags": dict(tags.most_common()),
            "sources": sorted({source.path for source in learned.sources if source.path}),
        },
        reference=_reference(learned),
    )


def _reference(dataset: Dataset) -> dict[str, Any]:
    """What the capture does at each speed, for quality reports; empty where there is too little of it."""
    try:
        return capture_reference(dataset.clips).table.to_json()
    except GaitsmithError:
        return {}


def covered_speeds(database: Database) -> tuple[float, float]:
    """Slowest and fastest speed (m/s) of which there are some seconds, without a gap between."""
    tracks = [
        np.linalg.norm(database.root_step[first:last, :2].astype(np.float64), axis=1) * database.fps
        for first, last in database.ranges
    ]
    return speeds_between(tracks, database.fps)


def speeds_between(tracks: Sequence[Array], fps: float) -> tuple[float, float]:
    """`covered_speeds` of tracks of speeds (frames,), m/s."""
    window = max(1, round(fps))
    speeds = [np.convolve(s, np.full(window, 1.0 / window), mode="valid") for s in tracks if len(s) > window]
    if not speeds:
        return (0.0, 0.0)
    counts, _ = np.histogram(np.concatenate(speeds), bins=np.arange(0.0, 15.0, _BAND))
    enough = counts / fps >= _LEAST_SECONDS
    low = int(round(_LOWEST / _BAND))
    covered = np.nonzero(enough[low:])[0]
    if len(covered) == 0:
        return (0.0, float(np.max(np.concatenate(speeds))))
    begin = low + int(covered[0])
    end = begin
    while end < len(enough) and enough[end]:
        end += 1
    return (round(begin * _BAND, 2), round(end * _BAND, 2))
