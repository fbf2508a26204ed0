"""Many quality reports in one short table: each figure's median, its worst case and how many are within the limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blender_addon.motion.figures import Figure, QualityReport


def summary(reports: Sequence[QualityReport]) -> str:
    """A Markdown table, one line a figure that has a limit; limits that differ by case are given as a range."""
    lines = ["| figure | wanted | median | worst | where | within |", "|---|---|---|---|---|---|"]
    keys = dict.fromkeys(figure.key for report in reports for figure in report.figures)
    for key in keys:
        found = [(report.title, figure) for report in reports if (figure := held(report, key)) is not None]
        if not found:
            continue
        title, worst = max(found, key=lambda pair: exceedance(pair[1]))
        values = np.array([figure.value for _, figure in found])
        good = sum(figure.mark == "good" for _, figure in found)
        lines.append(
            f"| {worst.name} | {limits([figure for _, figure in found])} {worst.unit} | {np.median(values):.3g} "
            f"| {worst.value:.3g} | {title} | {good} of {len(found)} |"
        )
    return "\n".join(lines)


def held(report: QualityReport, key: str) -> Figure | None:
    """The figure of that key if it was measured and has a limit."""
    figure = report.get(key)
    return figure if figure is not None and figure.measured and figure.wanted is not None else None


def exceedance(figure: Figure) -> float:
    """How far beyond its limit a figure is, as a ratio; below 1 is within."""
    assert figure.wanted is not None
    over = figure.value / max(figure.wanted, 1e-9)
    return over if figure.low is None else max(over, figure.low / max(figure.value, 1e-9))


def limits(figures: Sequence[Figure]) -> str:
    """What is wanted of figures of one kind; those that differ are given as a range."""
    wishes = {figure.wish for figure in figures}
    if len(wishes) == 1:
        return wishes.pop()
    wanted = [figure.wanted for figure in figures if figure.wanted is not None]
    return f"at most {min(wanted):.2g} to {max(wanted):.2g}"
