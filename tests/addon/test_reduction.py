"""Reduced keys of any rig against the motion, through the depsgraph: every way to travel, every rotation mode."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from blender_addon.motion.key_reduction import Tolerance
from blender_addon.motion.retarget import retarget
from blender_addon.scene import actions, compat
from blender_addon.scene.channels import channels_of
from blender_addon.scene.posing import body_of, in_order
from blender_addon.scene.reduction import reduce_channels
from blender_addon.scene.rigs import read_rig
from tests.addon.rig_makers import armature_of, empty_scene, random_clip
from tests.addon.test_actions import PLACES
from tests.synthetic import biped, walk


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def made(ob, motion="bone", place="plain", mode="QUATERNION", clip_of=None):
    PLACES[place](ob)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    rig = read_rig(ob)
    clip = (clip_of or (lambda skeleton: retarget(walk(3.0, 1.0, 0.3), skeleton)))(rig.skeleton)
    base = actions.object_base(ob) if motion == "object" else None
    return rig, clip, channels_of(rig, clip, motion, base=base), base


@pytest.mark.parametrize("motion", ["bone", "object", "in place", "hips"])
@pytest.mark.parametrize("place", ["plain", "turned", "parented"])
def test_every_way_to_travel_stays_within_the_tolerance(motion, place) -> None:
    ob = armature_of(biped(), root=True)
    rig, clip, channels, base = made(ob, motion, place)
    channels, found = reduce_channels(rig, channels, clip.contacts, Tolerance(), base)
    actions.write(ob, rig, channels, name="W")
    error = actions.measure(ob, rig, clip, 1, motion=motion, samples=60)
    assert error.metres <= 0.00201 and error.degrees <= 0.505, error
    assert abs(error.metres - found.metres) < 0.001 and found.share() < 0.25 and not found.notes


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_every_rotation_mode_stays_within_the_tolerance(mode) -> None:
    ob = armature_of(biped(), root=True)
    rig, clip, channels, _ = made(ob, mode=mode)
    channels, found = reduce_channels(rig, channels, clip.contacts, Tolerance())
    actions.write(ob, rig, channels, name="W")
    error = actions.measure(ob, rig, clip, 1, samples=60)
    assert error.metres <= 0.00201 and error.degrees <= 0.505, error
    # Where an angle passes zero its axis swings about: such bones need more keys.
    assert found.share() < (0.5 if mode == "AXIS_ANGLE" else 0.3)


def test_standing_feet_stay_within_their_own_millimetre_and_keep_keys_where_they_land() -> None:
    ob = armature_of(biped(), root=True)
    rig, clip, channels, _ = made(ob)
    channels, found = reduce_channels(rig, channels, clip.contacts, Tolerance(metres=0.02, degrees=3.0))
    actions.write(ob, rig, channels, name="W")
    toe = rig.skeleton.feet[0].toe
    for frame in np.flatnonzero(clip.contacts[:, 0])[::5]:
        bpy.context.scene.frame_set(int(frame) + 1)
        away = actions.evaluated(ob, [rig.skeleton.names[toe]])[0][0] - clip.world[0][frame, toe]
        assert np.linalg.norm(away) <= 0.00101
    first = int(np.flatnonzero(np.diff(clip.contacts[:, 0].astype(int)) == 1)[0]) + 1
    thigh = next(channel for channel in channels if channel.bone == "LeftUpLeg")
    assert thigh.curve is not None and first in thigh.curve.frames


def test_the_model_of_the_rig_poses_as_the_motion_does() -> None:
    for motion in ("bone", "object"):
        empty_scene()
        ob = armature_of(biped(), root=True)
        ob.data.bones["Spine1"].use_inherit_rotation = False
        rig, clip, channels, base = made(ob, motion, "turned", clip_of=random_clip)
        channels = [channels[number] for number in in_order(rig, channels)]
        _, body = body_of(rig, channels, clip.contacts, base)
        places, _ = body.pose([channel.values for channel in channels])
        wanted = clip.world[0]
        for a, b in ((1, 5), (3, 12), (0, 19)):
            found, right = (np.linalg.norm(p[:, a] - p[:, b], axis=-1) for p in (places, wanted))
            assert np.allclose(found, right, atol=1e-6)


def test_keys_have_handles_that_animators_can_use() -> None:
    ob = armature_of(biped(), root=True)
    rig, clip, channels, _ = made(ob)
    still = replace(clip, contacts=np.zeros_like(clip.contacts))
    channels, _ = reduce_channels(rig, channels, still.contacts, Tolerance())
    actions.write(ob, rig, channels, name="W")
    store = compat.curve_store(ob, ob.animation_data.action)
    points = store.fcurves.find('pose.bones["LeftLeg"].rotation_quaternion', index=1).keyframe_points
    assert {point.interpolation for point in points} == {"BEZIER"}
    assert {point.handle_left_type for point in list(points)[1:-1]} <= {"ALIGNED"}
