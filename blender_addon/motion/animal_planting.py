"""Foot planting for four legs: lock every contact on the terrain, carry the body over it, and solve the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal_body import Ride, carried
from .animal_limbs import Limb, limbs_of
from .bridging import BoolArray, upper_envelope
from .clearance import clear_swings, touch_ground
from .clip import Clip
from .feet import FootMotion, FootTarget, aim_foot
from .footfalls import find_footfalls
from .foothold import find_footholds
from .limb_ik import greatest_reach
from .paws import paw_motions
from .planted import Planted, PlantSettings
from .rotations import Array
from .terrain import Terrain

#: Window of a girdle's drop to each side, seconds, and rounds in which it is found.
_DROP_WINDOW, _DROPS = 0.15, 2
#: Part of a girdle's drop that the other one follows, and of its reach that a swinging leg goes without.
_TOGETHER, _SWING_GIVES = 0.4, 0.08


def plant_animal(clip: Clip, terrain: Terrain, settings: PlantSettings) -> Planted:
    """Plant the feet of a four-legged motion made for level ground at height 0.

    Args:
        clip: motion in the world, of a body whose legs are about as long as the settings suppose.
        terrain: the ground.
        settings: see `PlantSettings`.

    Raises:
        RigError: a leg is missing.
    """
    motions = paw_motions(clip)
    falls = find_footfalls(
        clip.contacts, [m.ball[:, :2] for m in motions], [m.yaw for m in motions], clip.root, clip.fps, settings.steps
    )
    holds = [
        find_footholds(
            terrain, fall.spots, fall.yaws, m.shape.heel_length, m.shape.tip_length, settings.foothold_search
        )
        for m, fall in zip(motions, falls, strict=True)
    ]
    targets = []
    for motion, fall, hold in zip(motions, falls, holds, strict=True):
        target = aim_foot(motion, fall, hold, terrain, clip.fps, settings.max_twist)
        target = touch_ground(target, motion, fall, terrain, clip.fps)
        targets.append(clear_swings(
            target, motion, fall, terrain, settings.step_height, settings.clearance, settings.least_clearance
        ))  # fmt: skip
    limbs = limbs_of(clip.skeleton)
    ends = [leg_end(limb, motion, target) for limb, motion, target in zip(limbs, motions, targets, strict=True)]
    ride = Ride.over(clip, falls, holds, settings.pelvis_cutoff)
    contacts = np.stack([target.contact for target in targets], axis=1)
    lower, drop = ride, np.zeros(len(clip))
    for _ in range(_DROPS):
        # Lowered, a trunk also pitches: what is left shows in the second round.
        drops = _drops(carried(clip, lower), limbs, ends, contacts, settings.reach)
        lower, drop = lower.lowered(*drops), drop + np.maximum(*drops)
    return _solve(
        clip, carried(clip, lower), targets, limbs, ends, drop, settings, sum(sum(fall.inserted) for fall in falls)
    )


def leg_end(limb: Limb, motion: FootMotion, target: FootTarget) -> Array:
    """Where a leg's chain ends (f, 3) under a paw that stands at its target: its toe joint, or the point that bears."""
    return target.ball if limb.end < 0 else target.ball - rot.rotate(target.rotation, motion.shape.ball)


def _drops(
    clip: Clip, limbs: Sequence[Limb], ends: Sequence[Array], contacts: BoolArray, share: float
) -> tuple[Array, Array]:
    """How far hips and shoulders must come down (f,) so that no leg is stretched beyond its limit; smooth in time.

    Args:
        clip: the body as it is carried.
        limbs, ends: the legs and where they shall end (f, 3).
        contacts: when they stand (f, 4); a swinging foot rather stays a little behind than pulls the body down.
        share: of its greatest reach that a leg may be stretched to, or as far as the source's was.
    """
    positions, rotations = clip.world
    needs = []
    for limb, end, down in zip(limbs, ends, contacts.T, strict=True):
        points = limb.points(positions, rotations)
        greatest = greatest_reach(points, limb.hinges(rotations))
        own = np.linalg.norm(points[:, -1] - points[:, 0], axis=1)
        limit = np.maximum(np.minimum(own, 0.999 * greatest), share * greatest)
        reach = limb.top(clip.skeleton, positions, rotations, end) - end
        level = np.linalg.norm(reach[:, :2], axis=1)
        highest = np.sqrt(np.maximum(limit**2 - level**2, (0.3 * greatest) ** 2))
        needs.append(np.maximum(reach[:, 2] - highest - np.where(down, 0.0, _SWING_GIVES * greatest), 0.0))
    hind, fore = np.maximum(needs[0], needs[1]), np.maximum(needs[2], needs[3])
    # One girdle alone would tip the trunk.
    shared = np.maximum(hind, _TOGETHER * fore), np.maximum(fore, _TOGETHER * hind)
    return upper_envelope(shared[0], clip.fps, _DROP_WINDOW), upper_envelope(shared[1], clip.fps, _DROP_WINDOW)


def _solve(
    clip: Clip, body: Clip, targets: Sequence[FootTarget], limbs: Sequence[Limb],
    ends: Sequence[Array], drop: Array, settings: PlantSettings, inserted: int,
) -> Planted:  # fmt: skip
    """Bring the legs of the carried body to their ends."""
    positions, world = body.world
    new = np.array(body.rotations)
    shortfall = []
    for limb, target, end in zip(limbs, targets, ends, strict=True):
        turn = limb.solve(clip.skeleton, positions, world, end, settings.knee_follow * target.twist)
        limb.write(clip.skeleton, new, world, turn, target.rotation)
        shortfall.append(turn.shortfall)
    contacts = np.stack([t.contact for t in targets], axis=1)
    return Planted(
        clip=replace(body, rotations=rot.unroll(new), contacts=contacts), contacts=contacts,
        lock_offset=np.stack([t.lock_offset for t in targets], axis=1), pelvis_drop=drop,
        shortfall=np.stack(shortfall, axis=1), inserted_steps=inserted,
    )  # fmt: skip
