"""Runs of equal values over frames, and who gets those that are too short."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.runs import carried_over, clean_runs, given_to_longer, runs


@given(st.lists(st.booleans(), max_size=60))
def test_runs_cover_exactly_the_true_frames(bits: list[bool]) -> None:
    mask = np.array(bits, dtype=bool)
    covered = np.zeros(len(mask), dtype=bool)
    for first, last in runs(mask):
        assert first < last and np.all(mask[first:last])
        assert (first == 0 or not mask[first - 1]) and (last == len(mask) or not mask[last])
        covered[first:last] = True
    np.testing.assert_array_equal(covered, mask)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 5))
def test_after_cleaning_no_inner_gap_is_short_and_nothing_long_is_lost(values: list[bool], shortest: int) -> None:
    states = np.array(values)
    cleaned = clean_runs(states[:, None], shortest)[:, 0]
    for first, last in runs(cleaned):
        assert last - first > shortest or first == 0 or last == len(states)
    for first, last in runs(states):
        if last - first > shortest:
            assert cleaned[first:last].all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.integers(1, 12))
def test_short_runs_are_taken_by_their_longer_neighbour(labels: list[int], shortest: int) -> None:
    found = given_to_longer(np.array(labels), shortest)
    edges = np.concatenate([[0], np.flatnonzero(np.diff(found)) + 1, [len(found)]])
    assert len(edges) == 2 or np.diff(edges).min() >= shortest
    assert set(found) <= set(labels)


def test_a_short_run_goes_to_the_one_before_or_to_the_longer_neighbour() -> None:
    labels = np.array([0, 0, 0, 1, 2, 2, 2, 2, 2])
    assert carried_over(labels, 3).tolist() == [0, 0, 0, 0, 2, 2, 2, 2, 2]
    assert given_to_longer(labels, 3).tolist() == [0, 0, 0, 2, 2, 2, 2, 2, 2]


def test_a_first_run_that_is_short_stays_unless_it_shall_not() -> None:
    labels = np.array([1, 2, 2, 2])
    assert carried_over(labels, 2).tolist() == [1, 2, 2, 2]
    assert carried_over(labels, 2, keep_first=False).tolist() == [2, 2, 2, 2]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0.2, 4.0), st.floats(0.05, 0.9))
def test_what_is_short_may_be_counted_in_strides(labels: list[int], shortest: float, rate: float) -> None:
    strides = rate * np.arange(len(labels))
    # From the first to the last frame of a run lies one step less than it has frames.
    frames = int(np.ceil(shortest / rate - 1e-9)) + 1
    found = carried_over(np.array(labels), shortest, clock=strides)
    if abs(shortest / rate - round(shortest / rate)) > 1e-6:
        assert found.tolist() == carried_over(np.array(labels), frames).tolist()
