"""Finding the parts of the body in armatures of all kinds: their names, their shape, and what is said of odd ones."""

from __future__ import annotations

import time

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import RigError
from blender_addon.scene.bone_map import BoneMap, preset_for
from blender_addon.scene.rest_pose import clear_reference, keep_reference
from blender_addon.scene.rigs import guess_map, read_rig
from tests.addon.rig_makers import armature_of, empty_scene
from tests.synthetic import biped
from tools import rig_truths


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def compare(found: BoneMap, truth: rig_truths.Truth) -> None:
    assert found.kind == truth.kind
    assert dict(found.bones) == truth.bones
    assert all(0.5 < value <= 1.0 for value in found.confidence.values())
    assert all(found.reasons[role] for role in truth.by_hand if role.endswith("_1"))


@pytest.mark.parametrize("variant", rig_truths.VARIANTS)
@pytest.mark.parametrize("file", rig_truths.FILES)
def test_every_part_of_the_rigs_is_found_and_no_wrong_bone(file: str, variant: str, shared_data) -> None:
    ob = rig_truths.open_file(shared_data / file)
    rig_truths.vary(ob, variant)
    compare(guess_map(ob), rig_truths.FILES[file])


@pytest.mark.parametrize("file", rig_truths.BONELESS)
def test_the_files_left_out_hold_no_bones(file: str, shared_data) -> None:
    assert rig_truths.open_file(shared_data / file) is None


@pytest.mark.parametrize("generated", [False, True], ids=["metarig", "generated"])
@pytest.mark.parametrize("kind", rig_truths.RIGIFY)
def test_rigifys_rigs_are_found_however_they_stand(kind: str, generated: bool) -> None:
    for variant in rig_truths.VARIANTS:
        ob = rig_truths.open_rigify(kind, generated)
        rig_truths.vary(ob, variant)
        compare(guess_map(ob), rig_truths.RIGIFY[kind][generated])


#: Naming scheme -> (hips, spine, spine, head; then clavicle, shoulder, elbow, wrist, hip, knee, ankle, toe with {s};
#: how left and right are written).
SCHEMES: dict[str, tuple[str, str, tuple[str, str]]] = {
    "mixamo 7": ("mixamorig7:Hips mixamorig7:Spine mixamorig7:Spine1 mixamorig7:Head",
                 "mixamorig7:{s}Shoulder mixamorig7:{s}Arm mixamorig7:{s}ForeArm mixamorig7:{s}Hand "
                 "mixamorig7:{s}UpLeg mixamorig7:{s}Leg mixamorig7:{s}Foot mixamorig7:{s}ToeBase", ("Left", "Right")),
    "mixamo underscore": ("mixamorig1_Hips mixamorig1_Spine mixamorig1_Spine1 mixamorig1_Head",
                          "mixamorig1_{s}Shoulder mixamorig1_{s}Arm mixamorig1_{s}ForeArm mixamorig1_{s}Hand "
                          "mixamorig1_{s}UpLeg mixamorig1_{s}Leg mixamorig1_{s}Foot mixamorig1_{s}ToeBase",
                          ("Left", "Right")),
    "unreal": ("pelvis spine_01 spine_02 head", "clavicle_{s} upperarm_{s} lowerarm_{s} hand_{s} thigh_{s} calf_{s} "
               "foot_{s} ball_{s}", ("l", "r")),
    "unity": ("Hips Spine Chest Head", "{s}Shoulder {s}UpperArm {s}LowerArm {s}Hand {s}UpperLeg {s}LowerLeg {s}Foot "
              "{s}Toes", ("Left", "Right")),
    "vrm": ("J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Head",
            "J_Bip_{s}_Shoulder J_Bip_{s}_UpperArm J_Bip_{s}_LowerArm J_Bip_{s}_Hand J_Bip_{s}_UpperLeg "
            "J_Bip_{s}_LowerLeg J_Bip_{s}_Foot J_Bip_{s}_ToeBase", ("L", "R")),
    "vrm plain": ("hips spine chest head", "{s}Shoulder {s}UpperArm {s}LowerArm {s}Hand {s}UpperLeg {s}LowerLeg "
                  "{s}Foot {s}Toes", ("left", "right")),
    "biped of 3ds Max": ("Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Head",
                         "Bip01_{s}_Clavicle Bip01_{s}_UpperArm Bip01_{s}_Forearm Bip01_{s}_Hand Bip01_{s}_Thigh "
                         "Bip01_{s}_Calf Bip01_{s}_Foot Bip01_{s}_Toe0", ("L", "R")),
    "old BVH": ("Hips Chest Chest2 Head", "{s}Collar {s}Shoulder {s}Elbow {s}Wrist {s}Hip {s}Knee {s}Ankle {s}Toe",
                ("Left", "Right")),
    "makehuman": ("root spine05 spine01 head", "clavicle.{s} upperarm01.{s} lowerarm01.{s} wrist.{s} upperleg01.{s} "
                  "lowerleg01.{s} foot.{s} toe1-1.{s}", ("L", "R")),
    "asf": ("root lowerback upperback head", "{s}clavicle {s}humerus {s}radius {s}wrist {s}femur {s}tibia {s}foot "
            "{s}toes", ("l", "r")),
    "daz": ("hip abdomenLower chestUpper head", "{s}Collar {s}ShldrBend {s}ForearmBend {s}Hand {s}ThighBend {s}Shin "
            "{s}Foot {s}Toe", ("l", "r")),
    "dash": ("hips spine chest head", "shoulder-{s} upper_arm-{s} forearm-{s} hand-{s} thigh-{s} shin-{s} foot-{s} "
             "toe-{s}", ("l", "r")),
    "side in front": ("hips spine chest head", "{s}_shoulder {s}_upper_arm {s}_forearm {s}_hand {s}_thigh {s}_shin "
                      "{s}_foot {s}_toe", ("L", "R")),
    "a name before": ("Hero_Hips Hero_Spine Hero_Chest Hero_Head",
                      "Hero_Shoulder_{s} Hero_UpperArm_{s} Hero_LowerArm_{s} Hero_Hand_{s} Hero_UpperLeg_{s} "
                      "Hero_LowerLeg_{s} Hero_Foot_{s} Hero_Toe_{s}", ("L", "R")),
    "character creator": ("CC_Base_Hip CC_Base_Spine01 CC_Base_Spine02 CC_Base_Head",
                          "CC_Base_{s}_Clavicle CC_Base_{s}_Upperarm CC_Base_{s}_Forearm CC_Base_{s}_Hand "
                          "CC_Base_{s}_Thigh CC_Base_{s}_Calf CC_Base_{s}_Foot CC_Base_{s}_ToeBase", ("L", "R")),
}  # fmt: skip
_ROLES = ("clavicle", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")


def renamed(ob, names: dict[str, str]) -> None:
    for old, new in names.items():
        ob.data.bones[old].name = new


def own_names(ob) -> dict[str, str]:
    """Role -> bone of the synthetic biped."""
    return {role: bone for role, bone in guess_map(ob).bones.items() if role != "root"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_naming_schemes_are_read(scheme: str) -> None:
    centre, limbs, sides = SCHEMES[scheme]
    truth = dict(zip(("hips", "spine_1", "spine_2", "head"), centre.split(), strict=True))
    for side, mark in zip(("left", "right"), sides, strict=True):
        truth |= {f"{side}_{role}": bone.format(s=mark) for role, bone in zip(_ROLES, limbs.split(), strict=True)}
    ob = armature_of(biped())
    renamed(ob, {bone: truth[role] for role, bone in own_names(ob).items()})
    found = guess_map(ob)
    assert dict(found.bones) == truth
    assert min(found.confidence.values()) >= 0.5


def test_names_that_tell_nothing_leave_it_to_the_shape() -> None:
    ob = armature_of(biped(), root=True)
    truth = own_names(ob)
    renamed(ob, {bone.name: f"Knochen {number}" for number, bone in enumerate(list(ob.data.bones))})
    number = {bone: f"Knochen {k}" for k, bone in enumerate(["Root", *biped().names])}
    found = guess_map(ob)
    assert {role: bone for role, bone in found.bones.items() if role != "root"} == {
        role: number[bone] for role, bone in truth.items()
    }
    assert max(value for role, value in found.confidence.items() if "_" in role and "spine" not in role) < 0.8


@pytest.mark.parametrize("turn", [(0, 0, 2.0), (np.pi / 2, 0, 0), (0, np.pi / 2, 0.3), (-np.pi / 2, 0, 1.0)])
def test_shape_tells_however_the_armature_lies(turn) -> None:
    ob = armature_of(biped())
    truth = own_names(ob)
    names = {bone.name: f"B{number}" for number, bone in enumerate(list(ob.data.bones))}
    renamed(ob, names)
    ob.rotation_euler = turn
    bpy.context.view_layer.update()
    assert dict(guess_map(ob).bones) == {role: names[bone] for role, bone in truth.items()}


def edit(ob, change) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_twist_and_helper_bones_are_left_alone() -> None:
    ob = armature_of(biped())
    truth = guess_map(ob).bones

    def add(bones) -> None:
        for parent in ("LeftUpLeg", "RightUpLeg", "LeftArm", "RightArm"):
            for word in ("Twist", "Roll", "_IK", "_end"):
                bone = bones.new(f"{parent}{word}")
                bone.parent = bones[parent]
                bone.head, bone.tail = bones[parent].tail, bones[parent].tail + bones[parent].tail * 0.1
        for side in ("Left", "Right"):
            bone = bones.new(f"{side}Foot_IK_ctrl")
            bone.head, bone.tail = bones[f"{side}Foot"].head, bones[f"{side}Foot"].tail

    edit(ob, add)
    assert dict(guess_map(ob).bones) == dict(truth)


def chain(bones, names: list[str], places, parent=None):
    for name, head, tail in zip(names, places, places[1:], strict=False):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, parent
        parent = bone
    return parent


def legged(count: int):
    """An armature with so many legs, spread along y, whose names tell nothing."""
    data = bpy.data.armatures.new("Many")
    ob = bpy.data.objects.new("Many", data)
    bpy.context.scene.collection.objects.link(ob)

    def add(bones) -> None:
        parent = None
        for row in range((count + 1) // 2):
            y = -0.6 * row
            parent = chain(bones, [f"trunk {row}"], [(0, y, 1.0), (0, y - 0.6, 1.0)], parent)
            for side in (1, -1)[: min(count - 2 * row, 2)]:
                places = [(0.2 * side, y, 0.95), (0.2 * side, y - 0.03, 0.5), (0.2 * side, y, 0.08),
                          (0.2 * side, y - 0.1, 0.0), (0.2 * side, y - 0.2, 0.0)]  # fmt: skip
                chain(bones, [f"leg {row} {side} {k}" for k in range(4)], places, parent)

    edit(ob, add)
    return ob


@pytest.mark.parametrize("count, said", [(1, "one leg"), (3, "3 legs"), (6, "6 legs")])
def test_other_numbers_of_legs_are_counted(count: int, said: str) -> None:
    with pytest.raises(RigError, match=said) as caught:
        read_rig(legged(count))
    assert "by hand" in caught.value.remedy


def test_four_legs_are_found_by_shape_and_stand() -> None:
    ob = legged(4)
    assert guess_map(ob).kind == "quadruped"
    skeleton = read_rig(ob).skeleton
    assert skeleton.four_legged and len(skeleton.feet) == 4


def test_a_leg_named_on_one_side_only_is_said() -> None:
    ob = armature_of(biped())
    edit(ob, lambda bones: [bones.remove(bones[f"Right{part}"]) for part in ("Toes", "Foot", "Leg", "UpLeg")])
    with pytest.raises(RigError, match="one leg.*left"):
        read_rig(ob)


def test_bones_of_no_length_in_a_leg_are_refused() -> None:
    ob = armature_of(biped())

    def fold(bones) -> None:
        shin = bones["LeftLeg"]
        shin.use_connect = False
        shin.head = bones["LeftUpLeg"].head

    edit(ob, fold)
    with pytest.raises(RigError, match="has no length"):
        read_rig(ob)


def test_ten_thousand_bones_take_less_than_two_seconds() -> None:
    ob = armature_of(biped())
    truth = dict(guess_map(ob).bones)

    def add(bones) -> None:
        parent = bones["Head"]
        for number in range(10_000):
            bone = bones.new(f"hair.{number:05d}")
            bone.head, bone.tail = (0.0, 0.1, 1.7), (0.0, 0.2, 1.8)
            bone.parent = bones["Head"] if number % 20 == 0 else parent
            parent = bone

    edit(ob, add)
    begin = time.perf_counter()
    rig = read_rig(ob)
    assert time.perf_counter() - begin < 2.0
    assert dict(rig.bone_map.bones) == truth


def test_a_lying_rest_pose_gives_the_same_skeleton_as_a_standing_one() -> None:
    ob = armature_of(biped(), root=True)
    standing = read_rig(ob).skeleton.rest_world[0]
    ob.rotation_euler = (np.pi / 2, 0, 0.7)
    rig = read_rig(ob)
    assert np.allclose(rig.skeleton.rest_world[0], standing, atol=1e-5)
    assert any("lies" in note for note in rig.notes)


def test_a_pose_may_stand_for_the_rest_pose() -> None:
    """A T-pose rig posed with its arms down and kept: the skeleton's arms hang down, its bones keep their length."""
    ob = armature_of(biped())
    before = read_rig(ob)
    bone = ob.pose.bones["LeftArm"]
    bone.rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    turn = Matrix.Rotation(1.2, 4, "Y")
    bone.matrix = Matrix.Translation(bone.head) @ turn @ Matrix.Translation(-bone.head) @ bone.matrix
    keep_reference(ob)
    bone.rotation_quaternion = (1, 0, 0, 0)
    rig = read_rig(ob)
    places, old = rig.skeleton.rest_world[0], before.skeleton.rest_world[0]
    shoulder, hand = rig.skeleton.index("left_shoulder"), rig.skeleton.index("left_wrist")
    arm, was = places[hand] - places[shoulder], old[hand] - old[shoulder]
    assert np.isclose(np.linalg.norm(arm), np.linalg.norm(was), atol=1e-5)
    assert np.isclose(arm @ was, np.cos(1.2) * (was @ was), atol=1e-3)
    # What the keys start from is the rest pose still.
    assert np.allclose(rig.joints[0], before.joints[0]) and np.allclose(places[0], old[0], atol=1e-6)
    clear_reference(ob)
    assert np.allclose(read_rig(ob).skeleton.rest_world[0], old)


def test_presets_are_found_by_the_skeleton_they_were_saved_for(tmp_path) -> None:
    ob = armature_of(biped(), root=True)
    chosen = BoneMap.chosen({role: bone for role, bone in guess_map(ob).bones.items() if role != "head"})
    chosen.save(tmp_path / "held.json", [bone.name for bone in ob.data.bones])
    (tmp_path / "broken.json").write_text("[")
    found = preset_for(tmp_path, [bone.name for bone in ob.data.bones])
    assert found is not None and dict(found.bones) == dict(chosen.bones) and found.family == "held"
    assert preset_for(tmp_path, ["Other", "Bones"]) is None
    assert preset_for(tmp_path / "absent", []) is None


def foot_mesh(ob, side: str, points) -> None:
    mesh = bpy.data.meshes.new(f"{side} shoe")
    mesh.from_pydata(points, [], [])
    shoe = bpy.data.objects.new(mesh.name, mesh)
    bpy.context.scene.collection.objects.link(shoe)
    shoe.parent = ob
    shoe.modifiers.new("Armature", "ARMATURE").object = ob
    group = shoe.vertex_groups.new(name=f"{side}Foot")
    group.add(list(range(len(points))), 1.0, "REPLACE")


def test_soles_are_taken_from_the_mesh() -> None:
    """A box of a shoe under each foot: its bottom is the ground, its ends are heel and tip."""
    ob = armature_of(biped())
    bare = read_rig(ob).skeleton
    places = {bone.name: np.array(bone.head_local) for bone in ob.data.bones}
    for side in ("Left", "Right"):
        ankle = places[f"{side}Foot"]
        along = np.linspace(-0.25, 0.07, 9)
        grid = np.array([(x, y, z) for x in (-0.05, 0.0, 0.05) for y in along for z in (0.0, 0.1)])
        foot_mesh(ob, side, grid + [ankle[0], ankle[1], -0.03])
    skeleton = read_rig(ob).skeleton
    assert set(skeleton.soles) == {"left", "right"}
    for foot, other in zip(skeleton.feet, bare.feet, strict=True):
        ankle, turn = skeleton.rest_world[0][foot.ankle], skeleton.rest_world[1][foot.ankle]
        heel = ankle + rot.rotate(turn, foot.heel)
        tip = skeleton.rest_world[0][foot.toe] + rot.rotate(skeleton.rest_world[1][foot.toe], foot.tip)
        assert np.allclose(heel - ankle, [0.0, 0.07, -foot.ankle_height], atol=2e-3)
        assert np.allclose((tip - ankle)[:2], [0.0, -0.25], atol=2e-3)
        assert np.isclose(foot.ankle_height, places["LeftFoot"][2] + 0.03, atol=2e-3)
        assert other.ankle_height < foot.ankle_height
    again = type(skeleton).from_json(skeleton.to_json())
    assert np.allclose(again.feet[0].tip, skeleton.feet[0].tip, atol=1e-6)
