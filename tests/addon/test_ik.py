"""Rigify's IK controls against the FK motion they stand for, through Blender's own solver."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import RigError
from blender_addon.motion.retarget import retarget
from blender_addon.motion.runs import runs
from blender_addon.scene import actions, compat
from blender_addon.scene.channels import channels_of
from blender_addon.scene.rigify_ik import with_ik
from blender_addon.scene.rigs import read_rig
from tests.addon.rig_makers import armature_of, empty_scene
from tests.synthetic import biped, walk
from tools import make_rigify

FRAMES = (1, 25, 40, 47, 66, 90, 121)


@pytest.fixture(scope="module")
def rigify_file():
    return make_rigify.cached()


@pytest.fixture
def rig_object(rigify_file):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file))
    ob = bpy.data.objects["rig"]
    ob.location, ob.rotation_euler = (1.0, 0.5, 0.0), (0.0, 0.0, 0.7)
    return ob


def walking(turning=0.3, elbows=0.35):
    """A made-up walk with elbows bent forwards by so much (radians)."""
    clip = walk(2.0, 1.0, turning)
    rotations = np.array(clip.rotations)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        turn = rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), sign * elbows)
        rotations[:, clip.skeleton.index(f"{side}_elbow")] = turn
    return replace(clip, rotations=rotations)


def bake(ob, both=False, motion="bone", elbows=0.35):
    rig, ik = with_ik(ob, read_rig(ob), both)
    clip = retarget(walking(elbows=elbows), rig.skeleton)
    base = actions.object_base(ob) if motion == "object" else None
    channels = channels_of(rig, clip, motion, base=base, ik=ik)
    actions.write(ob, rig, channels, name="Walk")
    return rig, ik, clip, channels


def at(ob, bone, frame):
    bpy.context.scene.frame_set(frame)
    places, turns = actions.evaluated(ob, [bone])
    return places[0], turns[0]


@pytest.mark.parametrize("motion", ["bone", "object", "hips"])
def test_feet_hands_and_joints_are_where_the_fk_motion_has_them(rig_object, motion) -> None:
    rig, ik, clip, _ = bake(rig_object, motion=motion)
    error = actions.measure(rig_object, rig, clip, 1, motion=motion, samples=25, loose=ik.loose)
    assert error.metres < 1.8e-4 and error.degrees < 0.05, error


def test_arms_as_straight_as_they_go_are_off_by_less_than_a_millimetre(rig_object) -> None:
    """Where a limb is straight Blender's solver stops early, and its plane means nothing."""
    rig, ik, clip, _ = bake(rig_object, elbows=0.0)
    assert actions.measure(rig_object, rig, clip, 1, samples=25, loose=ik.loose).metres < 1e-3


def test_knees_and_elbows_bend_in_the_planes_of_the_motion(rig_object) -> None:
    _, ik, clip, _ = bake(rig_object)
    positions = clip.world[0]
    for limb, bones in zip(ik.limbs, (("thigh", "shin", "foot", "L"), ("thigh", "shin", "foot", "R"),
                                      ("upper_arm", "forearm", "hand", "L"), ("upper_arm", "forearm", "hand", "R")),
                           strict=True):  # fmt: skip
        for frame in FRAMES:
            wanted = positions[frame - 1, [limb.start, limb.middle, limb.end]]
            found = np.array([at(rig_object, f"ORG-{bone}.{bones[3]}", frame)[0] for bone in bones[:3]])
            planes = [np.cross(p[1] - p[0], p[2] - p[1]) for p in (wanted, found)]
            sine = np.linalg.norm(planes[0]) / 0.2
            if sine > 0.02:
                unit = [plane / np.linalg.norm(plane) for plane in planes]
                assert np.degrees(np.arccos(np.clip(unit[0] @ unit[1], -1, 1))) < 1.0


def test_the_ik_rules_and_only_its_controls_are_keyed(rig_object) -> None:
    _, _, _, channels = bake(rig_object)
    names = {channel.bone for channel in channels}
    assert {"foot_ik.L", "foot_heel_ik.R", "toe_ik.L", "thigh_ik_target.R", "hand_ik.L", "torso"} <= names
    assert not any("_fk." in name and "spine" not in name for name in names)
    bpy.context.scene.frame_set(50)
    assert rig_object.pose.bones["thigh_parent.L"]["IK_FK"] == 0.0
    assert rig_object.pose.bones["upper_arm_parent.R"]["IK_FK"] == 0.0


def test_with_both_the_switch_can_be_turned_without_a_jump(rig_object) -> None:
    bake(rig_object, both=True)
    bones = ["ORG-shin.L", "ORG-foot.R", "ORG-forearm.L", "ORG-hand.R"]
    by_ik = [[at(rig_object, bone, frame)[0] for bone in bones] for frame in FRAMES]
    for limb in ("thigh_parent", "upper_arm_parent"):
        for side in "LR":
            path = f'pose.bones["{limb}.{side}"]["IK_FK"]'
            store = compat.curve_store(rig_object, rig_object.animation_data.action)
            curve = store.fcurves.find(path)
            curve.keyframe_points[0].co[1] = 1.0
            curve.update()
    by_fk = [[at(rig_object, bone, frame)[0] for bone in bones] for frame in FRAMES]
    assert np.abs(np.array(by_ik) - np.array(by_fk)).max() < 2e-4


def test_an_animator_can_move_one_foot_and_the_other_stays(rig_object) -> None:
    bake(rig_object)
    before = [at(rig_object, f"ORG-foot.{s}", 60)[0] for s in "LR"]
    store = compat.curve_store(rig_object, rig_object.animation_data.action)
    curve = store.fcurves.find('pose.bones["foot_ik.L"].location', index=2)
    for point in curve.keyframe_points:
        point.co[1] += 0.05
    curve.update()
    after = [at(rig_object, f"ORG-foot.{s}", 60)[0] for s in "LR"]
    assert np.allclose(after[0] - before[0], [0, 0, 0.05], atol=2e-4) and np.allclose(after[1], before[1], atol=1e-4)


def test_a_heel_that_lifts_rolls_over_still_toes_and_the_foots_control_stays() -> None:
    """Made up: the foot stands flat, then the heel comes up by 40 degrees about the ball while the toes stay."""
    from blender_addon.scene.ik_channels import Roll, _roll_angle, compose, inverse

    ball, heel, axis = np.array([0.1, -0.09, 0.0]), np.array([0.1, 0.05, 0.0]), np.array([1.0, 0.0, 0.0])
    roll = Roll("heel", "XYZ", axis, ball, heel)
    lift = np.concatenate([np.zeros(20), np.linspace(0, np.radians(40), 20)])
    still = np.tile(rot.IDENTITY, (40, 1)), np.tile([0.3, -1.0, 0.0], (40, 1))
    foot = compose(still, roll.move(lift))
    angle = _roll_angle(roll, foot, still, np.ones(40, bool), 30.0)
    assert np.allclose(angle, lift, atol=1e-9)
    base = compose(foot, inverse(roll.move(angle)))
    assert np.allclose(base[1], still[1], atol=1e-9) and np.allclose(base[0], still[0], atol=1e-9)


def test_a_heel_strike_rolls_over_the_heel_before_the_foot_is_flat() -> None:
    from blender_addon.scene.ik_channels import Roll, _roll_angle, compose

    roll = Roll("heel", "XYZ", np.array([1.0, 0.0, 0.0]), np.array([0.0, -0.1, 0.0]), np.array([0.0, 0.05, 0.0]))
    pitch = np.concatenate([np.full(30, -0.35), np.linspace(-0.35, 0.0, 8), np.zeros(22)])
    foot = compose((np.tile(rot.IDENTITY, (60, 1)), np.zeros((60, 3))), roll.move(pitch))
    stands = np.arange(60) >= 30
    angle = _roll_angle(roll, foot, foot, stands, 30.0)
    assert np.allclose(angle[30:38], pitch[30:38], atol=1e-9) and np.abs(angle[38:]).max() < 1e-9
    assert np.all(angle[:20] == 0.0) and np.abs(np.diff(angle)).max() < 0.2
    assert runs(stands) == [(30, 60)]


def test_rigs_without_known_ik_are_refused_with_a_way_out() -> None:
    empty_scene()
    ob = armature_of(biped(), root=True)
    with pytest.raises(RigError, match="no IK controls"):
        with_ik(ob, read_rig(ob))


def test_reduced_keys_hold_their_tolerance_in_blender(rig_object) -> None:
    from blender_addon.motion.key_reduction import Tolerance
    from blender_addon.scene.reduction import reduce_channels

    for controls in ("fk", "ik", "both"):
        rig, ik = read_rig(rig_object), None
        if controls != "fk":
            rig, ik = with_ik(rig_object, rig, controls == "both")
        clip = retarget(walking(), rig.skeleton)
        channels, found = reduce_channels(rig, channels_of(rig, clip, ik=ik), clip.contacts, Tolerance(), ik=ik)
        actions.write(rig_object, rig, channels, name=controls)
        error = actions.measure(rig_object, rig, clip, 1, samples=40, loose=ik.loose if ik else ())
        assert error.metres <= 0.002 and error.degrees <= 0.5, (controls, error)
        assert found.share() < 0.2 and not found.notes, (controls, found.share())
