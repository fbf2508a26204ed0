"""Signals between contacts: kept where given, smooth where not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.bridging import bridge, calm, minimum_jerk, per_stand, upper_envelope


def test_minimum_jerk_is_flat_at_both_ends() -> None:
    u = np.linspace(-0.5, 1.5, 2001)
    x = minimum_jerk(u)
    np.testing.assert_array_equal(x[u <= 0.0], 0.0)
    np.testing.assert_array_equal(x[u >= 1.0], 1.0)
    assert np.abs(np.diff(x, 3)).max() / 0.001**3 < 62.0


@given(st.integers(0, 10_000))
def test_bridges_keep_what_is_given_and_have_no_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frames = 200
    t = np.arange(frames)[:, None] / 60.0
    values = np.sin(t * rng.uniform(1, 4, (1, 2)) + rng.normal(size=(1, 2)))
    stands = [(20, 50), (90, 120), (150, 180)]
    out = bridge(values, stands, 60.0)
    for first, last in stands:
        np.testing.assert_array_equal(out[first:last], values[first:last])
    # Greatest speed of a bridge: 1.875 times the mean, and the velocities it takes over.
    assert np.abs(np.diff(out, axis=0)).max() < 1.875 * 2.0 / 30.0 + 2 * 4.0 / 60.0
    assert np.abs(np.diff(out, 2, axis=0)).max() < 0.06


def test_without_stands_there_is_no_offset_and_beyond_them_it_stays() -> None:
    values = np.ones((30, 1))
    np.testing.assert_array_equal(bridge(values, [], 60.0), 0.0)
    np.testing.assert_array_equal(bridge(values, [(10, 20)], 60.0), 1.0)


def test_per_stand_writes_each_row_into_its_stand() -> None:
    out = per_stand(10, [(1, 3), (6, 7)], np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert out.sum() == 2 * 3.0 + 7.0 and out[6, 1] == 4.0


@given(st.integers(0, 10_000))
def test_an_upper_envelope_is_above_and_smooth(seed: int) -> None:
    need = np.maximum(np.random.default_rng(seed).normal(size=150), 0.0)
    out = upper_envelope(need, 60.0, 0.15)
    assert np.all(out >= need - 1e-12) and out.max() <= need.max() + 1e-12
    assert np.abs(np.diff(out)).max() < 0.2 * need.max()


def test_calming_takes_a_spike_out_of_a_gap_and_leaves_the_rest() -> None:
    t = np.arange(120) / 60.0
    like = 0.5 + 0.1 * np.sin(3.0 * t)
    spiky = like - 0.2 * np.exp(-np.square((t - 1.0) / 0.03))
    change = calm(spiky, like, np.full(120, 1e3), [(40, 80)], 60.0)
    assert np.all(change[:40] == 0.0) and np.all(change[80:] == 0.0)
    before, after = (np.abs(np.diff(x, 2)).max() for x in (spiky, spiky + change))
    assert after < 0.2 * before
    # Dear changes are small ones.
    assert np.abs(calm(spiky, like, np.full(120, 1e12), [(40, 80)], 60.0)).max() < 1e-3


def test_calming_leaves_what_is_no_sharper_than_the_other_signal() -> None:
    t = np.arange(120) / 60.0
    like = np.sin(20.0 * t)
    np.testing.assert_allclose(calm(0.7 * like, like, np.ones(120), [(40, 80)], 60.0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(calm(like, 0.0 * like, np.ones(120), [], 60.0), 0.0)
