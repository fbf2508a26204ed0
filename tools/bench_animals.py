"""Run the gait model, or a pack for four legs, over courses, gaits and terrains and print the figures of quality.

``python -m tools.bench_animals [--pack PACK] [--skeleton JSON] [--onto JSON] [--courses circle,star] [--grounds flat]
[--gaits walk,trot] [--json OUT]``

Speeds are given for withers at 0.6 m and grow as those of animals do, with the root of the height. Courses grow where
a gait needs room for its speed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion import courses
from blender_addon.motion import metrics as measure
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.figures import Figure, QualityReport
from blender_addon.motion.likeness import Likeness
from blender_addon.motion.metrics_reference import Reference, SpeedTable
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Limits, Plan, make_plan
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.report import Asked, judge
from blender_addon.motion.report_limits import Limits as Wanted
from blender_addon.motion.retarget import retarget
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.skeleton import Skeleton
from blender_addon.motion.terrain import FlatGround, Terrain
from blender_addon.systems.protocol import Performer, System
from blender_addon.systems.synthesis import Synthesis, synthesise
from tools.bench_courses import marked_table
from tools.bench_summary import summary

ROOT = Path(__file__).resolve().parent.parent
FOX = ROOT / "blender_addon" / "animals" / "fox.json"
#: Gait and speed, m/s, for withers at 0.6 m.
SPEEDS: tuple[tuple[str, float], ...] = (
    ("walk", 0.4), ("walk", 0.8), ("walk", 1.3), ("pace", 1.6), ("trot", 1.6), ("trot", 2.6), ("canter", 3.4),
    ("gallop", 4.5), ("gallop", 6.0), ("auto", 1.0), ("auto", 2.2), ("auto", 4.5),
)  # fmt: skip
COURSES = ("straight", "circle", "s", "right_angle", "hairpin", "square", "star", "eight", "spiral")
#: On terrains other than flat the straight is gone, in these.
TERRAIN_SPEEDS: tuple[tuple[str, float], ...] = (("walk", 0.8), ("trot", 1.6), ("gallop", 4.0))
#: Nobody gallops over these.
STEEP = ("stairs", "kerb")
#: What a four-legged body can do, m/s2.
LIMITS = Limits(acceleration=2.5, deceleration=2.5, lateral=4.0)
#: The size of a course for a speed: its bends are run at no more than half of what the limits allow.
_ROOM = 6.0
COLUMNS = (
    ("path_hips_mean", "path"), ("path_hips_max", "max cm"), ("speed_steady", "speed"), ("slide_max", "slide"),
    ("skate_contact", "skate c"), ("skate_before", "skate b"), ("lock_offset", "lock"), ("pelvis_drop", "drop"),
    ("penetration_p95", "pen95"), ("float_p95", "flt95"), ("hinges_walk", "h walk"), ("hinges_trot", "h trot"),
    ("hinges_gallop", "h gallop"), ("gait_wrong", "wrong%"), ("gait_lag", "lag"), ("gait_duty", "duty"),
    ("pitch_walk", "p walk"), ("pitch_pace", "p pace"), ("pitch_trot", "p trot"), ("pitch_canter", "p canter"),
    ("pitch_gallop", "p gall"), ("liveliness", "lively"), ("all_down", "all 4"), ("response", "resp"),
    ("rest", "rest"),
)  # fmt: skip


@dataclass(frozen=True)
class Runner:
    """A system that moves four legs, and what it is compared with.

    Attributes:
        system: what moves.
        speeds: lowest and highest speed it covers, m/s.
        reference: what it learned from; None without.
        onto: another skeleton that the motion is put onto; None for the system's own.
    """

    system: System | Performer
    speeds: tuple[float, float]
    reference: Reference | None = None
    onto: Skeleton | None = None

    @property
    def skeleton(self) -> Skeleton:
        """Whose feet are judged."""
        return self.onto or self.system.skeleton

    @property
    def covered(self) -> tuple[float, float]:
        """Lowest and highest speed of whose feet are judged, m/s."""
        factor = Likeness.of(self.system.skeleton, self.skeleton).speed
        return self.speeds[0] / factor, self.speeds[1] / factor

    def run(self, course: courses.Course, ground: str, gait: str, speed: float) -> QualityReport:
        """Move along a course and judge it; speed in m/s."""
        terrain: Terrain = courses.ground(ground).field(course)
        path = RootPath.from_points(course.points, course.cyclic)
        schedule = Schedule(marks=(Mark(0.0, speed, gait),))
        plan = make_plan(path, schedule, limits=LIMITS, fps=self.system.fps, speeds=self.covered)
        made, clip, planted = self._moved(plan, terrain)
        report = judge(
            clip, plan, terrain, self.reference, planted, curve=course.points, cyclic=course.cyclic,
            asked=Asked(title=f"{course.name} {ground} {gait} {speed:.2g}"),
        )  # fmt: skip
        return replace(report, figures=(*report.figures, *self._before(made)))

    def _moved(self, plan: Plan, terrain: Terrain) -> tuple[Synthesis, Any, Any]:
        if self.onto is None:
            made = synthesise(self.system, [plan], [terrain])[0]
            return made, made.clip, made.planted
        like = Likeness.of(self.system.skeleton, self.onto)
        made = synthesise(self.system, [like.plan(plan)])[0]
        planted = plant_feet(retarget(like.clip(made.followed, len(plan)), self.onto), terrain)
        return made, planted.clip, planted

    def _before(self, made: Synthesis) -> list[Figure]:
        """Foot skate of all frames before planting, against what was learned from."""
        clip = made.followed
        skate = measure.mean_skate(measure.foot_skate(clip, FlatGround()), clip, False)
        most = None
        if self.reference is not None:
            most = self.reference.capture.at(measure.hips_speed(clip)).skate + Wanted.of(clip.skeleton).skate_over
        return [Figure.of("skate_before", "Foot skate before planting, all frames", skate, "cm/frame", most)]


def load_runner(pack: Path | None, skeleton: Path = FOX, onto: Path | None = None) -> Runner:
    """A trained pack, or the gait model on a skeleton."""
    target = _skeleton(onto) if onto is not None else None
    if pack is not None:
        from blender_addon.systems.packs import load_system, read_pack

        info = read_pack(pack).info
        table = SpeedTable.from_json(info.reference) if info.reference else None
        return Runner(load_system(pack), info.speeds, Reference(table) if table else None, target)
    from blender_addon.systems.gait_player import GaitModel

    body = _skeleton(skeleton)
    size = float(np.sqrt(measure.size(body)))
    return Runner(GaitModel(body), (0.2 * size, 8.0 * size), None, target)


def cases(
    runner: Runner, names: Sequence[str], grounds: Sequence[str], gaits: Sequence[str]
) -> Iterator[tuple[courses.Course, str, str, float]]:
    """All combinations to run: every course on the flat, the straight on the other terrains."""
    large = measure.size(runner.skeleton)
    size = float(np.sqrt(large))
    for name in names:
        for gait, speed in SPEEDS:
            if "flat" in grounds and gait in gaits and _covered(runner, gait, speed * size):
                yield _roomy(courses.course(name), speed, large), "flat", gait, speed * size
    for ground in grounds:
        for gait, speed in TERRAIN_SPEEDS:
            skipped = ground == "flat" or (ground in STEEP and gait == "gallop")
            if not skipped and "straight" in names and gait in gaits and _covered(runner, gait, speed * size):
                yield _roomy(courses.straight(), speed, large), ground, gait, speed * size


def share_right(reports: Sequence[QualityReport]) -> str:
    """How many strides of all cases together are in the gait asked, in words."""
    held = [(report["gait_strides"].value, report["gait_wrong"].value) for report in reports
            if report.get("gait_strides") is not None]  # fmt: skip
    strides = sum(count for count, _ in held)
    wrong = sum(count * share / 100.0 for count, share in held)
    percent = 100.0 * (1.0 - wrong / max(strides, 1.0))
    return f"{strides - wrong:.0f} of {strides:.0f} strides in the gait asked ({percent:.1f}%)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_animals", description=__doc__)
    parser.add_argument("--pack", type=Path, help="the trained pack; the gait model without one")
    parser.add_argument("--skeleton", type=Path, default=FOX, help="whom the gait model moves")
    parser.add_argument("--onto", type=Path, help="a skeleton that the motion is put onto")
    parser.add_argument("--courses", default=",".join(COURSES))
    parser.add_argument("--grounds", default=",".join(ground.name for ground in courses.all_grounds()))
    parser.add_argument("--gaits", default=",".join(dict.fromkeys(gait for gait, _ in SPEEDS)))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    reports: list[QualityReport] = []
    failures: list[str] = []
    try:
        runner = load_runner(options.pack, options.skeleton, options.onto)
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    chosen = (text.split(",") for text in (options.courses, options.grounds, options.gaits))
    for course, ground, gait, speed in cases(runner, *chosen):
        try:
            reports.append(runner.run(course, ground, gait, speed))
        except GaitsmithError as error:
            failures.append(f"{course.name} {ground} {gait} {speed:.2g}: {error}")
    print(marked_table(reports, COLUMNS))
    print()
    print(summary(reports))
    print()
    print(share_right(reports))
    print("\n".join(failures))
    if options.json:
        found = {"reports": [report.to_json() for report in reports], "failures": failures}
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 1 if failures else 0


def _covered(runner: Runner, gait: str, speed: float) -> bool:
    known = runner.system.actions
    return runner.covered[0] <= speed <= runner.covered[1] and (gait == "auto" or not known or gait in known)


def _roomy(course: courses.Course, speed: float, large: float) -> courses.Course:
    """The course as large as the animal, and larger where its bends would be too narrow for the speed (at 0.6 m)."""
    return replace(course, points=course.points * large * max(1.0, speed**2 / _ROOM))


def _skeleton(path: Path) -> Skeleton:
    return Skeleton.from_json(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
