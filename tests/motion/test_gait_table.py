import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.gait_model.table import (
    AUTO,
    build_of,
    gait_for_speed,
    gaits_along,
    load_table,
    range_notes,
)
from blender_addon.motion.gait_names import GAITS

#: A Labrador's shoulder height, metres.
LABRADOR = 0.56


@pytest.mark.parametrize(
    ("gait", "speed", "stride"), [("walk", 1.47, 0.90), ("trot", 1.3, 0.65), ("gallop", 4.5, 1.7)]
)
def test_strides_are_as_long_as_a_labradors(gait, speed, stride):
    table = load_table("carnivore")
    assert table[gait].stride_length(np.array(speed), LABRADOR) == pytest.approx(stride, rel=0.08)
    assert speed == pytest.approx(table[gait].frequency(np.array(speed), LABRADOR) * table[gait].stride_length(
        np.array(speed), LABRADOR))  # fmt: skip


def test_lags_and_duty_are_a_labradors():
    table = load_table("carnivore")
    assert table["walk"].lags == pytest.approx([0.0, 0.49, 0.15, 0.66], abs=0.02)
    assert table["trot"].lags == pytest.approx([0.0, 0.48, 0.55, 0.0], abs=0.05)
    assert table["gallop"].duty_factor(np.array(4.5), LABRADOR) == pytest.approx(0.25, abs=0.03)


def test_horses_gallop_transversely_and_dogs_rotary():
    order = {build: np.argsort(load_table(build)["gallop"].lags).tolist() for build in ("carnivore", "ungulate")}
    # Left hind, right hind, right fore, left fore; and left hind, right hind, left fore, right fore.
    assert order == {"carnivore": [0, 1, 3, 2], "ungulate": [0, 1, 2, 3]}
    assert (build_of(0.6), build_of(1.6)) == ("carnivore", "ungulate")


def test_a_walk_becomes_a_trot_near_half_and_a_gallop_above_two_in_froude_numbers():
    speeds = {fr: float(np.sqrt(fr * 9.81 * 0.6)) for fr in (0.3, 0.8, 2.5, 5.0)}
    assert [gait_for_speed(speed, 0.6) for speed in speeds.values()] == list(AUTO)


@given(st.floats(0.05, 8.0), st.sampled_from([0.3, 0.6, 1.6]))
def test_a_gait_once_taken_is_kept_at_its_own_speed_and_needs_more_speed_up_than_down(speed, height):
    gait = gait_for_speed(speed, height)
    assert gait_for_speed(speed, height, gait) == gait
    slower = AUTO[max(AUTO.index(gait) - 1, 0)]
    # From below, the change comes no earlier than from above.
    assert AUTO.index(gait_for_speed(speed, height, slower)) <= AUTO.index(gait_for_speed(speed, height, AUTO[-1]))


def test_gaits_asked_for_are_made_within_their_speeds_and_the_fitting_one_outside():
    table = load_table("carnivore")
    speed = np.array([0.5, 1.4, 2.0, 5.0, 12.0])
    made = gaits_along(speed, ("stand", "trot"), np.ones(5, dtype=np.int64), 0.6, table)
    assert [GAITS[index] for index in made] == ["walk", "trot", "trot", "gallop", "gallop"]


def test_a_gait_that_is_never_made_at_its_speed_is_said():
    asked = np.ones(10, dtype=np.int64)
    (note,) = range_notes(np.full(10, 0.5), ("stand", "gallop"), asked, 0.6)
    assert "Gallop" in note and "walk" in note
    assert range_notes(np.full(10, 4.5), ("stand", "gallop"), asked, 0.6) == ()
