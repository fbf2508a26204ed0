"""Motion Matching on four legs: 39 features, feet where they meet the ground, and roll-outs along plans."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion import metrics as measure
from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import contact_points
from blender_addon.motion.clip import Clip
from blender_addon.motion.gait_analysis.classify import classify
from blender_addon.motion.gait_analysis.footfalls import strides
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.schedule import Schedule
from blender_addon.systems.database import Database
from blender_addon.systems.features import clip_features, layouts
from blender_addon.systems.motion_matching import MotionMatching
from blender_addon.systems.poses import clip_poses, decode_poses, encode_poses
from blender_addon.systems.synthesis import synthesise
from tests.animal_steps import stepping


@pytest.fixture(scope="module")
def database() -> Database:
    clips = [stepping("fox", 4.0, speed, turning) for speed in (0.0, 0.5, 0.8, 1.1) for turning in (0.0, 0.5)]
    return Database.build(clips)


def test_features_of_four_legs_are_39_numbers(database: Database) -> None:
    features, poses = layouts(database.skeleton)
    assert database.raw.shape[1] == features.size == 39
    assert poses.size == 3 + 9 * 31 + 3 + 3 + 4


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_foot_features_are_where_the_legs_meet_the_ground(name: str) -> None:
    clip = stepping(name, 2.0, 0.8, 0.4)
    layout = layouts(clip.skeleton)[0]
    found = layout.get(clip_features(clip), "foot_position").reshape(-1, 4, 3)
    points = contact_points(clip.skeleton, *clip.world)
    points[..., :2] -= clip.root[:, None, :2]
    assert found == pytest.approx(rot.inv_rotate(rot.from_yaw(clip.root[:, 2])[:, None], points), abs=1e-9)
    # Standing feet do not move over the ground.
    speed = np.linalg.norm(layout.get(clip_features(clip), "foot_velocity").reshape(-1, 4, 3), axis=-1)
    held = clip.contacts[1:-1] & clip.contacts[:-2] & clip.contacts[2:]
    assert np.median(speed[1:-1][held]) < 0.02


def test_pose_vectors_of_four_legs_decode_to_what_they_were_made_from() -> None:
    clip = stepping("fox", 1.0, 0.8, 0.4)
    poses = clip_poses(clip)
    back = decode_poses(encode_poses(poses, 60.0), 31, 60.0, 4)
    assert back.hips == pytest.approx(poses.hips)
    assert rot.positive(back.rotations) == pytest.approx(rot.positive(poses.rotations), abs=1e-9)
    assert back.contacts == pytest.approx(poses.contacts)


def test_mirror_images_swap_both_pairs_of_feet(database: Database) -> None:
    one, other = (np.flatnonzero(database.range_of == number) for number in (2, 3))
    layout = layouts(database.skeleton)[0]
    here, there = (layout.get(database.raw[rows], "foot_position").reshape(-1, 4, 3) for rows in (one, other))
    assert there == pytest.approx(here[:, [1, 0, 3, 2]] * [-1.0, 1.0, 1.0], abs=1e-5)


def test_an_animal_walks_along_a_bend(database: Database) -> None:
    angle = np.linspace(0.0, 0.9 * np.pi, 80)
    curve = 2.0 * np.stack([np.cos(angle) - 1.0, -np.sin(angle)], axis=1)
    plan = make_plan(RootPath.from_points(curve), Schedule.constant(0.8), speeds=(0.3, 1.2))
    made = synthesise(MotionMatching(database), [plan])[0]
    assert made.clip.contacts.shape == (len(plan), 4)
    error = measure.hips_path_error(made.clip, curve)
    assert error.mean() < 0.025
    assert _slides(made.clip) < 3e-3
    gaits = [classify(stride, 0.6).label for stride in strides(made.clip)]
    assert len(gaits) > 6 and np.mean([gait == "walk" for gait in gaits]) > 0.8


def _slides(clip: Clip) -> float:
    return measure.slides(clip).worst()[0]
