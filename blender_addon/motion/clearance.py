"""Keep soles out of the ground: feet lifted over edges in their swings, toes bent up where they would sink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rotations as rot
from .bridging import bridge, per_stand, runs, soft_positive
from .feet import FootMotion, FootTarget, sole_points
from .footfalls import Footfalls
from .rotations import Array
from .terrain import Terrain

#: Powers of u and 1 - u: lifts early, in the middle and late in a swing; all C2 at both ends.
_SHAPES = ((3, 3), (3, 4), (4, 3), (3, 6), (6, 3), (3, 9), (9, 3))
#: Highest lift over an obstacle, metres.
_MAX_LIFT = 0.45
#: Lack of clearance that is let be, metres.
_TOLERANCE = 0.004
#: Furthest that toes bend up out of the floor, radians.
_MAX_TOE = np.radians(60.0)


def clear_swings(
    target: FootTarget, motion: FootMotion, falls: Footfalls, terrain: Terrain, step_height: float, margin: float
) -> FootTarget:
    """Lift each swing over what stands in its way, and inserted steps off the floor.

    Args:
        step_height: lift of an inserted step, metres.
        margin: clearance asked for in the middle of a swing, where the source had as much, metres.
    """
    shape = motion.shape
    frames = len(target.ball)
    points = sole_points(shape, target.ball, target.rotation, target.toe_turn)
    room = points[..., 2] - terrain.height(points[..., :2])
    source = sole_points(shape, motion.ball, motion.rotation, motion.toe_rotation)[..., 2]
    wished = np.clip(source, 0.0, margin)
    lack = (wished - room).max(axis=1) - _TOLERANCE
    ball = np.array(target.ball)
    inserted = {stand[1] for stand, made in zip(falls.stands, falls.inserted, strict=False) if made}
    for first, last in runs(~target.contact):
        # A swing that the clip's ends cut off is whole outside of it.
        length = last - first + 1
        start, end = first - 1, last
        if first == 0:
            start = end - max(length, 30)
        if last == frames:
            end = start + max(length, 30)
        u = (np.arange(first, last) - start) / (end - start)
        lift = _lift(u, np.where((u > 0.1) & (u < 0.9), lack[first:last], -1.0))
        if first in inserted:
            lift = np.maximum(lift.max(), step_height) * 64.0 * u**3 * (1.0 - u) ** 3
        ball[first:last, 2] += lift
    return replace(target, ball=ball)


def _lift(u: Array, lack: Array) -> Array:
    """The lowest smooth bump over ``u`` that is nowhere lower than ``lack``."""
    if len(u) == 0 or lack.max() <= 0.0:
        return np.zeros_like(u)
    bumps = np.stack([_bump(u, a, b) for a, b in _SHAPES])
    # Near its ends a bump cannot help: what little it gives there must not blow it up.
    heights = np.max(np.maximum(lack, 0.0) * (bumps > 0.05) / np.maximum(bumps, 0.3), axis=1)
    best = int(np.argmin(heights))
    return np.asarray(min(float(heights[best]), _MAX_LIFT) * bumps[best])


def _bump(u: Array, a: int, b: int) -> Array:
    peak = a / (a + b)
    return np.asarray(u**a * (1.0 - u) ** b / (peak**a * (1.0 - peak) ** b))


def bend_toes(target: FootTarget, motion: FootMotion, falls: Footfalls, terrain: Terrain, fps: float) -> FootTarget:
    """Lay the toes of a flat foot on the ground; elsewhere only push them up out of it, never pull them down."""
    shape = motion.shape
    if not shape.has_toe:
        return target
    lever = float(np.linalg.norm(shape.foot.tip[:3]))
    need = _toe_need(target, motion, terrain, lever)
    rise = motion.ball[:, 2] - shape.foot.ball_height
    flat = (np.abs(motion.pitch) < np.radians(12.0)) & (rise < 0.02)
    rest = np.zeros((len(falls.stands), 1))
    for k, (first, last) in enumerate(falls.stands):
        inside = need[first:last][flat[first:last]]
        if len(inside):
            rest[k] = np.clip(np.median(inside), -0.35, 0.6)
    laid = bridge(per_stand(len(need), falls.stands, rest), falls.stands, fps)[:, 0]
    left = rot.rotate(target.toe_turn, shape.toe_left)
    # Raising the tip turns against the left axis.
    toes = rot.mul(rot.exp(-left * laid[:, None]), target.toe_turn)
    bent = replace(target, toe_turn=toes)
    width = np.radians(0.6)
    push = soft_positive(_toe_need(bent, motion, terrain, lever), width)
    push = np.minimum(push, _MAX_TOE)
    return replace(bent, toe_turn=rot.mul(rot.exp(-left * push[:, None]), toes))


def _toe_need(target: FootTarget, motion: FootMotion, terrain: Terrain, lever: float) -> Array:
    """Angle (f,) by which the toes must rise for the tip to touch the ground; negative above it."""
    tip = sole_points(motion.shape, target.ball, target.rotation, target.toe_turn)[:, 2]
    depth = terrain.height(tip[:, :2]) - tip[:, 2]
    return np.asarray(np.arcsin(np.clip(depth / lever, -0.9, 0.9)))


