"""Compare what `tools.bench_courses --json` wrote for several packs on the cases that all of them walked, as Markdown.

``python -m tools.bench_compare A.json B.json [--names Learned,Phased]``
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.figures import Figure, QualityReport
from tools.bench_courses import COLUMNS
from tools.bench_summary import exceedance, held, limits

#: What a pack did, by the title of the case.
Cases = Mapping[str, QualityReport]


@dataclass(frozen=True)
class Common:
    """The cases of one kind of ground that all packs walked.

    Attributes:
        title: for the head. packs: reports of each pack by its name, all in the same order of cases.
    """

    title: str
    packs: Mapping[str, Sequence[QualityReport]]

    def table(self) -> str:
        """One row a figure that has a limit: for each pack how many cases are within it, the median and the worst."""
        count = len(next(iter(self.packs.values())))
        lines = [f"**{self.title}, {count} cases**: within the limit; median / worst", ""]
        lines += [f"| figure | wanted | {' | '.join(self.packs)} |", "|---|---" + "|---" * len(self.packs) + "|"]
        for key, _ in COLUMNS:
            found = {name: _figures(reports, key) for name, reports in self.packs.items()}
            every = [figure for figures in found.values() for figure in figures]
            if every:
                cells = " | ".join(_cell(figures) for figures in found.values())
                lines.append(f"| {every[0].name} | {f'{limits(every)} {every[0].unit}'.strip()} | {cells} |")
        lines.append(f"| all figures | | {' | '.join(_total(reports) for reports in self.packs.values())} |")
        return "\n".join(lines)


def _figures(reports: Sequence[QualityReport], key: str) -> list[Figure]:
    return [figure for report in reports if (figure := held(report, key)) is not None]


def _cell(figures: Sequence[Figure]) -> str:
    if not figures:
        return "-"
    good = sum(figure.mark == "good" for figure in figures)
    median = float(np.median([figure.value for figure in figures]))
    worst = max(figures, key=exceedance)
    return f"{good} of {len(figures)}; {_told(median)} / {_told(worst.value)}"


def _told(value: float) -> str:
    """Three digits; what is left of rounding is nothing."""
    return f"{value:.3g}" if abs(value) > 1e-6 else "0"


def _total(reports: Sequence[QualityReport]) -> str:
    marks = [figure.mark for key, _ in COLUMNS for figure in _figures(reports, key)]
    return f"{marks.count('good')} of {len(marks)}; {marks.count('bad')} bad"


def compare(packs: Mapping[str, Cases]) -> list[Common]:
    """The cases that all packs walked, level ground apart from the other terrains; kinds without any are left out."""
    first = next(iter(packs.values()))
    titles = [title for title in first if all(title in cases for cases in packs.values())]
    kinds = (("Level ground", [title for title in titles if _ground(title) == "flat"]),
             ("Other terrains", [title for title in titles if _ground(title) != "flat"]))  # fmt: skip
    return [Common(kind, {name: [cases[title] for title in chosen] for name, cases in packs.items()})
            for kind, chosen in kinds if chosen]  # fmt: skip


def _ground(title: str) -> str:
    """The terrain in a title of `bench_courses`: course, terrain, speed."""
    return title.split()[1]


def read(path: Path) -> Cases:
    """The reports in a file of `bench_courses`, by their titles.

    Raises:
        GaitsmithError: there is none, or it is something else.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["reports"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GaitsmithError(f"{path} holds no reports ({error})", "Write it by bench_courses --json") from error
    reports = [QualityReport.from_json(row) for row in rows]
    return {report.title: report for report in reports}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_compare", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--names", help="of the packs, with commas; the files' names without")
    options = parser.parse_args(arguments)
    names = options.names.split(",") if options.names else [path.stem for path in options.files]
    if len(set(names)) != len(options.files):
        parser.error("give every file a name of its own")
    try:
        packs = {name: read(path) for name, path in zip(names, options.files, strict=True)}
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    found = compare(packs)
    print("\n\n".join(common.table() for common in found) or "No case was walked by all")
    for name, cases in packs.items():
        alone = len(cases) - sum(len(common.packs[name]) for common in found)
        if alone:
            print(f"\n{name} walked {alone} cases more, which are left out.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
