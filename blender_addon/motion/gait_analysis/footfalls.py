"""Footfalls of four legs: strides from contacts, or from the feet's motion under the body where feet slide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..animal import LEGS
from ..clip import BoolArray, Clip
from ..errors import ClipError
from ..rotations import Array
from ..runs import clean_runs, runs
from .body_feet import BodyFeet, body_feet, harmonic_phases, loaded_feet, treadmill_speed
from .stride import Stride, mean_stride

#: Strides shorter or longer than this are none, seconds.
SENSIBLE = (0.15, 4.0)
#: All four feet on the ground for longer than this is standing, seconds.
STANDING = 0.5
#: Contacts shorter, and gaps between them shorter than this are none, seconds.
_FLICKER = 0.03
#: A root that travels less than this share of what the feet do under the body runs on a treadmill.
_TREADMILL = 0.3


@dataclass(frozen=True, eq=False)
class Footfalls:
    """The strides of a motion, and their mean; raises `ClipError` for a mean of none."""

    strides: tuple[Stride, ...]

    def __len__(self) -> int:
        return len(self.strides)

    @cached_property
    def mean(self) -> Stride:
        """The mean stride."""
        return mean_stride(self.strides)

    @property
    def duty(self) -> Array:
        """Mean duty factor (4,)."""
        return self.mean.duty

    @property
    def lags(self) -> Array:
        """Mean phase lags against the left hind (4,), in [0, 1)."""
        return self.mean.lags

    @property
    def sequence(self) -> tuple[str, ...]:
        """Legs in the mean order of their mid-stances."""
        return self.mean.sequence

    @property
    def length(self) -> float:
        """Mean stride length, metres."""
        return self.mean.length

    @property
    def frequency(self) -> float:
        """Strides per second."""
        return self.mean.frequency

    @property
    def speed(self) -> float:
        """Mean speed, m/s."""
        return self.mean.speed


def analyse(
    contacts: BoolArray, fps: float, *, root: Array | None = None, feet: BodyFeet | None = None, cyclic: bool = False
) -> Footfalls:
    """Strides from contacts.

    Args:
        contacts: foot on the ground (f, 4), columns as `animal.LEGS`.
        fps: frames per second.
        root: root track (f, 3): x, y (metres), yaw (radians); tells length and turn.
        feet: the feet under the body; tell the length where the root stays in place.
        cyclic: the frames are one cycle, the frame after the last being the first.

    Raises:
        ClipError: the contacts are not those of four feet.
    """
    contacts = np.asarray(contacts, dtype=bool)
    if contacts.ndim != 2 or contacts.shape[1] != len(LEGS):
        raise ClipError("The motion has no contacts of four feet", "Choose motion of an animal with four legs mapped")
    if cyclic:
        return Footfalls(_cyclic(contacts, fps, root, feet))
    contacts = clean_runs(contacts, round(_FLICKER * fps))
    found: list[Stride] = []
    for first, last in runs(standing(contacts, fps), False):
        found += _strides(contacts, (first, last), fps, root, feet)
    return Footfalls(tuple(found))


def analyse_cycle(feet: BodyFeet, fps: float, *, root: Array | None = None) -> Footfalls:
    """The stride of one cycle whose feet may slide, from the first harmonic of each foot's motion under the body.

    Args:
        feet: the feet under the body; the frame after the last one is the first.
        fps: frames per second.
        root: as in `analyse`; None for a cycle in place.
    """
    frames = len(feet.height)
    phases = harmonic_phases(feet)
    lags = (phases - phases[0]) % 1.0 % 1.0
    down = loaded_feet(feet, fps, cyclic=True)
    first = float(phases[0] * frames)
    length, turn, in_place = _travel(root, feet, down, first, first + frames, fps, cyclic=True)
    return Footfalls((Stride(first, first + frames, fps, down.mean(axis=0), lags, length, turn, in_place),))


def analyse_clip(clip: Clip, *, cyclic: bool = False) -> Footfalls:
    """Strides of a clip; by its contacts where all four feet have some, else by the feet's motion under the body.

    Args:
        clip: motion of four legs, as long as one likes, with changing gaits.
        cyclic: the clip is one cycle, the frame after the last being the first.

    Raises:
        ClipError: the clip is not of four legs.
    """
    feet = body_feet(clip)
    if cyclic:
        return analyse_cycle(feet, clip.fps, root=feet.root)
    return analyse(contacts_of(clip, feet), clip.fps, root=feet.root, feet=feet)


def strides(clip: Clip) -> tuple[Stride, ...]:
    """All whole strides of a clip, in order; none while it stands."""
    return analyse_clip(clip).strides


def contacts_of(clip: Clip, feet: BodyFeet | None = None) -> BoolArray:
    """The clip's contacts (f, 4) where they can be believed, else `loaded_feet`."""
    share = clip.contacts.mean(axis=0)
    if clip.contacts.shape[1] == len(LEGS) and np.all(share > 0.1):
        return clip.contacts
    return loaded_feet(feet or body_feet(clip), clip.fps)


def standing(contacts: BoolArray, fps: float) -> BoolArray:
    """Frames (f,) of halts: all four feet on the ground for longer than `STANDING`."""
    down = contacts.all(axis=1)
    for first, last in runs(down):
        if last - first <= STANDING * fps:
            down[first:last] = False
    return down


def _cyclic(contacts: BoolArray, fps: float, root: Array | None, feet: BodyFeet | None) -> tuple[Stride, ...]:
    """Strides that begin in the second of four copies of the cycle."""
    frames = len(contacts)
    whole = np.tile(contacts, (4, 1))
    found = []
    for stride in _strides(whole, (0, 4 * frames), fps, None, None):
        if frames <= stride.first < 2 * frames:
            first, last = stride.first - frames, stride.last - frames
            length, turn, in_place = _travel(root, feet, contacts, first, last, fps, cyclic=True)
            found.append(Stride(first, last, fps, stride.duty, stride.lags, length, turn, in_place))
    return tuple(found)


def _strides(
    contacts: BoolArray, span: tuple[int, int], fps: float, root: Array | None, feet: BodyFeet | None
) -> list[Stride]:
    """Strides between two halts, frames [first, last); stances that touch its ends are not whole and do not count."""
    middles, durations = _stances(contacts, span)
    if any(len(leg) == 0 for leg in middles):
        return []
    found = []
    for first, last, duration in zip(middles[0][:-1], middles[0][1:], durations[0], strict=False):
        frames = float(last - first)
        if not SENSIBLE[0] <= frames / fps <= SENSIBLE[1]:
            continue
        centre = 0.5 * (first + last)
        nearest = [int(np.argmin(np.abs(leg - centre))) for leg in middles[1:]]
        mids = np.array([leg[k] for leg, k in zip(middles[1:], nearest, strict=True)])
        if np.any(np.abs(mids - centre) > 0.75 * frames):
            continue
        lags = np.concatenate([[0.0], (mids - first) / frames % 1.0 % 1.0])
        duty = np.array([duration, *(leg[k] for leg, k in zip(durations[1:], nearest, strict=True))]) / frames
        length, turn, in_place = _travel(root, feet, contacts, float(first), float(last), fps)
        found.append(Stride(float(first), float(last), fps, np.minimum(duty, 1.0), lags, length, turn, in_place))
    return found


def _stances(contacts: BoolArray, span: tuple[int, int]) -> tuple[list[Array], list[Array]]:
    """Middle and duration of each leg's whole stances within ``span``, frames."""
    middles, durations = [], []
    for leg in range(len(LEGS)):
        whole = [(a, b) for a, b in runs(contacts[:, leg]) if a > span[0] and b < span[1]]
        middles.append(np.array([0.5 * (a + b - 1) for a, b in whole]))
        durations.append(np.array([float(b - a) for a, b in whole]))
    return middles, durations


def _travel(
    root: Array | None, feet: BodyFeet | None, down: BoolArray, first: float, last: float, fps: float,
    cyclic: bool = False,
) -> tuple[float, float, bool]:  # fmt: skip
    """Length, turn and whether in place of the stretch of frames from ``first`` to ``last``."""
    length, turn = float("nan"), 0.0
    if root is not None:
        if cyclic:
            # The whole cycle: its last step leads to the frame after the last.
            root = np.concatenate([root, 2.0 * root[-1:] - root[-2:-1]]) if len(root) > 1 else np.tile(root, (2, 1))
            first, last = 0.0, float(len(root) - 1)
        frame = np.arange(len(root))
        x, y, yaw = (np.interp([first, last], frame, column) for column in root.T)
        steps = np.linalg.norm(np.diff(root[:, :2], axis=0), axis=1)
        way = float(np.diff(np.interp([first, last], frame, np.concatenate([[0.0], np.cumsum(steps)])))[0])
        chord = float(np.hypot(np.diff(x)[0], np.diff(y)[0]))
        # Along curves the way counts; where the body sways in place it means nothing.
        length, turn = way if chord > 0.7 * way else chord, float(np.diff(yaw)[0])
    if feet is not None:
        under = treadmill_speed(feet, down, fps, None if cyclic else (int(first), int(last) + 1), cyclic=cyclic)
        treadmill = under * (last - first) / fps
        if not length > _TREADMILL * treadmill:
            return treadmill, turn, True
    return length, turn, False
