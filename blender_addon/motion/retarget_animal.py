"""Retargeting between four-legged skeletons: deltas from each animal's own stance, and steps scaled to its legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal import contact_offsets, contact_points, trunk_ends
from .animal_limbs import limbs_of
from .bridging import minimum_jerk
from .clip import BoolArray, Clip
from .errors import RigError
from .rotations import Array
from .runs import runs
from .skeleton import QUADRUPED_ROLES, Foot, Skeleton
from .turning import NECK, SPINE, TAIL, forward_rest, trunk_turns, turns_away

#: Seconds in which a paw that the source does not have lies down before it stands, and goes along after.
_LIE_DOWN = 0.15
#: Joints of paws and hooves are lower than this share of their leg; higher ones stand on a ground of their own.
_PAW_HEIGHT = 0.25
#: Soles come no lower than the ground, rounded over about so much of the leg.
_SOFT_GROUND = 0.012


def retarget_animal(
    clip: Clip,
    source: Skeleton,
    target: Skeleton,
    *,
    scale_travel: bool = True,
    keep_steps: bool = True,
    stance: Sequence[float] | None = None,
    above_ground: bool = False,
) -> Clip:
    """The clip on another four-legged skeleton; `retarget` calls it.

    Every mapped joint turns away from its own rest pose as the source's does from its, in the world: an animal's
    stance is its character, so a horse driven by a fox stands on a horse's legs. Spine, neck and tail of other counts
    share the bend along their length; a tail that the source lacks hangs as at rest. Where a leg has joints that the
    source's lacks, paws lie flat when the source's leg stands, and joints between go half the way.

    The middle between the girdles goes where the source's went, scaled by leg length. With ``keep_steps`` the legs
    are bent so that they meet the ground where the source's did, scaled, in the target's own stance: as far apart as
    its girdles are wide and its trunk is long.

    Args:
        clip: motion whose contact points stand at height 0.
        source, target: the skeletons with the rest poses that count.
        scale_travel, keep_steps, above_ground: as in `retarget`.
        stance: heights of the source's four contact points when they bear, metres; 0 when not given.

    Returns:
        A clip on ``target``.
    """
    source, target = facing_forward(source), facing_forward(target)
    world = _turned(clip, source, target)
    scale = target.leg_length / source.leg_length
    root = clip.root * (np.array([scale, scale, 1.0]) if scale_travel else 1.0)
    locals_ = target.local_rotations(world)
    hips = _hips(clip, source, target, locals_, root, scale)
    if keep_steps:
        goals = _contact_goals(clip, source, target, root, scale, stance)
        if above_ground:
            goals[..., 2] = _over_ground(goals[..., 2], _SOFT_GROUND * target.leg_length)
        _step_alike(target, hips, world, locals_, goals)
    return replace(clip, skeleton=target, hips=hips, rotations=rot.unroll(locals_), root=root)


def facing_forward(skeleton: Skeleton) -> Skeleton:
    """The skeleton turned about the vertical so that its rest pose faces -Y."""
    positions, rotations = forward_rest(skeleton)
    offsets, rest = np.array(skeleton.offsets), np.array(skeleton.rest_rotations)
    offsets[0], rest[0] = positions[0], rotations[0]
    return replace(skeleton, offsets=offsets, rest_rotations=rest)


def grounded_animal(skeleton: Skeleton) -> Skeleton:
    """The skeleton moved so that in rest its middle is over the origin, its feet at height 0, and it faces -Y.

    Measured soles say where the feet are; without them a rest pose that stands somewhere near height 0 stands there.
    """
    turned = facing_forward(skeleton)
    positions, rotations = turned.rest_world
    if turned.soles:
        ground = float(np.mean(contact_points(turned, positions, rotations)[:, 2]))
    else:
        ends = [positions[foot.chain[-1], 2] for foot in turned.feet]
        high = float(np.mean([positions[foot.hip, 2] for foot in turned.feet])) - min(ends)
        # Legs without paws end somewhere over the ground: only one that goes under it tells.
        most = _PAW_HEIGHT if all(len(foot.chain) > 3 for foot in turned.feet) else np.inf
        ground = 0.0 if -0.05 * high < min(ends) < most * high else float(min(ends))
    offsets = np.array(turned.offsets)
    offsets[0] -= np.array([*_middle(turned, positions, rotations)[:2], ground])
    return replace(turned, offsets=offsets)


def check_alike(source: Skeleton, target: Skeleton) -> None:
    """Raise `RigError` where one goes on two legs and the other on four."""
    if source.four_legged == target.four_legged:
        return
    kinds = ("two-legged", "four-legged")
    raise RigError(
        f"A {kinds[source.four_legged]} motion cannot be put on a {kinds[target.four_legged]} character",
        "Choose the motion of a body with as many legs; if it has them, correct the bone map, which took "
        "the one for two-legged and the other for four-legged",
    )


def _turned(clip: Clip, source: Skeleton, target: Skeleton) -> Array:
    """World rotations (frames, b, 4) of the target's joints, by what the source's do."""
    away = turns_away(clip, source, source.rest_world[1], QUADRUPED_ROLES)
    chains = SPINE + NECK + TAIL
    wanted = {target.index(role): turn for role, turn in away.items() if target.has(role) and role not in chains}
    wanted |= {target.index(role): turn for role, turn in trunk_turns(away, target).items()}
    for number, (theirs, ours) in enumerate(zip(source.feet, target.feet, strict=True)):
        wanted |= _leg_turns(clip, source, theirs, ours, clip.contacts[:, number])
    rest = target.rest_world[1]
    world = np.empty((len(clip), len(target), 4))
    for joint, parent in enumerate(target.parents):
        if joint in wanted:
            world[:, joint] = rot.mul(wanted[joint], rest[joint])
        else:
            world[:, joint] = rot.mul(world[:, parent], target.rest_rotations[joint])
    return world


def _leg_turns(clip: Clip, source: Skeleton, theirs: Foot, ours: Foot, down: BoolArray) -> dict[int, Array]:
    """Turns (frames, 4) from rest of a leg's joints; its toes go with the source's, whatever their parts are called."""
    _, world = source.fk(clip.hips, clip.rotations)
    turns = [rot.mul(world[:, joint], rot.inv(source.rest_world[1][joint])) for joint in theirs.chain]
    has_toe = theirs.toe != theirs.ankle
    upper = turns[:-1] if has_toe else turns
    toe = turns[-1] if has_toe else _laid_down(turns[-1], down, clip.fps)
    found: dict[int, Array] = {}
    parts = ours.chain[:-1] if ours.toe != ours.ankle else ours.chain
    for at, joint in enumerate(parts):
        # Joints below the source's last one: between what carries them and the toes.
        found[joint] = upper[at] if at < len(upper) else rot.slerp(found[parts[at - 1]], toe, 0.5)
    if ours.toe != ours.ankle:
        found[ours.toe] = toe
    return found


def _laid_down(turn: Array, down: BoolArray, fps: float) -> Array:
    """A turn (frames, 4) that keeps only its heading while the leg stands, blended before and after."""
    ahead = rot.rotate(turn, np.array([0.0, -1.0, 0.0]))
    left = rot.rotate(turn, np.array([1.0, 0.0, 0.0]))
    level = rot.from_yaw(rot.yaw_of_direction(ahead[:, :2] + np.stack([left[:, 1], -left[:, 0]], axis=-1)))
    if not down.any():
        return level
    frame = np.arange(len(down))
    away = np.min([np.abs(frame - np.clip(frame, first, last - 1)) for first, last in runs(down)], axis=0)
    return rot.slerp(level, turn, minimum_jerk(away / (_LIE_DOWN * fps)))


def _hips(clip: Clip, source: Skeleton, target: Skeleton, locals_: Array, root: Array, scale: float) -> Array:
    """Position of the target's joint 0 (frames, 3) in a pose (frames, b, 4)."""
    middle = _middle(source, *source.fk(clip.hips, clip.rotations))
    theirs, ours = (_middle(skeleton, *skeleton.rest_world) for skeleton in (source, target))
    goal = np.empty_like(middle)
    goal[:, :2] = root[:, :2] + scale * (middle[:, :2] - clip.root[:, :2])
    goal[:, 2] = ours[2] + scale * (middle[:, 2] - theirs[2])
    return goal - _middle(target, *target.fk(np.zeros_like(goal), locals_))


def _middle(skeleton: Skeleton, positions: Array, rotations: Array) -> Array:
    """The middle of the trunk (..., 3), metres."""
    hind, fore = trunk_ends(skeleton, positions, rotations)
    return np.asarray(0.5 * (hind + fore))


def _contact_goals(
    clip: Clip, source: Skeleton, target: Skeleton, root: Array, scale: float, stance: Sequence[float] | None
) -> Array:
    """Where the target's legs shall meet the ground (frames, 4, 3).

    The difference of the two stances turns with the body, but not while a foot stands.
    """
    points = contact_points(source, *source.fk(clip.hips, clip.rotations))
    apart = _stance(target) - scale * _stance(source)
    goals = np.empty((len(clip), 4, 3))
    for leg in range(4):
        yaw = _held(clip.root[:, 2], clip.contacts[:, leg])
        goals[:, leg, :2] = root[:, :2] + scale * (points[:, leg, :2] - clip.root[:, :2])
        goals[:, leg, :2] += rot.rotate_2d(yaw, np.broadcast_to(apart[leg], (len(clip), 2)))
        goals[:, leg, 2] = scale * (points[:, leg, 2] - (0.0 if stance is None else stance[leg]))
    return goals


def _stance(skeleton: Skeleton) -> Array:
    """Where the feet stand at rest (4, 2), metres from the middle of the trunk; facing -Y."""
    positions, rotations = skeleton.rest_world
    points = contact_points(skeleton, positions, rotations) - _middle(skeleton, positions, rotations)
    return np.asarray(points[:, :2])


def _held(yaw: Array, down: BoolArray) -> Array:
    """The yaw (f,) held at its middle value through each contact, joined smoothly between them."""
    spans = runs(down)
    if not spans:
        return yaw
    out = np.array(yaw)
    for first, last in spans:
        out[first:last] = yaw[(first + last - 1) // 2]
    edges = [0, *(edge for span in spans for edge in span), len(yaw)]
    for first, last in zip(edges[0::2], edges[1::2], strict=True):
        if first == last:
            continue
        # What the hold took away at either end of a swing is given back within it.
        before = out[first - 1] - yaw[first - 1] if first > 0 else 0.0
        after = out[last] - yaw[last] if last < len(yaw) else 0.0
        share = minimum_jerk((np.arange(first, last) - first + 1) / (last - first + 1))
        out[first:last] += before * (1.0 - share) + after * share
    return out


def _over_ground(height: Array, soft: float) -> Array:
    """Heights that never come under 0, rounded over about ``soft`` metres."""
    return np.asarray(0.5 * (height + np.sqrt(height**2 + (0.2 * soft) ** 2)))


def _step_alike(target: Skeleton, hips: Array, world: Array, locals_: Array, goals: Array) -> None:
    """Turn the legs, in place, so that they meet the ground at ``goals`` (frames, 4, 3)."""
    positions, rotations = target.fk(hips, locals_)
    offsets = contact_offsets(target)
    for leg, limb in enumerate(limbs_of(target)):
        goal, toe = goals[:, leg], None
        if limb.end >= 0:
            toe = world[:, limb.end]
            goal = goal - rot.rotate(toe, offsets[leg])
        limb.write(target, locals_, rotations, limb.solve(target, positions, rotations, goal), toe)
