"""Smoothing, differences and intervals, against scipy and against functions whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from blender_addon.motion import metrics as measure


def test_low_pass_agrees_with_a_butterworth_filter_run_both_ways() -> None:
    rng = np.random.default_rng(1)
    values = np.cumsum(rng.normal(size=(900, 2)), axis=0)
    expected = sosfiltfilt(butter(2, 1.5, fs=60.0, output="sos"), values, axis=0)
    ours = measure.low_pass(values, 1.5, 60.0)
    assert np.max(np.abs(ours - expected)[100:-100]) < 0.01 * np.std(values)


@pytest.mark.parametrize("frames", [3, 40, 500])
def test_low_pass_leaves_a_straight_line_alone(frames: int) -> None:
    line = np.linspace(3.0, 10.0, frames)[:, None] * np.array([1.0, -2.0])
    np.testing.assert_allclose(measure.low_pass(line, 1.5, 60.0), line, atol=1e-9)


def test_low_pass_halves_a_wave_at_its_cutoff_whatever_the_frame_rate() -> None:
    for fps in (24.0, 60.0):
        wave = np.sin(2.0 * np.pi * 1.5 * np.arange(int(fps * 20)) / fps)
        smooth = measure.low_pass(wave, 1.5, fps)
        middle = slice(int(5 * fps), int(15 * fps))
        assert np.max(smooth[middle]) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_differences_are_exact_on_polynomials_of_their_order(order: int) -> None:
    t = np.arange(20) / 30.0
    found = measure.difference(t**order, order, 30.0)
    valid = found[np.isfinite(found)]
    assert len(valid) == len(t) - order
    np.testing.assert_allclose(valid, {1: 1.0, 2: 2.0, 3: 6.0}[order], rtol=1e-6)


def test_the_third_difference_stands_at_the_event_it_measures() -> None:
    kinked = np.zeros(21)
    kinked[10] = 1.0
    assert int(np.nanargmax(np.abs(measure.difference(kinked, 3, 60.0)))) in (10, 11)


def test_intervals_are_the_runs_of_true_frames() -> None:
    mask = np.array([1, 1, 0, 0, 1, 0, 1], dtype=bool)
    assert measure.intervals(mask).tolist() == [[0, 2], [4, 5], [6, 7]]
    assert measure.intervals(np.zeros(4, dtype=bool)).shape == (0, 2)


def test_windowed_mean_is_centred_and_unknown_near_the_ends() -> None:
    values = np.arange(11, dtype=float)
    found = measure.windowed(values, 5, np.mean)
    np.testing.assert_allclose(found[2:-2], values[2:-2])
    assert np.all(np.isnan(found[[0, 1, -2, -1]]))
    np.testing.assert_allclose(measure.windowed(values[:3], 5, np.mean), 1.0)
