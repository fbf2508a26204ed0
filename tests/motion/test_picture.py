"""What is drawn, as plain arrays."""

from __future__ import annotations

import pytest

from blender_addon.motion.picture import logarithmic


def test_a_curve_of_losses_is_as_high_as_its_powers_of_ten() -> None:
    line = logarithmic([1.0, 0.01, 0.1, 0.0001], 60.0, 120.0, 30.0, 80.0)
    assert line[:, 0] == pytest.approx([60.0, 70.0, 80.0, 90.0])
    assert line[:, 1] == pytest.approx([200.0, 160.0, 180.0, 120.0])


def test_a_loss_that_stays_the_same_is_a_level_line() -> None:
    assert logarithmic([0.5, 0.5], 0.0, 10.0, 1.0, 80.0)[:, 1].tolist() == [10.0, 10.0]
