"""Legs and arms among the bones of an armature: by their names, or by how they hang and where they reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .bone_names import ARM_WORDS, LEG_WORDS
from .bone_tree import BoneTree
from .rotations import Array
from .skeleton import SIDES

#: More bones of one name than this are not looked at: no limb has so many.
_MOST_CANDIDATES = 40


@dataclass
class Limb:
    """A leg or an arm.

    Attributes:
        bones: part (``hip``, ``knee`` ...) -> bone.
        sure: part -> 0..1.
        chain: all bones from the trunk to the end, the trunk's not included; where only shape tells.
    """

    bones: dict[str, int] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)
    chain: list[int] = field(default_factory=list)

    @property
    def all(self) -> list[int]:
        """Its bones from the trunk outwards."""
        return self.chain or list(self.bones.values())


def legs_by_name(tree: BoneTree) -> dict[str, Limb]:
    """Side -> leg, for each side on which hip, knee and ankle are named."""
    return _by_name(tree, LEG_WORDS, required=("hip", "knee", "ankle"), girdle="front")


def part_of_leg(tree: BoneTree, side: str, whole: Limb) -> Limb:
    """What there is of a leg, by the names of the other one, which is whole."""
    limb = Limb()
    for part, twin in whole.bones.items():
        like = tree.read[twin]
        for bone, name in enumerate(tree.read):
            if (name.core, name.side, name.number, name.girdle) == (like.core, side, like.number, like.girdle):
                limb.bones[part], limb.sure[part] = bone, whole.sure[part]
                break
    return limb


def arms_by_name(tree: BoneTree) -> dict[str, Limb]:
    """Side -> arm, for each side on which shoulder and elbow are named."""
    return _by_name(tree, ARM_WORDS, required=("shoulder", "elbow"), girdle="back")


def _by_name(
    tree: BoneTree, words: Mapping[str, Mapping[str, float]], required: Sequence[str], girdle: str
) -> dict[str, Limb]:
    found = {}
    for side in SIDES:
        choices: dict[str, list[tuple[int, float]]] = {part: [] for part in words}
        for bone, name in enumerate(tree.read):
            if name.side != side or name.girdle == girdle:
                continue
            for part, table in words.items():
                if name.core in table:
                    # A second bone of the same name is seldom the part itself.
                    weight = table[name.core] - 0.01 * min(name.number, 9) - (0.0 if tree.deforms[bone] else 0.05)
                    choices[part].append((bone, weight))
        limb = _best_chain(tree, choices, required)
        if limb is not None:
            found[side] = limb
    return found


def _best_chain(
    tree: BoneTree, choices: Mapping[str, list[tuple[int, float]]], required: Sequence[str]
) -> Limb | None:
    """The parts that hang on one another and are named best; parts that are not required may be missing."""
    parts = list(choices)
    best: tuple[float, dict[str, tuple[int, float]]] = (-1.0, {})
    # (sum of weights, last bone, chosen), grown part by part; the best few are kept.
    grown: list[tuple[float, int, dict[str, tuple[int, float]]]] = [(0.0, -1, {})]
    for part in parts:
        longer = [] if part in required else list(grown)
        for score, last, chosen in grown:
            for bone, weight in sorted(choices[part], key=lambda pair: -pair[1])[:_MOST_CANDIDATES]:
                if last < 0 or (bone != last and tree.is_above(last, bone)):
                    longer.append((score + weight, bone, {**chosen, part: (bone, weight)}))
        grown = sorted(longer, key=lambda entry: -entry[0])[: 4 * _MOST_CANDIDATES]
    if grown:
        best = (grown[0][0], grown[0][2])
        return Limb(
            {part: bone for part, (bone, _) in best[1].items()}, {part: min(w, 1.0) for part, (_, w) in best[1].items()}
        )
    if any(not choices[part] for part in required):
        return None
    # Named, but hung otherwise: rigs whose limbs are held together by constraints.
    loose = {part: max(found, key=lambda pair: pair[1])[0] for part, found in choices.items() if found}
    if len(set(loose.values())) < len(loose):
        return None
    return Limb(loose, dict.fromkeys(loose, 0.4))


def anchored(tree: BoneTree, girdle: str) -> dict[str, Limb]:
    """Side -> the chain of bones whose names say front or back leg."""
    found = {}
    for side in SIDES:
        named = [b for b, name in enumerate(tree.read) if name.side == side and name.girdle == girdle]
        chains = [line for line in (tree.line(bone)[::-1] for bone in named) if line]
        if chains:
            chain = max(chains, key=lambda line: sum(bone in named for bone in line))
            first = next(at for at, bone in enumerate(chain) if bone in named)
            if len(chain) - first >= 2:
                found[side] = Limb(chain=chain[first:])
    return found


def whole_chains(tree: BoneTree, limbs: Mapping[str, Limb]) -> dict[str, Limb]:
    """A pair of limbs from where they leave the trunk down to their last single bone."""
    left, right = (limbs[side].all for side in SIDES)
    meeting = tree.meeting([left[0], right[0]])
    found = {}
    for side, bones in zip(SIDES, (left, right), strict=True):
        above = tree.line(bones[0])
        stop = above.index(meeting) if meeting in above else 1
        chain = above[:stop][::-1] if stop else [bones[0]]
        chain += [bone for bone in tree.path(bones[0], bones[-1]) if bone not in chain]
        found[side] = Limb(limbs[side].bones, limbs[side].sure, chain + _onwards(tree, chain[-1]))
    return found


def _onwards(tree: BoneTree, bone: int) -> list[int]:
    """Single bones below; where several hang on one, the toes' if one is named so."""
    found: list[int] = []
    while True:
        below = tree.children[bone]
        if len(below) > 1:
            below = [b for b in below if tree.read[b].core in LEG_WORDS["toe"] or tree.read[b].core in ("paw", "hoof")]
        if len(below) != 1:
            return found
        bone = below[0]
        found.append(bone)


def legs_by_shape(tree: BoneTree) -> list[Limb]:
    """The chains that reach the ground, in pairs of equal build first: [one, other, one, other, ...].

    Left and right are not told apart here. A single leg is listed alone.
    """
    feet = _feet(tree)
    if not feet:
        return []
    high = float(np.percentile(tree.heads[:, 2], 95)) - float(tree.heads[:, 2].min())
    ground = float(tree.heads[:, 2].min())
    shared = np.zeros(len(tree), int)
    for foot in feet:
        shared[tree.line(foot)] += 1
    chains = []
    for foot in feet:
        chain = [bone for bone in tree.line(foot) if shared[bone] == 1][::-1]
        if not chain:
            continue
        chain += _along_foot(tree, chain[-1])
        chain = _distinct(tree, chain, 1e-4 * high)
        if len(chain) >= 3 and tree.heads[chain[0], 2] - ground > 0.25 * high and _goes_down(tree, chain):
            chains.append(chain)
    return [Limb(chain=chain) for pair in pairs_of(tree, chains, high) for chain in pair]


def _goes_down(tree: BoneTree, chain: Sequence[int]) -> bool:
    line = tree.heads[chain[-1]] - tree.heads[chain[0]]
    return -float(line[2]) > 0.7 * float(np.linalg.norm(line))


def _feet(tree: BoneTree) -> list[int]:
    """One bone for each place where something stands: where the ends near the ground come together."""
    heights = tree.heads[:, 2]
    ground = float(heights.min())
    high = float(np.percentile(heights, 95)) - ground
    ends = [b for b in range(len(tree)) if not tree.children[b] and heights[b] - ground < 0.16 * high]
    feet: list[int] = []
    for end in ends:
        top = end
        while tree.parents[top] >= 0 and heights[tree.parents[top]] - ground < 0.2 * high:
            top = tree.parents[top]
        if heights[top] - ground < 0.2 * high and tree.parents[top] >= 0 and top not in feet:
            feet.append(top)
    return feet


def _along_foot(tree: BoneTree, bone: int) -> list[int]:
    """What goes on from a foot: the longest way over the ground, up to where toes part."""
    found: list[int] = []
    while 0 < len(tree.children[bone]) < 3:
        start = tree.heads[bone]
        bone = max(tree.children[bone], key=lambda b: float(np.linalg.norm((tree.heads[b] - start)[:2])))
        found.append(bone)
    return found


def _distinct(tree: BoneTree, chain: Sequence[int], least: float) -> list[int]:
    """The chain without bones that begin where the one before begins."""
    kept: list[int] = []
    for bone in chain:
        if kept and np.linalg.norm(tree.heads[bone] - tree.heads[kept[-1]]) < least:
            kept[-1] = bone
        else:
            kept.append(bone)
    return kept


def pairs_of(tree: BoneTree, chains: list[list[int]], size: float) -> list[list[list[int]]]:
    """Chains of equal build that meet in one bone, and last those that have no partner."""
    rest, found = list(chains), []
    while rest:
        chain = rest.pop(0)
        likes = [other for other in rest if _alike(tree, chain, other, size)]
        if likes:
            other = min(likes, key=lambda one: abs(tree.heads[one[0], 2] - tree.heads[chain[0], 2])
                        + float(np.linalg.norm(tree.heads[one[0]] - tree.heads[chain[0]])))  # fmt: skip
            rest.remove(other)
            found.append([chain, other])
        else:
            found.append([chain])
    found.sort(key=lambda pair: -len(pair))
    return found


def _alike(tree: BoneTree, one: Sequence[int], other: Sequence[int], size: float) -> bool:
    if len(one) != len(other):
        return False
    lengths = [np.linalg.norm(np.diff(tree.heads[list(chain)], axis=0), axis=1) for chain in (one, other)]
    even = bool(np.all(np.abs(lengths[0] - lengths[1]) < 0.03 * size))
    level = np.abs(tree.heads[one[0], 2] - tree.heads[other[0], 2]) < 0.05 * size
    apart = float(np.linalg.norm(tree.heads[one[-1]] - tree.heads[other[-1]])) > 0.02 * size
    parents = tree.parents[one[0]], tree.parents[other[0]]
    if min(parents) >= 0:
        away = [np.linalg.norm(tree.heads[bone] - tree.heads[over])
                for bone, over in zip((one[0], other[0]), parents, strict=True)]  # fmt: skip
        even = even and abs(float(away[0] - away[1])) < 0.02 * size
    return even and bool(level) and apart


def arms_by_shape(tree: BoneTree, legs: Sequence[int], hips: int) -> list[Limb]:
    """The longest pair of chains of equal build on the trunk above the hips; empty for none."""
    taken = set(legs)
    starts = []
    size = float(np.ptp(tree.heads[:, 2]))
    for bone in range(len(tree)):
        if len(tree.children[bone]) < 2 or not tree.is_above(hips, bone) or set(tree.line(bone)) & taken:
            continue
        below = [child for child in tree.children[bone] if child not in taken]
        chains = [_to_hand(tree, child) for child in below]
        starts += [pair for pair in pairs_of(tree, [c for c in chains if len(c) >= 2], size) if len(pair) == 2]
    if not starts:
        return []
    best = max(starts, key=lambda pair: _reach(tree, pair[0]))
    return [Limb(chain=chain) for chain in best] if _reach(tree, best[0]) > 0.1 * size else []


def _to_hand(tree: BoneTree, bone: int) -> list[int]:
    """The chain down to where the fingers part."""
    found = [bone]
    while len(tree.children[found[-1]]) == 1:
        found.append(tree.children[found[-1]][0])
    return found


def _reach(tree: BoneTree, chain: Sequence[int]) -> float:
    return float(np.linalg.norm(np.diff(tree.heads[list(chain)], axis=0), axis=1).sum())


def sideways(tree: BoneTree, one: Limb, other: Limb) -> Array:
    """From the other limb to the one, level, of length 1 (3,)."""
    apart = np.mean(tree.heads[one.all], axis=0) - np.mean(tree.heads[other.all], axis=0)
    apart = apart * np.array([1.0, 1.0, 0.0])
    return np.asarray(apart / max(float(np.linalg.norm(apart)), 1e-12))
