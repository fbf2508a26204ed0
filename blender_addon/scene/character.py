"""The pack's own character in the scene: an armature with its joints, and a simple body to look at."""

from __future__ import annotations

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.retarget import grounded_rest
from ..motion.skeleton import Skeleton
from .body import body, bone_ends
from .body_animal import animal_body
from .bone_map import ROOT_ROLE
from .curves import metres_per_unit
from .rigs import Rig, keep_map, read_rig

ROOT_BONE = "Root"
#: Colours (red, green, blue) of middle, left, right, head and feet: sides are told apart at a glance.
COLOURS = ((0.55, 0.56, 0.60), (0.16, 0.42, 0.75), (0.85, 0.42, 0.12), (0.78, 0.62, 0.50), (0.20, 0.20, 0.22))
_NAMES = ("Body", "Left", "Right", "Head", "Shoes")


def create_character(
    skeleton: Skeleton, name: str = "Walker", *, collection: bpy.types.Collection | None = None, with_body: bool = True
) -> bpy.types.Object:
    """Add an armature with a skeleton's joints, a root bone on the ground, and a body bound to it.

    Args:
        skeleton: of a pack.
        name: of the new armature object.
        collection: where to link it; the active collection when not given.
        with_body: add the body.

    Returns:
        The armature object; it is active and selected.

    Raises:
        RigError: the skeleton has no legs.
    """
    if skeleton.missing_roles:
        raise RigError("The pack's skeleton has no legs", "Choose another pack")
    skeleton = grounded_rest(skeleton)
    target = collection or bpy.context.collection or bpy.context.scene.collection
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    target.objects.link(ob)
    for other in list(bpy.context.view_layer.objects.selected):
        other.select_set(False)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    _add_bones(ob, skeleton)
    if skeleton.four_legged:
        keep_map(ob, {**skeleton.roles, ROOT_ROLE: ROOT_BONE})
    ob.show_in_front = False
    ob.data.display_type = "STICK"
    if with_body:
        add_body(ob, read_rig(ob), target)
    return ob


def _add_bones(ob: bpy.types.Object, skeleton: Skeleton) -> None:
    unit = metres_per_unit()
    places, _ = skeleton.rest_world
    ends = bone_ends(skeleton)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = ob.data.edit_bones
    root = edit.new(ROOT_BONE)
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, -0.35 * skeleton.leg_length / unit, 0.0)
    root.use_deform = False
    made = []
    for joint, bone_name in enumerate(skeleton.names):
        bone = edit.new(bone_name)
        bone.head, bone.tail = places[joint] / unit, ends[joint] / unit
        # Z to the front where the bone stands upright, up where it lies: knees and elbows bend about X.
        axis = (ends[joint] - places[joint]) / np.linalg.norm(ends[joint] - places[joint])
        bone.align_roll((0.0, -1.0, 0.0) if abs(axis[2]) > 0.7 else (0.0, 0.0, 1.0))
        parent = skeleton.parents[joint]
        bone.parent = made[parent] if parent >= 0 else root
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")


def add_body(ob: bpy.types.Object, rig: Rig, collection: bpy.types.Collection | None = None) -> bpy.types.Object:
    """Put a simple body on any rig, each piece bound to the bone of its joint; returns the mesh object.

    Args:
        ob: the armature object, as it was when ``rig`` was read.
        rig: the rig.
        collection: where to link the body; where the armature is when not given.
    """
    places, turns = rig.skeleton.rest_world
    vertices: list[list[float]] = []
    faces: list[tuple[int, ...]] = []
    colours: list[int] = []
    members: dict[str, list[int]] = {}
    for piece in animal_body(rig.skeleton) if rig.skeleton.four_legged else body(rig.skeleton):
        # From model space to the armature's, by the piece's own joint.
        arm = rot.inv_rotate(turns[piece.joint], piece.vertices - places[piece.joint]) / rig.scale
        local = rig.joints[1][piece.joint] + rot.rotate(rig.joints[0][piece.joint], arm)
        begin = len(vertices)
        vertices += local.tolist()
        faces += [tuple(begin + k for k in face) for face in piece.faces]
        colours += [piece.colour] * len(piece.faces)
        members.setdefault(_skinned(ob, rig.skeleton.names[piece.joint]), []).extend(range(begin, len(vertices)))
    mesh = bpy.data.meshes.new(f"{ob.name} body")
    mesh.from_pydata(vertices, [], faces)
    for label, colour in zip(_NAMES, COLOURS, strict=True):
        mesh.materials.append(_material(f"Gaitsmith {label}", colour))
    mesh.polygons.foreach_set("material_index", colours)
    mesh.polygons.foreach_set("use_smooth", [True] * len(colours))
    mesh.update()
    thing = bpy.data.objects.new(f"{ob.name} body", mesh)
    (collection or (ob.users_collection or [bpy.context.scene.collection])[0]).objects.link(thing)
    for bone, indices in members.items():
        thing.vertex_groups.new(name=bone).add(indices, 1.0, "REPLACE")
    thing.parent = ob
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = ob
    return thing


def _skinned(ob: bpy.types.Object, bone: str) -> str:
    """The bone that moves the skin where a control stands for it: Rigify's deform bone of the same name."""
    twin = f"DEF-{bone}"
    return twin if not ob.data.bones[bone].use_deform and twin in ob.data.bones else bone


def _material(name: str, colour: tuple[float, float, float]) -> bpy.types.Material:
    found = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        found.diffuse_color = (*colour, 1.0)
    return found
