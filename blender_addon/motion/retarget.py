"""Retargeting: motion of one skeleton carried to another by anatomical roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotations as rot
from .clip import Clip
from .contacts import flat_frames, foot_points
from .errors import RigError
from .ik import knee_hinge, solve_leg
from .retarget_animal import check_alike, grounded_animal, retarget_animal
from .root_track import body_yaw
from .rotations import Array
from .skeleton import BIPED_ROLES, SIDES, Skeleton
from .turning import NECK, SPINE, forward_rest, trunk_turns, turns_away

#: Feet more than so many times as large for their legs as the source's are turned less.
LARGE_FEET = 1.6
#: Limb bones: role -> role at the bone's other end. Their directions in the two reference poses are aligned.
_LIMBS: dict[str, str] = {
    f"{side}_{start}": f"{side}_{end}"
    for side in ("left", "right")
    for start, end in (("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"))
}


def posed_rest(skeleton: Skeleton, rotations: Array, hips: Array | None = None) -> Skeleton:
    """The same joints with another pose as rest pose; clips on it need no change but their skeleton.

    For families whose rest pose is no usable reference (snu22: every bone along +X).

    Args:
        skeleton: the joints.
        rotations: the new rest pose: rotations in the parents' frames (b, 4), joint 0's in the world.
        hips: position of joint 0 in it (3,), metres; the old one when not given.
    """
    offsets = np.array(skeleton.offsets)
    if hips is not None:
        offsets[0] = hips
    return replace(skeleton, rest_rotations=rot.normalize(rotations), offsets=offsets)


def grounded_rest(skeleton: Skeleton) -> Skeleton:
    """The skeleton moved so that in rest it stands at the origin, soles at height 0, and faces -Y."""
    if skeleton.four_legged:
        return grounded_animal(skeleton)
    positions, _ = skeleton.rest_world
    turn = rot.from_yaw(-body_yaw(skeleton, positions[None])[0])
    toes = [foot.toe for foot in skeleton.feet]
    sole = float(positions[toes, 2].mean()) - skeleton.feet[0].ball_height
    if toes[0] == skeleton.feet[0].ankle:
        sole = float(positions[toes, 2].mean()) - skeleton.feet[0].ankle_height
    rotations = np.array(skeleton.rest_rotations)
    rotations[0] = rot.mul(turn, rotations[0])
    return posed_rest(skeleton, rotations, np.array([0.0, 0.0, positions[0, 2] - sole]))


def flat_footed_rest(clip: Clip, shortest: float = 0.3) -> Skeleton:
    """The clip's skeleton with its rest pose's feet turned as they are when they stand flat in the clip.

    Reference poses of captured skeletons seldom have truly flat feet, and whatever they are off by, every step
    inherits. The heading of the rest pose's feet is kept; a foot that stands flat for less than ``shortest``
    seconds in all keeps its rest pose. Paws and hooves keep theirs: they are no soles from heel to
    toe.

    Args:
        clip: levelled motion with contacts.
        shortest: seconds of flat stance needed.
    """
    skeleton = clip.skeleton
    if skeleton.four_legged:
        return skeleton
    positions, world = clip.world
    rest_positions, rest = skeleton.rest_world
    rest = np.array(rest)
    flat = flat_frames(clip)
    for side, foot in enumerate(skeleton.feet):
        frames = flat[:, side]
        if foot.toe == foot.ankle or frames.sum() < shortest * clip.fps:
            continue
        back = rot.from_yaw(-rot.yaw_of_direction(positions[frames, foot.toe] - positions[frames, foot.ankle]))
        heading = rot.from_yaw(rot.yaw_of_direction(rest_positions[foot.toe] - rest_positions[foot.ankle]))
        for joint in (foot.ankle, foot.toe):
            rest[joint] = rot.mul(heading, _mean_rotation(rot.mul(back, world[frames, joint])))
    local = np.array(skeleton.rest_rotations)
    for foot in skeleton.feet:
        for joint in {foot.ankle, foot.toe}:
            local[joint] = rot.inv_mul(rest[skeleton.parents[joint]], rest[joint])
    return posed_rest(skeleton, local)


def stance_heights(clip: Clip, shortest: float = 0.3) -> tuple[float, ...]:
    """Heights of the points of `contacts.foot_points` when the feet stand flat, metres: medians over a levelled clip.

    They differ where a captured leg is longer or shorter than its skeleton's. A foot that stands flat for less
    than ``shortest`` seconds in all gets its skeleton's own height.
    """
    flat, points = flat_frames(clip), foot_points(clip)
    usual = np.zeros(4) if clip.skeleton.four_legged else [foot.ball_height for foot in clip.skeleton.feet]
    return tuple(
        float(np.median(points[flat[:, side], side, 2])) if flat[:, side].sum() >= shortest * clip.fps else float(own)
        for side, own in enumerate(usual)
    )


def _mean_rotation(q: Array) -> Array:
    """Mean (4,) of rotations (n, 4): the largest eigenvector of their outer products."""
    return np.asarray(np.linalg.eigh(q.T @ q)[1][:, -1])


def retarget(
    clip: Clip,
    target: Skeleton,
    *,
    scale_travel: bool = True,
    keep_steps: bool = True,
    stance: Sequence[float] | None = None,
    above_ground: bool = False,
    source_reference: Array | None = None,
    target_reference: Array | None = None,
) -> Clip:
    """The clip on another skeleton.

    Every mapped joint turns away from its reference pose as the source's joint does, in the world. In the
    reference poses limb bones are first turned onto the source's directions, so that a T-pose and an A-pose
    meet; feet only about the vertical, so that flat soles stay flat. Spines of different counts share the bend
    along their length. Joints of the target without a role, or whose role the source lacks, keep their rest
    rotation. The middle between the hip joints is carried over, its height above the ankles scaled by leg length.

    With ``keep_steps`` the legs are then bent so that the balls of the feet go where the source's went, scaled:
    feet of another length or hips of another width would slide otherwise. Plant them again all the same when they
    are to stand exactly.

    Args:
        clip: motion whose skeleton has the required roles and whose soles stand at height 0.
        target: skeleton with the required roles.
        scale_travel: scale the way along the ground by leg length too, so that steps fit it. When false the
            root keeps its track.
        keep_steps: let the legs reach for the source's steps.
        stance: heights of the source's toe joints, or of four legs' contact points, when the feet stand flat, metres,
            where its captured legs do not agree with its skeleton (`stance_heights`).
        above_ground: keep the soles of the balls from sinking under height 0.
        source_reference, target_reference: reference poses, rotations in the parents' frames (b, 4); the rest
            poses when not given. Both should stand upright with flat feet; where they face does not matter.

    Returns:
        A clip on ``target`` with the contacts of ``clip`` and its root, scaled like its travel.

    Raises:
        RigError: a required role is missing, or one has two legs and the other four.
    """
    _check_roles(clip.skeleton, target)
    output, source = target, clip.skeleton
    if source_reference is not None:
        source = posed_rest(source, source_reference)
    if target_reference is not None:
        target = posed_rest(target, target_reference)
    if target.four_legged:
        made = retarget_animal(clip, source, target, scale_travel, keep_steps, stance, above_ground)
        return replace(made, skeleton=output)
    world = _turned(clip, source, target)
    scale = target.leg_length / source.leg_length
    hips, root = _hips_and_root(clip, source, target, world[:, 0], scale, scale if scale_travel else 1.0)
    if keep_steps and all(skeleton.has(f"{side}_toe") for skeleton in (source, target) for side in SIDES):
        goals = _ball_goals(clip, source, target, root, scale, stance)
        if above_ground:
            goals[..., 2] = _at_least(goals[..., 2], np.array([foot.ball_height for foot in target.feet]))
        world = _step_alike(target, hips, world, goals)
    return replace(clip, skeleton=output, hips=hips, rotations=rot.unroll(target.local_rotations(world)), root=root)


def _check_roles(source: Skeleton, target: Skeleton) -> None:
    check_alike(source, target)
    for skeleton, whose in ((source, "motion's skeleton"), (target, "target")):
        if skeleton.missing_roles:
            missing = ", ".join(role.replace("_", " ") for role in skeleton.missing_roles)
            raise RigError(f"The {whose} lacks: {missing}", "Map these bones by hand")


def _turned(clip: Clip, source: Skeleton, target: Skeleton) -> Array:
    """World rotations (frames, b, 4) of the target's joints, by what the source's do."""
    from_rest, to_rest = forward_rest(source), forward_rest(target)
    away = turns_away(clip, source, from_rest[1], BIPED_ROLES)
    wanted = {role: turn for role, turn in away.items() if target.has(role) and role not in SPINE + NECK}
    wanted |= trunk_turns(away, target)
    _calm_feet(wanted, source, target)
    aligned = _alignments(source, target, from_rest[0], to_rest[0])
    world = np.empty((len(clip), len(target), 4))
    role_of = {name: role for role, name in target.roles.items()}
    for joint, name in enumerate(target.names):
        role = role_of.get(name, "")
        if role in wanted:
            rest = rot.mul(aligned.get(role, rot.IDENTITY), to_rest[1][joint])
            world[:, joint] = rot.mul(wanted[role], rest)
        else:
            world[:, joint] = rot.mul(world[:, target.parents[joint]], target.rest_rotations[joint])
    return world


def _calm_feet(wanted: dict[str, Array], source: Skeleton, target: Skeleton) -> None:
    """Let feet that are huge for their legs tilt less: they would fold the legs when they roll over their toes."""
    share = min(LARGE_FEET * _foot_share(source) / max(_foot_share(target), 1e-9), 1.0)
    if share == 1.0:
        return
    for role in (f"{side}_{part}" for side in SIDES for part in ("ankle", "toe")):
        if role in wanted:
            ahead = rot.rotate(wanted[role], np.array([0.0, -1.0, 0.0]))
            left = rot.rotate(wanted[role], np.array([1.0, 0.0, 0.0]))
            yaw = rot.from_yaw(rot.yaw_of_direction(ahead[:, :2] + np.stack([left[:, 1], -left[:, 0]], axis=-1)))
            wanted[role] = rot.mul(yaw, rot.exp(share * rot.log(rot.inv_mul(yaw, wanted[role]))))


def _foot_share(skeleton: Skeleton) -> float:
    """Length of the feet, ankle to ball, in leg lengths."""
    lengths = [float(np.linalg.norm(foot.ball)) for foot in skeleton.feet]
    return float(np.mean(lengths)) / skeleton.leg_length


def _alignments(source: Skeleton, target: Skeleton, from_rest: Array, to_rest: Array) -> dict[str, Array]:
    """World rotation (4,) for each limb role that brings the target's reference bone onto the source's."""
    found: dict[str, Array] = {}
    for start, end in _LIMBS.items():
        if all(skeleton.has(role) for skeleton in (source, target) for role in (start, end)):
            found[start] = rot.between(_bone(target, to_rest, start, end), _bone(source, from_rest, start, end))
    for side in ("left", "right"):
        # A hand goes on from its forearm: where its own bone ends is anyone's guess.
        if f"{side}_elbow" in found:
            found[f"{side}_wrist"] = found[f"{side}_elbow"]
        ankle, toe = f"{side}_ankle", f"{side}_toe"
        if all(skeleton.has(role) for skeleton in (source, target) for role in (ankle, toe)):
            yaws = [
                rot.yaw_of_direction(_bone(skeleton, rest, ankle, toe))
                for skeleton, rest in ((source, from_rest), (target, to_rest))
            ]
            found[ankle] = found[toe] = rot.from_yaw(rot.wrap_angle(yaws[0] - yaws[1]))
    return found


def _bone(skeleton: Skeleton, positions: Array, start: str, end: str) -> Array:
    line = positions[skeleton.index(end)] - positions[skeleton.index(start)]
    length = float(np.linalg.norm(line))
    if length < 1e-9:
        raise RigError(f"The bone from {start} to {end} has no length".replace("_", " "), "Map other bones")
    return np.asarray(line / length)


def _hips_and_root(
    clip: Clip, source: Skeleton, target: Skeleton, turn: Array, scale: float, travel: float
) -> tuple[Array, Array]:
    """Position of the target's joint 0 (frames, 3) and root (frames, 3)."""
    positions, _ = source.fk(clip.hips, clip.rotations)
    middle = 0.5 * (positions[:, source.index("left_hip")] + positions[:, source.index("right_hip")])
    root = clip.root * np.array([travel, travel, 1.0])
    ankles = [float(np.mean([foot.ankle_height for foot in skeleton.feet])) for skeleton in (source, target)]
    goal = np.empty_like(middle)
    goal[:, :2] = root[:, :2] + scale * (middle[:, :2] - clip.root[:, :2])
    goal[:, 2] = scale * (middle[:, 2] - ankles[0]) + ankles[1]
    rest, rest_world = target.rest_world
    arm = 0.5 * (rest[target.index("left_hip")] + rest[target.index("right_hip")]) - rest[0]
    return goal - rot.rotate(turn, rot.inv_rotate(rest_world[0], arm)), root


def _ball_goals(
    clip: Clip, source: Skeleton, target: Skeleton, root: Array, scale: float, stance: Sequence[float] | None
) -> Array:
    """Where the target's toe joints shall be (frames, 2, 3).

    Feet stand apart as the hips are wide. Huge feet reach ahead by what they are too long, so that their ankles
    stay under the hips.
    """
    positions, _ = source.fk(clip.hips, clip.rotations)
    goals = np.empty((len(clip), 2, 3))
    wider = _hip_width(target) - scale * _hip_width(source)
    longer = max(_foot_reach(target) - LARGE_FEET * scale * _foot_reach(source), 0.0)
    left = np.stack([np.cos(root[:, 2]), np.sin(root[:, 2])], axis=-1)
    ahead = np.stack([left[:, 1], -left[:, 0]], axis=-1)
    for side, (theirs, ours) in enumerate(zip(source.feet, target.feet, strict=True)):
        ball = positions[:, theirs.toe]
        height = theirs.ball_height if stance is None else stance[side]
        goals[:, side, :2] = root[:, :2] + scale * (ball[:, :2] - clip.root[:, :2])
        goals[:, side, :2] += (0.5 - side) * wider * left + longer * ahead
        goals[:, side, 2] = scale * (ball[:, 2] - height) + ours.ball_height
    return goals


def _hip_width(skeleton: Skeleton) -> float:
    positions = skeleton.rest_world[0]
    return float(np.linalg.norm(positions[skeleton.index("left_hip")] - positions[skeleton.index("right_hip")]))


def _foot_reach(skeleton: Skeleton) -> float:
    """How far the toe joints lie ahead of the ankles, metres."""
    positions = skeleton.rest_world[0]
    return float(np.mean([np.linalg.norm((positions[foot.toe] - positions[foot.ankle])[:2]) for foot in skeleton.feet]))


def _at_least(height: Array, least: Array, soft: float = 0.01) -> Array:
    """The greater of two heights, rounded over about ``soft`` metres: at ``least`` a fifth of that more."""
    over = height - least
    return np.asarray(least + 0.5 * (over + np.sqrt(over**2 + (0.4 * soft) ** 2)))


def _step_alike(target: Skeleton, hips: Array, world: Array, goals: Array) -> Array:
    """World rotations (frames, b, 4) with the legs turned so that the balls of the feet are at ``goals``."""
    positions, _ = target.fk(hips, target.local_rotations(world))
    world = np.array(world)
    for side, foot in enumerate(target.feet):
        ankle = goals[:, side] - (positions[:, foot.toe] - positions[:, foot.ankle])
        hinge = rot.rotate(world[:, foot.hip], knee_hinge(target, foot, positions, world))
        hip, knee = positions[:, foot.hip], positions[:, foot.knee]
        reach = _soft_reach(hip, ankle, positions[:, foot.ankle], target.leg_length)
        turn = solve_leg(hip, knee, positions[:, foot.ankle], hinge, reach)
        below = [_descendants(target, joint) for joint in (foot.hip, foot.knee, foot.ankle)]
        for joints, applied in ((below[0] - below[1], turn.thigh), (below[1] - below[2], turn.shin)):
            for joint in joints:
                world[:, joint] = rot.mul(applied, world[:, joint])
    return world


def _soft_reach(hip: Array, goal: Array, now: Array, length: float) -> Array:
    """``goal`` (frames, 3) drawn towards the hip near full stretch, smoothly, but never less stretched than ``now``."""
    line = goal - hip
    wished = np.linalg.norm(line, axis=-1) / length
    soft = np.where(wished > 0.96, 1.0 - 0.04 * np.exp(-(wished - 0.96) / 0.04), wished)
    soft = np.maximum(soft, np.minimum(wished, np.linalg.norm(now - hip, axis=-1) / length))
    return np.asarray(hip + line * (soft / np.maximum(wished, 1e-9))[:, None])


def _descendants(skeleton: Skeleton, joint: int) -> set[int]:
    """The joint and all that hang on it."""
    found = {joint}
    for child, parent in enumerate(skeleton.parents):
        if parent in found:
            found.add(child)
    return found
