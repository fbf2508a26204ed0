"""Which bones of a rig get keys, and which joints they and their parents move with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.rotations import Array
from . import rigify, rigify_animal
from .bone_map import ROOT_ROLE, BoneMap

#: Tells the role that carries a bone, from bone, tree and role -> bone.
Carrier = Callable[[str, Mapping[str, str | None], Mapping[str, str]], str | None]
#: ``ride`` of controls that nothing carries but the armature itself.
ARMATURE = -1


@dataclass(frozen=True)
class Control:
    """One bone that gets keys. Joints are numbered as in the skeleton; ``len(skeleton)`` is the root.

    Attributes:
        bone: its name.
        joint: the joint it moves with, rigidly.
        ride: the joint that carries the bone's parent; `ARMATURE` for none.
        rest: rest rotation (4,) and place (3,) in the armature's space and units.
        loc_axes: axes (4,) of its location channels at rest, in the armature's space.
        turns_alone: it does not inherit its parent's rotation.
        location: whether its place must be keyed too.
        mode: its rotation mode.
        rotation: whether its rotation is keyed.
        carrier: the control that carries it, where several move the joint it rides on and it is not the last of them.
    """

    bone: str
    joint: int
    ride: int
    rest: tuple[Array, Array]
    loc_axes: Array
    turns_alone: bool
    location: bool
    mode: str
    rotation: bool = True
    carrier: str = ""


def bones_above(ob: bpy.types.Object, bone: str) -> list[str]:
    """Names of the bones above, nearest first."""
    return [above.name for above in ob.data.bones[bone].parent_recursive]


def make_control(ob: bpy.types.Object, name: str, joint: int, ride: int, location: bool) -> Control:
    """A bone of an armature as a control; raises `RigError` where its place cannot be keyed and must be."""
    bone = ob.data.bones[name]
    matrix = np.array(bone.matrix_local, dtype=np.float64)
    turn = rot.from_matrix(matrix[:3, :3])
    axes = turn
    if not bone.use_local_location:
        axes = rot.from_matrix(np.array(bone.parent.matrix_local)[:3, :3]) if bone.parent else rot.IDENTITY
    if location and bone.use_connect and bone.parent is not None:
        raise RigError(
            f"The bone {name!r} is connected to a bone that does not carry it in the map",
            "Disconnect it (Edit Mode, Alt P), or map the bones between",
        )
    return Control(
        name, joint, ride, (turn, matrix[:3, 3]), axes, not bone.use_inherit_rotation, location,
        ob.pose.bones[name].rotation_mode,
    )  # fmt: skip


def parent_number(ob: bpy.types.Object, carrier: str, wanted: str) -> int | None:
    """The value of a parent switch that hangs a control on a bone; None where it offers none."""
    bone = ob.pose.bones.get(carrier)
    name = wanted.replace("DEF-", "ORG-", 1)
    for constraint in bone.constraints if bone is not None else ():
        for number, target in enumerate(getattr(constraint, "targets", ()), start=1):
            if target.subtarget == name:
                return number
    return None


def plain_controls(
    ob: bpy.types.Object, found: BoneMap, order: Sequence[str], parents: Mapping[str, str | None],
    number: Mapping[str, int],
) -> tuple[tuple[Control, ...], tuple[str, ...]]:  # fmt: skip
    """The mapped bones of any rig, and the bones between them, which must stand still."""
    roles = {found.bones[role]: role for role in [*order, ROOT_ROLE] if role in found.bones}
    controls, still = [], []
    for bone, role in roles.items():
        above = bones_above(ob, bone)
        near = next((name for name in above if name in roles), None)
        still += above[: above.index(near)] if near is not None else above
        ride = number[roles[near]] if near is not None else ARMATURE
        carried = role not in (ROOT_ROLE, "hips") and near is not None and roles[near] == parents[role]
        controls.append(make_control(ob, bone, number[role], ride, location=not carried))
    return tuple(controls), tuple(dict.fromkeys(still))


def rigify_controls(
    ob: bpy.types.Object, number: Mapping[str, int], deform: bool
) -> tuple[tuple[Control, ...], tuple[tuple[str, float], ...]]:
    """The FK controls or the deform bones of a generated Rigify human, and the (data path, value) they need.

    Raises:
        RigError: a control is missing.
    """
    bones = ob.data.bones
    if deform:
        return _deform_controls(ob, number, rigify.DEFORM, rigify.carrier)
    switches = [
        (f'pose.bones["{bone}"]["{key}"]', value)
        for bone, key, value in rigify.SWITCHES
        if bone in bones and ob.pose.bones[bone].get(key) is not None
    ]
    return _handled(ob, rigify.HANDLES, number, "spine_fk"), tuple(switches)


def rigify_animal_controls(
    ob: bpy.types.Object, found: BoneMap, number: Mapping[str, int], deform: bool
) -> tuple[tuple[Control, ...], tuple[tuple[str, float], ...]]:
    """The FK controls or the deform bones of a generated Rigify animal, and the (data path, value) they need.

    Raises:
        RigError: a control is missing.
    """
    tree = tree_above(ob)
    handles = rigify_animal.handles(found.bones, tree)
    tails = [handle.bone for handle in handles if handle.role.startswith("tail")]
    # Each bone of the tail would copy the one above: the keys say all there is to say.
    alone = [
        (f'pose.bones["{name}"].constraints["{constraint.name}"].influence', 0.0)
        for name in tails if name in ob.pose.bones for constraint in ob.pose.bones[name].constraints
    ]  # fmt: skip
    if deform:
        controls, switches = _deform_controls(ob, number, found.bones, rigify_animal.carrier)
        own = [bone for role, bone in found.bones.items() if role.startswith("tail") and not bone.startswith("DEF-")]
        root = number[ROOT_ROLE]
        ride = {name: number[role] for role, name in found.bones.items() if name in own}
        more = []
        for name, joint in ride.items():
            above = next((ride[bone] for bone in bones_above(ob, name) if bone in ride), root)
            more.append(make_control(ob, name, joint, above, location=above == root))
        follows = [("torso", "tail_follow")] if more else []
        keep = [(f'pose.bones["{bone}"]["{key}"]', 1.0) for bone, key in follows if key in ob.pose.bones[bone]]
        return (*controls, *more), (*switches, *keep, *(alone if more else []))
    switches = tuple(
        (f'pose.bones["{bone}"]["{key}"]', value)
        for bone, key, value in rigify_animal.switches(dict.fromkeys(ob.data.bones.keys()))
        if bone in ob.data.bones and ob.pose.bones[bone].get(key) is not None
    )
    return _handled(ob, handles, number, handles[3].bone), (*switches, *alone)


def tree_above(ob: bpy.types.Object) -> dict[str, str | None]:
    """Bone -> the bone above it."""
    return {bone.name: bone.parent.name if bone.parent else None for bone in ob.data.bones}


def _handled(
    ob: bpy.types.Object, handles: Sequence[rigify.Handle], number: Mapping[str, int], waist: str
) -> tuple[Control, ...]:
    """Controls for the handles whose joints are mapped; ``waist`` is the lower spine's, which must be placed, too."""
    controls = []
    for handle in handles:
        if handle.bone not in ob.data.bones:
            raise RigError(
                f"The Rigify rig lacks the control {handle.bone!r}",
                "Choose its deform bones in the settings, or generate the rig anew from its metarig",
            )
        joint, ride = number.get(handle.role), number.get(handle.rides, ARMATURE)
        if joint is None:
            continue
        placed = handle.role in (ROOT_ROLE, "hips") or handle.bone == waist
        control = make_control(ob, handle.bone, joint, ride, location=placed)
        controls.append(replace(control, carrier=handle.carrier))
    return tuple(controls)


def _deform_controls(
    ob: bpy.types.Object, number: Mapping[str, int], deform: Mapping[str, str], carrier: Carrier
) -> tuple[tuple[Control, ...], tuple[tuple[str, float], ...]]:
    """Every deform bone hangs rigidly on the joint that carries it: faces and fingers keep to head and hands."""
    tree = tree_above(ob)
    controls = [make_control(ob, "root", number[ROOT_ROLE], ARMATURE, location=True)]
    switches = [('pose.bones["torso"]["torso_parent"]', 1.0)]
    carried_by: dict[str, int] = {"root": number[ROOT_ROLE]}
    for bone in ob.data.bones:
        if bone.name.startswith("DEF-"):
            role = carrier(bone.name, tree, deform)
            carried_by[bone.name] = number[role if role is not None and role in number else "hips"]
    for name, joint in carried_by.items():
        if name == "root":
            continue
        # What no deform bone carries hangs on controls at rest, and these on the root.
        ride = next((carried_by[step] for step in bones_above(ob, name) if step in carried_by), carried_by["root"])
        if ride != joint:
            controls.append(make_control(ob, name, joint, ride, location=not ob.data.bones[name].use_connect))
        for constraint in ob.pose.bones[name].constraints:
            switches.append((f'pose.bones["{name}"].constraints["{constraint.name}"].influence', 0.0))
    return tuple(controls), tuple(switches)
