"""Names of gaits from lags, speed and size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.gait_analysis.classify import FAMILIES, GAIT_LABELS, classify, usual_length
from blender_addon.motion.gait_analysis.stride import Stride
from tests.motion.made_footfalls import BOOK, mirrored_lags

HEIGHT = 0.6


def stride(lags: np.ndarray, duty: float, froude: float = 1.0, seconds: float | None = None) -> Stride:
    """A stride as long as animals make it at its Froude number, unless its duration is given."""
    speed = np.sqrt(froude * 9.81 * HEIGHT)
    length = usual_length(speed, HEIGHT, symmetric=True) if seconds is None else speed * seconds
    return Stride(0.0, length / speed * 60.0, 60.0, np.full(4, duty), np.asarray(lags) % 1.0, float(length))


@pytest.mark.parametrize("name", BOOK)
def test_gaits_of_the_books_are_named(name: str) -> None:
    lags, duty = BOOK[name]
    for given_lags in (np.array(lags), mirrored_lags(np.array(lags))):
        found = classify(stride(given_lags, duty), HEIGHT)
        assert found.name == name
        assert found.label == FAMILIES[name]
        assert found.distance < 0.02
        assert found.confidence > 0.4


@given(st.sampled_from(sorted(BOOK)), st.lists(st.floats(-0.015, 0.015), min_size=4, max_size=4))
def test_small_errors_of_the_lags_do_not_change_the_label(name: str, errors: list[float]) -> None:
    lags = np.array(BOOK[name][0]) + errors
    found = classify(stride(lags - lags[0], BOOK[name][1]), HEIGHT)
    assert found.label == FAMILIES[name]


@given(st.lists(st.floats(0.0, 0.999), min_size=3, max_size=3))
def test_a_gait_and_its_mirror_image_have_one_name(rest: list[float]) -> None:
    lags = np.array([0.0, *rest])
    one, other = classify(stride(lags, 0.4)), classify(stride(mirrored_lags(lags), 0.4))
    assert one.distance == pytest.approx(other.distance, abs=1e-9)
    assert one.label == other.label or one.confidence < 1e-6


@pytest.mark.parametrize(
    ("dog", "lags", "speed", "length", "duty"),
    [
        ("walk", (0.0, 0.49, 0.15, 0.66), 1.47, 0.90, 0.6),
        ("trot", (0.0, 0.48, 0.55, 0.0), 1.3, 0.65, 0.5),
    ],
)
def test_a_labrador_is_named_right(dog: str, lags: tuple, speed: float, length: float, duty: float) -> None:
    measured = Stride(0.0, 60.0 * length / speed, 60.0, np.full(4, duty), np.array(lags), length)
    assert classify(measured, 0.58).label == dog


def test_feet_in_no_order_are_no_gait() -> None:
    found = classify(stride(np.array([0.0, 0.48, 0.25, 0.23]), 0.5), HEIGHT)
    assert found.name == "no gait"
    assert found.label == "none"
    assert "no gait" in found.notes[0]


def test_a_gallop_in_slow_motion_is_no_gait() -> None:
    lags = np.array(BOOK["rotary gallop"][0])
    slow = classify(stride(lags, 0.25, froude=0.6, seconds=1.16), HEIGHT)
    assert slow.name == "no gait"
    assert slow.nearest == "rotary gallop"
    assert "times as long" in slow.notes[0]
    # Without a size nothing can be said about it.
    assert classify(stride(lags, 0.25, froude=0.6, seconds=1.16)).name == "rotary gallop"


def test_a_walk_with_too_little_support_is_noted() -> None:
    found = classify(stride(np.array(BOOK["lateral walk"][0]), 0.4), HEIGHT)
    assert found.name == "lateral walk"
    assert "too short for a walk" in found.notes[0]


def test_stepping_in_place_is_standing() -> None:
    lags = np.array(BOOK["lateral walk"][0])
    still = Stride(0.0, 60.0, 60.0, np.full(4, 0.7), lags, 0.02, turn=np.radians(40.0))
    found = classify(still, HEIGHT)
    assert found.name == found.label == "stand"
    assert "turns on the spot" in found.notes[0]
    assert classify(Stride(0.0, 60.0, 60.0, np.full(4, 0.99), lags, 0.0)).name == "stand"


def test_labels_are_the_words_of_schedules() -> None:
    assert GAIT_LABELS == ("stand", "walk", "pace", "trot", "canter", "gallop", "bound")
    assert set(FAMILIES.values()) == set(GAIT_LABELS)
