"""Let a pack jump over ditches of many widths, from many speeds, and print where its feet came down.

``OMP_NUM_THREADS=1 python -m tools.bench_gaps [--pack PACK]``; returns how many ditches had a foot in them that are no
wider than the pack says it jumps.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.gait_labels import jumps
from blender_addon.motion.metrics_feet import ball_positions
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import HeightField
from blender_addon.motion.way_ahead import way_ahead
from blender_addon.systems.packs import load_system, read_pack
from blender_addon.systems.synthesis import synthesise

PACK = Path(__file__).resolve().parent.parent / "blender_addon" / "packs" / "biped-pfnn"
#: Widths and beginnings of the ditches, metres; speeds before and after, m/s; depth and length of the way, metres.
WIDTHS, PLACES, SPEEDS = (0.5, 0.8, 1.0, 1.2, 1.5), (4.0, 4.37), (0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5)
DEPTH, WAY = 1.0, 10.0


def jumped(
    system: Any, speeds: tuple[float, float], speed: float, first: float, width: float
) -> tuple[int, int | None]:
    """Frames in which a foot stands in the ditch, and how late it took off, frames; None where it only strode."""
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -WAY]]), False)
    ground = HeightField.from_function(
        lambda xy: np.where((-xy[..., 1] > first) & (-xy[..., 1] < first + width), -DEPTH, 0.0),
        (-1.5, -WAY - 1.0, 1.5, 1.0),
    )
    asked = Schedule([Mark(0.0, speed), Mark(first, action="jump")])
    ahead = way_ahead(path, ground, asked, system.actions, system.abilities, 1.0)
    plan = make_plan(path, ahead.schedule, fps=system.fps, speeds=speeds, leap=ahead.leap)
    clip = synthesise(system, [plan], [ahead.ground])[0].clip
    balls = -ball_positions(clip)[..., 1]
    inside = clip.contacts & (balls > first) & (balls < first + width)
    late = [begin - round(plan.leaps[0] * system.fps) for begin, _ in jumps(clip)]
    return int(inside.any(axis=1).sum()), min(late, key=abs, default=None)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_gaps", description=__doc__)
    parser.add_argument("--pack", type=Path, default=PACK)
    options = parser.parse_args()
    try:
        system: Any = load_system(options.pack)
        speeds = read_pack(options.pack).speeds
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    leap = system.abilities.leap
    if leap is None:
        print("This pack does not jump.")
        return 2
    print(f"jumps {leap.nearest:.2f} to {leap.furthest:.2f} m from foot to foot, as the pack says")
    clear, failed, late, cases = 0, 0, [], 0
    for width in WIDTHS:
        for speed in SPEEDS:
            for first in PLACES:
                frames, after = jumped(system, speeds, speed, first, width)
                cases += 1
                clear += frames == 0
                failed += frames > 0 and width <= leap.furthest
                late += [after] if after is not None else []
                if frames:
                    print(f"{width:.2f} m at {first:.2f} m from {speed:.1f} m/s: a foot in it for {frames} frames")
    print(f"no foot in {clear} of {cases} ditches; {len(late)} flights of 0.3 s or more, "
          f"take-off {min(late):+d} to {max(late):+d} frames from the plan's")  # fmt: skip
    return failed


if __name__ == "__main__":
    sys.exit(main())
