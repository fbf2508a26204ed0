"""Layers over an action, taking bakes back, and what stands in the way of keys."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import RigError
from blender_addon.motion.key_reduction import Tolerance
from blender_addon.scene import actions, compat, unbake
from blender_addon.scene.channels import channels_of
from blender_addon.scene.layering import Layer
from blender_addon.scene.reduction import reduce_channels
from blender_addon.scene.rigs import read_rig
from tests.addon.rig_makers import armature_of, empty_scene, random_clip
from tests.synthetic import biped

BONES = ["Root", "Hips", "LeftUpLeg", "LeftFoot", "Spine1", "Head", "RightHand"]


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


@pytest.fixture
def ob():
    return armature_of(biped(), root=True)


def write(ob, mode="new", seed=0, frames=60, **options):
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, frames=frames, seed=seed, spread=0.3)
    return rig, clip, actions.write(ob, rig, channels_of(rig, clip), name="Walk", mode=mode, **options)


def hand_made(ob, mode="QUATERNION"):
    """A sparse action with Bezier keys from before frame 1 to after frame 60, on mapped bones and others."""
    action = bpy.data.actions.new("Hand made")
    store = compat.curve_store(ob, action)
    random = np.random.default_rng(5)
    for name in ("Hips", "LeftUpLeg", "Head"):
        ob.pose.bones[name].rotation_mode = mode
        path, count = ("rotation_quaternion", 4) if mode == "QUATERNION" else ("rotation_euler", 3)
        turns = rot.unroll(rot.normalize(np.array([1.0, 0, 0, 0]) + random.normal(size=(9, 4)) * 0.3))
        values = turns if count == 4 else random.normal(size=(9, 3))
        for index in range(count):
            curve = store.fcurves.new(f'pose.bones["{name}"].{path}', index=index)
            for frame, value in zip(range(-20, 101, 15), values[:, index], strict=True):
                curve.keyframe_points.insert(frame, value).interpolation = "BEZIER"
            curve.update()
    other = store.fcurves.new('pose.bones["Root"].scale', index=1)
    other.keyframe_points.insert(5, 1.0)
    other.modifiers.new("CYCLES")
    compat.bind_action(ob, action)
    return action


def shown(ob, frames, bones=BONES):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=float(frame) % 1.0)
        final = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(final.pose.bones[bone].matrix) for bone in bones])
    return np.array(found)


OUTSIDE = [-19, -12.5, -3, 4.5, 10, 51, 55.5, 63, 80.25, 99]


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZYX"])
@pytest.mark.parametrize("width", [0, 8])
def test_a_layer_changes_its_frames_and_nothing_outside(ob, mode, width) -> None:
    hand_made(ob, mode)
    before = shown(ob, OUTSIDE)
    layer = Layer(10 + (width == 0), 51 - (width == 0), width, width)
    rig, clip, written = write(ob, "layer", layer=layer)
    assert (written.frame_start, written.frame_end) == (layer.first, layer.last)
    assert np.abs(shown(ob, OUTSIDE) - before).max() < 2e-5
    error = actions.measure(ob, rig, clip, 1, samples=9, span=(layer.first - 1 + width, layer.last - 1 - width))
    assert error.metres < 1e-5 and error.degrees < 1e-3, error


def test_a_layer_comes_in_and_goes_out_without_a_jump(ob) -> None:
    hand_made(ob)
    write(ob, "layer", layer=Layer(10, 51, 12, 12))
    turns = shown(ob, np.arange(5.0, 58.0, 0.5), ["Head"])[..., :3, :3]
    steps = np.diff(turns, axis=0)
    assert np.abs(steps).max() < 0.3 and np.abs(np.diff(steps, axis=0)).max() < 0.15


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_root_that_has_turned_full_circle_blends_out_by_the_shorter_way(ob, mode) -> None:
    root = ob.pose.bones["Root"]
    root.rotation_mode = mode
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, frames=60, spread=0.1)
    actions.write(ob, rig, channels_of(rig, clip), name="W", mode="layer", layer=Layer(1, 60, 10, 20))
    frames = np.arange(30.0, 64.0, 0.25)
    turns = rot.from_matrix(np.array([m[0][:3, :3] for m in shown(ob, frames, ["Root"])]))
    speed = rot.angle_between(turns[1:], turns[:-1])
    # 7 rad over 60 frames, and at most half a turn over 20.
    assert speed.max() < 0.25 * (7 / 59 + 1.9 * np.pi / 20)
    assert np.degrees(rot.angle_between(turns[-1], turns[-9])) < 0.5


def test_a_layer_over_nothing_blends_from_the_pose(ob) -> None:
    ob.pose.bones["Head"].rotation_quaternion = (0.9, 0.1, 0.3, 0.0)
    before = shown(ob, [1])
    rig, clip, _ = write(ob, "layer", layer=Layer(10, 50, 10, 10))
    assert np.abs(shown(ob, [1, 10, 50, 70]) - before).max() < 1e-5
    assert actions.measure(ob, rig, clip, 1, samples=5, span=(19, 39)).metres < 1e-5


def test_layers_may_be_reduced(ob) -> None:
    hand_made(ob)
    before = shown(ob, OUTSIDE)
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, frames=200, fps=120.0, spread=0.2)

    def fewer(channels, first, end):
        return reduce_channels(rig, channels, clip.contacts[first:end], Tolerance())[0]

    layer = Layer(10, 51, 8, 8)
    dense = actions.write(ob, rig, channels_of(rig, clip), name="W", mode="layer", layer=layer)
    unbake.unbake(ob)
    sparse = actions.write(ob, rig, channels_of(rig, clip), name="W", mode="layer", layer=layer, reduce=fewer)
    assert sparse.keys < 0.5 * dense.keys
    assert np.abs(shown(ob, OUTSIDE) - before).max() < 2e-5
    error = actions.measure(ob, rig, clip, 1, samples=20, span=(17, 42))
    assert error.metres <= 0.002 and error.degrees <= 0.5, error


def test_a_layer_beyond_the_motion_is_refused(ob) -> None:
    with pytest.raises(RigError, match="does not reach"):
        write(ob, "layer", layer=Layer(500, 600))
    assert len(bpy.data.actions) == 0


def everything(ob):
    """What un-bake must bring back."""
    data = ob.animation_data
    curves = []
    if data is not None and data.action is not None:
        for curve in compat.curve_store(ob, data.action).fcurves:
            points = [(tuple(p.co), tuple(p.handle_left), tuple(p.handle_right), p.interpolation)
                      for p in curve.keyframe_points]  # fmt: skip
            curves.append((curve.data_path, curve.array_index, points, len(curve.modifiers)))
    return {
        "action": data.action.name if data is not None and data.action else None, "slot": compat.slot_name(ob),
        "curves": curves, "tracks": [track.name for track in data.nla_tracks] if data is not None else [],
        "data": data is not None, "range": (bpy.context.scene.frame_start, bpy.context.scene.frame_end),
        "pose": [np.array(bone.matrix_basis).round(6).tolist() for bone in ob.pose.bones],
        "actions": sorted(action.name for action in bpy.data.actions),
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["new", "replace", "nla", "layer"])
@pytest.mark.parametrize("animated", [False, True], ids=["posed", "animated"])
def test_unbake_brings_back_what_was_there(ob, mode, animated) -> None:
    if animated:
        hand_made(ob)
    else:
        ob.pose.bones["Head"].rotation_quaternion = (0.9, 0.1, 0.3, 0.0)
    bpy.context.scene.frame_set(20)
    before = everything(ob)
    write(ob, mode, fitted=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    bpy.context.scene.frame_set(35)
    assert unbake.unbake(ob)
    bpy.context.scene.frame_set(20)
    after = everything(ob)
    assert after == before


def test_bakes_are_taken_back_one_after_the_other_down_to_the_first(ob) -> None:
    hand_made(ob)
    names = ["Hand made"]
    for seed in range(7):
        names.append(write(ob, "replace" if seed % 2 else "new", seed)[2].action)
    steps = 0
    while unbake.baked_action(ob) is not None:
        unbake.unbake(ob)
        steps += 1
    assert steps == unbake.MOST_STEPS and ob.animation_data.action.name == "Hand made"
    with pytest.raises(RigError, match="no bake"):
        unbake.unbake(ob)


def test_the_step_back_survives_saving(ob, tmp_path) -> None:
    hand_made(ob)
    write(ob)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects["Rig"]
    unbake.unbake(ob)
    assert ob.animation_data.action.name == "Hand made"


def test_an_action_of_another_object_is_left_as_it_is(ob) -> None:
    action = hand_made(ob)
    other = armature_of(biped(), "Other", root=True)
    compat.bind_action(other, action, compat.slot_name(ob))
    before = shown(other, [10, 30, 50])
    _, _, written = write(ob, "replace")
    assert "'Other' uses it too" in " ".join(written.notes)
    assert other.animation_data.action.name == "Hand made" != ob.animation_data.action.name
    assert np.abs(shown(other, [10, 30, 50]) - before).max() < 1e-6


def test_other_bones_modifiers_and_drivers_stay(ob) -> None:
    hand_made(ob)
    driver = ob.driver_add("pass_index")
    driver.driver.expression = "3"
    write(ob, "layer")
    curve = compat.curve_store(ob, ob.animation_data.action).fcurves.find('pose.bones["Root"].scale', index=1)
    assert len(curve.modifiers) == 1 and len(ob.animation_data.drivers) == 1


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "YZX"])
def test_locked_axes_are_not_written_and_that_is_said(ob, mode) -> None:
    head = ob.pose.bones["Head"]
    head.rotation_mode = mode
    head.lock_rotation[1] = True
    hips = ob.pose.bones["Hips"]
    hips.lock_location = (True, True, True)
    rig, clip, written = write(ob)
    assert "Head rotation Y" in " ".join(written.notes) and "Hips location X Y Z" in " ".join(written.notes)
    store = compat.curve_store(ob, ob.animation_data.action)
    assert store.fcurves.find('pose.bones["Hips"].location', index=0) is None
    bpy.context.scene.frame_set(30)
    if mode == "QUATERNION":
        assert abs(head.rotation_quaternion.to_euler("XYZ").y) < 1e-4
    else:
        assert abs(head.rotation_euler[1]) < 1e-6


def test_locks_that_change_nothing_are_not_spoken_of(ob) -> None:
    ob.pose.bones["Head"].lock_location = (True, True, True)
    assert write(ob)[2].notes == ()


def test_driven_channels_are_left_and_said_or_refused_where_nothing_goes_without_them(ob) -> None:
    driver = ob.pose.bones["Head"].driver_add("rotation_quaternion", 1)
    driver.driver.expression = "0.1"
    _, _, written = write(ob)
    assert "Drivers rule Head" in " ".join(written.notes)
    store = compat.curve_store(ob, ob.animation_data.action)
    assert store.fcurves.find('pose.bones["Head"].rotation_quaternion') is None
    unbake.unbake(ob)
    ob.pose.bones["LeftLeg"].driver_add("rotation_quaternion", 0)
    with pytest.raises(RigError, match="LeftLeg"):
        write(ob)
    assert len(bpy.data.actions) == 0


def test_a_library_override_is_baked_layered_and_taken_back(ob, tmp_path) -> None:
    path = str(tmp_path / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    empty_scene()
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = ["Rig"]
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    with pytest.raises(RigError, match="linked"):
        read_rig(linked)
    ob = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    ob.override_library.is_system_override = False
    hand_made(ob)
    before = shown(ob, OUTSIDE)
    rig, clip, _ = write(ob, "layer", layer=Layer(10, 51, 8, 8))
    assert actions.measure(ob, rig, clip, 1, samples=5, span=(17, 42)).metres < 1e-5
    saved = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    ob = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o.library is None)
    assert actions.measure(ob, rig, clip, 1, samples=5, span=(17, 42)).metres < 1e-5
    unbake.unbake(ob)
    assert np.abs(shown(ob, OUTSIDE) - before).max() < 2e-5
    assert ob.animation_data.action.name == "Hand made"


@pytest.mark.parametrize(("fps", "base"), [(24, 1.001), (24, 1), (25, 1), (30, 1.001), (30, 1), (60, 1), (120, 1)])
def test_frames_of_the_scene_are_sampled_at_their_own_times(ob, fps, base) -> None:
    """Frame k shows the motion at k / rate seconds, to the end: no drift at broken rates."""
    rig = read_rig(ob)
    source = random_clip(rig.skeleton, frames=601, fps=60.0, spread=0.2)
    render = bpy.context.scene.render
    render.fps, render.fps_base = fps, base
    rate = fps / base
    keys = source.resampled(rate)
    actions.write(ob, rig, channels_of(rig, keys), name="Walk")
    count = len(keys)
    assert (count - 1) / rate <= 10.0 + 1e-6 < count / rate
    for frame in (0, count // 2, count - 1):
        bpy.context.scene.frame_set(1 + frame)
        found = actions.evaluated(ob, ["Hips"])[0][0]
        at = frame / rate * 60.0
        wanted = [np.interp(at, np.arange(601), source.hips[:, axis]) for axis in range(3)]
        assert np.allclose(found, wanted, atol=2e-4)


def test_an_angle_of_a_turn_stays_continuous_when_blended(ob) -> None:
    """A root that turns by more than half a turn away from the pose below comes in without a flip."""
    rig = read_rig(ob)
    clip = random_clip(rig.skeleton, frames=60, spread=0.1)
    ob.pose.bones["Root"].rotation_quaternion = rot.from_yaw(np.array(radians(-170.0)))
    actions.write(ob, rig, channels_of(rig, clip), name="W", mode="layer", layer=Layer(1, 60, 10, 10))
    turns = [m[0][:3, :3] for m in shown(ob, np.arange(1, 60, 0.25), ["Root"])]
    assert max(np.abs(a - b).max() for a, b in zip(turns, turns[1:], strict=False)) < 0.5
