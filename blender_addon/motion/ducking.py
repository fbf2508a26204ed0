"""The last hand's breadth under a ceiling: hips go as much lower as head and back would go through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .ceiling import Overhead
from .clip import Clip
from .crouching import EASE, eased, spread
from .plan import Plan
from .rotations import UP

#: Room that is kept, metres; hips are lowered by this share of the leg at most: deeper, knees have no way to bend.
ROOM, _MOST = 0.02, 0.16


def ducked(clip: Clip, overhead: Overhead | None, plan: Plan) -> Clip:
    """The clip with its hips low enough where the plan crouches, before its feet are planted.

    A model crouches about as deep as it is asked to, bobs as it goes, and has not the character's proportions.

    Args:
        clip: on the character's skeleton. overhead: the ceiling; None under the open sky.
        plan: of the same frames; ``depth`` says where it crouches.
    """
    if overhead is None or not np.any(plan.depth):
        return clip
    missing = np.clip(ROOM - overhead.room(clip, plan), 0.0, _MOST * clip.skeleton.leg_length)
    missing = np.where(plan.depth > 0.0, missing, 0.0)
    lower = eased(spread(missing, round(0.5 * EASE * clip.fps)), clip.fps)
    return replace(clip, hips=clip.hips - lower[:, None] * UP)
