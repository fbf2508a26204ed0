"""Smooth signals between contacts: offsets that are given while a foot stands and carried through its swings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .rotations import Array

BoolArray = npt.NDArray[np.bool_]

#: So much more costs it `calm` to bring a signal down than up, at most.
_DEARER = 15.0
#: Gaps longer than this many seconds are not calmed: their equations grow with the square of their length.
_LONGEST = 5.0


def minimum_jerk(u: Array) -> Array:
    """The minimum-jerk curve from 0 to 1 (C2 at both ends), ``u`` clipped to 0..1."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u * u))


def _push(u: Array) -> Array:
    """Slope 1 at 0, everything else (value, curvature, and all at 1) zero."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u * (1.0 - u) ** 3 * (1.0 + 3.0 * u))


def bridge(
    values: Array,
    stands: Sequence[tuple[int, int]],
    fps: float,
    blend: float = 0.4,
    timing: Sequence[tuple[float, float]] | None = None,
) -> Array:
    """Fill a signal between stretches where it is given.

    Between two stretches it goes from one value to the next by minimum jerk; the velocity it has at the
    stretches' ends dies away within ``blend`` seconds. Before the first and after the last it stays.

    Args:
        values: (f, d); only frames inside ``stands`` are read.
        stands: ascending stretches [first, last); without any the result is zero.
        fps: frames per second.
        timing: for each gap between stretches, the shares of it at which the change starts and ends.
    """
    frames = len(values)
    out = np.zeros_like(values)
    if not stands:
        return out
    reach = max(2.0, blend * fps)
    for first, last in stands:
        out[first:last] = values[first:last]
    first, last = stands[0][0], stands[-1][1]
    out[:first] = values[first] - _arrive(values, stands[0], np.arange(first), reach)
    out[last:] = values[last - 1] + _leave(values, stands[-1], np.arange(last, frames), reach)
    for gap, (before, after) in enumerate(zip(stands[:-1], stands[1:], strict=True)):
        at = np.arange(before[1], after[0])
        length = after[0] - before[1] + 1
        u = (at - before[1] + 1)[:, None] / length
        if timing is not None:
            start, end = timing[gap]
            u = (u - start) / max(end - start, 1e-6)
        near = min(reach, float(length))
        out[at] = values[before[1] - 1] + (values[after[0]] - values[before[1] - 1]) * minimum_jerk(u)
        out[at] += _leave(values, before, at, near) - _arrive(values, after, at, near)
    return out


def _leave(values: Array, stand: tuple[int, int], at: npt.NDArray[np.int_], reach: float) -> Array:
    first, last = stand
    velocity = values[last - 1] - values[last - 2] if last - first > 1 else np.zeros(values.shape[1])
    return np.asarray(velocity * reach * _push((at - last + 1)[:, None] / reach))


def _arrive(values: Array, stand: tuple[int, int], at: npt.NDArray[np.int_], reach: float) -> Array:
    first, last = stand
    velocity = values[first + 1] - values[first] if last - first > 1 else np.zeros(values.shape[1])
    return np.asarray(velocity * reach * _push((first - at)[:, None] / reach))


def per_stand(frames: int, stands: Sequence[tuple[int, int]], amounts: Array) -> Array:
    """A signal (f, d) that holds row k of ``amounts`` (stands, d) during stretch k, zero elsewhere."""
    amounts = np.asarray(amounts, dtype=np.float64)
    out = np.zeros((frames, amounts.shape[1] if amounts.ndim > 1 else 1))
    for (first, last), amount in zip(stands, amounts, strict=True):
        out[first:last] = amount
    return out


def upper_envelope(need: Array, fps: float, seconds: float) -> Array:
    """A smooth signal (f,) that is nowhere below ``need`` (f,): running maximum, then a mean no wider than it."""
    half = max(1, round(seconds * fps))
    padded = np.pad(need, 2 * half, mode="edge")
    widest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=-1)
    window = np.cos(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * half + 3)[1:-1]) ** 2
    return np.convolve(widest, window / window.sum(), mode="valid")


def calm(values: Array, like: Array, price: Array, gaps: Sequence[tuple[int, int]], fps: float) -> Array:
    """The change (f,) of a signal (f,) within ``gaps`` that takes sharp acceleration out of it, for a price.

    Least squares of ``price`` times the change's square plus the square of what the signal is more accelerated than
    another is, or otherwise than it is; value and slope at the gaps' ends stay. A change downwards costs many
    times as much: a bent knee lifts its foot, a stretched one lets it touch the floor.

    Args:
        values: the signal, any unit u.
        like: the other signal (f,): where both are accelerated the same way, the lesser acceleration is wished for.
        price: of a change (f,), s^-4: its square root is the acceleration that is worth a change of one u.
        gaps: ascending stretches [first, last); those of more than `_LONGEST` seconds are left alone.
        fps: frames per second.
    """
    change = np.zeros(len(values))
    for first, last in gaps:
        start, end = max(first - 2, 0), min(last + 2, len(values))
        if end - start < 3 or last - first > _LONGEST * fps:
            continue
        second = np.diff(np.eye(end - start), 2, axis=0) * fps**2
        has, other = second @ values[start:end], second @ like[start:end]
        wished = np.where(has * other > 0.0, np.sign(has) * np.minimum(np.abs(has), np.abs(other)), 0.0)
        free = second[:, first - start : last - start]
        stiff, pushed = free.T @ free, free.T @ (wished - has)
        weight = price[first:last]
        for _ in range(3):
            change[first:last] = np.linalg.solve(stiff + np.diag(weight), pushed)
            weight = price[first:last] * (1.0 + _DEARER * (change[first:last] < 0.0))
    return change


def soft_positive(x: Array | float, width: float) -> Array:
    """max(x, 0) with the corner rounded over ``width`` (same unit)."""
    return np.asarray(0.5 * (np.asarray(x) + np.sqrt(np.square(x) + width * width)))
