"""Print hip height and lean of the trunk against the ground's gradient, of packs and of the captured slope takes.

``OMP_NUM_THREADS=1 python -m tools.bench_slopes --pack PACK [--pack ANOTHER] [--dataset DATASET]``; straight ahead, up
and down. The takes' ground is the one their own feet tell. Heights are for legs as long as those of the takes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blender_addon.motion import courses
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import BoolArray, Clip
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.filters import derivative, lowpass
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import Schedule
from blender_addon.systems.packs import load_system, read_pack
from blender_addon.systems.rollout import rollout
from blender_addon.systems.synthesis import synthesise
from training.pfnn.stance_ground import StanceGround

ROOT = Path(__file__).resolve().parent.parent
#: People walk up captured slopes at about 0.5 m/s, down at 0.7: faster ones have nothing to be compared with.
GRADIENTS, SPEEDS = (-15.0, -10.0, -5.0, 0.0, 5.0, 10.0, 15.0), (0.6, 0.8, 1.2)
#: Captured frames count for a gradient and a speed so near them: degrees, m/s; in all at least so many seconds.
NEAR_DEGREES, NEAR_SPEED, LEAST_SECONDS = 2.5, 0.2, 2.0
#: The gradient is that of the ground this far behind to this far ahead, metres ...
REACH = 0.4
#: ... and is to stay the same, within so many degrees, for this long before and after, seconds.
EVEN_DEGREES, EVEN_SECONDS = 3.0, 0.5
#: Who faces further away from the way, degrees, or turns faster, degrees a second, does not walk straight ahead.
ASIDE, TURNING = 30.0, 30.0
#: Steps sway the root: its way is looked at below this frequency, Hz.
WAY_HZ = 0.5
#: What a pack makes is looked at from so long after it reached its speed, seconds, on so long a way, metres.
SETTLED, WAY = 1.5, 16.0


@dataclass(frozen=True)
class Carriage:
    """How a body is carried, frame by frame (f,).

    Attributes:
        gradient: of the ground along its way, degrees, positive uphill. speed: m/s.
        hips: height over the ground under the root, metres. lean: of hips to neck, degrees, positive forward.
        straight: where it walks straight ahead on an even gradient.
    """

    gradient: Array
    speed: Array
    hips: Array
    lean: Array
    straight: BoolArray

    def mean(self, chosen: BoolArray) -> tuple[float, float]:
        """Hip height, metres, and lean, degrees, of the frames chosen; nan without any."""
        if not chosen.any():
            return float("nan"), float("nan")
        return float(self.hips[chosen].mean()), float(self.lean[chosen].mean())


def carriage(clip: Clip, ground: Callable[[Array], Array]) -> Carriage:
    """How the body of a clip is carried over ``ground``, points (..., 2) -> heights (...), metres."""
    place = clip.root[:, :2]
    velocity = derivative(lowpass(place, clip.fps, WAY_HZ), clip.fps)
    speed = np.linalg.norm(velocity, axis=1)
    way = velocity / np.maximum(speed, 1e-6)[:, None]
    rise = ground(place + REACH * way) - ground(place - REACH * way)
    gradient = np.degrees(np.arctan(rise / (2.0 * REACH)))
    top = clip.world[0][:, clip.skeleton.index("neck" if clip.skeleton.has("neck") else "head")] - clip.hips
    lean = np.degrees(np.arctan2(np.sum(top[:, :2] * way, axis=1), top[:, 2]))
    facing = lowpass(clip.root[:, 2], clip.fps, WAY_HZ)
    ahead = np.sum(rot.direction_of_yaw(facing) * way, axis=1)
    straight = (ahead > np.cos(np.radians(ASIDE))) & (np.abs(derivative(facing, clip.fps)) < np.radians(TURNING))
    return Carriage(gradient, speed, clip.hips[:, 2] - ground(place), lean, straight & _even(gradient, clip.fps))


def _even(gradient: Array, fps: float) -> BoolArray:
    """Frames (f,) around which the gradient stays the same; none near the ends, beyond which nothing is known."""
    half = round(EVEN_SECONDS * fps)
    found = np.zeros(len(gradient), dtype=np.bool_)
    if len(gradient) > 2 * half:
        windows = np.lib.stride_tricks.sliding_window_view(gradient, 2 * half + 1)
        found[half : len(gradient) - half] = np.ptp(windows, axis=1) < EVEN_DEGREES
    return found


@dataclass(frozen=True)
class Cell:
    """One gradient at one speed: seconds looked at, hip height (metres), lean (degrees)."""

    seconds: float
    hips: float
    lean: float

    def against(self, other: Cell) -> str:
        """For reading: hips and lean, and in brackets by how much they differ from another's."""
        return (f"{_told(100 * self.hips, 100 * (self.hips - other.hips)):>14}"
                f"{_told(self.lean, self.lean - other.lean):>14}")  # fmt: skip


#: Of every (gradient, speed).
Cells = dict[tuple[float, float], Cell]


def captured(dataset: Dataset) -> Cells:
    """The slope takes of a data set by gradient and speed; without those of which there is too little."""
    pairs = zip(dataset.clips, dataset.tags, strict=True)
    found = [carriage(clip, StanceGround.of(clip)) for clip, tags in pairs if "slope" in tags]
    cells: Cells = {}
    for gradient, speed in ((gradient, speed) for gradient in GRADIENTS for speed in SPEEDS):
        near = [one.straight & (np.abs(one.gradient - gradient) < NEAR_DEGREES)
                & (np.abs(one.speed - speed) < NEAR_SPEED) for one in found]  # fmt: skip
        frames = sum(int(chosen.sum()) for chosen in near)
        if frames >= LEAST_SECONDS * dataset.fps:
            hips, lean = (np.concatenate([getattr(one, name)[chosen] for one, chosen in zip(found, near, strict=True)])
                          for name in ("hips", "lean"))  # fmt: skip
            cells[gradient, speed] = Cell(frames / dataset.fps, float(hips.mean()), float(lean.mean()))
    return cells


def walked(pack: Path, leg: float | None = None) -> tuple[Cells, Cells]:
    """The roll-outs and the finished motion of a pack; those made for level ground are measured over it.

    Args:
        pack: its place. leg: heights are told for legs of this length, metres; None for its own.
    """
    system, speeds = load_system(pack), read_pack(pack).speeds
    scale = 1.0 if leg is None else leg / system.skeleton.leg_length
    course = courses.straight(WAY)
    cases = [(gradient, speed) for gradient in GRADIENTS for speed in SPEEDS if speeds[0] <= speed <= speeds[1]]
    path = RootPath.from_points(course.points, course.cyclic)
    plans = [make_plan(path, Schedule.constant(speed), fps=system.fps, speeds=speeds) for _, speed in cases]
    fields = [courses.Ground("slope", courses.slope(gradient), 0.25).field(course) for gradient, _ in cases]
    raw, made = rollout(system, plans, terrains=fields), synthesise(system, plans, fields)
    first: Cells = {}
    finished: Cells = {}
    for case, plan, field, rolled, result in zip(cases, plans, fields, raw, made, strict=True):
        first[case] = _steady(rolled.clip, plan, field.height if system.on_terrain else courses.flat, scale)
        finished[case] = _steady(result.clip, plan, field.height, scale)
    return first, finished


def _steady(clip: Clip, plan: Plan, ground: Callable[[Array], Array], scale: float) -> Cell:
    """The part of a clip in which its plan asks for full speed and has done so for a while."""
    full = plan.speed > 0.98 * plan.speed.max()
    chosen = full & (np.cumsum(full) > SETTLED * plan.fps)
    hips, lean = carriage(clip, ground).mean(chosen)
    return Cell(float(chosen.sum()) / plan.fps, scale * hips, lean)


def table(speed: float, takes: Cells, packs: dict[str, tuple[Cells, Cells]]) -> str:
    """One line a gradient: seconds, hips and lean of the takes, then of each pack's roll-out and finished motion.

    In brackets the differences from the takes.
    """
    nothing = Cell(0.0, float("nan"), float("nan"))
    stages = [f"{name}, {stage}" for name in packs for stage in ("roll-out", "finished")]
    lines = [f"{speed:g} m/s{'captured':>20}" + "".join(f"{stage:>30}" for stage in stages),
             "degrees      s  hips cm  lean" + f"{'hips cm':>16}{'lean':>14}" * len(stages)]  # fmt: skip
    for gradient in GRADIENTS:
        take = takes.get((gradient, speed), nothing)
        line = f"{gradient:+7.0f}{take.seconds:7.1f}{_told(100 * take.hips):>9}{_told(take.lean):>6}"
        for cells in (cells for pair in packs.values() for cells in pair):
            line += "  " + cells.get((gradient, speed), nothing).against(take)
        lines.append(line)
    return "\n".join(lines)


def _told(value: float, difference: float = float("nan")) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:.1f}" if np.isnan(difference) else f"{value:.1f} ({difference:+.1f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_slopes", description=__doc__)
    parser.add_argument("--pack", type=Path, action="append", required=True, help="may be given more than once")
    parser.add_argument("--dataset", type=Path, default=ROOT / "build" / "pfnn-dataset", help="with takes tagged slope")
    options = parser.parse_args(arguments)
    try:
        takes: Cells = {}
        leg = None
        if (options.dataset / "dataset.json").exists():
            dataset = Dataset.load(options.dataset)
            takes, leg = captured(dataset), dataset.skeleton.leg_length
        else:
            print(f"No data set at {options.dataset}: nothing to compare with", file=sys.stderr)
        packs = {pack.name: walked(pack, leg) for pack in options.pack}
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    for speed in SPEEDS:
        print(table(speed, takes, packs), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
