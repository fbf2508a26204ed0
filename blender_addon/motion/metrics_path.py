"""Measures against the plan and its curve: path, heading, speed, response; positions in metres, angles in radians."""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .animal import girdles
from .clip import BoolArray, Clip
from .metrics_basics import hips_speed, intervals, low_pass, pelvis, windowed
from .rotations import Array

#: Low-pass of the hips before they are held against the curve, Hz.
HIPS_CUTOFF_HZ = 1.5
#: Low-pass of the body's facing, Hz: below the steps, above the turns.
FACING_CUTOFF_HZ = 0.7
#: Planned speeds and turns below these count as standing still, m/s and rad/s.
MOVING_SPEED = 0.1
TURNING_RATE = 0.2
#: Reach of a corner's influence, metres.
CORNER_REACH = 1.0


def distance_to_polyline(xy: Array, points: Array, cyclic: bool = False) -> Array:
    """Horizontal distance (m,) from points ``xy`` (m, 2) to the polyline ``points`` (n, 2 or 3), metres."""
    vertices = _without_collinear(np.asarray(points, dtype=np.float64)[:, :2], cyclic)
    if len(vertices) == 1:
        return np.asarray(np.linalg.norm(xy - vertices[0], axis=-1), dtype=np.float64)
    start, along = vertices[:-1], np.diff(vertices, axis=0)
    squared = np.maximum(np.sum(along * along, axis=-1), 1e-18)
    out = np.empty(len(xy))
    chunk = max(1, 400_000 // len(along))
    for first in range(0, len(xy), chunk):
        x = xy[first : first + chunk, None, 0] - start[:, 0]
        y = xy[first : first + chunk, None, 1] - start[:, 1]
        t = np.clip((x * along[:, 0] + y * along[:, 1]) / squared, 0.0, 1.0)
        x -= t * along[:, 0]
        y -= t * along[:, 1]
        out[first : first + chunk] = np.min(x * x + y * y, axis=-1)
    return np.sqrt(out)


def root_path_error(clip: Clip, curve: Array, cyclic: bool = False) -> Array:
    """Path error of the root bone (f,): its horizontal distance to the curve (n, 2 or 3), metres."""
    return distance_to_polyline(clip.root[:, :2], curve, cyclic)


def hips_path_error(clip: Clip, curve: Array, cyclic: bool = False) -> Array:
    """Path error of the hips (f,): distance to the curve of the hips low-passed at 1.5 Hz, metres.

    That filter keeps most of the natural sway: 0.6 to 1.1 cm mean, 1.5 to 2 cm greatest is the floor. Of four legs the
    middle between hips and shoulders counts.
    """
    return distance_to_polyline(low_pass(pelvis(clip)[:, :2], HIPS_CUTOFF_HZ, clip.fps), curve, cyclic)


def body_facing(clip: Clip) -> Array:
    """Yaw (f,) the body faces, unwrapped radians: square to hips and shoulders, low-passed at 0.7 Hz.

    Shoulders are left out where the skeleton has none. Four legs face from their hips to their shoulders.
    """
    positions = clip.world[0]
    if clip.skeleton.four_legged:
        hind, fore = girdles(clip.skeleton, positions)
        return low_pass(np.unwrap(rot.yaw_of_direction((fore - hind)[:, :2])), FACING_CUTOFF_HZ, clip.fps)
    across = np.zeros((len(clip), 2))
    for part in ("hip", "shoulder"):
        if all(clip.skeleton.has(f"{side}_{part}") for side in ("left", "right")):
            left, right = (positions[:, clip.skeleton.index(f"{side}_{part}"), :2] for side in ("left", "right"))
            span = left - right
            across += span / np.maximum(np.linalg.norm(span, axis=-1, keepdims=True), 1e-9)
    facing = np.stack([across[:, 1], -across[:, 0]], axis=-1)
    return low_pass(np.unwrap(rot.yaw_of_direction(facing)), FACING_CUTOFF_HZ, clip.fps)


def heading_error(yaw: Array, wished: Array) -> Array:
    """Angle (f,) in [0, pi] between facings ``yaw`` (f,) and ``wished`` (f,), radians."""
    return np.abs(rot.wrap_angle(np.asarray(yaw) - np.asarray(wished)))


def speed_error(track: Array, planned: Array, fps: float, window_seconds: float = 1.0) -> Array:
    """|1 s mean speed - planned speed| (f,), m/s.

    The speed is that of ``track`` (f, 2), metres, along the direction of the plan ``planned`` (f, 2) at
    the same time, so that sway across the path is no progress; the planned speed is averaged over the
    same second. NaN within half a second of both ends.
    """
    if len(track) < 3:
        return np.full(len(track), np.nan)
    velocity = np.gradient(np.asarray(track, dtype=np.float64), axis=0) * fps
    wished = np.gradient(np.asarray(planned, dtype=np.float64), axis=0) * fps
    speed = np.linalg.norm(wished, axis=-1)
    direction = _held(wished / np.maximum(speed, 1e-9)[:, None], speed > 0.02)
    lag = np.sum(velocity * direction, axis=-1) - speed
    return np.abs(windowed(lag, round(window_seconds * fps), np.mean))


def steady_frames(speed: Array, fps: float, tolerance: float = 0.02, window_seconds: float = 1.0) -> BoolArray:
    """Frames (f,) at whose second the planned ``speed`` (f,) moves and varies by at most ``tolerance``, m/s."""
    window = round(window_seconds * fps)
    lowest, highest = windowed(speed, window, np.min), windowed(speed, window, np.max)
    return np.asarray((highest - lowest <= tolerance) & (lowest > MOVING_SPEED))


def corners(points: Array, cyclic: bool = False, angle: float = np.radians(30.0), reach: float = 0.1) -> Array:
    """The sharp corners (k, 2) of a polyline (n, 2 or 3): turns over ``angle`` within 2 x ``reach`` metres.

    A finely drawn bend of 0.4 m radius or more is no corner.
    """
    vertices = np.asarray(points, dtype=np.float64)[:, :2]
    if cyclic:
        vertices = np.concatenate([vertices, vertices[:1]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(vertices, axis=0), axis=-1))])
    total = length[-1]
    inner = length if cyclic else length[(length > 1e-6) & (length < total - 1e-6)]
    if total <= 0.0 or len(inner) == 0:
        return np.zeros((0, 2))

    def at(s: Array) -> Array:
        s = s % total if cyclic else np.clip(s, 0.0, total)
        return np.stack([np.interp(s, length, vertices[:, k]) for k in range(2)], axis=-1)

    here = at(inner)
    turn = np.abs(rot.wrap_angle(_direction(at(inner + reach) - here) - _direction(here - at(inner - reach))))
    found: list[Array] = []
    for i in np.argsort(-turn):
        if turn[i] > angle and all(np.linalg.norm(here[i] - other) > 2.0 * reach for other in found):
            found.append(here[i])
    return np.array(found).reshape(-1, 2)


def near_corners(xy: Array, corner_points: Array, reach: float = CORNER_REACH) -> BoolArray:
    """Which of the points ``xy`` (f, 2) lie within ``reach`` metres of a corner (k, 2)."""
    if len(corner_points) == 0:
        return np.zeros(len(xy), dtype=bool)
    distance = np.linalg.norm(np.asarray(xy)[:, None] - corner_points, axis=-1)
    return np.asarray(np.min(distance, axis=-1) <= reach)


def moving_frames(speed: Array, yaw: Array, fps: float) -> BoolArray:
    """Frames (f,) in which the plan moves (over 0.1 m/s) or turns (over 0.2 rad/s)."""
    turning = np.abs(np.gradient(yaw) * fps) > TURNING_RATE if len(yaw) > 1 else np.zeros(len(yaw), dtype=bool)
    return np.asarray((np.asarray(speed) > MOVING_SPEED) | turning)


def response_time(values: Array, changed: int, target: float, fps: float, tolerance: float) -> float:
    """Seconds from frame ``changed`` until ``values`` (f,) first come within ``tolerance`` of ``target``.

    For a speed the tolerance is a tenth of the new speed (90% of it counts), for a heading 5 degrees.
    NaN when they never do.
    """
    reached = np.flatnonzero(np.abs(np.asarray(values)[changed:] - target) <= tolerance)
    return float(reached[0]) / fps if len(reached) else float("nan")


def start_response(clip: Clip, planned_speed: Array) -> tuple[float, float, int]:
    """Response of the hips to the first planned start from standing.

    Returns:
        Seconds from the frame in which the plan leaves standing until the hips (speed over 0.2 s) reach
        90% of the speed the plan settles at (NaN when there is no such start); that speed, m/s; the frame.
    """
    speed = np.asarray(planned_speed, dtype=np.float64)
    moving = np.flatnonzero(speed > 0.01)
    if len(moving) == 0 or moving[0] < 2:
        return float("nan"), 0.0, 0
    start = int(moving[0]) - 1
    settled = np.flatnonzero(np.diff(speed[start + 1 :]) * clip.fps < 0.02)
    target = float(speed[start + 1 + settled[0]]) if len(settled) else float(speed[-1])
    reached = np.minimum(hips_speed(clip, 0.2), target)
    return response_time(reached, start, target, clip.fps, 0.1 * target), target, start


def rest_speed(clip: Clip, planned_speed: Array) -> tuple[float, int]:
    """Greatest joint speed in the last second of a plan that stands still then, m/s, and its frame.

    NaN when the plan still moves (over 0.05 m/s) in the last second, or is shorter.
    """
    frames = round(clip.fps)
    if len(clip) <= frames + 1 or np.max(planned_speed[-frames:]) > 0.05:
        return float("nan"), len(clip) - 1
    tail = clip.world[0][-frames - 1 :]
    speed = np.max(np.linalg.norm(np.diff(tail, axis=0), axis=-1), axis=-1) * clip.fps
    return float(np.max(speed)), len(clip) - frames + int(np.argmax(speed))


def longest_run(mask: BoolArray, fps: float) -> tuple[float, int]:
    """Duration in seconds of the longest run of true values in ``mask`` (f,), and its first frame."""
    runs = intervals(mask)
    if len(runs) == 0:
        return 0.0, 0
    length = runs[:, 1] - runs[:, 0]
    longest = int(np.argmax(length))
    return float(length[longest]) / fps, int(runs[longest, 0])


def _direction(v: Array) -> Array:
    return np.asarray(np.arctan2(v[..., 1], v[..., 0]), dtype=np.float64)


def _held(values: Array, valid: BoolArray) -> Array:
    if not np.any(valid):
        return np.zeros_like(values)
    last = np.maximum.accumulate(np.where(valid, np.arange(len(valid)), -1))
    return values[np.where(last < 0, int(np.argmax(valid)), last)]


def _without_collinear(points: Array, cyclic: bool) -> Array:
    if cyclic:
        points = np.concatenate([points, points[:1]])
    different = np.concatenate([[True], np.any(np.diff(points, axis=0) != 0.0, axis=-1)])
    points = points[different]
    if len(points) < 3:
        return points
    step = np.diff(points, axis=0)
    step = step / np.linalg.norm(step, axis=-1, keepdims=True)
    # A turn below a microradian moves no point measurably; a full reversal is a turn too.
    turns = np.linalg.norm(np.diff(step, axis=0), axis=-1) > 1e-6
    return points[np.concatenate([[True], turns, [True]])]
