"""Anatomical roles of joints, found by the names that common skeletons use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .skeleton import REQUIRED_ROLES

_SIDED = ("clavicle", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")

#: family -> (role -> name). ``{side}`` stands for Left/Right, ``{s}`` for L/R.
_CENTRE: dict[str, dict[str, str]] = {
    "woody2": {"hips": "Hips", "spine_1": "Spine", "spine_2": "Spine1", "head": "Head"},
    "snu22": {
        "hips": "Hips", "spine_1": "Spine", "spine_2": "Spine1", "spine_3": "Spine2", "neck": "Neck", "head": "Head",
    },
    "cmu31": {
        "hips": "Hips", "spine_1": "LowerBack", "spine_2": "Spine", "spine_3": "Spine1", "neck": "Neck1",
        "head": "Head",
    },
    "reactidle19": {
        "hips": "pelvis", "spine_1": "spine", "spine_2": "spine.001", "neck": "neck", "head": "face",
    },
    "rigify": {
        "hips": "spine", "spine_1": "spine.001", "spine_2": "spine.002", "spine_3": "spine.003",
        "neck": "spine.004", "head": "spine.006",
    },
}  # fmt: skip
_LIMBS: dict[str, tuple[str, ...]] = {
    "woody2": ("{side}Shoulder", "{side}Arm", "{side}ForeArm", "{side}Hand", "{side}UpLeg", "{side}Leg", "{side}Foot",
               "{side}Toes"),
    "snu22": ("{side}Shoulder", "{side}Arm", "{side}ForeArm", "{side}Hand", "{side}UpLeg", "{side}Leg", "{side}Foot",
              "{side}Toe"),
    "cmu31": ("{side}Shoulder", "{side}Arm", "{side}ForeArm", "{side}Hand", "{side}UpLeg", "{side}Leg", "{side}Foot",
              "{side}ToeBase"),
    "reactidle19": ("shoulder.{s}", "upper_arm.{s}", "forearm.{s}", "hand.{s}", "thigh.{s}", "shin.{s}", "foot.{s}",
                    "toe.{s}"),
    "rigify": ("shoulder.{s}", "upper_arm.{s}", "forearm.{s}", "hand.{s}", "thigh.{s}", "shin.{s}", "foot.{s}",
               "toe.{s}"),
}  # fmt: skip
# The joint names of Mixamo are those of snu22 with ToeBase; its prefix is stripped.
_CENTRE["mixamo"], _LIMBS["mixamo"] = _CENTRE["snu22"], _LIMBS["cmu31"]

_PREFIX = re.compile(r"^(?:.*:|DEF-|ORG-|Bip\d+[ _])")


def _family(name: str) -> dict[str, str]:
    table = dict(_CENTRE[name])
    for side, short in (("Left", "L"), ("Right", "R")):
        for role, pattern in zip(_SIDED, _LIMBS[name], strict=True):
            table[f"{side.lower()}_{role}"] = pattern.format(side=side, s=short)
    return table


FAMILIES: dict[str, dict[str, str]] = {name: _family(name) for name in _CENTRE}


def plain_name(name: str) -> str:
    """A joint's name without its prefix, such as ``mixamorig:`` or ``DEF-``."""
    return _PREFIX.sub("", name)


def roles_by_name(names: Iterable[str], complete: bool = True) -> dict[str, str]:
    """Roles (role -> joint name) of a skeleton whose joints are called ``names``.

    Knows the names of woody2, snu22, CMU, ReActIdle, Mixamo and Rigify (metarig, DEF- and ORG- bones), with
    or without a prefix such as ``mixamorig:``. The family that names most joints wins. Empty when no family
    knows the legs; with ``complete`` off, when none knows the hips and half of the legs.
    """
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(plain_name(name), name)
    best: dict[str, str] = {}
    for table in FAMILIES.values():
        found = {role: plain[name] for role, name in table.items() if name in plain}
        known = sum(role in found for role in REQUIRED_ROLES)
        enough = known == len(REQUIRED_ROLES) or (not complete and "hips" in found and 2 * known > len(REQUIRED_ROLES))
        if enough and len(found) > len(best):
            best = found
    return best
