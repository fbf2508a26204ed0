"""The report of a data set's labels: what there is, what is doubtful, and pictures of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.label_doubts import Doubt, doubts_of_clip
from blender_addon.motion.label_summary import summary

from ..terrain_fitting.settings import FitSettings
from .checks import clip_doubts

#: Pictures of so many clips, those with the most doubts first, and of ground under so many cycles.
CLIPS_SHOWN, CYCLES_SHOWN = 12, 6
REPORT_NAME = "labels.txt"


def write_report(dataset: Dataset, labels: Sequence[ClipLabels], folder: Path, ground: bool = True) -> list[Path]:
    """Write the report of a labelled data set into ``folder``: a text, pictures of labels, pictures of fitted ground.

    Args:
        dataset: as `label_dataset` gives it. labels: of its clips. ground: whether to fit ground for pictures.

    Returns:
        the files, the text first.

    Raises:
        DatasetError: the folder cannot be written.
    """
    doubts = [doubts_of_clip(label, clip.fps) for clip, label in zip(dataset.clips, labels, strict=True)]
    whole = [clip_doubts(clip, label) for clip, label in zip(dataset.clips, labels, strict=True)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / REPORT_NAME
        text.write_text("\n".join([*_lines(dataset, doubts, whole), ""]), encoding="utf-8")
        return [text, *_pictures(dataset, labels, doubts, folder, ground)]
    except OSError as error:
        raise DatasetError(f"{folder} cannot be written ({error.strerror})", "Choose another folder") from error


def _lines(dataset: Dataset, doubts: Sequence[Sequence[Doubt]], whole: Sequence[Sequence[str]]) -> list[str]:
    count = sum(len(found) for found in doubts)
    lines = [f"{len(dataset)} clips, {dataset.seconds / 60:.1f} minutes", ""]
    # The spans follow below, all of them.
    lines += replace(summary(dataset), doubts=()).lines()[:-1]
    odd = [(clip.name, words) for clip, found in zip(dataset.clips, whole, strict=True) for words in found]
    lines += ["", f"Clips to look at: {len(odd) or 'none'}", *(f"{name}: {words}" for name, words in odd)]
    lines += ["", f"Spans to look at: {count or 'none'}"]
    for clip, found in zip(dataset.clips, doubts, strict=True):
        lines += [f"{clip.name}, {doubt.first / clip.fps:.2f} to {(doubt.last + 1) / clip.fps:.2f} s: {doubt.words}"
                  for doubt in found]  # fmt: skip
    return lines


def _pictures(
    dataset: Dataset, labels: Sequence[ClipLabels], doubts: Sequence[Sequence[Doubt]], folder: Path, ground: bool
) -> list[Path]:
    from .pictures import draw_labels

    found = []
    rate = [len(found) / max(len(clip), 1) for clip, found in zip(dataset.clips, doubts, strict=True)]
    for number in np.argsort(-np.array(rate), kind="stable")[:CLIPS_SHOWN]:
        path = folder / f"labels_{number:03d}.png"
        draw_labels(dataset.clips[number], labels[number], doubts[number], path)
        found.append(path)
    return [*found, *ground_pictures(dataset, labels, folder)] if ground else found


def ground_pictures(
    dataset: Dataset, labels: Sequence[ClipLabels], folder: Path, settings: FitSettings | None = None
) -> list[Path]:
    """Fitted ground of some cycles: of uneven clips, of jumps, and of level ones, a third each as far as there are.

    Args:
        dataset: of two legs. labels: of its clips. folder: where the pictures go. settings: how ground is fitted.

    Raises:
        TerrainError: ground of the settings cannot be read.
    """
    from ..terrain_fitting.grounds import bank_of
    from ..terrain_fitting.pictures import draw_fits
    from ..terrain_fitting.windows import cycles

    settings = settings or FitSettings()
    bank = bank_of(settings)
    kinds: dict[str, list[int]] = {"uneven": [], "jump": [], "level": []}
    for number, (label, tags) in enumerate(zip(labels, dataset.tags, strict=True)):
        kinds["uneven" if label.uneven else "jump" if "jump" in tags else "level"].append(number)
    found = []
    for kind, numbers in kinds.items():
        spread = np.linspace(0, len(numbers) - 1, min(len(numbers), CYCLES_SHOWN // 3)).round().astype(int)
        for number in (numbers[k] for k in spread):
            clip, label = dataset.clips[number], labels[number]
            every = cycles(label.contacts, clip.fps, settings.steps)
            path = folder / f"ground_{kind}_{number:03d}.png"
            draw_fits(clip, label, every[len(every) // 2], bank, settings, path, number)
            found.append(path)
    return found
