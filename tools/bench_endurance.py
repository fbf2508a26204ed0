"""Let a pack walk every course for a minute or more, at every speed, and print what has become of it.

``OMP_NUM_THREADS=1 python -m tools.bench_endurance --pack PACK [--seconds 60] [--grounds flat,noise]``
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blender_addon.motion import courses
from blender_addon.motion.clip import Clip
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.filters import lowpass
from blender_addon.motion.metrics_smoothness import angular_update
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.schedule import Schedule
from blender_addon.motion.terrain import HeightField, Terrain
from blender_addon.systems.packs import load_system, read_pack
from blender_addon.systems.protocol import System
from blender_addon.systems.rollout import rollout

#: The ground counts as a body takes it: slower than this, Hz.
ROOT_HEIGHT_HZ = 1.0
#: Further from its plan than this, metres, or with hips out of these shares of their usual height, a body is lost.
ASTRAY, HEIGHTS = 0.5, (0.75, 1.2)
#: Less movement in the end than this share of that in the beginning is dying out.
LIVELY = 0.6


@dataclass(frozen=True)
class Lasting:
    """What became of one roll-out.

    Attributes:
        title: course, ground and speed. seconds: how long it was.
        mean, end: mean distance of the root from its plan, metres; in the last third. greatest: the greatest.
        lowest, highest: of the hips over the ground, as shares of their median.
        lively: the joints' mean angular update in the last third over that in the first, where the plan moves.
    """

    title: str
    seconds: float
    mean: float
    end: float
    greatest: float
    lowest: float
    highest: float
    lively: float

    @property
    def alive(self) -> bool:
        """Whether it still walks where it shall."""
        upright = HEIGHTS[0] < self.lowest and self.highest < HEIGHTS[1]
        return upright and self.greatest < ASTRAY and self.lively > LIVELY


def plan_of(course: courses.Course, speed: float, speeds: tuple[float, float], seconds: float, fps: float) -> Plan:
    """The course at a speed; closed courses go round, open ones there and back, until the time is over."""
    laps = max(1, math.ceil(seconds * speed / course.length)) if course.cyclic else 1
    points = course.points
    if not course.cyclic:
        turns = max(1, math.ceil(seconds * speed / course.length))
        points = np.concatenate([points, *((points[-2::-1], points[1:])[k % 2] for k in range(turns - 1))])
    path = RootPath.from_points(points, course.cyclic)
    return make_plan(path, Schedule.constant(speed), fps=fps, speeds=speeds, laps=laps)


def lasting(title: str, clip: Clip, plan: Plan, terrain: Terrain, over_ground: bool) -> Lasting:
    """Measure one roll-out; ``over_ground`` if it was made on its terrain."""
    away = np.linalg.norm(clip.root[:, :2] - plan.positions, axis=1)
    # Over stairs a body does not jump with every edge under its root.
    ground = lowpass(np.asarray(terrain.height(clip.root[:, :2])), clip.fps, ROOT_HEIGHT_HZ) if over_ground else 0.0
    heights = clip.hips[:, 2] - ground
    middle = float(np.median(heights))
    update, moving = angular_update(clip)[1:-1], plan.speed[1:-1] > 0.5 * np.max(plan.speed)
    third = len(update) // 3
    first, last = (update[part][moving[part]] for part in (slice(0, third), slice(2 * third, None)))
    return Lasting(
        title, plan.seconds, float(away.mean()), float(away[-len(away) // 3 :].mean()), float(away.max()),
        float(heights.min()) / middle, float(heights.max()) / middle, float(last.mean() / first.mean()),
    )  # fmt: skip


def run(system: System, speeds: tuple[float, float], seconds: float, grounds: Sequence[str]) -> list[Lasting]:
    """All courses at all speeds, on the grounds named, in one roll-out."""
    titles: list[str] = []
    plans: list[Plan] = []
    fields: list[HeightField] = []
    for course in courses.all_courses():
        for name in grounds:
            field = courses.ground(name).field(course)
            for speed in courses.speeds_up_to(speeds[1]):
                titles.append(f"{course.name} {name} {speed:.2f}")
                plans.append(plan_of(course, speed, speeds, seconds, system.fps))
                fields.append(field)
    made = rollout(system, plans, terrains=fields)
    cases = zip(titles, made, plans, fields, strict=True)
    return [lasting(title, each.clip, plan, field, system.on_terrain) for title, each, plan, field in cases]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns how many were lost."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_endurance", description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0, help="at least so long")
    parser.add_argument("--grounds", default="flat", help="names of the terrains, with commas")
    options = parser.parse_args(arguments)
    try:
        system: System = load_system(options.pack)
        found = run(system, read_pack(options.pack).speeds, options.seconds, options.grounds.split(","))
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{'case':<26}{'s':>6}{'mean cm':>9}{'end':>7}{'max':>7}{'hips':>12}{'lively':>8}")
    for one in found:
        mark = "" if one.alive else "  LOST"
        print(f"{one.title:<26}{one.seconds:6.0f}{100 * one.mean:9.1f}{100 * one.end:7.1f}{100 * one.greatest:7.1f}"
              f"{one.lowest:6.2f}-{one.highest:.2f}{one.lively:8.2f}{mark}")  # fmt: skip
    lost = sum(not one.alive for one in found)
    print(f"{len(found) - lost} of {len(found)} still walk where they shall")
    return lost


if __name__ == "__main__":
    sys.exit(main())
