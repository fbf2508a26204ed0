"""Reading armatures: maps, frames, and what is refused with a reason and a way out."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from blender_addon.motion.errors import RigError
from blender_addon.scene.bone_map import BoneMap
from blender_addon.scene.rigs import guess_map, keep_map, read_rig
from tests.addon.rig_makers import armature_of, empty_scene
from tests.synthetic import biped


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def test_the_packs_own_names_are_mapped_with_reasons() -> None:
    ob = armature_of(biped(), root=True)
    found = guess_map(ob)
    assert found.family == "woody2"
    assert found.bones["root"] == "Root" and found.bones["left_ankle"] == "LeftFoot"
    assert set(found.bones) == set(found.confidence)
    # Parts without a bone say why.
    assert set(found.reasons) - set(found.bones) == {"neck"} and "chest" in found.reasons["neck"]


def test_the_rest_pose_is_read_in_metres_whatever_the_objects_place() -> None:
    wanted = biped()
    ob = armature_of(wanted, unit=0.01)
    ob.scale, ob.location, ob.rotation_euler = (0.01,) * 3, (4, 5, 6), (0, 0, 1.1)
    rig = read_rig(ob)
    places, _ = rig.skeleton.rest_world
    expected, _ = wanted.rest_world
    for name in wanted.names:
        mine, theirs = places[rig.skeleton.names.index(name)], expected[wanted.names.index(name)]
        assert np.allclose(mine, theirs - [*expected[0, :2], 0.0], atol=2e-5), name
    assert np.isclose(rig.facing, 1.1, atol=1e-5)


def test_an_armature_lying_in_y_up_is_stood_up_by_its_object() -> None:
    """As FBX files come: bones in centimetres with Y up, the object turned by 90 degrees about x and scaled."""
    ob = armature_of(biped(), unit=0.01)
    ob.data.transform(__import__("mathutils").Matrix.Rotation(-np.pi / 2, 4, "X"))
    ob.rotation_euler.x, ob.scale = np.pi / 2, (0.01,) * 3
    places, _ = read_rig(ob).skeleton.rest_world
    assert np.allclose(places[0], [0, 0, 0.93], atol=1e-4)


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda ob: setattr(ob, "scale", (1, 2, 1)), "unevenly"),
        (lambda ob: setattr(ob, "scale", (-1, 1, 1)), "mirrored"),
        (lambda ob: setattr(ob, "scale", (0, 0, 0)), "nothing"),
        (lambda ob: setattr(ob.pose.bones["LeftLeg"], "scale", (1, 1.5, 1)), "LeftLeg"),
        (lambda ob: keep_map(ob, {"hips": "Hips", "head": "Head"}), "no legs"),
        (lambda ob: setattr(ob, "rotation_euler", (np.pi, 0, 0)), "on its head"),
        (lambda ob: keep_map(ob, dict(guess_map(ob).bones) | {"neck": "Head"}), "mapped twice"),
        (lambda ob: keep_map(ob, dict(guess_map(ob).bones) | {"left_knee": "Gone"}), "lacks"),
        (lambda ob: keep_map(ob, {r: b for r, b in guess_map(ob).bones.items() if r != "left_knee"}), "left knee"),
        (lambda ob: keep_map(ob, dict(guess_map(ob).bones) | {"hips": "LeftHand", "left_wrist": "Hips"}), "hangs on"),
    ],
)
def test_what_cannot_be_baked_onto_is_refused_with_a_remedy(spoil, said) -> None:
    ob = armature_of(biped(), root=True)
    spoil(ob)
    with pytest.raises(RigError, match=said) as caught:
        read_rig(ob)
    assert caught.value.remedy


def test_no_armature_and_armatures_without_legs_are_refused() -> None:
    with pytest.raises(RigError, match="no character"):
        read_rig(None)
    empty = bpy.data.objects.new("Empty", None)
    with pytest.raises(RigError, match="no armature"):
        read_rig(empty)
    ob = bpy.data.objects.new("Bones", bpy.data.armatures.new("Bones"))
    bpy.context.scene.collection.objects.link(ob)
    with pytest.raises(RigError, match="no legs"):
        read_rig(ob)


def test_linked_armatures_are_refused_and_overrides_are_not(tmp_path) -> None:
    armature_of(biped(), "Hero")
    path = str(tmp_path / "läufer mit raum.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    empty_scene()
    with bpy.data.libraries.load(path, link=True) as (_, loaded):
        loaded.objects = ["Hero"]
    ob = loaded.objects[0]
    bpy.context.scene.collection.objects.link(ob)
    with pytest.raises(RigError, match="linked") as caught:
        read_rig(ob)
    assert "verride" in caught.value.remedy
    own = ob.override_create(remap_local_usages=True)
    assert read_rig(own).skeleton.names[0] == "Hips"


def test_presets_come_back_as_saved_and_rubbish_is_refused(tmp_path) -> None:
    found = guess_map(armature_of(biped()))
    path = tmp_path / "müller karte.json"
    found.save(path)
    assert dict(BoneMap.load(path).bones) == dict(found.bones)
    for text in ("", "[]", '{"gaitsmith_bones": 3}', "\x00\x01"):
        path.write_text(text)
        with pytest.raises(RigError, match="no bone map"):
            BoneMap.load(path)


def test_constraints_that_would_overrule_the_keys_and_the_rest_position_are_noted() -> None:
    ob = armature_of(biped())
    assert not any("overrule" in note for note in read_rig(ob).notes)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    hold = ob.pose.bones["Head"].constraints.new("DAMPED_TRACK")
    hold.target = target
    ob.data.pose_position = "REST"
    notes = " ".join(read_rig(ob).notes)
    assert "'Damped Track' (Damped Track to Target) on Head may overrule the keys of its rotation" in notes
    assert "rest position" in notes
    hold.mute = True
    assert "Head" not in " ".join(read_rig(ob).notes)


def test_constraints_that_fight_are_told_apart_by_what_they_hold() -> None:
    ob = armature_of(biped())
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    reach = ob.pose.bones["LeftLeg"].constraints.new("IK")
    reach.name, reach.target, reach.chain_count = "Reach", target, 2
    place = ob.pose.bones["RightHand"].constraints.new("COPY_LOCATION")
    place.target, place.subtarget = ob, "Head"
    size = ob.pose.bones["Head"].constraints.new("COPY_SCALE")
    size.target = target
    notes = [note for note in read_rig(ob).notes if "overrule" in note]
    assert len(notes) == 2, "what only scales a bone fights with no key"
    assert "'Reach' (Inverse Kinematics to Target) on LeftLeg (it holds LeftLeg, LeftUpLeg)" in notes[0]
    assert "'Copy Location' (Copy Location to Head) on RightHand may overrule the keys of its location" in notes[1]
    for name in ("LeftArm", "RightArm", "LeftForeArm", "RightForeArm"):
        ob.pose.bones[name].constraints.new("LIMIT_ROTATION")
    notes = [note for note in read_rig(ob).notes if "overrule" in note]
    assert len(notes) == 5 and notes[-1].startswith("2 more constraints")


def test_drivers_and_hidden_armatures_are_noted() -> None:
    ob = armature_of(biped())
    ob.pose.bones["Head"].driver_add("rotation_quaternion", 0)
    ob.hide_set(True)
    notes = " ".join(read_rig(ob).notes)
    assert "Drivers overrule the keys of Head" in notes and "hidden" in notes


def test_a_missing_bone_is_named_instead_of_denying_the_legs() -> None:
    ob = armature_of(biped())
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RigError, match="Edit Mode"):
        read_rig(ob)
    ob.data.edit_bones.remove(ob.data.edit_bones["RightFoot"])
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RigError, match="no bone: right ankle"):
        read_rig(ob)
