"""Labels, tags and data sets of animals' motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import labels
from blender_addon.motion.clip import Clip
from blender_addon.motion.reference_pose import without_reference_pose
from blender_addon.motion.takes import Take, describe, prepare
from tests.animal_steps import stepping
from tests.animals import animal


@pytest.mark.parametrize("gait", ["walk", "trot", "pace"])
def test_frames_are_labelled_by_the_gait_that_the_feet_make(gait: str) -> None:
    clip = stepping("fox", 5.0, 1.2, 0.0, gait)
    names = [labels.vocabulary(clip.skeleton)[index] for index in labels.label_actions(clip)]
    assert set(names) == {gait}
    assert gait in labels.measured_tags(clip)


def test_an_animal_that_stands_is_said_to_stand() -> None:
    assert labels.measured_tags(stepping("fox", 3.0, 0.0)) == ("stand",)


def test_no_arms_are_looked_for_and_nothing_is_cut_away() -> None:
    clip = stepping("horse", 2.0, 1.2)
    assert labels.t_pose_frames(clip) == 0
    assert without_reference_pose(clip) == (0, len(clip))
    assert labels.feet_down(clip).shape == (len(clip), 4)


def test_tags_do_not_need_contacts() -> None:
    clip = stepping("fox", 3.0, 1.2)
    assert labels.measured_tags(replace(clip, contacts=np.zeros_like(clip.contacts)))


def test_takes_of_two_animals_become_one_data_set_on_one_skeleton() -> None:
    fox, horse = stepping("fox", 4.0, 1.0), stepping("horse", 4.0, 1.6)
    takes = [Take(replace(clip, name=name)) for clip, name in ((_lifted(fox), "a"), (_lifted(horse), "b"))]
    dataset = prepare(takes, skeleton=animal("fox"))
    assert len(dataset) == 2 and dataset.skeleton.names == animal("fox").names
    for clip in dataset.clips:
        assert clip.contacts.shape[1] == 4 and clip.contacts.any(axis=0).all()
    assert "walk" in describe(dataset)


def _lifted(clip: Clip) -> Clip:
    return replace(clip, hips=clip.hips + np.array([0.0, 0.0, 0.1]), contacts=np.zeros_like(clip.contacts))
