"""What a data set's labels amount to before it is trained on: minutes of each gait, contacts, phases, doubts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .animal import LEGS
from .clip import BoolArray, Clip
from .clip_labels import label_clip
from .contact_labels import CONTACT_POINTS
from .dataset import Dataset
from .gait_analysis.classify import GAIT_LABELS, label_gaits
from .label_doubts import Doubt, doubts
from .label_tracks import IntArray
from .labels import root_speed
from .runs import runs

#: So many doubtful spans are told; the rest is counted.
DOUBTS_SHOWN = 12

#: From the number of a clip and a row of it to the frame an animator knows.
FrameOf = Callable[[int, int], int]


@dataclass(frozen=True)
class GaitRow:
    """One gait's share: its minutes, usual speed (m/s), contacts a second, and share with a reliable phase.

    ``sure`` is None of four legs, which have no common phase.
    """

    name: str
    minutes: float
    speed: float
    contacts: float
    sure: float | None


@dataclass(frozen=True)
class LabelSummary:
    """What is labelled of a data set.

    Attributes:
        gaits: a row for each gait (or named action) there is, longest first.
        minutes: of all. by_hand: of them with something set by hand. unsure: of them, moving, without a phase.
        left_out: of them, not to be learned by phase.
        by_foot: contacts a second of each point, by its name.
        doubts: clip's name and doubtful span, in the animator's frames.
    """

    gaits: tuple[GaitRow, ...]
    minutes: float
    by_hand: float
    unsure: float
    by_foot: dict[str, float]
    doubts: tuple[tuple[str, Doubt], ...]
    left_out: float = 0.0

    def lines(self) -> list[str]:
        """The summary for reading: a table of five columns, then sentences."""
        lines = ["gait minutes m/s contacts/s phase"]
        for row in self.gaits:
            sure = "-" if row.sure is None else f"{row.sure:.0%}"
            lines.append(f"{row.name.replace(' ', '_')} {row.minutes:.2f} {row.speed:.2f} {row.contacts:.2f} {sure}")
        each = ", ".join(f"{name.replace('_', ' ')} {rate:.2f}" for name, rate in self.by_foot.items())
        lines.append(f"Contacts a second: {each}")
        if self.by_hand > 0.0:
            lines.append(f"Labelled by hand: frames of {60 * self.by_hand:.1f} s in all")
        if self.unsure > 0.0:
            lines.append(f"Moving without steps: {60 * self.unsure:.1f} s, whose phase is a guess")
        if self.left_out > 0.0:
            lines.append(f"Left out of learning by phase: {60 * self.left_out:.1f} s")
        if not self.doubts:
            lines.append("Nothing is doubtful")
        for name, doubt in self.doubts[:DOUBTS_SHOWN]:
            lines.append(f"{name}, frames {doubt.first} to {doubt.last}: {doubt.words}")
        if len(self.doubts) > DOUBTS_SHOWN:
            lines.append(f"and {len(self.doubts) - DOUBTS_SHOWN} more doubtful spans")
        return lines


def summary(dataset: Dataset, frame_of: FrameOf = lambda _clip, row: row) -> LabelSummary:
    """What is labelled of a data set: as it says itself, or as it is found where it says nothing.

    Args:
        dataset: the motion.
        frame_of: the frame that an animator calls a clip's row.
    """
    frames, found = [], []
    for number, clip in enumerate(dataset.clips):
        points, contacts, reliable, names = _labels(dataset, number)
        vocabulary = tuple(dict.fromkeys(names))
        index = np.array([vocabulary.index(name) for name in names], dtype=np.int64)
        frames.append(_Frames(clip, contacts, reliable, np.array(names), points))
        for doubt in doubts(contacts, reliable, index, vocabulary, clip.fps, points):
            first, last = frame_of(number, doubt.first), frame_of(number, doubt.last)
            found.append((clip.name, Doubt(first, last, doubt.words)))
    edited = sum(int(one.edited.sum()) for one in dataset.labelled if one is not None)
    out = sum(int(one.left_out.sum()) for one in dataset.labelled if one is not None and one.left_out is not None)
    summed = _summed(frames, dataset.fps, edited / dataset.fps / 60.0, tuple(found))
    return replace(summed, left_out=out / dataset.fps / 60.0)


@dataclass(frozen=True, eq=False)
class _Frames:
    clip: Clip
    contacts: BoolArray
    reliable: BoolArray | None
    names: npt.NDArray[np.str_]
    points: Sequence[str]


def _labels(dataset: Dataset, number: int) -> tuple[Sequence[str], BoolArray, BoolArray | None, list[str]]:
    """Points, contacts, reliability (None of four legs) and a name for each frame of a clip."""
    clip, labelled = dataset.clips[number], dataset.labelled[number]
    own = [dataset.action_names[i] for i in dataset.actions[number]] if dataset.action_names else None
    if clip.skeleton.four_legged:
        contacts = labelled.contacts if labelled is not None else clip.contacts
        return LEGS, contacts, None, own or _named(label_gaits(clip), GAIT_LABELS)
    labels = label_clip(clip, dataset.tags[number], labelled)
    return CONTACT_POINTS, labels.contacts, labels.phase.reliable, own or _named(labels.gaits, labels.gait_names)


def _named(values: IntArray, names: Sequence[str]) -> list[str]:
    return [names[value] for value in values]


def _summed(
    frames: Sequence[_Frames], fps: float, by_hand: float, found: tuple[tuple[str, Doubt], ...]
) -> LabelSummary:
    names = np.concatenate([one.names for one in frames])
    speeds = np.concatenate([root_speed(one.clip) for one in frames])
    landings = np.concatenate([_landings(one.contacts) for one in frames])
    phased = frames[0].reliable is not None
    sure = np.concatenate([one.reliable if one.reliable is not None else np.zeros(len(one.clip), bool)
                           for one in frames])  # fmt: skip
    rows = []
    for name in dict.fromkeys(names.tolist()):
        chosen = names == name
        seconds = float(chosen.sum()) / fps
        rows.append(GaitRow(
            name, seconds / 60.0, float(np.median(speeds[chosen])), float(landings[chosen].sum()) / seconds,
            float(sure[chosen].mean()) if phased else None,
        ))  # fmt: skip
    total = len(names) / fps
    unsure = float(np.sum(~sure & (names != "stand"))) / fps if phased else 0.0
    by_foot = {point: float(landings[:, column].sum()) / total for column, point in enumerate(frames[0].points)}
    return LabelSummary(
        tuple(sorted(rows, key=lambda row: -row.minutes)), total / 60.0, by_hand, unsure / 60.0, by_foot, found
    )


def _landings(contacts: BoolArray) -> BoolArray:
    """Where each contact begins (f, points)."""
    found = np.zeros_like(contacts)
    for column, mask in enumerate(contacts.T):
        for first, _ in runs(mask):
            found[first, column] = True
    return found
