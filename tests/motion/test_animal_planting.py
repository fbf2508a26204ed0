"""Four feet stand where they stand, on every terrain, and the body rides over them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import courses
from blender_addon.motion import metrics_feet as feet
from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import contact_points, girdles
from blender_addon.motion.animal_limbs import limbs_of
from blender_addon.motion.animal_reach import ended
from blender_addon.motion.bridging import minimum_jerk
from blender_addon.motion.clip import Clip
from blender_addon.motion.contacts import with_contacts
from blender_addon.motion.correction import correct_path
from blender_addon.motion.feet import FootTarget, sole_points
from blender_addon.motion.limb_ik import bends
from blender_addon.motion.paws import bend_up, paw_motions, share_of_swing
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.proportions import sized
from blender_addon.motion.runs import runs
from blender_addon.motion.settle import settle
from blender_addon.motion.terrain import FlatGround, HeightField, Terrain
from tests.animal_walks import animal_walk

#: Stairs for a fox: 18 by 30 cm for a body of 0.9 m, half as high again as its withers.
SMALL = 0.6 / 0.9
GROUNDS = ("flat", "slope_up", "slope_down", "slope_across", "noise", "kerb", "stairs")


def field(name: str) -> Terrain:
    ground = courses.ground(name)
    function = courses.stairs(0.18 * SMALL, 0.30 * SMALL) if name == "stairs" else ground.function
    return HeightField.from_function(function, (-6.0, -12.0, 6.0, 4.0), ground.cell)


def inner_bends(clip: Clip) -> list[np.ndarray]:
    """Bends of each leg's inner joints (f, n), radians."""
    return [bends(limb.points(*clip.world), limb.hinges(clip.world[1]).axes) for limb in limbs_of(clip.skeleton)]


def sharpness(clip: Clip) -> float:
    """The legs' angular acceleration, 99th percentile, rad/s2."""
    return max(float(np.percentile(np.abs(np.diff(bend, 2, axis=0)), 99.0)) * clip.fps**2 for bend in inner_bends(clip))


@pytest.mark.parametrize("name", GROUNDS)
def test_paws_stand_exactly_on_every_terrain(name: str) -> None:
    terrain = field(name)
    source = animal_walk(speed=0.5 if name == "stairs" else 0.8)
    planted = plant_feet(source, terrain)
    assert feet.slides(planted.clip).worst()[0] < 3e-4
    assert np.nanmax(feet.penetration(planted.clip, terrain)) < 0.005
    assert np.nanmax(feet.floating(planted.clip, terrain)) < 0.010
    assert planted.shortfall[planted.contacts].max() < 1e-3
    assert planted.inserted_steps == 0 and planted.contacts.shape == (len(source), 4)


@pytest.mark.parametrize("name", GROUNDS)
def test_legs_neither_snap_nor_bend_the_wrong_way(name: str) -> None:
    source = animal_walk(speed=0.5 if name == "stairs" else 0.8)
    clip = plant_feet(source, field(name)).clip
    for limb, bend in zip(limbs_of(clip.skeleton), inner_bends(clip), strict=True):
        assert np.all(bend > limb.straight - 1e-6)
    # Stairs two treads a step: legs fold twice as far as on the level.
    assert sharpness(clip) < (2.0 if name == "stairs" else 1.3) * sharpness(source)


@pytest.mark.parametrize("name", ["slope_up", "slope_down", "noise", "kerb", "stairs"])
def test_swinging_paws_clear_the_ground(name: str) -> None:
    terrain = field(name)
    planted = plant_feet(animal_walk(speed=0.5 if name == "stairs" else 0.8), terrain)
    depth = -feet.sole_heights(planted.clip, terrain).min(axis=-1)[~planted.contacts]
    assert np.percentile(depth, 98) < 0.004


@pytest.mark.parametrize("name", ["horse", "wolf_without_paws"])
@pytest.mark.parametrize("ground", ["flat", "slope_up", "slope_down", "slope_across", "noise"])
def test_hooves_and_legs_without_paws_stand_as_exactly(name: str, ground: str) -> None:
    source = animal_walk(name, stride=0.6)
    planted = plant_feet(source, field(ground))
    assert feet.slides(planted.clip).worst()[0] < 3e-4
    height = feet.sole_heights(planted.clip, field(ground))[..., 1][planted.contacts]
    assert np.abs(height).max() < 0.003
    assert planted.clip.skeleton is source.skeleton


def test_what_stands_already_stays() -> None:
    source = animal_walk()
    planted = plant_feet(source)
    assert np.abs(planted.clip.world[0] - source.world[0]).max() < 0.003


@pytest.mark.parametrize("degrees", [15.0, -15.0])
def test_a_trunk_lies_along_its_slope_and_the_head_keeps_level(degrees: float) -> None:
    source = animal_walk()
    clip = plant_feet(source, HeightField.from_function(courses.slope(degrees), (-6, -12, 6, 4), 0.25)).clip

    def pitch(of: Clip) -> float:
        hind, fore = girdles(of.skeleton, of.world[0])
        line = (fore - hind)[120:-120]
        return float(np.degrees(np.mean(np.arctan2(line[:, 2], np.linalg.norm(line[:, :2], axis=1)))))

    assert 12.0 < np.sign(degrees) * (pitch(clip) - pitch(source)) < 20.0
    head = source.skeleton.index("head")
    tilt = rot.angle_between(clip.world[1][120:-120, head], source.world[1][120:-120, head])
    assert np.degrees(tilt).max() < 9.0


def test_a_trunk_keeps_upright_across_a_slope() -> None:
    source = animal_walk()
    clip = plant_feet(source, field("slope_across")).clip
    left = rot.rotate(rot.mul(clip.world[1][:, 0], rot.inv(source.world[1][:, 0])), np.array([1.0, 0.0, 0.0]))
    assert 1.0 < np.degrees(np.arcsin(left[:, 2])).mean() < 7.0


def test_dragged_feet_are_locked_and_swing_further() -> None:
    source = animal_walk(slide=0.15)
    assert feet.slides(source).worst()[0] > 0.03
    planted = plant_feet(source)
    assert feet.slides(planted.clip).worst()[0] < 3e-4
    assert sharpness(planted.clip) < 1.6 * sharpness(source)


@pytest.mark.parametrize("turning", [0.4, -0.6])
def test_paws_stand_still_in_a_turn(turning: float) -> None:
    planted = plant_feet(animal_walk(speed=0.6, turning=turning))
    assert feet.slides(planted.clip).worst()[0] < 3e-4
    assert np.degrees(feet.foot_yaws(planted.clip).worst()[0]) < 1.0


def test_a_standing_animal_turned_on_the_spot_steps_round() -> None:
    still = animal_walk(speed=0.0, seconds=8.0)
    share = minimum_jerk((np.arange(len(still)) / still.fps - 1.0) / 5.0)
    turned = still.moved(np.stack([0 * share, 0 * share, np.radians(60.0) * share], axis=1))
    planted = plant_feet(turned)
    assert planted.inserted_steps >= 4
    assert feet.slides(planted.clip).worst()[0] < 1e-3
    assert np.all((~planted.contacts).sum(axis=1) <= 1)


def test_animals_of_other_sizes_stand_as_exactly() -> None:
    source = animal_walk()
    usual = plant_feet(source, field("slope_up"))
    size = 0.25
    ground = HeightField.from_function(
        lambda xy: size * courses.slope(15.0)(np.asarray(xy) / size), (-2.0, -3.0, 2.0, 1.0), 0.05
    )
    small = plant_feet(sized(source, size), ground)
    assert np.abs(small.clip.world[0] / size - usual.clip.world[0]).max() < 0.01


def test_the_steps_before_planting_take_four_legs() -> None:
    """Onto another path, standing calmed: what the whole flow does with any clip."""
    source = animal_walk(seconds=4.0)
    plan = source.root + np.array([0.1, 0.0, 0.0])
    moved = correct_path(source, plan)
    planted = plant_feet(moved, FlatGround(0.2))
    assert feet.slides(planted.clip).worst()[0] < 3e-4
    points = contact_points(source.skeleton, *planted.clip.world)
    assert np.allclose(points[planted.contacts][:, 2], 0.2, atol=2e-3)
    still = animal_walk(speed=0.0, seconds=6.0)
    calm = settle(still, np.ones(len(still), bool))
    assert calm.contacts.shape == still.contacts.shape
    assert np.array_equal(plant_feet(calm).contacts, still.contacts)


def test_a_clip_without_contacts_is_carried_over_the_ground_untouched() -> None:
    source = animal_walk(seconds=2.0)
    flying = replace(source, contacts=np.zeros_like(source.contacts))
    planted = plant_feet(flying)
    assert not planted.contacts.any()
    assert np.abs(planted.clip.hips - source.hips).max() < 0.06


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_contacts_of_paws_are_found_from_the_motion(name: str) -> None:
    source = animal_walk(name, stride=0.6 if name != "fox" else 1.0)
    found = with_contacts(replace(source, contacts=np.zeros_like(source.contacts))).contacts
    assert (found == source.contacts)[30:-30].mean() > 0.9


def stand_middles(clip: Clip) -> np.ndarray:
    """How far each foot stands ahead of its leg's top in the middle of its stands (stands,), metres; all feet."""
    points = contact_points(clip.skeleton, *clip.world)
    found = []
    for leg, foot in enumerate(clip.skeleton.feet):
        for first, last in runs(clip.contacts[:, leg]):
            if first > 120 and last < len(clip) - 120:
                middle = (first + last) // 2
                way = points[middle, leg] - clip.world[0][middle, foot.hip]
                found.append(float(way[:2] @ rot.direction_of_yaw(clip.root[middle, 2])))
    return np.array(found)


@pytest.mark.parametrize("degrees", [15.0, -15.0])
def test_feet_go_ahead_uphill_and_stay_behind_downhill_under_a_body_that_keeps_its_way(degrees: float) -> None:
    source = animal_walk()
    ground = HeightField.from_function(courses.slope(degrees), (-6, -12, 6, 4), 0.25)
    clip = plant_feet(source, ground).clip
    # A leg square to the ground would stand its length times tan(15) ahead.
    square = np.tan(np.radians(degrees)) * source.skeleton.leg_length
    moved = np.mean(stand_middles(clip)) - np.mean(stand_middles(source))
    assert 0.4 < moved / square < 0.9
    middles = [0.5 * np.add(*girdles(of.skeleton, of.world[0])) for of in (clip, source)]
    # But for shoulders that swing with their blades.
    assert np.abs(middles[0] - middles[1])[:, :2].max() < 0.01


def test_the_lock_of_a_foot_that_a_slope_puts_ahead_counts_only_what_the_lock_moved() -> None:
    source = animal_walk()
    assert np.allclose(plant_feet(source, field("slope_up")).lock_offset, plant_feet(source).lock_offset, atol=2e-3)


def test_a_trunk_comes_down_little_on_slopes() -> None:
    source = animal_walk()
    for name in ("slope_up", "slope_down", "slope_across"):
        assert plant_feet(source, field(name)).pelvis_drop.max() < 0.11 * source.skeleton.leg_length


@pytest.mark.parametrize("name", GROUNDS)
def test_every_girdle_keeps_a_standing_foot_in_a_walk(name: str) -> None:
    planted = plant_feet(animal_walk(speed=0.5 if name == "stairs" else 0.8), field(name))
    assert np.all(planted.contacts[:, :2].any(axis=1)) and np.all(planted.contacts[:, 2:].any(axis=1))


def test_a_stand_out_of_reach_is_ended_where_its_foot_would_slip() -> None:
    contacts = np.ones((20, 4), dtype=bool)
    contacts[[0, 19]] = False
    slips = np.zeros_like(contacts)
    slips[16, 0] = slips[3, 1] = slips[[3, 16], 2] = True
    held = ended(contacts, slips)
    assert [runs(held[:, leg]) for leg in range(4)] == [[(1, 16)], [(4, 19)], [(4, 16)], [(1, 19)]]
    whole = np.ones((20, 4), dtype=bool)
    assert np.array_equal(ended(whole, slips), whole), "where the clip begins or ends a foot stays"


def test_feet_never_slide_even_where_no_leg_can_reach() -> None:
    steep = HeightField.from_function(courses.stairs(0.24, 0.30), (-6.0, -12.0, 6.0, 4.0), 0.01)
    planted = plant_feet(animal_walk(speed=0.9), steep)
    assert feet.slides(planted.clip).worst()[0] < 3e-3 * planted.clip.skeleton.leg_length


@pytest.mark.parametrize("ground", ["flat", "slope_up", "slope_down", "slope_across", "noise"])
def test_a_pad_that_turns_with_its_leg_rolls_over_its_lowest_point(ground: str) -> None:
    planted = plant_feet(animal_walk("wolf_without_paws", stride=0.6), field(ground))
    lowest = feet.sole_heights(planted.clip, field(ground)).min(axis=-1)[planted.contacts]
    assert np.percentile(-lowest, 95) < 0.003 and np.percentile(lowest, 95) < 0.002


def test_long_paws_bend_up_in_their_swings_rather_than_lift_the_leg() -> None:
    source = animal_walk()
    motion = paw_motions(source)[2]
    long = replace(motion.shape, foot=replace(motion.shape.foot, tip=motion.shape.ball + 0.2 * motion.shape.ahead))
    hanging = rot.mul(rot.exp(rot.rotate(motion.rotation, long.left) * 0.6 * swing_share(source)), motion.rotation)
    motion = replace(motion, shape=long, rotation=hanging, toe_rotation=hanging)
    target = FootTarget(motion.ball, hanging, hanging, np.zeros(len(source)), np.zeros(len(source)),
                        source.contacts[:, 2])  # fmt: skip
    before = sole_points(long, target.ball, target.rotation, target.toe_turn)
    bent = bend_up(target, motion)
    after = sole_points(long, bent.ball, bent.rotation, bent.toe_turn)
    assert before[:, 2, 2].min() < -0.06 and after[:, 2, 2].min() > -0.02
    assert np.allclose(after[:, 1], before[:, 1], atol=1e-9), "the point that bears stays"
    stands = target.contact
    assert np.allclose(after[stands], before[stands], atol=1e-9)


def swing_share(clip: Clip) -> np.ndarray:
    """0 where the left fore foot stands (f, 1), 1 in its swings, smooth."""
    return share_of_swing(clip.contacts[:, 2], 0.3)[:, None]


def test_tails_stay_off_the_steps_behind() -> None:
    source = animal_walk(speed=0.5)
    terrain = field("stairs")
    clip = plant_feet(source, terrain).clip
    tip = max(source.skeleton.index(role) for role in source.skeleton.roles if role.startswith("tail"))
    heights = [of.world[0][:, tip, 2] for of in (clip, source)]
    above = heights[0] - terrain.height(clip.world[0][:, tip, :2])
    assert above.min() > 0.35 * heights[1].min()
