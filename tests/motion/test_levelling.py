"""Levelling: the floor's tilt and height are found and taken away, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.levelling import find_floors, fit_floor, levelled
from tests.synthetic import biped


def stepping(seed: int, steps: int = 24, spread: float = 3.0) -> Clip:
    """A figure that stands half a second here and there: every stance flat, soles at height 0."""
    skeleton = biped()
    rng = np.random.default_rng(seed)
    places = rng.uniform(-spread, spread, size=(steps, 2))
    xy = np.repeat(places, 30, axis=0)
    hips = np.concatenate([xy, np.full((len(xy), 1), skeleton.offsets[0, 2])], axis=1)
    rotations = np.tile(skeleton.rest_rotations, (len(hips), 1, 1))
    return Clip(skeleton, 60.0, hips, rotations, np.zeros((len(hips), 3)), np.zeros((len(hips), 2), bool), "steps")


def tilted(clip: Clip, slope: tuple[float, float], height: float) -> Clip:
    normal = np.array([-slope[0], -slope[1], 1.0])
    turn = rot.between(rot.UP, normal / np.linalg.norm(normal))
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.mul(turn, rotations[:, 0])
    return replace(clip, hips=rot.rotate(turn, clip.hips) + np.array([0.0, 0.0, height]), rotations=rotations)


def toe_heights(clip: Clip) -> np.ndarray:
    return clip.world[0][:, [foot.toe for foot in clip.skeleton.feet], 2]


def test_tilt_and_height_are_found_and_taken_away() -> None:
    clip = stepping(0, steps=60)
    crooked = tilted(clip, (0.01, -0.006), 0.04)
    assert np.ptp(toe_heights(crooked)) > 0.03
    floor = find_floors([crooked])[0]
    np.testing.assert_allclose(floor.slope, [0.01, -0.006], atol=5e-4)
    flat = levelled(crooked, floor)
    np.testing.assert_allclose(toe_heights(flat), clip.skeleton.ball_height, atol=2e-3)
    # The body's inner shape is untouched.
    np.testing.assert_allclose(flat.rotations[:, 1:], crooked.rotations[:, 1:])


def test_a_take_that_covers_little_ground_gets_its_slope_from_its_group() -> None:
    wide, narrow = tilted(stepping(1, 60), (0.009, 0.0), 0.02), tilted(stepping(2, 4, 0.1), (0.009, 0.0), 0.05)
    alone, together = find_floors([narrow])[0], find_floors([wide, narrow])[1]
    assert abs(alone.slope[0]) < 0.003
    assert together.slope[0] == pytest.approx(0.009, abs=1e-3)
    assert together.height == pytest.approx(0.05 + narrow.skeleton.ball_height, abs=2e-3)


def test_one_step_onto_a_box_does_not_tilt_the_floor() -> None:
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.uniform(-2, 2, (40, 2)), rng.normal(0.03, 0.002, (40, 1))], axis=1)
    points[0, 2] += 0.4
    floor = fit_floor([points])[0]
    assert np.abs(floor.slope).max() < 2e-3
    assert floor.height == pytest.approx(0.03, abs=2e-3)


def test_a_take_without_contacts_is_left_where_it_is() -> None:
    floor = fit_floor([np.zeros((0, 3))])[0]
    assert (floor.height, floor.contacts) == (0.0, 0)


def test_keeping_the_slope_takes_only_the_height() -> None:
    floor = find_floors([tilted(stepping(4), (0.05, 0.0), 0.1)], keep_slope=True, lowest=True)[0]
    assert floor.slope.tolist() == [0.0, 0.0]
    assert floor.height < 0.1
