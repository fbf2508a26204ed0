"""A walk baked onto every two-legged rig at hand, however it stands: what Blender evaluates is what was meant."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from blender_addon.motion.retarget import retarget
from blender_addon.scene import actions
from blender_addon.scene.channels import channels_of
from blender_addon.scene.rest_pose import keep_reference
from blender_addon.scene.rigs import read_rig
from tests.synthetic import walk
from tools import rig_truths

TWO_LEGS = [file for file, truth in rig_truths.FILES.items() if truth.kind == "biped"]


def bake(ob, motion="bone"):
    """Bake a short walk; the rig, the clip on it, and the greatest bake error."""
    if ob.animation_data and ob.animation_data.action:
        ob.animation_data.action = None
    rig = read_rig(ob)
    clip = retarget(walk(1.0, turning=0.8), rig.skeleton)
    base = actions.object_base(ob) if motion == "object" else None
    actions.write(ob, rig, channels_of(rig, clip, motion, base=base), name="Walk")
    return rig, clip, actions.measure(ob, rig, clip, 1, motion=motion, samples=5)


@pytest.mark.parametrize("variant", rig_truths.VARIANTS)
@pytest.mark.parametrize("file", TWO_LEGS)
def test_imported_rigs_walk_as_meant(file: str, variant: str, shared_data) -> None:
    ob = rig_truths.open_file(shared_data / file)
    rig_truths.vary(ob, variant)
    rig, clip, error = bake(ob)
    height = rig.skeleton.rest_world[0][:, 2].max()
    assert error.metres < 1e-5 * max(height, 1.0) and error.degrees < 2e-3, error
    toes = clip.world[0][:, [foot.toe for foot in rig.skeleton.feet], 2] / rig.skeleton.leg_length
    assert -0.02 < toes.min() < 0.08


@pytest.mark.parametrize("motion", ["object", "in place", "hips"])
@pytest.mark.parametrize("variant", ["lying", "parented"])
def test_travel_may_be_carried_in_any_way(motion: str, variant: str, shared_data) -> None:
    ob = rig_truths.open_file(shared_data / "rigs/human-male.glb")
    rig_truths.vary(ob, variant)
    _, _, error = bake(ob, motion)
    assert error.metres < 1e-5 and error.degrees < 2e-3, error


@pytest.mark.parametrize("generated", [False, True], ids=["metarig", "generated"])
def test_rigifys_basic_human_walks_as_meant(generated: bool) -> None:
    for variant in rig_truths.VARIANTS:
        ob = rig_truths.open_rigify("basic_human", generated)
        ob.hide_set(False)
        rig_truths.vary(ob, variant)
        _, _, error = bake(ob)
        assert error.metres < 1e-5 and error.degrees < 2e-3, (variant, error)


def test_the_same_body_stands_alike_however_it_was_made(shared_data) -> None:
    """Scale, axes, parents and lying change nothing of the skeleton but its size where a parent shrinks it."""
    found = {}
    for variant in rig_truths.VARIANTS:
        ob = rig_truths.open_file(shared_data / "rigs/human-male.glb")
        rig_truths.vary(ob, variant)
        found[variant] = read_rig(ob).skeleton
    places = found["as it is"].rest_world[0]
    for variant, skeleton in found.items():
        factor = 0.5 if variant == "parented" else 1.0
        assert np.allclose(skeleton.rest_world[0], factor * places, atol=1e-4), variant
        assert np.isclose(skeleton.feet[0].ankle_height, factor * found["as it is"].feet[0].ankle_height, atol=1e-4)


def test_a_reference_pose_sets_what_counts_as_standing(shared_data) -> None:
    """With the arms down as the reference, a walk's hanging arms are found where the reference's are."""
    ob = rig_truths.open_file(shared_data / "rigs/human-male.glb")
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        bone.matrix_basis.identity()
    bone = ob.pose.bones["thigh_l"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (np.cos(0.1), 0.0, np.sin(0.1), 0.0)
    bpy.context.view_layer.update()
    keep_reference(ob)
    rig, _, error = bake(ob)
    assert error.metres < 1e-5 and error.degrees < 2e-3, error
    assert any("reference" in note for note in rig.notes)
