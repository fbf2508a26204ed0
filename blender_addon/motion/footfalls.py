"""Where and when each foot stands: contacts cleaned, locks broken that reach too far, quick steps inserted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .bridging import BoolArray
from .rotations import Array
from .runs import Runs, runs


@dataclass(frozen=True)
class StepLimits:
    """When a lock is broken, and how the step that mends it looks.

    Attributes:
        reach: a lock is broken when its foot would stand further than this from where the body wants it, metres.
        turn: the same for its heading, radians.
        step: shortest and longest duration of an inserted step, seconds: the faster the strain grows, the shorter.
        stand: shortest stand left before and after an inserted step, seconds.
        together: longest time both feet stand while the root moves or turns, seconds.
        trim: longest time a strained stand begins later or ends earlier, seconds.
        moving, turning: speed (m/s) and yaw rate (rad/s) of the root above which it moves or turns.
        gap: contacts of one foot closer than this are one, seconds.
        spike: contacts shorter than this are none, seconds.
    """

    reach: float = 0.075
    turn: float = np.radians(20.0)
    step: tuple[float, float] = (0.36, 0.5)
    stand: float = 0.15
    together: float = 1.2
    trim: float = 0.15
    moving: float = 0.1
    turning: float = 0.2
    gap: float = 0.1
    spike: float = 0.05


@dataclass(frozen=True)
class Footfalls:
    """One foot's stands.

    Attributes:
        stands: stretches [first, last) of frames, ascending.
        spots: where the ball is locked (stands, 2), metres.
        yaws: the heading it is locked at (stands,), radians, unwrapped along the clip.
        inserted: for each gap between stands, whether planting made it (stands - 1,).
    """

    stands: Runs
    spots: Array
    yaws: Array
    inserted: tuple[bool, ...]

    def mask(self, frames: int) -> BoolArray:
        """Contact per frame (f,)."""
        out = np.zeros(frames, dtype=bool)
        for first, last in self.stands:
            out[first:last] = True
        return out


@dataclass
class _Foot:
    balls: Array
    yaws: Array
    contact: BoolArray
    made: BoolArray
    settled: set[tuple[int, int]] = field(default_factory=set)


def find_footfalls(
    contacts: BoolArray, balls: Sequence[Array], yaws: Sequence[Array], root: Array, fps: float, limits: StepLimits
) -> tuple[Footfalls, ...]:
    """Stands of each foot, with quick steps where one lock cannot hold.

    Args:
        contacts: source contacts (f, feet).
        balls: horizontal ball positions (f, 2) of each foot, metres.
        yaws: headings (f,) of each foot, unwrapped, radians.
        root: root track (f, 3), x, y, yaw.
    """
    feet = [
        _Foot(ball, yaw, _clean(contacts[:, i], fps, limits), np.zeros(len(contacts), dtype=bool))
        for i, (ball, yaw) in enumerate(zip(balls, yaws, strict=True))
    ]
    _break_locks(feet, fps, limits)
    if len(feet) == 2:
        _break_long_stands(feet, _busy(root, fps, limits), fps, limits)
    return tuple(_lock(foot, limits) for foot in feet)


def _clean(contact: BoolArray, fps: float, limits: StepLimits) -> BoolArray:
    out = np.array(contact)
    for first, last in runs(~out):
        if first > 0 and last < len(out) and last - first <= limits.gap * fps:
            out[first:last] = True
    for first, last in runs(out):
        if first > 0 and last < len(out) and last - first < limits.spike * fps:
            out[first:last] = False
    return out


def _strain(foot: _Foot, first: int, last: int, limits: StepLimits) -> Array:
    """Half the range the ball and heading cover from ``first`` up to each frame, in units of the limits."""
    values = np.concatenate(
        [foot.balls[first:last] / limits.reach, foot.yaws[first:last, None] / limits.turn], axis=1
    )
    extent = 0.5 * (np.maximum.accumulate(values) - np.minimum.accumulate(values))
    return np.asarray(np.maximum(np.linalg.norm(extent[:, :2], axis=1), extent[:, 2]))


def _break_locks(feet: list[_Foot], fps: float, limits: StepLimits) -> None:
    """Insert steps, earliest strained stand first, until no stand that can be broken is strained."""
    for _ in range(4 * len(feet[0].contact)):
        worst: tuple[int, int, tuple[int, int]] | None = None
        for which, foot in enumerate(feet):
            for stand in runs(foot.contact):
                if stand in foot.settled:
                    continue
                strain = _strain(foot, *stand, limits)
                strained = np.flatnonzero(strain > 1.0)
                if len(strained) == 0:
                    foot.settled.add(stand)
                elif worst is None or stand[0] + strained[0] < worst[0]:
                    worst = (stand[0] + int(strained[0]), which, stand)
        if worst is None:
            return
        at, which, stand = worst
        if not _relieve(feet, which, stand, at, fps, limits):
            feet[which].settled.add(_trim(feet, which, stand, fps, limits))


def _relieve(
    feet: list[_Foot], which: int, stand: tuple[int, int], at: int, fps: float, limits: StepLimits
) -> bool:
    """Mend a stand strained at frame ``at``: leave early, land late, or step; False when nothing fits."""
    foot, support = feet[which], _support(feet, which)
    first, last = stand
    frames = len(foot.contact)
    step, least = _step_frames(_strain(foot, first, last, limits), at - first, fps, limits), round(limits.stand * fps)
    # The swing that follows can begin earlier, or the one before end later, while the other foot stands.
    if last < frames and last - at < step + least and at - first >= least and np.all(support[at:last]):
        foot.contact[at:last] = False
        return True
    if first > 0 and at - first < least and last - at >= least and np.all(support[first : at + 1]):
        strain = _strain_backwards(foot, first, last, limits)
        late = first + int(np.argmax(strain <= 1.0))
        late = max(min(late, first + step), at)
        if np.all(support[first:late]) and last - late >= least:
            foot.contact[first:late] = False
            return True
    starts = np.arange(first + least, last - step - least + 1)
    if len(starts) == 0:
        return False
    free = np.concatenate([[0], np.cumsum(~support)])
    possible = free[starts + step] - free[starts] == 0
    if not np.any(possible):
        return False
    starts = starts[possible]
    start = int(starts[np.argmin(np.abs(starts - (at - 0.25 * step)))])
    # A step long after the strain began would only add motion: wait for the foot's own swing instead.
    if start > at + 2 * step and last < frames and last - start < 2 * step:
        return False
    foot.contact[start : start + step] = False
    foot.made[start : start + step] = True
    return True


def _trim(feet: list[_Foot], which: int, stand: tuple[int, int], fps: float, limits: StepLimits) -> tuple[int, int]:
    """Let a strained stand begin later and end earlier where the other foot stands; returns what is left of it."""
    foot = feet[which]
    first, last = stand
    frames, most = len(foot.contact), round(limits.trim * fps)
    support = _support(feet, which)
    if first > 0:
        room = 0
        while room < most and first + room < last and support[first + room]:
            room += 1
        relaxed = np.flatnonzero(_strain_backwards(foot, first, last, limits)[: room + 1] <= 1.0)
        late = first + (int(relaxed[0]) if len(relaxed) else room)
        foot.contact[first:late] = False
        first = late
    if last < frames:
        room = 0
        while room < most and last - room - 1 > first and support[last - room - 1]:
            room += 1
        strained = np.flatnonzero(_strain(foot, first, last, limits) > 1.0)
        early = max(last - room, first + int(strained[0])) if len(strained) else last
        foot.contact[early:last] = False
        last = early
    return first, last


def _support(feet: list[_Foot], which: int) -> BoolArray:
    """Frames (f,) in which every other foot stands, and did and will within two frames."""
    others = [foot.contact for i, foot in enumerate(feet) if i != which]
    support = np.all(others, axis=0) if others else np.ones(len(feet[0].contact), dtype=bool)
    lifted = np.concatenate([[0, 0], (~support).astype(int), [0, 0]])
    return np.asarray(np.convolve(lifted, np.ones(5, dtype=int), mode="valid") == 0)


def _step_frames(strain: Array, at: int, fps: float, limits: StepLimits) -> int:
    """Frames for a step: the time in which the strain around index ``at`` doubles from 1, within the limits."""
    half = max(1, round(0.2 * fps))
    before, after = max(at - half, 0), min(at + half, len(strain) - 1)
    rate = (strain[after] - strain[before]) / max(after - before, 1) * fps
    return int(round(float(np.clip(1.0 / max(rate, 1e-6), *limits.step)) * fps))


def _strain_backwards(foot: _Foot, first: int, last: int, limits: StepLimits) -> Array:
    """Strain of the stretch from each frame up to ``last``."""
    flipped = _Foot(foot.balls[::-1], foot.yaws[::-1], foot.contact, foot.made)
    frames = len(foot.balls)
    return np.asarray(_strain(flipped, frames - last, frames - first, limits)[::-1])


def _busy(root: Array, fps: float, limits: StepLimits) -> BoolArray:
    if len(root) < 2:
        return np.zeros(len(root), dtype=bool)
    velocity = np.gradient(root, 1.0 / fps, axis=0)
    busy = (np.linalg.norm(velocity[:, :2], axis=1) > limits.moving) | (np.abs(velocity[:, 2]) > limits.turning)
    return np.asarray(busy)


def _break_long_stands(feet: list[_Foot], busy: BoolArray, fps: float, limits: StepLimits) -> None:
    """Step with one foot in the middle of each long double support in which the root moves or turns."""
    step, least = round(limits.step[1] * fps), round(limits.stand * fps)
    longest = round(limits.together * fps)
    for _ in range(len(busy)):
        both = feet[0].contact & feet[1].contact & busy
        long = [(a, b) for a, b in runs(both) if b - a > longest]
        if not long:
            return
        done = False
        for first, last in long:
            start = first + min(longest, (last - first)) // 2 - step // 2
            room = [
                (float(_strain(foot, a, b, limits)[-1]), foot)
                for foot in feet
                for a, b in runs(foot.contact)
                if a + least <= start and start + step + least <= b
            ]
            if room:
                foot = max(room, key=lambda pair: pair[0])[1]
                foot.contact[start : start + step] = False
                foot.made[start : start + step] = True
                done = True
        if not done:
            return


def _lock(foot: _Foot, limits: StepLimits) -> Footfalls:
    stands = runs(foot.contact)
    spots = np.zeros((len(stands), 2))
    yaws = np.zeros(len(stands))
    for k, (first, last) in enumerate(stands):
        spots[k] = _centre(foot.balls[first:last], limits.reach)
        yaws[k] = _centre(foot.yaws[first:last, None], limits.turn)[0]
    gaps = zip(stands[:-1], stands[1:], strict=True)
    inserted = tuple(bool(np.all(foot.made[before[1] : after[0]])) for before, after in gaps)
    return Footfalls(stands, spots, yaws, inserted)


def _centre(values: Array, limit: float) -> Array:
    """The median (d,) of the first two thirds of (n, d), moved as far as needed to have all within ``limit``.

    Of the first two thirds: a leg reaches less far ahead than behind, where the heel can rise. When they are too
    far apart it is their middle.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    middle = 0.5 * (low + high)
    slack = np.maximum(limit - 0.5 * (high - low), 0.0)
    early = values[: max(3, round(0.67 * len(values)))]
    return np.asarray(np.clip(np.median(early, axis=0), middle - slack, middle + slack))
