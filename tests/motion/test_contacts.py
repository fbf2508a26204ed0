"""Automatic contacts: thresholds with hysteresis, gaps and spikes, sizes and frame rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion.contacts import detect_contacts, flat_frames, hysteresis, with_contacts
from blender_addon.motion.runs import runs
from tests.synthetic import walk


def steps(fps: float, size: float = 1.0) -> np.ndarray:
    """A foot that stands 0.5 s, swings 0.5 s over 0.6 m and 12 cm high, and so on, four times."""
    time = np.arange(0.0, 4.0, 1.0 / fps)
    phase, number = time % 1.0, np.floor(time)
    swing = np.clip((phase - 0.5) / 0.5, 0.0, 1.0)
    forward = number + swing - np.sin(2 * np.pi * swing) / (2 * np.pi)
    height = 0.12 * np.sin(np.pi * swing)
    return size * np.stack([0.0 * time, -0.6 * forward, height], axis=-1)[:, None]


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("size", [0.4, 1.0, 3.0])
def test_stances_are_found_at_any_frame_rate_and_size(fps: float, size: float) -> None:
    found = runs(detect_contacts(steps(fps, size), fps, leg_length=0.87 * size)[:, 0])
    assert len(found) == 4
    for number, (first, last) in enumerate(found):
        assert first / fps == pytest.approx(number, abs=0.12)
        assert last / fps == pytest.approx(number + 0.5, abs=0.12)


def test_a_raised_still_foot_is_no_contact_and_neither_is_a_low_sliding_one() -> None:
    raised = np.tile([0.0, 0.0, 0.08], (60, 1, 1))
    assert not detect_contacts(raised, 60.0).any()
    sliding = np.stack([np.arange(60) / 60.0, np.zeros(60), np.zeros(60)], axis=-1)[:, None]
    assert not detect_contacts(sliding, 60.0).any()


def test_between_the_thresholds_the_state_is_kept() -> None:
    speed = np.array([0.1, 0.4, 0.45, 0.6, 0.4, 0.31, 0.2])
    state = hysteresis((speed < 0.3)[:, None], (speed > 0.5)[:, None])[:, 0]
    assert state.tolist() == [True, True, True, False, False, False, True]


def test_a_standing_figure_stands_flat_on_both_feet() -> None:
    clip = walk(1.0, speed=0.0)
    rotations = np.tile(clip.skeleton.rest_rotations, (len(clip), 1, 1))
    hips = np.tile(clip.skeleton.offsets[0], (len(clip), 1))
    clip = with_contacts(replace(clip, rotations=rotations, hips=hips, contacts=np.zeros((len(clip), 2), bool)))
    assert clip.contacts.all()
    assert flat_frames(clip).all()
