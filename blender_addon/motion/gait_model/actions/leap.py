"""Jumps on the way: gathering, push-off, flight as a parabola over the plan's travel, landing, and on in step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...bridging import minimum_jerk
from ...limb_ik import Hinges, solve_chain
from ...plan import Plan
from ...rotations import Array
from ...runs import runs
from ...schedule import JUMP
from ...speed_profile import smoothed
from ..body import Body
from ..footholds import FootPaths
from ..padded_root import PaddedRoot
from ..settings import GaitSettings
from ..table import GRAVITY
from ..timing import Swing, Timing
from ..trunk import Girdles

#: A leap's label begins so many seconds before its mark and ends so many after: see `plan`.
_BEFORE, _AFTER = 0.35, 0.75
#: Slower than this (m/s for 0.6 m) nobody leaps; from this speed on flights are as long as they are drawn.
_SLOWEST, _FREE_SPEED = 0.2, 1.6
#: Seconds (0.6 m) of gathering before the hind feet leave the ground, and of absorbing after the fore feet are down.
_GATHER, _ABSORB = 0.36, 0.42
#: Hind feet stand so long before they push off, and fore feet, and feet that have landed; shorter at speed: no foot
#: stands over more than so many shoulder heights.
_STANDS, _STAND_WAY = (0.22, 0.16, 0.18), 0.75
#: When the fore feet leave before the hind feet, and when these land after the first fore foot, seconds (0.6 m).
_FORE_FIRST, _HIND_AFTER = 0.15, 0.13
#: Left and right of a pair leave and land so far apart, seconds (0.6 m).
_PAIR = 0.045
#: Height of the body's middle over standing at push-off and at landing, shoulder heights.
_PUSHED, _LANDED = 0.05, 0.0
#: No swing is shorter than this, and no stance beside a leap, seconds (0.6 m).
_QUICK, _SHORT = 0.15, 0.08
#: Stances longer than this share of the gait's are divided by a step.
_LONG = 1.35
#: Share of the way to its greatest fold that a leg gives in gathering and landing, less what slanting legs and a
#: pitched trunk need, shoulder heights; but at least the third number.
_FOLDED, _SPARE, _LEAST_ROOM = 0.95, 0.15, 0.05
#: What fades in and out of a leap does it within so many seconds (0.6 m).
_FADE = 0.12


@dataclass(frozen=True)
class Style:
    """One way to leap.

    Attributes:
        flight: seconds all feet are off the ground, for an animal of 0.6 m at speed.
        steep: how much higher the shoulders are than the hips at push-off, shoulder heights; landing takes most of it
            the other way.
        tuck: how far fore and hind feet are drawn up, shoulder heights.
        round: rounding of the back in gathering and landing, radians.
    """

    flight: float
    steep: float
    tuck: tuple[float, float]
    round: float


#: Low and long, middling, high.
STYLES: tuple[Style, ...] = (
    Style(0.26, 0.20, (0.16, 0.10), 0.22), Style(0.33, 0.28, (0.22, 0.14), 0.28), Style(0.41, 0.36, (0.28, 0.18), 0.34),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Leap:
    """One leap; times are frames of a course.

    Attributes:
        off: when the last hind foot leaves. flight: frames until the first fore foot lands.
        gather, lift, land: when each foot is set down before it, leaves, and lands (4,).
        style: how. unit: frames of a second for an animal of 0.6 m.
    """

    off: float
    flight: float
    gather: Array
    lift: Array
    land: Array
    style: Style
    unit: float

    @property
    def middle(self) -> float:
        """When it is highest."""
        return self.off + 0.5 * self.flight


class Leaps:
    """The leaps of a plan, and what they change of the gait model's steps on the way to a motion."""

    def __init__(self, plan: Plan, course: PaddedRoot, body: Body, settings: GaitSettings) -> None:
        self._course, self._body = course, body
        self._leaps = tuple(_leaps(plan, course, body, settings))
        self._rise, self._part = self._rises()

    def timed(self, timing: Timing) -> Timing:
        """The steps with the leaps' stances and flights among them."""
        legs = list(timing.swings)
        for leap in self._leaps:
            legs = [_spliced(swings, leap, leg, timing, self._course.fps) for leg, swings in enumerate(legs)]
        return replace(timing, swings=tuple(legs)) if self._leaps else timing

    def lifted(self, feet: FootPaths, timing: Timing) -> FootPaths:
        """The feet drawn up in flight; in place."""
        frames = np.arange(len(self._course), dtype=np.float64)
        for leap in self._leaps:
            peak = GRAVITY * (leap.flight / self._course.fps) ** 2 / 8.0
            for leg, swings in enumerate(timing.swings):
                swing = next((s for s in swings if s.lift < leap.middle < s.land), None)
                if swing is None:
                    continue
                part = (frames - swing.lift) / (swing.land - swing.lift)
                tuck = leap.style.tuck[0 if leg >= 2 else 1] * self._body.height
                top = 0.42 if leg >= 2 else 0.5
                bump = np.where(part < top, minimum_jerk(part / top), minimum_jerk((1.0 - part) / (1.0 - top)))
                feet.position[:, leg, 2] += (peak + tuck) * bump * ~feet.contact[:, leg]
        return feet

    def carried(self, girdles: Girdles) -> Girdles:
        """The trunk's way up and down, its pitch, and the back's rounding."""
        if not self._leaps:
            return girdles
        left = 1.0 - self._part
        middle, steep, flex = self._rise
        hind = _bounded(middle - 0.5 * steep, _room(self._body, 0))
        fore = _bounded(middle + 0.5 * steep, _room(self._body, 2))
        return replace(
            girdles, rise_hind=left * girdles.rise_hind + hind, rise_fore=left * girdles.rise_fore + fore,
            flex=left * girdles.flex + flex, roll_hind=left * girdles.roll_hind, roll_fore=left * girdles.roll_fore,
        )  # fmt: skip

    def _rises(self) -> tuple[Array, Array]:
        """Height of the middle, and of the shoulders over the hips, metres, rounding (3, f); the leap's part (f,)."""
        frames = np.arange(len(self._course), dtype=np.float64)
        found, part = np.zeros((3, len(frames))), np.zeros(len(frames))
        for leap in self._leaps:
            unit, height = leap.unit, self._body.height
            begin, end = leap.off - _GATHER * unit, leap.off + leap.flight + _ABSORB * unit
            fade = _FADE * unit
            part = np.maximum(part, minimum_jerk((frames - begin) / fade) * minimum_jerk((end - frames) / fade))
            found[0] += _height(frames, leap, height, self._course.fps)
            steep = leap.style.steep * height
            found[1] += _keyed(frames, self._course.fps, 0.09 * unit, (
                (begin, 0.0), (leap.off - 0.20 * unit, 0.02 * height), (leap.off - 0.02 * unit, steep),
                (leap.off + 0.15 * leap.flight, steep), (leap.off + 0.92 * leap.flight, -0.62 * steep),
                (leap.off + leap.flight + 0.10 * unit, -0.42 * steep), (end, 0.0),
            ))  # fmt: skip
            bend = leap.style.round
            found[2] += _keyed(frames, self._course.fps, 0.08 * unit, (
                (begin, 0.0), (leap.off - 0.14 * unit, bend), (leap.off + 0.03 * unit, -0.45 * bend),
                (leap.off + 0.5 * leap.flight, -0.1 * bend), (leap.off + leap.flight + 0.12 * unit, bend), (end, 0.0),
            ))  # fmt: skip
        return found, part


def _leaps(plan: Plan, course: PaddedRoot, body: Body, settings: GaitSettings) -> list[Leap]:
    if JUMP not in plan.actions:
        return []
    rng = np.random.default_rng([settings.seed, 7])
    root = float(np.sqrt(course.scale))
    unit = root * plan.fps
    found: list[Leap] = []
    for mark in _marks(plan):
        style = STYLES[int(rng.integers(len(STYLES)))]
        vary = rng.uniform(-1.0, 1.0, 3)
        at = int(np.clip(mark, 0, len(plan) - 1))
        speed = float(plan.speed[at])
        if speed < _SLOWEST * root:
            continue
        slow = float(np.clip(speed / (_FREE_SPEED * root), 0.0, 1.0))
        flight = style.flight * (0.6 + 0.4 * slow) * (1.0 + 0.08 * float(vary[0])) * unit
        off = mark + course.pad
        if found and off - found[-1].off < found[-1].flight + (_GATHER + _ABSORB) * unit:
            continue
        first = 1.0 if rng.uniform() < 0.5 else -1.0
        apart = 0.5 * _PAIR * unit * (1.0 + 0.4 * float(vary[1]))
        side = np.array([first, -first, -first, first])
        stands = np.minimum(_STANDS, _STAND_WAY * body.height / speed / root) * unit
        lift = off + np.array([0.0, 0.0, -_FORE_FIRST * unit, -_FORE_FIRST * unit]) + 0.6 * apart * (side - 1.0)
        land = off + flight + np.array([_HIND_AFTER, _HIND_AFTER, 0.0, 0.0]) * unit + apart * (side + 1.0)
        gather = lift - stands[[0, 0, 1, 1]]
        found.append(Leap(off, flight, gather, lift, land, style, unit))
    return found


def _marks(plan: Plan) -> list[float]:
    """Frames at which leaps are asked for."""
    out: list[float] = []
    for first, end in runs(np.array([name == JUMP for name in plan.actions])[plan.action]):
        begin = first + _BEFORE * plan.fps if first > 0 or end == len(plan) else end - _AFTER * plan.fps
        out.append(begin)
        if end - first > 2.0 * (_BEFORE + _AFTER) * plan.fps:
            out.append(end - _AFTER * plan.fps)
    return out


def _spliced(swings: Sequence[Swing], leap: Leap, leg: int, timing: Timing, fps: float) -> tuple[Swing, ...]:
    """One leg's swings with those of a leap in place of what they overlap."""
    gather, lift, land = float(leap.gather[leg]), float(leap.lift[leg]), float(leap.land[leg])
    quick, short = _QUICK * leap.unit, _SHORT * leap.unit
    before = [swing for swing in swings if swing.land <= lift - short]
    after = [swing for swing in swings if swing.lift >= land + short]
    dropped = [swing for swing in swings if swing not in before and swing not in after]
    approach: list[Swing] = []
    last = before[-1].land if before else -np.inf
    if abs(last - gather) < 0.8 * quick and before:
        own = before.pop()
        approach = [Swing(min(own.lift, gather - quick), gather)]
    elif gather - last > quick + short:
        begin = min([gather - quick, *(swing.lift for swing in dropped[:1])])
        approach = [Swing(max(begin, last + short), gather)]
    row = int(np.clip(land, 0, len(timing.duty) - 1))
    stance = float(timing.duty[row, leg] / max(float(timing.frequency[row]), 0.3)) * fps
    flown = max(float((1.0 - timing.duty[row, leg]) / max(float(timing.frequency[row]), 0.3)) * fps, quick)
    on: list[Swing] = []
    if after and after[0].lift - land > _LONG * stance:
        middle = land + 0.5 * (after[0].lift - land)
        start = max(middle - 0.5 * flown, land + short)
        on = [Swing(start, min(start + flown, after[0].lift - short))]
        on = [swing for swing in on if swing.land - swing.lift > 0.7 * quick]
    return (*before, *approach, Swing(lift, land), *on, *after)


def _room(body: Body, leg: int) -> float:
    """How far a girdle comes down before its standing leg is folded as far as it goes, metres."""
    limb = body.limbs[leg]
    points = limb.points(body.positions[None], body.rotations[None])
    hinges = limb.hinges(body.rotations[None])
    if limb.end >= 0:
        inner = len(limb.joints) - 2
        points, hinges = points[:, :-1], Hinges(hinges.axes[:, :inner], hinges.straight[:inner], hinges.share[:inner])
    nearest = solve_chain(points, points[:, 0] + 1e-6, hinges).end
    standing, folded = (float(np.linalg.norm(end[0] - points[0, 0])) for end in (points[:, -1], nearest))
    return max(_FOLDED * (standing - folded) - _SPARE * body.height, _LEAST_ROOM * body.height)


def _bounded(rise: Array, room: float) -> Array:
    """A rise (f,), metres, that comes no lower than ``room`` under standing."""
    return np.where(rise < 0.0, room * np.tanh(rise / room), rise)


def _height(frames: Array, leap: Leap, height: float, fps: float) -> Array:
    """Height (f,), metres, of the trunk's middle over standing: down, up, a parabola, down and up again."""
    seconds = leap.flight / fps
    begin, low = _PUSHED * height, _LANDED * height
    rise = (low - begin) / seconds + 0.5 * GRAVITY * seconds
    time = (frames - leap.off) / fps
    out = np.where((time >= 0.0) & (time <= seconds), begin + rise * time - 0.5 * GRAVITY * time**2, 0.0)
    unit = leap.unit / fps
    gathering, absorbing = _GATHER * unit, _ABSORB * unit
    ahead = _quintic((time + gathering) / gathering, gathering, begin, rise, -GRAVITY)
    behind = _quintic((seconds + absorbing - time) / absorbing, absorbing, low, GRAVITY * seconds - rise, -GRAVITY)
    out = np.where((time < 0.0) & (time > -gathering), ahead, out)
    return np.where((time > seconds) & (time < seconds + absorbing), behind, out)


def _quintic(x: Array, lasts: float, end: float, speed: float, pull: float) -> Array:
    """From rest at 0 to a height, speed and acceleration at x = 1, after so many seconds: continuous in all three."""
    p, v, a = end, speed * lasts, pull * lasts * lasts
    c3, c4, c5 = 10.0 * p - 4.0 * v + 0.5 * a, -15.0 * p + 7.0 * v - a, 6.0 * p - 3.0 * v + 0.5 * a
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x**3 * (c3 + x * (c4 + x * c5)))


def _keyed(frames: Array, fps: float, blur: float, keys: Sequence[tuple[float, float]]) -> Array:
    """A track (f,) through keys (frame, value), rounded over ``blur`` frames to each side."""
    times, values = zip(*keys, strict=True)
    plain = np.interp(frames, times, values)
    return smoothed(plain, blur / fps, fps)
