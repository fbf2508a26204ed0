"""Zero-phase low-pass filtering in numpy, for sampled motion."""

from __future__ import annotations

import numpy as np

from .rotations import Array

#: Padding on each side in standard deviations of the kernel; at 7 a Gaussian has fallen to 2e-11.
_PAD_SIGMAS = 7.0
#: Samples in which the padding fades away. A jump there would ring through the whole signal wherever the cutoff is near
#: half the sample rate, for a sampled spectrum ends there.
_FADE = 48


def lowpass(values: Array, fps: float, cutoff: float, axis: int = 0) -> Array:
    """Gaussian low-pass: no phase shift, no overshoot.

    The frequency response is ``exp(-ln(2)/2 * (f / cutoff)**2)``: -3 dB at ``cutoff``, -12 dB at twice it,
    -27 dB at three times. Ends are continued by odd reflection (``2 x0 - x(k)``), so that a ramp stays a ramp.

    Args:
        values: samples (..., n, ...), any unit. Angles must be unwrapped.
        fps: samples per second.
        cutoff: the -3 dB frequency in Hz.
        axis: the axis of time.

    Returns:
        Filtered samples, same shape. A series of one sample is returned as it is.

    Raises:
        ValueError: when ``fps`` or ``cutoff`` is not positive.
    """
    if not (fps > 0.0 and cutoff > 0.0):
        raise ValueError(f"fps and cutoff must be positive, not {fps} and {cutoff}")
    data = np.moveaxis(np.asarray(values, dtype=np.float64), axis, 0)
    count = len(data)
    if count < 2:
        return np.array(values, dtype=np.float64)
    sigma = gaussian_sigma(cutoff)
    reach = int(np.ceil(_PAD_SIGMAS * sigma * fps)) + 1
    pad = reach + _FADE
    over_time = (-1, *([1] * (data.ndim - 1)))
    # The transform is circular: what is padded must end alike on both sides. A line from end to end, which no
    # symmetric filter changes, is left aside, and beyond the kernel's reach the rest fades away.
    line = data[0] + (data[-1] - data[0]) * (np.arange(count) / (count - 1)).reshape(over_time)
    padded = np.pad(data - line, [(pad, pad)] + [(0, 0)] * (data.ndim - 1), mode="reflect", reflect_type="odd")
    fade = 0.5 - 0.5 * np.cos(np.pi * np.arange(_FADE) / _FADE)
    padded[:_FADE] *= fade.reshape(over_time)
    padded[-_FADE:] *= fade[::-1].reshape(over_time)
    length = len(padded)
    frequencies = np.fft.rfftfreq(length, 1.0 / fps)
    gain = np.exp(-2.0 * (np.pi * sigma * frequencies) ** 2).reshape(over_time)
    smooth = np.fft.irfft(np.fft.rfft(padded, axis=0) * gain, n=length, axis=0)[pad : pad + count]
    return np.moveaxis(smooth + line, 0, axis)


def gaussian_sigma(cutoff: float) -> float:
    """Standard deviation in seconds of the Gaussian whose -3 dB frequency is ``cutoff`` Hz."""
    return float(np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff))


def derivative(values: Array, fps: float) -> Array:
    """Time derivative along axis 0: central differences inside, one-sided at the ends; zero for one sample."""
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return np.zeros_like(values)
    return np.asarray(np.gradient(values, 1.0 / fps, axis=0))
