"""Retargeting between four-legged skeletons: deltas from each animal's own stance, and steps scaled to its legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotations as rot
from .animal import contact_offsets, contact_points, shoulder_height, trunk_ends
from .animal_body import Ride, carried
from .animal_limbs import limbs_of
from .animal_reach import Reach
from .bridging import minimum_jerk, upper_envelope
from .clip import BoolArray, Clip
from .errors import RigError
from .filters import derivative, lowpass
from .rotations import Array
from .runs import runs
from .skeleton import QUADRUPED_ROLES, Foot, Skeleton
from .turning import NECK, SPINE, TAIL, forward_rest, trunk_turns, turns_away

#: Seconds in which a paw that the source does not have lies down before it stands, and goes along after.
_LIE_DOWN = 0.15
#: Joints of paws and hooves are lower than this share of their leg; higher ones stand on a ground of their own.
_PAW_HEIGHT = 0.25
#: Speeds, in roots of g times the leg, between which standing becomes going.
_GOING = (0.03, 0.13)
_GRAVITY = 9.81
#: Share of their greatest reach to which standing legs are stretched; else the body comes down, by at most this share
#: of the shoulder height and over so many seconds (legs of 1 m).
_STRETCH, _LOWEST, _LOWERED_OVER = 0.975, 0.14, 0.4
#: Feet this far from where they should stand, in legs, do not stand; and the most that is so cut off either end.
_SHORT, _MOST_CUT = 0.02, 0.35
#: Sine of the bend at rest from which it is clear to which side a joint bends.
_BENT = 0.08
#: Soles come no lower than the ground, rounded over about so much of the leg.
_SOFT_GROUND = 0.012


def retarget_animal(
    clip: Clip,
    source: Skeleton,
    target: Skeleton,
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
    its girdles are wide and its trunk is long. Where they do not reach, the body comes down.

    Args:
        clip: motion whose contact points stand at height 0.
        source, target: the skeletons with the rest poses that count.
        scale_travel, keep_steps, above_ground: as in `retarget`.
        stance: heights of the source's four contact points when they bear, metres; 0 when not given.

    Returns:
        A clip on ``target``; its contacts end where its legs reach no further.
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
        posed = replace(clip, skeleton=target, hips=hips, rotations=locals_, root=root)
        return _step_alike(posed, goals)
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
        wanted |= _leg_turns(clip, source, target, theirs, ours, clip.contacts[:, number])
    rest = target.rest_world[1]
    world = np.empty((len(clip), len(target), 4))
    for joint, parent in enumerate(target.parents):
        if joint in wanted:
            world[:, joint] = rot.mul(wanted[joint], rest[joint])
        else:
            world[:, joint] = rot.mul(world[:, parent], target.rest_rotations[joint])
    return world


def _leg_turns(
    clip: Clip, source: Skeleton, target: Skeleton, theirs: Foot, ours: Foot, down: BoolArray
) -> dict[int, Array]:
    """Turns (frames, 4) from rest of a leg's joints; its toes go with the source's, whatever their parts are called.

    A leg whose first hinge bends to the other side (rigs that lack an elbow) only swings as the source's does.
    """
    positions, world = source.fk(clip.hips, clip.rotations)
    turns = [rot.mul(world[:, joint], rot.inv(source.rest_world[1][joint])) for joint in theirs.chain]
    has_toe = theirs.toe != theirs.ankle
    upper = turns[:-1] if has_toe else turns
    if first_bend(source, theirs) * first_bend(target, ours) < 0.0:
        upper = [_swing(source, theirs, positions)] * len(upper)
    toe = turns[-1] if has_toe else _laid_down(turns[-1], down, clip.fps)
    found: dict[int, Array] = {}
    parts = ours.chain[:-1] if ours.toe != ours.ankle else ours.chain
    for at, joint in enumerate(parts):
        # Joints below the source's last one: between what carries them and the toes.
        found[joint] = upper[at] if at < len(upper) else rot.slerp(found[parts[at - 1]], toe, 0.5)
    if ours.toe != ours.ankle:
        found[ours.toe] = toe
    return found


def first_bend(skeleton: Skeleton, foot: Foot) -> float:
    """To which side a leg's first hinge bends at rest: sine about the body's left, 0 where it is nearly straight."""
    positions, rotations = skeleton.rest_world
    points = [positions[joint] for joint in foot.chain[:3]]
    if len(points) < 3:
        points.append(positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.ball))
    before, after = points[1] - points[0], points[2] - points[1]
    sine = float(np.cross(before, after)[0] / max(np.linalg.norm(before) * np.linalg.norm(after), 1e-12))
    return sine if abs(sine) > _BENT else 0.0


def _swing(skeleton: Skeleton, foot: Foot, positions: Array) -> Array:
    """The turn (frames, 4) of the line from a leg's top to its last joint away from rest."""
    top, end = foot.chain[0], foot.chain[-1]
    lines = [place[..., end, :] - place[..., top, :] for place in (skeleton.rest_world[0], positions)]
    rest, now = (line / np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12) for line in lines)
    return rot.between(np.broadcast_to(rest, now.shape), now)


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

    Who stands stands as at rest; who goes sets the feet about the hips and shoulders as the source does about its
    own: legs that stand far back would have to reach further back still. What the bodies differ by turns with the
    body and changes with its speed, but not while a foot stands.
    """
    points = contact_points(source, *source.fk(clip.hips, clip.rotations))
    still = _stance(target) - scale * _stance(source)
    going = np.stack([still[:, 0], (_tops(target) - scale * _tops(source))[:, 1]], axis=1)
    pace = np.linalg.norm(lowpass(derivative(clip.root[:, :2], clip.fps), clip.fps, 1.0), axis=1)
    pace = pace / np.sqrt(_GRAVITY * source.leg_length)
    goes = minimum_jerk((pace - _GOING[0]) / (_GOING[1] - _GOING[0]))
    goals = np.empty((len(clip), 4, 3))
    for leg in range(4):
        yaw, share = _held(clip.root[:, 2], clip.contacts[:, leg]), _held(goes, clip.contacts[:, leg])[:, None]
        goals[:, leg, :2] = root[:, :2] + scale * (points[:, leg, :2] - clip.root[:, :2])
        goals[:, leg, :2] += rot.rotate_2d(yaw, still[leg] + share * (going[leg] - still[leg]))
        goals[:, leg, 2] = scale * (points[:, leg, 2] - (0.0 if stance is None else stance[leg]))
    return goals


def _stance(skeleton: Skeleton) -> Array:
    """Where the feet stand at rest (4, 2), metres from the middle of the trunk; facing -Y."""
    positions, rotations = skeleton.rest_world
    points = contact_points(skeleton, positions, rotations) - _middle(skeleton, positions, rotations)
    return np.asarray(points[:, :2])


def _tops(skeleton: Skeleton) -> Array:
    """Where the legs begin at rest (4, 2), metres from the middle of the trunk; facing -Y."""
    positions, rotations = skeleton.rest_world
    tops = positions[[foot.hip for foot in skeleton.feet]] - _middle(skeleton, positions, rotations)
    return np.asarray(tops[:, :2])


def _held(values: Array, down: BoolArray) -> Array:
    """Values (f,) held at their middle through each contact, joined smoothly between them."""
    spans = runs(down)
    if not spans:
        return values
    out = np.array(values)
    for first, last in spans:
        out[first:last] = values[(first + last - 1) // 2]
    edges = [0, *(edge for span in spans for edge in span), len(values)]
    for first, last in zip(edges[0::2], edges[1::2], strict=True):
        if first == last:
            continue
        # What the hold took away at either end of a swing is given back within it.
        before = out[first - 1] - values[first - 1] if first > 0 else 0.0
        after = out[last] - values[last] if last < len(values) else 0.0
        share = minimum_jerk((np.arange(first, last) - first + 1) / (last - first + 1))
        out[first:last] += before * (1.0 - share) + after * share
    return out


def _over_ground(height: Array, soft: float) -> Array:
    """Heights that never come under 0, rounded over about ``soft`` metres."""
    return np.asarray(0.5 * (height + np.sqrt(height**2 + (0.2 * soft) ** 2)))


def _step_alike(posed: Clip, goals: Array) -> Clip:
    """The clip with its legs turned so that they meet the ground at ``goals`` (frames, 4, 3).

    Straight legs that stand wide apart need the body lower; stands end where legs reach no further all the same.
    """
    skeleton, limbs = posed.skeleton, limbs_of(posed.skeleton)
    toes, ends = posed.world[1], []
    offsets = contact_offsets(skeleton)
    for leg, limb in enumerate(limbs):
        over = rot.rotate(toes[:, limb.end], offsets[leg]) if limb.end >= 0 else 0.0
        ends.append(goals[:, leg] - over)
    needs = Reach.of(posed, limbs, ends, _STRETCH).needs
    needs = np.clip(np.where(posed.contacts, needs, 0.0), 0.0, _LOWEST * shoulder_height(skeleton))
    seconds = _LOWERED_OVER * np.sqrt(skeleton.leg_length)
    hind, fore = (upper_envelope(needs[:, pair].max(axis=1), posed.fps, seconds) for pair in ([0, 1], [2, 3]))
    body = carried(posed, Ride(-hind, -fore, np.zeros(len(posed))))
    positions, rotations = body.world
    locals_ = np.array(body.rotations)
    for limb, end in zip(limbs, ends, strict=True):
        toe = toes[:, limb.end] if limb.end >= 0 else None
        limb.write(skeleton, locals_, rotations, limb.solve(skeleton, positions, rotations, end), toe)
    made = replace(body, rotations=rot.unroll(locals_))
    short = np.linalg.norm(contact_points(skeleton, *made.world) - goals, axis=-1) > _SHORT * skeleton.leg_length
    return replace(made, contacts=_cut(posed.contacts, short))


def _cut(contacts: BoolArray, short: BoolArray) -> BoolArray:
    """Contacts (f, 4) without the frames at their ends in which a leg falls short; at most `_MOST_CUT` of each."""
    out = np.array(contacts)
    for leg in range(contacts.shape[1]):
        for first, last in runs(contacts[:, leg]):
            most = int(_MOST_CUT * (last - first))
            early, late = (
                np.flatnonzero(short[start : start + most, leg]) for start in (first, last - most)
            )
            if len(early) and first > 0:
                out[first : first + int(early[-1]) + 1, leg] = False
            if len(late) and last < len(out):
                out[last - most + int(late[0]) : last, leg] = False
    return out
