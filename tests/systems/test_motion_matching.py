from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import Cancelled, DatasetError, PackError
from blender_addon.motion.plan import Plan
from blender_addon.systems.database import TAIL_SECONDS, Database
from blender_addon.systems.features import clip_features, feature_layout, sample_root
from blender_addon.systems.motion_matching import MatchingSettings, MotionMatching
from blender_addon.systems.poses import clip_poses, decode_poses, encode_poses
from blender_addon.systems.rollout import rollout
from tests.synthetic import walk


@pytest.fixture(scope="module")
def database() -> Database:
    clips = [walk(6.0, speed, turning) for speed in (0.0, 0.5, 1.0) for turning in (0.0, 0.4)]
    return Database.build(clips)


def straight_plan(seconds: float, speed: float) -> Plan:
    t = np.arange(round(seconds * 60)) / 60
    pace = np.clip(t, 0, 1) * speed
    place = np.cumsum(pace / 60)
    still = np.zeros(len(t))
    return Plan(
        60.0, np.stack([still, -place], axis=1), still, pace, place, ("stand", "walk"),
        np.ones(len(t), dtype=np.int64), np.zeros(len(t), dtype=bool),
    )


def test_trajectory_features_of_a_straight_walk_lie_ahead_at_its_speed():
    clip = walk(4.0, speed=1.0)
    layout = feature_layout()
    features = clip_features(clip)
    ahead = layout.get(features, "trajectory_position")[30].reshape(3, 2)
    assert np.allclose(ahead, [[0, -1 / 3], [0, -2 / 3], [0, -1]], atol=1e-6)
    assert np.allclose(layout.get(features, "trajectory_direction")[30].reshape(3, 2), [0, -1])


def test_features_do_not_change_when_the_clip_is_moved_and_turned():
    clip = walk(4.0, speed=0.8, turning=0.5)
    turn = 1.1
    moved = clip.moved(
        np.concatenate(
            [rot.rotate_2d(turn, clip.root[:, :2]) - clip.root[:, :2] + [3, 4], np.full((len(clip), 1), turn)], axis=1
        )
    )
    assert np.allclose(clip_features(moved), clip_features(clip), atol=1e-9)


def test_the_root_beyond_a_clips_end_goes_on_along_its_circle():
    t = np.arange(0, 121) / 60
    rate, radius = 0.8, 2.0
    circle = np.stack([radius * np.sin(rate * t), -radius * np.cos(rate * t), rate * t + np.pi / 2], axis=1)
    ahead = sample_root(circle, np.array([180.0]), 60.0)[0]
    true = [radius * np.sin(rate * 3), -radius * np.cos(rate * 3), rate * 3 + np.pi / 2]
    # The last half second's mean rate is that of a chord, hence the tolerance of some centimetres.
    assert np.allclose(ahead[:2], true[:2], atol=0.35)
    assert ahead[2] == pytest.approx(true[2])


def test_pose_vectors_decode_to_the_poses_they_were_made_from():
    poses = clip_poses(walk(2.0, 0.9, 0.3))
    back = decode_poses(encode_poses(poses, 60.0), 20, 60.0)
    assert np.allclose(back.hips, poses.hips)
    assert np.allclose(rot.positive(back.rotations), rot.positive(poses.rotations))
    assert np.allclose(back.root_step, poses.root_step)


def test_the_end_of_each_clip_is_not_searched(database):
    tail = round(TAIL_SECONDS * 60)
    for first, last in database.ranges:
        assert not database.searchable[last - tail : last].any()
        assert database.searchable[first : last - tail].all()


def test_mirroring_doubles_the_data_with_the_feet_swapped(database):
    assert len(database.ranges) == 12
    first, second = (slice(*database.ranges[k]) for k in (2, 3))
    assert np.array_equal(database.contacts[first], database.contacts[second][:, ::-1])


def test_a_data_base_of_nothing_is_refused():
    with pytest.raises(DatasetError):
        Database.build([walk(0.2)])


def test_a_roll_out_starts_standing_and_keeps_up_with_its_plan(database):
    plan = straight_plan(8.0, 0.9)
    result = rollout(MotionMatching(database, MatchingSettings(least_gain=0.0)), [plan])[0]
    assert len(result.clip) == len(plan.root)
    start = np.linalg.norm(np.diff(result.clip.root[:5, :2], axis=0), axis=1) * 60
    assert start.max() < 0.2
    # The made-up data hold no start and only 0.5 and 1 m/s: the first steps lag, then the pace is kept roughly.
    gone, wished = (-np.diff(track[[240, 479], 1])[0] for track in (result.clip.root, plan.root))
    assert gone == pytest.approx(wished, rel=0.2)
    assert len(result.jumps) > 0


@pytest.mark.parametrize(
    ("broken", "match"),
    [
        (lambda poses: {"hips": np.nan * poses.hips}, "not numbers"),
        (lambda poses: {"root_step": np.nan * poses.root_step}, "not numbers"),
        (lambda poses: {"hips": poses.hips + [0.0, 50.0, 0.0]}, "flies apart"),
    ],
)
def test_motion_that_is_no_bodys_is_the_packs_fault_not_the_animators(database, broken, match):
    class Broken(MotionMatching):
        def step(self, state, wish):
            state, chunk = super().step(state, wish)
            return state, replace(chunk, poses=replace(chunk.poses, **broken(chunk.poses)))

    with pytest.raises(PackError, match=match):
        rollout(Broken(database), [straight_plan(2.0, 0.9)])


def test_jumps_are_blended_without_a_step_in_the_pose(database):
    result = rollout(MotionMatching(database), [straight_plan(8.0, 0.9)])[0]
    clip = result.clip
    change = rot.angle_between(clip.rotations[1:], clip.rotations[:-1]).max(axis=1)
    assert change[result.jumps[result.jumps > 0] - 1].max() < 1.5 * np.quantile(change, 0.99)


def test_a_herd_moves_as_each_of_its_members_alone(database):
    plans = [straight_plan(3.0, 0.5), straight_plan(4.0, 1.0)]
    herd = rollout(MotionMatching(database), plans)
    for plan, member in zip(plans, herd, strict=True):
        alone = rollout(MotionMatching(database), [plan])[0]
        assert np.allclose(alone.clip.hips, member.clip.hips)


def test_a_cancelled_roll_out_says_so(database):
    with pytest.raises(Cancelled):
        rollout(MotionMatching(database), [straight_plan(3.0, 0.5)], progress=lambda share: share < 0.5)


def test_the_trembling_of_networks_is_taken_away_and_captured_motion_left_alone(database):
    plan = straight_plan(4.0, 0.9)
    captured, trembling = MotionMatching(database), MotionMatching(database)
    trembling.noise_hz = 6.0
    rough, smooth = (rollout(system, [plan])[0].clip.world[0] for system in (captured, trembling))
    assert np.abs(np.diff(smooth, 3, axis=0)).mean() < 0.9 * np.abs(np.diff(rough, 3, axis=0)).mean()
    assert np.abs(smooth - rough).mean() < 0.005
