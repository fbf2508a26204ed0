"""Foot planting: feet that stay where they stand, on every terrain, without snapping knees."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import courses, planting
from blender_addon.motion import rotations as rot
from blender_addon.motion.bridging import minimum_jerk
from blender_addon.motion.clearance import touch_ground
from blender_addon.motion.clip import Clip
from blender_addon.motion.feet import FootMotion, FootShape, aim_foot, sole_points
from blender_addon.motion.footfalls import Footfalls
from blender_addon.motion.foothold import find_footholds
from blender_addon.motion.planting import Planted, PlantSettings, plant_feet
from blender_addon.motion.proportions import sized
from blender_addon.motion.runs import runs
from blender_addon.motion.skeleton import Sole
from blender_addon.motion.terrain import FlatGround, HeightField, Terrain
from tests.synthetic import biped, walk

Floats = npt.NDArray[np.float64]


def stepping(seconds: float, speed: float = 1.0, turning: float = 0.0, phase: float = 0.0) -> Clip:
    """The made-up walk with its feet planted once on the floor: from then on a walk as capture has it."""
    return plant_feet(walk(seconds, speed, turning, phase=phase)).clip


@pytest.mark.parametrize("size", [0.2, 0.5, 3.0])
def test_bodies_of_other_sizes_stand_on_grounds_of_their_size_as_exactly(size: float) -> None:
    clip = stepping(3.0)
    small = sized(clip, size)
    usual = plant_feet(clip, HeightField.from_function(courses.slope(10.0), (-2, -6, 2, 2), 0.05))
    ground = HeightField.from_function(lambda xy: size * courses.slope(10.0)(np.asarray(xy) / size),
                                       (-2 * size, -6 * size, 2 * size, 2 * size), 0.05 * size)  # fmt: skip
    found = plant_feet(small, ground)
    assert found.clip.skeleton is small.skeleton and np.array_equal(found.contacts, usual.contacts)
    # Within what the usual leg's 3% difference from the legs that the settings hold for makes.
    away = np.linalg.norm(found.clip.world[0] / size - usual.clip.world[0], axis=-1)
    assert away.max() < 0.01
    assert np.allclose(found.pelvis_drop / size, usual.pelvis_drop, atol=0.005)


def standing(seconds: float = 6.0) -> Clip:
    clip = walk(seconds, speed=0.0)
    skeleton = clip.skeleton
    rotations = np.tile(skeleton.rest_rotations, (len(clip), 1, 1))
    hips = np.tile(skeleton.offsets[0], (len(clip), 1))
    return replace(clip, hips=hips, rotations=rotations)


def carried(clip: Clip, metres: float, degrees: float, start: float, seconds: float) -> Clip:
    """The whole body moved ahead and turned smoothly, feet and all."""
    share = minimum_jerk((np.arange(len(clip)) / clip.fps - start) / seconds)
    return clip.moved(np.stack([0.0 * share, -metres * share, np.radians(degrees) * share], axis=1))


def balls(clip: Clip) -> Floats:
    return np.stack([clip.world[0][:, foot.toe] for foot in clip.skeleton.feet], axis=1)


def headings(clip: Clip) -> Floats:
    left = np.stack([rot.rotate(clip.world[1][:, f.ankle], np.array([1.0, 0.0, 0.0])) for f in clip.skeleton.feet], 1)
    return np.unwrap(np.arctan2(left[..., 1], left[..., 0]), axis=0)


def soles(clip: Clip, terrain: Terrain) -> Floats:
    """Height of heel, ball and tip over the terrain (f, 2, 3)."""
    positions, rotations = clip.world
    points = np.stack([
        np.stack([
            positions[:, f.ankle] + rot.rotate(rotations[:, f.ankle], f.heel),
            positions[:, f.ankle] + rot.rotate(rotations[:, f.ankle], f.ball),
            positions[:, f.toe] + rot.rotate(rotations[:, f.toe], f.tip),
        ], axis=1) for f in clip.skeleton.feet
    ], axis=1)  # fmt: skip
    return np.asarray(points[..., 2] - terrain.height(points[..., :2]))


def knees(clip: Clip) -> Floats:
    """Flexion (f, 2) about the hinge, radians, signed: negative is bent backwards."""
    positions, rotations = clip.world
    found = []
    for f in clip.skeleton.feet:
        thigh, shin = positions[:, f.knee] - positions[:, f.hip], positions[:, f.ankle] - positions[:, f.knee]
        across = rot.rotate(rotations[:, f.hip], np.array([1.0, 0.0, 0.0]))
        found.append(np.arctan2(np.sum(np.cross(thigh, shin) * across, axis=1), np.sum(thigh * shin, axis=1)))
    return np.stack(found, axis=1)


def worst_slide(planted: Planted) -> float:
    ball = balls(planted.clip)[..., :2]
    return max(
        float(np.linalg.norm(ball[a:b, i] - ball[a, i], axis=-1).max())
        for i in (0, 1) for a, b in runs(planted.contacts[:, i])
    )  # fmt: skip


def field(name: str) -> Terrain:
    ground = courses.ground(name)
    return HeightField.from_function(ground.function, (-6.0, -12.0, 6.0, 4.0), ground.cell)


@pytest.mark.parametrize("turning", [0.0, 0.5, -0.8])
def test_feet_do_not_slide_within_a_contact(turning: float) -> None:
    planted = plant_feet(walk(4.0, 1.0, turning))
    assert worst_slide(planted) < 1e-4
    np.testing.assert_allclose(planted.shortfall, 0.0, atol=1e-6)


@pytest.mark.parametrize("name", ["flat", "slope_up", "slope_down", "slope_across", "stairs", "noise", "kerb"])
def test_soles_lie_on_every_terrain(name: str) -> None:
    terrain = field(name)
    planted = plant_feet(walk(7.0, 1.0), terrain)
    lowest = soles(planted.clip, terrain).min(axis=2)[planted.contacts]
    assert np.percentile(np.maximum(-lowest, 0.0), 95) < 0.005
    assert np.percentile(np.maximum(lowest, 0.0), 95) < 0.010
    assert worst_slide(planted) < 1e-3
    assert knees(planted.clip).min() > -0.02


@pytest.mark.parametrize("name", ["stairs", "kerb"])
def test_swings_clear_edges(name: str) -> None:
    terrain = field(name)
    planted = plant_feet(walk(7.0, 1.0), terrain)
    swing = ~planted.contacts
    depth = -soles(planted.clip, terrain).min(axis=2)[swing]
    assert np.percentile(depth, 98) < 0.012


def test_the_body_climbs_with_the_ground() -> None:
    terrain = field("slope_up")
    clip = walk(6.0, 1.0)
    planted = plant_feet(clip, terrain)
    over = planted.clip.hips[:, 2] - terrain.height(planted.clip.hips[:, :2])
    middle = slice(60, -60)
    assert np.ptp(over[middle] - (clip.hips[middle, 2])) < 0.12
    assert np.abs(np.diff(planted.clip.hips[:, 2], 2)).max() < 0.004


def test_a_standing_figure_is_left_as_it_is() -> None:
    clip = standing(2.0)
    planted = plant_feet(clip)
    np.testing.assert_allclose(planted.clip.world[0], clip.world[0], atol=5e-3)
    np.testing.assert_array_equal(planted.contacts, True)
    assert planted.inserted_steps == 0 and planted.lock_offset.max() < 1e-9


@pytest.mark.parametrize(("metres", "degrees", "seconds"), [(0.0, 90.0, 1.0), (0.0, 144.0, 1.25), (0.0, -180.0, 2.0),
                                                            (0.8, 0.0, 3.0), (0.5, 120.0, 3.0)])  # fmt: skip
def test_a_dragged_or_spun_figure_takes_steps(metres: float, degrees: float, seconds: float) -> None:
    clip = carried(standing(), metres, degrees, 1.5, seconds)
    planted = plant_feet(clip)
    assert planted.inserted_steps >= 2
    assert np.all(planted.contacts.any(axis=1)), "both feet in the air"
    assert worst_slide(planted) < 1e-3
    assert planted.lock_offset.max() < 0.12
    heading = headings(planted.clip)
    spin = [np.degrees(np.ptp(heading[a:b, i])) for i in (0, 1) for a, b in runs(planted.contacts[:, i])]
    assert max(spin) < 25.0
    swings = [b - a for i in (0, 1) for a, b in runs(~planted.contacts[:, i])]
    assert min(swings) >= round(0.3 * clip.fps)
    together = planted.contacts.all(axis=1)
    velocity = np.gradient(clip.root, 1.0 / clip.fps, axis=0)
    busy = (np.linalg.norm(velocity[:, :2], axis=1) > 0.1) | (np.abs(velocity[:, 2]) > 0.2)
    assert max((b - a for a, b in runs(together & busy)), default=0) <= 1.5 * clip.fps


def test_inserted_steps_leave_the_floor() -> None:
    planted = plant_feet(carried(standing(), 0.8, 0.0, 1.5, 3.0))
    assert planted.inserted_steps
    height = balls(planted.clip)[..., 2] - planted.clip.skeleton.ball_height
    for i in (0, 1):
        for a, b in runs(~planted.contacts[:, i]):
            assert 0.03 < height[a:b, i].max() < 0.08


def test_a_slow_long_double_support_is_broken_where_one_lock_would_still_hold() -> None:
    clip = carried(standing(8.0), 0.14, 45.0, 1.0, 3.0)
    settings = PlantSettings()
    settings = replace(settings, steps=replace(settings.steps, reach=0.3, turn=1.5))
    planted = plant_feet(clip, settings=settings)
    assert planted.inserted_steps >= 1


@given(st.integers(0, 1_000))
def test_corrections_do_not_make_knees_snap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clip = stepping(4.0, 0.5, phase=float(rng.uniform(0, 6)))
    t = np.arange(len(clip)) / clip.fps
    push = np.stack([np.sin(t * f + p) for f, p in zip(rng.uniform(0.5, 3, 3), rng.uniform(0, 6, 3), strict=True)], 1)
    clip = clip.moved(push * [0.04, 0.04, 0.1])
    planted = plant_feet(clip)
    before, after = (np.abs(np.diff(knees(c), 2, axis=0)) for c in (clip, planted.clip))
    assert np.percentile(after, 99) < 1.25 * np.percentile(before, 99)


def test_the_pelvis_hardly_drops_on_flat_ground() -> None:
    clip = carried(stepping(5.0, 0.8), 0.2, 0.0, 0.5, 4.0)
    planted = plant_feet(clip)
    assert planted.pelvis_drop.min() >= 0.0 and planted.pelvis_drop.max() < 0.03


def test_frames_and_joints_beside_the_legs_are_untouched() -> None:
    clip = walk(3.0)
    planted = plant_feet(clip)
    legs = {j for f in clip.skeleton.feet for j in (f.hip, f.knee, f.ankle, f.toe)}
    others = [j for j in range(len(clip.skeleton)) if j not in legs]
    np.testing.assert_allclose(
        rot.angle_between(planted.clip.rotations[:, others], clip.rotations[:, others]), 0.0, atol=1e-7
    )
    np.testing.assert_array_equal(planted.clip.hips[:, :2], clip.hips[:, :2])
    np.testing.assert_array_equal(planted.clip.root, clip.root)


def test_rest_frames_of_the_skeleton_do_not_matter() -> None:
    clip = walk(3.0)
    skeleton = clip.skeleton
    world = rot.normalize(np.random.default_rng(2).normal(size=(len(skeleton), 4)))
    parent = np.array([rot.IDENTITY if p < 0 else world[p] for p in skeleton.parents])
    turned = replace(
        skeleton, offsets=rot.inv_rotate(parent, skeleton.offsets),
        rest_rotations=skeleton.local_rotations(world), tails=rot.inv_rotate(world, skeleton.tails),
    )  # fmt: skip
    other = replace(clip, skeleton=turned, rotations=turned.local_rotations(rot.mul(clip.world[1], world)))
    np.testing.assert_allclose(other.world[0], clip.world[0], atol=1e-9)
    first, second = plant_feet(clip), plant_feet(other)
    np.testing.assert_allclose(second.clip.world[0], first.clip.world[0], atol=1e-6)


def test_feet_without_toes_are_planted_too() -> None:
    clip = walk(4.0)
    keep = [i for i, name in enumerate(clip.skeleton.names) if "Toes" not in name]
    old = clip.skeleton
    skeleton = replace(
        old, names=tuple(old.names[i] for i in keep),
        parents=tuple(keep.index(old.parents[i]) if i else -1 for i in keep),
        offsets=old.offsets[keep], rest_rotations=old.rest_rotations[keep],
        tails=np.array([old.offsets[i + 1] if "Foot" in old.names[i] else old.tails[i] for i in keep]),
        roles={role: name for role, name in old.roles.items() if "Toes" not in name},
    )  # fmt: skip
    short = replace(clip, skeleton=skeleton, rotations=clip.rotations[:, keep])
    planted = plant_feet(short)
    positions, rotations = planted.clip.world
    for i, foot in enumerate(skeleton.feet):
        ball = positions[:, foot.ankle] + rot.rotate(rotations[:, foot.ankle], skeleton.tails[foot.ankle])
        for a, b in runs(planted.contacts[:, i]):
            assert np.linalg.norm(ball[a:b, :2] - ball[a, :2], axis=1).max() < 1e-3


@pytest.mark.parametrize("frames", [1, 2, 3, 7])
def test_very_short_clips_are_planted(frames: int) -> None:
    clip = walk(1.0).cut(10, 10 + frames)
    for contacts in (np.zeros_like(clip.contacts), np.ones_like(clip.contacts)):
        planted = plant_feet(replace(clip, contacts=contacts), field("slope_up"))
        assert len(planted.clip) == frames and np.all(np.isfinite(planted.clip.world[0]))


def test_planting_is_quick() -> None:
    clip = walk(10.0, 1.0, 0.2)
    clip.world  # noqa: B018 - computed once, outside of the measurement
    plant_feet(clip)
    began = time.perf_counter()
    plant_feet(clip)
    # 15 ms where it was written; the bound leaves room for slow and busy machines.
    assert time.perf_counter() - began < 0.5


def test_footholds_move_off_a_stairs_edge_and_stay_where_it_is_even() -> None:
    shape = FootShape.of(biped(), biped().feet[0])
    stairs = HeightField.from_function(courses.stairs(), (-2.0, -8.0, 2.0, 2.0), 0.01)
    spots = np.stack([np.zeros(12), -np.linspace(0.2, 3.6, 12)], axis=1)
    holds = find_footholds(stairs, spots, np.zeros(12), shape.heel_length, shape.tip_length)
    ball_to_tip = holds.spots[:, None] - np.linspace(-0.03, shape.tip_length, 9)[:, None] * [0.0, 1.0]
    heights = stairs.height(ball_to_tip)
    assert np.abs(heights - holds.heights[:, None]).max() < 0.02
    flat = find_footholds(FlatGround(), spots, np.zeros(12), shape.heel_length, shape.tip_length)
    np.testing.assert_allclose(flat.spots, spots, atol=1e-12)
    np.testing.assert_allclose(flat.normals, np.tile([0.0, 0.0, 1.0], (12, 1)), atol=1e-12)


def test_a_shuffling_foot_clears_the_floor_in_the_middle_of_its_swing() -> None:
    clip = walk(4.0, speed=0.5)
    shuffling = replace(clip, rotations=np.array(clip.rotations))
    for side in ("left", "right"):
        knee = clip.skeleton.index(f"{side}_knee")
        # Half the knees' bend: the swinging foot drags.
        bend = rot.log(rot.inv_mul(clip.skeleton.rest_rotations[knee], clip.rotations[:, knee]))
        shuffling.rotations[:, knee] = rot.mul(clip.skeleton.rest_rotations[knee], rot.exp(0.5 * bend))
    lows = []
    for least in (0.0, 0.013):
        planted = plant_feet(shuffling, FlatGround(), PlantSettings(least_clearance=least))
        feet = planted.clip.skeleton.feet
        height = planted.clip.world[0][:, [foot.toe for foot in feet], 2] - feet[0].ball_height
        lows.append([height[first:last, k].max() for k in (0, 1) for first, last in runs(~planted.contacts[:, k])
                     if first > 0 and last < len(height)])  # fmt: skip
    assert min(lows[1]) > 0.009
    assert min(lows[1]) >= min(lows[0])


@pytest.mark.parametrize("name", ["slope_down", "stairs"])
def test_knees_that_reach_down_snap_less_with_feet_that_give_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clip, terrain = stepping(8.0, 1.2), field(name)
    monkeypatch.setattr(planting, "push_off", lambda motion, target, falls, leg, raised, fps: target)
    calmed = plant_feet(clip, terrain)
    monkeypatch.setattr(planting, "calm_knee", lambda motion, target, leg, raised, fps: target)
    stiff = plant_feet(clip, terrain)
    swings = ~calmed.contacts[1:-1]
    after, before = (np.percentile(np.abs(np.diff(knees(p.clip), 2, axis=0))[swings], 99) for p in (calmed, stiff))
    assert after < 0.75 * before
    ankles = [p.clip.world[0][:, [foot.ankle for foot in p.clip.skeleton.feet]] for p in (calmed, stiff)]
    away = np.linalg.norm(ankles[0] - ankles[1], axis=-1)
    assert away[calmed.contacts].max() < 1e-6 < away.max() < 0.04


def test_heels_rise_early_where_knees_would_snap_at_push_off(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, terrain = stepping(8.0, 1.2), field("stairs")
    rolling = plant_feet(clip, terrain)
    monkeypatch.setattr(planting, "push_off", lambda motion, target, falls, leg, raised, fps: target)
    stiff = plant_feet(clip, terrain)
    contact = rolling.contacts
    after, before = (np.abs(np.diff(knees(p.clip), 2, axis=0)) for p in (rolling, stiff))
    leaving = [(last, k) for k in (0, 1) for _, last in runs(contact[:, k]) if last < len(clip)]
    sharpest = [max(bends[last - 6 : last, k].max() for last, k in leaving) for bends in (after, before)]
    assert sharpest[0] < 0.85 * sharpest[1]
    feet = clip.skeleton.feet
    ankles, others = (np.stack([p.clip.world[0][:, f.ankle] for f in feet], axis=1) - balls(p.clip)
                      for p in (rolling, stiff))  # fmt: skip
    rise = (ankles - others)[contact][:, 2]
    assert 0.005 < rise.max() < 0.1 and rise.min() > -1e-3 and np.mean(rise < 1e-3) > 0.9
    # On the spot all the same: where its toes would sink it may come up with them.
    away = (balls(rolling.clip) - balls(stiff.clip))[contact]
    assert np.abs(away[:, :2]).max() < 1e-6 and np.abs(away[:, 2]).max() < 0.005


def test_shins_lean_no_further_over_standing_feet_than_ankles_bend() -> None:
    """Down stairs the trailing foot stays behind and above: its heel has to rise."""
    clip = stepping(6.0, 1.2)
    down = HeightField.from_function(lambda xy: -courses.stairs(first=1.0, landing=20.0)(xy), (-1, -9, 1, 1), 0.01)
    planted = plant_feet(clip, down)
    for motion, contact in ((clip, clip.contacts), (planted.clip, planted.contacts)):
        places, turns = motion.world
        leans = []
        for side, foot in enumerate(motion.skeleton.feet):
            shin = rot.inv_rotate(turns[:, foot.ankle], places[:, foot.knee] - places[:, foot.ankle])
            # The made-up skeleton's feet point along -Y of their own.
            leans.append(np.degrees(np.arctan2(-shin[:, 1], shin[:, 2]))[contact[:, side]])
        assert np.concatenate(leans).max() < 58.0


@pytest.mark.parametrize("first", [1.0, 1.1, 1.2])
def test_big_shoes_stand_on_their_stair_and_not_on_the_riser_behind(first: float) -> None:
    """Heel to ball 26 cm, on treads of 30 cm: what sticks into the riser is moved off it, not lifted onto it."""
    clip = stepping(6.0, 1.2)
    skeleton = clip.skeleton
    longer = np.array([0.0, 0.1, 0.0])
    soles_ = {side: Sole(foot.heel + longer, foot.ball, foot.tip)
              for side, foot in zip(("left", "right"), skeleton.feet, strict=True)}  # fmt: skip
    shod = replace(clip, skeleton=replace(skeleton, soles=soles_))
    down = HeightField.from_function(lambda xy: -courses.stairs(first=first, landing=20.0)(xy), (-1, -9, 1, 1), 0.01)
    planted = plant_feet(shod, down)
    height = soles(planted.clip, down)
    standing_on = planted.contacts
    assert np.percentile(height[standing_on].min(axis=-1), 5) > -0.005
    along = np.stack([np.zeros(30), -np.linspace(first + 0.1, first + 1.5, 30)], axis=-1)
    holds = find_footholds(down, along, np.zeros(30), 0.262, 0.1)
    assert np.degrees(np.arccos(holds.normals[:, 2])).max() < 1.0, "level between two edges"
    # The made-up walk raises its balls by 12 cm while it rolls over its toes; a riser is 18 cm more.
    assert height[..., 1][standing_on].max() < 0.14


def test_a_foot_as_long_as_several_stairs_lies_level_on_its_own() -> None:
    """Heel, middle and ball of a boot over three steps lie on one line, the ground between them does not."""
    stairs = HeightField.from_function(courses.stairs(), (-1.0, -8.0, 1.0, 2.0), 0.01)
    spots, straight_on = np.array([[0.0, -3.05]]), np.zeros(1)
    np.testing.assert_allclose(find_footholds(stairs, spots, straight_on, 0.6, 0.1, 0.0).normals[0], [0.0, 0.0, 1.0])
    slope = HeightField.from_function(courses.slope(25.0), (-1.0, -8.0, 1.0, 2.0), 0.05)
    lies = find_footholds(slope, spots, straight_on, 0.6, 0.1, 0.0).normals[0]
    assert np.degrees(np.arccos(lies[2])) == pytest.approx(25.0, abs=0.1)


def test_a_heel_that_turns_over_an_edge_does_not_make_its_foot_leap() -> None:
    clip = standing(4.0)
    motion = FootMotion.of(clip, clip.skeleton.feet[0])
    whole = Footfalls(((0, len(clip)),), motion.ball[:1, :2], motion.yaw[:1], ())
    ground = FlatGround()
    target = aim_foot(motion, whole, find_footholds(ground, whole.spots, whole.yaws, 0.1, 0.05), ground, 60.0, 0.5)
    yaw = np.radians(30.0) * minimum_jerk(np.arange(len(clip)) / 60.0 - 1.0)
    turned = replace(target, rotation=rot.mul(rot.from_yaw(yaw), target.rotation))
    heels = sole_points(motion.shape, turned.ball, turned.rotation, turned.toe_turn)[:, 0, 0]
    edge = 0.5 * (heels[0] + heels[-1])
    step = HeightField.from_function(lambda xy: 0.1 * (np.asarray(xy)[..., 0] < edge), (-1.0, -1.0, 1.0, 1.0), 0.01)
    touching = touch_ground(turned, motion, whole, step, 60.0).ball[:, 2]
    assert np.ptp(touching) > 0.08
    assert np.abs(np.diff(touching)).max() < 0.03
    assert np.abs(np.diff(touching, 2)).max() < 0.015


@pytest.mark.parametrize("name", ["flat", "slope_up"])
def test_long_toes_do_not_lift_the_foot_to_the_knee(name: str) -> None:
    clip, terrain = stepping(4.0), field(name)
    skeleton = clip.skeleton
    longer = np.array([6.0, 6.0, 1.0])
    soles = {side: Sole(foot.heel, foot.ball, foot.tip * longer)
             for side, foot in zip(("left", "right"), skeleton.feet, strict=True)}  # fmt: skip
    shod = replace(clip, skeleton=replace(skeleton, soles=soles))
    ball = balls(plant_feet(shod, terrain).clip)
    # Stiff toes 42 cm long lift it by 35 cm.
    assert (ball[..., 2] - terrain.height(ball[..., :2])).max() < 0.27


@pytest.mark.parametrize("name", ["flat", "slope_up", "stairs"])
def test_long_toes_hardly_jerk_the_knees_of_a_slow_walk(name: str) -> None:
    """What their tips need to clear the ground their bend gives, not a foot snatched off it."""
    clip, terrain = stepping(8.0, 0.5), field(name)
    skeleton, sharpest = clip.skeleton, []
    for length in (1.0, 3.0):
        soles = {side: Sole(foot.heel, foot.ball, foot.tip * np.array([length, length, 1.0]))
                 for side, foot in zip(("left", "right"), skeleton.feet, strict=True)}  # fmt: skip
        planted = plant_feet(replace(clip, skeleton=replace(skeleton, soles=soles)), terrain)
        sharpest.append(np.percentile(np.abs(np.diff(knees(planted.clip), 2, axis=0)), 99))
    # Lifted by the whole hang of their tips they bend 1.36 to 1.87 times as sharply.
    assert sharpest[1] < 1.35 * sharpest[0]
