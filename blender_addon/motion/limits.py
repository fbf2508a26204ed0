"""What a body can do, and how fast it may therefore go at each place of its way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .errors import PathError
from .facing import Facing, Turn, corner_angles
from .rotations import wrap_angle
from .rounding import Corner, Track
from .schedule import Stretch
from .speed_profile import Stop, Timing

Array = npt.NDArray[np.float64]

#: Nothing is planned slower than this (m/s) but a stop.
CREEP = 0.1
#: A foot stands this long (s) at speed v: _STANCE - _STANCE_GAIN * v, at least _STANCE_LEAST.
_STANCE, _STANCE_GAIN, _STANCE_LEAST = 0.85, 0.2, 0.3
#: Greatest speed (m/s) while a corner of so many degrees is turned; flatter ones are limited by curvature alone.
_CORNER_ANGLES, _CORNER_SPEEDS = (30.0, 45.0, 60.0, 90.0, 110.0), (1.5, 0.8, 0.55, 0.35, 0.28)
#: A pause this near (metres) to a corner that is turned standing is made at the corner.
_SAME_STOP = 0.25
#: Acceleration and deceleration (m/s2) at responsiveness 0, 0.5 and 1: calm, usual, brisk.
_RESPONSIVE = (0.7, 1.2, 2.2)
#: The same for four legs: dogs gather speed at 2 to 4 m/s2 without haste.
_RESPONSIVE_ANIMAL = (1.2, 2.0, 3.5)
#: Limits may be passed by this much (a share) before the plan is made slower there.
_TOLERANCE = 0.05


@dataclass(frozen=True)
class Limits:
    """What a body can do; the animator's dials for how brisk it is.

    The turning figures come from 64 minutes of the studio takes (hips, low-passed at 1.2 Hz): while they turn at all,
    people turn at 60 to 70 degrees/s in the median and at 120 to 150 in the 90th percentile below 0.7 m/s, with
    angular accelerations of 230 to 320 degrees/s2 in the 95th.

    Attributes:
        acceleration, deceleration: along the path, m/s2.
        lateral: speed squared times curvature, m/s2.
        yaw_rate: greatest rate of turning at any speed, rad/s.
        stance_turn: how far the body may turn (radians) while one foot stands; half is taken by the hip on either
            side of straight, the rest (about 10 degrees) by the foot.
        turn_rate: rate (rad/s) at which corners are turned; at 92 degrees/s a right angle takes two steps.
        turn_edge: seconds in which a corner's turn gets going, and ends.
        turn_lead: seconds a turn may begin before the corner.
        stop_angle: corners sharper than this (radians) are turned standing.
        rounding: greatest distance of the planned root from the curve, metres.
        stand_before, stand_after: seconds of standing at both ends.
        soften: seconds to each side over which acceleration is smoothed.
        hold: seconds; between two slow places nobody speeds up to what could not be kept for so long.
        aside: greatest speed (m/s) when the body faces across or against its travel.
        run_from: below this speed (m/s), and the asked one, "run" is "walk" while speeding up or slowing down.
    """

    acceleration: float = 1.2
    deceleration: float = 1.2
    lateral: float = 1.5
    yaw_rate: float = 2.0
    stance_turn: float = math.radians(55.0)
    turn_rate: float = 1.6
    turn_edge: float = 0.4
    turn_lead: float = 0.5
    stop_angle: float = math.radians(100.0)
    rounding: float = 0.03
    stand_before: float = 0.5
    stand_after: float = 2.5
    soften: float = 0.25
    hold: float = 0.8
    aside: float = 1.0
    run_from: float = 1.6

    def __post_init__(self) -> None:
        above_zero = ("acceleration", "deceleration", "lateral", "yaw_rate", "stance_turn", "turn_rate", "aside")
        for name, value in vars(self).items():
            if not math.isfinite(value) or value < 0.0 or (name in above_zero and value < 1e-3):
                raise PathError(
                    f"The limit {name.replace('_', ' ')} is {value}",
                    f"Give a number {'above 0' if name in above_zero else 'that is 0 or more'}",
                )

    @classmethod
    def responsive(cls, share: float, four_legged: bool = False) -> Limits:
        """How a body speeds up and slows down at a responsiveness of 0 (calm), 0.5 (usual) to 1 (brisk).

        Four legs lean into bends: they take twice the sideways acceleration, and turn a little quicker.
        """
        rate = float(np.interp(share, (0.0, 0.5, 1.0), _RESPONSIVE_ANIMAL if four_legged else _RESPONSIVE))
        if four_legged:
            return cls(acceleration=rate, deceleration=rate, lateral=3.0, yaw_rate=2.4)
        return cls(acceleration=rate, deceleration=rate)


@dataclass(frozen=True)
class CornerTurn:
    """A corner, how the body takes it.

    Attributes:
        corner: where.
        angle: radians to turn.
        seconds: how long the turn lasts.
        lead: seconds it begins before the root is at the corner.
        stop: seconds of standing at the corner, 0 to walk through.
    """

    corner: Corner
    angle: float
    seconds: float
    lead: float
    stop: float

    def turn(self, timing: Timing, limits: Limits) -> Turn:
        """When it is turned."""
        if self.stop:
            # A pause at the corner is longer than the turn: turn when it ends.
            end = timing.departure(self.corner.middle) + limits.turn_lead
            return Turn(end - self.seconds, end, self.angle)
        start = timing.arrival(self.corner.middle) - self.lead
        return Turn(start, start + self.seconds, self.angle)


Corners = tuple[CornerTurn, ...]


def corners_of(track: Track, facing: Facing, limits: Limits) -> Corners:
    """How each corner of the track is taken; none where the facing does not follow the path."""
    if facing.kind != "path":
        return ()
    rate = min(limits.turn_rate, limits.yaw_rate)
    out = []
    for corner, angle in zip(track.corners, corner_angles(track), strict=True):
        seconds = abs(angle) / rate + limits.turn_edge
        lead = min(0.5 * seconds, limits.turn_lead)
        stands = abs(angle) >= limits.stop_angle
        out.append(CornerTurn(corner, angle, seconds, lead, max(seconds - 2.0 * lead, 0.2) if stands else 0.0))
    return tuple(out)


def one_by_one(corners: Corners, timing: Timing, limits: Limits) -> Corners:
    """Corners with standing time added so that no turn begins before the one before it ends.

    Returns the very same corners when nothing overlaps.
    """
    turns = [corner.turn(timing, limits) for corner in corners]
    out = list(corners)
    for number in range(1, len(corners)):
        # Two turns may share the edge in which one ends and the other begins.
        overlap = turns[number - 1].end - min(limits.turn_edge, 0.3) - turns[number].start
        if overlap > 0.05:
            corner = corners[number]
            out[number] = replace(corner, stop=max(corner.stop, 0.1) + overlap)
    return tuple(out) if any(a is not b for a, b in zip(out, corners, strict=True)) else corners


def caps(track: Track, asked: Array, wished: Array, corners: Corners, facing: Facing, limits: Limits) -> Array:
    """Greatest speed (n,), m/s, at each node of the track.

    Args:
        track: the rounded curve.
        asked: (n,) speed of the schedule.
        wished: (n,) facing without the corners, radians.
        corners: what is turned on top of it.
        facing: its kind decides whether the body goes aside.
        limits: what the body can do.
    """
    cap = np.minimum(asked, np.sqrt(limits.lateral / np.maximum(np.abs(track.curvature), 1e-6)))
    turning = np.abs(np.gradient(wished, np.maximum.accumulate(track.travelled)))
    cap = np.minimum(cap, _speed_of_turning(turning, limits))
    if facing.kind != "path":
        ahead = np.clip(np.cos(wrap_angle(wished - track.heading)) / math.cos(math.radians(30.0)), 0.0, 1.0)
        cap = np.minimum(cap, limits.aside + ahead * np.maximum(asked - limits.aside, 0.0))
    for corner in corners:
        degrees = abs(math.degrees(corner.angle))
        if corner.stop or degrees < _CORNER_ANGLES[0]:
            continue
        slow = float(np.interp(degrees, _CORNER_ANGLES, _CORNER_SPEEDS))
        place = track.travelled[corner.corner.middle]
        slow = min(slow, float(asked[corner.corner.middle]))
        first, last = np.searchsorted(
            track.travelled, [place - slow * corner.lead, place + slow * (corner.seconds - corner.lead)]
        )
        cap[first : last + 1] = np.minimum(cap[first : last + 1], slow)
    return np.maximum(cap, CREEP)


def stops_along(track: Track, stretches: tuple[Stretch, ...], corners: Corners) -> tuple[Stop, ...]:
    """Pauses of the schedule and corners that are turned standing."""
    stops = [Stop(corner.corner.middle, corner.stop) for corner in corners if corner.stop]
    places = np.array([track.s[stop.node] for stop in stops])
    for stretch in stretches:
        if stretch.pause <= 0.0:
            continue
        node = int(np.argmin(np.abs(track.s - stretch.at)))
        if len(places) and np.abs(places - stretch.at).min() < _SAME_STOP:
            node = stops[int(np.argmin(np.abs(places - stretch.at)))].node
        stops.append(Stop(node, stretch.pause))
    return tuple(stops)


def too_quick(track: Track, travelled: Array, speed: Array, yaw_rate: Array, limits: Limits) -> Array | None:
    """Lower caps (n,) where a sampled plan passes a limit, infinite elsewhere; None when it keeps them all.

    Args:
        track: the rounded curve.
        travelled: (f,) metres on it.
        speed: (f,) m/s.
        yaw_rate: (f,) rad/s.
        limits: what the body can do.
    """
    bend = np.abs(np.interp(travelled, track.travelled, track.curvature))
    over = np.sqrt(speed**2 * bend / limits.lateral)
    allowed = np.maximum(_turning_at(speed, limits), min(limits.turn_rate, limits.yaw_rate))
    over = np.maximum(over, np.abs(yaw_rate) / allowed)
    late = np.flatnonzero((over > 1.0 + _TOLERANCE) & (speed > CREEP))
    if not len(late):
        return None
    cap = np.full(len(track.s), np.inf)
    node = np.searchsorted(track.travelled, travelled[late]).clip(0, len(cap) - 1)
    np.minimum.at(cap, node, speed[late] / over[late])
    reach = int(np.clip(np.searchsorted(track.travelled, 0.12), 1, 60))
    padded = np.concatenate([np.full(reach, np.inf), cap, np.full(reach, np.inf)])
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1))


def _turning_at(speed: Array, limits: Limits) -> Array:
    """Greatest yaw rate at a speed: a foot on the ground turns little, so steps must be quick or turns slow."""
    stance = np.maximum(_STANCE - _STANCE_GAIN * speed, _STANCE_LEAST)
    return np.minimum(limits.yaw_rate, limits.stance_turn / stance)


def _speed_of_turning(turning: Array, limits: Limits) -> Array:
    """Greatest speed (n,) at which a body may turn by ``turning`` (n,) radians a metre."""
    speed = np.linspace(0.0, 12.0, 241)
    per_metre = _turning_at(speed, limits) / np.maximum(speed, 1e-3)
    # It falls with speed: np.interp wants it to rise.
    return np.interp(turning, per_metre[::-1], speed[::-1])
