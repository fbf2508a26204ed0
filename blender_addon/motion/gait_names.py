"""Names of gaits and actions, and what to do with one that a pack does not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .crouching import CROUCH, eased
from .plan import Plan
from .rotations import Array
from .schedule import AUTO, STAND, Schedule

#: Gaits of four legs, slowest first.
GAITS: tuple[str, ...] = ("walk", "pace", "trot", "canter", "gallop")
#: All that a schedule can ask of four legs; "auto" is the gait that fits the speed.
ANIMAL_ACTIONS: tuple[str, ...] = ("auto", *GAITS, "stand", "sit", "lie", "jump")

#: What stands in for an action that a vocabulary lacks, best first.
STAND_INS: dict[str, tuple[str, ...]] = {
    "stand": ("idle", "move", "walk"), "idle": ("stand",), "sit": ("idle", "stand"), "lie": ("sit", "idle", "stand"),
    "walk": ("move",), "pace": ("trot", "walk", "move"), "trot": ("pace", "walk", "move"),
    "canter": ("gallop", "trot", "run", "move"), "gallop": ("canter", "run", "trot", "move"),
    "run": ("jog", "gallop", "canter", "trot", "move", "walk"), "jog": ("run", "trot", "move", "walk"),
    "jump": ("gallop", "run", "move", "walk"), "crouch": ("walk", "move"),
}  # fmt: skip


def nearest_action(name: str, vocabulary: Sequence[str]) -> str | None:
    """The action of a vocabulary that comes nearest to ``name``; None when nothing does."""
    for candidate in (name, *STAND_INS.get(name, ("move", "walk"))):
        if candidate in vocabulary:
            return candidate
    return None


def absent_notes(schedule: Schedule, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Words about the marks that ask for what a vocabulary lacks, and what is shown instead."""
    notes = []
    for mark in schedule.marks:
        found = nearest_action(mark.action, vocabulary)
        if mark.action not in (AUTO, STAND, found):
            shown = f'"{found}" is shown' if found else "nothing is shown"
            notes.append(
                f'The mark at {mark.at:.2f} m asks for "{mark.action}", which this pack has not learned: {shown} there'
            )
    return tuple(notes)


def action_weights(plan: Plan, vocabulary: Sequence[str]) -> Array:
    """Weights (f, len(vocabulary)) of the plan's actions, 1 for each frame's; all 0 where nothing comes near.

    A crouch counts as such for as much of it as it is deep, and for the rest as walking, as models learn it
    (`gait_labels.graded_crouch`); one goes down and gets up gradually.
    """
    rows = np.zeros((len(plan.actions), len(vocabulary)))
    for row, name in zip(rows, plan.actions, strict=True):
        found = nearest_action(name, vocabulary)
        if found is not None:
            row[list(vocabulary).index(found)] = 1.0
    weights = rows[plan.action]
    if not {CROUCH, "walk"} <= set(vocabulary) or CROUCH not in plan.actions:
        return weights
    crouch, walk = (list(vocabulary).index(name) for name in (CROUCH, "walk"))
    share = eased(weights[:, crouch] * (plan.depth if len(plan.depth) else 1.0), plan.fps)
    weights[:, walk] += weights[:, crouch]
    weights[:, crouch] = 0.0
    weights *= 1.0 - share[:, None]
    weights[:, crouch] = share
    return weights
