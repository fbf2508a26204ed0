"""Keys of curves as arrays: read, cut, joined and written in bulk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.key_reduction import Curve
from ..motion.rotations import Array

CONSTANT, LINEAR, BEZIER = 0, 1, 2
_FREE, _ALIGNED = 0, 3
Codes = npt.NDArray[np.int32]
_PLACES = ("co", "handle_left", "handle_right")
_CODES = ("interpolation", "handle_left_type", "handle_right_type", "easing", "type")
_NUMBERS = ("back", "amplitude", "period")


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of one curve, in order.

    Attributes:
        places: (n, 3, 2) frame and value of key, left handle, right handle.
        codes: (n, 5) Blender's numbers for interpolation, both handles' types, easing and kind of key.
        numbers: (n, 3) of the easing.
    """

    places: Array
    codes: Codes
    numbers: Array

    def __len__(self) -> int:
        return len(self.places)

    @property
    def frames(self) -> Array:
        """Frames (n,)."""
        return self.places[:, 0, 0]

    def part(self, which: npt.NDArray[np.bool_]) -> Keys:
        """Those that a mask (n,) picks."""
        return Keys(self.places[which], self.codes[which], self.numbers[which])

    def scaled(self, factor: float, summand: float) -> Keys:
        """The same with all values multiplied, then added to."""
        return replace(self, places=self.places * np.array([1.0, factor]) + np.array([0.0, summand]))


def joined(*parts: Keys) -> Keys:
    """Keys of several pieces, one after the other."""
    return Keys(
        np.concatenate([part.places for part in parts]), np.concatenate([part.codes for part in parts]),
        np.concatenate([part.numbers for part in parts]),
    )  # fmt: skip


def made(frames: Array, values: Array, interpolation: int, curve: tuple[Array, Array] | None = None) -> Keys:
    """Keys at frames (n,) with values (n,); with slopes ``curve`` before and after (n,), per frame, as Bezier keys."""
    count = len(frames)
    places = np.zeros((count, 3, 2))
    places[:, :, 0] = np.asarray(frames, dtype=np.float64)[:, None]
    places[:, :, 1] = values[:, None]
    codes = np.zeros((count, 5), dtype=np.int32)
    codes[:, 0] = interpolation
    if count > 1:
        span = np.diff(places[:, 0, 0])
        before, after = np.append(span[:1], span) / 3.0, np.append(span, span[-1:]) / 3.0
        places[:, 1, 0] -= before
        places[:, 2, 0] += after
        if curve is not None:
            places[:, 1, 1] -= curve[0] * before
            places[:, 2, 1] += curve[1] * after
            smooth = np.abs(curve[0] - curve[1]) <= 1e-9 * (1.0 + np.abs(curve[0]))
            codes[:, 1:3] = np.where(smooth, _ALIGNED, _FREE)[:, None]
    return Keys(places, codes, np.tile([1.70158, 0.8, 4.1], (count, 1)))


def sparse(curve: Curve, component: int, first: int) -> Keys:
    """The keys of one component of a reduced channel that begins at frame ``first``."""
    slopes = curve.left[:, component], curve.right[:, component]
    return made(first + curve.frames.astype(np.float64), curve.values[:, component], BEZIER, slopes)


def read(curve: Any) -> Keys:
    """The keys of a curve."""
    points = curve.keyframe_points
    count = len(points)
    places, codes = np.empty((count, 3, 2)), np.empty((count, 5), dtype=np.int32)
    numbers = np.empty((count, 3))
    for index, name in enumerate(_PLACES):
        pairs = np.empty(count * 2, dtype=np.float32)
        points.foreach_get(name, pairs)
        places[:, index] = pairs.reshape(count, 2)
    for index, name in enumerate(_CODES):
        column = np.empty(count, dtype=np.int32)
        points.foreach_get(name, column)
        codes[:, index] = column
    for index, name in enumerate(_NUMBERS):
        values = np.empty(count, dtype=np.float32)
        points.foreach_get(name, values)
        numbers[:, index] = values
    return Keys(places, codes, numbers)


def write(curve: Any, keys: Keys) -> None:
    """Give a curve these keys and no others; its modifiers stay."""
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys))
    for index, name in enumerate(_CODES):
        points.foreach_set(name, np.ascontiguousarray(keys.codes[:, index]))
    for index, name in enumerate(_NUMBERS):
        points.foreach_set(name, np.ascontiguousarray(keys.numbers[:, index], dtype=np.float32))
    for index, name in enumerate(_PLACES):
        points.foreach_set(name, keys.places[:, index].astype(np.float32).ravel())
    curve.update()


def cut(keys: Keys, first: float, last: float) -> tuple[Keys, Keys]:
    """What lies up to ``first`` and from ``last`` on, with keys there so that the curve outside keeps its shape."""
    frames = keys.frames
    before, after = keys.part(frames <= first), keys.part(frames >= last)
    if len(before):
        # Handles that Blender sets by a key's neighbours would move with these.
        before = _frozen(before, -1)
        if before.frames[-1] < first:
            before = _extended(keys, before, first)
    if len(after):
        after = _frozen(after, 0)
        if after.frames[0] > last:
            after = _preceded(keys, after, last)
    return before, after


def _frozen(keys: Keys, index: int) -> Keys:
    """The same with the handles of one key as they are now."""
    codes = np.array(keys.codes)
    codes[index, 1:3] = _FREE
    return replace(keys, codes=codes)


def _extended(keys: Keys, before: Keys, frame: float) -> Keys:
    """``before`` with one more key, at ``frame``, on the curve."""
    index = len(before) - 1
    if index == len(keys) - 1:
        codes = np.array(before.codes)
        codes[-1, 0] = LINEAR
        return joined(replace(before, codes=codes), _level(keys, index, frame))
    left, added = _split(keys, index, frame)
    places = np.array(before.places)
    places[-1, 2] = left
    return joined(replace(before, places=places), added)


def _preceded(keys: Keys, after: Keys, frame: float) -> Keys:
    """``after`` with one key before it, at ``frame``, on the curve."""
    index = len(keys) - len(after) - 1
    if index < 0:
        return joined(_level(keys, 0, frame), after)
    _, added = _split(keys, index, frame)
    places = np.array(after.places)
    if keys.codes[index, 0] == BEZIER:
        points = _segment(keys, index)
        places[0, 1] = _subdivided(points, _at(points, frame))[1][2]
    return joined(added, replace(after, places=places))


def _level(keys: Keys, index: int, frame: float) -> Keys:
    """A key at ``frame`` where a curve goes on level beyond its first or last key."""
    return made(np.array([frame]), keys.places[[index], 0, 1], LINEAR)


def _segment(keys: Keys, index: int) -> Array:
    """Four points (4, 2) of a piece, its handles shortened as Blender does where they overlap."""
    start, end = keys.places[index], keys.places[index + 1]
    points = np.array([start[0], start[2], end[1], end[0]])
    room = points[3, 0] - points[0, 0]
    used = abs(points[1, 0] - points[0, 0]) + abs(points[3, 0] - points[2, 0])
    if used > room > 0.0:
        points[1] = points[0] + (points[1] - points[0]) * room / used
        points[2] = points[3] + (points[2] - points[3]) * room / used
    return points


def _at(points: Array, frame: float) -> float:
    """The parameter of a piece at a frame."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        x = float(np.array([(1 - middle) ** 3, 3 * middle * (1 - middle) ** 2, 3 * middle**2 * (1 - middle),
                            middle**3]) @ points[:, 0])  # fmt: skip
        low, high = (middle, high) if x < frame else (low, middle)
    return 0.5 * (low + high)


def _subdivided(points: Array, t: float) -> tuple[Array, Array]:
    """The two halves (4, 2) of a piece (de Casteljau)."""
    levels = [points]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][:-1] + t * np.diff(levels[-1], axis=0))
    return np.array([level[0] for level in levels]), np.array([level[-1] for level in levels[::-1]])


def _split(keys: Keys, index: int, frame: float) -> tuple[Array, Keys]:
    """The left key's new right handle (2,), and a key at ``frame`` on the piece after ``index``."""
    kind = int(keys.codes[index, 0])
    points = _segment(keys, index)
    codes = np.array(keys.codes[index : index + 1])
    if kind == BEZIER:
        left, right = _subdivided(points, _at(points, frame))
        codes[:, 1:3] = _FREE
        place = np.array([[left[3], left[2], right[1]]])
        return left[1], Keys(place, codes, keys.numbers[index : index + 1])
    share = (frame - points[0, 0]) / (points[3, 0] - points[0, 0])
    value = points[0, 1] if kind == CONSTANT else points[0, 1] + share * (points[3, 1] - points[0, 1])
    place = np.array([[[frame, value], [frame - 1.0 / 3.0, value], [frame + 1.0 / 3.0, value]]])
    if kind not in (CONSTANT, LINEAR):
        codes[:, 0] = LINEAR
    return keys.places[index, 2], Keys(place, codes, keys.numbers[index : index + 1])
