"""The run time with made-up networks: neither torch nor ONNX Runtime takes part."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion.errors import PackError
from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.features import Normalizer, layouts
from blender_addon.systems.learned_motion_matching import (
    LATENT,
    LearnedMotionMatching,
    LearnedSettings,
    Networks,
    check_answers,
)
from blender_addon.systems.protocol import Wish
from tests.synthetic import biped

FEATURES, POSES = layouts(biped())
SIZE = FEATURES.size + LATENT
RNG = np.random.default_rng(5)
MEAN, SCALE = RNG.normal(size=FEATURES.size).astype(np.float32), np.full(FEATURES.size, 0.5, np.float32)
DRIFT = (0.01 * RNG.normal(size=SIZE)).astype(np.float32)
TARGET = RNG.normal(size=SIZE).astype(np.float32)
# The frame it knows has the pose the characters start with: to jump there costs nothing.
TARGET[FEATURES.slices["foot_position"].start : FEATURES.size] = 0.0
MIX = RNG.normal(size=(SIZE, POSES.size)).astype(np.float32)


class Fakes:
    """Networks one can calculate by hand: the stepper adds, the projector knows one frame."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def networks(self) -> Networks:
        def stepper(state, frames):
            return state[None] + DRIFT * np.arange(1, int(frames) + 1, dtype=np.float32)[:, None, None]

        def projector(features):
            self.asked.append(features)
            return np.repeat(TARGET[None], len(features), axis=0)

        return Networks(lambda state: state @ MIX, stepper, projector)


def system(fakes: Fakes | None = None, starts=None, **options) -> LearnedMotionMatching:
    skeleton: Skeleton = biped()
    starts = np.zeros((2, SIZE), np.float32) if starts is None else starts
    return LearnedMotionMatching(
        skeleton, 60.0, (fakes or Fakes()).networks(), Normalizer(MEAN, SCALE), starts, MEAN,
        {"trajectory_position": 2.0}, LearnedSettings(**options),
    )  # fmt: skip


def asking(values: np.ndarray) -> Wish:
    """A wish whose normalised trajectory is that of ``values`` (n, 27)."""
    plain = values[:, : FEATURES.size] * SCALE + MEAN
    return Wish(
        FEATURES.get(plain, "trajectory_position").reshape(len(values), 3, 2).astype(float),
        FEATURES.get(plain, "trajectory_direction").reshape(len(values), 3, 2).astype(float),
        np.ones(len(values)),
    )


def hips(states: np.ndarray) -> np.ndarray:
    return POSES.get(states @ MIX, "hips_position")


def test_without_gain_the_motion_goes_on_frame_by_frame():
    walker = system(stride=5)
    state = walker.start(asking(np.zeros((1, SIZE))))
    state, first = walker.step(state, asking(state.values))
    state, second = walker.step(state, asking(state.values))
    frames = DRIFT * np.arange(10)[:, None]
    shown = np.concatenate([first.poses.hips[0], second.poses.hips[0]])
    assert not first.switched.any() and not second.switched.any()
    assert np.allclose(shown, hips(frames.astype(np.float32)), atol=1e-5)
    assert np.allclose(second.jump.hips[0], shown[5:7])


def test_a_clear_gain_switches_to_what_the_projector_found_and_keeps_the_old_motion():
    walker = system(stride=4, least_gain=0.0)
    wished = np.repeat(TARGET[None], 2, axis=0)
    state = walker.start(asking(np.zeros((2, SIZE))))
    _, chunk = walker.step(state, asking(wished))
    frames = np.arange(4, dtype=np.float32)[:, None] * DRIFT
    assert chunk.switched.all() and np.all(chunk.source == -1)
    assert np.allclose(chunk.poses.hips[1], hips(TARGET + frames), atol=1e-5)
    assert np.allclose(chunk.jump.hips[1], hips(frames[:2]), atol=1e-5)


def test_the_query_is_the_present_pose_with_the_wished_trajectory():
    fakes = Fakes()
    walker = system(fakes, starts=RNG.normal(size=(1, SIZE)).astype(np.float32))
    wished = RNG.normal(size=(1, SIZE)).astype(np.float32)
    state = walker.start(asking(wished))
    walker.step(state, asking(wished))
    query = fakes.asked[0]
    for name in ("trajectory_position", "trajectory_direction"):
        assert np.allclose(FEATURES.get(query, name), FEATURES.get(wished[:, : FEATURES.size], name), atol=1e-5)
    for name in ("foot_position", "foot_velocity", "hip_velocity"):
        assert np.allclose(FEATURES.get(query, name), FEATURES.get(state.values[:, : FEATURES.size], name), atol=1e-5)


def test_half_the_trained_weight_asks_for_half_the_change():
    fakes = Fakes()
    walker = system(fakes, weights={"trajectory_position": 1.0})
    wished = RNG.normal(size=(1, SIZE)).astype(np.float32)
    state = walker.start(asking(wished))
    walker.step(state, asking(wished))
    asked = FEATURES.get(fakes.asked[0], "trajectory_position")
    assert np.allclose(asked, 0.5 * FEATURES.get(wished[:, : FEATURES.size], "trajectory_position"), atol=1e-5)


def test_a_character_starts_from_the_state_nearest_to_standing_with_its_wish():
    starts = RNG.normal(size=(40, SIZE)).astype(np.float32)
    walker = system(starts=starts)
    wished = RNG.normal(size=(3, SIZE)).astype(np.float32)
    found = walker.start(asking(wished)).values
    query = np.zeros((3, FEATURES.size))
    for name in ("trajectory_position", "trajectory_direction"):
        query[:, FEATURES.slices[name]] = FEATURES.get(wished[:, : FEATURES.size], name)
    for i in range(3):
        distances = [np.sum((start[: FEATURES.size] - query[i]) ** 2) for start in starts]
        assert np.array_equal(found[i], starts[int(np.argmin(distances))])


@pytest.mark.parametrize("count", [1, 30])
def test_a_herd_is_one_call(count):
    walker = system(stride=3)
    state = walker.start(asking(np.zeros((count, SIZE))))
    _, chunk = walker.step(state, asking(np.zeros((count, SIZE))))
    assert chunk.poses.rotations.shape == (count, 3, 20, 4) and chunk.jump.contacts.shape == (count, 2, 2)


def test_networks_that_answer_with_no_numbers_are_refused_by_name():
    good = Fakes().networks()
    check_answers(good, np.zeros((1, SIZE), np.float32), FEATURES.size)
    nonsense = np.full((1, SIZE), np.nan, np.float32)
    broken = Networks(good.decompressor, good.stepper, lambda features: nonsense)
    with pytest.raises(PackError, match="projector"):
        check_answers(broken, np.zeros((1, SIZE), np.float32), FEATURES.size)
