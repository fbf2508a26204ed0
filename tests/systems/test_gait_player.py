import numpy as np
import pytest

from blender_addon.motion.abilities import Abilities
from blender_addon.motion.errors import RigError
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.gait_names import ANIMAL_ACTIONS
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.systems.gait_player import GaitModel
from blender_addon.systems.protocol import Performer, abilities_of
from blender_addon.systems.rollout import rollout
from tests.animals import animal


def course(*marks: Mark) -> Plan:
    path = RootPath.from_points([[0.0, 0.0], [0.0, -6.0], [0.0, -12.0]])
    return make_plan(path, Schedule(marks), fps=60.0, speeds=(0.2, 8.0))


def test_the_gait_model_is_a_performer_that_any_roll_out_takes():
    model = GaitModel(animal("fox"))
    assert isinstance(model, Performer) and set(model.actions) == set(ANIMAL_ACTIONS)
    plan = course(Mark(0.0, 1.2, "walk"), Mark(4.0, 2.2, "trot"))
    (made,) = rollout(model, [plan])
    assert len(made.clip) == len(plan) and np.array_equal(made.clip.root, plan.root)
    assert made.clip.contacts.shape == (len(plan), 4)


def test_a_performer_has_no_abilities_besides_its_plan():
    assert abilities_of(GaitModel(animal("fox"))) == Abilities()


def test_another_seed_is_another_day():
    model, plan = GaitModel(animal("fox")), course(Mark(0.0, 1.2, "walk"))
    same, other = model.perform(plan), GaitModel(animal("fox"), GaitSettings(seed=7)).perform(plan)
    assert np.array_equal(same.rotations, model.perform(plan).rotations)
    assert not np.array_equal(same.rotations, other.rotations)


def test_two_legs_are_refused():
    from tests.synthetic import walk

    with pytest.raises(RigError, match="four legs"):
        GaitModel(walk(1.0).skeleton)
