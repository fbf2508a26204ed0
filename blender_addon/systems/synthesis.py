"""From a plan to finished motion on the model's own skeleton: roll out, bring onto the plan, plant the feet.

For any system and any number of characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..motion.clip import Clip
from ..motion.correction import correct_path
from ..motion.filters import lowpass
from ..motion.plan import Plan
from ..motion.planting import Planted, PlantSettings, plant_feet
from ..motion.rotations import UP, Array
from ..motion.settle import settle, standing_frames
from ..motion.terrain import FlatGround, Terrain
from .protocol import Performer, System, feels_ground
from .rollout import Progress, RolloutSettings, rollout

#: Bodies that are moved to their path follow the ground's height below this frequency, Hz.
_CLIMB_HZ = 1.0


@dataclass(frozen=True)
class SynthesisSettings:
    """The animator's dials of one bake.

    Attributes:
        follow: how closely the path is followed, 0..1.
        exact: the root bone lies on the plan itself.
        plant: whether feet are planted.
        rollout: how the system responds.
        planting: how feet are planted.
    """

    follow: float = 1.0
    exact: bool = False
    plant: bool = True
    rollout: RolloutSettings = field(default_factory=RolloutSettings)
    planting: PlantSettings = field(default_factory=PlantSettings)


@dataclass(frozen=True)
class Synthesis:
    """Finished motion of one character, and what it is judged by.

    Attributes:
        clip: the motion on the model's skeleton, at its frame rate.
        followed: the motion on the plan but not yet planted: what another skeleton is retargeted from.
        plan: what it follows.
        planted: what planting did; None when feet were not planted.
        source: index into the system's data of each frame (frames,), -1 where it has none.
        jumps: frames at which the motion jumped.
    """

    clip: Clip
    followed: Clip
    plan: Plan
    planted: Planted | None
    source: npt.NDArray[np.int64]
    jumps: npt.NDArray[np.int64]


def synthesise(
    system: System | Performer,
    plans: Sequence[Plan],
    terrains: Sequence[Terrain] | None = None,
    settings: SynthesisSettings | None = None,
    progress: Progress | None = None,
) -> list[Synthesis]:
    """One finished motion a plan.

    Args:
        system: any locomotion system, or a gait model.
        plans: one a character, at the system's frame rate.
        terrains: one a character; level ground when None.
        settings: the dials.
        progress: told the share done; returns False to cancel.

    Raises:
        Cancelled: ``progress`` returned False.
    """
    settings = settings or SynthesisSettings()
    grounds = terrains if terrains is not None else [FlatGround()] * len(plans)
    share = None if progress is None else (lambda done: progress(0.7 * done))
    rolled = rollout(system, plans, settings.rollout, share, grounds)
    on_terrain = feels_ground(system)
    found = []
    for plan, ground, result in zip(plans, grounds, rolled, strict=True):
        followed = correct_path(result.clip, plan.root, settings.follow, settings.exact)
        if on_terrain:
            followed = carried_along(followed, result.clip.root, ground)
        if not isinstance(system, Performer):
            followed = settle(followed, standing_frames(plan.speed, plan.yaw, plan.fps) & (plan.action == 0))
        made_on = ground if on_terrain else None
        planted = plant_feet(followed, ground, settings.planting, made_on) if settings.plant else None
        clip = planted.clip if planted is not None else followed
        found.append(Synthesis(clip, followed, plan, planted, result.source, result.jumps))
    return found


def carried_along(clip: Clip, before: Array, ground: Terrain) -> Clip:
    """The clip at the height of the ground where its root is now; it was made where its root was ``before`` (f, 3)."""
    rise = np.asarray(ground.height(clip.root[:, :2]) - ground.height(before[:, :2]))
    if not np.any(rise):
        return clip
    return replace(clip, hips=clip.hips + lowpass(rise, clip.fps, _CLIMB_HZ)[:, None] * UP)


def _idle(plan: Plan) -> npt.NDArray[np.bool_]:
    """Frames (f,) in which the plan asks for nothing but to stand: who sits or lies down does so at full pace."""
    busy = [name not in ("sit", "lie", "jump") for name in plan.actions]
    return np.asarray(busy, dtype=np.bool_)[plan.action]
