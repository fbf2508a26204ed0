import numpy as np
import pytest

from blender_addon.motion import animal as animals
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.root_track import body_yaw, with_root
from tests.animals import animal


def standing(name: str, frames: int = 8) -> Clip:
    skeleton = animal(name)
    return Clip(
        skeleton, 60.0, np.tile(skeleton.offsets[0], (frames, 1)), np.tile(skeleton.rest_rotations, (frames, 1, 1)),
        np.zeros((frames, 3)), np.tile([True, False, False, True], (frames, 1)),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_four_feet_in_the_order_of_legs_touch_the_ground_at_rest(name):
    skeleton = animal(name)
    positions, rotations = skeleton.rest_world
    assert [foot.side for foot in skeleton.feet] == list(animals.LEGS)
    for foot in skeleton.feet:
        ball = positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.ball)
        assert ball[2] == pytest.approx(0.0, abs=1e-6)
        assert (positions[foot.hip, 0] > 0.0) == foot.side.startswith("left")
        assert (positions[foot.hip, 1] > positions[skeleton.index("head"), 1]) and positions[foot.hip, 2] > 0.3


def test_shoulder_height_is_that_of_the_blades():
    assert animals.shoulder_height(animal("fox")) == pytest.approx(0.6, abs=1e-3)
    assert animals.shoulder_height(animal("horse")) == pytest.approx(1.6, abs=1e-3)


def test_two_legged_skeletons_are_not_taken_for_animals():
    from tests.synthetic import walk

    skeleton = walk(1.0).skeleton
    assert not skeleton.four_legged and len(skeleton.feet) == 2
    assert animal("fox").four_legged and animal("fox").missing_roles == ()


def test_the_root_lies_between_hips_and_shoulders_and_faces_along_the_back():
    clip = with_root(standing("fox"))
    hind, fore = animals.girdles(clip.skeleton, clip.world[0])
    assert clip.root[0, :2] == pytest.approx(0.5 * (hind + fore)[0, :2], abs=1e-6)
    assert body_yaw(clip.skeleton, clip.world[0])[0] == pytest.approx(0.0, abs=1e-6)


def test_mirroring_swaps_each_pair_of_feet():
    mirrored = standing("fox").mirrored()
    assert mirrored.contacts[0].tolist() == [False, True, True, False]
    assert mirrored.mirrored().world[0] == pytest.approx(standing("fox").world[0], abs=1e-6)


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_legs_meet_the_ground_under_their_last_joints_and_paws_carry_the_point_with_their_toes(name):
    skeleton = animal(name)
    positions, rotations = skeleton.rest_world
    toes = [foot.toe for foot in skeleton.feet]
    points = animals.contact_points(skeleton, positions, rotations)
    assert points == pytest.approx(positions[toes] * [1.0, 1.0, 0.0], abs=1e-6)
    # A foot bent over toes that stay on the ground moves no contact.
    clip = standing(name)
    bent = np.array(clip.world[1])
    for foot in skeleton.feet:
        if foot.toe != foot.ankle:
            bent[:, foot.ankle] = rot.mul(rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5), bent[:, foot.ankle])
    assert animals.contact_points(skeleton, clip.world[0], bent) == pytest.approx(np.tile(points, (8, 1, 1)), abs=1e-6)
