"""When an animal goes down, rests and gets up again, and how quantities ease from key to key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...bridging import minimum_jerk
from ...plan import Plan
from ...rotations import Array
from ...runs import runs
from ...schedule import RESTS

#: A rest is left out that leaves less than this share of the time it takes to go down, or to get up.
_LEAST = 0.4
#: A rest that begins within so many seconds of the plan's beginning has begun before.
_BEGUN = 0.05
#: Slower than this, m/s and rad/s, a root stands.
_STILL, _STILL_TURN = 0.03, 0.05


@dataclass(frozen=True)
class Rest:
    """One rest: frames from ``first`` on the body goes down for ``down`` frames, from ``rise`` on up for ``up``.

    Attributes:
        name: ``sit`` or ``lie``.
        first: may lie before the plan: it then begins lying down already.
        down: frames it takes.
        rise: frame from which on it gets up; -1 if it stays.
        up: frames it takes.
        last: one past the last frame of it in the plan.
    """

    name: str
    first: int
    down: float
    rise: int
    up: float
    last: int


def rests_of(plan: Plan) -> tuple[Rest, ...]:
    """The rests of a plan, in order; those for which there is no time are left out."""
    turning = np.abs(plan.yaw_rate) > _STILL_TURN
    still = (plan.speed < _STILL) & ~turning
    found: list[Rest] = []
    labels = np.array([name if name in ("sit", "lie") else "" for name in plan.actions])[plan.action]
    for name in ("sit", "lie"):
        for first, end in runs(labels == name):
            down, up = (seconds * plan.fps for seconds in RESTS[name])
            begun = first <= _BEGUN * plan.fps
            room = len(plan)
            for later in range(end, len(plan)):
                if not still[later]:
                    room = later
                    break
            if not begun:
                down = min(down, float(end - first))
            rising = end < len(plan)
            if down < _LEAST * RESTS[name][0] * plan.fps or (rising and room - end < _LEAST * up):
                continue
            up = min(up, float(room - end))
            last = min(int(np.ceil(end + up)), len(plan)) if rising else len(plan)
            start = first - int(np.ceil(down)) - 1 if begun else first
            found.append(Rest(name, start, down, end if rising else -1, up, last))
    return _apart(sorted(found, key=lambda rest: rest.first))


def _apart(found: list[Rest]) -> tuple[Rest, ...]:
    """Rests one after the other: what begins before the one before has ended waits, or is left out."""
    out: list[Rest] = []
    for rest in found:
        if out and rest.first < out[-1].last:
            late = out[-1].last
            if rest.rise >= 0 and late + rest.down > rest.rise:
                continue
            rest = Rest(rest.name, late, rest.down, rest.rise, rest.up, rest.last)
        out.append(rest)
    return tuple(out)


@dataclass(frozen=True)
class Clock:
    """Time within a rest: shares of going down and of getting up at each of its frames (f,).

    Attributes:
        down: 0 before, 1 when down. up: 0 while down, 1 when up.
    """

    down: Array
    up: Array

    @classmethod
    def of(cls, rest: Rest, frames: Array) -> Clock:
        """At frames (f,) of the plan."""
        rising = np.zeros(len(frames)) if rest.rise < 0 else (frames - rest.rise) / rest.up
        return cls(np.clip((frames - rest.first) / rest.down, 0.0, 1.0), np.clip(rising, 0.0, 1.0))

    def ease(self, down: tuple[float, float], up: tuple[float, float]) -> Array:
        """A weight (f,) that goes to 1 between two shares of the way down and back to 0 between two of the way up."""
        return minimum_jerk((self.down - down[0]) / (down[1] - down[0])) * (
            1.0 - minimum_jerk((self.up - up[0]) / (up[1] - up[0]))
        )
