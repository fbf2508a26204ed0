"""Retargeting: there and back again, T-pose and A-pose, other spines, other sizes, other bone axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.errors import RigError
from blender_addon.motion.retarget import flat_footed_rest, grounded_rest, posed_rest, retarget, stance_heights
from blender_addon.motion.skeleton import Skeleton, make_skeleton
from tests.synthetic import biped, walk

LIMBS = [f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "shoulder", "elbow")]


def with_other_axes(skeleton: Skeleton, seed: int) -> Skeleton:
    """The same rest pose in the world, every joint's own axes turned at random."""
    turns = rot.normalize(np.random.default_rng(seed).normal(size=(len(skeleton), 4)))
    positions, world = skeleton.rest_world
    world = rot.mul(world, turns)
    local, offsets = skeleton.local_rotations(world), np.array(skeleton.offsets)
    parents = np.array(skeleton.parents[1:])
    offsets[1:] = rot.inv_rotate(world[parents], positions[1:] - positions[parents])
    return replace(skeleton, offsets=offsets, rest_rotations=local, tails=rot.inv_rotate(turns, skeleton.tails))


def a_posed(skeleton: Skeleton, angle: float = 0.9) -> Skeleton:
    rotations = np.array(skeleton.rest_rotations)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joint = skeleton.index(f"{side}_shoulder")
        rotations[joint] = rot.mul(rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), sign * angle), rotations[joint])
    return posed_rest(skeleton, rotations)


def larger(skeleton: Skeleton, factor: float) -> Skeleton:
    return replace(skeleton, offsets=skeleton.offsets * factor, tails=skeleton.tails * factor,
                   ball_height=skeleton.ball_height * factor)  # fmt: skip


def with_spine(count: int) -> Skeleton:
    """A biped with a spine of ``count`` joints, a neck, a twist joint in each forearm, and feet of other length."""
    old = biped()
    names, parents, offsets, roles = [], [], [], {}
    positions, _ = old.rest_world

    def add(name: str, parent: str | None, place: np.ndarray, role: str = "") -> None:
        names.append(name)
        parents.append(names.index(parent) if parent else -1)
        above = places[parent] if parent else np.zeros(3)
        offsets.append(place - above)
        places[name] = place
        if role:
            roles[role] = name

    places: dict[str, np.ndarray] = {}
    add("pelvis", None, positions[0], "hips")
    top = positions[old.index("spine_2")]
    for number in range(1, count + 1):
        add(f"back{number}", names[-1], positions[0] + (top - positions[0]) * number / count, f"spine_{number}")
    chest = names[-1]
    add("neck", chest, positions[old.index("head")] - [0, 0, 0.05], "neck")
    add("skull", "neck", positions[old.index("head")] + [0, 0, 0.05], "head")
    for side in ("left", "right"):
        for limb, start in (("clavicle shoulder elbow wrist", chest), ("hip knee ankle toe", "pelvis")):
            above = start
            for part in limb.split():
                role = f"{side}_{part}"
                place = positions[old.index(role)] + ([0, -0.02, 0] if part == "toe" else [0, 0, 0])
                add(f"{part}_{side}", above, place, role)
                above = f"{part}_{side}"
                if part == "elbow":
                    add(f"twist_{side}", above, place + [0.05 if side == "left" else -0.05, 0, 0])
    return make_skeleton(names, parents, np.array(offsets), roles=roles, ball_height=0.025)


def directions(clip: Clip) -> np.ndarray:
    ends = {"hip": "knee", "knee": "ankle", "shoulder": "elbow", "elbow": "wrist"}
    positions, _ = clip.world
    lines = []
    for role in LIMBS:
        side, part = role.split("_")
        line = positions[:, clip.skeleton.index(f"{side}_{ends[part]}")] - positions[:, clip.skeleton.index(role)]
        lines.append(line / np.linalg.norm(line, axis=-1, keepdims=True))
    return np.stack(lines, axis=1)


@given(st.integers(0, 1000))
def test_there_and_back_is_where_it_was(seed: int) -> None:
    clip = walk(1.0, speed=1.0, turning=0.5)
    other = a_posed(with_other_axes(larger(clip.skeleton, 1.3), seed))
    back = retarget(retarget(clip, other), clip.skeleton)
    assert np.abs(back.world[0] - clip.world[0]).max() < 1e-6
    np.testing.assert_allclose(back.root, clip.root, atol=1e-9)
    assert (back.contacts == clip.contacts).all()


def test_limbs_point_where_the_sources_do_whatever_the_rest_pose() -> None:
    clip = walk(2.0, speed=1.0)
    for target in (a_posed(biped()), with_other_axes(a_posed(biped(), 1.2), 5), with_spine(4)):
        out = retarget(clip, target, keep_steps=False)
        np.testing.assert_allclose(directions(out), directions(clip), atol=1e-6)


def test_a_given_reference_pose_stands_in_for_a_useless_rest_pose() -> None:
    clip = walk(1.0, speed=1.0)
    t_pose = clip.skeleton.rest_rotations
    # Every joint's rest rotation is nonsense, as in snu22, but the clip's rotations are what they are.
    nonsense = rot.normalize(np.random.default_rng(3).normal(size=t_pose.shape))
    strange = replace(clip, skeleton=posed_rest(clip.skeleton, nonsense))
    out = retarget(strange, biped(), source_reference=t_pose)
    assert np.abs(out.world[0] - clip.world[0]).max() < 1e-6


def test_where_the_reference_faces_does_not_matter() -> None:
    clip = walk(1.0, speed=1.0)
    turned = np.array(clip.skeleton.rest_rotations)
    turned[0] = rot.from_yaw(2.0)
    out = retarget(clip, biped(), source_reference=turned)
    assert np.abs(out.world[0] - clip.world[0]).max() < 1e-6


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_spine_shares_its_bend_and_ends_alike(count: int) -> None:
    clip = walk(0.5, speed=0.0)
    rotations = np.array(clip.rotations)
    bend = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.3)
    for role in ("spine_1", "spine_2"):
        rotations[:, clip.skeleton.index(role)] = bend
    out = retarget(replace(clip, rotations=rotations), with_spine(count))
    world = out.world[1][0]
    angles = [2 * np.arctan2(world[out.skeleton.index(f"spine_{n}"), 1], world[out.skeleton.index(f"spine_{n}"), 0])
              for n in range(1, count + 1)]  # fmt: skip
    np.testing.assert_allclose(angles, 0.6 * np.arange(1, count + 1) / count, atol=1e-6)


def test_joints_without_a_role_keep_their_rest_rotation() -> None:
    target = with_spine(3)
    out = retarget(walk(1.0), target)
    for side in ("left", "right"):
        twist = target.names.index(f"twist_{side}")
        away = rot.angle_between(out.rotations[:, twist], target.rest_rotations[twist])
        np.testing.assert_allclose(away, 0, atol=1e-6)


def test_steps_and_hips_scale_with_the_legs() -> None:
    clip = walk(2.0, speed=1.0)
    out = retarget(clip, larger(biped(), 0.5))
    np.testing.assert_allclose(out.hips, 0.5 * clip.hips, atol=1e-6)
    np.testing.assert_allclose(out.root[:, :2], 0.5 * clip.root[:, :2], atol=1e-9)
    kept = retarget(clip, larger(biped(), 0.5), scale_travel=False)
    np.testing.assert_allclose(kept.root, clip.root, atol=1e-9)
    np.testing.assert_allclose(kept.hips[:, 2], 0.5 * clip.hips[:, 2], atol=1e-6)


def test_longer_feet_still_step_where_the_source_steps() -> None:
    clip = walk(2.0, speed=0.8)
    target = with_spine(3)
    out, loose = retarget(clip, target), retarget(clip, target, keep_steps=False)
    scale = target.leg_length / clip.skeleton.leg_length

    def miss(result: Clip) -> float:
        worst = 0.0
        for theirs, ours in zip(clip.skeleton.feet, target.feet, strict=True):
            ball = result.world[0][:, ours.toe] - [0, 0, ours.ball_height]
            goal = scale * (clip.world[0][:, theirs.toe] - [0, 0, theirs.ball_height])
            worst = max(worst, float(np.linalg.norm(ball - goal, axis=-1).max()))
        return worst

    assert miss(out) < 0.005 < miss(loose)


def test_feet_that_rest_on_tiptoe_are_set_flat_by_how_they_stand() -> None:
    clip = walk(1.0, speed=0.0)
    skeleton = clip.skeleton
    standing = replace(clip, rotations=np.tile(skeleton.rest_rotations, (len(clip), 1, 1)))
    tiptoe = np.array(skeleton.rest_rotations)
    for foot in skeleton.feet:
        tiptoe[foot.ankle] = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.3)
    crooked = replace(standing, skeleton=posed_rest(skeleton, tiptoe))
    assert abs(crooked.skeleton.feet[0].ankle_height - skeleton.feet[0].ankle_height) > 0.02
    mended = grounded_rest(flat_footed_rest(crooked))
    for foot, wanted in zip(mended.feet, skeleton.feet, strict=True):
        assert foot.ankle_height == pytest.approx(wanted.ankle_height, abs=1e-6)


def test_a_grounded_rest_pose_stands_at_the_origin_and_faces_forward() -> None:
    turned = np.array(biped().rest_rotations)
    turned[0] = rot.from_yaw(1.0)
    grounded = grounded_rest(posed_rest(biped(), turned, np.array([3.0, 2.0, 5.0])))
    np.testing.assert_allclose(grounded.rest_world[0], biped().rest_world[0], atol=2e-3)


def test_a_target_without_a_leg_is_refused_by_name() -> None:
    target = biped()
    lame = replace(target, roles={r: n for r, n in target.roles.items() if r != "left_knee"})
    with pytest.raises(RigError, match="target lacks: left knee"):
        retarget(walk(0.5), lame)


def test_a_leg_captured_too_long_still_stands_on_the_ground() -> None:
    clip = walk(1.0, speed=0.0)
    skeleton = clip.skeleton
    clip = replace(clip, rotations=np.tile(skeleton.rest_rotations, (len(clip), 1, 1)),
                   hips=np.tile(skeleton.offsets[0], (len(clip), 1)))  # fmt: skip
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.index("left_ankle"), 2] -= 0.015
    uneven = replace(clip, skeleton=replace(skeleton, offsets=offsets))
    left, right = stance_heights(uneven)
    assert left - right == pytest.approx(-0.015, abs=1e-9)
    out = retarget(uneven, skeleton, stance=(left, right))
    toes = out.world[0][:, [foot.toe for foot in skeleton.feet], 2]
    # The right leg is stretched already and comes down only as far as it reaches.
    np.testing.assert_allclose(toes, skeleton.ball_height, atol=4e-3)


def test_feet_do_not_sink_into_the_ground_when_told_so() -> None:
    clip = walk(1.0, speed=0.0)
    low = replace(clip, hips=clip.hips - np.array([0.0, 0.0, 0.1]))
    toes = [foot.toe for foot in low.skeleton.feet]
    assert retarget(low, biped()).world[0][:, toes, 2].max() < -0.02
    out = retarget(low, biped(), above_ground=True).world[0][:, toes, 2]
    assert 0.024 < out.min() < 0.03
