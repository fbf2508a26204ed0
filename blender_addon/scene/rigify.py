"""Rigify's generated human rig: which controls move which deform bones, and the switches that make them do so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: role -> deform bone. The bone spine.001 hangs rigidly on the hips' control and is left out.
DEFORM: dict[str, str] = {
    "root": "root",
    "hips": "DEF-spine", "spine_1": "DEF-spine.002", "spine_2": "DEF-spine.003", "neck": "DEF-spine.004",
    "head": "DEF-spine.006",
}  # fmt: skip
_LIMBS: dict[str, str] = {
    "clavicle": "shoulder", "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand",
    "hip": "thigh", "knee": "shin", "ankle": "foot", "toe": "toe",
}  # fmt: skip
for _side, _s in (("left", "L"), ("right", "R")):
    DEFORM.update({f"{_side}_{role}": f"DEF-{bone}.{_s}" for role, bone in _LIMBS.items()})


@dataclass(frozen=True)
class Handle:
    """One control of a rig.

    Attributes:
        bone: the control.
        role: the joint it moves with.
        rides: the joint that carries the control's parent: a role, or "" for nothing.
        carrier: the control of that joint that does; "" for the last one before.
    """

    bone: str
    role: str
    rides: str
    carrier: str = ""


def _handles() -> tuple[Handle, ...]:
    found = [
        Handle("root", "root", ""),
        Handle("torso", "hips", "root"),
        # Pivot and lower spine: both halves of the blend at the waist say the same, so the blend is exact.
        Handle("spine_fk.001", "spine_1", "hips"),
        Handle("spine_fk", "hips", "spine_1"),
        Handle("spine_fk.002", "spine_1", "hips", "torso"),
        Handle("spine_fk.003", "spine_2", "spine_1"),
        Handle("neck", "neck", "spine_2"),
        Handle("head", "head", "neck"),
    ]
    for side, s in (("left", "L"), ("right", "R")):
        found.append(Handle(f"shoulder.{s}", f"{side}_clavicle", "spine_2"))
        for bone, role, rides in (
            ("upper_arm_fk", "shoulder", "clavicle"), ("forearm_fk", "elbow", "shoulder"),
            ("hand_fk", "wrist", "elbow"), ("thigh_fk", "hip", ""), ("shin_fk", "knee", "hip"),
            ("foot_fk", "ankle", "knee"), ("toe_fk", "toe", "ankle"),
        ):  # fmt: skip
            found.append(Handle(f"{bone}.{s}", f"{side}_{role}", f"{side}_{rides}" if rides else "hips"))
    return tuple(found)


#: Controls of the human rig, forward kinematics.
HANDLES: tuple[Handle, ...] = _handles()
#: Controls that must stand still while those above move; they are reset where they do not.
STILL: tuple[str, ...] = ("hips", "chest")
#: Custom properties and the values under which the controls rule: limbs by FK, and neck and head turn with the chest.
SWITCHES: tuple[tuple[str, str, float], ...] = (
    *((f"{limb}_parent.{s}", "IK_FK", 1.0) for limb in ("upper_arm", "thigh") for s in "LR"),
    *((f"{limb}_parent.{s}", "FK_limb_follow", 0.0) for limb in ("upper_arm", "thigh") for s in "LR"),
    ("torso", "neck_follow", 1.0), ("torso", "head_follow", 1.0), ("torso", "torso_parent", 1.0),
)  # fmt: skip


def is_generated(bones: Mapping[str, object]) -> bool:
    """Whether these are the bones of a generated Rigify human with the controls above."""
    return all(name in bones for name in ("root", "torso", "DEF-spine", "DEF-thigh.L", "thigh_fk.L", "ORG-spine"))


def has_controls(bones: Mapping[str, object]) -> bool:
    """Whether these are the bones of some generated Rigify rig, two-legged or four-legged: cheap enough for panels."""
    names = bones.keys()
    return "root" in bones and "torso" in bones and any(name.startswith("DEF-") for name in names)


def probe(bone: str) -> str:
    """The bone that shows where a joint is turned.

    Deform bones of thighs and upper arms leave out half their twist, by design. The neck's is stretched between two
    points 7 cm apart, which makes rounding errors of a millionth of a metre a thousandth of a degree.
    """
    if bone == DEFORM["neck"]:
        return "neck"
    return bone.replace("DEF-", "ORG-", 1) if bone.startswith(("DEF-thigh", "DEF-upper_arm")) else bone


def carrier(
    bone: str, parents: Mapping[str, str | None], deform: Mapping[str, str], own: str | None = None
) -> str | None:
    """The role whose deform bone carries any other deform bone, by the tree of original bones.

    Args:
        bone: a bone's name, ``DEF-...`` or ``ORG-...``.
        parents: bone -> parent.
        deform: role -> deform bone.
        own: a role that does not count: that of the bone asked for.
    """
    roles = {name: role for role, name in deform.items() if role != own}
    step: str | None = bone
    seen: set[str] = set()
    while step is not None and step not in seen:
        seen.add(step)
        original = step.replace("ORG-", "DEF-", 1) if step.startswith("ORG-") else step
        if original in roles:
            return roles[original]
        if original == "DEF-spine.001":
            return "hips"
        if original == "DEF-spine.005":
            return "neck"
        above = parents.get(step)
        if step.startswith("DEF-") and (above is None or not above.startswith(("DEF-", "ORG-"))):
            above = step.replace("DEF-", "ORG-", 1) if step.replace("DEF-", "ORG-", 1) in parents else above
        step = above
    return None
