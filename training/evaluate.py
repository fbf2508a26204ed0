"""Measures of a pack: does it drift or freeze, how well does it reconstruct, how well does it walk courses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon.motion import courses
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.metrics_reference import Reference, SpeedTable
from blender_addon.motion.metrics_smoothness import angular_update
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.report import Asked, QualityReport, judge
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import Schedule
from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.learned_motion_matching import LearnedMotionMatching
from blender_addon.systems.mann import Mann
from blender_addon.systems.packs import Pack, load_system, read_pack
from blender_addon.systems.pfnn import Pfnn
from blender_addon.systems.protocol import Chunk, System, Wish
from blender_addon.systems.rollout import Rollout, rollout
from blender_addon.systems.synthesis import synthesise

#: Courses walked by `evaluate`; all of them are walked by tools/bench_courses.py.
_COURSES = ("straight", "s", "right_angle")
_STARTS, _SECONDS = 100, 10.0
#: Nobody is asked to turn quicker than this, m/s2.
_LATERAL = 3.0


@dataclass(frozen=True)
class Endurance:
    """What became of roll-outs from random starts.

    Attributes:
        count: how many. drifted: hips left the heights people walk at, or the root strayed a metre from
            its plan. frozen: at some time the joints all but stood while the plan moved.
        distance_end_m: mean distance from the plan at the end. liveliness_end: joints' mean angular
            update in the last 2 s over that in the first 2 s.
    """

    count: int
    drifted: int
    frozen: int
    distance_end_m: float
    liveliness_end: float


def evaluate(path: Path, dataset: Path | None = None) -> dict[str, Any]:
    """Everything that can be measured of the pack at ``path``, as plain values.

    Args:
        path: the pack. dataset: adds the reconstruction of held-out takes, for which the compressor must
            still lie beside the pack (training leaves it there).
    """
    pack = read_pack(path)
    system = load_system(path)
    takes = Dataset.load(dataset) if dataset is not None else None
    found: dict[str, Any] = {"bytes": sum(len(data) for data in pack.files.values())}
    if isinstance(system, LearnedMotionMatching | Mann | Pfnn):
        found |= {f"rollout_{name}": value for name, value in vars(endurance(system, pack.speeds)).items()}
    if takes is not None and pack.info.system == "lmm":
        found |= _reconstruction(path, takes, pack)
    for report in walk_courses(system, pack):
        found[report.title] = {figure.key: round(figure.value, 4) for figure in report.figures if figure.measured}
    return found


class _Anywhere:
    """A system that begins in the middle of some movement."""

    def __init__(self, system: LearnedMotionMatching, seed: int) -> None:
        self._system, self._seed = system, seed
        self.skeleton: Skeleton = system.skeleton
        self.fps, self.horizon, self.stride = system.fps, system.horizon, system.stride
        self.actions = system.actions
        self.noise_hz = system.noise_hz
        self.on_terrain, self.abilities = system.on_terrain, system.abilities

    def start(self, wish: Wish) -> object:
        return self._system.start_anywhere(len(wish.speed), self._seed)

    def step(self, state: Any, wish: Wish) -> tuple[object, Chunk]:
        return self._system.step(state, wish)


def endurance(
    system: LearnedMotionMatching | Mann | Pfnn, speeds: tuple[float, float], count: int = _STARTS,
    seconds: float = _SECONDS,
) -> Endurance:  # fmt: skip
    """Roll out from random starts along random arcs at random speeds the pack covers.

    Experts and phases, which have no projector to bring them there at once, start from the state nearest to the arc.
    """
    random = np.random.default_rng(2)
    moving = "auto" if system.skeleton.four_legged else "walk"
    plans = []
    for _ in range(count):
        speed = random.uniform(*speeds)
        turning = random.uniform(-0.6, 0.6) * min(1.0, _LATERAL / (0.6 * speed))
        plans.append(_arc(system.fps, seconds, speed, turning, moving))
    begun: Any = system if isinstance(system, Mann | Pfnn) else _Anywhere(system, 3)
    made = rollout(begun, plans)
    tall = float(np.median([result.clip.hips[:, 2].mean() for result in made]))
    updates = np.stack([angular_update(result.clip)[1:] for result in made])
    window = round(system.fps)
    calmest = np.array([np.convolve(row, np.full(window, 1.0 / window), mode="valid").min() for row in updates])
    pairs = zip(made, plans, strict=True)
    away = np.stack([np.linalg.norm(result.clip.root[:, :2] - plan.positions, axis=-1) for result, plan in pairs])
    drifted = [_off_height(result, tall) or away[i, window:].max() > 1.0 for i, result in enumerate(made)]
    lively = float(updates[:, -2 * window :].mean() / updates[:, : 2 * window].mean())
    return Endurance(
        count=count,
        drifted=int(np.sum(drifted)),
        frozen=int(np.sum(calmest < 0.15 * np.median(updates))),
        distance_end_m=round(float(away[:, -1].mean()), 4),
        liveliness_end=round(lively, 3),
    )


def walk_courses(system: System, pack: Pack) -> list[QualityReport]:
    """Quality of a few courses on level ground at 0.5 and 1.2 m/s."""
    reference = None
    if pack.info.reference:
        try:
            reference = Reference(SpeedTable.from_json(pack.info.reference))
        except DatasetError:
            reference = None
    reports = []
    for name in _COURSES:
        course = courses.course(name)
        for speed in (0.5, 1.2):
            if not pack.speeds[0] <= speed <= pack.speeds[1]:
                continue  # a pack of runs only does not walk at 0.5 m/s
            path = RootPath.from_points(course.points, course.cyclic)
            plan = make_plan(path, Schedule.constant(speed), fps=system.fps, speeds=pack.speeds)
            made = synthesise(system, [plan])[0]
            reports.append(
                judge(
                    made.clip, plan, None, reference, made.planted, curve=course.points, cyclic=course.cyclic,
                    asked=Asked(title=f"{name} {speed:g} m/s"),
                )
            )  # fmt: skip
    return reports


def _off_height(result: Rollout, tall: float) -> bool:
    heights = result.clip.hips[:, 2]
    return bool(heights.min() < 0.8 * tall or heights.max() > 1.15 * tall)


def _arc(fps: float, seconds: float, speed: float, turning: float, moving: str = "walk") -> Plan:
    """A plan along a circle, without ramps: hard on the system, and simple."""
    frames = round(seconds * fps)
    yaw = turning * np.arange(frames) / fps
    step = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1) * speed / fps
    positions: Array = np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
    return Plan(
        fps=fps, positions=positions, yaw=yaw, speed=np.full(frames, speed), distance=np.arange(frames) * speed / fps,
        actions=("stand", moving), action=np.ones(frames, np.int64), turning=np.zeros(frames, np.bool_),
    )  # fmt: skip


def _reconstruction(path: Path, dataset: Dataset, pack: Pack) -> dict[str, Any]:
    """Held-out error with the compressor that training left beside the pack, and the pack's own decompressor."""
    from .lmm.reconstruction import held_out_errors

    errors = held_out_errors(path, dataset, pack)
    if errors is None:
        return {}
    return {
        "held_out_joint_error_cm_mean": round(100.0 * float(errors.mean()), 4),
        "held_out_joint_error_cm_p95": round(100.0 * float(np.quantile(errors, 0.95)), 4),
    }
