"""What follows the trunk: second-order springs for the tail, slow noise for an animal that stands, breathing."""

from __future__ import annotations

import numpy as np

from ..bridging import minimum_jerk
from ..rotations import Array


def follow(track: Array, fps: float, frequency: float, damping: float) -> Array:
    """A track (f, ...) followed by a damped spring of ``frequency`` Hz at rest on its first value.

    The exact response of ``x'' = w^2 (u - x) - 2 d w x'`` to the track, by convolution with its impulse response.
    """
    omega = 2.0 * np.pi * frequency
    ring = omega * np.sqrt(max(1.0 - damping**2, 1e-6))
    time = np.arange(int(np.ceil(6.0 / (damping * omega) * fps)) + 1) / fps
    kernel = np.exp(-damping * omega * time) * np.sin(ring * time)
    kernel /= kernel.sum()
    flat = track.reshape(len(track), -1) - track[:1].reshape(1, -1)
    size = 1 << int(np.ceil(np.log2(len(flat) + len(kernel))))
    spectrum = np.fft.rfft(flat, size, axis=0) * np.fft.rfft(kernel, size)[:, None]
    answer = np.fft.irfft(spectrum, size, axis=0)[: len(flat)]
    return np.asarray(answer.reshape(track.shape) + track[:1])


def slow_noise(frames: int, fps: float, channels: int, period: float, rng: np.random.Generator) -> Array:
    """Smooth noise (f, channels) of standard deviation about 1 whose slowest wave lasts ``period`` seconds."""
    time = np.arange(frames) / fps
    rates = (1.0 + np.array([0.0, 0.618, 1.37]))[:, None] / period * rng.uniform(0.85, 1.15, (3, channels))
    phases = rng.uniform(0.0, 2.0 * np.pi, (3, channels))
    waves = np.sin(2.0 * np.pi * rates[None] * time[:, None, None] + phases[None])
    return np.asarray(np.sum(waves, axis=1) / np.sqrt(1.5))


def glances(frames: int, fps: float, rng: np.random.Generator, every: float = 2.6) -> Array:
    """Where a calm head looks (f,), -1..1: still for a while, then a smooth turn to somewhere else."""
    count = int(frames / fps / (0.5 * every)) + 3
    starts = np.cumsum(rng.uniform(0.6, 1.5, count) * every)
    looked = np.clip(rng.standard_normal(count) * 0.5, -1.0, 1.0) * (rng.uniform(size=count) < 0.75)
    goals = np.concatenate([[0.0], looked])
    time = np.arange(frames) / fps
    out = np.zeros(frames)
    for begin, before, after in zip(starts, goals[:-1], goals[1:], strict=True):
        part = (time - begin) / (0.8 + 1.2 * abs(after - before))
        out += (after - before) * minimum_jerk(part)
    return out
