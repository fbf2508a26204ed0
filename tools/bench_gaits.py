"""What the keyed animal clips are by their feet, against the truth that was looked up by hand.

``python -m tools.bench_gaits [--data FOLDER] [--pictures FOLDER]`` prints the table, and draws a gait diagram of each.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blender_addon.motion.gait_analysis.cycles import Cycle
from blender_addon.motion.gait_analysis.diagram import diagram_of_stride
from blender_addon.motion.gait_analysis.raster import draw, write_png
from tools.gait_truths import TRUTHS, Keyed, Truth, read

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, eq=False)
class Row:
    """One clip: what it should be, its points, and what was found."""

    truth: Truth
    keyed: Keyed
    cycle: Cycle

    @property
    def faults(self) -> tuple[str, ...]:
        """What was found otherwise than it is."""
        truth, cycle = self.truth, self.cycle
        problems = {problem.reason for problem in cycle.problems}
        checks = {
            truth.gait: not truth.gait or cycle.gait.name == truth.gait,
            ", ".join(truth.problems): set(truth.problems) <= problems,
            "no problem": bool(truth.problems) or not problems,
            truth.said: any(truth.said in note for note in cycle.notes) or not truth.said,
            f"{truth.beats} beats": not truth.beats or len(cycle.stride.beats) == truth.beats,
            f"next to {truth.near}": not truth.near or cycle.gait.next == truth.near,
            "no net turn": not truth.still or abs(self.keyed.net_turn) < np.radians(5.0),
            "all feet slide": not truth.still or bool(np.all(self.keyed.slides > 0.05)),
        }
        return tuple(what for what, holds in checks.items() if not holds)


def rows(data: Path) -> Iterator[Row]:
    """Every clip of the truth table that the data folder has."""
    for file in dict.fromkeys(truth.file for truth in TRUTHS):
        if not (data / "quadruped" / f"{file}.glb").is_file():
            continue
        clips = dict(read(data, file))
        for truth in TRUTHS:
            if truth.file == file:
                keyed = clips[truth.clip]
                yield Row(truth, keyed, keyed.cycle(f"{file} {truth.clip}"))


def table(found: list[Row]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| clip | by its feet | lags RH, LF, RF | duty LH, RH, LF, RF | stride s | stride / height | m/s | "
        "slide / height | remarks | as known |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in found:
        cycle, stride = row.cycle, row.cycle.stride
        name = cycle.gait.name if row.truth.gait else "no cycle"
        if cycle.gait.name == "no gait" and row.truth.gait:
            name = f"no gait (lags of a {cycle.gait.nearest})"
        remarks = [problem.reason for problem in cycle.problems]
        remarks += ["duty too low"] if any("too short for a walk" in note for note in cycle.notes) else []
        remarks += [f"{cycle.gait.next} is near"] if row.truth.near else []
        if row.truth.still:
            slides = ", ".join(f"{slide:.2f}" for slide in row.keyed.slides)
            remarks.append(f"net turn {np.degrees(row.keyed.net_turn):.1f} degrees, feet slide {slides} heights")
        lines.append(
            f"| {row.truth.file} {row.truth.clip} | {name} | {', '.join(f'{lag:.2f}' for lag in stride.lags[1:])} | "
            f"{', '.join(f'{duty:.2f}' for duty in stride.duty)} | {stride.seconds:.2f} | "
            f"{stride.length / row.keyed.height:.2f} | {stride.speed:.2f} | {cycle.slide:.2f} | "
            f"{'; '.join(remarks) or 'none'} | {'yes' if not row.faults else 'NOT: ' + '; '.join(row.faults)} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a clip is found to be what it is not, or if there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--pictures", type=Path, help="draw a gait diagram of each clip into this folder")
    options = parser.parse_args(arguments)
    found = list(rows(options.data))
    sys.stdout.write(table(found) + "\n")
    wrong = sum(bool(row.faults) for row in found)
    sys.stdout.write(f"\n{len(found)} of {len(TRUTHS)} clips are here, {len(found) - wrong} are found to be what they "
                     "are\n")  # fmt: skip
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for row in found:
            title = f"{row.truth.file} {row.truth.clip}: {row.cycle.gait.name}"
            diagram = diagram_of_stride(row.cycle.stride, title, at=-0.5)
            write_png(options.pictures / f"{row.truth.file}_{row.truth.clip}.png", draw(diagram))
    return int(wrong > 0 or not found)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Blender may hang at exit.
    os._exit(code)
