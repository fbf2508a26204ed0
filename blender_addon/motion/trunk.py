"""Hips, spine, neck, head and tail: the middle of a body whose limbs are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bone_names import CENTRE_WORDS
from .bone_tree import BoneTree
from .limbs import pairs_of
from .rotations import Array

_TRUNK = CENTRE_WORDS["hips"] | CENTRE_WORDS["spine"]
MOST_SPINE, MOST_NECK, MOST_TAIL = 6, 4, 8


def hips_of(tree: BoneTree, legs: Sequence[int], arms: Sequence[int], tailed: bool = False) -> int:
    """The bone that carries the legs, and the upper body too; -1 when nothing carries both legs.

    Args:
        tree: the body's bones.
        legs, arms: the first bones of each limb.
        tailed: a tail may hang on the bone above.
    """
    carrier = tree.meeting([*legs])
    together = tree.meeting([*legs, *arms])
    if together >= 0 and (carrier < 0 or not _is_low(tree, together, legs)):
        carrier = together
    while carrier >= 0 and tree.parents[carrier] >= 0:
        over = tree.parents[carrier]
        mine, theirs = tree.read[carrier], tree.read[over]
        spine = theirs.core in CENTRE_WORDS["spine"] and theirs.core == mine.core
        named = theirs.is_centre("hips") and not mine.is_centre("hips")
        chains = [child for child in tree.children[over] if child != carrier and tree.children[child]]
        if not (spine or named or (tailed and len(chains) == 1)) or _is_low(tree, over, legs):
            break
        carrier = over
    return carrier


def _is_low(tree: BoneTree, bone: int, legs: Sequence[int]) -> bool:
    """Whether a bone lies at the ground rather than at the height of the hips."""
    top = float(np.mean(tree.heads[list(legs), 2]))
    ground = float(min(tree.lowest[leg] for leg in legs))
    return float(tree.heads[bone, 2]) < ground + 0.45 * (top - ground)


def upwards(tree: BoneTree, hips: int, legs: Sequence[int], arms: Sequence[int]) -> tuple[list[int], list[int], int]:
    """Spine bones, neck bones and the head (-1 for none), from the hips up."""
    carrier = tree.meeting([*legs])
    chest = tree.meeting([*arms]) if arms else -1
    if chest < 0 or not tree.is_above(hips, chest):
        chest = hips
    limbs = {*legs, *arms}
    onwards = _to_head(tree, chest, limbs)
    lower = [bone for bone in tree.path(hips, chest) if not tree.is_above(bone, carrier) and bone != hips]
    if chest == hips:
        # Nothing tells where the chest ends but the names.
        named = [bone for bone in onwards if tree.read[bone].core in _TRUNK]
        cut = onwards.index(named[-1]) + 1 if named else max(len(onwards) - 2, 0)
        lower, onwards = [bone for bone in onwards[:cut] if not tree.is_above(bone, carrier)], onwards[cut:]
    necks = [bone for bone in onwards if tree.read[bone].core in CENTRE_WORDS["neck"]]
    if necks:
        cut = onwards.index(necks[0])
        lower, onwards = lower + onwards[:cut], onwards[cut:]
    head = onwards[-1] if onwards else -1
    return _spread(lower, MOST_SPINE), _spread(onwards[:-1], MOST_NECK), head


def _to_head(tree: BoneTree, chest: int, limbs: set[int]) -> list[int]:
    """The bones from above the chest to the head, which is the last."""
    named = [
        bone for bone in range(len(tree)) if tree.read[bone].is_centre("head") and bone != chest
        and tree.is_above(chest, bone) and not limbs & set(tree.line(bone))
    ]  # fmt: skip
    if named:
        return tree.path(chest, min(named, key=lambda bone: (tree.read[bone].number, len(tree.line(bone)))))[1:]
    found: list[int] = []
    bone = chest
    while True:
        below = _single(tree, bone, limbs)
        same = [child for child in below if tree.read[child].core in _TRUNK | CENTRE_WORDS["neck"]]
        if found and not same and (tree.read[bone].core in _TRUNK or _bears_pairs(tree, bone, below)):
            return found
        below = same or below
        if not below:
            return found
        bone = max(below, key=lambda child: _rise(tree, child))
        if len(found) > 1 and not tree.children[bone] and not same and _is_top(tree, bone):
            return found
        found.append(bone)


def _single(tree: BoneTree, bone: int, limbs: set[int]) -> list[int]:
    """What hangs on a bone in the middle of the body: no limb, and no half of a pair such as ears."""
    below = [child for child in tree.children[bone] if child not in limbs and not tree.read[child].side]
    pairs = pairs_of(tree, [[child] for child in below], float(np.ptp(tree.heads[:, 2])))
    return [pair[0][0] for pair in pairs if len(pair) == 1]


def _bears_pairs(tree: BoneTree, bone: int, single: Sequence[int]) -> bool:
    """Whether ears or eyes hang on a bone, or on one that begins where it does: it is the head."""
    if len(tree.children[bone]) > len(single) + 1:
        return True
    size = float(np.ptp(tree.heads[:, 2]))
    return any(
        np.linalg.norm(tree.heads[child] - tree.heads[bone]) < 1e-4 * size and len(tree.children[child]) > 1
        for child in single
    )


def _rise(tree: BoneTree, bone: int) -> tuple[int, float]:
    """How much of a body goes on from a bone: how many single bones follow, and how far they reach."""
    start, count = bone, 1
    while tree.children[bone]:
        bone = max(tree.children[bone], key=lambda child: float(tree.heads[child, 2]))
        count += 1
    return count, float(np.linalg.norm(tree.heads[bone] - tree.heads[start]))


def _is_top(tree: BoneTree, bone: int) -> bool:
    """Whether a bone without children marks the top of the head."""
    return float(tree.heads[bone, 2]) >= float(tree.heads[:, 2].max()) - 1e-6


def tail_of(tree: BoneTree, hips: int, legs: Sequence[int], ahead: Array) -> list[int]:
    """The tail's bones from the body on: a chain in the middle that hangs on the pelvis and goes backwards."""
    best: list[int] = []
    reach = 0.0
    limbs = set(legs)
    carrier = tree.meeting([*legs])
    for trunk in tree.path(hips, carrier) or [hips]:
        for child in tree.children[trunk]:
            if child in limbs or tree.read[child].side or tree.is_above(child, carrier):
                continue
            chain = [child]
            while len(tree.children[chain[-1]]) == 1:
                chain.append(tree.children[chain[-1]][0])
            back = -float((tree.heads[chain[-1]] - tree.heads[hips]) @ ahead)
            behind = -float((tree.heads[child] - tree.heads[hips]) @ ahead)
            named = tree.read[child].core in CENTRE_WORDS["tail"]
            if (named or len(chain) > 1) and back > max(behind, 0.0) - 1e-9 and back > reach:
                best, reach = chain, back
    return best[:MOST_TAIL]


def _spread(bones: Sequence[int], most: int) -> list[int]:
    """At most so many of them, evenly, the first and the last among them."""
    if len(bones) <= most:
        return list(bones)
    return [bones[at] for at in np.round(np.linspace(0, len(bones) - 1, most)).astype(int)]
