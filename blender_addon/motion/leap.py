"""Leaps in a plan: the run-up, and the time that a body gains in the air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .abilities import Leap
from .facing import Turn
from .filters import lowpass
from .rotations import Array, wrap_angle
from .schedule import STAND, Stretch

#: The root speeds up and slows down again over so many seconds before and after the middle of a flight (captured leaps:
#: 0.6 to 0.7), as a raised cosine.
SURGE = 0.65
#: A leap's label begins so long before take-off and ends so long after landing, seconds: as gaits are labelled.
GATHER, LAND = 0.3, 0.3
#: The way at the leap's own speed before take-off and after landing, metres; over `_EASE` metres it is taken up.
_RUN_UP, _RUN_OUT, _EASE = 1.8, 0.8, 0.5
#: What a curve wiggles quicker than this, Hz, is no bend to a body.
_WIGGLE_HZ = 1.5
#: Time is counted this finely, seconds.
_TICK = 1e-3
#: A leap that changes the speed by more than this, m/s, is spoken of.
_NOTED = 0.3
#: A leap round more than this, or so far aside of where the body faces, is spoken of, radians.
_BEND = np.radians(30.0)
#: A leap cannot begin nearer than this to the way's start, nor land nearer to its end, metres.
_LEAST_RUN_UP = 0.5


@dataclass(frozen=True)
class Flight:
    """One leap of a plan.

    Attributes:
        middle: distance walked in its middle, metres. seconds: in the air. speed: of the root meanwhile, m/s.
    """

    middle: float
    seconds: float
    speed: float


@dataclass(frozen=True)
class Clock:
    """Time that passes quicker in leaps: what an even plan does at one time happens at another.

    Attributes:
        own: times (n,) of the plan with its leaps, seconds, ascending. even: the even plan's times there (n,).
        flights: take-off and landing of each leap in the plan's own time, seconds.
    """

    own: Array
    even: Array
    flights: tuple[tuple[float, float], ...] = ()

    @property
    def gained(self) -> float:
        """Seconds by which the plan is shorter than the even one."""
        return float(self.even[-1] - self.own[-1])

    def even_at(self, own: Array) -> Array:
        """Times of the even plan at times of the plan with its leaps (m,)."""
        return np.asarray(self._mapped(own, self.own, self.even))

    def own_at(self, even: Array) -> Array:
        """The inverse of `even_at`."""
        return np.asarray(self._mapped(even, self.even, self.own))

    def turn(self, turn: Turn, later: float) -> Turn:
        """A turn of the even plan in the plan's own time, counted from ``later`` seconds before its beginning."""
        start, end = self.own_at(np.array([turn.start, turn.end])) + later
        return Turn(float(start), float(end), turn.angle)

    @staticmethod
    def _mapped(time: Array, known: Array, values: Array) -> Array:
        inside = np.interp(time, known, values)
        return inside + np.minimum(time - known[0], 0.0) + np.maximum(time - known[-1], 0.0)


def clock_of(middles: Sequence[float], flights: Sequence[Flight], speeds: Sequence[float]) -> Clock:
    """The clock of a plan.

    Args:
        middles: when the even plan is in the middle of each flight, seconds, ascending.
        flights: they. speeds: of the even plan there, m/s.
    """
    if not flights:
        return Clock(np.zeros(1), np.zeros(1))
    gains = np.array([_peak(flight, speed) / speed - 1.0 for flight, speed in zip(flights, speeds, strict=True)])
    # A surge gains its share of its half width; half of that by its middle.
    gained = np.cumsum(gains * SURGE)
    own_middles = np.asarray(middles) - gained + 0.5 * gains * SURGE
    own = np.arange(own_middles[0] - SURGE, own_middles[-1] + SURGE + _TICK, _TICK)
    rate = 1.0 + np.sum(gains[:, None] * _surge(own - own_middles[:, None]), axis=0)
    passed = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * _TICK)])
    half = np.array([0.5 * flight.seconds for flight in flights])
    spans = zip((own_middles - half).tolist(), (own_middles + half).tolist(), strict=True)
    return Clock(own, own[0] + passed, tuple(spans))


def flight_of(stretch: Stretch, leap: Leap) -> Flight:
    """The flight of a stretch that begins where the root takes off; as wide as it says, or as is usual."""
    speed = leap.flight_speed if stretch.reach is None else leap.speed_for(stretch.reach)
    return Flight(stretch.at + 0.5 * leap.flight * speed, leap.flight, speed)


def with_run_ups(
    stretches: Sequence[Stretch], leap: Leap | None, whole: float
) -> tuple[tuple[Stretch, ...], tuple[str, ...]]:
    """Stretches with a run-up to every leap, at the speed from which the model leaps; and what could not be.

    Args:
        stretches: by distance walked. leap: how the model leaps; None: nothing changes.
        whole: the way's length, metres.

    Jumps are told by where the animator set them, which laps have in common.
    """
    if leap is None or not any(stretch.jump for stretch in stretches):
        return tuple(stretches), ()
    plain = [stretch for stretch in stretches if not stretch.jump]
    leaps: list[Stretch] = []
    notes: list[str] = []
    free = _LEAST_RUN_UP
    for jump in (stretch for stretch in stretches if stretch.jump):
        lands = 2.0 * flight_of(jump, leap).middle - jump.at
        first, last = max(jump.at - _RUN_UP, 0.0), lands + _RUN_OUT
        inside = [stretch for stretch in plain if first < stretch.at < last]
        why = ""
        if jump.at < free or lands > whole - _LEAST_RUN_UP:
            why = "too near to an end of the way or to the jump before it"
        elif any(stretch.pause > 0.0 for stretch in inside):
            why = "too near to a place where the character stands"
        if why:
            notes.append(f"The jump at {jump.set_at:.2f} m is left out: it is {why}")
            continue
        after = [stretch for stretch in plain if stretch.at < last][-1]
        if abs(jump.speed - leap.speed) > _NOTED:
            notes.append(f"The jump at {jump.set_at:.2f} m is taken at {leap.speed:.2f} m/s, as it was learned")
        run = replace(after, at=first, speed=leap.speed, pause=0.0, ease=_EASE, rest=STAND, action="walk")
        plain = [stretch for stretch in plain if stretch not in inside]
        plain += [run, replace(after, at=last, pause=0.0, ease=_EASE, rest=STAND)]
        plain.sort(key=lambda stretch: stretch.at)
        leaps.append(replace(run, at=jump.at, ease=0.0, jump=True, reach=jump.reach, set_at=jump.set_at))
        free = last
    return tuple(sorted([*plain, *leaps], key=lambda stretch: stretch.at)), tuple(dict.fromkeys(notes))


def odd_leaps(
    leaps: Sequence[float], stretches: Sequence[Stretch], fps: float, yaw: Array, way: Array
) -> tuple[str, ...]:
    """Words about leaps of a plan that are not straight ahead, as leaps are learned.

    Args:
        leaps: when they take off, seconds. stretches: theirs, among others, in the same order. fps: of the plan.
        yaw: where the body faces (f,), radians. way: where the curve leads (f,), radians.
    """
    if not leaps:
        return ()
    notes = []
    way = lowpass(np.unwrap(way), fps, _WIGGLE_HZ)
    for take_off, jump in zip(leaps, (stretch for stretch in stretches if stretch.jump), strict=True):
        near = slice(max(round((take_off - GATHER) * fps), 0), round((take_off + SURGE) * fps) + 1)
        bend = float(np.ptp(way[near]))
        aside = float(np.abs(wrap_angle(yaw[near] - way[near])).max())
        where = f"The jump at {jump.set_at:.2f} m"
        if bend > _BEND:
            notes.append(f"{where} goes round a bend of {np.degrees(bend):.0f} degrees, and jumps are learned straight "
                         "ahead: lead the curve straight on there")  # fmt: skip
        elif aside > _BEND:
            notes.append(f"{where} goes {np.degrees(aside):.0f} degrees aside of where the body faces, and jumps are "
                         "learned straight ahead: let it face along the path there")  # fmt: skip
    return tuple(dict.fromkeys(notes))


def _surge(away: Array) -> Array:
    """Raised cosine of times from the middle of a flight, 1 there."""
    return np.asarray(np.where(np.abs(away) < SURGE, 0.5 + 0.5 * np.cos(np.pi * away / SURGE), 0.0))


def _peak(flight: Flight, speed: float) -> float:
    """The greatest speed of a surge from ``speed``, m/s, whose mean in the air is the flight's."""
    angle = 0.5 * np.pi * flight.seconds / SURGE
    mean = 0.5 + 0.5 * np.sin(angle) / angle
    return float(speed + (flight.speed - speed) / mean)
