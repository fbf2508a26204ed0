import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import girdles
from blender_addon.motion.errors import ClipError, RigError
from blender_addon.motion.gait_model.perform import perform
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.gait_model.table import build_of, load_table
from blender_addon.motion.metrics_feet import ball_positions
from tests.animals import animal

from .gaits import angular_acceleration, edges, plan_of, ramps, skate, timing_of, without

#: Animal, its shoulder height, gait, speed (m/s).
STEADY = [
    ("fox", 0.6, "walk", 0.6), ("fox", 0.6, "walk", 1.47), ("fox", 0.6, "pace", 1.5), ("fox", 0.6, "trot", 1.3),
    ("fox", 0.6, "trot", 2.5), ("fox", 0.6, "canter", 3.6), ("fox", 0.6, "gallop", 4.5), ("fox", 0.6, "gallop", 6.0),
    ("horse", 1.6, "walk", 1.6), ("horse", 1.6, "trot", 4.0), ("horse", 1.6, "gallop", 10.0),
    ("wolf_without_paws", 0.8, "walk", 1.2), ("wolf_without_paws", 0.8, "gallop", 5.0),
]  # fmt: skip


def trunk_pitch(clip):
    hind, fore = (clip.world[0][:, joint] for joint in (0, 3))
    line = fore - hind
    return np.degrees(np.arctan2(line[:, 2], np.linalg.norm(line[:, :2], axis=1)))


@pytest.mark.parametrize(("name", "height", "gait", "speed"), STEADY)
def test_feet_keep_the_tables_time_and_stand_still(name, height, gait, speed):
    clip = perform(animal(name), plan_of(speed, seconds=8, action=gait), GaitSettings(lead="left"))
    duty, lags, seconds = timing_of(clip)
    table = load_table(build_of(height))[gait]
    right = not table.symmetrical and table.lags[3] > table.lags[2]
    wanted = table.lags[[1, 0, 3, 2]] if right else table.lags
    gap = rot.wrap_angle(2.0 * np.pi * (lags - (wanted - wanted[0]))) / (2.0 * np.pi)
    assert np.abs(gap).max() < 0.05
    assert duty == pytest.approx(np.full(4, table.duty_factor(np.array(speed), height)), abs=0.08)
    assert speed * seconds == pytest.approx(table.stride_length(np.array(speed), height), rel=0.06)
    assert skate(clip) <= 0.02
    ball = ball_positions(clip)[..., 2] - [foot.ball_height for foot in clip.skeleton.feet]
    assert np.abs(ball[clip.contacts]).max() < 0.005 * height / 0.6
    assert ball.min() > -0.005


@pytest.mark.parametrize(("name", "height", "gait", "speed"), [row for row in STEADY if row[0] == "fox"])
def test_joints_are_not_jerked(name, height, gait, speed):
    clip = perform(animal(name), plan_of(speed, seconds=8, action=gait))
    most = 2.5e5 if gait in ("canter", "gallop") else 6e4 if gait == "walk" else 1.2e5
    assert max(angular_acceleration(clip, part) for part in ("knee", "hock", "elbow")) < most


@pytest.mark.parametrize(("gait", "speed", "least", "most"), [("gallop", 4.5, 10.0, 24.0), ("trot", 2.0, 0.3, 5.0)])
def test_the_trunk_pitches_as_dogs_do(gait, speed, least, most):
    clip = perform(animal("fox"), plan_of(speed, seconds=8, action=gait), GaitSettings(fidget=0.0))
    assert least < np.ptp(np.percentile(trunk_pitch(clip), [1, 99])) < most


def test_the_head_is_steadier_than_the_trunk_in_a_gallop():
    clip = perform(animal("fox"), plan_of(4.5, seconds=6, action="gallop"), GaitSettings(fidget=0.0))
    head = clip.skeleton.index("head")
    rest = clip.skeleton.rest_world[1][head]
    ahead = rot.rotate(clip.world[1][:, head], rot.inv_rotate(rest, rot.FORWARD))
    assert np.ptp(np.degrees(np.arcsin(ahead[:, 2]))) < 0.7 * np.ptp(trunk_pitch(clip))


def test_strides_vary_a_little_and_only_by_the_seed():
    plan = plan_of(1.2, seconds=20)
    clip, again, other = (perform(animal("fox"), plan, GaitSettings(seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(clip.rotations, again.rotations) and np.array_equal(clip.hips, again.hips)
    assert not np.allclose(clip.rotations, other.rotations)
    lasts = np.diff(edges(clip.contacts[:, 0])[0])
    assert 0.01 < lasts.std() / lasts.mean() < 0.07
    even = perform(animal("fox"), plan, GaitSettings(variation=0.0))
    assert np.ptp(np.diff(edges(even.contacts[:, 0])[0])) <= 1


def test_the_root_is_the_plan_and_lies_amid_the_body():
    plan = plan_of(1.0, 0.8, seconds=8)
    clip = perform(animal("fox"), plan)
    assert np.array_equal(clip.root, plan.root)
    hind, fore = girdles(clip.skeleton, clip.world[0])
    assert np.abs((0.5 * (hind + fore))[:, :2] - plan.positions).max() < 0.05


@pytest.mark.parametrize("speed", [0.8, 1.5])
def test_half_a_metre_of_radius_is_walked_without_slipping_or_crossing_feet(speed):
    clip = perform(animal("fox"), plan_of(speed, speed / 0.5, seconds=8))
    assert skate(clip) <= 0.02
    ball = ball_positions(clip)
    left = rot.rotate_2d(-clip.root[:, None, 2], ball[..., :2] - clip.root[:, None, :2])[..., 0]
    assert (left[:, 0] - left[:, 1]).mean() > 0.06 and (left[:, 2] - left[:, 3]).mean() > 0.06
    spine = [clip.skeleton.index(f"spine_{n}") for n in (1, 2, 3)]
    bend = rot.log(clip.rotations[:, spine]) - rot.log(clip.skeleton.rest_rotations[spine])
    assert np.degrees(np.linalg.norm(bend.sum(axis=1), axis=-1)).mean() > 25.0


def test_a_start_steps_off_foot_by_foot_and_a_stop_ends_square():
    clip = perform(animal("fox"), plan_of(ramps((0, 0), (1, 0), (2.2, 1.4), (4, 1.4), (5.2, 0), (8, 0))))
    assert skate(clip) <= 0.02
    first = sorted(edges(clip.contacts[:, leg])[1][0] for leg in range(4))
    assert min(np.diff(first)) >= 4 and 45 < first[0] < 75
    assert clip.contacts[:40].all() and clip.contacts[-60:].all()
    for frame in (10, -1):
        feet = rot.rotate_2d(-clip.root[frame, 2], ball_positions(clip)[frame, :, :2] - clip.root[frame, :2])
        assert feet[[0, 2]] * [-1.0, 1.0] == pytest.approx(feet[[1, 3]], abs=0.01)


def test_turning_on_the_spot_is_stepped():
    clip = perform(animal("fox"), plan_of(0.0, ramps((0, 0), (1, 0), (1.3, 1.5), (3.5, 1.5), (3.8, 0), (6.5, 0))))
    assert skate(clip) <= 0.02
    assert all(len(edges(clip.contacts[:, leg])[0]) >= 3 for leg in range(4))
    assert (~clip.contacts).sum(axis=1).max() <= 2
    ball = ball_positions(clip)
    for leg in range(4):
        turned = np.diff(np.unwrap(np.arctan2(*(ball[:, leg, :2] - clip.root[:, :2]).T[::-1])))
        assert abs(turned.sum()) == pytest.approx(clip.root[-1, 2], abs=0.1)


def test_every_foot_goes_on_stepping_through_all_changes_of_gait():
    speed = ramps((0, 0), (1, 0), (6, 5.0), (8, 5.0), (13, 0), (15, 0))
    clip = perform(animal("fox"), plan_of(speed))
    assert skate(clip) <= 0.02
    moving = slice(90, 760)
    for leg in range(4):
        lands, leaves = edges(clip.contacts[moving, leg])
        assert np.diff(lands).max() < 75 and np.diff(lands).min() > 12
        assert max(abs(np.diff(np.sort(np.concatenate([lands, leaves]))))) < 55
    # Nowhere is a foot in the air while it does not move.
    step = np.linalg.norm(np.diff(ball_positions(clip), axis=0), axis=-1)
    for leg in range(4):
        lands, leaves = edges(clip.contacts[:, leg])
        for lift in leaves:
            land = lands[lands > lift]
            if len(land):
                middle = slice(lift + (land[0] - lift) // 4, land[0] - (land[0] - lift) // 4)
                assert step[middle, leg].min() > 1e-4


def test_standing_is_alive_and_calm():
    clip = perform(animal("fox"), plan_of(0.0, seconds=15))
    speed = np.linalg.norm(np.diff(clip.world[0], axis=0), axis=-1) * clip.fps
    assert clip.contacts.all() and skate(clip) <= 0.02
    assert speed.max() < 0.5 and speed.mean() > 0.002
    head = clip.skeleton.index("head")
    ahead = rot.rotate(clip.world[1][:, head], rot.inv_rotate(clip.skeleton.rest_world[1][head], rot.FORWARD))
    assert 8.0 < np.ptp(np.degrees(rot.yaw_of_direction(ahead[:, :2]))) < 80.0


@pytest.mark.parametrize("gone", [
    ("tail_1", "tail_2", "tail_3", "tail_4"), ("spine_1", "spine_2", "spine_3"), ("left_scapula", "right_scapula"),
    ("head", "neck", "neck_2"), ("left_fore_paw", "right_fore_paw", "left_hind_hoof", "right_hind_hoof"),
])  # fmt: skip
def test_what_a_rig_lacks_it_does_without(gone):
    clip = perform(without(animal("fox"), *gone), plan_of(1.2, seconds=4))
    assert skate(clip) <= 0.02 and np.all(np.isfinite(clip.rotations))
    assert timing_of(clip)[1] == pytest.approx([0.0, 0.5, 0.15, 0.65], abs=0.06)


def test_bodies_of_two_and_three_legs_are_refused():
    from tests.synthetic import walk

    with pytest.raises(RigError, match="four legs"):
        perform(walk(1.0).skeleton, plan_of(1.0, seconds=1))
    fox = animal("fox")
    lame = without(fox, *(f"left_{part}" for part in ("shoulder", "elbow", "wrist", "fore_paw")))
    with pytest.raises(RigError, match="left"):
        perform(lame, plan_of(1.0, seconds=1))


def test_settings_that_mean_nothing_are_refused():
    for wrong in ({"build": "camel"}, {"lead": "middle"}, {"variation": 2.0}):
        with pytest.raises(ClipError):
            GaitSettings(**wrong)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 6.0), st.floats(-2.0, 2.0)), min_size=2, max_size=5), st.integers(0, 99))
def test_any_plan_is_walked_without_slipping(parts, seed):
    times = np.arange(len(parts)) * 2.0
    speed = ramps(*zip(times, [speed for speed, _ in parts], strict=True))
    rate = ramps(*zip(times, [rate for _, rate in parts], strict=True)) / np.maximum(speed, 1.0)
    clip = perform(animal("fox"), plan_of(speed, rate), GaitSettings(seed=seed))
    assert skate(clip) <= 0.1 and np.all(np.isfinite(clip.rotations))


def test_ten_seconds_take_well_under_one():
    skeleton, plan = animal("fox"), plan_of(2.2, seconds=10)
    perform(skeleton, plan)
    begin = time.process_time()
    perform(skeleton, plan)
    assert time.process_time() - begin < 0.4
