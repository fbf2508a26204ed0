"""The curve as a body's root can travel it: smooth where it is meant smooth, rounded a little at its corners.

A polyline from Blender is a sampled smooth curve with a few true corners. The smooth stretches are recovered by
cubic Hermite pieces through the vertices; then everything passes a moving average along arc length whose width
grows at corners until the allowed distance from the curve is used up. Widths are symmetric, so straight stretches
and the two ends stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .path import RootPath
from .rotations import yaw_of_direction

Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

#: A vertex that bends by more (radians) is a corner, whatever its neighbours do.
_SHARP = np.radians(28.0)
#: ... and so is one above this that bends three times as much as both its neighbours.
_KINK = np.radians(12.0)
#: Grid of the rounded curve: aimed at and greatest number of nodes.
_STEP, _MOST_NODES = 0.005, 16_000
#: Two averages of half widths w and w/2: mean absolute shift, in w.
_MEAN_SHIFT = 0.5 + 1.0 / 24.0
#: How far a corner's tip may be missed, in units of the allowed distance to the curve.
_TIP = 1.5
#: Half width at smooth places, per metre of allowed rounding; moves a circle of 2 m radius by 0.7 mm.
_BASE = 2.5
_WIDEST = 0.3
#: A hand trembles within so many metres.
_TREMBLE = 0.15

#: A bend of a smaller radius (metres) is a corner, turned in steps, when it is over within _SHORT metres, or within
#: _LONGER and rounder than _ROUND (metres); others are walked round.
_TIGHT_RADIUS = 0.45
_SHORT, _LONGER, _ROUND = 0.3, 0.4, 0.28
#: Tight runs less than this apart (metres) are one; each takes its tails with it as far as _TAIL metres.
_GAP, _TAIL = 0.12, 0.1
#: A curve of a smaller radius (metres) than this is crept along when it is no corner.
_TIGHTEST = 0.02


@dataclass(frozen=True)
class Corner:
    """A bend too tight to walk round: the body turns while it passes.

    Attributes:
        first, last: nodes of the track it covers.
        middle: node at half the angle.
        angle: radians, counter-clockwise positive, -pi to pi and a little.
    """

    first: int
    last: int
    middle: int
    angle: float


@dataclass(frozen=True)
class Track:
    """The rounded curve on a fine grid.

    Attributes:
        s: (n,) arc length on the drawn curve, metres.
        travelled: (n,) arc length on the rounded curve, metres.
        positions: (n, 2).
        heading: (n,) yaw of the direction of travel, unwrapped, radians.
        curvature: (n,) 1/m, counter-clockwise positive.
        corners: the bends that need turning.
        deviation: greatest distance to the drawn curve, metres.
    """

    s: Array
    travelled: Array
    positions: Array
    heading: Array
    curvature: Array
    corners: tuple[Corner, ...]
    deviation: float

    def at(self, travelled: Array) -> Array:
        """Positions (m, 2) at distances ``travelled`` (m,) along the rounded curve, by cubic interpolation."""
        index = np.clip(np.searchsorted(self.travelled, travelled, side="right") - 1, 0, len(self.s) - 2)
        length = np.maximum(self.travelled[index + 1] - self.travelled[index], 1e-12)
        t = np.clip((travelled - self.travelled[index]) / length, 0.0, 1.0)[:, None]
        tangent = np.stack([np.sin(self.heading), -np.cos(self.heading)], axis=-1)
        return _hermite(t, length[:, None], self.positions[index], self.positions[index + 1],
                        tangent[index], tangent[index + 1])  # fmt: skip


def round_off(path: RootPath, rounding: float) -> Track:
    """Round an open path off.

    Args:
        path: an open path (see ``RootPath.unrolled``).
        rounding: greatest distance from the path, metres; 0 keeps corners sharp to within about a millimetre.
    """
    nodes = int(np.clip(np.ceil(path.length / _STEP), 16, _MOST_NODES)) + 1
    s = np.linspace(0.0, path.length, nodes)
    bend = _bends(path.points)
    corner = _is_corner(path, bend, rounding)
    smooth = _through_vertices(path, s, corner)
    allowed = max(rounding, 0.002)
    width = _widths(path, s, bend, corner, allowed)
    drawn = path.position(s)
    for _ in range(5):
        rounded = _average(s, _average(s, smooth, width), 0.5 * width)
        away = _deviation(path, s, rounded, drawn)
        if away.max() <= allowed:
            break
        width = _narrower(s, width, away, allowed)
    else:
        moved = np.hypot(*(rounded - drawn).T)[:, None]
        rounded = drawn + (rounded - drawn) * np.minimum(1.0, 0.95 * allowed / np.maximum(moved, 1e-9))
        away = _deviation(path, s, rounded, drawn)
    return _track(s, rounded, float(away.max()))


def _bends(points: Array) -> Array:
    """Signed turning angle (n,) at each vertex, radians; 0 at both ends."""
    step = np.diff(points, axis=0)
    cross = step[:-1, 0] * step[1:, 1] - step[:-1, 1] * step[1:, 0]
    dot = np.sum(step[:-1] * step[1:], axis=1)
    return np.concatenate([[0.0], np.arctan2(cross, dot), [0.0]])


def _is_corner(path: RootPath, bend: Array, rounding: float) -> BoolArray:
    """Which vertices (n,) are meant as corners; the ends count as corners."""
    size = np.abs(bend)
    length = np.diff(path.arc)
    longer = np.concatenate([length[:1], np.maximum(length[1:], length[:-1]), length[-1:]])
    neighbours = np.maximum(np.concatenate([[0.0], size[:-1]]), np.concatenate([size[1:], [0.0]]))
    corner = (size > _SHARP) | ((size > _KINK) & (size > 3.0 * neighbours))
    # A smooth curve through long chords would leave the drawn curve: keep such bends as corners.
    corner |= longer * size / 8.0 > max(0.75 * rounding, 1e-3)
    corner[[0, -1]] = True
    return np.asarray(corner)


def _through_vertices(path: RootPath, s: Array, corner: BoolArray) -> Array:
    """Points (m, 2) at ``s`` of the piecewise cubic that is smooth at every vertex but the corners."""
    length = np.diff(path.arc)[:, None]
    chord = np.diff(path.points, axis=0) / length
    inner = np.concatenate([chord[:1], (length[1:] * chord[:-1] + length[:-1] * chord[1:]) / (length[1:] + length[:-1]),
                            chord[-1:]])  # fmt: skip
    # A chord much longer than its neighbour is a straight line that the curve leaves: it gives the tangent.
    ratio = length[1:] / length[:-1]
    inner[1:-1] += _rise(ratio) * (chord[1:] - inner[1:-1]) + _rise(1.0 / ratio) * (chord[:-1] - inner[1:-1])
    inner /= np.maximum(np.linalg.norm(inner, axis=1, keepdims=True), 1e-9)
    begin, end = inner[:-1].copy(), inner[1:].copy()
    sharp_begin, sharp_end = corner[:-1], corner[1:]
    # At a corner the piece goes on as a circular arc: its tangent mirrors the other end's about the chord.
    mirror_end = 2.0 * np.sum(end * chord, axis=1, keepdims=True) * chord - end
    mirror_begin = 2.0 * np.sum(begin * chord, axis=1, keepdims=True) * chord - begin
    both = (sharp_begin & sharp_end)[:, None]
    new_begin = np.where(both, chord, np.where(sharp_begin[:, None], mirror_end, begin))
    new_end = np.where(both, chord, np.where(sharp_end[:, None], mirror_begin, end))
    index = np.clip(np.searchsorted(path.arc, s, side="right") - 1, 0, len(length) - 1)
    t = ((s - path.arc[index]) / length[index, 0])[:, None]
    return _hermite(t, length[index], path.points[index], path.points[index + 1], new_begin[index], new_end[index])


def _rise(ratio: Array) -> Array:
    """0 up to a ratio of 2, 1 from 4 on."""
    return np.asarray(np.clip(0.5 * (ratio - 2.0), 0.0, 1.0))


def _hermite(t: Array, length: Array, p0: Array, p1: Array, m0: Array, m1: Array) -> Array:
    u = 1.0 - t
    return np.asarray(
        u * u * ((1.0 + 2.0 * t) * p0 + t * length * m0) + t * t * ((1.0 + 2.0 * u) * p1 - u * length * m1)
    )


def _widths(path: RootPath, s: Array, bend: Array, corner: BoolArray, rounding: float) -> Array:
    """Half width (m,) of the moving average: the base width, more at corners as far as legs and rounding allow."""
    base = min(_BASE * rounding, _WIDEST)
    size = np.abs(bend)
    rough = _is_rough(path, bend)
    width = np.where(np.interp(s, path.arc, rough.astype(np.float64)) > 0.5, _WIDEST, base)
    vertices = np.flatnonzero(corner & (size > 0.02) & ~rough)
    half = size[vertices] / 2.0
    # The tip of a corner of turning angle a moves inward by shift * sin(a/2); its distance to the legs is that
    # times cos(a/2).
    shift = np.minimum(0.95 * rounding / np.maximum(np.sin(half) * np.cos(half), 1e-3), _TIP * rounding / np.sin(half))
    wanted = np.minimum(np.minimum(shift / _MEAN_SHIFT, _WIDEST), _straight_legs(path, size, vertices) / 3.1)
    # The narrowest last, so that it holds where two corners' zones meet.
    for vertex in np.argsort(-wanted):
        place, wide = path.arc[vertices[vertex]], max(float(wanted[vertex]), base)
        lo, hi = np.searchsorted(s, [place - 1.6 * wide, place + 1.6 * wide])
        width[lo : hi + 1] = wide
    return _slope_limited(s, np.minimum(width, np.minimum(s, path.length - s) + base), 0.4)


def _straight_legs(path: RootPath, size: Array, vertices: npt.NDArray[np.int64]) -> Array:
    """How far (k,) from each of ``vertices`` (k,) the path goes nearly straight to both sides, the shorter one."""
    turned = np.cumsum(size)
    little = np.maximum(0.15, 0.3 * size[vertices])
    after = np.searchsorted(turned, turned[vertices] + little, side="right")
    before = np.searchsorted(turned, turned[vertices] - size[vertices] - little, side="left")
    ends = path.arc[np.minimum(after, len(size) - 1)] - path.arc[vertices]
    return np.asarray(np.minimum(ends, path.arc[vertices] - path.arc[np.clip(before, 0, len(size) - 1)]))


def _is_rough(path: RootPath, bend: Array) -> BoolArray:
    """Vertices (n,) where the line trembles: within a short window it turns to and fro by much more than it turns."""
    net = np.concatenate([[0.0], np.cumsum(bend)])
    all_in_all = np.concatenate([[0.0], np.cumsum(np.abs(bend))])
    lo = np.searchsorted(path.arc, path.arc - _TREMBLE, side="left")
    hi = np.searchsorted(path.arc, path.arc + _TREMBLE, side="right")
    turned = all_in_all[hi] - all_in_all[lo]
    return np.asarray((turned - np.abs(net[hi] - net[lo]) > np.radians(40.0)) & (hi - lo > 3))


def _narrower(s: Array, width: Array, away: Array, allowed: float) -> Array:
    """Half widths (m,) made smaller around the places that left the curve by more than ``allowed`` metres."""
    factor = np.clip(0.85 * allowed / np.maximum(away, 1e-9), 0.3, 1.0)
    factor[away <= allowed] = 1.0
    return _slope_limited(s, width * _slope_limited(s, factor, 2.0), 0.4)


def _slope_limited(s: Array, width: Array, slope: float) -> Array:
    """The widest function (m,) below ``width`` (m,) that changes by at most ``slope`` a metre."""
    up = np.minimum.accumulate(width - slope * s) + slope * s
    down = np.minimum.accumulate((width + slope * s)[::-1])[::-1] - slope * s
    return np.asarray(np.minimum(up, down))


def _average(s: Array, points: Array, half: Array) -> Array:
    """Moving average (m, 2) along arc length over s - half .. s + half; beyond an end the curve is mirrored in it."""
    reach = int(np.searchsorted(s, float(half.max()) * 1.01)) + 1
    reach = min(reach, len(s) - 1)
    before = 2.0 * points[0] - points[reach:0:-1]
    after = 2.0 * points[-1] - points[-2 : -reach - 2 : -1]
    wide = np.concatenate([before, points, after])
    step = s[1] - s[0]
    grid = (np.arange(len(wide)) - reach) * step
    integral = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * step * (wide[1:] + wide[:-1]), axis=0)])
    out = np.empty_like(points)
    for axis in range(2):
        # Between nodes the integral of a piecewise linear curve is a parabola; half a step back and forth keeps it.
        upper = _integral_at(s + half, grid, integral[:, axis], wide[:, axis], step)
        lower = _integral_at(s - half, grid, integral[:, axis], wide[:, axis], step)
        out[:, axis] = (upper - lower) / (2.0 * half)
    return out


def _integral_at(x: Array, grid: Array, integral: Array, value: Array, step: float) -> Array:
    place = (x - grid[0]) / step
    index = np.clip(place.astype(np.int64), 0, len(grid) - 2)
    part = place - index
    return np.asarray(integral[index] + step * part * (value[index] + 0.5 * part * (value[index + 1] - value[index])))


def _deviation(path: RootPath, s: Array, rounded: Array, drawn: Array) -> Array:
    """Distance (m,) from the rounded to the drawn curve, metres, never too small.

    Only nodes that left their own place by more than a millimetre are looked up.
    """
    away = np.hypot(*(rounded - drawn).T)
    far = np.flatnonzero(away > 1e-3)
    if len(far):
        reach = away[far][:, None] * np.linspace(-1.5, 1.5, 33)
        places = path.position((s[far][:, None] + reach).ravel()).reshape(len(far), -1, 2)
        found = np.hypot(rounded[far, None, 0] - places[..., 0], rounded[far, None, 1] - places[..., 1])
        away[far] = found.min(axis=1)
    return np.asarray(away)


def _track(s: Array, positions: Array, deviation: float) -> Track:
    step = np.diff(positions, axis=0)
    length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
    travelled = np.concatenate([[0.0], np.cumsum(length)])
    between = np.unwrap(yaw_of_direction(step))
    heading = np.concatenate([between[:1], 0.5 * (between[1:] + between[:-1]), between[-1:]])
    turn = np.concatenate([[0.0], np.diff(between), [0.0]])
    reach = np.concatenate([length[:1], 0.5 * (length[1:] + length[:-1]), length[-1:]])
    curvature = turn / np.maximum(reach, 1e-6)
    return Track(s, travelled, positions, heading, curvature, _corners(travelled, turn, curvature), deviation)


def _corners(travelled: Array, turn: Array, curvature: Array) -> tuple[Corner, ...]:
    """Runs of tight curvature that are short enough to be passed in one turn, with their tails."""
    lowest = 0
    out = []
    soft = np.abs(curvature) < 0.2 / _TIGHT_RADIUS
    runs = _tight_runs(travelled, turn, curvature, 0, len(turn), _TIGHT_RADIUS)
    for number, (first, last) in enumerate(runs):
        part = np.cumsum(np.abs(turn[first : last + 1]))
        middle = min(first + int(np.searchsorted(part, 0.5 * part[-1])), last)
        highest = runs[number + 1][0] - 1 if number + 1 < len(runs) else len(turn) - 1
        begin, end = np.searchsorted(travelled, [travelled[first] - _TAIL, travelled[last] + _TAIL])
        begin, end = max(int(begin), lowest), min(int(end), highest)
        before, after = np.flatnonzero(soft[begin:first]), np.flatnonzero(soft[last : end + 1])
        first = begin + int(before[-1]) + 1 if len(before) else begin
        last = last + int(after[0]) if len(after) else end
        lowest = last + 1
        out.append(Corner(first, last, middle, float(turn[first : last + 1].sum())))
    return tuple(out)


def _tight_runs(
    travelled: Array, turn: Array, curvature: Array, begin: int, end: int, radius: float
) -> list[tuple[int, int]]:
    """First and last nodes, in order, of runs in begin..end-1 of a radius below ``radius`` that are corners.

    Runs over short gaps are one. A run too long to be one turn is searched for tighter ones; what is left is walked.
    """
    tight = begin + np.flatnonzero(np.abs(curvature[begin:end]) > 1.0 / radius)
    if not len(tight) or radius < _TIGHTEST:
        return []
    split = np.flatnonzero(np.diff(travelled[tight]) > _GAP * radius / _TIGHT_RADIUS)
    out: list[tuple[int, int]] = []
    firsts = tight[np.concatenate([[0], split + 1])].tolist()
    lasts = tight[np.concatenate([split, [len(tight) - 1]])].tolist()
    for first, last in zip(firsts, lasts, strict=True):
        long = travelled[last] - travelled[first]
        if long <= _SHORT or (long <= _LONGER and long <= _ROUND * np.abs(turn[first : last + 1]).sum()):
            out.append((first, last))
        else:
            out += _tight_runs(travelled, turn, curvature, first, last + 1, 0.5 * radius)
    return out
