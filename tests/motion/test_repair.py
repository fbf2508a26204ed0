import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.repair import mended
from tests.synthetic import walk


def changed(clip, hips=None, rotations=None):
    return type(clip)(
        clip.skeleton, clip.fps, clip.hips if hips is None else hips,
        clip.rotations if rotations is None else rotations, clip.root, clip.contacts,
    )  # fmt: skip


def test_an_elbow_that_flips_for_three_frames_is_bridged():
    clip = walk(3.0)
    joint = clip.skeleton.index("left_elbow")
    rotations = np.array(clip.rotations)
    flip = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 2.5)
    rotations[80:83, joint] = rot.mul(rotations[80:83, joint], flip)
    good, words = mended(changed(clip, rotations=rotations))
    assert "LeftForeArm" in words[0]
    assert rot.angle_between(good.rotations, clip.rotations).max() < 0.05


def test_hips_that_leap_for_one_frame_are_put_back():
    clip = walk(3.0)
    hips = np.array(clip.hips)
    hips[50, 2] += 0.9
    good, words = mended(changed(clip, hips=hips))
    assert "hips" in words[0]
    assert np.abs(good.hips - clip.hips).max() < 0.01


def test_a_lone_flip_is_spread_so_that_no_frame_leaps():
    clip = walk(3.0)
    joint = clip.skeleton.index("head")
    rotations = np.array(clip.rotations)
    rotations[90:, joint] = rot.mul(rotations[90:, joint], rot.from_axis_angle(rot.UP, 1.2))
    good, _ = mended(changed(clip, rotations=rotations))
    steps = np.degrees(rot.angle_between(good.rotations[1:, joint], good.rotations[:-1, joint])) * clip.fps
    assert steps.max() < 1400.0


def test_a_good_walk_and_a_half_turn_of_signs_stay_as_they_are():
    clip = walk(3.0)
    assert mended(clip) == (clip, ())
    rotations = np.array(clip.rotations)
    rotations[::2] *= -1.0
    assert mended(changed(clip, rotations=rotations))[1] == ()
