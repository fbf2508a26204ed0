import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.reference_pose import arm_elevation, without_reference_pose
from tests.synthetic import walk


def with_arms_out(seconds: float, first: float, last: float):
    """A walk whose arms come down from a T-pose in ``first`` seconds and go up again in the ``last`` ones."""
    clip = walk(seconds)
    t = np.arange(len(clip)) / clip.fps
    rotations = np.array(clip.rotations)
    out = np.maximum(np.clip(1 - t / first, 0, 1) if first else 0, np.clip(1 - (t[-1] - t) / last, 0, 1) if last else 0)
    for side in ("left", "right"):
        arm = clip.skeleton.index(f"{side}_shoulder")
        rotations[:, arm] = rot.slerp(rotations[:, arm], np.tile(rot.IDENTITY, (len(clip), 1)), out)
    return type(clip)(clip.skeleton, clip.fps, clip.hips, rotations, clip.root, clip.contacts)


def test_an_arm_held_out_is_ninety_degrees_from_hanging():
    clip = with_arms_out(4.0, 1.0, 0.0)
    assert arm_elevation(clip)[0] == pytest.approx(90.0, abs=0.1)
    assert arm_elevation(clip)[120] < 35.0


def test_a_pose_with_the_arms_out_is_dropped_at_both_ends():
    first, last = without_reference_pose(with_arms_out(6.0, 1.5, 1.0))
    assert 40 <= first <= 90
    assert 361 - 60 <= last <= 361 - 25


def test_a_take_with_the_arms_down_is_kept_whole():
    clip = walk(3.0)
    assert without_reference_pose(clip) == (0, len(clip))


def test_a_take_that_never_lowers_its_arms_has_nothing_left():
    clip = walk(2.0)
    tpose = type(clip)(
        clip.skeleton, clip.fps, clip.hips, np.tile(clip.skeleton.rest_rotations, (len(clip), 1, 1)),
        clip.root, clip.contacts,
    )
    first, last = without_reference_pose(tpose)
    assert first == last
