"""Rigify's human: the metarig, and the generated rig by its FK controls and by its deform bones."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from blender_addon.motion.errors import RigError
from blender_addon.motion.retarget import retarget
from blender_addon.scene import actions
from blender_addon.scene.channels import channels_of
from blender_addon.scene.rigs import bone_map, keep_map, read_rig
from tests.addon.rig_makers import random_clip
from tests.synthetic import walk
from tools import make_rigify


@pytest.fixture(scope="module")
def rigify_file():
    return make_rigify.cached()


@pytest.fixture(autouse=True)
def scene(rigify_file):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file))


def bake(ob, deform=False, motion="bone", made=random_clip):
    rig = read_rig(ob, deform=deform)
    clip = made(rig.skeleton)
    base = actions.object_base(ob) if motion == "object" else None
    actions.write(ob, rig, channels_of(rig, clip, motion, base=base), name="Walk")
    return rig, clip, actions.measure(ob, rig, clip, 1, motion=motion, samples=6)


@pytest.mark.parametrize("motion", ["bone", "object", "in place"])
def test_the_metarig_is_exact(motion) -> None:
    _, _, error = bake(bpy.data.objects["metarig"], motion=motion)
    assert error.metres < 1e-5 and error.degrees < 1e-3, error


@pytest.mark.parametrize("motion", ["bone", "object", "in place", "hips"])
@pytest.mark.parametrize("deform", [False, True], ids=["controls", "deform"])
def test_the_generated_rig_is_exact(deform, motion) -> None:
    ob = bpy.data.objects["rig"]
    ob.location, ob.rotation_euler = (1, 0, 0.3), (0, 0, 1.0)
    rig, _, error = bake(ob, deform=deform, motion=motion)
    assert rig.kind == ("rigify deform" if deform else "rigify controls")
    assert error.metres < 1e-5 and error.degrees < 1e-3, error


def test_limbs_left_in_ik_are_switched_to_fk_by_keys() -> None:
    ob = bpy.data.objects["rig"]
    assert ob.pose.bones["thigh_parent.L"]["IK_FK"] == 0.0
    bake(ob)
    bpy.context.scene.frame_set(3)
    assert ob.pose.bones["thigh_parent.L"]["IK_FK"] == 1.0


def test_every_deform_bone_stays_with_its_joint() -> None:
    """Faces and fingers move rigidly with head and hands, in both ways to bake."""
    for deform in (False, True):
        ob = bpy.data.objects["rig"]
        names = {"DEF-jaw": "DEF-spine.006", "DEF-f_index.01.L": "DEF-hand.L", "DEF-thigh.L.001": "DEF-thigh.L"}
        bpy.context.view_layer.update()
        before = distances(ob, names)
        bake(ob, deform=deform)
        for frame in (5, 25):
            bpy.context.scene.frame_set(frame)
            assert np.allclose(distances(ob, names), before, atol=2e-4), deform


def distances(ob, names):
    places = [actions.evaluated(ob, pair)[0] for pair in names.items()]
    return [float(np.linalg.norm(pair[0] - pair[1])) for pair in places]


def test_a_retargeted_walk_stands_on_the_ground() -> None:
    ob = bpy.data.objects["rig"]
    rig, clip, error = bake(ob, made=lambda skeleton: retarget(walk(2.0), skeleton))
    assert error.metres < 1e-5 and error.degrees < 1e-3
    toes = [foot.toe for foot in rig.skeleton.feet]
    lowest = clip.world[0][:, toes, 2].min()
    assert -0.05 < lowest < 0.1


def test_the_skeleton_faces_minus_y_with_left_at_plus_x() -> None:
    for name in ("metarig", "rig"):
        ob = bpy.data.objects[name]
        ob.rotation_euler.z = 2.0
        skeleton = read_rig(ob).skeleton
        places, _ = skeleton.rest_world
        left, right = skeleton.index("left_hip"), skeleton.index("right_hip")
        assert places[left, 0] > 0.05 > -0.05 > places[right, 0]
        assert places[skeleton.index("left_toe"), 1] < places[skeleton.index("left_ankle"), 1]
        assert abs(skeleton.leg_length - 0.97) < 0.1
        assert 0.005 < skeleton.ball_height < 0.04


def test_a_rig_without_its_controls_is_refused_with_a_way_out() -> None:
    ob = bpy.data.objects["rig"]
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones["spine_fk.003"])
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RigError, match="spine_fk.003"):
        read_rig(ob)


def test_a_corrected_map_is_kept_with_the_armature() -> None:
    ob = bpy.data.objects["metarig"]
    found = bone_map(ob)
    assert found["hips"] == "spine" and found["left_knee"] == "shin.L" and found["head"] == "spine.006"
    del found["neck"]
    keep_map(ob, found)
    assert "neck" not in bone_map(ob) and "spine.004" not in read_rig(ob).skeleton.names
