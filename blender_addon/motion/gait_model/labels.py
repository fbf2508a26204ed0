"""What an animal that follows a plan is doing at each frame, in the words that a network learns and is asked in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..animal import shoulder_height
from ..gait_names import GAITS
from ..plan import Plan
from ..runs import carried_over, runs
from ..schedule import JUMP, STAND
from ..skeleton import Skeleton
from .table import build_of, gaits_along, load_table

#: Names of `frame_actions`, always all of them and in this order.
ACTIONS: tuple[str, ...] = (STAND, *GAITS, "sit", "lie", JUMP)
#: What is done in one place; ``idle`` counts as standing.
_OTHER = {STAND: STAND, "idle": STAND, "sit": "sit", "lie": "lie", JUMP: JUMP}
#: A gait that would last shorter than this, seconds for an animal of 0.6 m, is not made: see `timing`.
_SHORTEST = 0.5


def frame_actions(plan: Plan, skeleton: Skeleton) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Names and, for each frame (f,), the index of what the body does.

    Gaits are those that are made: "auto" is the one that fits the speed, one asked for beyond its speeds is the one
    that stands in for it. Rests and jumps are as the plan has them, which is the animator's wish: an animal that is to
    get up again has the wish to stand, and that to sit while it is going down.

    A network that learns from these must be asked with these.

    Args:
        plan: for an animal.
        skeleton: four-legged; its size decides which gait fits a speed.
    """
    height = shoulder_height(skeleton)
    made = gaits_along(plan.speed, plan.actions, plan.action, height, load_table(build_of(height)))
    resting = np.array([name in _OTHER for name in plan.actions])[plan.action]
    shortest = round(_SHORTEST * float(np.sqrt(height / 0.6)) * plan.fps)
    for number, (first, last) in enumerate(runs(~resting)):
        made[first:last] = carried_over(made[first:last], shortest, keep_first=number == 0)
    gait = np.array([ACTIONS.index(name) for name in GAITS])[made]
    other = np.array([ACTIONS.index(_OTHER.get(name, STAND)) for name in plan.actions])[plan.action]
    return ACTIONS, np.where(resting, other, gait).astype(np.int64)
