"""Which bone plays which part of the body: guessed, checked, saved and loaded. No Blender in here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..motion.bone_names import CENTRE_WORDS
from ..motion.bone_tree import BoneTree
from ..motion.detached import detached_paws
from ..motion.errors import RigError
from ..motion.mapping import BoneFinding, map_bones
from ..motion.roles import FAMILIES, plain_name, roles_by_name
from ..motion.rotations import Array
from ..motion.skeleton import BIPED_ROLES, QUADRUPED_ROLES, REQUIRED_QUADRUPED_ROLES, REQUIRED_ROLES

#: The bone that travels along the path, beside `BIPED_ROLES`; a rig can do without.
ROOT_ROLE = "root"
ROLES: tuple[str, ...] = (ROOT_ROLE, *BIPED_ROLES)
ANIMAL_ROLES: tuple[str, ...] = (ROOT_ROLE, *QUADRUPED_ROLES)
#: A saved map is a page of text; a larger file is none.
LARGEST_PRESET_BYTES = 1 << 20

@dataclass(frozen=True)
class BoneMap:
    """Role -> bone name, with how sure and why.

    Attributes:
        bones: role -> bone.
        confidence: role -> 0..1; 1 for what a person chose.
        reasons: role -> why, in words; for parts without a bone, why they have none.
        family: the naming scheme recognised; empty for none.
        kind: ``biped`` or ``quadruped``.
        problem, remedy: why it cannot walk, found while guessing, and what to do; empty if it can.
    """

    bones: Mapping[str, str]
    confidence: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    kind: str = "biped"
    problem: str = ""
    remedy: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """All parts that a body of its kind can have."""
        return ANIMAL_ROLES if self.kind == "quadruped" else ROLES

    @property
    def required(self) -> tuple[str, ...]:
        """The parts without which it cannot walk."""
        return REQUIRED_QUADRUPED_ROLES if self.kind == "quadruped" else REQUIRED_ROLES

    @property
    def lacking(self) -> tuple[str, ...]:
        """The required parts that have no bone."""
        return tuple(role for role in self.required if role not in self.bones)

    def check(self, known: Iterable[str]) -> None:
        """Refuse what cannot walk.

        Args:
            known: names of the armature's bones.

        Raises:
            RigError: no legs, missing bones, one bone mapped twice, unknown roles.
        """
        known = set(known)
        unknown = sorted(set(self.bones) - set(self.roles))
        if unknown:
            raise RigError(f"The bone map speaks of unknown parts: {', '.join(unknown)}", "Map the bones anew")
        gone = sorted({bone for bone in self.bones.values() if bone not in known})
        if gone:
            raise RigError(
                f"The bone map names bones that the armature lacks: {', '.join(gone[:6])}", "Map these bones again"
            )
        if self.problem:
            raise RigError(self.problem, self.remedy)
        missing = self.lacking
        if len(missing) >= len(self.required) - 1:
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

    def save(self, path: Path, skeleton: Iterable[str] = ()) -> None:
        """Write the map as a preset (JSON).

        Args:
            path: the file.
            skeleton: all bones of the armature, by which `preset_for` finds it again.
        """
        data = {"gaitsmith_bones": dict(self.bones), "skeleton": fingerprint(skeleton)}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data, indent=1, ensure_ascii=False), "utf-8")
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
        kind = "biped" if set(bones) <= set(ROLES) else "quadruped"
        return cls(dict(bones), dict.fromkeys(bones, 1.0), dict.fromkeys(bones, "chosen by hand"), "", kind)


def fingerprint(names: Iterable[str]) -> str:
    """A mark that armatures with the same bone names share."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]


def preset_for(folder: Path, names: Iterable[str]) -> BoneMap | None:
    """The preset in a folder that was saved for a skeleton with the same bones; None without one."""
    names = list(names)
    mark = fingerprint(names)
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            if path.stat().st_size <= LARGEST_PRESET_BYTES and json.loads(path.read_text("utf-8"))["skeleton"] == mark:
                return replace(BoneMap.load(path), family=path.stem)
        except (OSError, ValueError, KeyError, TypeError, RigError):
            continue
    return None


def guess(tree: BoneTree, ups: Sequence[Array] = ()) -> BoneMap:
    """Map bones by their names, and by the shape of the armature where names do not tell.

    Args:
        tree: all bones, turned as the object stands in the world.
        ups: other directions (3,) that may be up.

    Returns:
        The map; with a ``problem`` when nothing to walk on was found.
    """
    finding = map_bones(tree, ups)
    known = roles_by_name(tree.names) if finding.kind == "biped" else {}
    family = ""
    extra = sum(role.startswith("neck_") for role in finding.bones)
    if known and len(known) >= len(finding.bones) - extra:
        # A scheme that names all there is: what it says goes.
        family = _family_of(known)
        finding = _of_family(_counted(known), family, finding)
    bones, sure, reasons = dict(finding.bones), dict(finding.confidence), dict(finding.reasons)
    parents = dict(zip(tree.names, (tree.names[p] if p >= 0 else None for p in tree.parents), strict=True))
    root = _root_above(bones["hips"], parents) if "hips" in bones else None
    if root is not None and root not in bones.values():
        named = tree.read[tree.names.index(root)].core in CENTRE_WORDS["root"]
        bones[ROOT_ROLE] = root
        sure[ROOT_ROLE] = 1.0 if named else 0.7
        reasons[ROOT_ROLE] = "its name" if named else "the hips and everything else hang on it"
    if finding.kind == "quadruped" and not finding.problem:
        for role, bone in detached_paws(tree, bones):
            bones[role], sure[role] = bone, 0.7
            reasons[role] = "it lies where the leg ends, though it hangs on no leg"
    return BoneMap(bones, sure, reasons, family, finding.kind, finding.problem, finding.remedy)


def _counted(known: Mapping[str, str]) -> dict[str, str]:
    """The spine numbered from 1, whichever of a scheme's bones are there."""
    spine = [bone for role, bone in sorted(known.items()) if role.startswith("spine_")]
    rest = {role: bone for role, bone in known.items() if not role.startswith("spine_")}
    return {**rest, **{f"spine_{number}": bone for number, bone in enumerate(spine, start=1)}}


def _of_family(known: Mapping[str, str], family: str, finding: BoneFinding) -> BoneFinding:
    sure, reasons = dict.fromkeys(known, 1.0), dict(finding.reasons)
    for role, bone in known.items():
        reasons[role] = f"its name, {bone!r}, in the scheme {family}"
        if finding.bones.get(role) == bone and finding.confidence[role] <= 0.4:
            sure[role], reasons[role] = finding.confidence[role], finding.reasons[role]
    kept = {role: why for role, why in reasons.items() if role in known or role not in finding.bones}
    return BoneFinding("biped", dict(known), sure, kept)


def _family_of(bones: Mapping[str, str]) -> str:
    def hits(name: str) -> int:
        return sum(plain_name(bone) == FAMILIES[name].get(role) for role, bone in bones.items())

    return max(FAMILIES, key=hits)


def _root_above(bone: str, parents: Mapping[str, str | None]) -> str | None:
    """The topmost bone above the hips."""
    above = parents[bone]
    while above is not None and parents[above] is not None:
        above = parents[above]
    return above
