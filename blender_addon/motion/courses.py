"""The courses and terrains on which quality is measured: curves as points, grounds as height functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .rotations import Array
from .terrain import HeightField

#: Speeds at which each course is walked, m/s; the pack's highest is added to them.
SPEEDS: tuple[float, ...] = (0.3, 0.5, 0.8, 1.2)
#: Distance between points on bends, metres.
_STEP = 0.05


@dataclass(frozen=True)
class Course:
    """A curve to be followed.

    Attributes:
        name: short name.
        points: polyline (n, 2), metres; it starts at the origin and sets out along -Y. Straights have
            points at their ends only, so that corners are sharp.
        cyclic: whether it closes on itself (the first point is not repeated).
        sharp: whether it has corners.
    """

    name: str
    points: Array
    cyclic: bool = False
    sharp: bool = False

    @property
    def length(self) -> float:
        """Length in metres, the closing side included."""
        points = np.concatenate([self.points, self.points[:1]]) if self.cyclic else self.points
        return float(np.sum(np.linalg.norm(np.diff(points, axis=0), axis=-1)))

    def bounds(self, margin: float = 1.5) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of the ground it needs, metres."""
        low, high = self.points.min(axis=0) - margin, self.points.max(axis=0) + margin
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])


@dataclass(frozen=True)
class Ground:
    """A terrain to be walked on.

    Attributes:
        name: short name.
        function: points (..., 2) -> heights (...), metres; 0 at the origin.
        cell: grid at which it is sampled, metres.
    """

    name: str
    function: Callable[[Array], Array]
    cell: float = 0.02

    def field(self, course: Course) -> HeightField:
        """The ground under a course, with a margin."""
        return HeightField.from_function(self.function, course.bounds(), self.cell)


def straight(length: float = 10.0) -> Course:
    """A straight line."""
    return Course("straight", np.array([[0.0, 0.0], [0.0, -length]]))


def circle(radius: float = 2.0) -> Course:
    """A full circle, counter-clockwise, closed."""
    return Course("circle", _path([("bend", radius, 360.0)])[:-1], cyclic=True)


def s_curve(radius: float = 2.0) -> Course:
    """Two half circles, left then right."""
    return Course("s", _path([("bend", radius, 180.0), ("bend", radius, -180.0)]))


def right_angle(leg: float = 3.0) -> Course:
    """Two legs with one sharp corner to the left."""
    return Course("right_angle", _path([("line", leg), ("turn", 90.0), ("line", leg)]), sharp=True)


def hairpin(width: float = 1.2, leg: float = 3.0) -> Course:
    """There and back on two parallel legs ``width`` apart, joined by a half circle."""
    return Course("hairpin", _path([("line", leg), ("bend", 0.5 * width, 180.0), ("line", leg)]))


def square(side: float = 4.0) -> Course:
    """A closed square; it starts in the middle of a side, so that all four corners are walked."""
    moves: list[tuple[str, float] | tuple[str, float, float]] = [("line", 0.5 * side)]
    for _ in range(3):
        moves += [("turn", 90.0), ("line", side)]
    return Course("square", _path([*moves, ("turn", 90.0)]), cyclic=True, sharp=True)


def star(radius: float = 2.0) -> Course:
    """A closed five-pointed star, its points on a circle: turns of 144 degrees, sides crossing."""
    side = 2.0 * radius * np.sin(np.radians(72.0))
    moves: list[tuple[str, float] | tuple[str, float, float]] = [("line", 0.5 * side)]
    for _ in range(4):
        moves += [("turn", 144.0), ("line", side)]
    return Course("star", _path([*moves, ("turn", 144.0)]), cyclic=True, sharp=True)


def figure_of_eight(radius: float = 2.0) -> Course:
    """Two full circles that touch, left then right, closed."""
    return Course("eight", _path([("bend", radius, 360.0), ("bend", radius, -360.0)])[:-1], cyclic=True)


def spiral(outer: float = 3.0, inner: float = 0.8, turns: float = 2.5) -> Course:
    """Inwards from radius ``outer`` to ``inner``, counter-clockwise; the radius shrinks evenly with the angle."""
    angle = np.linspace(0.0, turns * 2.0 * np.pi, int(np.ceil(turns * np.pi * (outer + inner) / _STEP)) + 1)
    radius = outer + (inner - outer) * angle / angle[-1]
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    first = points[1] - points[0]
    # Turn the beginning towards -Y.
    turn = -0.5 * np.pi - np.arctan2(first[1], first[0])
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return Course("spiral", (points - points[0]) @ matrix.T)


def all_courses() -> tuple[Course, ...]:
    """Every course of the quality figures."""
    return (
        straight(), circle(), s_curve(), right_angle(), hairpin(), square(), star(), figure_of_eight(), spiral(),
    )  # fmt: skip


def course(name: str) -> Course:
    """The course of that name; KeyError for another."""
    return {found.name: found for found in all_courses()}[name]


def speeds_up_to(top: float) -> tuple[float, ...]:
    """The measured speeds that a pack covers, its own highest last, m/s."""
    return (*(speed for speed in SPEEDS if speed < top - 1e-6), top)


def flat(xy: Array) -> Array:
    """Level ground (...)."""
    return np.zeros(np.shape(xy)[:-1])


def slope(degrees: float = 15.0, across: bool = False) -> Callable[[Array], Array]:
    """A plane that rises ahead (along -Y), or to the left (+X) when ``across``."""
    gradient = np.tan(np.radians(degrees))
    return lambda xy: np.asarray(gradient * (xy[..., 0] if across else -xy[..., 1]))


def stairs(
    rise: float = 0.18, tread: float = 0.30, steps: int = 8, first: float = 2.0, landing: float = 1.4
) -> Callable[[Array], Array]:
    """Stairs up along -Y from ``first`` metres on, a landing, and the same stairs down (10 m course: 8 steps)."""
    top = first + (steps - 1) * tread
    down = top + landing

    def height(xy: Array) -> Array:
        ahead = -xy[..., 1]
        up = np.clip(np.floor((ahead - first) / tread + 1e-9) + 1.0, 0.0, steps)
        back = np.clip(np.floor((ahead - down) / tread + 1e-9) + 1.0, 0.0, steps)
        return np.asarray(rise * (up - back))

    return height


def noise(height: float = 0.15, length: float = 2.0, seed: int = 7) -> Callable[[Array], Array]:
    """Hills up to ``height`` metres from lowest to highest, about ``length`` metres from crest to crest.

    Random heights on a grid of half that length, joined smoothly (quintic); 0 at the origin.
    """
    lattice = np.random.default_rng(seed).uniform(0.0, height, (64, 64))

    def raw(xy: Array) -> Array:
        at = np.asarray(xy, dtype=np.float64) / (0.5 * length)
        cell = np.floor(at).astype(int)
        t = at - cell
        w = t * t * t * (t * (6.0 * t - 15.0) + 10.0)
        (i, j), (u, v) = (np.moveaxis(a, -1, 0) for a in (cell, w))
        near = lattice[i % 64, j % 64] * (1.0 - u) + lattice[(i + 1) % 64, j % 64] * u
        far = lattice[i % 64, (j + 1) % 64] * (1.0 - u) + lattice[(i + 1) % 64, (j + 1) % 64] * u
        return np.asarray(near * (1.0 - v) + far * v)

    origin = float(raw(np.zeros(2)))
    return lambda xy: raw(xy) - origin


def kerb(height: float = 0.12, on: float = 3.0, off: float = 7.0) -> Callable[[Array], Array]:
    """A pavement across the way: up a kerb ``on`` metres ahead (-Y), down again ``off`` metres ahead."""
    return lambda xy: np.where((-xy[..., 1] >= on) & (-xy[..., 1] < off), height, 0.0)


def all_grounds() -> tuple[Ground, ...]:
    """Every terrain of the quality figures."""
    return (
        Ground("flat", flat, 0.5),
        Ground("slope_up", slope(15.0), 0.25), Ground("slope_down", slope(-15.0), 0.25),
        Ground("slope_across", slope(15.0, across=True), 0.25),
        Ground("stairs", stairs(), 0.01), Ground("noise", noise(), 0.05), Ground("kerb", kerb(), 0.01),
    )  # fmt: skip


def ground(name: str) -> Ground:
    """The terrain of that name; KeyError for another."""
    return {found.name: found for found in all_grounds()}[name]


def _path(moves: list[tuple[str, float] | tuple[str, float, float]]) -> Array:
    """Points (n, 2) of a path of lines (metres), turns (degrees, left positive) and bends (radius, degrees)."""
    here, heading = np.zeros(2), -0.5 * np.pi
    points = [here]
    for kind, amount, *angle in moves:
        if kind == "turn":
            heading += np.radians(amount)
        elif kind == "line":
            here = here + amount * np.array([np.cos(heading), np.sin(heading)])
            points.append(here)
        else:
            sweep = np.radians(angle[0])
            side = np.sign(sweep)
            centre = here + side * amount * np.array([-np.sin(heading), np.cos(heading)])
            count = int(np.ceil(abs(sweep) * amount / _STEP))
            for t in np.linspace(0.0, sweep, count + 1)[1:]:
                at = heading + t
                points.append(centre - side * amount * np.array([-np.sin(at), np.cos(at)]))
            here, heading = points[-1], heading + sweep
    return np.array(points)
