"""Foot planting for four legs: lock every contact on the terrain, carry the body over it, and solve the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .animal_body import Ride, ahead_uphill, carried
from .animal_calm import calm_swing
from .animal_limbs import Limb, limbs_of
from .animal_reach import Reach, ended, unfolded
from .bridging import BoolArray, per_stand
from .clearance import clear_swings, touch_ground
from .clip import Clip
from .feet import FootMotion, FootTarget, aim_foot
from .footfalls import Footfalls, find_footfalls
from .foothold import Foothold, find_footholds
from .paws import bend_up, paw_motions, paw_shapes, roll_pad
from .planted import Planted, PlantSettings
from .rotations import Array
from .terrain import Terrain

#: A cat swings its foot in 0.08 s, and in a gallop it stands no longer: only shorter ones are noise, seconds.
_GAP, _SPIKE = 0.035, 0.02
#: Rounds in which the girdles' drop is found.
_DROPS = 2
#: A stand is ended rather than that its foot slips by more than this, metres; rounds in which that is found.
_SLIP, _ENDED = 1e-3, 4
#: Animals step over several stairs at once: a paw that climbed early would be at their belly.
_CLIMB = 0.0
#: Rounds in which a pad that turns with its leg finds its height.
_ROLLS = 3
#: A leg is stretched to this share of its greatest reach, or as far as the source's was: nearer to straight its joints
#: snap where it leaves the ground.
_STRETCH = 0.93


def plant_animal(clip: Clip, terrain: Terrain, settings: PlantSettings) -> Planted:
    """Plant the feet of a four-legged motion made for level ground at height 0.

    Args:
        clip: motion in the world, of a body whose legs are about as long as the settings suppose.
        terrain: the ground.
        settings: see `PlantSettings`.

    Raises:
        RigError: a leg is missing.
    """
    limbs = limbs_of(clip.skeleton)
    share = min(settings.reach, _STRETCH)
    stance = _stance(clip, terrain, settings, limbs)
    reach = Reach.of(carried(clip, stance.ride), limbs, stance.ends, share)
    contacts = reach.spared(stance.contacts, clip.fps)
    for _ in range(_ENDED):
        if not np.array_equal(contacts, stance.contacts):
            clip = replace(clip, contacts=contacts)
            stance = _stance(clip, terrain, settings, limbs)
        planted = _ridden(clip, stance, limbs, share, terrain, settings)
        contacts = ended(planted.contacts, planted.shortfall > _SLIP)
        if np.array_equal(contacts, planted.contacts):
            break
    return planted


def _ridden(
    clip: Clip, stance: _Stance, limbs: Sequence[Limb], share: float, terrain: Terrain, settings: PlantSettings
) -> Planted:
    """The body brought down for the legs' reach, and the legs solved."""
    ride, drop = stance.ride, np.zeros(len(clip))
    for _ in range(_DROPS):
        # Lowered, a trunk also pitches: what is left shows in the second round.
        reach = Reach.of(carried(clip, ride), limbs, stance.ends, share)
        drops = reach.drops(stance.contacts, clip.fps)
        ride, drop = ride.lowered(*drops), drop + np.maximum(*drops)
    return _solve(carried(clip, ride), stance, limbs, drop, terrain, settings)


@dataclass(frozen=True, eq=False)
class _Stance:
    """Where the feet go (targets and the legs' ends), and how the body rides over them."""

    falls: Sequence[Footfalls]
    targets: Sequence[FootTarget]
    ends: Sequence[Array]
    ride: Ride

    @property
    def contacts(self) -> BoolArray:
        return np.stack([target.contact for target in self.targets], axis=1)


def _stance(clip: Clip, terrain: Terrain, settings: PlantSettings, limbs: Sequence[Limb]) -> _Stance:
    motions = paw_motions(clip)
    steps = replace(settings.steps, gap=min(settings.steps.gap, _GAP), spike=min(settings.steps.spike, _SPIKE))
    falls = find_footfalls(
        clip.contacts, [m.ball[:, :2] for m in motions], [m.yaw for m in motions], clip.root, clip.fps, steps
    )
    level = Ride.over(clip, falls, _holds(motions, falls, terrain, settings), settings.pelvis_cutoff)
    shift = ahead_uphill(clip, level, settings.pelvis_cutoff)
    shifts = [np.array([shift[(a + b) // 2] for a, b in fall.stands]).reshape(-1, 2) for fall in falls]
    falls = tuple(replace(fall, spots=fall.spots + ahead) for fall, ahead in zip(falls, shifts, strict=True))
    holds = _holds(motions, falls, terrain, settings)
    targets = []
    for limb, motion, fall, hold, ahead in zip(limbs, motions, falls, holds, shifts, strict=True):
        target = aim_foot(motion, fall, hold, terrain, clip.fps, settings.max_twist, climb=_CLIMB)
        # What the slope asks for is no error of the motion.
        off = per_stand(len(clip), fall.stands, hold.spots - ahead) - motion.ball[:, :2]
        target = replace(target, lock_offset=np.where(target.contact, np.linalg.norm(off, axis=1), 0.0))
        target = bend_up(target, motion) if limb.end >= 0 else target
        target = touch_ground(target, motion, fall, terrain, clip.fps, stiff=True)
        targets.append(clear_swings(
            target, motion, fall, terrain, settings.step_height, settings.clearance, settings.least_clearance
        ))  # fmt: skip
    ends = [leg_end(limb, motion, target) for limb, motion, target in zip(limbs, motions, targets, strict=True)]
    return _Stance(falls, targets, ends, Ride.over(clip, falls, holds, settings.pelvis_cutoff))


def _holds(
    motions: Sequence[FootMotion], falls: Sequence[Footfalls], terrain: Terrain, settings: PlantSettings
) -> list[Foothold]:
    return [
        find_footholds(
            terrain, fall.spots, fall.yaws, m.shape.heel_length, m.shape.tip_length, settings.foothold_search
        )
        for m, fall in zip(motions, falls, strict=True)
    ]


def leg_end(limb: Limb, motion: FootMotion, target: FootTarget) -> Array:
    """Where a leg's chain ends (f, 3) under a paw that stands at its target: its toe joint, or the point that bears."""
    return target.ball if limb.end < 0 else target.ball - rot.rotate(target.rotation, motion.shape.ball)


def _solve(
    body: Clip, stance: _Stance, limbs: Sequence[Limb], drop: Array, terrain: Terrain, settings: PlantSettings
) -> Planted:
    """Bring the legs of the carried body to their ends."""
    positions, world = body.world
    new = np.array(body.rotations)
    shortfall = []
    shapes = paw_shapes(body.skeleton)
    for limb, target, end, shape, fall in zip(limbs, stance.targets, stance.ends, shapes, stance.falls, strict=True):
        for _ in range(_ROLLS if limb.end < 0 else 0):
            turn = limb.solve(body.skeleton, positions, world, end, settings.knee_follow * target.twist)
            pad = rot.mul(turn.segments[:, -1], world[:, limb.joints[-1]])
            end = roll_pad(target, shape, fall, pad, terrain, body.fps).ball
        end = unfolded(body, limb, end, target.contact)
        turn = limb.solve(body.skeleton, positions, world, end, settings.knee_follow * target.twist)
        end = calm_swing(body, limb, turn, end, target.contact)
        turn = limb.solve(body.skeleton, positions, world, end, settings.knee_follow * target.twist)
        limb.write(body.skeleton, new, world, turn, target.rotation)
        shortfall.append(turn.shortfall)
    contacts = stance.contacts
    return Planted(
        clip=replace(body, rotations=rot.unroll(new), contacts=contacts), contacts=contacts,
        lock_offset=np.stack([target.lock_offset for target in stance.targets], axis=1), pelvis_drop=drop,
        shortfall=np.stack(shortfall, axis=1), inserted_steps=sum(sum(fall.inserted) for fall in stance.falls),
    )  # fmt: skip
