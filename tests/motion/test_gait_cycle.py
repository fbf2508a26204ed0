from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import ClipError
from blender_addon.motion.gait_model.cycle import cycle_clip
from blender_addon.motion.gait_model.perform import perform
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.gait_model.shape import PoseShape
from blender_addon.motion.metrics_feet import ball_positions
from tests.animals import animal

from .gaits import plan_of, skate, timing_of

CYCLES = [("fox", "walk", 1.0), ("fox", "trot", 2.2), ("fox", "gallop", 5.0), ("horse", "canter", 6.0)]


@pytest.mark.parametrize(("name", "gait", "speed"), CYCLES)
def test_a_cycle_closes_as_smoothly_as_it_goes(name, gait, speed):
    clip = cycle_clip(animal(name), gait, speed)
    points = clip.world[0]
    bend = np.linalg.norm(np.diff(np.concatenate([points, points[:2]]), 2, axis=0), axis=-1).max(axis=1)
    # The left hind foot lands at the seam, and nowhere else so exactly on a frame.
    assert bend[-2:].max() <= 1.3 * bend[:-2].max()
    assert np.array_equal(clip.root[:, :2], np.zeros((len(clip), 2)))


@pytest.mark.parametrize(("name", "gait", "speed"), CYCLES)
def test_feet_on_the_ground_move_back_at_the_speed_that_is_shown(name, gait, speed):
    clip = cycle_clip(animal(name), gait, speed)
    step = np.diff(ball_positions(clip), axis=0) * clip.fps
    both = clip.contacts[1:] & clip.contacts[:-1]
    assert step[both] == pytest.approx(np.tile([0.0, speed, 0.0], (both.sum(), 1)), abs=0.02 * speed)


def test_auto_takes_the_gait_of_the_speed_and_too_much_is_clamped():
    fox = animal("fox")
    names = [cycle_clip(fox, "auto", speed).name for speed in (0.8, 2.2, 3.8, 6.0)]
    assert names == ["walk", "trot", "canter", "gallop"]
    assert len(cycle_clip(fox, "walk", 30.0)) == len(cycle_clip(fox, "walk", 9.0))


@pytest.mark.parametrize(("gait", "speed"), [("hop", 1.0), ("walk", 0.0), ("walk", float("nan"))])
def test_what_is_no_gait_or_speed_is_refused(gait, speed):
    with pytest.raises(ClipError):
        cycle_clip(animal("fox"), gait, speed)


def styled(gait="walk", speed=1.0, **style):
    """A cycle of the fox with its head carried low and its back bent, as an animator might key it."""
    clip = cycle_clip(animal("fox"), gait, speed)
    neck, spine = (clip.skeleton.index(role) for role in ("neck", "spine_2"))
    rotations = clip.rotations.copy()
    phase = 2.0 * np.pi * np.arange(len(clip)) / len(clip)
    rotations[:, neck] = rot.mul(rotations[:, neck], rot.exp(np.array([0.5, 0.0, 0.0])))
    sway = np.stack([np.zeros(len(clip)), np.zeros(len(clip)), 0.12 * np.sin(phase)], axis=1)
    rotations[:, spine] = rot.mul(rotations[:, spine], rot.exp(sway))
    return replace(clip, rotations=rotations, contacts=np.zeros_like(clip.contacts), **style)


def test_a_cycle_taken_apart_and_played_keeps_its_pose_and_gains_planted_feet():
    cycle = styled()
    shape = PoseShape.of(cycle)
    assert shape.gait == "walk"
    clip = perform(animal("fox"), plan_of(1.0, seconds=6, action="walk"), GaitSettings(shape=shape, fidget=0.0))
    plain = perform(animal("fox"), plan_of(1.0, seconds=6, action="walk"), GaitSettings(fidget=0.0))
    assert skate(clip) <= 0.02
    assert timing_of(clip)[1] == pytest.approx([0.0, 0.5, 0.15, 0.65], abs=0.05)
    head = clip.skeleton.index("head")
    nose = [(motion.world[0][-200:, head, 2] - motion.hips[-200:, 2]).mean() for motion in (clip, plain, cycle)]
    assert nose[0] == pytest.approx(nose[2], abs=0.05)
    assert abs(nose[0] - nose[1]) > 0.05


def test_the_models_own_cycle_is_much_the_same_after_it_was_taken_apart():
    cycle = cycle_clip(animal("fox"), "trot", 2.2)
    back = cycle_clip(animal("fox"), "trot", 2.2, GaitSettings(shape=PoseShape.of(cycle)))
    gap = np.linalg.norm(back.world[0] - cycle.world[0], axis=-1)
    assert gap.mean() < 0.02


def test_a_lame_cycle_is_made_even_on_both_sides():
    cycle = cycle_clip(animal("fox"), "walk", 1.0)
    knee = cycle.skeleton.index("left_knee")
    limp = cycle.rotations.copy()
    limp[:, knee] = rot.mul(limp[:, knee], rot.exp(np.array([0.25, 0.0, 0.0])))
    shape = PoseShape.of(replace(cycle, rotations=limp))
    # One table of harmonics serves both hind legs: half of what one was bent more.
    plain = PoseShape.of(cycle)
    at = 1
    assert np.abs(shape.legs[0][0, at, 0] - plain.legs[0][0, at, 0]) == pytest.approx(0.125, abs=0.04)


def test_what_is_no_cycle_is_refused_with_the_reason():
    still = perform(animal("fox"), plan_of(0.0, seconds=1))
    with pytest.raises(ClipError):
        PoseShape.of(still)
    cycle = cycle_clip(animal("fox"), "walk", 1.0)
    with pytest.raises(ClipError, match=r".+"):
        PoseShape.of(cycle.cut(0, len(cycle) // 2))
