"""The report of a training: what it learned from, how its losses fell, and pictures of both."""

from __future__ import annotations

import csv
import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.label_summary import summary

from .labelling.report import ground_pictures
from .terrain_fitting.settings import FitSettings

if TYPE_CHECKING:
    from .trainer import Outcome

REPORT_NAME, TABLE_NAME, CURVES_NAME = "training.txt", "history.csv", "loss.png"
#: Columns of the table of all that was noted on the way; what was not measured is empty.
COLUMNS: tuple[str, ...] = ("stage", "iteration", "seconds", "loss", "held_out", "unit")


@dataclass(frozen=True)
class Ended:
    """A training that has ended.

    Attributes:
        system, title: of the pack. dataset: what was learned.
        outcomes: what each stage came to, in order. metrics: as the pack has them.
        labels: of the data set's clips, for pictures of ground. ground: how it was fitted; None: it was not.
    """

    system: str
    title: str
    dataset: Dataset
    outcomes: Mapping[str, Outcome]
    metrics: Mapping[str, Any]
    labels: Sequence[ClipLabels] = ()
    ground: FitSettings | None = None


def report_folder(out: Path) -> Path:
    """Where the report of a training lies whose pack goes to ``out``, a folder or a zip: beside it."""
    name = out.stem if out.suffix == ".zip" else out.name
    return out.with_name(f"{name}-report")


def write_report(ended: Ended, folder: Path) -> list[Path]:
    """Write a training's report into ``folder``, over an earlier one: a text, a table, and pictures.

    There are none where matplotlib is missing; the text says so.

    Returns:
        the files, the text first.

    Raises:
        DatasetError: the folder cannot be written. TerrainError: ground of the settings cannot be read.
    """
    draws = importlib.util.find_spec("matplotlib") is not None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in (*folder.glob("ground_*.png"), folder / CURVES_NAME):
            old.unlink(missing_ok=True)
        lines = [*_stage_lines(ended), "", *_data_lines(ended.dataset), "", *_metric_lines(ended.metrics)]
        if not draws:
            lines += ["", "Without pictures: this Python has no matplotlib (pip install matplotlib)"]
        text = folder / REPORT_NAME
        text.write_text("\n".join([*lines, ""]), encoding="utf-8")
        files = [text, _write_table(ended.outcomes, folder / TABLE_NAME)]
        return [*files, *_pictures(ended, folder)] if draws else files
    except OSError as error:
        raise DatasetError(f"{folder} cannot be written ({error.strerror})", "Choose another folder") from error


def history_of(outcome: Outcome) -> list[tuple[float, ...]]:
    """(iteration, seconds, loss, validation or nan) of a stage, each iteration once however often it was resumed."""
    return list({row[0]: row for row in outcome.history}.values())


def _stage_lines(ended: Ended) -> list[str]:
    seconds = sum(outcome.seconds for outcome in ended.outcomes.values())
    lines = [f"{ended.title}: {ended.system}, trained for {seconds / 60:.1f} minutes", ""]
    lines.append(f"{'stage':<14}{'iterations':>11}{'seconds':>9}{'loss':>11}  held-out: first, last, best")
    for name, outcome in ended.outcomes.items():
        told = f"{name:<14}{outcome.iterations:>11}{outcome.seconds:>9.0f}{outcome.loss:>11.4g}"
        lines.append(f"{told}  {_validation(outcome)}")
    return lines


def _validation(outcome: Outcome) -> str:
    measured = [row for row in history_of(outcome) if math.isfinite(row[3])]
    if not measured:
        return "-"
    best = min(measured, key=lambda row: row[3])
    unit = f" {outcome.unit}" if outcome.unit else ""
    return f"{measured[0][3]:.4g}, {measured[-1][3]:.4g}, {best[3]:.4g}{unit} (at {best[0]:.0f})"


def _data_lines(dataset: Dataset) -> list[str]:
    learned, kept = dataset.part(held_out=False), dataset.part(held_out=True)
    lines = [f"Learned from {len(learned)} clips, {learned.seconds:.0f} s; {len(kept)} clips, {kept.seconds:.0f} s, "
             "were held out"]  # fmt: skip
    # What is doubtful is told by the report of the labels.
    return [*lines, *replace(summary(learned), doubts=()).lines()[:-1]]


def _metric_lines(metrics: Mapping[str, Any]) -> list[str]:
    return [f"{name.replace('_', ' ')}: {value}" for name, value in metrics.items()]


def _write_table(outcomes: Mapping[str, Outcome], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for name, outcome in outcomes.items():
            for iteration, seconds, loss, held_out in history_of(outcome):
                error = f"{held_out:.6g}" if math.isfinite(held_out) else ""
                writer.writerow((name, int(iteration), f"{seconds:.1f}", f"{loss:.6g}", error, outcome.unit))
    return path


def _pictures(ended: Ended, folder: Path) -> list[Path]:
    files = [_draw_curves(ended, folder / CURVES_NAME)] if ended.outcomes else []
    if ended.ground is not None and ended.labels:
        files += ground_pictures(ended.dataset, ended.labels, folder, ended.ground)
    return files


def _draw_curves(ended: Ended, path: Path) -> Path:
    """Each stage's loss and its held-out figure over its iterations; both axes of values logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0 * len(ended.outcomes), 4.2), layout="constrained")
    figure.suptitle(f"{ended.title} ({ended.system})")
    axes = figure.subplots(1, len(ended.outcomes), squeeze=False)[0]
    for axis, (name, outcome) in zip(axes, ended.outcomes.items(), strict=True):
        rows = history_of(outcome)
        iterations, held_out = [row[0] for row in rows], [row[3] for row in rows]
        axis.plot(iterations, [row[2] for row in rows], ".-", color="tab:blue", linewidth=1, markersize=3)
        axis.set(title=name, xlabel="iterations")
        _logarithmic(axis)
        axis.set_ylabel("loss", color="tab:blue")
        axis.grid(alpha=0.3, which="both")
        if any(math.isfinite(value) for value in held_out):
            other = axis.twinx()
            other.plot(iterations, held_out, ".-", color="tab:red", linewidth=1, markersize=3)
            _logarithmic(other)
            other.set_ylabel(f"held-out, {outcome.unit}" if outcome.unit else "held-out", color="tab:red")
    figure.savefig(path, dpi=100)
    return path


def _logarithmic(axis: Any) -> None:
    """Make an axis of values logarithmic, with plain numbers."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        """Labels what the usual formatter labels, but not by powers."""

        def __call__(self, value: float, position: int | None = None) -> str:
            return f"{value:.3g}" if super().__call__(value, position) else ""

    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(Plain())
    axis.yaxis.set_minor_formatter(Plain())
