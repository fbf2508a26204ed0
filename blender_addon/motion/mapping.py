"""Which bone of any armature is which part of the body: from names, from shape, with how sure and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import rotations as rot
from .bone_tree import BoneTree, body_bones
from .leg_joints import arm_parts, fore_parts, hind_parts, leg_parts, points_ahead
from .limbs import (
    Limb,
    anchored,
    arms_by_name,
    arms_by_shape,
    legs_by_name,
    legs_by_shape,
    part_of_leg,
    sideways,
    whole_chains,
)
from .rotations import UP, Array
from .skeleton import BIPED_ROLES, QUADRUPED_ROLES, REQUIRED_QUADRUPED_ROLES, REQUIRED_ROLES, SIDES
from .trunk import hips_of, tail_of, upwards

#: How sure one can be of what only shape tells.
BY_SHAPE = 0.75
_BY_TRUNK = 0.9


@dataclass(frozen=True)
class BoneFinding:
    """What was found out about an armature.

    Attributes:
        kind: ``biped`` or ``quadruped``.
        bones: role -> bone.
        confidence: role -> 0..1.
        reasons: role -> why this bone; for roles without one, why not.
        problem: why it cannot walk; empty if it can.
        remedy: what to do about it.
        certain: the problem is beyond doubt: no other reading of the bones is tried.
    """

    kind: str = "biped"
    bones: Mapping[str, str] = field(default_factory=dict)
    confidence: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    remedy: str = ""
    certain: bool = False


class _Found:
    """Roles as they are collected."""

    def __init__(self, tree: BoneTree, kind: str) -> None:
        self.tree, self.kind = tree, kind
        self.bones: dict[str, str] = {}
        self.sure: dict[str, float] = {}
        self.why: dict[str, str] = {}

    def add(self, role: str, bone: int, sure: float, why: str) -> None:
        """Note a bone; bones that have a role already keep it."""
        name = self.tree.names[bone]
        if bone >= 0 and name not in self.bones.values():
            self.bones[role], self.sure[role], self.why[role] = name, round(sure, 2), why


def map_bones(tree: BoneTree, ups: Sequence[Array] = ()) -> BoneFinding:
    """Find the parts of the body.

    Args:
        tree: all bones, Z up as far as is known.
        ups: other directions (3,) that may be up, for armatures that lie or stand on their head.

    Returns:
        The likeliest map; one with a ``problem`` when no legs to walk on are found.
    """
    failed: BoneFinding | None = None
    for bones in body_bones(tree):
        if len(bones) < 4:
            continue
        found = _from_names(bones, ups)
        if found is not None and found.certain:
            return found
        for up in (UP, *ups):
            if found is not None and not found.problem:
                return found
            failed = failed or found
            found = _from_shape(bones, up)
        if found is not None and not found.problem:
            return found
    return failed or BoneFinding(
        problem="The armature has no legs that Gaitsmith recognises", remedy="Map hips, legs and feet by hand"
    )


def _from_names(tree: BoneTree, ups: Sequence[Array]) -> BoneFinding | None:
    back, front = anchored(tree, "back"), anchored(tree, "front")
    if {len(back), len(front)} == {1, 2}:
        return _three_legs(back, front)
    legs = back or legs_by_name(tree)
    if len(legs) == 2:
        tree = _upright(tree, legs, ups)
        arms = front if len(front) == 2 else arms_by_name(tree)
        four = len(front) == 2 or (len(arms) == 2 and _on_all_fours(tree, legs, arms))
        if not four:
            return _biped(tree, legs, arms)
        limbs = legs_by_shape(tree)
        return _too_many(tree, limbs) if len(limbs) > 5 else _quadruped(tree, legs, arms, BY_SHAPE + 0.2)
    if len(legs) == 1:
        side, limb = next(iter(legs.items()))
        other = "left" if side == "right" else "right"
        rest = part_of_leg(tree, other, limb)
        if rest.bones:
            return _biped(tree, {**legs, other: rest}, arms_by_name(tree))
        names = ", ".join(repr(tree.names[bone]) for bone in limb.all[:3])
        return BoneFinding(
            problem=f"The armature has one leg only, on the {side}: {names}",
            remedy="Name the other leg's bones alike, or map them by hand",
        )
    return None


def _from_shape(tree: BoneTree, up: Array) -> BoneFinding | None:
    if np.linalg.norm(up - UP) > 1e-6:
        turn = rot.between(np.asarray(up), UP)
        tree = tree.turned(lambda points: rot.rotate(turn, points))
    if float(np.ptp(tree.heads[:, 2])) < 1e-9:
        return None
    limbs = legs_by_shape(tree)
    if len(limbs) in (2, 3) and _is_pair(tree, limbs[0], limbs[1]) and not _is_odd(tree, limbs):
        return _biped_by_shape(tree, limbs[0], limbs[1])
    if len(limbs) in (4, 5) and _is_pair(tree, *limbs[0:2]) and _is_pair(tree, *limbs[2:4]):
        return _quadruped_by_shape(tree, limbs[:4])
    if not limbs:
        return None
    return _too_many(tree, limbs)


def _too_many(tree: BoneTree, limbs: Sequence[Limb]) -> BoneFinding:
    """Another number of legs than Gaitsmith can walk on."""
    names = ", ".join(repr(tree.names[limb.chain[0]]) for limb in limbs[:6])
    count = "one leg" if len(limbs) == 1 else f"{len(limbs)} legs"
    return BoneFinding(
        problem=f"The armature has {count} that reach the ground ({names}), and Gaitsmith walks on two or four",
        remedy="Map hips, legs and feet by hand",
    )


def _three_legs(back: Mapping[str, Limb], front: Mapping[str, Limb]) -> BoneFinding:
    """An animal of which one leg is not there, by the names of the others."""
    pair, end = (back, "hind") if len(back) == 1 else (front, "fore")
    side = "right" if "left" in pair else "left"
    return BoneFinding(
        "quadruped", problem=f"The armature has three legs: there is no {side} {end} leg, and animals walk on four",
        remedy="Name its bones as those of the other legs, or map them by hand", certain=True,
    )  # fmt: skip


def _is_pair(tree: BoneTree, one: Limb, other: Limb) -> bool:
    return len(one.chain) == len(other.chain) and tree.meeting([one.chain[0], other.chain[0]]) >= 0


def _is_odd(tree: BoneTree, limbs: Sequence[Limb]) -> bool:
    """Whether a third chain that reaches the ground stands aside, as a leg does and a tail does not."""
    if len(limbs) != 3:
        return False
    one, other, third = (np.mean(tree.heads[limb.chain], axis=0) for limb in limbs)
    across = (one - other) * np.array([1.0, 1.0, 0.0])
    wide = float(np.linalg.norm(across))
    aside = abs(float((third - 0.5 * (one + other)) @ across)) / max(wide, 1e-12)
    return aside > 0.25 * wide


def _upright(tree: BoneTree, legs: Mapping[str, Limb], ups: Sequence[Array]) -> BoneTree:
    """The tree turned so that the legs point down, by one of the directions that may be up."""
    down = np.mean([tree.heads[limb.all[-1]] - tree.heads[limb.all[0]] for limb in legs.values()], axis=0)
    if -down[2] > 0.7 * np.linalg.norm(down) or not len(ups):
        return tree
    up = max([UP, *ups], key=lambda axis: -float(down @ axis))
    turn = rot.between(np.asarray(up), UP)
    return tree.turned(lambda points: rot.rotate(turn, points))


def _on_all_fours(tree: BoneTree, legs: Mapping[str, Limb], arms: Mapping[str, Limb]) -> bool:
    """Whether the arms reach the ground ahead of the legs."""
    tops = [np.mean([tree.heads[limb.all[0]] for limb in pair.values()], axis=0) for pair in (legs, arms)]
    ends = [min(float(tree.lowest[limb.all[-1]]) for limb in pair.values()) for pair in (legs, arms)]
    trunk = tops[1] - tops[0]
    level = float(np.hypot(trunk[0], trunk[1])) > abs(float(trunk[2]))
    return level and ends[1] - ends[0] < 0.25 * float(tops[0][2] - ends[0])


def _biped(tree: BoneTree, legs: Mapping[str, Limb], arms: Mapping[str, Limb]) -> BoneFinding:
    found = _Found(tree, "biped")
    for pair, words in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("clavicle", "shoulder", "elbow", "wrist"))):
        for side, limb in pair.items():
            for part in words:
                if part in limb.bones:
                    bone = limb.bones[part]
                    why = f"its name, {tree.names[bone]!r}"
                    if limb.sure[part] <= 0.4:
                        why += ", but it does not hang on the bone above"
                    found.add(f"{side}_{part}", bone, limb.sure[part], why)
    for side, limb in legs.items():
        if "toe" not in limb.bones and limb.bones:
            _toe_by_shape(found, tree, side, limb)
    if len(arms) != 2 and not arms:
        _arms_by_shape(found, tree, legs)
    _trunk(found, tree, [limb.all[0] for limb in legs.values()], _tops(found, tree, arms))
    return _finished(found)


def _tops(found: _Found, tree: BoneTree, arms: Mapping[str, Limb]) -> list[int]:
    if arms:
        return [limb.all[0] for limb in arms.values()]
    names = [found.bones.get(f"{side}_clavicle") or found.bones.get(f"{side}_shoulder") for side in SIDES]
    return [tree.names.index(name) for name in names if name]


def _toe_by_shape(found: _Found, tree: BoneTree, side: str, limb: Limb) -> None:
    """The bone on the foot that lies ahead of it near the ground, whatever its name."""
    ankle = limb.bones["ankle"]
    below = [child for child in tree.children[ankle] if tree.heads[child, 2] < tree.heads[ankle, 2] + 1e-9]
    level = [float(np.linalg.norm((tree.heads[child] - tree.heads[ankle])[:2])) for child in below]
    length = float(np.linalg.norm(tree.heads[limb.bones["hip"]] - tree.heads[ankle]))
    if below and max(level) > 0.08 * length:
        found.add(f"{side}_toe", below[int(np.argmax(level))], BY_SHAPE, "it lies ahead on the foot")


def _arms_by_shape(found: _Found, tree: BoneTree, legs: Mapping[str, Limb]) -> None:
    tops = [limb.all[0] for limb in legs.values()]
    hips = hips_of(tree, tops, [])
    pair = arms_by_shape(tree, tops, max(hips, 0))
    if len(pair) == 2:
        across = sideways(tree, legs["left"], legs["right"])
        _add_arms(found, tree, pair, across)


def _add_arms(found: _Found, tree: BoneTree, pair: Sequence[Limb], left: Array) -> None:
    if float(sideways(tree, pair[0], pair[1]) @ left) < 0.0:
        pair = pair[::-1]
    for side, limb in zip(SIDES, pair, strict=True):
        for part, bone in arm_parts(tree, limb.chain).items():
            found.add(f"{side}_{part}", bone, BY_SHAPE, "the upper pair of limbs, by its place in the chain")


def _biped_by_shape(tree: BoneTree, one: Limb, other: Limb) -> BoneFinding:
    found = _Found(tree, "biped")
    across = sideways(tree, one, other)
    parts = [leg_parts(tree, limb.chain, across) for limb in (one, other)]
    ahead, told = points_ahead(tree, parts, across)
    left = np.cross(UP, ahead)
    pair = [parts[0], parts[1]] if float(left @ across) > 0.0 else [parts[1], parts[0]]
    sure = BY_SHAPE if told else 0.4
    for side, limb in zip(SIDES, pair, strict=True):
        for part, bone in limb.items():
            why = "the chains that reach the ground, by its place in the chain"
            found.add(f"{side}_{part}", bone, sure, why if told else f"{why}; which way it faces is a guess")
    tops = [one.chain[0], other.chain[0]]
    hips = hips_of(tree, tops, [])
    arms = arms_by_shape(tree, tops, max(hips, 0))
    if len(arms) == 2:
        _add_arms(found, tree, arms, left)
    _trunk(found, tree, tops, [limb.chain[0] for limb in arms])
    return _finished(found)


def _quadruped_by_shape(tree: BoneTree, limbs: Sequence[Limb]) -> BoneFinding:
    """Of two pairs of legs the hind ones hang nearer the root of the tree."""
    pairs = [limbs[:2], limbs[2:]]
    meetings = [tree.meeting([limb.chain[0] for limb in pair]) for pair in pairs]
    if tree.is_above(meetings[1], meetings[0]) and meetings[0] != meetings[1]:
        pairs = pairs[::-1]
    middle = [np.mean([np.mean(tree.heads[limb.chain], axis=0) for limb in pair], axis=0) for pair in pairs]
    ahead = (middle[1] - middle[0]) * np.array([1.0, 1.0, 0.0])
    left = np.cross(UP, ahead)
    named = []
    for one, other in pairs:
        order = (one, other) if float(sideways(tree, one, other) @ left) > 0.0 else (other, one)
        named.append(dict(zip(SIDES, order, strict=True)))
    return _quadruped(tree, named[0], named[1], BY_SHAPE)


def _quadruped(tree: BoneTree, legs: Mapping[str, Limb], arms: Mapping[str, Limb], sure: float) -> BoneFinding:
    found = _Found(tree, "quadruped")
    hind, fore = whole_chains(tree, legs), whole_chains(tree, arms)
    middle = [
        np.mean([np.mean(tree.heads[limb.chain], axis=0) for limb in pair.values()], axis=0) for pair in (hind, fore)
    ]
    ahead = (middle[1] - middle[0]) * np.array([1.0, 1.0, 0.0])
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
    for side in SIDES:
        for parts in (hind_parts(tree, hind[side].chain, ahead), fore_parts(tree, fore[side].chain, ahead)):
            for part, bone in parts.items():
                found.add(f"{side}_{part}", bone, sure, "the legs that reach the ground, by its place in the chain")
    tops = [limb.chain[0] for limb in hind.values()]
    _trunk(found, tree, tops, [limb.chain[0] for limb in fore.values()])
    hips = tree.names.index(found.bones["hips"]) if "hips" in found.bones else -1
    if hips >= 0:
        for number, bone in enumerate(tail_of(tree, hips, tops, ahead), start=1):
            found.add(f"tail_{number}", bone, sure, "the chain that goes backwards from the pelvis")
    return _finished(found)


def _trunk(found: _Found, tree: BoneTree, legs: Sequence[int], arms: Sequence[int]) -> None:
    hips = hips_of(tree, legs, arms, tailed=found.kind == "quadruped")
    named = [bone for bone in range(len(tree)) if tree.read[bone].is_centre("hips")]
    if hips < 0 and named:
        found.add("hips", named[0], 0.4, "its name, but the legs do not hang on it")
        hips = named[0]
    elif hips >= 0:
        why = f"its name, {tree.names[hips]!r}, and it carries the legs" if hips in named else "it carries both legs"
        found.add("hips", hips, 1.0 if hips in named else _BY_TRUNK, why)
    if hips < 0:
        return
    spine, neck, head = upwards(tree, hips, legs, arms)
    for number, bone in enumerate(spine, start=1):
        found.add(f"spine_{number}", bone, _BY_TRUNK, "it lies between hips and chest")
    for number, bone in enumerate(neck, start=1):
        found.add("neck" if number == 1 else f"neck_{number}", bone, _BY_TRUNK, "it lies between chest and head")
    if head >= 0:
        told = tree.read[head].is_centre("head")
        why = f"its name, {tree.names[head]!r}" if told else "it is the upper end of the trunk"
        found.add("head", head, 1.0 if told else BY_SHAPE, why)


def _finished(found: _Found) -> BoneFinding:
    quadruped = found.kind == "quadruped"
    roles, required = (
        (QUADRUPED_ROLES, REQUIRED_QUADRUPED_ROLES) if quadruped else (BIPED_ROLES, REQUIRED_ROLES)
    )  # fmt: skip
    order = [role for role in roles if role in found.bones]
    missing = [role for role in required if role not in found.bones]
    words = ", ".join(role.replace("_", " ") for role in missing)
    reasons = {**{role: why_not(role, found.bones) for role in roles if role not in found.bones}, **found.why}
    return BoneFinding(
        found.kind, {role: found.bones[role] for role in order}, {role: found.sure[role] for role in order},
        {role: why for role, why in reasons.items() if why},
        f"These parts of the body have no bone: {words}" if missing else "",
        "Map these bones by hand" if missing else "",
    )  # fmt: skip


def why_not(role: str, bones: Mapping[str, str]) -> str:
    """Why a role has no bone, in words; empty for the optional further bones of spine, neck and tail."""
    side, _, part = role.partition("_")
    if side in SIDES:
        words = part.replace("_", " ")
        above = {"toe": "ankle", "wrist": "elbow", "fore_paw": "wrist", "hind_paw": "hock", "fore_hoof": "fore_paw",
                 "hind_hoof": "hind_paw"}.get(part)  # fmt: skip
        if part in ("clavicle", "scapula"):
            return f"The rig's {side} limb begins at the shoulder: it has no {words}"
        if above and f"{side}_{above}" in bones:
            return f"Nothing that looks like it hangs on {bones[f'{side}_{above}']!r}"
        return f"No bone on the {side} looks like it, by name or by place"
    if role in ("spine_1", "neck", "head", "tail_1"):
        return {"spine_1": "Nothing lies between hips and chest", "neck": "The head hangs directly on the chest",
                "head": "Nothing above the chest looks like it",
                "tail_1": "No chain goes backwards from the pelvis"}[role]  # fmt: skip
    return ""
