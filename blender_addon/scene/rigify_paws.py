"""The IK controls of Rigify's generated wolf, cat and horse: paws, hooves, heels and poles, read from the rig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..motion import animal
from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.rotations import Array
from .chain_solver import Chain
from .controls import ARMATURE, Control, make_control, parent_number
from .ik_channels import AnyLimb, PawLimb
from .paw_chains import ForeHeel, Heel, HiddenLeg, HindHeel, PlainHeel
from .rigify_animal import derived
from .rigs import Rig

#: How many numbers beyond joints and root a leg takes: its pole, and what carries its heel's control.
NUMBERS = 2
#: Hip, knee, hock and paw.
_LEAST = 4


@dataclass(frozen=True)
class Names:
    """Bones of a leg.

    Attributes:
        foot, pastern, heel, pole: the IK controls; no pastern's where the paw is one bone.
        base, switches: the control at the hip, and the bone that holds the switches.
        toe, mech: the last bone's control, which IK and FK share, and the helper that carries it.
        parts: names of the leg's bones from the hip, without DEF-.
    """

    foot: str
    pastern: str
    heel: str
    pole: str
    base: str
    switches: str
    toe: str
    mech: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, bones: Sequence[str]) -> Names:
        """From the leg's deform bones, from the hip to paw or hoof."""
        parts = tuple(bone.removeprefix("DEF-") for bone in bones)
        top, foot, toe = parts[0], parts[2], parts[-1]
        pastern = derived(parts[3], "_ik") if len(parts) > 4 else ""
        return cls(
            derived(foot, "_ik"), pastern, derived(foot, "_heel_ik"), derived(top, "_ik_target"),
            derived(top, "_ik"), derived(top, "_parent"), toe, f"MCH-{toe}", parts,
        )  # fmt: skip

    @property
    def hidden(self) -> tuple[str, ...]:
        """Bones of the hidden chains, which may not stretch."""
        top, knee, foot = self.parts[:3]
        ends = ((top, "_ik"), (knee, "_ik"), (top, "_ik2"), (knee, "_ik2"), (knee, "_ik3"), (foot, "_ik3"))
        return tuple(f"MCH-{derived(bone, end)}" for bone, end in ends)


@dataclass(frozen=True)
class Keyed:
    """A limb that is keyed by its IK controls.

    Attributes:
        limb: what the controls do.
        controls: they themselves, each after what carries it.
        switches: (data path, value) that make them rule.
        idle: bones that must keep their rest pose.
    """

    limb: AnyLimb
    controls: list[Control]
    switches: list[tuple[str, float]]
    idle: tuple[str, ...]


def paw_limbs(ob: bpy.types.Object, rig: Rig, both: bool) -> list[Keyed]:
    """The four legs of a generated animal.

    Args:
        ob: the armature object.
        rig: of a generated animal, keyed by FK controls.
        both: the FK controls are keyed, too.

    Raises:
        RigError: a leg has no IK controls that are known here.
    """
    found: list[Keyed] = []
    for leg in animal.LEGS:
        joints = [rig.skeleton.index(role) for role in animal.leg_roles(leg) if rig.skeleton.has(role)]
        if len(joints) < _LEAST:
            raise _lacking(ob, leg, "a paw in its map")
        names = Names.of([rig.skeleton.names[joint] for joint in joints])
        _check(ob, names, leg)
        number = len(rig.skeleton) + 1 + NUMBERS * len(found)
        limb, controls = _limb(ob, rig, names, joints, number, both)
        found.append(Keyed(limb, controls, _switches(ob, names), _idle(ob, names)))
    return found


def _limb(
    ob: bpy.types.Object, rig: Rig, names: Names, joints: list[int], number: int, both: bool
) -> tuple[PawLimb, list[Control]]:
    pole, frame, last = number, number + 1, joints[-1]
    # Feet hang on nothing, so that a foot that stands has keys that stand; poles go with the root.
    poled = replace(make_control(ob, names.pole, pole, len(rig.skeleton), location=True), rotation=False)
    controls = [poled, make_control(ob, names.foot, last, ARMATURE, location=True)]
    if names.pastern:
        controls.append(make_control(ob, names.pastern, joints[3], last, location=False))
    controls.append(make_control(ob, names.heel, joints[2], frame, location=False))
    fk = (*(control for part in names.parts[:-1] for control in [derived(part, "_fk")] if control in ob.data.bones),
          names.mech if both else names.toe)  # fmt: skip
    limb = PawLimb(
        joints[0], joints[1], joints[2], joints[3], last, rig.skeleton.parents[joints[0]], (pole, poled.rest[1]), frame,
        _heel(ob, names), tuple(control.bone for control in controls), fk,
    )  # fmt: skip
    if both:
        # By FK the paw's control hangs on the foot, by IK on the paw: what carries it by FK takes the difference.
        controls.insert(0, make_control(ob, names.mech, last, joints[-2], location=False))
    return limb, controls


def _heel(ob: bpy.types.Object, names: Names) -> Heel:
    """How the heel turns by itself, from what carries its control."""
    bones, pose = ob.data.bones, ob.pose.bones
    carrier = bones[names.heel].parent
    top, knee, foot = names.parts[:3]
    if carrier is None or carrier.name in (names.foot, names.pastern):
        return PlainHeel()
    second, third = f"MCH-{derived(knee, '_ik2')}", f"MCH-{derived(knee, '_ik3')}"
    first = f"MCH-{derived(top, '_ik2')}"
    aims = pose[second].constraints if all(name in pose for name in (first, second)) else ()
    aim = next((c for c in aims if c.type == "IK" and c.pole_subtarget == names.pole), None)
    if aim is None:
        raise _unknown(ob, names)
    axes = _axes(ob, first)
    front = axes[:, 0] * np.cos(aim.pole_angle) + axes[:, 2] * np.sin(aim.pole_angle)
    leg = HiddenLeg(_chain(ob, first, second), front)
    if carrier.name == f"MCH-{derived(foot, '_ik3')}":
        return HindHeel(leg, _chain(ob, third, carrier.name))
    track = carrier.parent
    turns = [c for c in pose[track.name].constraints if c.type == "DAMPED_TRACK"] if track is not None else []
    if not turns or turns[0].subtarget != second or turns[0].track_axis != "TRACK_Y":
        raise _unknown(ob, names)
    own = rot.from_matrix(np.array(pose[carrier.name].matrix_basis, dtype=np.float64)[:3, :3])
    rest = rot.from_matrix(_axes(ob, carrier.name))
    return ForeHeel(
        leg, _head(ob, track.name), _axes(ob, track.name)[:, 1], float(turns[0].influence),
        rot.mul(rot.mul(rest, own), rot.inv(rest)),
    )  # fmt: skip


def _check(ob: bpy.types.Object, names: Names, leg: str) -> None:
    wanted = [names.foot, names.pastern, names.heel, names.pole, names.base, names.switches, names.toe, names.mech]
    missing = [name for name in wanted if name and name not in ob.data.bones]
    if missing:
        raise _lacking(ob, leg, f"{missing[0]!r}, which its IK needs")
    if ob.pose.bones[names.switches].get("pole_vector") is None:
        raise _unknown(ob, names)


def _lacking(ob: bpy.types.Object, leg: str, what: str) -> RigError:
    return RigError(
        f"The {leg.replace('_', ' ')} leg of {ob.name!r} lacks {what}",
        "Key its FK controls, or generate the rig again from Rigify's own wolf, cat or horse",
    )


def _unknown(ob: bpy.types.Object, names: Names) -> RigError:
    return RigError(
        f"The IK of {names.foot!r} on {ob.name!r} is not built as it is known here",
        "Key its FK controls, or generate the rig again with Blender 4.2 or newer",
    )


def _switches(ob: bpy.types.Object, names: Names) -> list[tuple[str, float]]:
    """What makes the IK controls rule, and match: no stretching, poles on, feet on nothing, poles on the root."""
    root = parent_number(ob, f"MCH-{derived(names.pole, '.parent')}", "root") or 1
    wanted = (("IK_FK", 0), ("IK_Stretch", 0), ("pole_vector", 1), ("IK_parent", 0), ("pole_parent", root))
    properties = ob.pose.bones[names.switches]
    found = [(f'pose.bones["{names.switches}"]["{key}"]', float(value)) for key, value in wanted if key in properties]
    return found + [(f'pose.bones["{bone}"].ik_stretch', 0.0) for bone in names.hidden if bone in ob.data.bones]


def _idle(ob: bpy.types.Object, names: Names) -> tuple[str, ...]:
    """Controls that must keep their rest pose."""
    spin = derived(names.parts[2], "_spin_ik")
    return tuple(name for name in (names.base, names.toe, spin) if name in ob.data.bones)


def _axes(ob: bpy.types.Object, bone: str) -> Array:
    return np.array(ob.data.bones[bone].matrix_local, dtype=np.float64)[:3, :3]


def _chain(ob: bpy.types.Object, *bones: str) -> Chain:
    """Two bones as the solver of chains has them."""
    locks = [(bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z) for bone in (ob.pose.bones[name] for name in bones)]
    axes = np.stack([_axes(ob, name).T * ~np.array(lock)[:, None] for name, lock in zip(bones, locks, strict=True)])
    return Chain(np.stack([_head(ob, bones[0]), _head(ob, bones[1]), _tail(ob, bones[1])]), axes)


def _head(ob: bpy.types.Object, bone: str) -> Array:
    return np.array(ob.data.bones[bone].head_local, dtype=np.float64)


def _tail(ob: bpy.types.Object, bone: str) -> Array:
    return np.array(ob.data.bones[bone].tail_local, dtype=np.float64)
