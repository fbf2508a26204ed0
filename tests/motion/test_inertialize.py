"""Inertialization: continuity at jumps, decay, and agreement with the spring's differential equation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from blender_addon.motion import rotations as rot
from blender_addon.motion.inertialize import (
    inertialize_positions,
    inertialize_rotations,
    spring_decay,
)

FPS = 60.0


@given(st.floats(-2, 2), st.floats(-5, 5), st.floats(0.05, 0.5))
def test_spring_solves_its_differential_equation(offset: float, velocity: float, half_life: float) -> None:
    damping = 4.0 * np.log(2.0) / half_life
    times = np.linspace(0.0, 0.6, 7)
    found = solve_ivp(lambda _, s: [s[1], -damping * s[1] - 0.25 * damping**2 * s[0]], (0.0, 0.6),
                      [offset, velocity], t_eval=times, rtol=1e-9, atol=1e-10).y  # fmt: skip
    x, v = spring_decay(np.array([offset]), np.array([velocity]), times, half_life)
    np.testing.assert_allclose(x[:, 0], found[0], atol=1e-6)
    np.testing.assert_allclose(v[:, 0], found[1], atol=1e-5)


def test_positions_run_on_through_a_jump_and_end_in_the_new_motion() -> None:
    t = np.arange(240) / FPS
    values = np.stack([np.sin(3 * t), np.cos(2 * t), t], axis=1)
    values[100:] += [0.4, -0.2, 0.1]
    smooth = inertialize_positions(values, [100], FPS, half_life=0.15)
    raw_step, new_step = np.abs(np.diff(values, axis=0)).max(), np.abs(np.diff(smooth, axis=0)).max()
    assert raw_step > 0.3 and new_step < 0.07
    # Velocity is continuous: the second difference stays that of the motion and the spring.
    assert np.abs(np.diff(smooth, 2, axis=0)).max() < 0.012
    np.testing.assert_array_equal(smooth[:100], values[:100])
    np.testing.assert_allclose(smooth[-1], values[-1], atol=1e-4)


def test_no_jumps_change_nothing() -> None:
    values = np.random.default_rng(0).normal(size=(20, 3, 3))
    np.testing.assert_array_equal(inertialize_positions(values, [0, 20, 55], FPS), values)


@given(st.integers(0, 5_000))
def test_rotations_run_on_through_several_jumps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.arange(200)[:, None, None] / FPS
    smooth_motion = rot.exp(np.sin(t * rng.uniform(0.5, 2.0, (1, 4, 1))) * rng.normal(size=(1, 4, 3)))
    jumped = np.array(smooth_motion)
    for frame in (60, 75, 140):
        jumped[frame:] = rot.mul(rot.exp(rng.normal(scale=0.3, size=(4, 3))), jumped[frame:])
    result = inertialize_rotations(jumped, [60, 75, 140], FPS, half_life=0.1)
    speed = rot.angle_between(result[1:], result[:-1])
    assert speed.max() < 0.25 * max(rot.angle_between(jumped[f], jumped[f - 1]).max() for f in (60, 75, 140)) + 0.12
    np.testing.assert_allclose(rot.angle_between(result[-1], jumped[-1]), 0.0, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(result, axis=-1), 1.0, atol=1e-9)


def test_a_jump_into_the_same_motion_adds_nothing() -> None:
    t = np.arange(120)[:, None] / FPS
    q = rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.8 * t)
    result = inertialize_rotations(q, [50], FPS)
    np.testing.assert_allclose(rot.angle_between(result, q), 0.0, atol=1e-6)
