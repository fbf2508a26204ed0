"""How far a network leaps is found by letting it leap."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from blender_addon.motion.abilities import Leap
from training.pfnn.leaping import fitted

CAPTURED = Leap(
    speed=1.0, flight=0.3, flight_speed=2.2, behind=0.3, ahead=0.4, phase=1.6, nearest=1.1, furthest=1.8, slow=1.8,
    fast=2.6,
)  # fmt: skip


def test_widths_follow_the_line_through_what_was_leapt():
    flew = np.linspace(1.8, 2.6, 30)
    random = np.random.default_rng(3)
    width = 0.6 + 0.4 * flew + random.uniform(-0.03, 0.03, 30)
    found = fitted(CAPTURED, flew, np.stack([np.full(30, 0.25), np.full(30, 0.45), width], axis=1))
    assert (found.slow, found.fast) == (1.8, 2.6)
    assert found.nearest == pytest.approx(0.6 + 0.4 * 1.8, abs=0.02)
    # Hardly a leap is shorter than the furthest that is promised.
    assert 0.6 + 0.4 * 2.6 - 0.035 < found.furthest < 0.6 + 0.4 * 2.6
    assert (found.behind, found.ahead) == (0.25, 0.45)
    assert (found.speed, found.flight, found.phase) == (CAPTURED.speed, CAPTURED.flight, CAPTURED.phase)


def test_a_network_that_does_not_leap_keeps_what_was_captured():
    nothing = np.full((30, 3), np.nan)
    assert fitted(CAPTURED, np.linspace(1.8, 2.6, 30), nothing) == CAPTURED
