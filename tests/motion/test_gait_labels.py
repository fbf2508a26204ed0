from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.contacts import UNEVEN_CONTACTS, on_uneven_ground, with_contacts
from blender_addon.motion.gait_labels import BIPED_GAITS, gait_weights, hips_over_feet, label_biped_gaits
from tests.synthetic import walk


def share(clip: Clip, gait: str) -> float:
    return float(np.mean(label_biped_gaits(clip) == BIPED_GAITS.index(gait)))


def raised(clip: Clip, height: np.ndarray) -> Clip:
    return replace(clip, hips=clip.hips + height[:, None] * np.array([0.0, 0.0, 1.0]))


def bent(clip: Clip, thigh: float, knee: float) -> Clip:
    """Both legs bent by so many radians, the feet where they were in height."""
    rotations = np.array(clip.rotations)
    for side in ("left", "right"):
        for part, angle in (("hip", thigh), ("knee", knee), ("ankle", -thigh - knee)):
            joint = clip.skeleton.index(f"{side}_{part}")
            rotations[:, joint] = rot.mul(rotations[:, joint], rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), angle))
    return replace(clip, rotations=rotations)


def test_a_walk_is_walking_and_one_with_bent_legs_crouching():
    clip = walk(4.0, speed=1.0)
    assert share(clip, "walk") > 0.9
    low = bent(clip, -0.8, 1.5)
    assert hips_over_feet(low).mean() < 0.84 < hips_over_feet(clip).mean()
    assert share(low, "crouch") > 0.9


def test_a_flight_of_half_a_second_is_a_jump():
    clip = walk(4.0, speed=1.0)
    t = np.arange(len(clip)) / clip.fps
    flight = np.clip(0.25 - np.abs(t - 2.0), 0.0, None)
    off = (flight > 0.0)[:, None]
    high = replace(raised(clip, 2.0 * flight), contacts=clip.contacts & ~off)
    labels = label_biped_gaits(high)
    assert np.all(labels[(t > 1.8) & (t < 2.2)] == BIPED_GAITS.index("jump"))
    assert np.all(labels[(t > 0.5) & (t < 1.2)] == BIPED_GAITS.index("walk"))


def test_weights_are_whole_inside_a_gait_and_share_at_its_ends():
    labels = np.repeat([0, 1], 60)
    weights = gait_weights(labels, 60.0)
    assert weights.shape == (120, 5)
    assert weights[20] == pytest.approx(np.eye(5)[0], abs=0.01)
    assert weights[60, 0] == pytest.approx(weights[59, 1], abs=0.1) and 0.3 < weights[60, 1] < 0.7


def test_feet_on_a_slope_stand_where_they_are_slow():
    clip = walk(4.0, speed=1.0)
    level = with_contacts(clip).contacts
    uphill = raised(clip, -0.27 * clip.root[:, 1])
    assert not on_uneven_ground(clip)
    assert np.mean(with_contacts(uphill).contacts[150:]) < 0.1
    assert np.mean(with_contacts(clip, UNEVEN_CONTACTS).contacts == level) > 0.85
