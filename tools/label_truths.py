"""What is known of takes' steps: landings from the source's own step labels, lift-offs labelled by eye, tags.

Step labels count the take's own frames (30 or 24 a second). Clips of a data set begin where `Source.first` says: takes
lose frames at their ends in which the actor still holds the arms out. Apart from that all labels are on their takes'
own clock: the median of landing less label is within two frames for every take.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset, Source
from blender_addon.motion.recipes import DataFolder
from blender_addon.motion.rotations import Array
from blender_addon.motion.runs import runs

LIFT_OFFS = Path(__file__).resolve().parent.parent / "tests" / "data" / "lift_offs.tsv"
FEET = ("LeftFoot", "RightFoot")
#: Two landings further apart than this, seconds, are no step.
LONGEST_STEP = 1.1
#: A take of nothing but these is plain.
PLAIN = {"walk", "run", "idle", "turn", "back", "side", "start_stop"}


@dataclass(frozen=True)
class Landing:
    """A foot lands: its column, and the frame of the take, in its own rate."""

    side: int
    frame: int


def read_steps(path: Path) -> list[Landing]:
    """Landings of a ``.steps.tsv``: where a foot stands that swung in the row before.

    State 3 (neither foot) stands for the beginning and the end of a take: nothing lands there.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = []
    for before, row in zip(rows[:-1], rows[1:], strict=True):
        for side, foot in enumerate(FEET):
            swung, stands = foot in before["swing_feet"].split(","), foot in row["stance_feet"].split(",")
            if swung and stands and before["state"] != "3":
                found.append(Landing(side, int(row["start_frame"])))
    return found


def steps_of(source: Source, data: DataFolder, work: Path) -> list[Landing]:
    """Labelled landings of the take that a clip comes from; none if it has no labels."""
    name = source.path.removesuffix(".bvh") + ".steps.tsv"
    return read_steps(data.fetch(name, work)) if data.find(name) else []


def read_lift_offs(path: Path = LIFT_OFFS) -> dict[str, list[tuple[int, int]]]:
    """For each take (side, frame) of lift-offs, frames of 1/60 s from the take's beginning: the first in which no part
    of the foot bears any more."""
    found: dict[str, list[tuple[int, int]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["take"], []).append((int(row["foot"] == "right"), int(row["frame"])))
    return found


def read_index(data: DataFolder) -> dict[str, tuple[float, frozenset[str]]]:
    """Frame rate and tags of each take by its path."""
    with (data.root / "index.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["path"]: (float(row["fps"]), frozenset(row["tags"].replace(" ", "").split(",")))
                for row in rows if row["fps"]}  # fmt: skip


def row_of(frame: float, source: Source, rate: float, fps: float) -> float:
    """The (fractional) row of a clip at a frame of its take."""
    return (frame - source.first) * fps / rate


def nearest(events: Array, at: float) -> float:
    """Distance of the nearest event, later ones positive; infinite without any."""
    return float((events - at)[np.argmin(np.abs(events - at))]) if len(events) else np.inf


def begins(mask: Array) -> Array:
    """Rows at which a mask (f,) becomes true."""
    return np.array([first for first, _ in runs(mask) if first > 0], dtype=np.float64)


def ends(mask: Array) -> Array:
    """Rows at which a mask (f,) becomes false."""
    return np.array([last for _, last in runs(mask) if last < len(mask)], dtype=np.float64)


def labelled_phase(landings: list[Landing], clip: Clip, source: Source, rate: float) -> tuple[Array, Array]:
    """Rows (n,) of a clip between two labelled landings of different feet, and the phase there (n,), radians."""
    rows, phases = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for one, two in zip(landings[:-1], landings[1:], strict=True):
        first, last = (row_of(landing.frame, source, rate, clip.fps) for landing in (one, two))
        if one.side == two.side or first < 0 or last > len(clip) - 1 or last - first > LONGEST_STEP * clip.fps:
            continue
        row = np.arange(int(np.ceil(first)), int(np.ceil(last)))
        rows.append(row)
        phases.append(np.pi * (one.side == 0) + np.pi * (row - first) / (last - first))
    return np.concatenate(rows), np.concatenate(phases)


def labelled_clips(dataset: Dataset, data: DataFolder, work: Path) -> Iterator[tuple[int, float, list[Landing]]]:
    """Number, the take's own rate and labelled landings of each clip that has labels."""
    index = read_index(data)
    for number, source in enumerate(dataset.sources):
        landings = steps_of(source, data, work)
        if landings:
            yield number, index[source.path][0], landings
