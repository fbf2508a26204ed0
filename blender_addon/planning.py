"""The plan of a bake: what lies on the way, then root, facing, speed and action at every frame."""

from __future__ import annotations

from .bake_settings import BakeSettings
from .motion.likeness import Likeness
from .motion.plan import Plan, make_plan
from .motion.way_ahead import WayAhead, as_planned, way_ahead
from .scene.shot import Shot
from .systems.protocol import Performer, System, abilities_of


def plan_shot(
    shot: Shot, system: System | Performer, settings: BakeSettings, speeds: tuple[float, float], like: Likeness
) -> tuple[Plan, WayAhead]:
    """The way of a shot as a model can go it, and the character's plan along it.

    Args:
        shot: the character, its way and its ground. system: what moves. settings: what is asked.
        speeds: slowest and fastest that the model covers, m/s. like: the model's size for the character's.

    Raises:
        PathError: what cannot be planned.
        TerrainError: a ditch or hole too large to walk over, over which nobody leaps.
    """
    ahead = way_ahead(
        shot.path, shot.ground, settings.schedule, system.actions, abilities_of(system), 1.0 / like.length,
        shot.overhead, settings.start,
    )  # fmt: skip
    plan = make_plan(
        shot.path, ahead.schedule, limits=settings.limits, facing=settings.facing, fps=system.fps,
        start=settings.start, speeds=(speeds[0] / like.speed, speeds[1] / like.speed), laps=settings.laps,
        leap=ahead.leap, crouching=ahead.crouching,
    )  # fmt: skip
    return plan, as_planned(ahead, shot.path, shot.ground, plan)
