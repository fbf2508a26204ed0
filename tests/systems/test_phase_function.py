import numpy as np
import pytest

from blender_addon.systems.phase_function import phase_table, spline_coefficients


def formula(points: np.ndarray, phase: float) -> np.ndarray:
    """The cyclic Catmull-Rom spline of Holden et al. 2017, term by term."""
    w = (4 * phase / (2 * np.pi)) % 1
    k = [int(np.floor(4 * phase / (2 * np.pi)) + n - 1) % 4 for n in range(4)]
    a0, a1, a2, a3 = (points[i] for i in k)
    return (
        a1 + w * (a2 / 2 - a0 / 2) + w**2 * (a0 - 5 / 2 * a1 + 2 * a2 - a3 / 2)
        + w**3 * (3 / 2 * a1 - 3 / 2 * a2 + a3 / 2 - a0 / 2)
    )  # fmt: skip


def test_the_blend_equals_the_formula_at_a_thousand_phases():
    random = np.random.default_rng(0)
    points = random.normal(size=(4, 7, 3))
    phases = random.uniform(-20.0, 20.0, 1000)
    blended = np.tensordot(spline_coefficients(phases), points, axes=1)
    assert blended == pytest.approx(np.stack([formula(points, phase) for phase in phases]), abs=1e-6)


def test_it_passes_through_its_control_points_and_sums_to_one():
    assert spline_coefficients(np.arange(4) * np.pi / 2) == pytest.approx(np.eye(4), abs=1e-12)
    assert spline_coefficients(np.linspace(0, 7, 99)).sum(axis=-1) == pytest.approx(np.ones(99))


def test_it_is_cyclic_and_its_slope_has_no_steps():
    phases = np.linspace(0.0, 2.0 * np.pi, 4001)
    shares = spline_coefficients(phases)
    assert shares[0] == pytest.approx(shares[-1], abs=1e-9)
    slope = np.diff(shares, axis=0) / (phases[1] - phases[0])
    steps = np.abs(np.diff(np.concatenate([slope, slope[:1]]), axis=0)).max()
    # The curvature is at most 5 (2/pi)^2: over one step of the grid the slope changes by no more.
    assert steps < 2 * 5 * (2 / np.pi) ** 2 * (phases[1] - phases[0])


@pytest.mark.parametrize(("bins", "linear", "error"), [(50, True, 1e-2), (50, False, 0.15)])
def test_precomputed_weights_come_near_the_cubic(bins, linear, error):
    points = np.random.default_rng(1).normal(size=(4, 16)).astype(np.float32)
    table = phase_table(points, bins)
    phases = np.linspace(0.0, 2.0 * np.pi, 333)
    exact = spline_coefficients(phases) @ points
    place = phases * bins / (2.0 * np.pi)
    if linear:
        grid = np.arange(bins + 1)
        found = np.stack([np.interp(place, grid, np.append(column, column[0])) for column in table.T], axis=1)
    else:
        found = table[np.rint(place).astype(int) % bins]
    assert np.abs(found - exact).max() < error * np.abs(points).max()
