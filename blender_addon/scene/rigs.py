"""Armatures: the animator's rig as a skeleton in model space and as the controls that the bake moves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..motion import animal
from ..motion import rotations as rot
from ..motion.bone_tree import BoneTree
from ..motion.errors import RigError
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from . import rigify, rigify_animal
from .bone_map import ROOT_ROLE, BoneMap, guess
from .controls import Control, bones_above, plain_controls, rigify_animal_controls, rigify_controls, tree_above
from .held import fighting_constraints
from .rest_pose import REFERENCE_PROPERTY, RestPose, object_frame, read_rest, reference_pose
from .rest_pose_animal import read_animal_rest

#: Custom property of an armature object that holds a corrected bone map (JSON).
MAP_PROPERTY = "gaitsmith_bones"


@dataclass(frozen=True)
class Rig:
    """An armature, read.

    Attributes:
        name: of the armature object.
        kind: ``plain``, ``rigify controls`` or ``rigify deform``.
        skeleton: its mapped bones in model space; joint names are bone names.
        bone_map: role -> bone.
        probes: for each joint, the bone whose evaluated pose shows it.
        joints: rest rotation (b + 1, 4) and place (b + 1, 3) of the joints and the root in the armature's space.
        controls: what gets keys.
        still: bones that must stand in their rest pose between the controls.
        switches: (data path, value) to be keyed once.
        root_bone: the bone that carries the travel, if there is one.
        rotation, place: the object's rotation (4,) and place (3,) in the world, metres.
        scale: metres per unit of the armature.
        standing: rotation (4,) from the armature's space to the world for a body that stands upright and faces
            ``facing``: the object's own, unless the rest pose lies.
        facing: yaw of the rest pose in the world; the skeleton's faces -Y.
        root_height: height of the root bone over the soles' ground in the rest pose, metres.
        notes: what the user may want to know.
    """

    name: str
    kind: str
    skeleton: Skeleton
    bone_map: BoneMap
    probes: tuple[str, ...]
    joints: tuple[Array, Array]
    controls: tuple[Control, ...]
    still: tuple[str, ...]
    switches: tuple[tuple[str, float], ...]
    root_bone: str | None
    rotation: Array
    place: Array
    scale: float
    standing: Array
    facing: float
    root_height: float
    notes: tuple[str, ...] = field(default=())


def bone_map(ob: bpy.types.Object) -> dict[str, str]:
    """Role -> bone: the corrected map kept with the armature if there is one, else the guessed one."""
    return dict(map_of(ob).bones)


def map_of(ob: bpy.types.Object) -> BoneMap:
    """The corrected map kept with the armature if there is one, else the guessed one."""
    return kept_map(ob) or guess_map(ob)


def guess_map(ob: bpy.types.Object) -> BoneMap:
    """The guessed map with confidence and reasons."""
    tree = tree_of(ob)
    axes = np.array(ob.matrix_world, dtype=np.float64)[:3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-12)
    found = guess(tree, [sign * axes[:, axis] for axis in (2, 1, 0) for sign in (1.0, -1.0)])
    if found.kind == "biped" and rigify.is_generated(dict.fromkeys(tree.names)):
        bones = {role: bone for role, bone in rigify.DEFORM.items() if bone in tree.names}
        return BoneMap(bones, dict.fromkeys(bones, 1.0), dict.fromkeys(bones, "Rigify's own name"), "rigify generated")
    return _fitted(ob, found)


def _fitted(ob: bpy.types.Object, found: BoneMap) -> BoneMap:
    """The map as the controls of a generated Rigify animal allow; any other map as it is."""
    if rigify_animal.is_generated(ob.data.bones, found):
        return rigify_animal.fitted(found, tree_above(ob))
    return found


def tree_of(ob: bpy.types.Object) -> BoneTree:
    """All bones of an armature in their rest pose, turned as the object stands in the world."""
    bones = ob.data.bones
    axes = np.array(ob.matrix_world, dtype=np.float64)[:3, :3]
    axes = axes / max(float(np.linalg.norm(axes, axis=0).max()), 1e-12)
    flat = np.empty((2, 3 * len(bones)), dtype=np.float32)
    bones.foreach_get("head_local", flat[0])
    bones.foreach_get("tail_local", flat[1])
    heads, tails = flat.reshape(2, -1, 3).astype(np.float64) @ axes.T
    parents = {bone.name: bone.parent.name if bone.parent else None for bone in bones}
    return BoneTree.of(parents, heads, tails, [bone.use_deform for bone in bones])


def keep_map(ob: bpy.types.Object, bones: Mapping[str, str]) -> None:
    """Store a corrected map with the armature object; an empty one takes it away."""
    if bones:
        ob[MAP_PROPERTY] = json.dumps(dict(bones), ensure_ascii=False)
    elif MAP_PROPERTY in ob:
        del ob[MAP_PROPERTY]


def kept_map(ob: bpy.types.Object) -> BoneMap | None:
    """The map stored with the armature; None without a readable one."""
    try:
        data = json.loads(ob.get(MAP_PROPERTY, ""))
        return BoneMap.chosen({str(role): str(bone) for role, bone in data.items()}) if data else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def state_of(ob: bpy.types.Object) -> tuple[str, ...]:
    """What the reading of an armature depends on, quickly: the same as long as none of it has changed."""
    kept = [str(ob.get(name, "")) for name in (MAP_PROPERTY, REFERENCE_PROPERTY)]
    scale = " ".join(f"{value:.4f}" for value in ob.matrix_world.to_scale())
    lengths = np.empty(len(ob.data.bones), np.float32)
    ob.data.bones.foreach_get("length", lengths)
    return (ob.name_full, str(len(lengths)), f"{lengths.sum():.4f}", scale, *kept)


def read_rig(ob: bpy.types.Object | None, bones: BoneMap | None = None, *, deform: bool = False) -> Rig:
    """Read an armature.

    Args:
        ob: the armature object.
        bones: the map; the kept or guessed one when not given.
        deform: of a generated Rigify rig, key the deform bones (their constraints are switched off by keys) instead
            of the FK controls.

    Raises:
        RigError: what cannot be baked onto, and what to do about it.
    """
    if ob is None:
        raise RigError("There is no character", "Create one, or pick an armature")
    if ob.type != "ARMATURE":
        raise RigError(f"{ob.name!r} is no armature", "Pick the armature of the character")
    check_writable(ob)
    if ob.mode == "EDIT":
        raise RigError(f"The armature {ob.name!r} is in Edit Mode", "Leave it (Tab), then bake")
    bpy.context.view_layer.update()
    rotation, place, scale = object_frame(ob)
    found = _fitted(ob, bones or kept_map(ob) or guess_map(ob))
    found.check(ob.data.bones.keys())
    seen, order, parents, joints, generated = _at_rest(ob, found, rotation, scale)
    root = found.bones.get(ROOT_ROLE)
    skeleton = seen.skeleton
    root_height = float(rot.rotate(seen.standing, joints[1][-1] * scale)[2]) - seen.ground if root else 0.0
    number = {role: index for index, role in enumerate(order)} | {ROOT_ROLE: len(order)}
    four = found.kind == "quadruped"
    if generated:
        kind = "rigify deform" if deform else "rigify controls"
        if four:
            controls, switches = rigify_animal_controls(ob, found, number, deform)
            handles = rigify_animal.handles(found.bones, tree_above(ob))
        else:
            controls, switches = rigify_controls(ob, number, deform)
            handles = rigify.HANDLES
        keyed = {control.bone for control in controls}
        idle = tuple(handle.bone for handle in handles if handle.bone not in keyed) if deform else ()
        fixed = rigify.STILL
        if four:
            fixed = (*rigify_animal.STILL, *rigify_animal.helpers(found.bones, tree_above(ob)))
        still = tuple(name for name in (*fixed, *idle) if name in ob.data.bones)
    else:
        controls, still = plain_controls(ob, found, order, parents, number)
        kind, switches = "plain", ()
    _check_bones(ob, controls, skeleton)
    probes = skeleton.names
    if kind == "rigify controls":
        roles = {bone: role for role, bone in found.bones.items()}
        probes = tuple(rigify_animal.probe(roles[name], name) if four else rigify.probe(name) for name in probes)
    return Rig(
        ob.name, kind, skeleton, found, probes, joints, controls, still, switches, root, rotation, place, scale,
        seen.standing, seen.facing, root_height, _notes(ob, found, controls, switches, seen),
    )  # fmt: skip


def rest_of(ob: bpy.types.Object, bones: BoneMap | None = None) -> RestPose:
    """What the rest pose, or the reference pose, of an armature tells that is only looked at; raises `RigError`.

    Args:
        ob: the armature object.
        bones: the map; the kept or guessed one when not given.
    """
    bpy.context.view_layer.update()
    rotation, _, scale = object_frame(ob)
    found = _fitted(ob, bones or kept_map(ob) or guess_map(ob))
    found.check(ob.data.bones.keys())
    return _at_rest(ob, found, rotation, scale)[0]


def _at_rest(
    ob: bpy.types.Object, found: BoneMap, rotation: Array, scale: float
) -> tuple[RestPose, list[str], dict[str, str | None], tuple[Array, Array], bool]:
    """The rest pose, roles in order, their parents, rest of joints and root in the armature; whether Rigify made it."""
    names = [role for role in found.roles if role in found.bones and role != ROOT_ROLE]
    beast = rigify_animal.is_generated(ob.data.bones, found)
    generated = beast or (rigify.is_generated(ob.data.bones) and found.bones["hips"].startswith("DEF-"))
    if beast:
        parents = rigify_animal.parents(found.bones, tree_above(ob))
    else:
        parents = _joint_parents(ob, {role: found.bones[role] for role in names}, generated)
    order = _parents_first(names, parents)
    root = found.bones.get(ROOT_ROLE)
    rest = _rest(ob, [found.bones[role] for role in order] + ([root] if root else []))
    if root is None:
        rest = np.concatenate([rest, np.eye(4)[None]])
    joints = rot.from_matrix(rest[:, :3, :3]), rest[:, :3, 3]
    read = read_animal_rest if found.kind == "quadruped" else read_rest
    seen = read(ob, found.bones, order, parents, joints, rotation, scale)
    return seen, order, parents, joints, generated


def check_writable(ob: bpy.types.Object) -> None:
    """Refuse linked and locked data, and an action held by the NLA editor; raises `RigError`."""
    if ob.library is not None:
        raise RigError(
            f"The armature {ob.name!r} is linked from {ob.library.filepath!r}",
            "Make a library override of it (Object > Library Override > Make), then bake",
        )
    override = ob.override_library
    if override is not None and getattr(override, "is_system_override", False):
        raise RigError(
            f"The library override of {ob.name!r} is not editable",
            "Make it editable (Object > Library Override > Make), then bake",
        )
    if not getattr(ob, "is_editable", True):
        raise RigError(f"The armature {ob.name!r} cannot be edited", "Make it local or override it")
    if ob.animation_data is not None and ob.animation_data.use_tweak_mode:
        raise RigError(
            f"A strip of {ob.name!r} is being edited in the NLA editor", "Leave its tweak mode (Tab there), then go on"
        )


def shown(ob: bpy.types.Object) -> bool:
    """Whether Blender evaluates the armature's pose: it is neither hidden nor shown at rest."""
    return bool(ob.visible_get()) and ob.data.pose_position == "POSE"


def _rest(ob: bpy.types.Object, bones: Sequence[str]) -> Array:
    return np.array([np.array(ob.data.bones[name].matrix_local) for name in bones], dtype=np.float64)


def _joint_parents(ob: bpy.types.Object, bones: Mapping[str, str], generated: bool) -> dict[str, str | None]:
    """Role -> role of the joint above; the hips have none, and what hangs on nothing mapped hangs on the hips."""
    roles = {bone: role for role, bone in bones.items()}
    tree = {bone.name: bone.parent.name if bone.parent else None for bone in ob.data.bones} if generated else {}
    parents: dict[str, str | None] = {}
    for role, bone in bones.items():
        if role == "hips":
            parents[role] = None
        elif generated:
            above = rigify.carrier(bone, tree, bones, own=role)
            parents[role] = "hips" if above in (None, ROOT_ROLE) else above
        else:
            over = next((roles[name] for name in bones_above(ob, bone) if name in roles), None)
            parents[role] = over or animal.above_in_leg(role, bones) or "hips"
    over = [name for name in bones_above(ob, bones["hips"]) if name in roles] if not generated else []
    if over:
        raise RigError(
            f"The hips' bone {bones['hips']!r} hangs on {over[0]!r}",
            "Map the hips to the bone that carries legs and spine",
        )
    return parents


def _parents_first(roles: Sequence[str], parents: Mapping[str, str | None]) -> list[str]:
    order = ["hips"]
    waiting = [role for role in roles if role != "hips"]
    while waiting:
        ready = [role for role in waiting if parents[role] in order]
        if not ready:
            raise RigError("The mapped bones do not form one body", "Map the bones again")
        order += ready
        waiting = [role for role in waiting if role not in ready]
    return order


def _check_bones(ob: bpy.types.Object, controls: Sequence[Control], skeleton: Skeleton) -> None:
    for control in controls:
        scale = np.array(ob.pose.bones[control.bone].scale)
        if np.abs(scale - 1.0).max() > 1e-3:
            raise RigError(
                f"The bone {control.bone!r} is scaled ({scale[0]:.2f} x {scale[1]:.2f} x {scale[2]:.2f})",
                "Clear the scale of the bones in Pose Mode (Alt S), then bake",
            )
    if not np.isfinite(skeleton.leg_length) or skeleton.leg_length < 0.02:
        raise RigError(
            f"The legs are {skeleton.leg_length * 1000:.1f} mm long", "Scale the armature to the size of a person"
        )
    if skeleton.leg_length > 50.0:
        raise RigError(
            f"The legs are {skeleton.leg_length:.0f} m long",
            "Scale the armature (0.01 for a rig in centimetres), or set the scene's unit scale",
        )


def _notes(
    ob: bpy.types.Object, found: BoneMap, controls: Sequence[Control], switches: Sequence[tuple[str, float]],
    seen: RestPose,
) -> tuple[str, ...]:  # fmt: skip
    notes = []
    if np.abs(seen.standing - object_frame(ob)[0]).max() > 1e-6:
        notes.append("The rest pose lies: it was stood up by the armature's own axes")
    if reference_pose(ob):
        notes.append("A pose is kept as reference, and stands for the rest pose")
    if not ob.visible_get():
        notes.append("The armature is hidden in this view layer: show it to see the motion; the bake was not measured")
    keyed_off = {path for path, value in switches if value == 0.0}
    notes += fighting_constraints(ob, controls, keyed_off)
    if ob.data.pose_position == "REST":
        notes.append("The armature shows its rest position: choose Pose Position in its data to see the motion")
    unsure = [role.replace("_", " ") for role, value in found.confidence.items() if value < 0.5]
    if unsure:
        notes.append(f"Not sure about these bones: {', '.join(unsure)}")
    if found.kind == "quadruped":
        notes += _animal_notes(found)
    elif all(f"{side}_toe" not in found.bones for side in ("left", "right")):
        notes.append("The rig has no toe bones: feet are planted without rolling over the toes")
    data = ob.animation_data
    bones = {control.bone for control in controls}
    paths = [driver.data_path for driver in data.drivers] if data is not None else []
    driven = [name for name in bones if any(path.startswith(f'pose.bones["{name}"].') for path in paths
              if path.rpartition(".")[2].startswith(("rotation", "location")))]  # fmt: skip
    if driven:
        notes.append(f"Drivers overrule the keys of {', '.join(sorted(driven)[:4])}: remove them from these bones")
    if data is not None and any(not track.mute for track in data.nla_tracks) and len(data.nla_tracks):
        notes.append("NLA tracks below may add to the baked action")
    return tuple(notes)


def _animal_notes(found: BoneMap) -> list[str]:
    """What a four-legged rig lacks, and what that means."""
    notes = []
    if not any(role.startswith("spine_") for role in found.bones):
        notes.append("The trunk is one bone: it cannot bend")
    ends = [f"{side}_{end}_paw" for side in ("left", "right") for end in ("hind", "fore")]
    if not all(role in found.bones for role in ends):
        notes.append("Some legs have no bones for paws or hooves: they stand on the ends of their last bones")
    return notes
