"""Baked keys against Blender's own evaluation: scaled, rotated, parented armatures, all rotation modes, all outputs."""

from __future__ import annotations

import time
from math import radians

import bpy
import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.scene import actions, compat
from blender_addon.scene.channels import axis_angles, channels_of, eulers
from blender_addon.scene.rigs import read_rig
from tests.addon.rig_makers import armature_of, empty_scene, random_clip
from tests.synthetic import biped

METRES, DEGREES = 1e-5, 1e-3


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def bake(ob, motion="bone", frame_start=1, mode="new", seed=0, **made):
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, seed=seed, **made)
    base = actions.object_base(ob) if motion == "object" else None
    channels = channels_of(rig, clip, motion, base=base)
    written = actions.write(ob, rig, channels, name="Walk", frame_start=frame_start, mode=mode)
    return rig, clip, written, actions.measure(ob, rig, clip, frame_start, motion=motion)


def exact(error) -> bool:
    return error.metres < METRES and error.degrees < DEGREES


def place_parented(ob):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1, 2, 0.5), (0.3, 0.2, 1), (2, 2, 2)
    ob.parent = parent
    ob.scale, ob.location, ob.rotation_euler = (0.5, 0.5, 0.5), (0.2, 0, 0), (0, 0, 2)


PLACES = {
    "plain": lambda ob: None,
    "turned": lambda ob: setattr(ob, "rotation_euler", (0.2, -0.4, 2.5)),
    "moved": lambda ob: setattr(ob, "location", (3.0, -1.0, 0.4)),
    "parented": place_parented,
}


@pytest.mark.parametrize("root", [False, True], ids=["no root bone", "root bone"])
@pytest.mark.parametrize("place", PLACES)
def test_a_bake_is_exact_wherever_the_armature_stands(place, root) -> None:
    ob = armature_of(biped(), root=root)
    PLACES[place](ob)
    *_, error = bake(ob)
    assert exact(error), error


@pytest.mark.parametrize("unit", [0.01, 100.0, 0.0254])
def test_a_bake_is_exact_on_scaled_armatures(unit) -> None:
    """An FBX of centimetres comes as a scale of 0.01 and a turn about x."""
    ob = armature_of(biped(), root=True, unit=unit)
    ob.scale, ob.rotation_euler = (unit,) * 3, (0.0, 0.0, radians(40.0))
    *_, error = bake(ob)
    assert exact(error), error


@pytest.mark.parametrize("length", [0.01, 2.0])
def test_the_scenes_unit_scale_counts(length) -> None:
    bpy.context.scene.unit_settings.scale_length = length
    ob = armature_of(biped(), unit=length)
    rig, _, _, error = bake(ob)
    assert abs(rig.skeleton.leg_length - biped().leg_length) < 1e-5
    assert exact(error), error


@pytest.mark.parametrize("mode", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE"])
def test_rotation_modes_are_kept_and_exact(mode) -> None:
    ob = armature_of(biped(), root=True)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    *_, error = bake(ob)
    assert {bone.rotation_mode for bone in ob.pose.bones} == {mode}
    assert exact(error), error


def test_bones_that_ignore_their_parents_turn_are_exact() -> None:
    ob = armature_of(biped(), root=True)
    for name in ("Spine1", "LeftArm", "RightLeg"):
        ob.data.bones[name].use_inherit_rotation = False
    for name in ("Hips", "LeftUpLeg"):
        ob.data.bones[name].use_local_location = False
    for bone in ob.data.bones:
        bone.inherit_scale = "ALIGNED"
    *_, error = bake(ob)
    assert exact(error), error


@pytest.mark.parametrize("motion", ["bone", "object", "hips"])
@pytest.mark.parametrize("place", PLACES)
def test_every_way_to_travel_shows_the_same_motion(place, motion) -> None:
    ob = armature_of(biped(), root=True)
    PLACES[place](ob)
    *_, error = bake(ob, motion=motion)
    assert exact(error), error


def test_in_place_leaves_the_object_where_it_is_and_the_root_over_it() -> None:
    ob = armature_of(biped(), root=True)
    ob.location = (2.0, 1.0, 0.0)
    rig, clip, _, error = bake(ob, motion="in place")
    assert exact(error), error
    bpy.context.scene.frame_set(15)
    hips, _ = actions.evaluated(ob, ["Hips"])
    arm = clip.hips[14, :2] - clip.root[14, :2]
    assert np.allclose(np.linalg.norm(hips[0, :2] - [2.0, 1.0]), np.linalg.norm(arm), atol=1e-5)


def test_bones_between_that_were_posed_are_put_back() -> None:
    ob = armature_of(biped(), root=True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    middle = bones.new("Middle")
    middle.head, middle.tail, middle.parent = (0, 0, 1), (0, 0, 1.05), bones["Hips"]
    bones["Spine"].parent = middle
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.pose.bones["Middle"].rotation_quaternion = (0.9, 0.1, 0.3, 0)
    *_, error = bake(ob)
    assert exact(error), error


def test_negative_start_frames_and_broken_frame_rates_are_kept() -> None:
    render = bpy.context.scene.render
    render.fps, render.fps_base = 24, 1.001
    ob = armature_of(biped())
    rig, _, written, error = bake(ob, frame_start=-20)
    assert written.frame_start == -20 and written.frame_end == 9
    assert exact(error), error


def test_the_action_is_bound_and_plays_on_its_own_armature_only() -> None:
    first, second = armature_of(biped(), "A"), armature_of(biped(), "B")
    bake(first)
    bake(second, seed=4)
    one, two = first.animation_data, second.animation_data
    assert one.action != two.action
    if hasattr(one, "action_slot"):
        assert one.action_slot is not None and two.action_slot is not None
    bpy.context.scene.frame_set(20)
    a, _ = actions.evaluated(first, ["LeftHand"])
    b, _ = actions.evaluated(second, ["LeftHand"])
    assert np.linalg.norm(a - b) > 0.01


def test_new_replace_and_nla() -> None:
    ob = armature_of(biped(), root=True)
    _, _, first, _ = bake(ob)
    _, _, second, error = bake(ob, seed=1)
    assert len(bpy.data.actions) == 2 and second.action != first.action and exact(error)
    _, _, third, error = bake(ob, seed=2, mode="replace")
    assert third.action == second.action and exact(error)
    assert {action.name for action in bpy.data.actions} == {first.action, second.action, f"{second.action} (before)"}
    _, _, fourth, error = bake(ob, seed=3, mode="nla")
    tracks = ob.animation_data.nla_tracks
    assert [track.strips[0].action.name for track in tracks] == [third.action, fourth.action]
    assert ob.animation_data.action is None
    assert exact(error), error


def test_replacing_keeps_curves_of_other_bones() -> None:
    ob = armature_of(biped(), root=True)
    rig, *_ = bake(ob)
    store = compat.curve_store(ob, ob.animation_data.action)
    curve = store.fcurves.new('pose.bones["Root"].scale', index=1)
    curve.keyframe_points.add(2)
    curve.keyframe_points.foreach_set("co", [1, 1, 30, 1])
    bake(ob, seed=1, mode="replace")
    paths = {curve.data_path for curve in compat.action_curves(ob.animation_data.action)}
    assert 'pose.bones["Root"].scale' in paths


def test_a_failure_leaves_nothing(monkeypatch) -> None:
    ob = armature_of(biped())
    rig = read_rig(ob)
    channels = channels_of(rig, random_clip(rig.skeleton))
    monkeypatch.setattr(compat, "bind_action", lambda *_: (_ for _ in ()).throw(RuntimeError("disk")))
    with pytest.raises(RuntimeError):
        actions.write(ob, rig, channels, name="Walk")
    assert len(bpy.data.actions) == 0
    assert ob.animation_data is None or ob.animation_data.action is None


def test_clearing_puts_the_bones_back() -> None:
    ob = armature_of(biped())
    bake(ob)
    bpy.context.scene.frame_set(10)
    actions.clear(ob)
    bpy.context.view_layer.update()
    assert all(np.allclose(bone.matrix_basis, np.eye(4), atol=1e-6) for bone in ob.pose.bones)
    assert len(bpy.data.actions) == 0


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_eulers_agree_with_blender_and_do_not_jump(order) -> None:
    from mathutils import Quaternion

    random = np.random.default_rng(1)
    q = rot.unroll(rot.normalize(np.cumsum(random.normal(size=(200, 4)), axis=0) + 1e-3))
    angles = eulers(q, order)
    for k in range(0, 200, 7):
        back = Quaternion(q[k]).to_matrix()
        from mathutils import Euler

        made = Euler(angles[k], order).to_matrix()
        assert np.allclose(np.array(made), np.array(back), atol=1e-5)
    slow = rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.linspace(0, 20, 300))
    assert np.abs(np.diff(eulers(slow, order), axis=0)).max() < 0.2


def test_axis_angles_do_not_flip() -> None:
    q = rot.from_axis_angle(np.array([0.0, 0.6, 0.8]), np.linspace(-4, 9, 300))
    values = axis_angles(rot.unroll(q))
    assert np.abs(np.diff(values, axis=0)).max() < 0.1


def test_keys_of_65_bones_and_1000_frames_are_written_quickly() -> None:
    """The bound is 0.15 s on an idle machine; the test allows for a busy one."""
    skeleton = biped()
    ob = armature_of(skeleton, root=True)
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, frames=1000)
    channels = channels_of(rig, clip)
    many = [type(channels[0])(f"Bone{k}", "rotation_quaternion", channels[-1].values) for k in range(65)]
    best = 9.0
    for _ in range(3):
        begin = time.perf_counter()
        actions.write(ob, rig, many, name="Many")
        best = min(best, time.perf_counter() - begin)
    print(f"65 bones x 1000 frames: {best:.3f} s")
    assert best < 1.0


def test_a_pose_left_from_before_does_not_shine_through() -> None:
    ob = armature_of(biped(), root=True)
    bake(ob)
    bpy.context.scene.frame_set(25)
    ob.pose.bones["Head"].location = (0.1, 0.2, 0.0)
    *_, error = bake(ob, motion="hips", seed=3)
    assert exact(error), error
