"""Clips said to be one cycle of a gait: whether they are, why not and what to do, and how they step if they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import animal
from .. import rotations as rot
from ..animal import LEGS
from ..clip import Clip
from ..errors import ClipError
from ..rotations import Array
from ..runs import runs
from .body_feet import BodyFeet, feet_under, loaded_feet, treadmill_speed
from .classify import Gait, classify
from .footfalls import SENSIBLE, Footfalls, analyse_cycle
from .seam import Seam, find_seam
from .stride import Stride

#: A foot whose lowest point is higher than this share of the legs' length never comes down.
_IN_THE_AIR = 0.15
#: Root motion is what goes further than this share of the legs' length, or turns further than this, radians.
_TRAVEL, _TURN = 0.3, np.radians(15.0)
#: Feet that move less than this share of the legs' length under the body do not step.
_STEP = 0.12
#: A cycle shorter than this has no timing, frames.
_FEWEST = 6


@dataclass(frozen=True)
class Problem:
    """Why a clip is no usable cycle.

    Attributes:
        reason: ``doubled frame``, ``missing frame``, ``open seam``, ``never touches``, ``several strides``,
            ``no steps``, ``no gait`` or ``too short``.
        message: what is wrong, in words.
        remedy: what to do about it.
    """

    reason: str
    message: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Cycle:
    """A clip looked at as one cycle.

    Attributes:
        seconds: duration of the cycle; its last frame comes up to one frame before it.
        frames: how many frames of the clip are its own: copies of the first frame at the end are not.
        feet: its feet under the body, at whole shares of the cycle.
        footfalls: its one stride.
        gait: what that is.
        slide: how far the feet stray in a stance from planted ones at the mean speed, mean of the legs, shoulder
            heights.
        travel: metres that the body goes in the clip, taken out; 0 for cycles in place.
        turn: radians that it turns, taken out.
        problems: why it cannot be used; empty if it can.
        notes: what is odd about it.
    """

    seconds: float
    frames: int
    feet: BodyFeet
    footfalls: Footfalls
    gait: Gait
    slide: float
    travel: float
    turn: float
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it can serve as a cycle."""
        return not self.problems

    @property
    def stride(self) -> Stride:
        """The stride."""
        return self.footfalls.strides[0]

    def demand(self) -> Cycle:
        """The cycle itself; raises `ClipError` with the first problem of a broken one."""
        if self.problems:
            raise ClipError(self.problems[0].message, self.problems[0].remedy)
        return self


def check_cycle(clip: Clip, shoulder_height: float | None = None) -> Cycle:
    """Look at a clip of four legs as one cycle; treadmills are fine, root motion is taken out.

    Args:
        clip: the motion; its last frame may be the first again, or the one before it.
        shoulder_height: height of the withers, metres; the skeleton's when not given.

    Raises:
        ClipError: the clip is not of four legs, or has fewer than 6 frames.
    """
    name = f"The cycle {clip.name!r}" if clip.name else "The cycle"
    if not clip.skeleton.four_legged:
        raise ClipError(f"{name} is not of an animal", "Choose motion of an animal with four legs")
    height = animal.shoulder_height(clip.skeleton) if shoulder_height is None else shoulder_height
    return check_points(*_feet_and_tops(clip), clip.fps, leg=clip.skeleton.leg_length, height=height, name=name)


def check_points(
    feet: Array, tops: Array, fps: float, *, leg: float, height: float, name: str = "The cycle"
) -> Cycle:  # fmt: skip
    """`check_cycle` for bare points, as a rig without usable leg chains gives them.

    Args:
        feet: what touches the ground of each leg, as `animal.LEGS` (f, 4, 3), metres.
        tops: hip and shoulder joints (f, 4, 3), metres.
        fps: frames per second.
        leg: length of the legs, metres.
        height: height of the withers, metres.
        name: what messages call the cycle.

    Raises:
        ClipError: there are fewer than 6 frames.
    """
    if len(feet) < _FEWEST:
        raise ClipError(f"{name} has {len(feet)} frames only", "Give one whole stride, key by key")
    way = steady_way(tops, fps, leg)
    points = _carried_back(np.concatenate([feet, tops], axis=1), way.track)
    seam = find_seam(points, fps, leg)
    frames = seam.last - seam.first + seam.gap
    under = _resampled(feet_under(points[:, :4], np.zeros((len(points), 3)), leg), frames, seam)
    step = fps * len(under.height) / frames
    footfalls = analyse_cycle(under, step)
    gait = classify(footfalls.mean, height)
    problems = (*_seam_problems(name, seam), *_step_problems(name, under, step, gait))
    notes = list(gait.notes) if gait.label != "none" else []
    if way.moves:
        notes.append(f"The body goes {way.travel:.2g} m and turns {np.degrees(way.turn):.0f} degrees in the clip; that "
                     "was taken out")  # fmt: skip
    own = seam.last + 1 if seam.gap >= 0.5 else seam.last
    return Cycle(
        frames / fps, own, under, footfalls, gait, slide_of(under, step) / height, way.travel, way.turn, problems,
        tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SteadyWay:
    """What a body would do if it went and turned evenly.

    Attributes:
        track: its root track (f, 3): x, y (metres), yaw (radians); at rest for a body in place.
        travel: the way, metres; 0 in place.
        turn: radians; 0 for a body that does not turn.
    """

    track: Array
    travel: float
    turn: float

    @property
    def moves(self) -> bool:
        """Whether it goes or turns."""
        return bool(self.travel or self.turn)


def steady_way(tops: Array, fps: float, leg: float) -> SteadyWay:
    """The steady part of a body's motion, by the tops of its legs (f, 4, 3), metres; ``leg`` is the legs' length."""
    hind, fore = tops[:, :2].mean(axis=1), tops[:, 2:].mean(axis=1)
    middle, yaw = 0.5 * (hind + fore)[:, :2], np.unwrap(rot.yaw_of_direction((fore - hind)[:, :2]))
    seconds = np.arange(len(tops)) / fps
    centred = seconds - seconds.mean()
    spread = max(float(np.sum(centred**2)), 1e-12)
    rate = float(np.sum(centred * yaw) / spread)
    turns = abs(rate * seconds[-1]) > _TURN
    heading = np.full(len(tops), yaw.mean()) + (rate * centred if turns else 0.0)
    travels = turns or float(np.linalg.norm(centred @ middle)) / spread * seconds[-1] > _TRAVEL * leg
    place = np.tile(middle.mean(axis=0), (len(tops), 1))
    if travels:
        place = _even_way(middle, heading, seconds)
    travel = float(np.linalg.norm(np.diff(place, axis=0), axis=1).sum())
    return SteadyWay(np.concatenate([place, heading[:, None]], axis=1), travel, rate * seconds[-1] if turns else 0.0)


def in_place(clip: Clip) -> Clip:
    """A clip of four legs without its steady travel and turn, its root at rest at the origin, facing -Y.

    The sway of the body about its steady way stays.
    """
    tops = _feet_and_tops(clip)[1]
    track = steady_way(tops, clip.fps, clip.skeleton.leg_length).track
    return replace(clip, root=track).moved(-track)


def slide_of(feet: BodyFeet, fps: float) -> float:
    """How far feet stray in a stance from planted ones at the cycle's mean speed, mean over the legs, metres."""
    down = loaded_feet(feet, fps, cyclic=True)
    speed = treadmill_speed(feet, down, fps, cyclic=True)
    frames = len(down)
    strays = []
    for leg in range(len(LEGS)):
        twice = np.tile(down[:, leg], 2)
        stances = [(a, b) for a, b in runs(twice) if a > 0 and b < 2 * frames][:1]
        for first, last in stances:
            at = np.arange(first, last)
            ahead = feet.ahead[at % frames, leg] + speed * (at - first) / fps
            left = feet.left[at % frames, leg]
            strays.append(float(np.hypot(np.ptp(ahead), np.ptp(left))))
    return float(np.mean(strays)) if strays else 0.0


def _even_way(middle: Array, yaw: Array, seconds: Array) -> Array:
    """The way (f, 2) of a body that goes at the mean of its speeds ahead and aside, about the mean place."""
    velocity = np.gradient(middle, seconds, axis=0)
    sine, cosine = np.sin(yaw), np.cos(yaw)
    ahead = float(np.mean(velocity[:, 0] * sine - velocity[:, 1] * cosine))
    left = float(np.mean(velocity[:, 0] * cosine + velocity[:, 1] * sine))
    even = np.stack([ahead * sine + left * cosine, left * sine - ahead * cosine], axis=1)
    between = 0.5 * (even[1:] + even[:-1]) * np.diff(seconds)[:, None]
    way = np.concatenate([np.zeros((1, 2)), np.cumsum(between, axis=0)])
    return np.asarray(way - way.mean(axis=0) + middle.mean(axis=0))


def _carried_back(points: Array, track: Array) -> Array:
    """Points (f, n, 3) as the body on ``track`` (f, 3) sees them: ahead is -Y."""
    away = points - np.concatenate([track[:, :2], np.zeros((len(track), 1))], axis=1)[:, None]
    return np.asarray(rot.inv_rotate(rot.from_yaw(track[:, 2])[:, None], away))


def _feet_and_tops(clip: Clip) -> tuple[Array, Array]:
    positions, rotations = clip.world
    tops = positions[:, [foot.hip for foot in clip.skeleton.feet]]
    return animal.contact_points(clip.skeleton, positions, rotations), tops


def _resampled(feet: BodyFeet, period: float, seam: Seam) -> BodyFeet:
    """The feet at whole shares of a cycle of ``period`` frames (fractional)."""
    count = max(round(period), 4)
    at = seam.first + np.arange(count) * period / count
    frame = np.arange(seam.first, seam.last + (1 if seam.gap > 1e-9 else 0))

    def track(values: Array) -> Array:
        return np.stack([np.interp(at, frame, column[frame], period=period) for column in values.T], axis=1)

    return BodyFeet(track(feet.ahead), track(feet.left), track(feet.height), feet.leg, np.zeros((count, 3)))


def _seam_problems(name: str, seam: Seam) -> list[Problem]:
    found = []
    if seam.doubled or seam.doubled_start:
        which = "last" if seam.doubled else "first"
        found.append(Problem(
            "doubled frame", f"{name} holds its {which} pose for a frame more while the body moves",
            f"Delete the doubled {which} key" + (" and draw the one that is missing after it" if seam.missing else ""),
        ))  # fmt: skip
    if seam.missing:
        frames = "a frame is" if seam.missing == 1 else f"{seam.missing} frames are"
        found.append(Problem(
            "missing frame", f"{name}: {frames} missing between its last pose and its first",
            "Draw the missing keys, or shift the keys so that the cycle goes on evenly",
        ))  # fmt: skip
    if seam.open and not seam.missing:
        found.append(Problem(
            "open seam", f"{name} does not close: a leg is {seam.off:.0%} of its length off where it starts again",
            "Copy the first pose to the end, or cut the clip to one whole stride",
        ))  # fmt: skip
    elif seam.reversed:
        found.append(Problem(
            "open seam", f"{name} turns round at its end: the legs go back the way they came",
            "Cut the clip to one whole stride; there and back is none",
        ))  # fmt: skip
    return found


def _step_problems(name: str, feet: BodyFeet, fps: float, gait: Gait) -> list[Problem]:
    lowest = feet.height.min(axis=0) / feet.leg
    flying = [leg.replace("_", " ") for leg, low in zip(LEGS, lowest, strict=True) if low > _IN_THE_AIR]
    found = []
    if flying:
        found.append(Problem(
            "never touches", f"{name}: the {', '.join(flying)} foot never comes down to the ground",
            "Lower the body or stretch the legs until every foot touches, at height 0",
        ))  # fmt: skip
    if gait.label == "stand" or float(np.ptp(feet.ahead, axis=0).max()) < _STEP * feet.leg:
        found.append(Problem("no steps", f"{name} does not step: its feet stay under the body",
                             "Choose a cycle that walks or runs"))  # fmt: skip
        return found
    power = np.sum(np.abs(np.fft.rfft(feet.ahead - feet.ahead.mean(axis=0), axis=0)) ** 2, axis=1)
    strides = int(np.argmax(power[: max(len(power) // 2, 2)]))
    seconds = len(feet.height) / fps
    if strides > 1:
        found.append(Problem("several strides", f"{name} holds {strides} strides", "Cut it to one"))
    elif not SENSIBLE[0] <= seconds <= SENSIBLE[1]:
        found.append(Problem("no gait", f"{name}: a stride of {seconds:.2f} s is none", "Check its frame rate"))
    elif gait.label == "none":
        found.append(Problem("no gait", f"{name} is no gait of an animal: {gait.notes[0]}",
                             "Correct the timing of the legs, or its speed"))  # fmt: skip
    return found
