"""Planting motion that was made on the terrain itself: little is left to do, and nothing is done twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import courses
from blender_addon.motion.clip import Clip
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.proportions import sized
from blender_addon.motion.terrain import FlatGround, HeightField
from tests.synthetic import walk

BOUNDS = (-2.0, -7.0, 2.0, 2.0)


def stepping() -> Clip:
    return plant_feet(walk(4.0, 1.0)).clip


def ground(name: str) -> HeightField:
    functions = {
        "slope_up": courses.slope(12.0), "slope_down": courses.slope(-12.0), "noise": courses.noise(),
        "slope_across": courses.slope(12.0, across=True), "stairs": courses.stairs(0.15, 0.45, 4, first=1.0),
    }  # fmt: skip
    return HeightField.from_function(functions[name], BOUNDS, 0.01)


@pytest.mark.parametrize("size", [0.4, 1.0])
def test_motion_made_for_level_ground_is_planted_as_ever(size: float) -> None:
    clip, field = sized(stepping(), size), ground("noise")
    usual, told = plant_feet(clip, field), plant_feet(clip, field, None, FlatGround())
    assert np.array_equal(usual.clip.hips, told.clip.hips)
    assert np.allclose(usual.clip.world[0], told.clip.world[0], atol=1e-12)


@pytest.mark.parametrize("name", ["slope_up", "slope_down", "slope_across", "noise", "stairs"])
def test_what_stands_on_the_terrain_already_stays_as_it_is(name: str) -> None:
    field = ground(name)
    once = plant_feet(stepping(), field).clip
    again = plant_feet(once, field, None, field)
    away = np.linalg.norm(again.clip.world[0] - once.world[0], axis=-1)
    assert np.ptp(once.hips[:, 2]) > 0.04
    assert np.abs(again.clip.hips - once.hips).max() < 0.01
    assert away.mean() < 0.003 and np.quantile(away, 0.99) < 0.025
    assert again.lock_offset.max() < 1e-6


@pytest.mark.parametrize("name", ["slope_up", "slope_down", "slope_across"])
def test_a_body_made_on_a_slope_keeps_its_height_over_it(name: str) -> None:
    # Without being told, planting would lift the body by the whole slope once more.
    field = ground(name)
    once = plant_feet(stepping(), field).clip
    higher = replace(once, hips=once.hips + [0.0, 0.0, -0.03])
    again = plant_feet(higher, field, None, field)
    assert np.abs(again.clip.hips - higher.hips)[60:-60].max() < 0.012


def test_what_was_made_on_stairs_comes_down_to_the_floor() -> None:
    field = ground("stairs")
    clip = stepping()
    climbed = plant_feet(clip, field).clip
    down = plant_feet(climbed, FlatGround(), None, field).clip
    level = plant_feet(clip).clip
    assert np.ptp(climbed.hips[:, 2]) > 0.4
    # What the legs took the pelvis down by on the stairs is the motion's own by now.
    assert np.abs(down.hips[:, 2] - level.hips[:, 2]).max() < 0.1


def test_a_foot_over_an_edge_stands_where_the_source_stood() -> None:
    # The middle of the ball lies over the lower stair, the foot stood on the upper one.
    clip = stepping()
    ledge = HeightField.from_function(lambda xy: np.where(xy[..., 1] < -1.0, 0.15, 0.0), BOUNDS, 0.01)
    once = plant_feet(clip, ledge).clip
    nudged = replace(once, hips=once.hips + [0.0, 0.06, 0.0], root=once.root + [0.0, 0.06, 0.0])
    again = plant_feet(nudged, ledge, None, ledge).clip
    assert np.abs(again.hips[:, 2] - once.hips[:, 2]).max() < 0.05
