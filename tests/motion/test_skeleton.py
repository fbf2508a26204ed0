"""Skeletons: kinematics against a plain loop, roles, mirroring, feet, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import RigError
from blender_addon.motion.skeleton import REQUIRED_ROLES, Skeleton, make_skeleton


def walker(rest_seed: int | None = None) -> Skeleton:
    """Hips at 1 m, spine, head, arms of one bone, legs; symmetrical; with a seed, bone frames turned at random."""
    names = ["Hips", "Spine", "Head"]
    parents = [-1, 0, 1]
    offsets = [[0.0, 0.0, 1.0], [0.0, 0.02, 0.3], [0.0, -0.01, 0.3]]
    roles = {"hips": "Hips", "spine_1": "Spine", "head": "Head"}
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        first = len(names)
        names += [f"{side}Arm", f"{side}UpLeg", f"{side}Leg", f"{side}Foot", f"{side}Toe"]
        parents += [1, 0, first + 1, first + 2, first + 3]
        offsets += [
            [sign * 0.2, 0.0, 0.2],
            [sign * 0.1, 0.0, -0.05], [0.0, -0.01, -0.45], [0.0, 0.03, -0.42], [0.0, -0.13, -0.06],
        ]  # fmt: skip
        roles |= {f"{side.lower()}_{role}": f"{side}{bone}" for role, bone in (
            ("shoulder", "Arm"), ("hip", "UpLeg"), ("knee", "Leg"), ("ankle", "Foot"), ("toe", "Toe"),
        )}  # fmt: skip
    plain = make_skeleton(names, parents, np.array(offsets), roles=roles)
    if rest_seed is None:
        return plain
    # The same rest pose in the world, with the joints' own frames turned: offsets and tails turn with their parents.
    world = rot.normalize(np.random.default_rng(rest_seed).normal(size=(len(names), 4)))
    parent_frame = np.array([rot.IDENTITY if p < 0 else world[p] for p in plain.parents])
    return replace(
        plain, offsets=rot.inv_rotate(parent_frame, plain.offsets),
        rest_rotations=plain.local_rotations(world), tails=rot.inv_rotate(world, plain.tails),
    )  # fmt: skip


def random_pose(skeleton: Skeleton, frames: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(frames, 3)), rot.normalize(rng.normal(size=(frames, len(skeleton), 4)))


@given(st.integers(0, 10_000))
def test_fk_agrees_with_a_plain_loop_over_joints(seed: int) -> None:
    skeleton = walker(rest_seed=3)
    hips, rotations = random_pose(skeleton, 4, seed)
    positions, world = skeleton.fk(hips, rotations)
    for frame in range(4):
        where: list[np.ndarray] = []
        turned: list[Rotation] = []
        for joint, parent in enumerate(skeleton.parents):
            own = Rotation.from_quat(np.roll(rotations[frame, joint], -1))
            turned.append(own if parent < 0 else turned[parent] * own)
            where.append(hips[frame] if parent < 0 else where[parent] + turned[parent].apply(skeleton.offsets[joint]))
        np.testing.assert_allclose(positions[frame], where, atol=1e-9)
        np.testing.assert_allclose(rot.to_matrix(world[frame]), [r.as_matrix() for r in turned], atol=1e-9)


def test_fk_takes_any_leading_axes() -> None:
    skeleton = walker()
    hips, rotations = random_pose(skeleton, 6, 0)
    flat = skeleton.fk(hips, rotations)
    deep = skeleton.fk(hips.reshape(2, 3, 3), rotations.reshape(2, 3, -1, 4))
    np.testing.assert_array_equal(deep[0].reshape(flat[0].shape), flat[0])
    np.testing.assert_array_equal(deep[1].reshape(flat[1].shape), flat[1])


@given(st.integers(0, 10_000))
def test_local_rotations_undo_fk(seed: int) -> None:
    skeleton = walker(rest_seed=5)
    hips, rotations = random_pose(skeleton, 3, seed)
    local = skeleton.local_rotations(skeleton.fk(hips, rotations)[1])
    np.testing.assert_allclose(rot.angle_between(local, rotations), 0.0, atol=1e-7)


def test_a_skeleton_of_one_joint_works() -> None:
    ball = make_skeleton(["ball"], [-1], np.zeros((1, 3)))
    positions, world = ball.fk(np.ones((2, 3)), np.tile(rot.IDENTITY, (2, 1, 1)))
    np.testing.assert_array_equal(positions, np.ones((2, 1, 3)))
    np.testing.assert_array_equal(ball.local_rotations(world), world)
    assert ball.missing_roles == REQUIRED_ROLES


def test_turned_bone_frames_leave_the_rest_pose_where_it_was() -> None:
    np.testing.assert_allclose(walker(rest_seed=7).rest_world[0], walker().rest_world[0], atol=1e-12)


def test_mirror_map_pairs_sides_and_is_its_own_inverse() -> None:
    skeleton = walker()
    pairs = {skeleton.names[a]: skeleton.names[b] for a, b in enumerate(skeleton.mirror_map)}
    assert pairs["LeftToe"] == "RightToe" and pairs["RightArm"] == "LeftArm" and pairs["Spine"] == "Spine"
    np.testing.assert_array_equal(skeleton.mirror_map[skeleton.mirror_map], np.arange(len(skeleton)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("LeftArm", "RightArm"), ("left_arm", "right_arm"), ("arm.L", "arm.R"), ("arm_l", "arm_r"),
        ("DEF-arm.L.001", "DEF-arm.R.001"),
        ("LArm", "RArm"), ("mixamorig:LeftArm", "mixamorig:RightArm"), ("ARM_LEFT", "ARM_RIGHT"), ("arm-L", "arm-R"),
    ],
)  # fmt: skip
def test_sides_are_found_by_the_usual_names(left: str, right: str) -> None:
    skeleton = make_skeleton(["Hips", "LowerBack", left, right], [-1, 0, 1, 1], np.zeros((4, 3)))
    assert skeleton.mirror_map.tolist() == [0, 1, 3, 2]


def test_mirror_map_stays_an_involution_when_roles_and_names_disagree() -> None:
    names = ["Hips", "leg.L", "leg.R", "odd"]
    roles = {"left_hip": "leg.L", "right_hip": "odd"}
    partner = make_skeleton(names, [-1, 0, 0, 0], np.zeros((4, 3)), roles=roles).mirror_map
    np.testing.assert_array_equal(partner[partner], np.arange(4))
    assert partner[1] == 3


@pytest.mark.parametrize("rest_seed", [None, 11])
def test_feet_stand_on_the_ground_with_heel_behind_and_tip_ahead(rest_seed: int | None) -> None:
    skeleton = walker(rest_seed)
    positions, rotations = skeleton.rest_world
    for foot, sign in zip(skeleton.feet, (1.0, -1.0), strict=True):
        heel = positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.heel)
        ball = positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.ball)
        tip = positions[foot.toe] + rot.rotate(rotations[foot.toe], foot.tip)
        ground = positions[foot.toe, 2] - skeleton.ball_height
        np.testing.assert_allclose([heel[2], ball[2], tip[2]], ground, atol=1e-9)
        np.testing.assert_allclose(ball[:2], positions[foot.toe, :2], atol=1e-9)
        assert heel[1] > positions[foot.ankle, 1] > ball[1], "the character faces -Y"
        assert sign * ball[0] > 0.0
        assert foot.ankle_height == pytest.approx(0.06 + skeleton.ball_height)


def test_leg_length_is_thigh_and_shin() -> None:
    want = np.hypot(0.01, 0.45) + np.hypot(0.03, 0.42)
    assert walker().leg_length == pytest.approx(want)


def test_json_brings_a_skeleton_back() -> None:
    skeleton = walker(rest_seed=13)
    back = Skeleton.from_json(json.loads(json.dumps(skeleton.to_json())))
    assert (back.names, back.parents, dict(back.roles)) == (skeleton.names, skeleton.parents, dict(skeleton.roles))
    np.testing.assert_allclose(back.rest_world[0], skeleton.rest_world[0], atol=1e-6)
    np.testing.assert_allclose(back.tails, skeleton.tails, atol=1e-6)


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.pop("offsets"), lambda d: d.update(offsets=[[0, 0]]),
        lambda d: d.update(parents=[0] * len(d["names"])), lambda d: d.update(parents="none"),
        lambda d: d["offsets"][0].__setitem__(0, float("nan")), lambda d: d.update(roles={"hips": "nobody"}),
        lambda d: d.update(names=["a"] * len(d["names"])), lambda d: d.update(ball_height="x"),
    ],
)  # fmt: skip
def test_a_malformed_description_is_refused(damage: object) -> None:
    data = walker().to_json()
    damage(data)  # type: ignore[operator]
    with pytest.raises(RigError):
        Skeleton.from_json(data)


def test_a_missing_role_is_named_with_a_remedy() -> None:
    headless = replace(walker(), roles={"hips": "Hips"})
    assert "left_knee" in headless.missing_roles
    with pytest.raises(RigError, match="left knee") as caught:
        headless.index("left_knee")
    assert caught.value.remedy


def test_children_must_come_after_parents() -> None:
    with pytest.raises(RigError):
        make_skeleton(["a", "b", "c"], [-1, 2, 0], np.zeros((3, 3)))


def test_skeletons_can_be_compared_and_kept_in_dictionaries() -> None:
    one, other = walker(), walker()
    assert one == one and one != other and len({one, other}) == 2
