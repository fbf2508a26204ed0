"""Where feet stand and how they get there: spots under the moving girdles, swings between them, paws that fold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import rotations as rot
from ..animal import LEGS
from ..bridging import minimum_jerk
from ..rotations import Array
from .body import Body
from .padded_root import PaddedRoot
from .settings import GaitSettings
from .table import BODY
from .timing import Swing, Timing

#: Steps shorter than this share of the shoulder height are not made while the body stands.
_NO_STEP = 0.035
#: A foot is set down at most so far ahead of its place in standing, and no further in a stop, in shoulder heights.
_REACH = 0.34
#: Feet keep this much of their distance in standing while the body turns on the spot.
_TURNING_WIDTH = 1.1
#: A foot leaves early or lands late where its leg is stretched, by at most this share of the stance.
_GIVE_WAY = 0.35
#: In the middle of a stance hind feet are nearer under the hips than in standing (share of the distance), fore feet
#: behind the shoulder joint by this share of the way to the blade's top, or without one of the distance in standing.
_UNDER_HIP, _UNDER_BLADE, _UNDER_SHOULDER = 0.1, 0.27, 0.6
#: Where in a swing the foot is highest, and where the paw is folded most.
_HIGHEST, _FOLDED = 0.42, 0.32
#: The paw begins to peel off this share of the swing's duration before it leaves.
_PEEL = 0.45
#: ... but no earlier than this share of the stance before its end.
_PEEL_LATEST = 0.75
#: The paw is flat again this share of the swing before landing.
_FLAT = 0.06
#: A foot is well in the air after, and before the last, this share of its swing.
_AIRBORNE = 0.22
#: Share of a swing in which the foot comes up to speed, and again in which it is braked, by duty: a galloping leg that
#: were braked early would be carried far ahead of its touchdown.
_EASE = ([0.3, 0.55], [0.32, 0.5])


@dataclass(frozen=True, eq=False)
class FootPaths:
    """What the four feet do.

    Attributes:
        position: of the bearing joint (or the leg's end), relative to its height in standing (f, 4, 3), metres.
        yaw: of each foot (f, 4), radians.
        peel: pitch of the foot, heel up (f, 4), radians.
        curl: pitch of the toes (f, 4), radians; 0 on the ground.
        air: how far into the air each foot is (f, 4): 0 on the ground, 1 well away from lift-off and touchdown.
        contact: (f, 4).
    """

    position: Array
    yaw: Array
    peel: Array
    curl: Array
    air: Array
    contact: npt.NDArray[np.bool_]


def foot_paths(course: PaddedRoot, timing: Timing, body: Body, numbers: Array, settings: GaitSettings) -> FootPaths:
    """The feet along a course.

    Args:
        course: padded.
        timing: from `timing_of`.
        body: the skeleton.
        numbers: the body's numbers at each frame (f, len(BODY)).
        settings: seed and variation.
    """
    places, facing = _neutral(course, timing, body, numbers)
    rng = np.random.default_rng([settings.seed, 2])
    frames = len(course)
    yaw, peel, curl, air = np.zeros((4, frames, 4))
    out = FootPaths(np.zeros((frames, 4, 3)), yaw, peel, curl, air, np.ones((frames, 4), dtype=np.bool_))
    for leg in range(4):
        kept, spots = _spots(timing.swings[leg], places[:, leg], facing[:, leg], course, body)
        _walk(out, leg, kept, spots, numbers, timing.duty[:, leg], body, settings, rng)
    return out


def giving_way(timing: Timing, feet: FootPaths, stretched: npt.NDArray[np.bool_]) -> Timing:
    """The timing with feet lifted before, and set down after, the frames (f, 4) in which their legs do not reach."""
    legs = []
    for leg, swings in enumerate(timing.swings):
        held = feet.contact[:, leg] & ~stretched[:, leg]
        changed = list(swings)
        for number, swing in enumerate(swings):
            before = swings[number - 1].land if number else 0.0
            after = swings[number + 1].lift if number + 1 < len(swings) else len(held) - 1.0
            lift = _last_held(held, swing.lift, _GIVE_WAY * (swing.lift - before), -1)
            land = _last_held(held, swing.land, _GIVE_WAY * (after - swing.land), 1)
            changed[number] = Swing(lift, land)
        legs.append(tuple(changed))
    return replace(timing, swings=tuple(legs))


def _last_held(held: npt.NDArray[np.bool_], event: float, room: float, way: int) -> float:
    """The event moved from a stance's end into it over frames that are not held; no further than ``room`` frames."""
    frame = int(np.ceil(event)) - (1 if way < 0 else 0)
    moved = event
    while 0 <= frame < len(held) and not held[frame] and abs(moved - event) + 1.0 <= room:
        moved = float(frame) if way < 0 else float(frame + 1)
        frame += way
    return moved


def _neutral(course: PaddedRoot, timing: Timing, body: Body, numbers: Array) -> tuple[Array, Array]:
    """Where each foot would stand under its girdle (f, 4, 2) and its girdle's yaw (f, 4)."""
    pelvis, pelvis_yaw, chest, chest_yaw = course.girdles(body.trunk_length)
    narrow = numbers[:, BODY.index("width")]
    width = 1.0 + timing.moving * (narrow + course.turning * (_TURNING_WIDTH - narrow) - 1.0)
    places, yaws = [], []
    for leg in range(len(LEGS)):
        ground, yaw = (pelvis, pelvis_yaw) if leg < 2 else (chest, chest_yaw)
        beside, behind = body.places[leg]
        under = behind + timing.moving * (_under(body, leg) - behind)
        places.append(ground + rot.rotate_2d(yaw, np.stack([width * beside, under], axis=1)))
        yaws.append(yaw)
    return np.stack(places, axis=1), np.stack(yaws, axis=1)


def _under(body: Body, leg: int) -> float:
    """How far behind its girdle's middle a foot stands in the middle of a stance, metres."""
    behind = float(body.places[leg, 1])
    if leg < 2:
        return _UNDER_HIP * behind
    return _UNDER_BLADE * body.blade_reach if body.blade_reach > 0.0 else _UNDER_SHOULDER * behind


def _at(track: Array, frame: float) -> Array:
    """A track (f, ...) at a fractional frame, clamped to its ends."""
    frame = min(max(frame, 0.0), len(track) - 1.0)
    index = min(int(frame), len(track) - 2) if len(track) > 1 else 0
    part = frame - index
    return np.asarray(track[index] if part == 0.0 else (1.0 - part) * track[index] + part * track[index + 1])


def _spots(
    swings: tuple[Swing, ...], place: Array, facing: Array, course: PaddedRoot, body: Body
) -> tuple[list[Swing], list[Array]]:
    """The swings that are made, and the stance spots (x, y, yaw) before, between and after them."""
    track = np.concatenate([place, facing[:, None]], axis=1)
    still = course.pace <= course.moving_from
    kept: list[Swing] = []
    # Before the first swing: standing, or a stance whose beginning lies before the course.
    first_lift = swings[0].lift if swings else float(len(course))
    spots = [_stance(track, still, None, first_lift, body)]
    for number, swing in enumerate(swings):
        following = swings[number + 1].lift if number + 1 < len(swings) else None
        spot = _stance(track, still, swing.land, following, body)
        rows = slice(max(int(swing.lift), 0), max(min(int(swing.land) + 1, len(still)), 1))
        near = float(np.linalg.norm((spot - spots[-1])[:2])) < _NO_STEP * body.height
        if near and abs(float(spot[2] - spots[-1][2])) < 0.12 and bool(np.all(still[rows])):
            continue
        kept.append(swing)
        spots.append(spot)
    return kept, spots


def _stance(track: Array, still: npt.NDArray[np.bool_], land: float | None, lift: float | None, body: Body) -> Array:
    """Where a foot stands (x, y, yaw) from ``land`` to ``lift``: amid its places then.

    A stance in which the body stands is at the place it has then, as far as the leg reaches.
    """
    end = len(track) - 1.0
    first, last = 0.0 if land is None else land, end if lift is None else lift
    low, high = int(np.clip(np.ceil(first), 0, end)), int(np.clip(np.floor(last), 0, end))
    stands = np.flatnonzero(still[low : high + 1])
    if len(stands):
        rest = track[low + int(stands[-1])]
        begin = _at(track, first)
        gap = rest - begin
        far = float(np.linalg.norm(gap[:2]))
        if far > _REACH * body.height:
            return np.asarray(begin + gap * (_REACH * body.height / far))
        return np.asarray(rest)
    return np.asarray(0.25 * (_at(track, first) + 2.0 * _at(track, 0.5 * (first + last)) + _at(track, last)))


def _walk(
    out: FootPaths, leg: int, swings: list[Swing], spots: list[Array], numbers: Array, duty: Array, body: Body,
    settings: GaitSettings, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Write one foot's stances and swings."""
    frames = np.arange(len(out.contact))
    places = np.stack(spots)
    lift, land = (np.array([getattr(swing, name) for swing in swings]) for name in ("lift", "land"))
    # The swing that a frame belongs to, or that comes next; after the last one there is none.
    which = np.searchsorted(land, frames, side="right")
    lasts, amid = land - lift, 0.5 * (lift + land)
    follows = np.minimum(which + 1, len(spots) - 1)
    out.position[:, leg, :2], out.yaw[:, leg] = places[which, :2], places[which, 2]
    if len(lasts) == 0:
        return
    middle = np.clip(amid, 0, len(frames) - 1).astype(np.int64)
    vary = 1.0 + np.clip(rng.standard_normal(len(lasts)), -2.0, 2.0) * 2.0 * settings.variation
    step = np.linalg.norm(np.diff(places[:, :2], axis=0), axis=1) / body.height
    # Small closing steps lift the foot less.
    vary = vary * np.minimum(1.0, 0.35 + step)
    end = "hind" if leg < 2 else "fore"
    height = numbers[middle, BODY.index(f"lift_{end}")] * body.height * vary
    fold = np.radians(numbers[middle, BODY.index(f"fold_{end}")]) * vary
    ramp = np.interp(duty[middle], *_EASE)
    # A paw does not peel off before the stance is under way.
    stance = lift - np.concatenate([[-np.inf], land[:-1]])
    peel = np.minimum(_PEEL, _PEEL_LATEST * stance / lasts)
    near = (frames >= (lift - peel * lasts)[np.minimum(which, len(lasts) - 1)]) & (which < len(lasts))
    rows, of = frames[near], which[near]
    part = (rows - lift[of]) / lasts[of]
    flying = part >= 0.0
    if body.limbs[leg].foot.toe != body.limbs[leg].foot.ankle:
        out.peel[rows, leg] = fold[of] * _bump(part, -peel[of], _FOLDED, 1.0 - _FLAT)
        out.curl[rows[flying], leg] = fold[of][flying] * _bump(part[flying], 0.0, _FOLDED, 1.0 - _FLAT)
    air, of, way = rows[flying], of[flying], part[flying]
    moved = _eased(way, ramp[of])
    going = places[follows[air]] - places[which[air]]
    out.position[air, leg, :2] += moved[:, None] * going[:, :2]
    out.yaw[air, leg] += moved * going[:, 2]
    out.position[air, leg, 2] = height[of] * _bump(way, 0.0, _HIGHEST, 1.0)
    out.contact[air, leg] = False
    out.air[air, leg] = minimum_jerk(way / _AIRBORNE) * minimum_jerk((1.0 - way) / _AIRBORNE)


def _eased(x: Array, ramp: Array) -> Array:
    """Way from 0 to 1 at a constant speed but for smooth ramps of that share of the time at both ends."""
    x = np.clip(x, 0.0, 1.0)
    up, down = np.minimum(x / ramp, 1.0), np.minimum((1.0 - x) / ramp, 1.0)
    begun, left = (ramp * (u**3 - 0.5 * u**4) for u in (up, down))
    steady = np.where(x < ramp, begun, np.where(x > 1.0 - ramp, 1.0 - ramp - left, 0.5 * ramp + (x - ramp)))
    return np.asarray(steady / (1.0 - ramp))


def _bump(x: Array, begin: Array | float, top: float, end: float) -> Array:
    """From 0 at ``begin`` to 1 at ``top`` and back to 0 at ``end``, minimum jerk each way."""
    return np.where(x < top, minimum_jerk((x - begin) / (top - begin)), minimum_jerk((end - x) / (end - top)))
