"""Rigify's generated wolf, cat and horse: which joints their FK controls move, read from how the rig hangs together.

The spine is made of controls that run from a pivot in the middle both ways: back to the pelvis and on to the chest.
What lies between the pelvis and the pivot goes rigidly with the pelvis, and the neck's bones with the neck's control.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..motion import animal
from .bone_map import ROOT_ROLE, BoneMap
from .rigify import Handle

#: Controls that must stand still while the others move.
STILL: tuple[str, ...] = ("hips", "chest", "neck_bend")
_FK, _DEF = "spine_fk", "DEF-"
_MOST = 8

#: Bone -> bone above.
Tree = Mapping[str, str | None]


def is_generated(bones: Mapping[str, object], found: BoneMap) -> bool:
    """Whether these are the bones of a generated Rigify animal with the controls known here."""
    hips = found.bones.get("hips", "")
    return (
        found.kind == "quadruped" and hips.startswith(_DEF) and "root" in bones and "torso" in bones
        and _fk(hips) in bones and _chest(found.bones) != ""
    )  # fmt: skip


def fitted(found: BoneMap, tree: Tree) -> BoneMap:
    """The map without parts that have no control of their own, and with the tail by its controls.

    Args:
        found: a map of a generated animal's deform bones.
        tree: of all its bones.
    """
    bones = dict(found.bones)
    spine = [bones.pop(role) for role in [f"spine_{k}" for k in range(1, _MOST)] if role in bones]
    lower = {bone for bone in spine if _runs_back(bone, tree)}
    bones |= {f"spine_{k}": bone for k, bone in enumerate((bone for bone in spine if bone not in lower), start=1)}
    for role in [role for role in bones if role.startswith("neck_")]:
        del bones[role]
    if "tail_1" not in bones:
        bones |= {f"tail_{k}": bone for k, bone in zip(range(1, _MOST + 1), _tail(tree), strict=False)}
    order = [role for role in found.roles if role in bones]
    sure, reasons = dict(found.confidence), dict(found.reasons)
    for role in order:
        if bones[role] != found.bones.get(role):
            sure[role], reasons[role] = 1.0, "Rigify's own control"
    for role in set(found.bones) - set(bones):
        reasons[role] = "Rigify's generated rig has no control for it alone"
    return replace(
        found, bones={role: bones[role] for role in order}, family="rigify generated",
        confidence={role: sure[role] for role in order}, reasons=reasons,
    )  # fmt: skip


def parents(bones: Mapping[str, str], tree: Tree) -> dict[str, str | None]:
    """Role -> role of the joint above, by anatomy; shoulder blades hang where the rig hangs them."""
    found: dict[str, str | None] = {"hips": None}
    trunk = "hips"
    for role in [*(f"spine_{k}" for k in range(1, _MOST)), "neck", "head"]:
        if role in bones:
            found[role] = trunk
            trunk = role
    chest = next((f"spine_{k}" for k in range(_MOST, 0, -1) if f"spine_{k}" in bones), "hips")
    for leg in animal.LEGS:
        above = "hips"
        if leg.endswith("fore"):
            above = chest
            blade = f"{leg.split('_')[0]}_scapula"
            if blade in bones:
                found[blade] = carrier(bones[blade], tree, bones, own=blade) or chest
                above = blade
        for role in animal.leg_roles(leg):
            if role in bones:
                found[role] = above
                above = role
    above = "hips"
    for role in (f"tail_{k}" for k in range(1, _MOST + 1)):
        if role in bones:
            found[role] = above
            above = role
    return found


def handles(bones: Mapping[str, str], tree: Tree) -> tuple[Handle, ...]:
    """The FK controls in an order in which each comes after what carries it.

    Args:
        bones: role -> bone, from `fitted`.
        tree: of all bones.
    """
    over = parents(bones, tree)
    hips = _fk(bones["hips"])
    first = _fk(bones[_first(bones)])
    pivot = _step(hips, tree)
    found = [Handle("root", ROOT_ROLE, ""), Handle("torso", "hips", ROOT_ROLE)]
    if pivot.startswith(_FK):
        # Both halves of the blend at the waist say the same, so the blend is exact.
        found += [Handle(pivot, _first(bones), "hips"), Handle(hips, "hips", _first(bones))]
    found.append(Handle(first, _first(bones), "hips", "torso"))
    for role, above in over.items():
        if above is None or role == _first(bones):
            continue
        found.append(Handle(_control(bones[role], role, tree), role, above))
    return tuple(found)


def switches(bones: Mapping[str, object]) -> Iterator[tuple[str, str, float]]:
    """(bone, property, value) under which the FK controls rule."""
    for name in bones:
        if name.startswith(("thigh_parent.", "front_thigh_parent.", "upper_arm_parent.")):
            yield name, "IK_FK", 1.0
            yield name, "FK_limb_follow", 0.0
    for key in ("neck_follow", "head_follow", "tail_follow", "torso_parent"):
        yield "torso", key, 1.0
    for name in bones:
        if name.startswith("tail_master"):
            yield name, "tail_follow", 1.0


def probe(role: str, bone: str) -> str:
    """The bone that shows where a joint is turned: deform bones of upper legs leave out half their twist."""
    if role == "neck":
        return "neck"
    return bone.replace(_DEF, "ORG-", 1) if role.endswith(("_hip", "_shoulder")) else bone


def carrier(bone: str, tree: Tree, bones: Mapping[str, str], own: str | None = None) -> str | None:
    """The role whose joint carries any other bone; None where only the root does.

    Args:
        bone: a bone's name.
        tree: of all bones.
        bones: role -> bone, from `fitted`.
        own: a role that does not count: that of the bone asked for.
    """
    roles = {name: role for role, name in bones.items() if role not in (own, ROOT_ROLE)}
    fks = {_fk(name): role for name, role in roles.items() if name.startswith(f"{_DEF}spine")}
    # Deform bones of tails that run from the tip to the body lie on the controls that run the other way.
    tails = {f"{_DEF}{name}": role for name, role in roles.items() if role.startswith("tail")}
    step: str | None = bone
    seen: set[str] = set()
    while step is not None and step not in seen:
        seen.add(step)
        twin = step.replace("ORG-", _DEF, 1) if step.startswith("ORG-") else step
        found = roles.get(twin) or tails.get(twin) or fks.get(step)
        if found is not None:
            return found
        above = tree.get(step)
        original = step.replace(_DEF, "ORG-", 1)
        if step.startswith(_DEF) and (above is None or not above.startswith((_DEF, "ORG-"))) and original in tree:
            above = original
        step = above
    return None


def derived(bone: str, ending: str) -> str:
    """As Rigify names what it makes of a bone: the ending goes before the side."""
    stem, dot, side = bone.rpartition(".")
    return f"{stem}{ending}{dot}{side}"


def helpers(bones: Mapping[str, str], tree: Tree) -> tuple[str, ...]:
    """What carries the controls of paws and hooves: at rest, but where both FK and IK are keyed."""
    ends = (f"MCH-{bone.removeprefix(_DEF)}" for role, bone in bones.items() if role.endswith(("_paw", "_hoof")))
    return tuple(name for name in ends if name in tree)


def _fk(bone: str) -> str:
    """The FK control of a spine's deform bone."""
    return bone.replace(f"{_DEF}spine", _FK, 1)


def _first(bones: Mapping[str, str]) -> str:
    return next(role for role in (f"spine_{k}" for k in range(1, _MOST)) if role in bones)


def _chest(bones: Mapping[str, str]) -> str:
    return next((bones[f"spine_{k}"] for k in range(_MOST, 0, -1) if f"spine_{k}" in bones), "")


def _step(control: str, tree: Tree) -> str:
    """What carries a control, past the helper that it hangs on."""
    above = tree.get(control) or ""
    return (tree.get(above) or "") if above.startswith("MCH-") else above


def _runs_back(bone: str, tree: Tree) -> bool:
    """Whether a bone of the spine lies between the pelvis and the pivot: another's control carries it."""
    tweak = tree.get(bone.replace(_DEF, "ORG-", 1)) or ""
    return (tree.get(tweak) or "") not in (_fk(bone), "MCH-pivot")


def _tail(tree: Tree) -> list[str]:
    """The tail's controls from the body to the tip."""
    below = {above: name for name, above in tree.items() if above and not name.startswith(("tweak_", "ORG-", "MCH-"))}
    chain = [name for name, above in tree.items() if above == "MCH-ROT-tail"]
    while chain and below.get(chain[-1]):
        chain.append(below[chain[-1]])
    return chain


def _control(bone: str, role: str, tree: Tree) -> str:
    """The control that turns a joint."""
    if role in ("neck", "head"):
        return role
    if role.startswith("spine"):
        return _fk(bone)
    plain = bone.removeprefix(_DEF)
    fk = derived(plain, "_fk")
    return fk if fk in tree else plain
