"""Which bone is which part of the body in the rigs that mapping is tested on: looked up by hand, one by one.

``{s}`` stands for the side in the rig's own style. Parts that a rig lacks are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix

from tools import make_rigify


@dataclass(frozen=True)
class Truth:
    """The right bones of one rig.

    Attributes:
        kind: ``biped`` or ``quadruped``.
        sides: how the rig writes left and right.
        centre: role -> bone.
        limbs: role without side -> bone with ``{s}``.
        right: role -> bone, where the pattern does not hold.
        by_hand: roles that no automatism can be asked to find, with the reason.
    """

    kind: str
    sides: tuple[str, str]
    centre: dict[str, str]
    limbs: dict[str, str]
    right: dict[str, str] = field(default_factory=dict)
    by_hand: dict[str, str] = field(default_factory=dict)

    @property
    def bones(self) -> dict[str, str]:
        """Role -> bone."""
        found = dict(self.centre)
        for side, mark in zip(("left", "right"), self.sides, strict=True):
            found.update({f"{side}_{role}": bone.format(s=mark) for role, bone in self.limbs.items()})
        return {**found, **self.right}


def _numbered(role: str, bones: str) -> dict[str, str]:
    """``spine`` and bones apart by blanks as spine_1, spine_2 ...; the first neck has no number."""
    names = bones.split()
    return {role if role == "neck" and k == 1 else f"{role}_{k}": bone for k, bone in enumerate(names, start=1)}


_MANNEQUIN = Truth(
    "biped", ("l", "r"),
    {"root": "root", "hips": "pelvis", **_numbered("spine", "spine_01 spine_02 spine_03"), "neck": "neck_01",
     "head": "head"},
    {"clavicle": "clavicle_{s}", "shoulder": "upperarm_{s}", "elbow": "lowerarm_{s}", "wrist": "hand_{s}",
     "hip": "thigh_{s}", "knee": "calf_{s}", "ankle": "foot_{s}", "toe": "ball_{s}"},
)  # fmt: skip
_MIXAMO = Truth(
    "biped", ("Left", "Right"),
    {"hips": "mixamorig:Hips", **_numbered("spine", "mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2"),
     "neck": "mixamorig:Neck", "head": "mixamorig:Head"},
    {"clavicle": "mixamorig:{s}Shoulder", "shoulder": "mixamorig:{s}Arm", "elbow": "mixamorig:{s}ForeArm",
     "wrist": "mixamorig:{s}Hand", "hip": "mixamorig:{s}UpLeg", "knee": "mixamorig:{s}Leg",
     "ankle": "mixamorig:{s}Foot", "toe": "mixamorig:{s}ToeBase"},
)  # fmt: skip
_KAYKIT = Truth(
    "biped", ("l", "r"),
    {"root": "root", "hips": "hips", "spine_1": "spine", "spine_2": "chest", "head": "head"},
    {"shoulder": "upperarm.{s}", "elbow": "lowerarm.{s}", "wrist": "wrist.{s}", "hip": "upperleg.{s}",
     "knee": "lowerleg.{s}", "ankle": "foot.{s}", "toe": "toes.{s}"},
)  # fmt: skip
_FOX = Truth(
    "quadruped", ("L", "R"),
    {"root": "root", "hips": "Hips", **_numbered("spine", "Spine_1 Spine_2 Spine_2.001"),
     **_numbered("neck", "Spine_3 Spine_4"), "head": "Head",
     **_numbered("tail", "Tail_Base Tail_Mid Tail_Mid.001 Tail_End")},
    {"scapula": "Front_Leg_Shoulder_{s}", "shoulder": "Front_Leg_Upper_{s}", "elbow": "Front_Leg_Lower_{s}",
     "wrist": "Front_Leg_Ankle_{s}", "fore_paw": "Front_Leg_Foot_{s}", "hip": "Back_Leg_Upper_{s}",
     "knee": "Back_Leg_Lower_{s}", "hock": "Back_Leg_Ankle_{s}", "hind_paw": "Back_Leg_Foot_{s}",
     "hind_hoof": "Back_Leg_Foot_1_{s}"},
)  # fmt: skip
_HORSE = Truth(
    "quadruped", ("l", "r"),
    {"root": "root", "hips": "hips", **_numbered("spine", "spine_1 spine_2 spine_3 spine_4"),
     **_numbered("neck", "spine_5 spine_6"), "head": "head", **_numbered("tail", "tail_1 tail_2 tail_3 tail_4")},
    {"scapula": "front_scapula_{s}", "shoulder": "front_humerus_{s}", "elbow": "front_leg_upper_{s}",
     "wrist": "front_leg_lower_{s}", "fore_paw": "front_leg_ankle_{s}", "fore_hoof": "front_leg_foot_{s}",
     "hip": "back_leg_upper_{s}", "knee": "back_leg_lower_{s}", "hock": "back_leg_ankle_{s}",
     "hind_paw": "back_leg_foot_{s}", "hind_hoof": "back_leg_toe_{s}"},
)  # fmt: skip
_KHRONOS = Truth(
    "quadruped", ("Left", "Right"),
    {"root": "_rootJoint", "hips": "b_Hip_01", **_numbered("spine", "b_Spine01_02 b_Spine02_03"),
     "neck": "b_Neck_04", "head": "b_Head_05", **_numbered("tail", "b_Tail01_012 b_Tail02_013 b_Tail03_014"),
     "left_shoulder": "b_LeftUpperArm_09", "left_elbow": "b_LeftForeArm_010", "left_wrist": "b_LeftHand_011",
     "left_hip": "b_LeftLeg01_015", "left_knee": "b_LeftLeg02_016", "left_hock": "b_LeftFoot01_017",
     "left_hind_paw": "b_LeftFoot02_018",
     "right_shoulder": "b_RightUpperArm_06", "right_elbow": "b_RightForeArm_07", "right_wrist": "b_RightHand_08",
     "right_hip": "b_RightLeg01_019", "right_knee": "b_RightLeg02_020", "right_hock": "b_RightFoot01_021",
     "right_hind_paw": "b_RightFoot02_022"},
    {},
)  # fmt: skip


def _quaternius(tail: int) -> Truth:
    # Paws are IK bones, which hang on no leg.
    return Truth(
        "quadruped", ("L", "R"),
        {"root": "Body", "hips": "Back", **_numbered("spine", "Torso Torso2 Torso3"),
         **_numbered("neck", "Neck1 Neck2 Neck3"), "head": "Head",
         **_numbered("tail", " ".join(f"Tail{k}" for k in range(1, tail + 1)))},
        {"scapula": "FrontShoulder.{s}", "shoulder": "FrontUpperLeg.{s}", "elbow": "FrontLowerLeg.{s}",
         "wrist": "IKFrontLeg.{s}", "fore_paw": "FF.{s}", "hip": "BackLeg.{s}", "knee": "BackUpperLeg.{s}",
         "hock": "BackLowerLeg.{s}", "hind_paw": "IKBackLeg.{s}", "hind_hoof": "FFB.{s}"},
    )  # fmt: skip


_HUMAN_LIMBS = {
    "clavicle": "shoulder.{s}", "shoulder": "upper_arm.{s}", "elbow": "forearm.{s}", "wrist": "hand.{s}",
    "hip": "thigh.{s}", "knee": "shin.{s}", "ankle": "foot.{s}", "toe": "toe.{s}",
}  # fmt: skip
_METARIG_HUMAN = Truth(
    "biped", ("L", "R"),
    {"hips": "spine", **_numbered("spine", "spine.001 spine.002 spine.003"), "neck": "spine.004", "head": "spine.006"},
    _HUMAN_LIMBS,
)  # fmt: skip
_METARIG_WOLF = Truth(
    "quadruped", ("L", "R"),
    {"hips": "spine.004", **_numbered("spine", "spine.006 spine.007 spine.008"),
     **_numbered("neck", "spine.009 spine.010"), "head": "spine.011",
     **_numbered("tail", "spine.003 spine.002 spine.001 spine")},
    {"scapula": "shoulder.{s}", "shoulder": "front_thigh.{s}", "elbow": "front_shin.{s}", "wrist": "front_foot.{s}",
     "fore_paw": "front_toe.{s}", "hip": "thigh.{s}", "knee": "shin.{s}", "hock": "foot.{s}", "hind_paw": "toe.{s}"},
)  # fmt: skip
_METARIG_CAT = Truth(
    "quadruped", ("L", "R"),
    {"hips": "spine", **_numbered("spine", "spine.001 spine.002 spine.003"),
     **_numbered("neck", "spine.004 spine.005"), "head": "spine.006",
     **_numbered("tail", "tail.001 tail.002 tail.003 tail.004")},
    {"scapula": "shoulder.{s}", "shoulder": "upper_arm.{s}", "elbow": "forearm.{s}", "wrist": "hand.{s}",
     "fore_paw": "f_toe.{s}", "hip": "thigh.{s}", "knee": "shin.{s}", "hock": "foot.{s}", "hind_paw": "r_toe.{s}"},
)  # fmt: skip
_METARIG_HORSE = Truth(
    "quadruped", ("L", "R"),
    {"hips": "spine.001", **_numbered("spine", "spine.003 spine.004 spine.005 spine.006"),
     **_numbered("neck", "neck.001 neck.002 neck.003 neck.004"), "head": "head",
     **_numbered("tail", "tail.001 tail.002 tail.003 tail.004 tail.005")},
    {"scapula": "shoulder.{s}", "shoulder": "upper_arm.{s}", "elbow": "forearm.{s}", "wrist": "forefoot.{s}",
     "fore_paw": "f_toe.{s}", "fore_hoof": "f_hoof.{s}", "hip": "thigh.{s}", "knee": "lower_leg.{s}",
     "hock": "hind_foot.{s}", "hind_paw": "r_toe.{s}", "hind_hoof": "r_hoof.{s}"},
)  # fmt: skip


def _deform(truth: Truth, tail: Sequence[str] = (), spine: Sequence[str] = ()) -> Truth:
    """The deform bones of the generated rig that have controls of their own: the neck has one for all its bones.

    Where the tail's deform bones run from tip to body, its controls stand for them; where a bone of the spine goes
    rigidly with the pelvis, the spine is what ``spine`` says.
    """
    centre = {role: f"DEF-{bone}" for role, bone in truth.centre.items() if not role.startswith("neck_")}
    if tail:
        centre = {**{role: bone for role, bone in centre.items() if not role.startswith("tail")},
                  **_numbered("tail", " ".join(tail))}  # fmt: skip
    if spine:
        centre = {**{role: bone for role, bone in centre.items() if not role.startswith("spine")},
                  **_numbered("spine", " ".join(f"DEF-{bone}" for bone in spine))}  # fmt: skip
    limbs = {role: f"DEF-{bone}" for role, bone in truth.limbs.items()}
    return Truth(truth.kind, truth.sides, {"root": "root", **centre}, limbs)


#: Rigify's human: spine.001 hangs rigidly on the hips' control.
_GENERATED_HUMAN = Truth(
    "biped", ("L", "R"),
    {"root": "root", "hips": "DEF-spine", "spine_1": "DEF-spine.002", "spine_2": "DEF-spine.003",
     "neck": "DEF-spine.004", "head": "DEF-spine.006"},
    {role: f"DEF-{bone}" for role, bone in _HUMAN_LIMBS.items()},
)  # fmt: skip

#: File under shared/data -> its bones.
FILES: dict[str, Truth] = {
    "rigs/human-male.glb": _MANNEQUIN, "rigs/rig-human.glb": _MANNEQUIN,
    "rigs/human_kenney_mixamo_names.glb": _MIXAMO, "rigs/kaykit_knight.glb": _KAYKIT,
    "rigs/fox-cat.glb": _FOX, "rigs/fox-dog.glb": _FOX,
    "quadruped/fox-animations.glb": _FOX, "quadruped/rig-fox.glb": _FOX,
    "quadruped/horse-animations.glb": _HORSE, "quadruped/rig-horse.glb": _HORSE,
    "quadruped/khronos_fox.glb": _KHRONOS,
    "quadruped/quaternius_deer.glb": _quaternius(3), "quadruped/quaternius_fox.glb": _quaternius(8),
    "quadruped/quaternius_husky.glb": _quaternius(6), "quadruped/quaternius_shiba_inu.glb": _quaternius(3),
    "quadruped/quaternius_wolf.glb": _quaternius(8),
}  # fmt: skip
#: Files that hold a mesh without bones.
BONELESS = ("rigs/model-human.glb", "quadruped/model-horse.glb", "quadruped/model-fox.glb")
#: Rigify's kind -> bones of metarig and of the generated rig.
RIGIFY: dict[str, tuple[Truth, Truth]] = {
    "human": (_METARIG_HUMAN, _GENERATED_HUMAN), "basic_human": (_METARIG_HUMAN, _GENERATED_HUMAN),
    "wolf": (_METARIG_WOLF, _deform(_METARIG_WOLF, tail=("spine.003", "spine.002", "spine.001", "spine"))),
    "cat": (_METARIG_CAT, _deform(_METARIG_CAT, [f"tail.00{k}" for k in (1, 2, 3, 4)], ["spine.002", "spine.003"])),
    "horse": (_METARIG_HORSE, _deform(_METARIG_HORSE)),
}  # fmt: skip

#: What is done to a rig before it is mapped.
VARIANTS = ("as it is", "scale 0.01", "scale 100", "axes turned", "lying", "parented")


def open_file(path: Path) -> Any:
    """Import a .glb into an empty file; its armature."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    return next((ob for ob in bpy.data.objects if ob.type == "ARMATURE"), None)


def open_rigify(kind: str, generated: bool) -> Any:
    """Open a cached Rigify file; its metarig or its generated rig."""
    bpy.ops.wm.open_mainfile(filepath=str(make_rigify.cached(kind=kind)))
    return bpy.data.objects[make_rigify.RIG if generated else make_rigify.METARIG]


def vary(ob: Any, variant: str) -> None:
    """Change how a rig stands without changing what it is; for ``lying`` it lies on its back afterwards."""
    if variant.startswith("scale"):
        scale = float(variant.split()[1])
        _transform(ob, Matrix.Scale(1.0 / scale, 4))
        ob.matrix_world = ob.matrix_world @ Matrix.Scale(scale, 4)
    elif variant == "axes turned":
        turn = Matrix.Rotation(1.5707963267948966, 4, "X")
        _transform(ob, turn.inverted())
        ob.matrix_world = ob.matrix_world @ turn
    elif variant == "lying":
        ob.matrix_world = Matrix.Rotation(1.5707963267948966, 4, "X") @ ob.matrix_world
    elif variant == "parented":
        holder = bpy.data.objects.new("Holder", None)
        bpy.context.scene.collection.objects.link(holder)
        holder.location, holder.rotation_euler, holder.scale = (3.0, -2.0, 0.5), (0.0, 0.0, 0.8), (0.5,) * 3
        ob.parent = holder
    bpy.context.view_layer.update()


def _transform(ob: Any, matrix: Matrix) -> None:
    """Change the armature's data and that of the meshes on it."""
    ob.data.transform(matrix)
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == "STRETCH_TO":
                constraint.rest_length *= matrix.median_scale
    for child in _meshes(ob):
        child.data.transform(matrix @ child.matrix_local if child.parent_type != "BONE" else Matrix())
        child.matrix_local = Matrix()


def _meshes(ob: Any) -> Iterator[Any]:
    for child in ob.children:
        if child.type == "MESH" and child.parent_type == "OBJECT":
            yield child
