"""Run a pack, or motion matching on a data set, over all courses and terrains and print the figures of quality.

``python -m tools.bench_courses [--pack PACK] [--database DATASET] [--courses s,star] [--grounds flat] [--json OUT]``
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blender_addon.motion import courses
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.figures import MARKS
from blender_addon.motion.report import Asked, QualityReport, judge
from tools.bench_summary import summary
from tools.walkers import Walker, load_walker

#: Speeds at which the terrains other than flat are walked (on the straight and the S), m/s.
TERRAIN_SPEEDS = (0.5, 0.8, 1.2)
TERRAIN_COURSES = ("straight", "s")
#: The columns of the table: key of the figure, heading.
COLUMNS = (
    ("path_hips_mean", "path"), ("path_hips_max", "max cm"), ("speed_steady", "speed"), ("speed_corner", "corner"),
    ("slide_max", "slide"), ("skate_contact", "skate c"), ("skate_all", "skate a"), ("skate_ratio", "ratio%"),
    ("foot_yaw_p90", "yaw90"), ("foot_yaw_max", "yawmax"), ("lock_offset", "lock"), ("double_support", "both"),
    ("pelvis_drop", "drop"), ("pop_p99", "pop99"), ("pop_max", "popmax"), ("jitter", "jitter"),
    ("liveliness", "lively"), ("sway", "sway"), ("penetration_p95", "pen95"), ("float_p95", "flt95"),
    ("response", "resp"), ("rest", "rest"),
)  # fmt: skip


def cases(top: float, names: Sequence[str], grounds: Sequence[str]) -> Iterator[tuple[courses.Course, str, float]]:
    """All combinations to run: every course and speed on the flat, a few on the other terrains."""
    for course in courses.all_courses():
        if course.name not in names:
            continue
        for speed in courses.speeds_up_to(top):
            if "flat" in grounds:
                yield course, "flat", speed
        if course.name in TERRAIN_COURSES:
            for ground in grounds:
                for speed in TERRAIN_SPEEDS:
                    if ground != "flat" and speed <= top:
                        yield course, ground, speed


def run(walker: Walker, course: courses.Course, ground_name: str, speed: float) -> QualityReport:
    """Synthesise and judge one case."""
    terrain = courses.ground(ground_name).field(course)
    made = walker.synthesise(course.points, course.cyclic, speed, terrain)
    title = f"{course.name} {ground_name} {speed:.2f}"
    return judge(
        made.clip, made.plan, terrain, made.reference, made.planted,
        curve=course.points, cyclic=course.cyclic, asked=Asked(title=title),
    )  # fmt: skip


def table(reports: Sequence[QualityReport]) -> str:
    """`marked_table` with the columns of this bench."""
    return marked_table(reports, COLUMNS)


def marked_table(reports: Sequence[QualityReport], columns: Sequence[tuple[str, str]]) -> str:
    """One line a case; ``!`` is bad, ``?`` worth a look. The last line counts what is within its limit.

    Args:
        reports: the cases.
        columns: key of the figure, heading.
    """
    signs = {"bad": "!", "look": "?"}
    lines = [f"{'case':<26}" + "".join(f"{heading:>9}" for _, heading in columns)]
    for report in reports:
        cells = []
        for key, _ in columns:
            figure = report.get(key)
            text = "-" if figure is None or not figure.measured else f"{figure.value:.3g}" + signs.get(figure.mark, "")
            cells.append(f"{text:>9}")
        lines.append(f"{report.title:<26}" + "".join(cells))
    counts = {mark: sum(len(report.marked(mark)) for report in reports) for mark in MARKS if mark != "info"}
    lines.append(", ".join(f"{count} {mark}" for mark, count in counts.items()))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_courses", description=__doc__)
    parser.add_argument("--pack", type=Path, help="the trained pack to walk with; motion matching without one")
    parser.add_argument("--database", type=Path, help="data set to match in, or to compare the pack with")
    parser.add_argument("--courses", default=",".join(c.name for c in courses.all_courses()))
    parser.add_argument("--grounds", default=",".join(g.name for g in courses.all_grounds()))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.pack is None and options.database is None:
        parser.error("give a pack, a data set, or both")
    reports: list[QualityReport] = []
    failures: list[dict[str, Any]] = []
    try:
        walker = load_walker(options.pack, options.database)
        for course, ground, speed in cases(walker.top_speed, options.courses.split(","), options.grounds.split(",")):
            try:
                reports.append(run(walker, course, ground, speed))
            except GaitsmithError as error:
                failures.append({"title": f"{course.name} {ground} {speed:.2f}", "error": str(error)})
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(reports))
    print()
    print(summary(reports))
    for failure in failures:
        print(f"{failure['title']}: {failure['error']}")
    if options.json:
        text = json.dumps({"reports": [report.to_json() for report in reports], "failures": failures}, indent=1)
        options.json.write_text(text, encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
