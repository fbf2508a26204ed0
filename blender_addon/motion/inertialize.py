"""Inertialization: hide a jump in motion by an offset that starts as the jump and dies away.

Bollo, "Inertialization: high-performance animation transitions in Gears of War", GDC 2018; the offset dies away
as in Holden, "Spring-It-On: the game developer's spring-roll-call", 2021 (critically damped spring).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import rotations as rot
from .rotations import Array

_LN2 = float(np.log(2.0))


def spring_decay(offset: Array, velocity: Array, seconds: Array | float, half_life: float) -> tuple[Array, Array]:
    """A critically damped spring let go at ``offset`` with ``velocity``.

    Args:
        offset, velocity: start values (..., d), unit and unit per second.
        seconds: times since then (...) broadcast against the leading shape.
        half_life: seconds for the envelope to halve (Holden's definition: damping is 4 ln 2 / half-life).

    Returns:
        Offset and velocity (..., d) at those times.
    """
    y = 2.0 * _LN2 / max(half_life, 1e-6)
    t = np.asarray(seconds, dtype=np.float64)[..., None]
    j1 = velocity + offset * y
    fade = np.exp(-y * t)
    return fade * (offset + j1 * t), fade * (velocity - j1 * y * t)


def inertialize_positions(values: Array, jumps: Sequence[int], fps: float, half_life: float = 0.2) -> Array:
    """Remove jumps from positions (or any vectors that add).

    Args:
        values: samples (frames, ..., d) with a jump between ``j - 1`` and ``j`` for each ``j`` in ``jumps``.
        jumps: ascending frame numbers, each at least 1; others are ignored.
        fps: frames per second.
        half_life: seconds.

    Returns:
        Samples (frames, ..., d): at a jump place and velocity go on as before and glide into the new motion.
    """
    out = np.array(values, dtype=np.float64)
    for start, end in _segments(jumps, len(out)):
        before = out[start - 1]
        v_before = (out[start - 1] - out[start - 2]) * fps if start > 1 else np.zeros_like(before)
        v_after = (values[start + 1] - values[start]) * fps if start + 1 < end else np.zeros_like(before)
        offset = before - (values[start] - v_after / fps)
        seconds = np.arange(1, end - start + 1).reshape(-1, *([1] * (out.ndim - 2))) / fps
        decay, _ = spring_decay(offset, v_before - v_after, seconds, half_life)
        out[start:end] = values[start:end] + decay
    return out


def inertialize_rotations(rotations: Array, jumps: Sequence[int], fps: float, half_life: float = 0.2) -> Array:
    """Remove jumps from unit quaternions (frames, ..., 4): see `inertialize_positions`.

    Offsets are rotation vectors applied on the left; angular velocities are continued across the jump.
    """
    q = rot.normalize(rotations)
    out = np.array(q)
    for start, end in _segments(jumps, len(out)):
        before = out[start - 1]
        rest = np.zeros((*before.shape[:-1], 3))
        v_before = rot.log(rot.mul(out[start - 1], rot.inv(out[start - 2]))) * fps if start > 1 else rest
        v_after = rot.log(rot.mul(q[start + 1], rot.inv(q[start]))) * fps if start + 1 < end else rest
        one_earlier = rot.mul(rot.exp(-v_after / fps), q[start])
        offset = rot.log(rot.mul(before, rot.inv(one_earlier)))
        seconds = np.arange(1, end - start + 1).reshape(-1, *([1] * (out.ndim - 2))) / fps
        # The old motion's velocity as seen from the new one: of the offset, not of the body.
        decay, _ = spring_decay(offset, v_before - rot.rotate(rot.exp(offset), v_after), seconds, half_life)
        out[start:end] = rot.mul(rot.exp(decay), q[start:end])
    return rot.unroll(out)


def _segments(jumps: Sequence[int], frames: int) -> list[tuple[int, int]]:
    starts = sorted({int(j) for j in jumps if 0 < int(j) < frames})
    return list(zip(starts, [*starts[1:], frames], strict=True)) if starts else []
