"""Which bone plays which part of the body: guessed from names, checked, saved and loaded. No Blender in here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..motion.errors import RigError
from ..motion.roles import FAMILIES, roles_by_name
from ..motion.skeleton import BIPED_ROLES, REQUIRED_ROLES

#: The bone that travels along the path, beside `BIPED_ROLES`; a rig can do without.
ROOT_ROLE = "root"
ROLES: tuple[str, ...] = (ROOT_ROLE, *BIPED_ROLES)
#: A saved map is a page of text; a larger file is none.
LARGEST_PRESET_BYTES = 1 << 20

_ROOT_NAMES = ("root", "master", "reference", "armature", "trajectory", "motion", "rootmotion", "world")


@dataclass(frozen=True)
class BoneMap:
    """Role -> bone name, with how sure and why.

    Attributes:
        bones: role -> bone.
        confidence: role -> 0..1; 1 for what a person chose.
        reasons: role -> why, in words.
        family: the naming scheme recognised; empty for none.
    """

    bones: Mapping[str, str]
    confidence: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    family: str = ""

    def check(self, known: Iterable[str]) -> None:
        """Refuse what cannot walk.

        Args:
            known: names of the armature's bones.

        Raises:
            RigError: no legs, missing bones, one bone mapped twice, unknown roles.
        """
        known = set(known)
        unknown = sorted(set(self.bones) - set(ROLES))
        if unknown:
            raise RigError(f"The bone map speaks of unknown parts: {', '.join(unknown)}", "Map the bones anew")
        gone = sorted({bone for bone in self.bones.values() if bone not in known})
        if gone:
            raise RigError(
                f"The bone map names bones that the armature lacks: {', '.join(gone[:6])}", "Map these bones again"
            )
        missing = [role for role in REQUIRED_ROLES if role not in self.bones]
        if len(missing) >= len(REQUIRED_ROLES) - 1:
            raise RigError("The armature has no legs that Gaitsmith recognises", "Map hips, legs and feet by hand")
        if missing:
            words = ", ".join(role.replace("_", " ") for role in missing)
            raise RigError(f"These parts of the body have no bone: {words}", "Map these bones by hand")
        by_bone: dict[str, list[str]] = {}
        for role, bone in self.bones.items():
            by_bone.setdefault(bone, []).append(role.replace("_", " "))
        twice = {bone: roles for bone, roles in by_bone.items() if len(roles) > 1}
        if twice:
            bone, roles = next(iter(twice.items()))
            raise RigError(f"The bone {bone} is mapped twice: {' and '.join(roles)}", "Give each part its own bone")

    def save(self, path: Path) -> None:
        """Write the map as a preset (JSON)."""
        try:
            path.write_text(json.dumps({"gaitsmith_bones": dict(self.bones)}, indent=1, ensure_ascii=False), "utf-8")
        except OSError as error:
            raise RigError(f"The bone map could not be saved ({error})", "Choose another folder") from error

    @classmethod
    def load(cls, path: Path) -> BoneMap:
        """Read a preset; raises `RigError` for anything that is none."""
        try:
            if path.stat().st_size > LARGEST_PRESET_BYTES:
                raise ValueError("it is too large")
            bones = json.loads(path.read_text("utf-8"))["gaitsmith_bones"]
            return cls.chosen({str(role): str(bone) for role, bone in bones.items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RigError(f"{path.name!r} is no bone map ({error})", "Pick one that Save Map has written") from error

    @classmethod
    def chosen(cls, bones: Mapping[str, str]) -> BoneMap:
        """A map that a person made."""
        return cls(dict(bones), dict.fromkeys(bones, 1.0), dict.fromkeys(bones, "chosen by hand"), "")


def guess(parents: Mapping[str, str | None]) -> BoneMap:
    """Map bones by their names.

    Args:
        parents: bone name -> its parent's name.

    Returns:
        What was recognised, perhaps not all that is needed; empty when no naming scheme names hips and legs.
    """
    bones = dict(roles_by_name(parents, complete=False))
    if not bones:
        return BoneMap({})
    family = _family_of(bones)
    confidence = dict.fromkeys(bones, 1.0)
    reasons = {role: f"its name, {bone!r}, in the scheme {family}" for role, bone in bones.items()}
    root = _root_above(bones["hips"], parents)
    if root is not None:
        named = root.lower().strip("_") in _ROOT_NAMES
        bones[ROOT_ROLE] = root
        confidence[ROOT_ROLE] = 1.0 if named else 0.6
        reasons[ROOT_ROLE] = "its name" if named else "the hips and everything else hang on it"
    for side in ("left", "right"):
        chain = [f"{side}_{part}" for part in ("hip", "knee", "ankle", "toe") if f"{side}_{part}" in bones]
        for upper, lower in zip(chain, chain[1:], strict=False):
            if not _is_above(bones[upper], bones[lower], parents):
                confidence[lower] = 0.4
                reasons[lower] = f"its name, but it does not hang on {bones[upper]!r}"
    return BoneMap(bones, confidence, reasons, family)


def _family_of(bones: Mapping[str, str]) -> str:
    def hits(name: str) -> int:
        return sum(bone == FAMILIES[name].get(role) for role, bone in bones.items())

    return max(FAMILIES, key=hits)


def _root_above(bone: str, parents: Mapping[str, str | None]) -> str | None:
    """The topmost bone above the hips."""
    above = parents[bone]
    while above is not None and parents[above] is not None:
        above = parents[above]
    return above


def _is_above(upper: str, lower: str, parents: Mapping[str, str | None]) -> bool:
    step: str | None = lower
    while step is not None:
        if step == upper:
            return True
        step = parents[step]
    return False
