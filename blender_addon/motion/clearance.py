"""Keep soles out of the ground: feet lifted over edges in their swings, toes bent up where they would sink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rotations as rot
from .bridging import bridge, per_stand, soft_positive
from .feet import FLAT_PITCH, FLAT_RISE, FootMotion, FootTarget, sole_points
from .filters import lowpass
from .footfalls import Footfalls
from .rotations import UP, Array
from .runs import runs
from .terrain import Terrain

#: Powers of u and 1 - u: lifts early, in the middle and late in a swing; all C2 at both ends.
_SHAPES = ((3, 3), (3, 4), (4, 3), (3, 6), (6, 3), (3, 9), (9, 3))
#: How far a foot draws back early and goes too far late in a swing, metres; the first choice is neither.
_SHIFTS = tuple((back, beyond) for back in (0.0, 0.04, 0.08) for beyond in (0.0, 0.05, 0.1))
#: Highest lift over an obstacle, metres.
_MAX_LIFT = 0.45
#: How much higher than what stands in its way a foot is lifted at most, to be above it early or late, metres.
_OVER = 0.1
#: Toes hang this far below the ball of a swinging foot, along the slope, metres, before they rather bend than lift it.
#: Toes longer than the second lift it no more than toes of this length.
_HANG, _USUAL_TOES = 0.055, 0.12
#: Ground steeper than this is an edge to them, no slope.
_STEEPEST = 0.35
#: Lack of clearance that is let be, metres.
_TOLERANCE = 0.004
#: Pitch of the foot in an inserted step of 30 cm, radians.
_HEEL_UP = np.radians(12.0)
#: A standing foot may sink and float this far before it is moved, metres.
_SINK, _FLOAT = 0.0035, 0.008
#: Corrections of a standing foot up to this follow the ground at once, metres; what is beyond only below so many Hz.
_TOUCH, _LEAP_CUTOFF = 0.007, 5.0
#: Ground that falls by more than the second this far ahead of a heel is a riser behind it, both metres.
_AT_RISER, _RISER = 0.03, 0.022
#: Furthest that toes bend up out of the floor, radians.
_MAX_TOE = np.radians(60.0)


def clear_swings(
    target: FootTarget, motion: FootMotion, falls: Footfalls, terrain: Terrain, step_height: float, margin: float,
    least: float = 0.0, made_on: Terrain | None = None,
) -> FootTarget:  # fmt: skip
    """Lift each swing over what stands in its way, and inserted steps off the floor.

    Args:
        step_height: lift of an inserted step, metres.
        margin: clearance asked for in the middle of a swing, where the source had as much, metres.
        least: clearance asked for in the middle of every swing, metres: learned feet shuffle when they go slowly.
        made_on: the ground that the source swings over; level at height 0 if not given.
    """
    shape = motion.shape
    frames = len(target.ball)
    points = sole_points(shape, target.ball, target.rotation, target.toe_turn)
    if shape.has_toe:
        # Long toes bend: as stiff as they are they would lift the foot to the knee, and jerk it off the ground.
        points[:, 2, 2] += _bent_up(points, terrain)
    source = sole_points(shape, motion.ball, motion.rotation, motion.toe_rotation)
    over = source[..., 2] - (0.0 if made_on is None else made_on.height(source[..., :2]))
    wished = np.clip(over, 0.0, margin).min(axis=1) - _TOLERANCE
    ball, pitch = np.array(target.ball), np.zeros(frames)
    inserted = {stand[1] for stand, made in zip(falls.stands, falls.inserted, strict=False) if made}
    for first, last in runs(~target.contact):
        u = _progress(first, last, frames)
        wished[first:last] = np.maximum(wished[first:last], least * _bump(u, 2, 2))
        way = target.ball[min(last, frames - 1), :2] - target.ball[max(first - 1, 0), :2]
        shift, lift = _detour(u, points[first:last], wished[first:last], way, terrain)
        if first in inserted:
            lift = np.maximum(lift.max(), step_height) * 64.0 * u**3 * (1.0 - u) ** 3
            pitch[first:last] = min(float(np.linalg.norm(way)) / 0.3, 1.0) * _HEEL_UP * _bump(u, 3, 5)
        ball[first:last, :2] += shift
        ball[first:last, 2] += lift
    left = rot.rotate(target.rotation, shape.left)
    rotation = rot.mul(rot.exp(left * pitch[:, None]), target.rotation)
    return replace(target, ball=ball, rotation=rotation)


def _bent_up(points: Array, terrain: Terrain) -> Array:
    """How far the toes' tip (f,) comes up, metres, by bending, before it asks for more of the foot's lift."""
    hang = np.maximum(_hang(points, terrain), 0.0)
    length = np.linalg.norm(points[:, 2] - points[:, 1], axis=1)
    return np.asarray(hang - np.minimum(hang * np.minimum(_USUAL_TOES / np.maximum(length, 1e-6), 1.0), _HANG))


def _hang(points: Array, terrain: Terrain) -> Array:
    """How far the toes' tip is below the ball (f,), metres, on the slope that the ground has from heel to ball."""
    level = np.linalg.norm(np.diff(points[..., :2], axis=1), axis=-1)
    ground = terrain.height(points[:, :2, :2])
    slope = np.clip((ground[:, 1] - ground[:, 0]) / np.maximum(level[:, 0], 1e-3), -_STEEPEST, _STEEPEST)
    return np.asarray(points[:, 1, 2] + slope * level[:, 1] - points[:, 2, 2])


def _progress(first: int, last: int, frames: int) -> Array:
    """Share 0..1 of a swing at its frames; one that the clip's ends cut off is whole outside of it."""
    start, end = first - 1, last
    if first == 0:
        start = end - max(last - first + 1, 30)
    if last == frames:
        end = start + max(last - first + 1, 30)
    return np.asarray((np.arange(first, last) - start) / (end - start))


def _detour(u: Array, points: Array, wished: Array, way: Array, terrain: Terrain) -> tuple[Array, Array]:
    """The smallest smooth detour of a swing over what stands in its way.

    Lifts of several shapes are tried; where a lift alone is high or not enough, as close to a riser, the foot
    also first draws back, and at the end goes too far and comes back.

    Args:
        u: share of the swing (n,).
        points: sole points (n, 3, 3).
        wished: clearance asked for (n,), metres.
        way: from the stand before to the stand after (2,), metres.

    Returns:
        Horizontal shift (n, 2) and lift (n,).
    """
    bumps = np.stack([_bump(u, a, b) for a, b in _SHAPES])
    length = float(np.linalg.norm(way))
    ahead = way / max(length, 1e-9)
    choices = [(0.0, 0.0)] if length < 0.1 else _SHIFTS
    best: tuple[float, Array, Array] | None = None
    for back, beyond in choices:
        shift = (beyond * _bump(u, 9, 4) - back * _bump(u, 3, 9))[:, None] * ahead
        room = points[..., 2] - terrain.height(points[..., :2] + shift[:, None])
        lack = (wished[:, None] - room).max(axis=1)
        # Near its ends a bump cannot help: what little it gives there must not blow it up.
        inside = (u > 0.1) & (u < 0.9)
        asked = np.where(inside, np.maximum(lack, 0.0), 0.0) * (bumps > 0.05) / np.maximum(bumps, 0.3)
        most = min(float(np.where(inside, lack, 0.0).max(initial=0.0)) + _OVER, _MAX_LIFT)
        heights = np.minimum(asked.max(axis=1, initial=0.0), most)
        lifts = heights[:, None] * bumps
        left_over = np.where((u > 0.05) & (u < 0.95), lack - lifts, 0.0).max(axis=1, initial=0.0)
        costs = heights + 8.0 * np.maximum(left_over - 0.01, 0.0) + 0.3 * (back + beyond)
        k = int(np.argmin(costs))
        if best is None or costs[k] < best[0]:
            best = (float(costs[k]), shift, lifts[k])
        if best[0] < 0.04:
            break
    assert best is not None
    return best[1], best[2]


def _bump(u: Array, a: int, b: int) -> Array:
    peak = a / (a + b)
    return np.asarray(u**a * (1.0 - u) ** b / (peak**a * (1.0 - peak) ** b))


def lay_toes(target: FootTarget, motion: FootMotion, falls: Footfalls, terrain: Terrain, fps: float) -> FootTarget:
    """Lay the toes of a flat foot on the ground: one angle for each stand, carried smoothly through the swings."""
    if not motion.shape.has_toe:
        return target
    need = _toe_need(target, motion, terrain)
    flat = (np.abs(motion.pitch) < FLAT_PITCH) & (motion.rise < FLAT_RISE)
    rest = np.zeros((len(falls.stands), 1))
    for k, (first, last) in enumerate(falls.stands):
        inside = need[first:last][flat[first:last]]
        if len(inside):
            rest[k] = np.clip(np.median(inside), -0.35, 0.6)
    laid = bridge(per_stand(len(need), falls.stands, rest), falls.stands, fps)[:, 0]
    return _raise_toes(target, motion, laid)


def touch_ground(
    target: FootTarget, motion: FootMotion, falls: Footfalls, terrain: Terrain, fps: float, stiff: bool = False
) -> FootTarget:
    """Let a standing foot touch the ground where the source's floats over it or sinks heel or ball into it.

    Or the tip of its toes, if these are ``stiff``, as paws are.
    """
    points = sole_points(motion.shape, target.ball, target.rotation, target.toe_turn)
    height = points[..., 2] - terrain.height(points[..., :2])
    height[:, 0] = _off_the_riser(points, height[:, 0], terrain)
    sunk = soft_positive(-height[:, : 3 if stiff else 2].min(axis=1) - _SINK, 0.002)
    hovers = soft_positive(height.min(axis=1) - _FLOAT, 0.004)
    shift = bridge((sunk - hovers)[:, None], falls.stands, fps)
    # A heel that turns over an edge is all at once a hand's breadth over or in the ground: a foot takes its time.
    leap = shift - np.clip(shift, -_TOUCH, _TOUCH)
    if np.any(leap):
        shift = bridge(shift - leap + lowpass(leap, fps, _LEAP_CUTOFF), falls.stands, fps)
    return replace(target, ball=target.ball + shift * UP)


def _off_the_riser(points: Array, height: Array, terrain: Terrain) -> Array:
    """Height (f,) of the heel over the ground; where it touches a riser behind it, over the step that it stands on."""
    way = points[:, 1, :2] - points[:, 0, :2]
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-6)
    before = points[:, 0, 2] - terrain.height(points[:, 0, :2] + _AT_RISER * way)
    return np.where(before - height > _RISER, np.maximum(before, height), height)


def push_toes(target: FootTarget, motion: FootMotion, terrain: Terrain) -> FootTarget:
    """Bend toes up where their tip would be in the ground; they are never pulled down."""
    if not motion.shape.has_toe:
        return target
    push = soft_positive(_toe_need(target, motion, terrain), np.radians(0.6))
    return _raise_toes(target, motion, np.minimum(push, _MAX_TOE))


def _raise_toes(target: FootTarget, motion: FootMotion, angle: Array) -> FootTarget:
    left = rot.rotate(target.toe_turn, motion.shape.toe_left)
    # Raising the tip turns against the left axis.
    return replace(target, toe_turn=rot.mul(rot.exp(-left * angle[:, None]), target.toe_turn))


def _toe_need(target: FootTarget, motion: FootMotion, terrain: Terrain) -> Array:
    """Angle (f,) by which the toes must rise for the tip to touch the ground; negative above it."""
    tip = sole_points(motion.shape, target.ball, target.rotation, target.toe_turn)[:, 2]
    depth = terrain.height(tip[:, :2]) - tip[:, 2]
    lever = float(np.linalg.norm(motion.shape.foot.tip))
    return np.asarray(np.arcsin(np.clip(depth / lever, -0.9, 0.9)))


