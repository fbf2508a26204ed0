"""Pictures of a clip's labels over time: contact bars, phase, gaits, and what is doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.contact_labels import CONTACT_POINTS, sole_points
from blender_addon.motion.label_doubts import Doubt
from blender_addon.motion.labels import root_speed
from blender_addon.motion.runs import runs

_COLOURS = ("tab:blue", "tab:cyan", "tab:red", "tab:orange")
#: Seconds in one row of a picture, and rows at most.
_ROW_S, _ROWS = 12.0, 4


def draw_labels(clip: Clip, labels: ClipLabels, doubts: Sequence[Doubt], path: Path) -> None:
    """A picture of a clip's labels as a file: heights of the soles, contacts, phase and gaits; doubts in pink."""
    from matplotlib.figure import Figure

    rows = max(1, min(_ROWS, int(np.ceil(clip.seconds / _ROW_S))))
    figure = Figure(figsize=(16, 3.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False)[:, 0]
    seconds = np.arange(len(clip)) / clip.fps
    heights, speed = 100.0 * sole_points(clip)[..., 2], root_speed(clip)
    for row, axis in enumerate(axes):
        low, high = row * _ROW_S, (row + 1) * _ROW_S
        part = (seconds >= low) & (seconds < high)
        for column, colour in enumerate(_COLOURS):
            axis.plot(seconds[part], heights[part, column], color=colour, linewidth=0.8)
            _bars(axis, clip.fps, labels.contacts[:, column], -4.0 - 3.0 * column, colour, (low, high))
            axis.text(low, -4.0 - 3.0 * column, CONTACT_POINTS[column].replace("_", " "), fontsize=7, va="center")
        axis.plot(seconds[part], 10.0 * speed[part], color="0.5", linewidth=0.8, linestyle="--")
        phase = np.mod(labels.phase.angle, 2.0 * np.pi) / np.pi * 4.0
        shade = np.where(labels.phase.reliable[part], "black", "0.75")
        axis.scatter(seconds[part], -26.0 + phase[part], s=1.5, c=shade)
        _gaits(axis, clip.fps, labels, (low, high))
        for doubt in doubts:
            if doubt.first / clip.fps < high and doubt.last / clip.fps >= low:
                axis.axvspan(doubt.first / clip.fps, (doubt.last + 1) / clip.fps, color="pink", alpha=0.5, zorder=0)
        axis.set_xlim(low, high)
        axis.set_ylim(-34.0, min(60.0, max(25.0, float(heights.max()))))
    axes[0].set_title(f"{clip.name}: height of the soles (cm), speed (dashed, dm/s), contacts, phase, gaits")
    axes[-1].set_xlabel("seconds")
    figure.savefig(path, dpi=70)


def _bars(axis: Any, fps: float, mask: Any, at: float, colour: str, shown: tuple[float, float]) -> None:
    for first, last in runs(mask):
        if last / fps > shown[0] and first / fps < shown[1]:
            axis.barh(at, (last - first) / fps, left=first / fps, height=2.0, color=colour)


def _gaits(axis: Any, fps: float, labels: ClipLabels, shown: tuple[float, float]) -> None:
    for index, name in enumerate(labels.gait_names):
        for first, last in runs(labels.gaits == index):
            begin, end = max(first / fps, shown[0]), min(last / fps, shown[1])
            if begin < end:
                axis.barh(-31.0, end - begin, left=begin, height=3.0, color=f"C{(index + 4) % 10}", alpha=0.7)
                axis.text(0.5 * (begin + end), -31.0, name, fontsize=7, ha="center", va="center", clip_on=True)
