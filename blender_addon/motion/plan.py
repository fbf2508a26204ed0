"""The plan: the root's position, facing, speed and action at every frame, made before any motion is generated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .abilities import Leap
from .crouching import Crouching
from .errors import PathError
from .facing import Facing, facing_along, yaw_over_time
from .leap import GATHER, LAND, Clock, clock_of, flight_of, odd_leaps, with_run_ups
from .limits import CREEP, Corners, Limits, caps, corners_of, one_by_one, stops_along, too_quick
from .path import SHORTEST, RootPath
from .rounding import Track, round_off
from .runs import runs
from .schedule import JUMP, RESTS, STAND, Schedule, Stretch, fitted, speed_along
from .speed_profile import Timing, ramp, smoothed

Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

__all__ = ["Facing", "Limits", "Plan", "desired_trajectory", "make_plan"]

#: How often the plan is made slower where it passes a limit.
_TRIES = 4
_LONGEST_PLAN = 4 * 3600.0
#: Below this speed (m/s) and without turning the action is to stand.
_STANDING = 0.02
#: The body turns in place when it turns at least this fast (rad/s) and about a smaller radius (m) than this.
_TURNING_RATE, _TURNING_RADIUS = 0.35, 0.35
#: Marks this near (metres) to the way's ends lie at them.
_AT_END = 0.02
#: A body that stands this near (metres) to a mark rests at it.
_AT_REST = 0.15
#: A jump of models that do not leap out of a walk lasts from so many seconds before its mark is reached to so many
#: after: crouch, flight and landing.
_LEAP = (-0.35, 0.75)


@dataclass(frozen=True)
class Plan:
    """The root over time.

    Attributes:
        fps: frames per second.
        positions: (f, 2) metres.
        yaw: (f,) facing, unwrapped radians; not tied to the direction of travel.
        speed: (f,) of the planned root, m/s.
        distance: (f,) arc length on the drawn curve, metres (round and round on laps).
        actions: vocabulary of ``action``; "stand" is always the first.
        action: (f,) index into ``actions``.
        turning: (f,) whether the body turns in (nearly) one place: steps are needed.
        deviation: greatest distance of the planned root from the curve, metres.
        notes: what was asked for and could not be done, in words.
        leaps: when a leap takes off, seconds, ascending; of models that leap out of a walk.
        depth: (f,) how deep it crouches, 0 to 1 (`gait_labels.crouch_depth`); empty: wholly where it crouches.
    """

    fps: float
    positions: Array
    yaw: Array
    speed: Array
    distance: Array
    actions: tuple[str, ...]
    action: IntArray
    turning: BoolArray
    deviation: float = 0.0
    notes: tuple[str, ...] = field(default=())
    leaps: tuple[float, ...] = ()
    depth: Array = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def seconds(self) -> float:
        """Duration from the first frame to the last."""
        return (len(self) - 1) / self.fps

    @property
    def root(self) -> Array:
        """(f, 3): x, y in metres, yaw in radians."""
        return np.concatenate([self.positions, self.yaw[:, None]], axis=1)

    @property
    def yaw_rate(self) -> Array:
        """(f,) rad/s."""
        return np.gradient(self.yaw) * self.fps if len(self) > 1 else np.zeros(len(self))

    @property
    def velocity(self) -> Array:
        """(f, 2) m/s, in the world."""
        return np.gradient(self.positions, axis=0) * self.fps if len(self) > 1 else np.zeros((len(self), 2))


def make_plan(
    path: RootPath,
    schedule: Schedule,
    *,
    limits: Limits | None = None,
    facing: Facing | None = None,
    fps: float = 60.0,
    start: float = 0.0,
    speeds: tuple[float, float] = (0.3, 3.0),
    laps: int = 1,
    leap: Leap | None = None,
    crouching: Crouching | None = None,
) -> Plan:
    """Plan the root along a path: from standing, by the schedule, within the limits, to standing.

    Args:
        path: the curve.
        schedule: speeds, actions and pauses at distances along the curve; on laps it holds for each of them.
        limits: what the body can do.
        facing: where it looks.
        fps: frames per second of the plan.
        start: where on the curve to begin, metres.
        speeds: the lowest and the highest speed the pack covers, m/s; others are clamped and noted.
        laps: how often to go round a cyclic path.
        leap: how the model leaps out of a walk, in the plan's metres; without it a "jump" changes nothing in the plan
            but the action.
        crouching: how deep and how fast one crouches, and where the ceiling wants it.

    Raises:
        PathError: a start beyond the end, a frame rate or number of laps that makes no sense, a plan of hours.
    """
    limits, facing, crouching = limits or Limits(), facing or Facing(), crouching or Crouching()
    _check(path, fps, start, speeds, laps)
    track = round_off(path.unrolled(start, laps), limits.rounding)
    stretches, notes = fitted(schedule.stretches(), path.length, speeds)
    stretches, slowed = crouching.slowed(stretches)
    jumps = _without_run_up(stretches, path, start)
    stretches, first, last = _along_the_way(stretches, path, start, laps)
    stretches, left_out = with_run_ups(stretches, leap, track.s[-1])
    limits = replace(limits, stand_before=max(limits.stand_before, first), stand_after=max(limits.stand_after, last))
    asked, capped = crouching.capped(speed_along(stretches, track.s), track.s + start)
    wished = facing_along(track, facing)
    corners = corners_of(track, facing, limits)
    cap = caps(track, asked, wished, corners, facing, limits)
    for _ in range(_TRIES):
        stops = stops_along(track, stretches, corners)
        timing = ramp(track.travelled, cap, stops, limits.acceleration, limits.deceleration, limits.hold)
        if timing.seconds > _LONGEST_PLAN:
            raise PathError("The way takes more than four hours", "Shorten the path or raise the speeds")
        plan, travelled = _sample(track, timing, wished, corners, stretches, limits, fps, leap)
        slower = too_quick(track, travelled, plan.speed, plan.yaw_rate, limits)
        apart = one_by_one(corners, timing, limits)
        if slower is None and apart is corners:
            break
        corners = apart
        cap = cap if slower is None else np.maximum(np.minimum(cap, slower), CREEP)
    unreached = _unreached(stretches, plan, track.s, crouching.allowed(track.s + start))
    plan = replace(plan, distance=plan.distance + start)
    odd = odd_leaps(plan.leaps, stretches, fps, plan.yaw, path.yaw(plan.distance))
    return _lowered(replace(plan, notes=(*notes, *slowed, *jumps, *left_out, *odd, *capped, *unreached)), crouching)


def desired_trajectory(plan: Plan, frames: npt.ArrayLike, offsets: npt.ArrayLike) -> tuple[Array, Array]:
    """Where the root shall be and face some frames from given ones; before and after the plan it stands at its ends.

    Args:
        plan: the plan.
        frames: (...) frame numbers, whole or not.
        offsets: (k,) frames ahead (or back) of each.

    Returns:
        positions (..., k, 2) in metres and yaw (..., k), unwrapped radians, both in the world.
    """
    frame = np.asarray(frames, dtype=np.float64)[..., None] + np.asarray(offsets, dtype=np.float64)
    frame = np.clip(frame, 0.0, len(plan) - 1.0)
    index = np.minimum(frame.astype(np.int64), max(len(plan) - 2, 0))
    following = np.minimum(index + 1, len(plan) - 1)
    part = frame - index
    here = plan.positions[index]
    positions = here + part[..., None] * (plan.positions[following] - here)
    return positions, plan.yaw[index] + part * (plan.yaw[following] - plan.yaw[index])


def _check(path: RootPath, fps: float, start: float, speeds: tuple[float, float], laps: int) -> None:
    if not (math.isfinite(fps) and 1.0 <= fps <= 1000.0):
        raise PathError(f"The frame rate is {fps}", "Give a frame rate of 1 to 1000 frames per second")
    if not math.isfinite(start) or start < 0.0 or start > path.length - SHORTEST:
        raise PathError(
            f"The start lies at {start:.2f} m, the root curve is {path.length:.2f} m long",
            "Let the start lie between 0 and the curve's length",
        )
    if laps < 1 or laps > 1000:
        raise PathError(f"{laps} laps are asked for", "Ask for 1 to 1000 laps")
    if laps > 1 and not path.cyclic:
        raise PathError(f"{laps} laps are asked for on a curve that is not closed", "Make the curve cyclic")
    if not 0.0 < speeds[0] <= speeds[1] or not math.isfinite(speeds[1]):
        raise PathError(
            f"The pack's speeds are {speeds[0]} to {speeds[1]} m/s", "Give two speeds above 0, the lowest first"
        )


def _along_the_way(
    stretches: tuple[Stretch, ...], path: RootPath, start: float, laps: int
) -> tuple[tuple[Stretch, ...], float, float]:
    """Stretches by distance walked instead of distance on the curve; pauses at the very start and end come apart."""
    way = path.length * laps if path.cyclic else path.length - start
    rounds = range(-1, laps + 1) if path.cyclic else range(1)
    before: list[Stretch] = []
    out: list[Stretch] = []
    first = last = 0.0
    for lap in rounds:
        for stretch in stretches:
            at = stretch.at + lap * path.length - start
            if at < _AT_END:
                before.append(replace(stretch, at=0.0, pause=0.0, ease=0.0, jump=False))
                first = stretch.pause if abs(at) < _AT_END else first
            elif at > way - _AT_END:
                last = max(last, stretch.pause) if at < way + _AT_END else last
                if at < way + _AT_END and stretch.rest != STAND:
                    out.append(replace(stretch, at=way, pause=0.0, jump=False))
            else:
                out.append(replace(stretch, at=at))
    return (*before[-1:], *out), first, last


def _without_run_up(stretches: tuple[Stretch, ...], path: RootPath, start: float) -> tuple[str, ...]:
    """Words about jumps at the very ends of an open path, where the body stands and which are left out."""
    return tuple(
        f"The jump at {stretch.set_at:.2f} m is left out: it begins where the character stands, at the path's very "
        + ("start. Leave it a run-up" if abs(stretch.at - start) < _AT_END else "end. Leave it a place to land")
        for stretch in stretches
        if stretch.jump and not path.cyclic
        and (abs(stretch.at - start) < _AT_END or stretch.at - start > path.length - start - _AT_END)
    )  # fmt: skip


def _sample(
    track: Track,
    timing: Timing,
    wished: Array,
    corners: Corners,
    stretches: tuple[Stretch, ...],
    limits: Limits,
    fps: float,
    leap: Leap | None,
) -> tuple[Plan, Array]:
    """The plan at each frame, and the way travelled (f,) on the rounded curve, metres."""
    turns = tuple(corner.turn(timing, limits) for corner in corners)
    before = max([limits.stand_before, limits.soften, *(0.1 - turn.start for turn in turns)])
    ending = max([timing.seconds + max(limits.stand_after, limits.soften), *(turn.end + 0.1 for turn in turns)])
    # Smoothing needs samples: coarse frame rates are planned on a finer clock.
    finer = math.ceil(60.0 / fps)
    clock = np.arange(math.ceil((before + ending) * fps - 1e-6) * finer + 1) / (fps * finer) - before
    travelled = smoothed(timing.at(clock), limits.soften, fps * finer)
    leaping = _leaping(track, timing, stretches, leap)
    if leaping.flights:
        own = clock[: len(clock) - math.floor(leaping.gained * fps) * finer]
        travelled = np.interp(leaping.even_at(own), clock, travelled)
    moved = [leaping.turn(turn, before) for turn in turns]
    yaw = yaw_over_time(np.interp(travelled, track.travelled, wished), tuple(moved), fps * finer,
                        limits.turn_edge, limits.soften)  # fmt: skip
    speed = np.gradient(travelled)[::finer] * fps * finer
    yaw_rate = np.abs(np.gradient(yaw))[::finer] * fps * finer
    travelled, yaw = travelled[::finer], yaw[::finer]
    distance = np.interp(travelled, track.travelled, track.s)
    turning = (yaw_rate > _TURNING_RATE) & (speed < yaw_rate * _TURNING_RADIUS)
    flights = tuple((first + before, last + before) for first, last in leaping.flights)
    actions, action = _actions(stretches, distance, speed, turning | (yaw_rate > 0.1), flights, limits, fps)
    leaps = tuple(take_off for take_off, _ in flights)
    where = track.at(travelled)
    return Plan(fps, where, yaw, speed, distance, actions, action, turning, track.deviation, leaps=leaps), travelled


def _leaping(track: Track, timing: Timing, stretches: tuple[Stretch, ...], leap: Leap | None) -> Clock:
    """The clock of a plan with these leaps; an even one without."""
    flights = [flight_of(stretch, leap) for stretch in stretches if stretch.jump] if leap is not None else []
    middles = np.interp([flight.middle for flight in flights], track.s, track.travelled)
    node = np.searchsorted(timing.distance, middles)
    speeds = np.maximum(timing.speed[np.minimum(node, len(timing.speed) - 1)], CREEP)
    return clock_of(np.interp(middles, timing.distance, timing.time).tolist(), flights, speeds.tolist())


def _lowered(plan: Plan, crouching: Crouching) -> Plan:
    """The plan with how deep it crouches, under ceilings whatever else it does there."""
    actions, action, depth = crouching.applied_to(plan.actions, plan.action, plan.distance, plan.fps)
    return replace(plan, actions=actions, action=action, depth=depth)


def _unreached(stretches: tuple[Stretch, ...], plan: Plan, s: Array, allowed: Array) -> list[str]:
    """Words about the speeds that bends, corners or short stretches did not allow; ``allowed`` (n,) at ``s`` (n,)."""
    notes = []
    ends = [*(stretch.at for stretch in stretches[1:]), math.inf]
    for stretch, end in zip(stretches, ends, strict=True):
        there = plan.speed[(plan.distance >= stretch.at) & (plan.distance <= end)]
        best = float(there.max(initial=0.0))
        wanted = min(stretch.speed, float(allowed[(s >= stretch.at) & (s <= end)].max(initial=0.0)))
        if best < 0.9 * wanted and end - stretch.at > 0.1:
            notes.append(
                f"From {stretch.at:.2f} m on, {stretch.speed:.2f} m/s is asked for, but bends, ramps or the short way "
                f"allow {best:.2f} m/s at most"
            )
    return notes


def _actions(
    stretches: tuple[Stretch, ...], distance: Array, speed: Array, busy: BoolArray,
    flights: tuple[tuple[float, float], ...], limits: Limits, fps: float,
) -> tuple[tuple[str, ...], IntArray]:
    """Vocabulary and index (f,) of the action at each frame."""
    starts = np.array([stretch.at for stretch in stretches])
    index = np.clip(np.searchsorted(starts, distance, side="right") - 1, 0, len(stretches) - 1)
    rests = [stretch.rest for stretch in stretches if stretch.rest != STAND]
    jumps = [JUMP] if any(stretch.jump for stretch in stretches) else []
    names = (STAND, *dict.fromkeys([*(stretch.action for stretch in stretches), *rests, *jumps]))
    action = np.array([names.index(stretch.action) for stretch in stretches])[index]
    asked = np.array([stretch.speed for stretch in stretches])[index]
    if "run" in names:
        slow = (action == names.index("run")) & (speed < np.minimum(limits.run_from, 0.8 * asked))
        names = names if "walk" in names else (*names, "walk")
        action = np.where(slow, names.index("walk"), action)
    still = (speed < _STANDING) & ~busy
    action = np.where(still, 0, action).astype(np.int64)
    for stretch in stretches:
        if stretch.rest != STAND:
            _rest(action, still & (np.abs(distance - stretch.at) < _AT_REST), names.index(stretch.rest), stretch, fps)
        if stretch.jump and not flights:
            leap = int(np.argmax(distance >= stretch.at))
            first, last = (leap + round(seconds * fps) for seconds in _LEAP)
            action[max(first, 0) : last] = names.index(JUMP)
    for take_off, landing in flights:
        action[round((take_off - GATHER) * fps) : round((landing + LAND) * fps)] = names.index(JUMP)
    return names, action


def _rest(action: IntArray, there: BoolArray, label: int, stretch: Stretch, fps: float) -> None:
    """Label the frames of a rest, but for those in which the body gets up again before it goes on."""
    for first, end in runs(there):
        goes_on = end < len(action)
        up = round(RESTS[stretch.rest][1] * fps) if goes_on else 0
        action[first : max(end - up, first)] = label
