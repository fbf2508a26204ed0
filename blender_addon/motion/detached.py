"""Paws that hang on no leg: in rigs made for IK they follow bones of their own, which go where the leg ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from . import animal
from .bone_tree import BoneTree

#: How far off a leg's last joint such a paw may be, in shares of the leg's last segment.
_NEAR, _FAR = 0.1, 3.0
#: Cosine of the angle between the leg and the way to its paw, at least.
_ALONG = 0.3


def detached_paws(tree: BoneTree, bones: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(role, bone) of the paws and toes that belong to legs but hang on other bones.

    Args:
        tree: all bones of the armature.
        bones: role -> bone of a four-legged body.
    """
    number = {name: at for at, name in enumerate(tree.names)}
    taken = {number[name] for role, name in bones.items() if role != "root" and name in number}
    above = {bone for part in taken for bone in tree.line(part)}
    free = [
        bone for bone in range(len(tree))
        if tree.deforms[bone] and bone not in above and not taken.intersection(tree.line(bone))
    ]  # fmt: skip
    ends = {leg: _end(number, bones, leg) for leg in animal.LEGS}
    for leg in animal.LEGS:
        chain = ends[leg]
        roles = [role for role in animal.leg_roles(leg) if role not in bones]
        if len(chain) < 2 or len(roles) < 2 or tree.children[chain[-1]]:
            continue
        best = min(free, key=lambda bone: _distance(tree, chain[-1], bone), default=None)
        if best is None or not _fits(tree, chain, best):
            continue
        if any(_distance(tree, other[-1], best) < _distance(tree, chain[-1], best) for other in ends.values() if other):
            continue
        yield roles[0], tree.names[best]
        toes = [child for child in tree.children[best] if tree.deforms[child]]
        if len(toes) == 1:
            yield roles[1], tree.names[toes[0]]


def _end(number: Mapping[str, int], bones: Mapping[str, str], leg: str) -> list[int]:
    return [number[bones[role]] for role in animal.leg_roles(leg) if bones.get(role) in number]


def _distance(tree: BoneTree, one: int, other: int) -> float:
    return float(np.linalg.norm(tree.heads[one] - tree.heads[other]))


def _fits(tree: BoneTree, chain: list[int], bone: int) -> bool:
    """Whether it lies where the leg goes on."""
    way, leg = tree.heads[bone] - tree.heads[chain[-1]], tree.heads[chain[-1]] - tree.heads[chain[0]]
    last = _distance(tree, chain[-2], chain[-1])
    away = float(np.linalg.norm(way))
    along = float(way @ leg) / max(away * float(np.linalg.norm(leg)), 1e-12)
    return _NEAR * last < away < _FAR * last and along > _ALONG
