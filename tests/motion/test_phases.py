import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.phases import STANDING_RATE, global_phase

FPS = 60.0


def walking(strides: int, frames: int = 60, duty: float = 0.6, stand: int = 0) -> np.ndarray:
    """Contacts of a steady walk: right lands at whole strides, left at half ones; first and last it stands."""
    t = np.arange(strides * frames)
    contacts = np.stack([(t - frames / 2) % frames < duty * frames, t % frames < duty * frames], axis=1)
    still = np.ones((stand, 2), dtype=bool)
    return np.concatenate([still, contacts, still])


def test_right_landings_are_whole_turns_and_left_ones_half():
    phase = global_phase(walking(5), FPS)
    landings = np.arange(1, 5) * 60
    assert np.cos(phase.angle[landings]) == pytest.approx(np.ones(4))
    assert np.cos(phase.angle[landings[:-1] + 30]) == pytest.approx(-np.ones(3))
    assert np.diff(phase.angle[60:240]) == pytest.approx(np.full(179, 2 * np.pi / 60))


def test_a_stand_creeps_and_is_not_relied_on():
    contacts = np.concatenate([walking(3), np.ones((300, 2), dtype=bool), walking(3)])
    phase = global_phase(contacts, FPS)
    inside = slice(210, 440)
    assert not phase.reliable[inside].any() and phase.reliable[70:130].all()
    rate = np.diff(phase.angle[inside]) * FPS
    assert 0.0 < rate.max() < 2.5 * STANDING_RATE + 1.5
    still = global_phase(np.ones((50, 2), dtype=bool), FPS)
    assert not still.reliable.any() and np.all(np.diff(still.angle) > 0)


def test_two_landings_of_one_foot_are_a_whole_stride():
    contacts = walking(4)
    contacts[90:126, 0] = False  # a left step that was not seen
    phase = global_phase(contacts, FPS)
    assert phase.angle[120] - phase.angle[60] == pytest.approx(2 * np.pi)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(3, 200), st.integers(3, 90)), max_size=30))
def test_the_phase_never_runs_backwards_and_steps_agree_with_their_side(events):
    frames = 10 + sum(gap + hold for _, gap, hold in events)
    contacts = np.ones((frames, 2), dtype=bool)
    at = 5
    for side, gap, hold in events:
        contacts[at : at + min(gap, 40), side] = False
        at += gap + hold
    phase = global_phase(contacts, FPS)
    assert np.all(np.diff(phase.angle) >= -1e-9) and np.all(np.isfinite(phase.angle))
    assert np.diff(phase.angle).max(initial=0.0) * FPS < 60.0


def test_a_clip_that_ends_in_a_step_ends_in_its_phase():
    steady = walking(5)
    whole, cut = global_phase(steady, FPS), global_phase(steady[:225], FPS)
    assert cut.angle == pytest.approx(whole.angle[:225]) and cut.reliable[60:].all()
    stopped = np.concatenate([walking(3)[:155], np.ones((90, 2), dtype=bool)])
    assert not global_phase(stopped, FPS).reliable[160:].any()
