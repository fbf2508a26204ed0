"""Foot planting: lock every contact on the terrain, set the pelvis, and solve the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from . import rotations as rot
from .bridging import BoolArray
from .clearance import clear_swings, lay_toes, push_toes, touch_ground
from .clip import Clip
from .feet import FootMotion, FootTarget, aim_foot
from .footfalls import Footfalls, StepLimits, find_footfalls
from .foothold import find_footholds
from .ik import knee_hinge, solve_leg
from .pelvis import (
    Leg,
    ankle_of,
    body_ground,
    calm_knee,
    draw_in_swing,
    ease_ankle,
    pelvis_drop,
    roll_heel,
)
from .proportions import SizedGround, sized
from .rotations import Array
from .terrain import FlatGround, Terrain

#: Settings hold for legs of this length, metres; for legs this many times as long or short, too.
USUAL_LEG, _ALIKE = 0.87, 1.25


@dataclass(frozen=True)
class PlantSettings:
    """What planting may do; lengths for legs of `USUAL_LEG`.

    Attributes:
        steps: when locks are broken by inserted steps.
        step_height: lift of an inserted step, metres.
        clearance: height asked for in the middle of a swing, metres.
        least_clearance: of the whole sole, asked for in the middle of every swing, metres; people clear 1 to 2 cm.
        max_twist: a locked foot turns along with the body beyond this angle, radians.
        knee_follow: share of a foot's turn that the knee follows, 0 to 1.
        reach: a leg may be stretched to this share of its length, or as far as the source's was.
        pelvis_cutoff: the body follows the ground's height below this frequency, Hz.
        foothold_search: greatest shift of a foot along itself to find even ground, metres.
    """

    steps: StepLimits = field(default_factory=StepLimits)
    step_height: float = 0.05
    clearance: float = 0.015
    least_clearance: float = 0.013
    max_twist: float = np.radians(30.0)
    knee_follow: float = 0.5
    reach: float = 0.975
    pelvis_cutoff: float = 1.0
    foothold_search: float = 0.11


@dataclass(frozen=True)
class Planted:
    """A planted clip and what planting did.

    Attributes:
        clip: the motion, its contacts the final ones.
        contacts: final contacts (f, feet): inserted steps are swings.
        lock_offset: how far the lock moved each ball horizontally (f, feet), metres; 0 in swings.
        pelvis_drop: how far the pelvis was lowered for the legs' reach (f,), metres, terrain not counted.
        shortfall: how far each ankle stayed from its target (f, feet), metres.
        inserted_steps: number of steps put in where a lock was broken.
    """

    clip: Clip
    contacts: BoolArray
    lock_offset: Array
    pelvis_drop: Array
    shortfall: Array
    inserted_steps: int


def plant_feet(clip: Clip, terrain: Terrain | None = None, settings: PlantSettings | None = None) -> Planted:
    """Plant the feet of a motion made for level ground at height 0.

    Args:
        clip: motion in the world, after path correction.
        terrain: the ground; level at height 0 if not given.
        settings: see `PlantSettings`.

    Raises:
        RigError: a leg is missing.
    """
    terrain = FlatGround() if terrain is None else terrain
    settings = PlantSettings() if settings is None else settings
    size = USUAL_LEG / clip.skeleton.leg_length
    if not 1.0 / _ALIKE <= size <= _ALIKE:
        # Millimetres that nobody sees of a person are a great deal to a toy, and nothing to a giant.
        return _resized(plant_feet(sized(clip, size), SizedGround(terrain, size), settings), clip, size)
    motions = [FootMotion.of(clip, foot) for foot in clip.skeleton.feet]
    falls = find_footfalls(
        clip.contacts, [m.ball[:, :2] for m in motions], [m.yaw for m in motions], clip.root, clip.fps, settings.steps
    )
    holds = [
        find_footholds(
            terrain, fall.spots, fall.yaws, m.shape.heel_length, m.shape.tip_length, settings.foothold_search
        )
        for m, fall in zip(motions, falls, strict=True)
    ]
    ground = body_ground(falls, holds, len(clip), clip.fps, settings.pelvis_cutoff)
    legs = [Leg.of(clip.world[0], motion) for motion in motions]
    targets = []
    for motion, fall, hold, leg in zip(motions, falls, holds, legs, strict=True):
        target = aim_foot(motion, fall, hold, terrain, clip.fps, settings.max_twist)
        target = lay_toes(target, motion, fall, terrain, clip.fps)
        target = roll_heel(motion, target, fall, leg, ground, clip.fps)
        target = touch_ground(target, motion, fall, terrain, clip.fps)
        target = clear_swings(target, motion, fall, terrain, settings.step_height, settings.clearance,
                              settings.least_clearance)
        targets.append(push_toes(target, motion, terrain))
    drop = pelvis_drop(motions, targets, legs, ground, clip.fps, settings.reach)
    targets = [
        calm_knee(m, draw_in_swing(m, t, leg, ground - drop, settings.reach), leg, ground - drop, clip.fps)
        for m, t, leg in zip(motions, targets, legs, strict=True)
    ]
    return _solve(clip, terrain, motions, targets, falls, legs, ground - drop, drop, settings)


def _resized(planted: Planted, clip: Clip, size: float) -> Planted:
    """What was planted at ``size`` times its size, at its own."""
    return replace(
        planted, clip=sized(planted.clip, 1.0 / size, clip.skeleton), lock_offset=planted.lock_offset / size,
        pelvis_drop=planted.pelvis_drop / size, shortfall=planted.shortfall / size,
    )  # fmt: skip


def _solve(
    clip: Clip, terrain: Terrain, motions: Sequence[FootMotion], targets: Sequence[FootTarget],
    falls: Sequence[Footfalls], legs: Sequence[Leg], raised: Array, drop: Array, settings: PlantSettings,
) -> Planted:  # fmt: skip
    """Move the hips by ``raised`` (f,) and bring both legs to their targets."""
    positions, world = clip.world
    up = raised[:, None] * np.array([0.0, 0.0, 1.0])
    new = np.array(clip.rotations)
    parents = clip.skeleton.parents
    shortfall = []
    for motion, planned, fall, leg in zip(motions, targets, falls, legs, strict=True):
        foot = motion.shape.foot
        hinge = rot.rotate(world[:, foot.hip], knee_hinge(clip.skeleton, foot, positions, world))
        hip, knee, ankle = leg.hip + up, leg.knee + up, leg.ankle + up
        twist = settings.knee_follow * planned.twist
        own = (knee - ankle) / np.linalg.norm(knee - ankle, axis=1, keepdims=True)
        turn = solve_leg(hip, knee, ankle, hinge, ankle_of(motion, planned), twist)
        target = ease_ankle(motion, planned, fall, rot.rotate(turn.shin, own), own, clip.fps)
        target = touch_ground(target, motion, fall, terrain, clip.fps)
        turn = solve_leg(hip, knee, ankle, hinge, ankle_of(motion, target), twist)
        thigh = rot.mul(turn.thigh, world[:, foot.hip])
        shin = rot.mul(turn.shin, world[:, foot.knee])
        new[:, foot.hip] = rot.inv_mul(world[:, parents[foot.hip]], thigh)
        new[:, foot.knee] = rot.inv_mul(rot.mul(turn.thigh, world[:, parents[foot.knee]]), shin)
        new[:, foot.ankle] = rot.inv_mul(rot.mul(turn.shin, world[:, parents[foot.ankle]]), target.rotation)
        if motion.shape.has_toe:
            new[:, foot.toe] = rot.inv_mul(target.rotation, target.toe_turn)
        shortfall.append(turn.shortfall)
    contacts = np.stack([t.contact for t in targets], axis=1)
    planted = replace(clip, hips=clip.hips + up, rotations=rot.unroll(new), contacts=contacts)
    return Planted(
        clip=planted, contacts=contacts, lock_offset=np.stack([t.lock_offset for t in targets], axis=1),
        pelvis_drop=drop, shortfall=np.stack(shortfall, axis=1),
        inserted_steps=sum(sum(fall.inserted) for fall in falls),
    )  # fmt: skip
