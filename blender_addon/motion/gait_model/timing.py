"""When each foot leaves the ground and lands: the stride's phase along a course, changes of gait, starts, stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..animal import LEGS
from ..gait_names import GAITS
from ..rotations import Array
from ..runs import carried_over
from ..speed_profile import smoothed
from .padded_root import PaddedRoot, dilated
from .settings import GaitSettings
from .table import GRAVITY, GaitTable, gaits_along, load_table

IntArray = npt.NDArray[np.int64]

#: Gaits go over into each other within so much of a stride to each side of the change.
_BLEND_STRIDES = 0.65
#: Samples of a stride while lags are blended.
_SAMPLES = 48
#: The slowest stepping, in strides a second times sqrt(h / g); and the Froude number up to which a start or a stop
#: steps as quickly as the speed within ``_AROUND`` seconds (for 0.6 m) asks.
_SLOW_STEPS, _QUICK_FROUDE, _AROUND = 0.19, 0.12, 0.3
#: A gait that would last less than so many strides is left out.
_SHORTEST = 1.0
#: After a stop feet close up for so many slow strides.
_CLOSING = 1.1
#: Body motion fades in and out over so many seconds (0.6 m).
_FADE = 0.3
#: No swing is quicker than this, seconds for an animal of 0.6 m.
_QUICKEST = 0.12
#: Left and right changed about.
_MIRROR = [1, 0, 3, 2]
#: Lead is chosen by the bend from this many radians on.
_LEADING_BEND = 0.03


@dataclass(frozen=True, eq=False)
class Swing:
    """One foot's way from one stance to the next: frames (fractional) of lift-off and touchdown."""

    lift: float
    land: float


@dataclass(frozen=True, eq=False)
class Timing:
    """The gait over a course.

    Attributes:
        gait: index into `GAITS` (f,).
        weights: of each gait's body motion (f, len(GAITS)), sum 1.
        moving: weight of moving against standing (f,), 0..1.
        phase: of each leg, whole numbers at touchdowns (f, 4).
        duty: (f, 4).
        frequency: strides a second (f,).
        swings: of each leg, in order.
    """

    gait: IntArray
    weights: Array
    moving: Array
    phase: Array
    duty: Array
    frequency: Array
    swings: tuple[tuple[Swing, ...], ...]


def timing_of(
    course: PaddedRoot, asked: Sequence[str], asking: IntArray, height: float, table: GaitTable, settings: GaitSettings
) -> Timing:
    """The gait along a course.

    Args:
        course: padded.
        asked: vocabulary of ``asking``.
        asking: (f,) index into ``asked``, padded as the course.
        height: of the shoulders, metres.
        table: of gaits.
        settings: seed, variation, lead.
    """
    rng = np.random.default_rng([settings.seed, 1])
    runs = _runs(course, height)
    rate_of = np.stack([table[name].frequency(course.pace, height) for name in GAITS], axis=1)
    gait = gaits_along(course.speed, asked, asking, height, table)
    weights = _weights(gait, course)
    frequency = _frequency(course, rate_of, weights, runs, height)
    gait = carried_over(gait, _SHORTEST, clock=np.cumsum(frequency) / course.fps)
    weights = _weights(gait, course)
    frequency = _frequency(course, rate_of, weights, runs, height)
    frequency = frequency * _variation(np.cumsum(frequency) / course.fps, settings.variation, rng)
    base = np.concatenate([[0.0], np.cumsum(0.5 * (frequency[1:] + frequency[:-1])) / course.fps])
    base = base - base[min(course.pad, len(base) - 1)]
    targets = _lags(gait, course, table, settings, rng)
    duties = np.stack([table[name].duty_factor(course.pace, height) for name in GAITS], axis=1)
    duty = np.take_along_axis(duties, gait[:, None], axis=1)
    blended = _blended(np.concatenate([targets, duty], axis=1), base)
    lags, duty = blended[:, :4], np.repeat(blended[:, 4:], 4, axis=1)
    phase = base[:, None] - lags
    phase, swings = _events(phase, duty, runs, course, settings, rng, frequency)
    return Timing(gait, weights, _moving(course, runs), phase, duty, frequency, swings)


@dataclass(frozen=True)
class _Run:
    """Frames in which the animal moves: from ``first`` on; its root stands from ``stop`` on, steps end at ``last``."""

    first: int
    stop: int
    last: int


def _slow_rate(height: float) -> float:
    return _SLOW_STEPS * float(np.sqrt(GRAVITY / height))


def _runs(course: PaddedRoot, height: float) -> list[_Run]:
    """Stretches of movement; short stands between two are stepped through."""
    moves = course.pace > course.moving_from
    edges = np.flatnonzero(np.diff(np.concatenate([[False], moves, [False]]).astype(int)))
    closing = int(np.ceil(_CLOSING / _slow_rate(height) * course.fps))
    apart = closing + int(np.ceil(0.6 / _slow_rate(height) * course.fps))
    found: list[_Run] = []
    for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if found and first - found[-1].stop < apart:
            found[-1] = _Run(found[-1].first, stop, min(stop + closing, len(course)))
        else:
            found.append(_Run(first, stop, min(stop + closing, len(course))))
    return found


def _weights(gait: IntArray, course: PaddedRoot) -> Array:
    """Weights (f, gaits) of the gaits, going over smoothly."""
    half = 0.35 * float(np.sqrt(course.scale))
    shares = np.zeros((len(gait), len(GAITS)))
    for index in np.unique(gait).tolist():
        shares[:, index] = smoothed((gait == index).astype(np.float64), half, course.fps)
    return shares


def _frequency(course: PaddedRoot, rate_of: Array, weights: Array, runs: list[_Run], height: float) -> Array:
    """Strides a second (f,); 0 while standing."""
    rate = np.sum(rate_of * weights, axis=1)
    reach = max(int(_AROUND * np.sqrt(course.scale) * course.fps), 1)
    quick = np.sqrt(_QUICK_FROUDE * GRAVITY * height)
    walking = np.minimum(dilated(np.minimum(course.pace, quick), reach), quick)
    walk_rate = np.interp(walking, *_walk_rates(height))
    rate = np.maximum(rate, np.where(course.pace < quick, walk_rate, 0.0))
    rate = np.maximum(rate, _slow_rate(height))
    steps = np.zeros(len(course), dtype=np.bool_)
    for run in runs:
        steps[run.first : run.last] = True
    return np.where(steps, rate, 0.0)


def _walk_rates(height: float) -> tuple[Array, Array]:
    """Speeds, m/s, and how often a walking animal steps at them."""
    speed = np.linspace(0.0, np.sqrt(0.5 * GRAVITY * height), 40)
    return speed, load_table()["walk"].frequency(speed, height)


def _variation(strides: Array, amount: float, rng: np.random.Generator) -> Array:
    """Factors (f,) on the stride frequency, changing smoothly from stride to stride."""
    count = int(strides[-1]) + 3
    drawn = np.clip(rng.standard_normal(count), -2.0, 2.0) * amount
    return np.exp(np.interp(strides, np.arange(count), drawn))


def _lags(
    gait: IntArray, course: PaddedRoot, table: GaitTable, settings: GaitSettings, rng: np.random.Generator
) -> Array:
    """Lags (f, 4) without jumps of whole strides, all four shifted alike so that no foot has to hurry much."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(gait)) + 1, [len(gait)]])
    out = np.empty((len(gait), 4))
    start = rng.uniform() if settings.start_phase is None else -settings.start_phase
    before: Array | None = None
    drawn = bool(rng.integers(2))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        lags = table[GAITS[gait[first]]].lags
        found = None
        for mirrored in _leads(lags, table[GAITS[gait[first]]].symmetrical, course.bend[first:last], settings, drawn):
            mine = lags[_MIRROR] if mirrored else lags
            candidate = (start + mine, 0.0) if before is None else _nearest(mine, before)
            if found is None or candidate[1] < found[1]:
                found = candidate
        assert found is not None
        before = found[0]
        out[first:last] = before
    return out


def _leads(lags: Array, symmetrical: bool, bend: Array, settings: GaitSettings, drawn: bool) -> list[bool]:
    """Whether the lags may or must be mirrored, so that the fore foot wished for, or the bend's inner one, leads."""
    if symmetrical:
        return [False]
    left = bool(lags[2] > lags[3])
    if settings.lead != "auto":
        return [(settings.lead == "left") != left]
    if abs(float(np.mean(bend))) > _LEADING_BEND:
        return [(float(np.mean(bend)) > 0.0) != left]
    return [drawn, not drawn]


def _nearest(lags: Array, before: Array) -> tuple[Array, float]:
    """Lags (4,) shifted together and by whole strides to come nearest to ``before``, and the greatest change left."""
    gap = np.mod(before - lags, 1.0)
    order = np.sort(gap)
    holes = np.diff(np.concatenate([order, order[:1] + 1.0]))
    first = order[(int(np.argmax(holes)) + 1) % 4]
    spread = np.mod(gap - first, 1.0)
    shift = first + 0.5 * float(spread.max())
    shifted = lags + shift
    return shifted + np.round(before - shifted), 0.5 * float(spread.max())


def _blended(values: Array, strides: Array) -> Array:
    """Tracks (f, n) smoothed over the stride's phase: changes take about a stride, however quick it is."""
    total = strides[-1] - strides[0]
    count = max(int(np.ceil(total * _SAMPLES)) + 1, 2)
    grid = strides[0] + np.arange(count) / _SAMPLES

    found = np.stack([
        np.interp(strides, grid, smoothed(np.interp(grid, strides, column), _BLEND_STRIDES, _SAMPLES))
        for column in values.T
    ], axis=1)  # fmt: skip
    return found


def _moving(course: PaddedRoot, runs: list[_Run]) -> Array:
    """Weight of moving (f,): fades in and out within the runs."""
    steps = np.zeros(len(course))
    for run in runs:
        steps[run.first : run.stop] = 1.0
    return np.clip(smoothed(steps, _FADE * float(np.sqrt(course.scale)), course.fps), 0.0, 1.0)


def _events(
    phase: Array, duty: Array, runs: list[_Run], course: PaddedRoot, settings: GaitSettings, rng: np.random.Generator,
    frequency: Array,
) -> tuple[Array, tuple[tuple[Swing, ...], ...]]:
    """The phases with those of every start set right, and all swings of the four legs."""
    swings: list[list[Swing]] = [[] for _ in LEGS]
    phase = phase.copy()
    frames = np.arange(len(phase), dtype=np.float64)
    least = _QUICKEST * float(np.sqrt(course.scale)) * course.fps
    for run in runs:
        rows = slice(run.first, run.last)
        from_standing, to_standing = run.first > 0, run.last < len(phase)
        if from_standing:
            phase[run.first :] += _first_step(phase[run.first], duty[run.first], course.bend[run.first], rng)
        for leg in range(4):
            track = np.maximum.accumulate(phase[rows, leg])
            leaving = np.maximum.accumulate(track - duty[rows, leg])
            first = int(np.ceil(leaving[0] - 1e-9)) if from_standing else int(np.floor(leaving[0]))
            numbers = np.arange(first, int(np.floor(leaving[-1])) + 1)
            lifts = _crossings(leaving, numbers, frames[rows], frequency[rows] / course.fps)
            lands = _crossings(track, numbers + 1, frames[rows], frequency[rows] / course.fps)
            jitter = rng.standard_normal(len(numbers)) * 0.2 * settings.variation
            for number in range(len(numbers)):
                lift, land = float(lifts[number]), float(lands[number])
                land += float(np.clip(jitter[number], -0.02, 0.02)) * (land - lift)
                land = max(land, lift + least)
                last = swings[leg][-1].land if swings[leg] else -np.inf
                lift = max(lift, last + 1.0)
                if land - lift >= 0.5 * least and not (to_standing and lift > run.last):
                    swings[leg].append(Swing(lift, land))
    return phase, tuple(tuple(found) for found in swings)


def _crossings(track: Array, numbers: IntArray, frames: Array, rate: Array) -> Array:
    """Frames (n,) at which a rising track reaches whole numbers; beyond its ends it goes on at its last rate."""
    found = np.interp(numbers, track, frames)
    below, above = numbers < track[0], numbers > track[-1]
    found[below] = frames[0] + (numbers[below] - track[0]) / max(float(rate[0]), 1e-3)
    found[above] = frames[-1] + (numbers[above] - track[-1]) / max(float(rate[-1]), 1e-3)
    return found


def _first_step(phase: Array, duty: Array, bend: float, rng: np.random.Generator) -> float:
    """What to add to all phases so that a fore foot, the inner one in a bend, leaves the ground at once."""
    inner = 2 if bend > 0.0 else 3 if bend < 0.0 else 2 + int(rng.integers(2))
    return float(np.mod(duty[inner] - phase[inner], 1.0))
