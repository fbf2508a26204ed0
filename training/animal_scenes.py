"""Random ways and schedules for four legs, by kind: what the shipped animal's data set is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from blender_addon.motion.limits import Limits
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import JUMP, RESTS, Mark, Schedule

#: Distance between points on bends, metres for an animal of 0.6 m, as are all lengths and speeds here.
_STEP = 0.06
_HEIGHT = 0.6
#: Slowest and fastest of anything, m/s.
_SPEEDS = (0.25, 7.4)
#: Slowest and fastest speed of each gait, m/s: within those of the table.
_OF_GAIT = {"walk": (0.3, 1.9), "pace": (1.1, 3.4), "trot": (1.25, 3.8), "canter": (2.75, 4.75), "gallop": (3.1, 7.2)}
#: Seconds that a clip lasts about.
_LASTS = (16.0, 32.0)
#: A mark so far (metres) behind one that rests is not taken for the same place.
_AFTER_REST = 0.05
#: The narrowest bend, metres.
_TIGHTEST = 0.5


@dataclass
class Draw:
    """What scenes are drawn with.

    Attributes:
        rng: of all that is drawn. height: of the animal's withers, metres. fps: of plans.
    """

    rng: np.random.Generator
    height: float
    fps: float = 60.0
    _evenly: float = -1.0

    def evenly(self, low: float, high: float) -> float:
        """Numbers that fill the space between two evenly, one after the other: multiples of the golden section."""
        start = float(self.rng.uniform()) if self._evenly < 0.0 else self._evenly
        self._evenly = (start + 0.6180339887) % 1.0
        return low + self._evenly * (high - low)

    @property
    def length(self) -> float:
        """Lengths for an animal of 0.6 m times this are those of the animal."""
        return self.height / _HEIGHT

    @property
    def speed(self) -> float:
        """The same for speeds."""
        return float(np.sqrt(self.length))

    def between(self, low: float, high: float) -> float:
        """A number between two."""
        return float(self.rng.uniform(low, high))

    def one_of(self, *names: str) -> str:
        """One of some names."""
        return names[int(self.rng.integers(len(names)))]

    def way_or_other(self) -> float:
        """1 or -1."""
        return 1.0 if self.rng.uniform() < 0.5 else -1.0

    def gait_speed(self, gait: str) -> float:
        """A speed (m/s, of 0.6 m) at which a gait is made; "auto" goes at any, slow ones more often."""
        if gait == "auto":
            return float(np.exp(self.evenly(np.log(0.3), np.log(_SPEEDS[1]))))
        return self.evenly(*_OF_GAIT[gait])


@dataclass
class Drawing:
    """A curve being drawn, from the origin along -Y; lengths in metres for an animal of 0.6 m.

    Attributes:
        points: so far. heading: radians, 0 along -Y, to the left positive. length: so far.
    """

    points: list[Array] = field(default_factory=lambda: [np.zeros(2)])
    heading: float = 0.0
    length: float = 0.0

    def line(self, length: float) -> Drawing:
        """Straight on."""
        return self.bend(length, 0.0, steps=1)

    def turn(self, degrees: float) -> Drawing:
        """A corner, to the left positive."""
        self.heading += float(np.radians(degrees))
        return self

    def bend(self, length: float, curvature: float, steps: int = 0) -> Drawing:
        """A piece of one curvature, 1/m, to the left positive."""
        count = steps or max(int(np.ceil(length / _STEP)), 1)
        return self.along(length, np.full(count, curvature))

    def along(self, length: float, curvature: Array) -> Drawing:
        """A piece whose curvature (n,), 1/m, changes along it."""
        step = length / len(curvature)
        for bend in curvature:
            middle = self.heading + 0.5 * float(bend) * step
            self.points.append(self.points[-1] + step * np.array([np.sin(middle), -np.cos(middle)]))
            self.heading += float(bend) * step
        self.length += length
        return self

    def wander(self, draw: Draw, length: float, speed: float) -> Drawing:
        """A way that bends this way and that, as much as fits a speed, m/s, with straights between."""
        most = min(0.8 / _TIGHTEST, 2.4 / max(speed, 0.3) ** 2)
        rest = length
        while rest > 0.0:
            piece = min(draw.between(0.8, 2.4) * max(speed, 0.6) + 0.6, rest)
            curve = 0.0 if draw.rng.uniform() < 0.3 else draw.way_or_other() * most * draw.between(0.05, 1.0)
            count = max(int(np.ceil(piece / _STEP)), 2)
            self.along(piece, curve * np.sin(np.pi * (np.arange(count) + 0.5) / count) ** 2 * 1.3)
            rest -= piece
        return self


@dataclass(frozen=True)
class Kind:
    """One kind of scene.

    Attributes:
        name: a tag of its clips. share: of all motion, in any unit. make: draws a plan.
    """

    name: str
    share: float
    make: Callable[[Draw], Plan]


def planned(draw: Draw, way: Drawing, marks: list[Mark], *, before: float = 0.0, after: float = 0.0) -> Plan:
    """The plan along a drawn way, everything brought to the animal's size.

    Args:
        draw: for its size, and to draw how brisk it is.
        way: of an animal of 0.6 m, as are the marks.
        marks: what it does.
        before, after: seconds of standing at both ends, more or less at random if 0.
    """
    path = RootPath.from_points(np.array(way.points) * draw.length)
    sized = [
        Mark(mark.at * draw.length, None if mark.speed is None else mark.speed * draw.speed, mark.action, mark.pause,
             mark.ease * draw.length) for mark in marks
    ]  # fmt: skip
    brisk = Limits.responsive(draw.between(0.0, 1.0), four_legged=True)
    limits = Limits(**{
        **vars(brisk), "rounding": brisk.rounding * draw.between(0.5, 3.0),
        "stand_before": before or draw.between(0.3, 1.2), "stand_after": after or draw.between(1.2, 3.0),
    })  # fmt: skip
    top = (_SPEEDS[0] * draw.speed, _SPEEDS[1] * draw.speed)
    return make_plan(path, Schedule(sized), limits=limits, fps=draw.fps, speeds=top)


def steady(gait: str) -> Callable[[Draw], Plan]:
    """One gait on a winding way, its speed changed now and then."""

    def make(draw: Draw) -> Plan:
        seconds, marks, way = draw.between(*_LASTS), [], Drawing()
        while seconds > 0.0:
            speed, lasts = draw.gait_speed(gait), draw.between(4.0, 9.0)
            marks.append(Mark(way.length, speed, gait, ease=draw.between(0.2, 1.0) * speed))
            way.wander(draw, lasts * speed, speed)
            seconds -= lasts
        return planned(draw, way, marks)

    return make


def changing(draw: Draw) -> Plan:
    """From gait to gait, also over several at once."""
    seconds, marks, way = draw.between(*_LASTS), [], Drawing()
    while seconds > 0.0:
        gait = draw.one_of("walk", "walk", "pace", "trot", "canter", "gallop")
        speed, lasts = draw.gait_speed(gait), draw.between(3.0, 6.0)
        marks.append(Mark(way.length, speed, gait, ease=draw.between(0.2, 1.5) * speed))
        way.wander(draw, lasts * speed, speed)
        seconds -= lasts
    return planned(draw, way, marks)


def swap(draw: Draw) -> Plan:
    """One gait for another at about the same speed, there and back."""
    pairs = (("pace", "trot"), ("trot", "canter"), ("canter", "gallop"), ("walk", "pace"), ("walk", "trot"))
    pair = pairs[int(draw.rng.integers(len(pairs)))]
    low, high = (choose(_OF_GAIT[name][end] for name in pair) for end, choose in ((0, max), (1, min)))
    seconds, marks, way = draw.between(*_LASTS), [], Drawing()
    number = int(draw.rng.integers(2))
    while seconds > 0.0:
        speed, lasts = draw.between(low, high), draw.between(3.5, 7.0)
        marks.append(Mark(way.length, speed, pair[number % 2], ease=0.5 * speed))
        way.wander(draw, lasts * speed, speed)
        seconds -= lasts
        number += 1
    return planned(draw, way, marks)


def slow(draw: Draw) -> Plan:
    """As slow as it goes, straight and in bends."""
    way, marks = Drawing(), []
    for _ in range(3):
        speed = draw.between(*_SPEEDS[:1], 0.65)
        marks.append(Mark(way.length, speed, "walk"))
        way.wander(draw, speed * draw.between(5.0, 9.0), speed)
    return planned(draw, way, marks)


def halts(draw: Draw) -> Plan:
    """Starts and stops: short ways between stands of two to six seconds."""
    way, marks = Drawing(), []
    gait = draw.one_of("walk", "walk", "auto", "pace", "trot", "canter", "gallop")
    for number in range(int(draw.rng.integers(2, 5))):
        speed = draw.gait_speed(gait)
        if number:
            marks.append(Mark(way.length, action="stand", pause=draw.between(2.0, 6.0)))
        marks.append(Mark(way.length + (_AFTER_REST if number else 0.0), speed, gait, ease=0.0))
        way.wander(draw, draw.between(0.4, 1.5) + speed * draw.between(0.5, 3.0), min(speed, 2.0))
    return planned(draw, way, marks, before=draw.between(0.5, 4.0), after=draw.between(2.0, 4.0))


def bends(draw: Draw) -> Plan:
    """Circles, spirals and snakes down to the narrowest bend, both ways."""
    way, marks = Drawing(), []
    for _ in range(int(draw.rng.integers(2, 5))):
        radius = float(np.exp(draw.between(np.log(_TIGHTEST), np.log(3.0))))
        gait = draw.one_of("walk", "walk", "trot", "pace", "auto")
        # Faster than the bend allows is asked for too: plans slow down.
        speed = min(draw.gait_speed(gait), draw.between(0.8, 1.9) * np.sqrt(2.0 * radius))
        marks.append(Mark(way.length, max(speed, 0.3), gait))
        angle, hand = draw.between(1.0, 5.5), draw.way_or_other()
        if draw.rng.uniform() < 0.4:
            count = max(int(angle * radius / _STEP), 4)
            way.along(angle * radius, hand / np.linspace(1.6 * radius, max(0.7 * radius, _TIGHTEST), count))
        else:
            way.bend(angle * radius, hand / radius)
        way.line(draw.between(0.2, 1.5))
    return planned(draw, way, marks)


def corners(draw: Draw) -> Plan:
    """Right angles, squares, stars, hairpins and other corners."""
    way, marks = Drawing(), []
    gait = draw.one_of("walk", "walk", "trot", "auto")
    marks.append(Mark(0.0, min(draw.gait_speed(gait), 2.4), gait))
    shape, hand = draw.between(0.0, 1.0), draw.way_or_other()
    side = draw.between(0.8, 4.0)
    way.line(side)
    for _ in range(int(draw.rng.integers(3, 6))):
        if shape < 0.35:
            way.turn(hand * 90.0).line(side)
        elif shape < 0.6:
            way.turn(hand * 144.0).line(side)
        elif shape < 0.8:
            way.turn(draw.way_or_other() * draw.between(25.0, 170.0)).line(draw.between(0.8, 3.0))
        else:
            width = draw.between(2.0 * _TIGHTEST, 1.6)
            way.bend(0.5 * np.pi * width, hand * 2.0 / width).line(side)
            hand = -hand
    return planned(draw, way, marks)


def turns(draw: Draw) -> Plan:
    """Turns on the spot by large angles, with a few steps between them."""
    way = Drawing().line(draw.between(0.3, 1.0))
    marks = [Mark(0.0, draw.between(0.4, 1.3), draw.one_of("walk", "auto", "trot"))]
    for _ in range(int(draw.rng.integers(2, 5))):
        if draw.rng.uniform() < 0.4:
            marks.append(Mark(way.length, action="stand", pause=draw.between(1.5, 4.0)))
        way.turn(draw.way_or_other() * draw.between(60.0, 179.0)).line(draw.between(0.4, 1.6))
    return planned(draw, way, marks, before=draw.between(0.5, 2.0))


def sprints(draw: Draw) -> Plan:
    """Up to a fast gallop and down again, straight on or nearly so."""
    top = draw.evenly(4.5, _SPEEDS[1])
    way = Drawing().wander(draw, draw.between(10.0, 20.0) * top * 0.7, top)
    return planned(draw, way, [Mark(0.0, top, draw.one_of("gallop", "auto"))])


def rests(draw: Draw) -> Plan:
    """Sitting and lying down and getting up, on the way and at its ends."""
    way, marks = Drawing(), []
    both = ["sit", "lie"] if draw.rng.uniform() < 0.5 else ["lie", "sit"]
    names = [*both, both[0]][: int(draw.rng.integers(2, 4))]
    if draw.rng.uniform() < 0.25:
        # It rests to begin with.
        marks.append(Mark(0.0, action=names[0], pause=sum(RESTS[names[0]]) + draw.between(0.5, 4.0)))
    for name in names:
        gait = draw.one_of("walk", "walk", "trot", "auto", "pace", "canter")
        speed = min(draw.gait_speed(gait), 3.4)
        marks.append(Mark(way.length + _AFTER_REST, speed, gait, ease=0.0))
        way.wander(draw, draw.between(0.6, 1.2) + speed * draw.between(0.6, 2.0), min(speed, 2.0))
        marks.append(Mark(way.length, action=name, pause=sum(RESTS[name]) + draw.between(0.3, 6.0)))
    if draw.rng.uniform() < 0.7:
        marks.append(Mark(way.length + _AFTER_REST, draw.between(0.5, 1.6), "walk", ease=0.0))
        way.wander(draw, draw.between(1.0, 3.0), 1.0)
    return planned(draw, way, marks, before=draw.between(0.5, 2.0), after=draw.between(1.5, 3.0))


def jumps(draw: Draw) -> Plan:
    """Leaps on the way, from a stroll to a gallop."""
    way, marks = Drawing(), []
    gait = draw.one_of("auto", "auto", "walk", "trot", "pace", "canter", "gallop")
    for _ in range(int(draw.rng.integers(1, 3))):
        speed = float(np.exp(draw.evenly(np.log(0.7), np.log(6.2)))) if gait == "auto" else draw.gait_speed(gait)
        marks.append(Mark(way.length, speed, gait, ease=0.5 * speed))
        way.wander(draw, speed * draw.between(1.0, 2.5) + 0.4 * speed * speed, speed)
        for _ in range(int(draw.rng.integers(3, 6))):
            marks.append(Mark(way.length, action=JUMP))
            way.bend(speed * draw.between(1.3, 2.6), 0.0 if speed > 3.0 else draw.between(-0.15, 0.15))
    return planned(draw, way, marks)


#: Shares of all motion: minutes of about an hour and a half.
SCENES: tuple[Kind, ...] = (
    Kind("steady", 10.0, steady("walk")), Kind("steady", 7.5, steady("pace")), Kind("steady", 8.5, steady("trot")),
    Kind("steady", 7.0, steady("canter")), Kind("steady", 7.0, steady("gallop")), Kind("auto", 4.0, steady("auto")),
    Kind("change", 4.5, changing), Kind("swap", 4.5, swap), Kind("slow", 3.0, slow), Kind("halt", 6.0, halts),
    Kind("bend", 5.0, bends), Kind("corner", 5.0, corners), Kind("spot", 3.0, turns), Kind("sprint", 3.5, sprints),
    Kind("rest", 17.0, rests), Kind("jump", 13.0, jumps),
)  # fmt: skip
