"""How far a network leaps and how low it crouches is found by letting it do so."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from blender_addon.motion.abilities import Leap
from blender_addon.motion.errors import Cancelled
from blender_addon.systems.poses import Poses
from blender_addon.systems.protocol import Chunk
from tests.synthetic import biped
from training.pfnn.trials import fitted, followed, practised_leap

CAPTURED = Leap(
    speed=1.0, flight=0.3, flight_speed=2.2, behind=0.3, ahead=0.4, phase=1.6, nearest=1.1, furthest=1.8, slow=1.8,
    fast=2.6,
)  # fmt: skip


FLEW = np.linspace(1.8, 2.6, 5).repeat(6).reshape(5, 6)


def feet(width: np.ndarray) -> np.ndarray:
    """What is found of leaps of these widths (5, 6)."""
    return np.stack([np.full((5, 6), 0.25), np.full((5, 6), 0.45), width], axis=-1)


def test_widths_follow_the_line_through_what_was_leapt():
    random = np.random.default_rng(3)
    found = fitted(CAPTURED, FLEW, feet(0.6 + 0.4 * FLEW + random.uniform(-0.03, 0.03, (5, 6))))
    assert (found.slow, found.fast) == (1.8, 2.6)
    assert found.nearest == pytest.approx(0.6 + 0.4 * 1.8, abs=0.02)
    # Hardly a leap is shorter than the furthest that is promised.
    assert 0.6 + 0.4 * 2.6 - 0.035 < found.furthest < 0.6 + 0.4 * 2.6
    assert (found.behind, found.ahead) == (0.25, 0.45)
    assert (found.speed, found.flight, found.phase) == (CAPTURED.speed, CAPTURED.flight, CAPTURED.phase)


@pytest.mark.parametrize("failed", [np.nan, 0.1])
def test_widths_that_fail_once_are_not_promised(failed):
    tried = feet(0.6 + 0.4 * FLEW)
    tried[0, 3, 2] = failed
    found = fitted(CAPTURED, FLEW, tried)
    assert found.slow == pytest.approx(2.0)
    assert found.nearest == pytest.approx(0.6 + 0.4 * 2.0)
    assert found.furthest == pytest.approx(0.6 + 0.4 * 2.6)


def test_a_network_that_does_not_leap_cannot():
    assert fitted(CAPTURED, FLEW, feet(np.full((5, 6), np.nan))) is None


class Slider:
    """Slides along its wish in the rest pose; both feet leave the ground for so many frames when a leap takes off."""

    fps, stride, horizon, actions, noise_hz, on_terrain = 60.0, 1, (0.0, 1 / 60.0), (), None, False

    def __init__(self, frames: int) -> None:
        self.skeleton, self.frames = biped(), frames

    def start(self, wish):
        return np.full(len(wish.speed), -1)

    def step(self, state, wish):
        state = np.where(wish.until_leap < 1 / 60.0, self.frames, state - 1)
        count = len(state)
        step = np.concatenate([wish.positions[:, -1], np.zeros((count, 1))], axis=1)[:, None]
        down = np.repeat((state <= 0)[:, None, None], 2, axis=-1).astype(float)
        hips = np.tile(self.skeleton.rest_world[0][0], (count, 1, 1))
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1, len(self.skeleton), 1))
        poses = Poses(hips, turns, step, down)
        none = np.zeros(count, dtype=bool)
        return state, Chunk(poses, poses.first_two(), none, np.full((count, 1), -1))


def test_a_leap_is_measured_from_the_foot_that_takes_off_to_the_one_that_lands():
    slider = Slider(18)
    ball = -slider.skeleton.rest_world[0][slider.skeleton.index("left_toe"), 1]
    found = practised_leap(slider, CAPTURED, (0.3, 2.0))
    # Stiff legs: the feet are as far ahead of the root at both ends, and as wide as the root flies is the leap.
    assert -found.behind == pytest.approx(ball, abs=0.05), "a frame is 4 cm"
    assert found.ahead == pytest.approx(ball, abs=0.03)
    assert found.nearest == pytest.approx(18 / 60 * 1.8, abs=0.03)
    assert found.furthest == pytest.approx(18 / 60 * 2.6, abs=0.03)
    assert (found.slow, found.fast) == pytest.approx((1.8, 2.6))


def test_the_trial_of_leaps_stops_as_soon_as_it_is_told_to():
    asked = []

    def stop(share: float) -> bool:
        asked.append(share)
        return len(asked) < 3

    with pytest.raises(Cancelled):
        practised_leap(Slider(18), CAPTURED, (0.3, 2.0), stop)
    assert len(asked) == 3 and asked[-1] < 0.5


def test_who_stays_on_the_ground_cannot_leap():
    assert practised_leap(Slider(0), CAPTURED, (0.3, 2.0)) is None


def test_a_crouch_is_promised_as_deep_as_it_was_followed():
    depths = np.array([0.1, 0.2, 0.3, 0.4])
    asked = 0.9 - 0.5 * depths
    tops = np.stack([asked - 0.02, asked + 0.02], axis=-1)[:, None].repeat(3, axis=1)
    assert followed(depths, tops) == 0.4
    tops[2, 1, 0] -= 0.2
    assert followed(depths, tops) == 0.2, "one pace at which it falls lower is enough"
    tops[0, 2, 1] += 0.2
    assert followed(depths, tops) is None
