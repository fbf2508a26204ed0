"""What lies on a path, before the plan: gaps, low ceilings, slopes beyond the model, gaits that it has not learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .abilities import Abilities, Leap
from .ceiling import Overhead, crouching_along
from .crouching import Crouching
from .dataset import ACTIONS
from .gait_names import absent_notes
from .gaps import Gap, bridged, gaps_along, over_gaps, refuse_large, walked_over
from .path import RootPath
from .plan import Plan
from .rotations import Array
from .schedule import Schedule
from .terrain import Terrain

#: A slope is that between places so far apart on the way, metres, the body in their middle: as it is learned.
SPAN = 0.6
#: The path is looked at this finely, metres.
_FINE = 0.02


@dataclass(frozen=True)
class WayAhead:
    """A way as a model can go it.

    Attributes:
        schedule: with jumps where they clear gaps. ground: gaps that are leapt over bridged.
        leap: how the model leaps, in the path's metres. notes: what cannot be done as asked, in words.
        crouching: how low it goes, and where.
        leapt: the gaps that a mark asks to leap over.
    """

    schedule: Schedule
    ground: Terrain
    leap: Leap | None = None
    notes: tuple[str, ...] = ()
    crouching: Crouching = Crouching()
    leapt: tuple[Gap, ...] = ()


def way_ahead(
    path: RootPath, ground: Terrain, schedule: Schedule, actions: Sequence[str], abilities: Abilities, size: float,
    overhead: Overhead | None = None, start: float = 0.0,
) -> WayAhead:  # fmt: skip
    """Look along a path.

    Args:
        path: the curve. ground: under it. schedule: what is asked.
        actions: what the model knows by name; empty when it tells walk from run by speed.
        abilities: what it can do besides. size: metres of the path for each of the model's.
        overhead: the ceiling; None under the open sky. start: where on the path the walk begins, metres.

    Raises:
        TerrainError: a ditch or hole too large to walk over, over which nobody leaps.
    """
    crouch = abilities.crouch.sized(size) if abilities.crouch is not None else None
    crouching, low = crouching_along(overhead, ground, crouch, start)
    told = (*absent_notes(schedule, actions or ACTIONS), *low)
    schedule, left_out = crouching.without_jumps(schedule)
    told = (*told, *left_out)
    leap = abilities.leap.sized(size) if abilities.leap is not None else None
    gaps = [gap for gap in gaps_along(path, ground) if path.cyclic or gap.last > start]
    schedule, leapt, notes = over_gaps(schedule, gaps, leap, _lap(path))
    ground = bridged(ground, path, leapt)
    return WayAhead(schedule, ground, leap, (*told, *notes, *_too_steep(path, ground, abilities)), crouching, leapt)


def as_planned(ahead: WayAhead, path: RootPath, ground: Terrain, plan: Plan) -> WayAhead:
    """The way with only those gaps bridged that the plan leaps over, some leaps being left out in it.

    Args:
        ahead: the way. path: the curve. ground: under it, as it is. plan: along it.

    Raises:
        TerrainError: a gap that is left is too large to walk over.
    """
    missed = walked_over(ahead.leapt, plan, ahead.leap, _lap(path)) if ahead.leap is not None else ()
    if not missed:
        return ahead
    refuse_large(
        missed, "There is no way to run up to a jump over it, or to land: lead the curve on, move its beginning, other "
        "jumps and stands away from there, or fill it"
    )  # fmt: skip
    kept = tuple(gap for gap in ahead.leapt if gap not in missed)
    told = tuple(f"The gap at {gap.first:.2f} m is walked over, for the jump over it is left out" for gap in missed)
    return replace(ahead, ground=bridged(ground, path, kept), leapt=kept, notes=(*ahead.notes, *told))


def _lap(path: RootPath) -> float:
    """Length of a closed path, metres; infinite of an open one."""
    return path.length if path.cyclic else np.inf


def slopes(heights: Array, step: float) -> Array:
    """Slopes (n,), metres a metre, over `SPAN` metres, of heights (m,) ``step`` metres apart; n < m."""
    apart = max(int(round(SPAN / step)), 1)
    return np.asarray((heights[apart:] - heights[:-apart]) / (apart * step))


def _too_steep(path: RootPath, ground: Terrain, abilities: Abilities) -> tuple[str, ...]:
    """Words about a slope beyond the steepest that was learned."""
    if abilities.steepest is None or path.length <= SPAN:
        return ()
    along = np.arange(0.0, path.length, _FINE)
    found = np.abs(slopes(np.asarray(ground.height(path.position(along))), _FINE))
    worst = int(np.argmax(found))
    if found[worst] <= abilities.steepest * 1.05:
        return ()
    asked, known = (np.degrees(np.arctan(slope)) for slope in (found[worst], abilities.steepest))
    return (
        f"The terrain is {asked:.0f} degrees steep at {along[worst] + 0.5 * SPAN:.2f} m, and this pack has learned no "
        f"more than {known:.0f} degrees: the body moves as on these, and the feet are set down on the slope",
    )
