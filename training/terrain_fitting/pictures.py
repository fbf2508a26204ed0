"""Pictures of fits: the ground under the path and under each foot, and where the feet were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion.clip import BoolArray, Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.rotations import Array

from .bank import Bank
from .search import FittedGround, Search
from .settings import FitSettings
from .windows import AFTER, BEFORE, Footing

#: Colours of the left and the right foot.
_COLOURS = ("tab:blue", "tab:red")


def draw_fits(
    clip: Clip, labels: ClipLabels, cycle: tuple[int, int], bank: Bank, settings: FitSettings, path: Path,
    number: int = 0,
) -> None:  # fmt: skip
    """A picture of the grounds fitted to one cycle (first, last), as a file.

    One row a ground, one column a foot: the ground under that foot's toe and under the path's middle over time, dashed
    before it was bent, with the soles' heights; filled where they stand.
    """
    from matplotlib.figure import Figure

    random = np.random.default_rng([settings.seed, number])
    footing = Footing(clip, labels)
    window = footing.window(*cycle)
    ground = Search(bank, settings.placements, settings.fits, settings.good).fit(window, random)
    begin, end = max(cycle[0] - round(BEFORE * clip.fps), 0), min(cycle[1] + round(AFTER * clip.fps), len(clip))
    seconds = np.arange(begin, end) / clip.fps
    figure = Figure(figsize=(14, 2.6 * len(ground)), layout="constrained")
    axes = figure.subplots(len(ground), 2, squeeze=False, sharex=True, sharey=True)
    middle = ground.heights(clip.root[begin:end, :2])
    for foot in range(2):
        columns = slice(2 * foot, 2 * foot + 2)
        soles, down = footing.points[begin:end, columns], footing.down[begin:end, columns]
        under = ground.heights(soles[..., :2].reshape(-1, 2)).reshape(len(ground), -1, 2)
        bare = ground.heights(soles[..., :2].reshape(-1, 2), bent=False).reshape(len(ground), -1, 2)
        for row in range(len(ground)):
            _draw(axes[row, foot], seconds, (middle[row], under[row], bare[row]), soles[..., 2], down, _COLOURS[foot])
            axes[row, foot].axvspan(cycle[0] / clip.fps, cycle[1] / clip.fps, color="0.93", zorder=0)
            axes[row, foot].set_title(_title(ground, row, foot), fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel(f"seconds of {clip.name}")
    figure.savefig(path, dpi=80)


def _title(ground: FittedGround, row: int, foot: int) -> str:
    side = CONTACT_POINTS[2 * foot].split("_")[0]
    return f"{ground.kinds[row]}: {100 * np.sqrt(ground.errors[row]):.1f} cm off before bending; {side} foot"


def _draw(
    axis: Any, seconds: Array, grounds: tuple[Array, Array, Array], soles: Array, down: BoolArray, colour: str
) -> None:
    middle, under, bare = grounds
    axis.plot(seconds, middle, color="0.6", linewidth=1, label="ground under the path")
    for point, style in ((0, "v"), (1, "o")):
        axis.plot(seconds, under[:, point], color="black", linewidth=1.2 - 0.5 * point)
        axis.plot(seconds, soles[:, point], color=colour, linewidth=0.6)
        stands = down[:, point]
        axis.plot(seconds[stands], soles[stands, point], style, color=colour, markersize=3)
    axis.plot(seconds, bare[:, 1], color="black", linewidth=0.7, linestyle="--")
    axis.grid(alpha=0.3)
