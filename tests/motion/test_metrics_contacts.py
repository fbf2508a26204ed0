"""Scores of contact labels and phases."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion import metrics as measure


def marks(*spans: tuple[int, int], frames: int = 60) -> np.ndarray:
    mask = np.zeros((frames, 1), dtype=bool)
    for a, b in spans:
        mask[a:b] = True
    return mask


def test_equal_labels_score_one() -> None:
    labels = marks((5, 20), (30, 50))
    score = measure.contact_score(labels, labels)
    assert (score.frames, score.landings, score.lift_offs) == (1.0, 1.0, 1.0)


def test_changes_within_the_tolerance_are_forgiven_and_others_are_not() -> None:
    truth = marks((5, 20), (30, 50))
    close = measure.contact_score(marks((7, 18), (28, 52)), truth, tolerance=2)
    assert (close.frames, close.landings, close.lift_offs) == (1.0, 1.0, 1.0)
    late = measure.contact_score(marks((5, 20), (35, 50)), truth, tolerance=2)
    assert late.landings == pytest.approx(0.5) and late.lift_offs == 1.0
    assert late.frames < 1.0


def test_missing_and_invented_contacts_lower_f1_as_its_formula_says() -> None:
    truth = marks((5, 20), (30, 50))
    missing = measure.contact_score(marks((5, 20)), truth)
    assert missing.landings == pytest.approx(2 * 1 / (2 * 1 + 1))
    invented = measure.contact_score(marks((5, 20), (23, 26), (30, 50)), truth)
    assert invented.landings == pytest.approx(2 * 2 / (2 * 2 + 1))


def test_one_event_matches_one_event_only() -> None:
    truth = marks((10, 40))
    twice = marks((9, 10), (11, 40))
    assert measure.contact_score(twice, truth).landings == pytest.approx(2 / 3)


def test_phase_error_goes_round_the_circle() -> None:
    found = measure.phase_error(np.array([0.1, 6.2]), np.array([2 * np.pi - 0.1, 0.0]))
    assert found == pytest.approx((0.2 + (2 * np.pi - 6.2)) / 2)
