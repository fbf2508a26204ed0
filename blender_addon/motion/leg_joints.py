"""Which joint of a limb's chain is which, by its shape: knees ahead, hocks behind, hands at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .bone_names import ARM_WORDS
from .bone_tree import BoneTree
from .rotations import UP, Array

_BLADES = frozenset(ARM_WORDS["clavicle"])


def leg_parts(tree: BoneTree, chain: Sequence[int], across: Array) -> dict[str, int]:
    """Hip, knee, ankle and toe of a two-legged leg.

    Args:
        tree: bones, Z up.
        chain: from the trunk to the end.
        across: level direction (3,) from one leg to the other.
    """
    chain = list(chain)
    while len(chain) > 3 and _drop(tree, chain) < 0.4:
        chain.pop(0)
    places = tree.heads[chain]
    top, ground = float(places[0, 2]), float(places[:, 2].min())
    last = len(chain) - 1
    ankle = last
    for at in range(2, last):
        step = places[at + 1] - places[at]
        level = float(np.hypot(step[0], step[1]))
        if places[at, 2] - ground < 0.3 * (top - ground) and level > 0.35 * float(np.linalg.norm(step)):
            ankle = at
            break
    if ankle == last and last >= 3 and len(chain) == 4:
        ankle = 2
    knee = _middle(places[: ankle + 1])
    parts = {"hip": chain[0], "knee": chain[knee], "ankle": chain[ankle]}
    if ankle < last:
        parts["toe"] = chain[ankle + 1]
    return parts


def arm_parts(tree: BoneTree, chain: Sequence[int]) -> dict[str, int]:
    """Clavicle, shoulder, elbow and wrist of an arm that ends in a hand."""
    chain = list(chain)
    parts: dict[str, int] = {}
    lengths = np.linalg.norm(np.diff(tree.heads[chain], axis=0), axis=1)
    if len(chain) >= 4 and lengths[0] < 0.8 * float(np.max(lengths[1:])):
        parts["clavicle"] = chain.pop(0)
    if len(chain) == 2:
        return {**parts, "shoulder": chain[0], "elbow": chain[1]}
    elbow = _middle(tree.heads[chain]) if len(chain) > 3 else 1
    return {**parts, "shoulder": chain[0], "elbow": chain[elbow], "wrist": chain[-1]}


def hind_parts(tree: BoneTree, chain: Sequence[int], ahead: Array) -> dict[str, int]:
    """Hip, knee, hock, paw and hoof of an animal's hind leg; a pelvis bone before them is left out.

    Args:
        tree: bones, Z up.
        chain: from the trunk to the end.
        ahead: level direction (3,) in which the animal faces.
    """
    chain = _without_end(tree, chain)
    # A thigh goes down and ahead; what goes back or sideways is the pelvis.
    while len(chain) > 3 and (_drop(tree, chain) < 0.4 or _along(tree, chain, ahead) < -0.3):
        chain.pop(0)
    return dict(zip(("hip", "knee", "hock", "hind_paw", "hind_hoof"), chain, strict=False))


def fore_parts(tree: BoneTree, chain: Sequence[int], ahead: Array) -> dict[str, int]:
    """Shoulder blade, shoulder, elbow, wrist, paw and hoof of an animal's fore leg."""
    chain = _without_end(tree, chain)
    # The shoulder blade goes down and ahead, the upper arm down and back.
    blade = len(chain) > 2 and (
        _along(tree, chain, ahead) > 0.25 or _drop(tree, chain) < 0.35 or tree.read[chain[0]].core in _BLADES
    )
    names = ("scapula", "shoulder", "elbow", "wrist", "fore_paw", "fore_hoof")
    return dict(zip(names if blade else names[1:], chain, strict=False))


def points_ahead(tree: BoneTree, legs: Sequence[Mapping[str, int]], across: Array) -> tuple[Array, bool]:
    """Which way a two-legged body faces (3,), level, and whether feet or knees told so."""
    level = np.cross(across, UP)
    size = float(np.ptp(tree.heads[:, 2]))
    feet, knees = 0.0, 0.0
    for parts in legs:
        ankle = tree.heads[parts["ankle"]]
        end = tree.heads[parts["toe"]] if "toe" in parts else tree.tails[parts["ankle"]]
        feet += float((end - ankle) @ level)
        hip, knee = tree.heads[parts["hip"]], tree.heads[parts["knee"]]
        share = float((knee - hip) @ (ankle - hip)) / max(float((ankle - hip) @ (ankle - hip)), 1e-12)
        knees += float((knee - hip - share * (ankle - hip)) @ level)
    for told, least in ((feet, 0.02 * size), (knees, 0.004 * size)):
        if abs(told) > least:
            return level * np.sign(told), True
    return level * (1.0 if level[1] <= 0.0 else -1.0), False


def _drop(tree: BoneTree, chain: Sequence[int]) -> float:
    """Share of the first bone's length that goes down."""
    step = tree.heads[chain[1]] - tree.heads[chain[0]]
    return -float(step[2]) / max(float(np.linalg.norm(step)), 1e-12)


def _along(tree: BoneTree, chain: Sequence[int], ahead: Array) -> float:
    """Share of the first bone's length that goes ahead."""
    step = tree.heads[chain[1]] - tree.heads[chain[0]]
    return float(step @ ahead) / max(float(np.linalg.norm(step)), 1e-12)


def _middle(places: Array) -> int:
    """Index of the inner place nearest to half way along."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    return 1 + int(np.argmin(np.abs(way[1:-1] - 0.5 * way[-1])))


def _without_end(tree: BoneTree, chain: Sequence[int]) -> list[int]:
    return [bone for bone in chain if not (tree.read[bone].end and not tree.children[bone])]
