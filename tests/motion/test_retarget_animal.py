"""Retargeting between animals: own stances, steps scaled to the legs, chains of other counts, paws laid flat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import contact_points, girdles
from blender_addon.motion.clip import Clip
from blender_addon.motion.errors import RigError
from blender_addon.motion.metrics_legs import knee_plane_difference
from blender_addon.motion.proportions import sized_skeleton
from blender_addon.motion.retarget import posed_rest, retarget
from blender_addon.motion.retarget_animal import first_bend
from blender_addon.motion.runs import runs
from blender_addon.motion.skeleton import Skeleton, make_skeleton
from tests.animal_steps import stepping
from tests.animals import animal
from tests.synthetic import biped, walk

ANIMALS = ("fox", "horse", "wolf_without_paws")


def feet(clip: Clip) -> np.ndarray:
    return contact_points(clip.skeleton, *clip.world)


def without_tail(skeleton: Skeleton, keep: int) -> Skeleton:
    """The skeleton with only so many tail joints."""
    tails = sorted(role for role in skeleton.roles if role.startswith("tail_"))
    gone = {skeleton.index(role) for role in tails[keep:]}
    kept = [joint for joint in range(len(skeleton)) if joint not in gone]
    return make_skeleton(
        [skeleton.names[joint] for joint in kept],
        [kept.index(skeleton.parents[joint]) if joint else -1 for joint in kept], skeleton.offsets[kept],
        skeleton.tails[kept], {role: name for role, name in skeleton.roles.items() if role not in tails[keep:]},
        skeleton.rest_rotations[kept],
    )  # fmt: skip


def wagging(skeleton: Skeleton, angles: list[float]) -> Clip:
    """Standing, the joints of the tail turned so far about the vertical, in the world."""
    world = np.array(skeleton.rest_world[1])
    for number, angle in enumerate(angles, start=1):
        joint = skeleton.index(f"tail_{number}")
        world[joint] = rot.mul(rot.from_yaw(angle), world[joint])
    local = np.tile(skeleton.local_rotations(world), (4, 1, 1))
    hips = np.tile(skeleton.offsets[0], (4, 1))
    return Clip(skeleton, 60.0, hips, local, np.zeros((4, 3)), np.ones((4, 4), dtype=bool))


def tail_angles(clip: Clip) -> list[float]:
    rest, world = clip.skeleton.rest_world[1], clip.world[1][0]
    tails = sorted(role for role in clip.skeleton.roles if role.startswith("tail_"))
    joints = [clip.skeleton.index(role) for role in tails]
    return [float(rot.log(rot.mul(world[joint], rot.inv(rest[joint])))[2]) for joint in joints]


@pytest.mark.parametrize("name", ["fox", "horse"])
def test_an_animals_motion_on_its_own_skeleton_stays_as_it_is(name: str) -> None:
    clip = stepping(name, 2.0, 0.8, 0.4)
    again = retarget(clip, clip.skeleton)
    assert np.abs(again.world[0] - clip.world[0]).max() < 1e-3 * clip.skeleton.leg_length
    assert again.root == pytest.approx(clip.root)
    assert np.array_equal(again.contacts, clip.contacts)


@pytest.mark.parametrize("source", ANIMALS)
@pytest.mark.parametrize("target", ANIMALS)
def test_each_animal_stands_as_it_stands_at_rest(source: str, target: str) -> None:
    skeleton = animal(source)
    clip = Clip(
        skeleton, 60.0, np.tile(skeleton.offsets[0], (5, 1)), np.tile(skeleton.rest_rotations, (5, 1, 1)),
        np.zeros((5, 3)), np.ones((5, 4), dtype=bool),
    )  # fmt: skip
    # The root of the source lies where it lies: only shapes are compared.
    made, rest = retarget(clip, animal(target)), animal(target).rest_world[0]
    shape = made.world[0] - made.world[0][:, :1]
    assert np.abs(shape - (rest - rest[:1])).max() < 2e-3 * animal(target).leg_length
    assert feet(made)[..., 2] == pytest.approx(np.zeros((5, 4)), abs=1e-3)


@pytest.mark.parametrize(("source", "target"), [("fox", "horse"), ("fox", "wolf_without_paws"), ("horse", "fox")])
def test_strides_and_way_are_scaled_by_the_legs(source: str, target: str) -> None:
    clip = stepping(source, 3.0, 0.8)
    made = retarget(clip, animal(target))
    scale = animal(target).leg_length / clip.skeleton.leg_length
    assert made.root[:, :2] == pytest.approx(scale * clip.root[:, :2])
    for leg in range(4):
        places = [[points[first:last, leg].mean(axis=0) for first, last in runs(clip.contacts[:, leg])[1:-1]]
                  for points in (feet(clip), feet(made))]  # fmt: skip
        steps = [np.diff(np.array(place)[:, :2], axis=0) for place in places]
        assert len(steps[0]) >= 3
        assert steps[1] == pytest.approx(scale * steps[0], abs=0.01 * animal(target).leg_length)


@pytest.mark.parametrize("target", ["horse", "wolf_without_paws"])
def test_feet_keep_to_their_spots_in_a_bend_and_on_the_ground(target: str) -> None:
    made = retarget(stepping("fox", 3.0, 0.8, 0.5), animal(target), above_ground=True)
    leg = animal(target).leg_length
    points = feet(made)
    for number in range(4):
        for first, last in runs(made.contacts[:, number])[1:-1]:
            inner = points[first + 2 : last - 2, number]
            assert np.ptp(inner[:, :2], axis=0).max() < 0.012 * leg
            assert inner[:, 2].max() < 0.02 * leg
    assert points[..., 2].min() > -1e-3


def test_girdles_stay_as_wide_as_they_are() -> None:
    made = retarget(stepping("fox", 2.0, 0.8), animal("horse"))
    target = animal("horse")
    for part in ("hip", "shoulder"):
        left, right = target.index(f"left_{part}"), target.index(f"right_{part}")
        wide = np.linalg.norm(target.rest_world[0][left] - target.rest_world[0][right])
        apart = np.linalg.norm(made.world[0][:, left] - made.world[0][:, right], axis=-1)
        assert apart == pytest.approx(wide, rel=0.15)
    hind, fore = girdles(target, made.world[0])
    aside = 0.5 * (hind + fore)[:, :2] - made.root[:, :2]
    assert np.linalg.norm(aside, axis=-1).max() < 0.03 * target.leg_length


def test_tails_of_other_counts_share_the_bend() -> None:
    fox = animal("fox")
    clip = wagging(fox, [0.1, 0.2, 0.3, 0.4])
    assert tail_angles(retarget(clip, without_tail(fox, 2))) == pytest.approx([0.2, 0.4], abs=1e-6)
    eight = tail_angles(retarget(clip, animal("wolf_without_paws")))
    assert eight == pytest.approx(np.arange(1, 9) * 0.05, abs=1e-6)
    assert tail_angles(retarget(clip, without_tail(fox, 0))) == []
    still = wagging(without_tail(fox, 0), [])
    assert tail_angles(retarget(still, fox)) == pytest.approx([0.0] * 4, abs=1e-6)


def test_paws_that_the_source_lacks_lie_flat_while_it_stands() -> None:
    made = retarget(stepping("wolf_without_paws", 3.0, 0.8), animal("fox"))
    for number, foot in enumerate(made.skeleton.feet):
        away = rot.mul(made.world[1][:, foot.toe], rot.inv(made.skeleton.rest_world[1][foot.toe]))
        up = rot.rotate(away, np.array([0.0, 0.0, 1.0]))[made.contacts[:, number]]
        assert up[:, 2].min() > np.cos(np.radians(0.5))


def test_twice_the_size_and_back_returns_every_joint() -> None:
    clip = stepping("fox", 2.0, 0.8, 0.4)
    back = retarget(retarget(clip, sized_skeleton(clip.skeleton, 2.0)), clip.skeleton)
    assert np.abs(back.world[0] - clip.world[0]).max() < 1e-3


def test_where_the_rest_pose_faces_does_not_matter() -> None:
    clip, horse = stepping("fox", 1.5, 0.8), animal("horse")
    turned = posed_rest(horse, np.concatenate([rot.mul(rot.from_yaw(1.2), horse.rest_rotations[:1]),
                                               horse.rest_rotations[1:]]))  # fmt: skip
    assert retarget(clip, turned).world[0] == pytest.approx(retarget(clip, horse).world[0], abs=1e-6)


def test_joints_do_not_bend_the_wrong_way() -> None:
    made = retarget(stepping("fox", 3.0, 0.8), animal("horse"))
    positions = made.world[0]
    for foot in made.skeleton.feet:
        above, joint, below = (positions[:, at] for at in foot.chain[:3])
        line = rot.inv_rotate(rot.from_yaw(made.root[:, 2]), below - above)
        knee = rot.inv_rotate(rot.from_yaw(made.root[:, 2]), joint - above)
        side = np.cross(line, knee)[:, 0]
        # Stifles point forwards (-Y), elbows backwards.
        assert (side < 0.0).all() if foot.side.endswith("hind") else (side > 0.0).all()


def test_two_legs_and_four_do_not_mix() -> None:
    with pytest.raises(RigError, match="two-legged motion .* four-legged") as found:
        retarget(walk(1.0), animal("fox"))
    assert found.value.remedy
    with pytest.raises(RigError, match="four-legged motion .* two-legged"):
        retarget(stepping("fox", 1.0), biped())
    fox = animal("fox")
    lame = replace(fox, roles={role: name for role, name in fox.roles.items() if role != "left_hock"})
    with pytest.raises(RigError, match="left hock"):
        retarget(stepping("fox", 1.0), lame)


def test_straight_legs_bring_the_body_down_until_they_reach() -> None:
    clip = stepping("fox", 3.0, 0.9, frequency=1.5)
    made = retarget(clip, animal("horse"))
    points = feet(made)[made.contacts]
    assert np.percentile(points[:, 2], 95) < 0.02 * animal("horse").leg_length
    scale = animal("horse").leg_length / clip.skeleton.leg_length
    ours, theirs = (
        girdles(motion.skeleton, motion.world[0])[0][60:-30, 2]
        - girdles(motion.skeleton, motion.skeleton.rest_world[0])[0][2] for motion in (made, clip)
    )  # fmt: skip
    lowered = scale * theirs - ours
    assert 0.0 < lowered.max() < 0.15 * 1.6
    # Over whole strides, not bobbing with every step.
    assert np.abs(np.diff(lowered)).max() * 60.0 < 0.3


def test_stands_end_where_a_leg_reaches_no_further() -> None:
    clip = stepping("fox", 3.0, 1.5, frequency=1.5)
    made = retarget(clip, animal("wolf_without_paws"))
    gone = clip.contacts & ~made.contacts
    assert gone.any() and not (made.contacts & ~clip.contacts).any()
    for leg in range(4):
        for first, last in runs(clip.contacts[:, leg])[1:-1]:
            kept = runs(made.contacts[first:last, leg])
            assert len(kept) == 1 and kept[0][1] - kept[0][0] > 0.25 * (last - first)


def test_who_goes_sets_the_feet_under_the_hips_and_who_stands_as_at_rest() -> None:
    made = retarget(stepping("fox", 4.0, 0.9), animal("horse"))
    horse = animal("horse")
    behind = feet(made)[:, 0, 1] - made.world[0][:, made.skeleton.feet[0].hip, 1]
    rest = contact_points(horse, *horse.rest_world)[0, 1] - horse.rest_world[0][horse.feet[0].hip, 1]
    assert rest > 0.2
    assert abs(behind[made.contacts[:, 0]].mean()) < 0.12


def elbows_ahead(skeleton: Skeleton) -> Skeleton:
    """A rig whose first hinge of the fore legs bends forwards, as of deer that lack an elbow."""
    positions, rotations = (np.array(part) for part in skeleton.rest_world)
    for side in ("left", "right"):
        positions[skeleton.index(f"{side}_elbow"), 1] -= 0.13
    parents = np.array(skeleton.parents[1:])
    offsets = np.array(skeleton.offsets)
    offsets[1:] = rot.inv_rotate(rotations[parents], positions[1:] - positions[parents])
    return replace(skeleton, offsets=offsets)


def test_legs_that_bend_to_the_other_side_only_lend_their_swing() -> None:
    fox = animal("fox")
    odd = elbows_ahead(fox)
    assert first_bend(odd, odd.feet[2]) * first_bend(fox, fox.feet[2]) < 0.0
    assert first_bend(odd, odd.feet[0]) == pytest.approx(first_bend(fox, fox.feet[0]))
    clip = stepping("fox", 3.0, 0.8)
    source = replace(clip, skeleton=odd)
    made = retarget(source, fox)
    for number in (2, 3):
        above, elbow, below = (made.world[0][:, joint] for joint in fox.feet[number].chain[:3])
        assert (np.cross(below - above, elbow - above)[:, 0] > 0.0).all()
        assert np.nanmax(np.isnan(knee_plane_difference(made, source)[:, number])) == 1.0
    assert feet(made)[made.contacts][:, 2].max() < 0.03


def test_knees_point_as_the_sources_do_beside_what_the_animals_differ_by_at_rest() -> None:
    clip = stepping("fox", 2.0, 0.8)
    assert np.nanmax(knee_plane_difference(clip, clip)) == pytest.approx(0.0, abs=1e-6)
    found = knee_plane_difference(retarget(clip, animal("horse")), clip)
    assert np.nanpercentile(found, 95.0) < 10.0
