"""The quality report of a synthesised clip: judged against its plan, its terrain and the capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from . import metrics as measure
from .ceiling import Overhead
from .clip import Clip
from .errors import ClipError
from .figures import Figure, QualityReport
from .metrics_basics import Ground
from .metrics_reference import Reference
from .plan import Plan
from .report_animal import gait_figures, hinge_figures
from .report_limits import Limits
from .rotations import Array
from .terrain import FlatGround

__all__ = ["Asked", "Figure", "PlanTrack", "PlantingTrack", "QualityReport", "judge"]


class PlanTrack(Protocol):
    """What judging needs of a plan; see `plan.Plan`."""

    @property
    def fps(self) -> float:
        """Frames per second."""
        ...

    @property
    def positions(self) -> Array:
        """Planned root (f, 2), metres."""
        ...

    @property
    def yaw(self) -> Array:
        """Planned facing (f,), radians."""
        ...

    @property
    def speed(self) -> Array:
        """Planned speed (f,), m/s."""
        ...


class PlantingTrack(Protocol):
    """What judging needs of planting; see `planting.Planted`."""

    @property
    def lock_offset(self) -> Array:
        """How far planting moved each foot (f, feet), metres."""
        ...

    @property
    def pelvis_drop(self) -> Array:
        """How far planting lowered the hips (f,), metres."""
        ...


@dataclass(frozen=True)
class Asked:
    """What the user asked of the result, as far as the limits depend on it.

    Attributes:
        exact: the root bone was to stay on the curve exactly.
        brisk: brisk response was chosen.
        title: what is judged, for the report's head.
    """

    exact: bool = False
    brisk: bool = False
    title: str = ""


@dataclass(frozen=True)
class _Case:
    clip: Clip
    ground: Ground
    asked: Asked
    curve: Array
    cyclic: bool
    corners: Array
    positions: Array
    yaw: Array
    speed: Array
    wanted: Limits
    bridged: Ground


def judge(
    clip: Clip, plan: PlanTrack, terrain: Ground | None = None, reference: Reference | None = None,
    planted: PlantingTrack | None = None, *, curve: Array | None = None, cyclic: bool = False,
    asked: Asked | None = None, overhead: Overhead | None = None, bridged: Ground | None = None,
) -> QualityReport:  # fmt: skip
    """Measure every figure of quality that applies to a finished clip, on two legs or on four.

    Args:
        clip: the finished motion, with the contacts it was planted by.
        plan: its plan from the same moment on; sampled at the clip's frames when the rates differ.
        terrain: the ground; level at 0 when None.
        reference: the capture; without it the ratios and the limits taken from it are left out.
        planted: what planting did; without it its two figures are left out.
        curve: the curve as drawn (n, 2 or 3), metres; the plan's own track when None.
        cyclic: whether the curve closes on itself.
        asked: what the user asked for.
        overhead: the ceiling over the way of a `Plan`; without it, the room under it is left out.
        bridged: the ground that carries the body, without the gaps it leaps over; ``terrain`` when None. It tells
            how far the hips must be lowered; soles are measured against the terrain as it is.

    Raises:
        ClipError: the clip is shorter than 4 frames.
        RigError: the skeleton lacks a leg.
    """
    if len(clip) < 4:
        raise ClipError("The clip is too short to judge", "Bake at least four frames")
    times = np.arange(len(clip)) / clip.fps * plan.fps
    positions, yaw, speed = (_sampled(track, times) for track in (plan.positions, plan.yaw, plan.speed))
    drawn = positions if curve is None else np.asarray(curve, dtype=np.float64)
    sharp = measure.corners(drawn, cyclic) if curve is not None else np.zeros((0, 2))
    ground = FlatGround() if terrain is None else terrain
    wanted = Limits.of(clip.skeleton)
    carries = ground if bridged is None else bridged
    case = _Case(clip, ground, asked or Asked(), drawn, cyclic, sharp, positions, yaw, speed, wanted, carries)
    figures = [
        *_path_figures(case), *_heading_figures(case), *_speed_figures(case), *_skate_figures(case, reference),
        *_foot_figures(case, planted), *_sole_figures(case), *_smoothness_figures(case, reference),
        *_response_figures(case),
    ]  # fmt: skip
    if clip.skeleton.four_legged:
        figures += hinge_figures(clip)
        figures += gait_figures(clip, plan, times) if isinstance(plan, Plan) else []
    if overhead is not None and isinstance(plan, Plan):
        figures += overhead.figures(clip, plan)
    notes = () if reference is not None else ("Ratios to the capture were left out: the pack has no reference.",)
    return QualityReport(tuple(figures), case.asked.title, clip.fps, len(clip), notes)


def _path_figures(case: _Case) -> list[Figure]:
    root = measure.root_path_error(case.clip, case.curve, case.cyclic) * 100.0
    hips = measure.hips_path_error(case.clip, case.curve, case.cyclic) * 100.0
    off_plan = np.linalg.norm(case.clip.root[:, :2] - case.positions, axis=-1) * 100.0
    cornered = len(case.corners) > 0
    # Exact means on the curve; at a sharp corner the plan itself rounds, so there the hips' limit holds.
    exact = (5.0 if cornered else 0.1) if case.asked.exact else None
    return [
        Figure.of("path_hips_mean", "Path error of the hips, mean", hips.mean(), "cm", case.wanted.path_mean),
        _greatest("path_hips_max", "Path error of the hips, greatest", hips, "cm",
                  case.wanted.path_cornered if cornered else case.wanted.path_smooth),
        Figure.of("path_root_mean", "Path error of the root bone, mean", root.mean(), "cm"),
        _greatest("path_root_max", "Path error of the root bone, greatest", root, "cm", exact),
        _greatest("plan_root_max", "Root bone from its planned place, greatest", off_plan, "cm",
                  0.1 if case.asked.exact else None),
    ]  # fmt: skip


def _heading_figures(case: _Case) -> list[Figure]:
    figures = []
    for key, name, yaw in (
        ("root", "root bone", case.clip.root[:, 2]), ("body", "body", measure.body_facing(case.clip)),
    ):  # fmt: skip
        error = np.degrees(measure.heading_error(yaw, case.yaw))
        figures.append(Figure.of(f"heading_{key}_mean", f"Heading error of the {name}, mean", error.mean(), "deg"))
        figures.append(_greatest(f"heading_{key}_max", f"Heading error of the {name}, greatest", error, "deg"))
    return figures


def _speed_figures(case: _Case) -> list[Figure]:
    middle = measure.pelvis(case.clip) if case.clip.skeleton.four_legged else case.clip.hips
    track = measure.low_pass(middle[:, :2], 1.5, case.clip.fps)
    error = measure.speed_error(track, case.positions, case.clip.fps)
    near = measure.near_corners(case.positions, case.corners)
    steady = measure.steady_frames(case.speed, case.clip.fps) & ~near
    figures = [_greatest("speed_steady", "Speed error, steady", np.where(steady, error, np.nan), "m/s", 0.03)]
    if len(case.corners):
        corner = np.where(near, error, np.nan)
        figures.append(_greatest("speed_corner", "Speed error within 1 m of corners", corner, "m/s", 0.06))
    changing = np.where(steady | near, np.nan, error)
    figures.append(_greatest("speed_changing", "Speed error while the plan changes speed", changing, "m/s"))
    return figures


def _skate_figures(case: _Case, reference: Reference | None) -> list[Figure]:
    clip = case.clip
    skate = measure.foot_skate(clip, case.ground)
    low_fast = measure.low_and_fast(clip, case.ground)
    held = measure.held_contacts(clip)
    most = share = None
    if reference is not None:
        capture = reference.capture.at(measure.hips_speed(clip))
        most = capture.skate + case.wanted.skate_over
        share = 100.0 * (capture.skate_ratio + 0.01)
    slides = measure.slides(clip)
    slide, slide_frame = slides.worst()
    return [
        Figure.of("slide_max", "Slide within a contact, greatest", 1e3 * slide, "mm", case.wanted.slide, slide_frame),
        Figure.of("slide_p95", "Slide within a contact, 95th percentile", 1e3 * slides.percentile(95.0), "mm"),
        Figure.of("skate_contact", "Foot skate, contact frames", measure.mean_skate(skate, clip, True), "cm/frame",
                  case.wanted.skate, _worst(np.where(held, skate, np.nan))),
        Figure.of("skate_all", "Foot skate, all frames", measure.mean_skate(skate, clip, False), "cm/frame", most,
                  _worst(skate)),
        Figure.of("skate_ratio", "Frames with a low and fast toe", 100.0 * low_fast.mean(), "%", share),
    ]  # fmt: skip


def _foot_figures(case: _Case, planted: PlantingTrack | None) -> list[Figure]:
    clip = case.clip
    yaws = measure.foot_yaws(clip)
    yaw, yaw_frame = yaws.worst()
    moving = measure.moving_frames(case.speed, case.yaw, clip.fps)
    both, both_frame = measure.longest_run(np.all(clip.contacts, axis=1) & moving, clip.fps)
    four = clip.skeleton.four_legged
    airborne = 100.0 * np.mean(~np.any(clip.contacts, axis=1))
    figures = [
        Figure.of("airborne", "Frames with no foot in contact", airborne, "%"),
        Figure.of("foot_yaw_p90", "Foot yaw within a contact, 90th percentile", np.degrees(yaws.percentile(90.0)),
                  "deg", 25.0),
        Figure.of("foot_yaw_max", "Foot yaw within a contact, greatest", np.degrees(yaw), "deg", 60.0, yaw_frame),
        Figure.of("all_down" if four else "double_support",
                  "Longest time on all four feet while moving" if four else "Longest double support while moving",
                  both, "s", 1.5, both_frame),
    ]  # fmt: skip
    if planted is not None:
        offset, drop = 100.0 * np.asarray(planted.lock_offset), 100.0 * np.asarray(planted.pelvis_drop)
        figures.append(_greatest("lock_offset", "Feet moved by planting, greatest", offset, "cm",
                                 case.wanted.lock_offset))  # fmt: skip
        figures.append(_greatest("pelvis_drop", "Hips lowered beyond what the ground asks, greatest",
                                 np.maximum(drop - _asked_drop(case), 0.0), "cm", case.wanted.pelvis_drop))  # fmt: skip
        figures.append(_greatest("pelvis_drop_all", "Hips lowered by planting, greatest", drop, "cm"))
    return figures


def _asked_drop(case: _Case) -> Array:
    """How far the ground itself asks the hips to be lowered (f,), cm: the leg on the lower ground must reach it.

    The difference of the ground's height under the two feet of a pair; 0 on level ground, and over a gap in a leap.
    """
    height = case.bridged.height(measure.ball_positions(case.clip)[..., :2])
    pairs = height.reshape(len(height), -1, 2)
    return np.asarray(100.0 * np.ptp(pairs, axis=-1).max(axis=-1))


def _sole_figures(case: _Case) -> list[Figure]:
    figures = []
    heights = measure.sole_heights(case.clip, case.ground)
    lowest = np.where(case.clip.contacts[:, : heights.shape[1]], heights.min(axis=-1), np.nan)
    for key, name, values, wanted in (
        ("penetration", "Sole under the ground in contact", 1e3 * np.maximum(-lowest, 0.0), case.wanted.penetration),
        ("float", "Sole over the ground in contact", 1e3 * np.maximum(lowest, 0.0), case.wanted.floating),
    ):
        figures.append(Figure.of(f"{key}_p95", f"{name}, 95th percentile", _percentile(values, 95.0), "mm", wanted,
                                 _worst(values)))  # fmt: skip
        figures.append(_greatest(f"{key}_max", f"{name}, greatest", values, "mm"))
    return figures


def _smoothness_figures(case: _Case, reference: Reference | None) -> list[Figure]:
    if reference is None:
        return []
    clip = measure.at_measuring_rate(case.clip)
    speed = measure.hips_speed(clip)
    knee, jerk = measure.knee_acceleration(clip), measure.jerk(clip)
    update, aside = measure.angular_update(clip), measure.hips_sway(clip)
    at_speed = reference.capture.at(speed)
    base = at_speed if reference.source is None else reference.source
    wanted_jitter = 1.4 if _planned_cruise(case) < 0.4 else 1.25
    scale = case.clip.fps / clip.fps
    # A step that starts or ends a walk belongs to the faster motion beside it.
    fastest = measure.windowed(np.pad(speed, 30, mode="edge"), 61, np.max)[30:-30]
    pops = knee / np.maximum(reference.capture.knee_p999(fastest), 1.0)[:, None]
    p99 = _percentile(knee, 99.0)
    means = float(np.nanmean(jerk)), float(np.nanmean(update))
    straight = aside[np.isfinite(aside)]
    sway = float(np.sqrt(np.mean(straight**2))) if len(straight) else float("nan")
    figures = [
        Figure.of("pop_p99", "Pops: knee acceleration, 99th percentile, of the source's", _ratio(p99, base.knee_p99),
                  "", 1.25, _scaled(_worst(knee), scale)),
        Figure.of("pop_max", "Pops: greatest knee acceleration, of the capture's 99.9th", float(np.nanmax(pops)), "",
                  1.5, _scaled(_worst(pops), scale)),
        Figure.of("jitter", "Jitter: mean jerk, of the source's", _ratio(means[0], base.jerk), "", wanted_jitter,
                  _scaled(_worst(jerk), scale)),
        Figure.of("liveliness", "Liveliness: joint motion, of the source's", _ratio(means[1], base.update), "",
                  case.wanted.lively[1], low=case.wanted.lively[0]),
        Figure.of("sway", "Sway of the hips, of the source's", _ratio(sway, base.sway)),
    ]  # fmt: skip
    if reference.source is not None:
        figures += [
            Figure.of("pop_p99_capture", "Pops, 99th percentile, of all capture at that speed",
                      _ratio(p99, at_speed.knee_p99)),
            Figure.of("jitter_capture", "Jitter, of all capture at that speed", _ratio(means[0], at_speed.jerk)),
            Figure.of("liveliness_capture", "Liveliness, of all capture at that speed",
                      _ratio(means[1], at_speed.update)),
        ]  # fmt: skip
    return figures


def _response_figures(case: _Case) -> list[Figure]:
    seconds, target, start = measure.start_response(case.clip, case.speed)
    # The limit is one for setting out to walk; a run is as long in coming as its planned ramp.
    wanted = (0.8 if case.asked.brisk else 1.2) if target <= 1.6 else None
    rest, rest_frame = measure.rest_speed(case.clip, case.speed)
    return [
        Figure.of("response", "Response from standing to walking", seconds, "s", wanted, start),
        Figure.of("rest", "Rest: fastest joint after the stop", rest, "m/s", 0.5, rest_frame),
    ]


def _planned_cruise(case: _Case) -> float:
    moving = case.speed[case.speed > 0.05]
    return float(np.median(moving)) if len(moving) else 0.0


def _greatest(key: str, name: str, values: Array, unit: str, wanted: float | None = None) -> Figure:
    return Figure.of(key, name, _percentile(values, 100.0), unit, wanted, _worst(values))


def _percentile(values: Array, q: float) -> float:
    finite = values[np.isfinite(values)]
    return float(np.percentile(finite, q)) if len(finite) else float("nan")


def _worst(values: Array) -> int | None:
    """Frame of the greatest of ``values`` (f, ...), NaN aside."""
    by_frame = np.where(np.isfinite(values), values, -np.inf).reshape(len(values), -1).max(axis=1)
    return int(np.argmax(by_frame)) if np.any(by_frame > -np.inf) else None


def _ratio(value: float, base: float) -> float:
    return value / base if base > 0.0 else float("nan")


def _scaled(frame: int | None, scale: float) -> int | None:
    return None if frame is None else round(frame * scale)


def _sampled(track: Array, at: Array) -> Array:
    """Values of ``track`` (n, ...) at fractional frames (m,), linear, the last one held."""
    track = np.asarray(track, dtype=np.float64)
    at = np.clip(at, 0.0, len(track) - 1)
    low = np.minimum(at.astype(int), max(len(track) - 2, 0))
    high = np.minimum(low + 1, len(track) - 1)
    part = (at - low).reshape(-1, *([1] * (track.ndim - 1)))
    return track[low] * (1.0 - part) + track[high] * part

