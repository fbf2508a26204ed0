"""Gaps in the ground under a path: found, leapt over where the schedule says so, bridged for the body in the air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .abilities import Leap
from .errors import TerrainError
from .path import RootPath
from .plan import Plan
from .rotations import Array
from .runs import runs
from .schedule import JUMP, Mark, Schedule
from .terrain import LONGEST_HOLE, WALL, WIDEST_DIP, HeightField, Terrain, without_dips

#: A dip this deep under both its rims is a gap, if it is no wider than `terrain.WIDEST_DIP`, metres.
DEEP = 0.25
#: Its rims are where the ground is so far down; so near to them it is as deep as that, metres.
_EDGE, _SIDE = 0.05, 0.3
#: A mark to jump means a gap that begins or ends no further from it than this, metres.
_MEANT = 1.2
#: Feet keep this far from a gap's rims, metres; so narrow are gaps that are not worth a leap.
RIM, _NARROW = 0.15, 0.1
#: The path is looked at this finely, metres.
_FINE = 0.02


@dataclass(frozen=True)
class Gap:
    """A stretch of the path without ground, or with ground far below: distances along the path, metres.

    Attributes:
        first, last: its rims.
        depth: how far down its ground is, metres; infinite without any.
    """

    first: float
    last: float
    depth: float = np.inf

    @property
    def width(self) -> float:
        """From rim to rim, metres."""
        return self.last - self.first

    @property
    def middle(self) -> float:
        """Half way, metres."""
        return 0.5 * (self.first + self.last)


def gaps_along(path: RootPath, ground: Terrain) -> list[Gap]:
    """The gaps under a path: holes, and ditches deeper than `DEEP`, narrower than `WIDEST_DIP`, with steep sides.

    One over the beginning of a closed path ends behind its length.
    """
    beyond = WIDEST_DIP if path.cyclic else 0.0
    along = np.arange(-beyond, path.length + beyond + 0.5 * _FINE, _FINE)
    places = path.position(along)
    heights = np.asarray(ground.height(places))
    missing = ~ground.has_ground(places)
    depth = np.where(missing, np.inf, without_dips(heights, _FINE) - heights)
    found = []
    for first, end in runs(depth > _EDGE):
        inside = depth[first:end]
        steep = all(np.any(side[: round(_SIDE / _FINE)] > DEEP) for side in (inside, inside[::-1]))
        whole = first > 0 and end < len(along) and steep and (end - first) * _FINE > _NARROW
        # Round a closed path every gap comes again: it is the one that begins in this lap.
        if whole and not (path.cyclic and not 0.0 <= along[first - 1] < path.length):
            found.append(Gap(float(along[first - 1]), float(along[end]), float(inside.max())))
    return found


def over_gaps(
    schedule: Schedule, gaps: Sequence[Gap], leap: Leap | None, lap: float = np.inf
) -> tuple[Schedule, tuple[Gap, ...], tuple[str, ...]]:
    """Jumps where they clear the gaps near them.

    Args:
        schedule: what is asked. gaps: on the path. leap: how the model leaps; None if it cannot.
        lap: length of a closed path, metres; infinite of an open one.

    Returns:
        the schedule, the gaps that are leapt over, and words about those that are not, or are too wide.

    Raises:
        TerrainError: a ditch too deep to step out of, or a hole too long to cross, over which nobody leaps.
    """
    if leap is None:
        refuse_large(gaps, "Fill it, lead the curve around it, or choose a pack that jumps")
        return schedule, (), ()
    marks: list[Mark] = []
    leapt: list[Gap] = []
    notes: list[str] = []
    meant = _meant(schedule.marks, gaps, lap)
    for number, mark in enumerate(schedule.marks):
        gap = meant.get(number)
        if gap is None:
            marks.append(mark)
            continue
        reach = min(max(gap.width + 2.0 * RIM, leap.nearest), leap.furthest)
        if gap.width > leap.furthest:
            notes.append(
                f"The gap at {gap.first:.2f} m is {gap.width:.2f} m wide, and the furthest jump of this pack "
                f"{leap.furthest:.2f} m: it lands too short. Make the gap narrower"
            )
        # The feet to both sides of the gap: half way between them the root is in the middle of its flight.
        take_off = gap.middle - 0.5 * (leap.ahead - leap.behind + leap.flight * leap.speed_for(reach))
        at = max(take_off, 0.0) if lap == np.inf else take_off % lap
        marks.append(replace(mark, at=at, reach=reach, set_at=mark.at))
        leapt.append(gap)
    others = [gap for gap in gaps if gap not in leapt]
    refuse_large(others, 'Set a "jump" mark there, fill it, or lead the curve around it')
    notes += [
        f'The path crosses a gap of {gap.width:.2f} m at {gap.first:.2f} m: set a "jump" mark there to jump over it'
        for gap in others
    ]  # fmt: skip
    return Schedule(marks), tuple(leapt), tuple(notes)


def walked_over(gaps: Sequence[Gap], plan: Plan, leap: Leap, lap: float = np.inf) -> tuple[Gap, ...]:
    """Those of the gaps that a plan goes over without a leap, once at least.

    Args:
        gaps: on the path. plan: along it. leap: how the model leaps. lap: as in `over_gaps`.
    """
    take_offs = np.interp(plan.leaps, np.arange(len(plan)) / plan.fps, plan.distance)
    begin, end = float(plan.distance[0]), float(plan.distance[-1])
    laps = [0.0] if lap == np.inf else [number * lap for number in range(-1, int(end // lap) + 1)]

    def missed(gap: Gap, later: float) -> bool:
        crossed = gap.last + later > begin and gap.first + later < end
        before = gap.middle + later - take_offs
        return crossed and not np.any((before > 0.0) & (before < leap.furthest))

    return tuple(gap for gap in gaps if any(missed(gap, later) for later in laps))


def refuse_large(gaps: Sequence[Gap], remedy: str) -> None:
    """Raise `TerrainError`, with a remedy, at a gap too large to walk over."""
    for gap in gaps:
        if gap.depth == np.inf and gap.width > LONGEST_HOLE:
            raise TerrainError(
                f"The path runs {gap.width:.1f} m over a hole in the terrain, from {gap.first:.2f} m on", remedy
            )
        if WALL < gap.depth < np.inf:
            raise TerrainError(
                f"A ditch {gap.width:.2f} m wide and {gap.depth:.2f} m deep lies across the path at {gap.first:.2f} m",
                remedy,
            )


def bridged(ground: Terrain, path: RootPath, gaps: Sequence[Gap]) -> Terrain:
    """The ground as a body feels it that leaps: dips and holes between these gaps' rims are bridged straight."""
    if not gaps or not isinstance(ground, HeightField):
        return ground
    heights = ground.heights.copy()
    nx, ny = heights.shape
    for gap in gaps:
        line = path.position(np.arange(gap.first, gap.last + _FINE, _FINE))
        rims = path.position(np.array([gap.first - 2.0 * _FINE, gap.last + 2.0 * _FINE]))
        levels = np.asarray(ground.height(rims))
        reach = gap.width + WIDEST_DIP
        low = np.maximum(np.floor((line.min(axis=0) - reach - ground.origin) / ground.cell).astype(int), 0)
        high = np.minimum(np.ceil((line.max(axis=0) + reach - ground.origin) / ground.cell).astype(int) + 1, (nx, ny))
        window = (slice(low[0], high[0]), slice(low[1], high[1]))
        grid = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(low, high, strict=True)), indexing="ij"), axis=-1)
        share = _between(rims, ground.origin + ground.cell * grid)
        bridge = levels[0] + np.clip(share, 0.0, 1.0) * (levels[1] - levels[0])
        here = heights[window]
        dip = (share > 0.0) & (share < 1.0) & ~(here > bridge - 0.5 * DEEP)
        heights[window] = np.where(dip, bridge, here)
    return HeightField(ground.origin, ground.cell, heights)


def _between(rims: Array, at: Array) -> Array:
    """How far from one rim to the other points (...) lie, 0 to 1, as seen along the path; rims (2, 2)."""
    across = rims[1] - rims[0]
    return np.asarray((at - rims[0]) @ across / max(float(across @ across), 1e-12))


def _meant(marks: Sequence[Mark], gaps: Sequence[Gap], lap: float) -> dict[int, Gap]:
    """The gap that a mark to jump means, by the mark's number: of a gap's marks the nearest, if it is near."""
    found: dict[int, Gap] = {}
    for gap in gaps:
        away = {
            number: min(max(gap.first - at, at - gap.last, 0.0) for at in ([mark.at] if lap == np.inf else
                                                                           [mark.at, mark.at + lap]))
            for number, mark in enumerate(marks) if mark.action == JUMP and number not in found
        }  # fmt: skip
        nearest = min(away, key=lambda number: away[number], default=None)
        if nearest is not None and away[nearest] <= _MEANT:
            found[nearest] = gap
    return found
