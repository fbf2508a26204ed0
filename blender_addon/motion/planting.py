"""Foot planting: lock every contact on the terrain, set the pelvis, and solve the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal_planting import plant_animal
from .clearance import clear_swings, lay_toes, push_toes, touch_ground
from .clip import Clip
from .feet import FootMotion, FootTarget, aim_foot, stood_upon
from .footfalls import Footfalls, find_footfalls
from .foothold import Foothold, find_footholds
from .ik import knee_hinge, solve_leg
from .pelvis import (
    SourceLeg,
    ankle_of,
    body_ground,
    calm_knee,
    draw_in_swing,
    ease_ankle,
    pelvis_drop,
    push_off,
    roll_heel,
)
from .planted import Planted, PlantSettings
from .proportions import SizedGround, sized
from .rotations import UP, Array
from .terrain import FlatGround, Terrain

__all__ = ["USUAL_LEG", "Planted", "PlantSettings", "plant_feet"]

#: Settings hold for legs of this length, metres; for legs this many times as long or short, too.
USUAL_LEG, _ALIKE = 0.87, 1.25


def plant_feet(
    clip: Clip, terrain: Terrain | None = None, settings: PlantSettings | None = None, made_on: Terrain | None = None
) -> Planted:
    """Plant the feet of a motion on a terrain, with its body at the height over it that it was made with.

    Args:
        clip: motion in the world, after path correction.
        terrain: the ground; level at height 0 if not given.
        settings: see `PlantSettings`.
        made_on: the ground that the motion was made for, of two legs; level at height 0 if not given. Where it is the
            terrain itself little is left to do.

    Raises:
        RigError: a leg is missing.
    """
    terrain = FlatGround() if terrain is None else terrain
    settings = PlantSettings() if settings is None else settings
    size = USUAL_LEG / clip.skeleton.leg_length
    if not 1.0 / _ALIKE <= size <= _ALIKE:
        # Millimetres that nobody sees of a person are a great deal to a toy, and nothing to a giant.
        source = None if made_on is None else SizedGround(made_on, size)
        return _resized(plant_feet(sized(clip, size), SizedGround(terrain, size), settings, source), clip, size)
    if clip.skeleton.four_legged:
        return plant_animal(clip, terrain, settings)
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
    stood = [None if made_on is None else _stood(m, fall, made_on) for m, fall in zip(motions, falls, strict=True)]
    motions = [m if own is None else m.standing_on(own, fall)
               for m, fall, own in zip(motions, falls, stood, strict=True)]  # fmt: skip
    below = [None if made_on is None else replace(hold, heights=made_on.height(hold.spots)) for hold in holds]
    ground = body_ground(falls, holds, len(clip), clip.fps, settings.pelvis_cutoff, below)
    legs = [SourceLeg.of(clip.world[0], motion) for motion in motions]
    targets = []
    for motion, fall, hold, leg, own in zip(motions, falls, holds, legs, stood, strict=True):
        target = aim_foot(motion, fall, hold, terrain, clip.fps, settings.max_twist, own)
        target = lay_toes(target, motion, fall, terrain, clip.fps)
        target = roll_heel(motion, target, fall, leg, ground, clip.fps)
        target = touch_ground(target, motion, fall, terrain, clip.fps)
        target = clear_swings(target, motion, fall, terrain, settings.step_height, settings.clearance,
                              settings.least_clearance, made_on)
        targets.append(push_toes(target, motion, terrain))
    drop = pelvis_drop(motions, targets, legs, ground, clip.fps, settings.reach)
    raised = ground - drop
    hinges = [knee_hinge(clip.skeleton, motion.shape.foot, *clip.world) for motion in motions]
    for side, (motion, fall, leg) in enumerate(zip(motions, falls, legs, strict=True)):
        target = draw_in_swing(motion, targets[side], leg, raised, settings.reach)
        target = _eased(clip, motion, target, fall, leg, hinges[side], raised)
        # Knees are calmed last: what moves the ankle afterwards would make them jerk again.
        target = touch_ground(target, motion, fall, terrain, clip.fps)
        target = push_off(motion, target, fall, leg, raised, clip.fps)
        targets[side] = calm_knee(motion, target, leg, raised, clip.fps)
    return _solve(clip, terrain, motions, targets, falls, legs, hinges, raised, drop, settings)


def _stood(motion: FootMotion, fall: Footfalls, made_on: Terrain) -> Foothold:
    """What the source stood on in each stand, where it was made on ``made_on``."""
    shape = motion.shape
    under = find_footholds(made_on, fall.spots, fall.yaws, shape.heel_length, shape.tip_length, 0.0)
    return stood_upon(motion, fall, made_on, under)


def _eased(
    clip: Clip, motion: FootMotion, target: FootTarget, fall: Footfalls, leg: SourceLeg, hinge: Array, raised: Array
) -> FootTarget:
    """The heel raised where the shin would lean too far over a standing foot."""
    own = (leg.knee - leg.ankle) / np.linalg.norm(leg.knee - leg.ankle, axis=1, keepdims=True)
    axis = rot.rotate(clip.world[1][:, motion.shape.foot.hip], hinge)
    goal = ankle_of(motion, target) - raised[:, None] * UP
    turn = solve_leg(leg.hip, leg.knee, leg.ankle, axis, goal)
    shin = rot.rotate(turn.shin, own)
    return ease_ankle(motion, target, fall, shin, own, clip.skeleton.leg_length, clip.fps)


def _resized(planted: Planted, clip: Clip, size: float) -> Planted:
    """What was planted at ``size`` times its size, at its own."""
    return replace(
        planted, clip=sized(planted.clip, 1.0 / size, clip.skeleton), lock_offset=planted.lock_offset / size,
        pelvis_drop=planted.pelvis_drop / size, shortfall=planted.shortfall / size,
    )  # fmt: skip


def _solve(
    clip: Clip, terrain: Terrain, motions: Sequence[FootMotion], targets: Sequence[FootTarget],
    falls: Sequence[Footfalls], legs: Sequence[SourceLeg], hinges: Sequence[Array], raised: Array, drop: Array,
    settings: PlantSettings,
) -> Planted:  # fmt: skip
    """Move the hips by ``raised`` (f,) and bring both legs to their targets."""
    _, world = clip.world
    up = raised[:, None] * UP
    new = np.array(clip.rotations)
    parents = clip.skeleton.parents
    shortfall = []
    for motion, planned, fall, leg, hinge in zip(motions, targets, falls, legs, hinges, strict=True):
        foot = motion.shape.foot
        hip, knee, ankle = leg.hip + up, leg.knee + up, leg.ankle + up
        target = touch_ground(planned, motion, fall, terrain, clip.fps)
        turn = solve_leg(
            hip, knee, ankle, rot.rotate(world[:, foot.hip], hinge), ankle_of(motion, target),
            settings.knee_follow * target.twist,
        )  # fmt: skip
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
