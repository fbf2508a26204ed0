"""Reading motion out of Blender: an armature's rest pose as a skeleton, its actions as clips."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import ClipError, RigError
from ..motion.rotations import Array
from ..motion.skeleton import BIPED_ROLES, REQUIRED_ROLES, Skeleton
from . import rigs
from .bone_map import ROOT_ROLE, BoneMap
from .curves import metres_per_unit

#: Toe joints stand this far over the ground for legs of `REFERENCE_LEG` metres, unless told otherwise.
BALL_HEIGHT, REFERENCE_LEG = 0.025, 0.866
_BONE_PATH = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)$')
_EULER_ORDERS = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"}


def skeleton_of(
    armature: bpy.types.Object, roles: Mapping[str, str] | None = None, ball_height: float | None = None
) -> Skeleton:
    """The hips of an armature and all that hangs on them, in world space and metres.

    Where the limbs' bones do not hang on the hips (Rigify's deform bones) only the mapped bones are taken, each on
    its anatomical neighbour. Of animals, too, only the mapped bones are taken: upright, with the paws' soles as their
    mesh has them, as `rigs.rest_of` reads them.

    Args:
        armature: an armature object of even scale.
        roles: role -> bone name; the map kept with the armature, or what its names tell, when not given.
        ball_height: height of the toe joints over the ground in a flat stance, metres; in proportion to the legs
            when not given.

    Raises:
        RigError: no legs are found, or the scale is not even.
    """
    bones = armature.data.bones
    chosen = rigs.bone_map(armature) if roles is None else roles
    if set(chosen) - set(BIPED_ROLES) - {ROOT_ROLE}:
        return rigs.rest_of(armature, BoneMap.chosen(chosen)).skeleton
    roles = {role: name for role, name in chosen.items() if role in BIPED_ROLES and name in bones}
    missing = ", ".join(role.replace("_", " ") for role in REQUIRED_ROLES if role not in roles)
    if missing:
        raise RigError(f"Armature {armature.name!r} lacks: {missing}", "Map these bones by hand")
    names = [bone.name for bone in _below(bones[roles["hips"]])]
    if set(roles.values()) <= set(names):
        index = {name: i for i, name in enumerate(names)}
        parents = [-1] + [index[bones[name].parent.name] for name in names[1:]]
    else:
        names, parents = _by_anatomy(roles)
    frame, origin, scale = rigs.object_frame(armature)
    rest = np.array([np.array(bones[name].matrix_local) for name in names], dtype=np.float64)
    world = rot.mul(frame, rot.from_matrix(rest[:, :3, :3]))
    places = origin + rot.rotate(frame, scale * rest[:, :3, 3])
    local, offsets = np.array(world), np.array(places)
    above = np.array(parents[1:], dtype=int)
    local[1:] = rot.inv_mul(world[above], world[1:])
    offsets[1:] = rot.inv_rotate(world[above], places[1:] - places[above])
    tails = np.array([[0.0, bones[name].length * scale, 0.0] for name in names])
    skeleton = Skeleton(
        names=tuple(names), parents=tuple(parents), offsets=offsets, rest_rotations=local, tails=tails, roles=roles,
    )  # fmt: skip
    height = BALL_HEIGHT * skeleton.leg_length / REFERENCE_LEG if ball_height is None else ball_height
    return replace(skeleton, ball_height=height)


def _by_anatomy(roles: Mapping[str, str]) -> tuple[list[str], list[int]]:
    """The mapped bones, parents first, and each one's parent: the nearest mapped bone towards the hips."""
    order = [role for role in BIPED_ROLES if role in roles]
    above: dict[str, str] = {}
    trunk = "hips"
    for role in order[1:]:
        side, _, part = role.partition("_")
        if side not in ("left", "right"):
            above[role] = trunk
            trunk = role if role.startswith("spine") or role == "neck" else trunk
            continue
        limb = ("hip", "knee", "ankle", "toe") if part in ("hip", "knee", "ankle", "toe") else (
            "clavicle", "shoulder", "elbow", "wrist")  # fmt: skip
        before = [f"{side}_{name}" for name in limb[: limb.index(part)] if f"{side}_{name}" in roles]
        spine = [name for name in order if name.startswith("spine")]
        above[role] = before[-1] if before else ("hips" if limb[0] == "hip" or not spine else spine[-1])
    number = {role: i for i, role in enumerate(order)}
    return [roles[role] for role in order], [-1] + [number[above[role]] for role in order[1:]]


def actions_for(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions that move at least one of the armature's bones; its own first, then those of its NLA, by name."""
    own = armature.animation_data.action if armature.animation_data else None
    names = {bone.name for bone in armature.data.bones}
    found = [
        action
        for action in sorted(bpy.data.actions, key=lambda a: (a is not own and a != own, a.name))
        if any(_bone_of(curve)[0] in names for curve in _curves(action, armature))
    ]
    return found


def bones_moved(action: bpy.types.Action, armature: bpy.types.Object) -> tuple[set[str], set[str]]:
    """Names of the bones that an action moves, as it would play on the armature: those it has, those it lacks."""
    moved = {name for name, _ in map(_bone_of, _curves(action, armature)) if name}
    known = {bone.name for bone in armature.data.bones}
    return moved & known, moved - known


def read_action(
    armature: bpy.types.Object,
    action: bpy.types.Action | None = None,
    *,
    skeleton: Skeleton | None = None,
    frames: tuple[int, int] | None = None,
    fps: float | None = None,
) -> Clip:
    """An action as a clip, with root (0) and contacts (none) still to be found.

    Plain rigs are read from their curves; where constraints, drivers or IK act, the scene is played.

    Args:
        armature: the armature object.
        action: the action to read; the armature's own when not given. It need not be assigned.
        skeleton: what to read: its joints' names must be bones of the armature; `skeleton_of` when not given.
        frames: first and last frame, both included; the action's range when not given.
        fps: frames per second; the scene's when not given.

    Raises:
        ClipError: there is no action, it is empty, has one frame only, or holds values that are no numbers.
    """
    action = action or (armature.animation_data.action if armature.animation_data else None)
    if action is None:
        raise ClipError(f"Armature {armature.name!r} has no action", "Assign or choose an action")
    skeleton = skeleton or skeleton_of(armature)
    curves = _curves(action, armature)
    if not any(_bone_of(curve)[0] in skeleton.names for curve in curves):
        raise ClipError(f"Action {action.name!r} is empty for armature {armature.name!r}",
                        "Choose an action that moves its bones")  # fmt: skip
    first, last = frames if frames is not None else (int(round(v)) for v in action.frame_range)
    if last <= first:
        raise ClipError(f"Action {action.name!r} has a single frame", "Choose an action that moves")
    render = bpy.context.scene.render
    numbers = np.arange(first, last + 1)
    if _is_plain(armature, skeleton, curves):
        positions, world = _from_curves(armature, curves, numbers)
        order = [armature.data.bones.find(name) for name in skeleton.names]
        hips, world = positions[:, order[0]], world[:, order]
    else:
        hips, world = _from_scene(armature, action, skeleton, numbers)
    return Clip(
        skeleton=skeleton, fps=fps or render.fps / render.fps_base, hips=hips,
        rotations=rot.unroll(skeleton.local_rotations(world)), root=np.zeros((len(hips), 3)),
        contacts=np.zeros((len(hips), 4 if skeleton.four_legged else 2), dtype=bool), name=action.name,
    )  # fmt: skip


def _below(bone: bpy.types.Bone) -> list[bpy.types.Bone]:
    """The bone and everything that hangs on it, parents first."""
    found = [bone]
    for child in bone.children:
        found += _below(child)
    return found


def _curves(action: bpy.types.Action, armature: bpy.types.Object) -> Sequence[Any]:
    """The curves of an action that are meant for the armature, in every Blender from 4.2 on."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    slot = slot_of(action, armature)
    if slot is None:
        return []
    return [
        curve
        for layer in action.layers for strip in layer.strips
        for bag in [strip.channelbag(slot)] if bag is not None for curve in bag.fcurves
    ]  # fmt: skip


def slot_of(action: bpy.types.Action, armature: bpy.types.Object) -> Any:
    """The slot by which an armature plays an action, assigned or not; None without one and before 4.4."""
    if not hasattr(action, "slots"):
        return None
    animation = armature.animation_data
    if animation is not None and animation.action == action and animation.action_slot is not None:
        return animation.action_slot
    fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    named = [slot for slot in fitting if slot.name_display == armature.name]
    return (named or fitting or [None])[0]


def _bone_of(curve: Any) -> tuple[str, str]:
    match = _BONE_PATH.match(curve.data_path)
    return (match[1].replace('\\"', '"').replace("\\\\", "\\"), match[2]) if match else ("", "")


def _is_plain(armature: bpy.types.Object, skeleton: Skeleton, curves: Iterable[Any]) -> bool:
    """Whether bones follow from curves alone: no constraints, drivers, scale, bendy or unusual inheritance."""
    animation = armature.animation_data
    if armature.parent or len(armature.constraints) or (animation and len(animation.drivers)):
        return False
    if armature.data.animation_data and len(armature.data.animation_data.drivers):
        return False
    involved: set[str] = set()
    for name in skeleton.names:
        bone = armature.data.bones.get(name)
        if bone is None:
            raise RigError(f"Armature {armature.name!r} has no bone {name!r}", "Map its bones anew")
        while bone is not None and bone.name not in involved:
            involved.add(bone.name)
            if not (bone.use_inherit_rotation and bone.use_local_location):
                return False
            bone = bone.parent
    for name in involved:
        pose = armature.pose.bones[name]
        if len(pose.constraints) or not np.allclose(pose.scale, 1.0):
            return False
    parents = dict(zip(skeleton.names, skeleton.parents, strict=True))
    for curve in curves:
        name, channel = _bone_of(curve)
        # Curves of the object itself, and stretching bones, are left to Blender.
        if (not name and not curve.data_path.startswith("pose.bones")) or (name in involved and channel == "scale"):
            return False
        moves = channel == "location" and parents.get(name, -1) >= 0
        if moves and np.ptp([key.co[1] for key in curve.keyframe_points] or [0.0]) > 0.0:
            return False
    return True


def _from_curves(armature: bpy.types.Object, curves: Iterable[Any], numbers: Array) -> tuple[Array, Array]:
    """World positions (f, bones, 3) and rotations (f, bones, 4) of all bones of the armature, in its order."""
    channels: dict[tuple[str, str], dict[int, Array]] = {}
    for curve in curves:
        key = _bone_of(curve)
        if key[0] and not curve.mute:
            values = np.array([curve.evaluate(float(number)) for number in numbers])
            _check_numbers(values, f"The curve {curve.data_path}[{curve.array_index}]")
            channels.setdefault(key, {})[curve.array_index] = values
    bones = armature.data.bones
    frame, origin, scale = rigs.object_frame(armature)
    positions = np.empty((len(numbers), len(bones), 3))
    world = np.empty((len(numbers), len(bones), 4))
    number_of = {bone.name: i for i, bone in enumerate(bones)}
    for root in (bone for bone in bones if bone.parent is None):
        for bone in _below(root):
            pose = armature.pose.bones[bone.name]
            place = _filled(pose.location, channels.get((bone.name, "location"), {}), len(numbers))
            turn = _rotation(pose, channels, len(numbers))
            matrix = np.array(bone.matrix_local, dtype=np.float64)
            if bone.parent is None:
                above_place, above_turn = origin, frame
            else:
                parent = number_of[bone.parent.name]
                above_place, above_turn = positions[:, parent], world[:, parent]
                matrix = np.linalg.inv(np.array(bone.parent.matrix_local, dtype=np.float64)) @ matrix
            rest = rot.from_matrix(matrix[:3, :3])
            at = number_of[bone.name]
            positions[:, at] = above_place + rot.rotate(above_turn, scale * (matrix[:3, 3] + rot.rotate(rest, place)))
            world[:, at] = rot.mul(rot.mul(above_turn, rest), turn)
    return positions, world


def _check_numbers(values: Array, what: str) -> None:
    """Before they are normalised: a rotation that is none would become no rotation, silently."""
    if not np.all(np.isfinite(values)):
        raise ClipError(f"{what} holds values that are not numbers", "Delete or repair the broken keys")


def _filled(constant: Sequence[float], keyed: Mapping[int, Array], count: int) -> Array:
    values = np.tile(np.array(constant, dtype=np.float64), (count, 1))
    for index, curve in keyed.items():
        values[:, index] = curve
    return values


def _rotation(pose: bpy.types.PoseBone, channels: Mapping[tuple[str, str], Mapping[int, Array]], count: int) -> Array:
    mode = pose.rotation_mode
    if mode == "QUATERNION":
        keyed = channels.get((pose.name, "rotation_quaternion"), {})
        return rot.normalize(_filled(pose.rotation_quaternion, keyed, count))
    if mode == "AXIS_ANGLE":
        values = _filled(pose.rotation_axis_angle, channels.get((pose.name, "rotation_axis_angle"), {}), count)
        axis = values[:, 1:] / np.maximum(np.linalg.norm(values[:, 1:], axis=-1, keepdims=True), 1e-12)
        return rot.from_axis_angle(axis, values[:, 0])
    if mode not in _EULER_ORDERS:
        raise RigError(f"Bone {pose.name!r} has the unknown rotation mode {mode}", "Choose a usual rotation mode")
    angles = _filled(pose.rotation_euler, channels.get((pose.name, "rotation_euler"), {}), count)
    # Blender's order XYZ turns about x first: it stands rightmost.
    turn = np.tile(rot.IDENTITY, (count, 1))
    for letter in mode:
        axis = "XYZ".index(letter)
        turn = rot.mul(rot.from_axis_angle(np.eye(3)[axis], angles[:, axis]), turn)
    return turn


def _from_scene(
    armature: bpy.types.Object, action: bpy.types.Action, skeleton: Skeleton, numbers: Array
) -> tuple[Array, Array]:
    """World position of joint 0 (f, 3) and rotations (f, b, 4) by playing the scene; all is put back afterwards."""
    scene = bpy.context.scene
    names = [bone.name for bone in armature.pose.bones]
    order = [names.index(name) for name in skeleton.names]
    buffer = np.empty(16 * len(names), dtype=np.float32)
    matrices = np.empty((len(numbers), len(order), 4, 4))
    with playing(armature, action):
        for row, number in enumerate(numbers):
            scene.frame_set(int(number))
            evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            evaluated.pose.bones.foreach_get("matrix", buffer)
            bones = buffer.reshape(-1, 4, 4).swapaxes(-1, -2)[order]
            matrices[row] = np.array(evaluated.matrix_world) @ bones
    _check_numbers(matrices, f"Action {action.name!r}, as Blender plays it,")
    axes = matrices[..., :3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), 1e-12)
    return matrices[:, 0, :3, 3] * metres_per_unit(), rot.from_matrix(axes)


@contextlib.contextmanager
def playing(armature: bpy.types.Object, action: bpy.types.Action) -> Iterator[None]:
    """Let an armature show an action alone, on whatever frame the scene is set to; all is put back afterwards."""
    scene = bpy.context.scene
    created = armature.animation_data is None
    animation = armature.animation_data_create() if created else armature.animation_data
    before = (animation.action, getattr(animation, "action_slot", None), scene.frame_current, animation.use_nla)
    try:
        if animation.action != action:
            slot = slot_of(action, armature)
            animation.action = action
            if slot is not None:
                animation.action_slot = slot
        animation.use_nla = False
        yield
    finally:
        animation.action = before[0]
        if before[1] is not None:
            animation.action_slot = before[1]
        animation.use_nla = before[3]
        scene.frame_set(before[2])
        if created:
            armature.animation_data_clear()
