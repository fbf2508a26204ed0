"""Names of gaits from footfalls: the family of phase lags a stride comes nearest to, and whether its speed fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .. import animal
from ..clip import Clip
from ..gait_names import GAITS
from ..rotations import Array
from ..runs import given_to_longer, runs
from .body_feet import body_feet
from .footfalls import analyse, contacts_of, standing
from .stride import Stride

#: Full name -> the name a schedule uses. "no gait" has none.
FAMILIES: Mapping[str, str] = {
    "lateral walk": "walk", "diagonal walk": "walk", "pace": "pace", "trot": "trot", "canter": "canter",
    "transverse gallop": "gallop", "rotary gallop": "gallop", "half bound": "gallop", "bound": "bound",
    "pronk": "bound", "stand": "stand",
}  # fmt: skip
NO_GAIT = "no gait"
#: What a frame can be labelled.
GAIT_LABELS: tuple[str, ...] = ("stand", *GAITS, "bound")
#: Strides further than this from every family are no gait: root mean square over the legs, in shares of the stride.
FARTHEST = 0.08
#: A margin over the next gait from which a name is certain, in the same measure.
_CLEAR = 0.04
#: A body that travels less than this share of its legs' length in a stride stands, whatever its feet do.
_STAND_LENGTH = 0.15
#: Duty factors: over the first a body stands; under the second a walk has, as nature knows it, too little support.
_STAND_DUTY, _WALK_DUTY = 0.97, 0.45
#: Strides of real animals against `usual_length`; beyond these the body flies or shuffles as none does.
_LENGTHS = (0.4, 2.1)
#: The lags of a pair that runs as one are closer than this, those of the pair in a gallop further apart.
_PAIR = 0.05
_GRAVITY = 9.81


@dataclass(frozen=True)
class Gait:
    """What a stride is.

    Attributes:
        name: one of `FAMILIES`, or ``no gait``.
        label: the same in the words of schedules: `gait_names.GAITS`, ``stand`` or ``bound``; ``none`` for no gait.
        nearest: the family that its lags come nearest to, whatever its speed.
        distance: root mean square distance of the mid-stances to that family, in shares of the stride.
        next: the nearest family that schedules call otherwise.
        confidence: 0 to 1: how clear the lead over ``next`` is.
        notes: what is odd about it, and why it is no gait, in words.
    """

    name: str
    label: str
    nearest: str
    distance: float
    next: str
    confidence: float
    notes: tuple[str, ...] = ()


def classify(stride: Stride, shoulder_height: float | None = None) -> Gait:
    """The gait of a stride (or of a mean one).

    By phase lags (Hildebrand 1965, 1977), then by dynamic similarity where the size is known: strides of animals
    follow from their Froude number (Alexander and Jayes 1983).

    Args:
        stride: what `footfalls` found.
        shoulder_height: height of the withers, metres; without it the speed is not judged.
    """
    distances = {name: float(_distance(stride.lags, points)) for name, points in _families().items()}
    nearest = min(distances, key=distances.__getitem__)
    others = {name: d for name, d in distances.items() if FAMILIES[name] != FAMILIES[nearest]}
    second = min(others, key=others.__getitem__)
    distance = distances[nearest]
    sure = float(np.clip((others[second] - distance) / _CLEAR, 0.0, 1.0) * np.clip(1.5 - distance / FARTHEST, 0.0, 1.0))
    short = shoulder_height is not None and stride.length < _STAND_LENGTH * shoulder_height
    if short or bool(np.all(stride.duty > _STAND_DUTY)):
        return Gait("stand", "stand", nearest, distance, second, 1.0, _turning(stride))
    reasons = _against(stride, nearest, distance, shoulder_height)
    notes: tuple[str, ...] = ()
    if FAMILIES[nearest] == "walk" and float(np.mean(stride.duty)) < _WALK_DUTY:
        notes = (f"Its feet are on the ground for {np.mean(stride.duty):.0%} of the stride, too short for a walk",)
    if reasons:
        return Gait(NO_GAIT, "none", nearest, distance, second, 0.0, (*reasons, *notes))
    return Gait(nearest, FAMILIES[nearest], nearest, distance, second, sure, notes)


def usual_length(speed: float, shoulder_height: float, symmetric: bool) -> float:
    """Stride length, metres, of an animal of some height (metres) at some speed (m/s).

    2.4 Fr^0.34 shoulder heights in symmetric gaits, 1.9 Fr^0.40 in others (Alexander and Jayes 1983), Fr the Froude
    number.
    """
    froude = speed**2 / (_GRAVITY * shoulder_height)
    return shoulder_height * (2.4 * froude**0.34 if symmetric else 1.9 * froude**0.40)


def label_gaits(clip: Clip, shoulder_height: float | None = None, shortest: float = 0.4) -> npt.NDArray[np.int64]:
    """Index into `GAIT_LABELS` of each frame (f,) of a clip of four legs, as labels to train on.

    Halts are "stand", turns on the spot too. What lies between strides takes the label of the nearest
    stride between the same halts; so do strides that are no gait, and single ones of a gait: one gait goes over into
    another through strides that are neither.

    Args:
        clip: the motion.
        shoulder_height: height of the withers, metres; the skeleton's when not given.
        shortest: runs of a label shorter than this take their longer neighbour's, seconds.
    """
    height = animal.shoulder_height(clip.skeleton) if shoulder_height is None else shoulder_height
    feet = body_feet(clip)
    contacts = contacts_of(clip, feet)
    labels = np.full(len(clip), -1, dtype=np.int64)
    found = analyse(contacts, clip.fps, root=feet.root, feet=feet).strides
    names = [classify(stride, height).label for stride in found]
    for k, (stride, name) in enumerate(zip(found, names, strict=True)):
        alone = len(names) > 1 and name not in (*names[max(k - 1, 0) : k], *names[k + 1 : k + 2])
        if name in GAIT_LABELS and not alone:
            labels[round(stride.first) : round(stride.last) + 1] = GAIT_LABELS.index(name)
    halts = standing(contacts, clip.fps)
    labels[halts] = GAIT_LABELS.index("stand")
    for first, last in runs(halts, False):
        labels[first:last] = _filled(labels[first:last])
    return given_to_longer(labels, round(shortest * clip.fps))


def _filled(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Frames without a label (-1) take the one that is nearest in time; all of them "stand" where there is none."""
    known = np.flatnonzero(labels >= 0)
    if len(known) == 0:
        return np.zeros_like(labels)
    frame = np.arange(len(labels))
    after = np.minimum(np.searchsorted(known, frame), len(known) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(np.abs(known[before] - frame) <= np.abs(known[after] - frame), known[before], known[after])
    return np.where(labels >= 0, labels, labels[nearer])


def _against(stride: Stride, nearest: str, distance: float, height: float | None) -> tuple[str, ...]:
    """Why a stride is no gait; empty if it is one."""
    if distance > FARTHEST:
        return ("The order and timing of its feet are those of no gait",)
    if height is None or not stride.speed > 0.0:
        return ()
    symmetric = FAMILIES[nearest] in ("walk", "pace", "trot")
    share = stride.length / usual_length(stride.speed, height, symmetric)
    if _LENGTHS[0] <= share <= _LENGTHS[1]:
        return ()
    word = "long" if share > 1.0 else "short"
    return (
        f"{stride.frequency:.1f} strides a second at {stride.speed:.1f} m/s: each would be {share:.1f} times as {word} "
        f"as an animal of {height:.2g} m makes it",
    )


def _turning(stride: Stride) -> tuple[str, ...]:
    return ("It turns on the spot",) if abs(stride.turn) > np.radians(10.0) else ()


def _distance(lags: Array, points: Array) -> float:
    """Least root mean square distance of lags (4,) to points (n, 4), whatever the left hind's own error."""
    away = lags - points
    off = (away[:, None, :] - away[:, :, None] + 0.5) % 1.0 - 0.5
    off -= off.mean(axis=-1, keepdims=True)
    return float(np.sqrt(np.mean(off**2, axis=-1)).min())


@cache
def _families() -> dict[str, Array]:
    """Mid-stances (n, 4) that each family takes in."""
    found = {
        # Lag of the fore leg behind the hind leg of its side, for pairs half a stride apart (Hildebrand).
        "lateral walk": _symmetric(0.09, 0.43), "trot": _symmetric(0.445, 0.555),
        "diagonal walk": _symmetric(0.57, 0.91), "pace": _symmetric(-0.07, 0.07),
    }  # fmt: skip
    canter, gallop, half, bound = [], [], [], []
    # Trailing hind, leading hind and trailing fore as one beat, leading fore.
    for second in np.linspace(0.22, 0.36, 8):
        for third in np.linspace(0.2, 0.34, 8):
            for apart in (-0.03, 0.0, 0.03):
                canter.append((0.0, second, second + apart, second + third))
    for hind in np.linspace(_PAIR + 0.01, 0.25, 8):
        for pause in np.linspace(0.09, 0.5, 16):
            for fore in np.linspace(_PAIR + 0.01, 0.26, 8):
                gallop.append((0.0, hind, hind + pause, hind + pause + fore))
    for pair in np.linspace(0.25, 0.7, 16):
        for fore in np.linspace(_PAIR + 0.02, 0.25, 8):
            half.append((0.0, 0.0, pair - 0.5 * fore, pair + 0.5 * fore))
        bound += [(0.0, hind, pair, pair + fore) for hind in (-0.03, 0.0, 0.03) for fore in (-0.03, 0.0, 0.03)]
    # Columns: trailing hind, leading hind, trailing fore, leading fore; the left or the right ones lead.
    found["canter"] = _either(canter, same_side=True)
    found["transverse gallop"] = _either(gallop, same_side=True)
    found["rotary gallop"] = _either(gallop, same_side=False)
    found["half bound"] = _either(half, same_side=True)
    found["bound"] = _either(bound, same_side=True)
    found["pronk"] = np.zeros((1, 4))
    return found


def _symmetric(low: float, high: float) -> Array:
    """Left and right half a stride apart (nearly), the fore leg from ``low`` to ``high`` behind the hind leg."""
    points = []
    for lag in np.linspace(low, high, max(3, round((high - low) / 0.01))):
        for skew in (-0.05, 0.0, 0.05):
            points.append((0.0, 0.5 + skew, lag, lag + 0.5 + skew))
    return np.array(points)


def _either(points: list[tuple[float, float, float, float]], same_side: bool) -> Array:
    """Points (trailing hind, leading hind, trailing fore, leading fore) as legs, with either lead."""
    rows = np.array(points)
    left = rows[:, [1, 0, 3, 2]] if same_side else rows[:, [1, 0, 2, 3]]
    return np.concatenate([left, left[:, [1, 0, 3, 2]]])
