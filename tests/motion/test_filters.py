"""The low-pass filter: its cutoff, its phase, its ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from blender_addon.motion.filters import derivative, gaussian_sigma, lowpass

FPS = 60.0


@pytest.mark.parametrize("cutoff", [0.7, 1.0, 2.0, 6.0])
@pytest.mark.parametrize(("octave", "decibels"), [(0.5, -0.75), (1.0, -3.01), (2.0, -12.04)])
def test_a_sine_is_damped_as_documented_and_not_delayed(cutoff: float, octave: float, decibels: float) -> None:
    time = np.arange(0, 40, 1 / FPS)
    sine = np.sin(2 * np.pi * cutoff * octave * time)
    middle = slice(len(time) // 4, -len(time) // 4)
    smooth = lowpass(sine, FPS, cutoff)
    # The gain times the sine itself: any delay would leave a residue.
    np.testing.assert_allclose(smooth[middle], 10 ** (decibels / 20) * sine[middle], atol=2e-3)


def test_it_agrees_with_scipys_gaussian_away_from_the_ends() -> None:
    noise = np.random.default_rng(1).normal(size=(500, 3))
    expected = gaussian_filter1d(noise, gaussian_sigma(2.0) * FPS, axis=0, truncate=6.0)
    np.testing.assert_allclose(lowpass(noise, FPS, 2.0)[60:-60], expected[60:-60], atol=1e-6)


def test_a_ramp_stays_a_ramp_to_its_very_ends() -> None:
    ramp = np.linspace(0.0, 5.0, 90)
    np.testing.assert_allclose(lowpass(ramp, FPS, 1.0), ramp, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_clips_shorter_than_the_kernel_keep_their_shape_and_stay_finite(count: int) -> None:
    values = np.linspace([0.0, 1.0], [3.0, 1.0], count)
    smooth = lowpass(values, FPS, 0.7)
    assert smooth.shape == values.shape
    np.testing.assert_allclose(smooth, values, atol=1e-9)


def test_any_axis_can_be_time() -> None:
    noise = np.random.default_rng(2).normal(size=(4, 100))
    np.testing.assert_allclose(lowpass(noise, FPS, 2.0, axis=1), lowpass(noise.T, FPS, 2.0).T)


def test_a_cutoff_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        lowpass(np.zeros(5), FPS, 0.0)


def test_the_derivative_of_one_sample_is_zero() -> None:
    assert derivative(np.ones((1, 3)), FPS).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("cutoff", [1.0, 6.0, 9.0, 12.0, 20.0])
def test_who_goes_far_does_not_tremble_where_he_starts_and_ends(cutoff):
    time = np.arange(1200) / 60.0
    way = 30.0 * (0.5 - 0.5 * np.cos(np.pi * np.clip((time - 1.0) / 18.0, 0.0, 1.0)))
    smooth = lowpass(way, 60.0, cutoff)
    for part in (slice(0, 50), slice(-50, None)):
        assert np.abs(np.diff(smooth[part], 3)).max() < 1e-5
    assert np.abs(smooth - way).max() < 0.02
