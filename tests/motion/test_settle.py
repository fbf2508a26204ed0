import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.settle import SettleSettings, settle, standing_frames
from tests.synthetic import walk


def fidgeting(seconds: float = 5.0):
    """Standing on both feet, one arm waving at 1 Hz."""
    clip = walk(seconds, speed=0.0)
    rotations = np.array(clip.rotations)
    arm = clip.skeleton.index("left_shoulder")
    wave = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.6 * np.sin(2 * np.pi * np.arange(len(clip)) / 60))
    rotations[:, arm] = rot.mul(wave, rotations[:, arm])
    return type(clip)(clip.skeleton, clip.fps, clip.hips, rotations, clip.root, clip.contacts)


def hand_speed(clip) -> np.ndarray:
    hand = clip.skeleton.index("left_wrist")
    return np.linalg.norm(np.gradient(clip.world[0][:, hand], axis=0), axis=-1) * clip.fps


def test_a_fidgeting_hand_calms_down_where_the_plan_stands():
    clip = fidgeting()
    calm = settle(clip, np.ones(len(clip), bool))
    assert hand_speed(clip)[-60:].max() > 1.5
    assert hand_speed(calm)[-60:].max() < 0.5
    assert len(calm) == len(clip)


def test_a_stand_that_ends_is_itself_again_when_the_plan_goes_on():
    clip = fidgeting()
    standing = np.zeros(len(clip), bool)
    standing[60:240] = True
    calm = settle(clip, standing)
    assert np.allclose(calm.rotations[:60], clip.rotations[:60])
    assert rot.angle_between(calm.rotations[290:], clip.rotations[290:]).max() < 0.01
    # The way back is blended: no faster than the waving itself.
    assert hand_speed(calm).max() < 1.3 * hand_speed(clip).max()


def test_walking_and_short_stands_stay_as_they_are():
    clip = walk(4.0, speed=1.0)
    assert settle(clip, np.ones(len(clip), bool)) is clip
    standing = fidgeting(1.0)
    assert settle(standing, np.ones(len(standing), bool), SettleSettings(shortest=2.0)) is standing


def test_a_plan_that_turns_on_the_spot_is_not_standing():
    speed, yaw = np.zeros(120), np.linspace(0.0, 1.0, 120)
    assert not standing_frames(speed, yaw, 60.0).any()
    assert standing_frames(speed, 0.0 * yaw, 60.0).all()
