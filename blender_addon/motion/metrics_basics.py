"""What all measures share: intervals, smoothing without lag, derivatives; it measures nothing itself.

Independent on purpose of the filters and the planting that make the motion: a fault there must show here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .animal import shoulder_height
from .clip import BoolArray, Clip
from .rotations import Array
from .runs import runs
from .skeleton import Skeleton

IntArray = npt.NDArray[np.int64]

#: Frame rate of every figure that depends on it (cm per frame, jerk, accelerations), frames per second.
MEASURE_FPS = 60.0
#: Height of the withers for which the lengths and limits of four legs hold, metres; others are scaled by size.
ANIMAL_HEIGHT = 0.6


class Ground(Protocol):
    """The ground as the measures see it: a height, in metres, over each point."""

    def height(self, xy: Array) -> Array:
        """Heights (...) at points (..., 2)."""
        ...


def at_measuring_rate(clip: Clip) -> Clip:
    """The clip at `MEASURE_FPS` (cubic interpolation), itself when it is so already."""
    return clip.resampled(MEASURE_FPS)


def size(skeleton: Skeleton) -> float:
    """Height of four legs' withers over the one for which limits hold; 1 for two legs, whose limits are their own."""
    return shoulder_height(skeleton) / ANIMAL_HEIGHT if skeleton.four_legged else 1.0


def intervals(mask: BoolArray) -> IntArray:
    """The runs of true values in ``mask`` (f,): (n, 2) of first frame and frame after the last."""
    return np.array(runs(mask), dtype=np.int64).reshape(-1, 2)


def low_pass(values: Array, cutoff_hz: float, fps: float) -> Array:
    """Smooth ``values`` (f, ...) along time without shifting them.

    Gain 1 / (1 + (f / cutoff)^4): a second-order Butterworth filter run forwards and backwards. The
    ends are continued by point reflection, so a straight line passes unchanged.
    """
    values = np.asarray(values, dtype=np.float64)
    frames = len(values)
    if frames < 3:
        return values
    pad = min(frames - 1, int(np.ceil(2.0 * fps / cutoff_hz)))
    padded = np.concatenate(
        [2.0 * values[:1] - values[pad:0:-1], values, 2.0 * values[-1:] - values[-2 : -pad - 2 : -1]]
    )
    count = len(padded)
    shape = (count, *([1] * (values.ndim - 1)))
    # Take the line from end to end away: what remains closes on itself, as the transform assumes.
    line = padded[:1] + np.linspace(0.0, 1.0, count).reshape(shape) * (padded[-1:] - padded[:1])
    spectrum = np.fft.rfft(padded - line, axis=0)
    frequency = np.fft.rfftfreq(count, 1.0 / fps)
    gain = 1.0 / (1.0 + (frequency / cutoff_hz) ** 4)
    smooth = np.fft.irfft(spectrum * gain.reshape(-1, *shape[1:]), count, axis=0) + line
    return smooth[pad : pad + frames]


def windowed(values: Array, window: int, reduce: Callable[..., Array]) -> Array:
    """A reduction (f,) of ``values`` (f,) over ``window`` frames centred on each.

    ``reduce`` takes ``axis``, such as `numpy.mean`. Frames nearer than half a window to an end are NaN,
    unless the whole is shorter than a window: then all frames hold the reduction of the whole.
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) <= window:
        return np.full(len(values), reduce(values, axis=0))
    out = np.full(len(values), np.nan)
    half = window // 2
    views = np.lib.stride_tricks.sliding_window_view(values, window)
    out[half : half + len(views)] = reduce(views, axis=-1)
    return out


def difference(values: Array, order: int, fps: float) -> Array:
    """Derivative of ``order`` 1, 2 or 3 of ``values`` (f, ...) in units per second^order.

    Finite differences over the fewest frames (order + 1), placed at the nearest frame at or after their
    middle; frames without them are NaN.
    """
    values = np.asarray(values, dtype=np.float64)
    out = np.full(values.shape, np.nan)
    if len(values) > order:
        first = (order + 1) // 2
        steps = np.diff(values, n=order, axis=0) * fps**order
        out[first : first + len(steps)] = steps
    return out


def pelvis(clip: Clip) -> Array:
    """The middle between the hip joints (f, 3), metres: where the hips are, wherever a rig's hips bone begins.

    Of four legs the middle between hip and shoulder joints: what a path is asked of.
    """
    positions, _ = clip.world
    joints = [foot.hip for foot in clip.skeleton.feet]
    return np.asarray(positions[:, joints].mean(axis=1))


def hips_speed(clip: Clip, span_seconds: float = 0.5) -> Array:
    """Horizontal speed (f,) of the hips, m/s: distance over ``span_seconds`` centred on each frame.

    The hips are low-passed at 1.5 Hz first; near the ends the span shrinks.
    """
    track = low_pass(pelvis(clip)[:, :2], 1.5, clip.fps)
    if len(track) < 2:
        return np.zeros(len(track))
    half = max(1, round(0.5 * span_seconds * clip.fps))
    frame = np.arange(len(track))
    before, after = np.maximum(frame - half, 0), np.minimum(frame + half, len(track) - 1)
    distance = np.linalg.norm(track[after] - track[before], axis=-1)
    return np.asarray(distance * clip.fps / (after - before), dtype=np.float64)
