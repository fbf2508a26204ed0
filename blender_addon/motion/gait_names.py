"""Names of gaits and actions, and what to do with one that a pack does not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .plan import Plan
from .rotations import Array

#: Gaits of four legs, slowest first.
GAITS: tuple[str, ...] = ("walk", "pace", "trot", "canter", "gallop")
#: All that a schedule can ask of four legs; "auto" is the gait that fits the speed.
ANIMAL_ACTIONS: tuple[str, ...] = ("auto", *GAITS, "stand", "sit", "lie", "jump")

#: What stands in for an action that a vocabulary lacks, best first.
_INSTEAD: dict[str, tuple[str, ...]] = {
    "stand": ("idle",), "idle": ("stand",), "sit": ("idle", "stand"), "lie": ("sit", "idle", "stand"),
    "walk": ("move",), "pace": ("trot", "walk", "move"), "trot": ("pace", "walk", "move"),
    "canter": ("gallop", "trot", "run", "move"), "gallop": ("canter", "run", "trot", "move"),
    "run": ("jog", "gallop", "canter", "trot", "move", "walk"), "jog": ("run", "trot", "move", "walk"),
    "jump": ("gallop", "run", "move", "walk"), "crouch": ("walk", "move"),
}  # fmt: skip


def nearest_action(name: str, vocabulary: Sequence[str]) -> str | None:
    """The action of a vocabulary that comes nearest to ``name``; None when nothing does."""
    for candidate in (name, *_INSTEAD.get(name, ("move", "walk"))):
        if candidate in vocabulary:
            return candidate
    return None


def action_weights(plan: Plan, vocabulary: Sequence[str]) -> Array:
    """One-hot weights (f, len(vocabulary)) of the plan's actions; all 0 where nothing comes near."""
    rows = np.zeros((len(plan.actions), len(vocabulary)))
    for row, name in zip(rows, plan.actions, strict=True):
        found = nearest_action(name, vocabulary)
        if found is not None:
            row[list(vocabulary).index(found)] = 1.0
    return rows[plan.action]
