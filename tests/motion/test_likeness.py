"""Plans and motion between bodies of other sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.animal import shoulder_height
from blender_addon.motion.gait_analysis.footfalls import analyse_clip
from blender_addon.motion.likeness import Likeness
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.proportions import sized_skeleton
from blender_addon.motion.schedule import Schedule
from tests.animal_steps import stepping
from tests.animals import animal
from tests.synthetic import biped


def plan(speed: float = 2.0) -> Plan:
    return make_plan(RootPath.from_points(np.array([[0.0, 0.0], [0.0, -8.0]])), Schedule.constant(speed))


def test_people_keep_their_time_and_animals_go_by_the_root_of_their_size() -> None:
    people = Likeness.of(biped(), sized_skeleton(biped(), 2.0))
    assert (people.length, people.time, people.speed) == (0.5, 1.0, 0.5)
    fox = animal("fox")
    large = Likeness.of(fox, sized_skeleton(fox, 4.0))
    assert (large.length, large.time, large.speed) == pytest.approx((0.25, 0.5, 0.5))


@given(st.floats(0.3, 4.0))
def test_froude_numbers_stay(size: float) -> None:
    fox = animal("fox")
    other = sized_skeleton(fox, size)
    like = Likeness.of(fox, other)
    froude = 2.0**2 / shoulder_height(other)
    assert (2.0 * like.speed) ** 2 / shoulder_height(fox) == pytest.approx(froude)


def test_a_plan_is_as_much_quicker_as_the_model_is_smaller() -> None:
    like, own = Likeness(0.25, 0.5), replace(plan(), leaps=(1.0, 3.0))
    found = like.plan(own)
    assert found.seconds == pytest.approx(0.5 * own.seconds, abs=2 / 60)
    assert found.positions[-1] == pytest.approx(0.25 * own.positions[-1])
    assert found.speed.max() == pytest.approx(0.5 * own.speed.max(), rel=1e-3)
    travelled = np.linalg.norm(np.diff(found.positions, axis=0), axis=1).max() * found.fps
    assert travelled == pytest.approx(found.speed.max(), rel=0.01)
    assert len(found.action) == len(found.turning) == len(found)
    assert found.leaps == (0.5, 1.5)


def test_equal_bodies_change_nothing() -> None:
    own = plan()
    found = Likeness.of(animal("fox"), animal("fox")).plan(own)
    assert found.positions == pytest.approx(own.positions) and np.array_equal(found.action, own.action)
    clip = stepping("fox", 1.0, 0.8)
    assert Likeness(1.0).clip(clip, len(clip)) is clip


@pytest.mark.parametrize("time", [0.5, 1.7])
def test_motion_takes_the_characters_time_and_keeps_its_footfalls(time: float) -> None:
    clip = stepping("fox", 4.0, 0.8)
    frames = round((len(clip) - 1) / time) + 1
    slowed = Likeness(time**2, time).clip(clip, frames)
    assert len(slowed) == frames and slowed.fps == clip.fps
    assert slowed.hips[-1] == pytest.approx(clip.hips[-1], abs=0.01)
    one, two = analyse_clip(clip).mean, analyse_clip(slowed).mean
    assert two.frequency == pytest.approx(one.frequency * time, rel=0.02)
    assert two.lags == pytest.approx(one.lags, abs=0.02)


def test_a_motion_too_short_by_a_frame_is_held() -> None:
    clip = stepping("fox", 1.0, 0.8)
    assert len(Likeness(0.25, 0.5).clip(clip, 2 * len(clip) + 3)) == 2 * len(clip) + 3
