"""Foot planting: lock every contact on the terrain, set the pelvis, and solve the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from . import rotations as rot
from .bridging import BoolArray, upper_envelope
from .clearance import bend_toes, clear_swings
from .clip import Clip
from .feet import FootMotion, FootTarget, aim_foot
from .filters import lowpass
from .footfalls import StepLimits, find_footfalls
from .foothold import find_footholds
from .ik import knee_hinge, solve_leg
from .rotations import Array
from .terrain import FlatGround, Terrain


@dataclass(frozen=True)
class PlantSettings:
    """What planting may do.

    Attributes:
        steps: when locks are broken by inserted steps.
        step_height: lift of an inserted step, metres.
        clearance: height asked for in the middle of a swing, metres.
        max_twist: a locked foot turns along with the body beyond this angle, radians.
        knee_follow: share of a foot's turn that the knee follows, 0 to 1.
        reach: a leg may be stretched to this share of its length, or as far as the source's was.
        pelvis_cutoff: the body follows the ground's height below this frequency, Hz.
        foothold_search: greatest shift of a foot along itself to find even ground, metres.
    """

    steps: StepLimits = field(default_factory=StepLimits)
    step_height: float = 0.05
    clearance: float = 0.015
    max_twist: float = np.radians(30.0)
    knee_follow: float = 0.5
    reach: float = 0.985
    pelvis_cutoff: float = 1.0
    foothold_search: float = 0.1


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
    motions = [FootMotion.of(clip, foot) for foot in clip.skeleton.feet]
    falls = find_footfalls(
        clip.contacts, [m.ball[:, :2] for m in motions], [m.yaw for m in motions], clip.root, clip.fps, settings.steps
    )
    targets = []
    for motion, fall in zip(motions, falls, strict=True):
        shape = motion.shape
        holds = find_footholds(
            terrain, fall.spots, fall.yaws, shape.heel_length, shape.tip_length, settings.foothold_search
        )
        target = aim_foot(motion, fall, holds, terrain, clip.fps, settings.max_twist)
        target = clear_swings(target, motion, fall, terrain, settings.step_height, settings.clearance)
        targets.append(bend_toes(target, motion, fall, terrain, clip.fps))
    ground = lowpass(np.mean([t.ground for t in targets], axis=0), clip.fps, settings.pelvis_cutoff)
    drop = _pelvis_drop(clip, motions, targets, ground, settings)
    return _solve(clip, motions, targets, ground - drop, drop, sum(sum(f.inserted) for f in falls), settings)


def _ankle(motion: FootMotion, target: FootTarget) -> Array:
    return target.ball - rot.rotate(target.rotation, motion.shape.ball)


def _pelvis_drop(
    clip: Clip, motions: Sequence[FootMotion], targets: Sequence[FootTarget], ground: Array, settings: PlantSettings
) -> Array:
    """How far the hips must come down (f,) so that no leg is stretched beyond its limit; smooth in time."""
    positions, _ = clip.world
    need = np.zeros(len(clip))
    for motion, target in zip(motions, targets, strict=True):
        foot = motion.shape.foot
        hip, knee, ankle = (positions[:, j] for j in (foot.hip, foot.knee, foot.ankle))
        length = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
        own = np.linalg.norm(ankle - hip, axis=1)
        limit = np.maximum(np.minimum(own, 0.999 * length), settings.reach * length)
        reach = hip + ground[:, None] * np.array([0.0, 0.0, 1.0]) - _ankle(motion, target)
        level = np.linalg.norm(reach[:, :2], axis=1)
        highest = np.sqrt(np.maximum(limit**2 - level**2, (0.3 * length) ** 2))
        need = np.maximum(need, reach[:, 2] - highest)
    return upper_envelope(need, clip.fps, 0.15)


def _solve(
    clip: Clip, motions: Sequence[FootMotion], targets: Sequence[FootTarget], raised: Array, drop: Array,
    inserted: int, settings: PlantSettings,
) -> Planted:  # fmt: skip
    """Move the hips by ``raised`` (f,) and bring both legs to their targets."""
    positions, world = clip.world
    up = raised[:, None] * np.array([0.0, 0.0, 1.0])
    new = np.array(clip.rotations)
    parents = clip.skeleton.parents
    shortfall = []
    for motion, target in zip(motions, targets, strict=True):
        foot = motion.shape.foot
        hinge = rot.rotate(world[:, foot.hip], knee_hinge(clip.skeleton, foot, positions, world))
        hip, knee, ankle = (positions[:, j] + up for j in (foot.hip, foot.knee, foot.ankle))
        turn = solve_leg(hip, knee, ankle, hinge, _ankle(motion, target), settings.knee_follow * target.twist)
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
        pelvis_drop=drop, shortfall=np.stack(shortfall, axis=1), inserted_steps=inserted,
    )  # fmt: skip
