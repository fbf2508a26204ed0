"""Existing motion of an animal made ready, on the spot or travelling, carried onto another and planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import metrics as measure
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.contacts import with_contacts
from blender_addon.motion.errors import RigError
from blender_addon.motion.proportions import sized
from blender_addon.motion.retarget import grounded_rest, posed_rest
from blender_addon.motion.terrain import FlatGround
from blender_addon.motion.transfer import Place, carry, finished, make_ready, plant
from blender_addon.motion.transfer_report import judge_transfer
from tests.animal_steps import stepping
from tests.animals import animal

HERE = Place((0.0, 0.0), 0.0)


def raw(clip: Clip) -> Clip:
    """As read from an action: contacts and root not looked at."""
    return replace(clip, contacts=np.zeros_like(clip.contacts), root=np.zeros_like(clip.root))


def lifted(clip: Clip, by: float) -> Clip:
    return replace(clip, hips=clip.hips + np.array([0.0, 0.0, by]))


def on_the_spot(clip: Clip, speed: float) -> Clip:
    """A straight walk with its travel taken away, as cycles are keyed."""
    back = np.zeros_like(clip.hips)
    back[:, 1] = speed * np.arange(len(clip)) / clip.fps
    return replace(clip, hips=clip.hips + back)


@pytest.mark.parametrize("gait", ["walk", "trot"])
@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_feet_that_stand_are_found(name: str, gait: str) -> None:
    clip = stepping(name, 4.0, 0.8 * np.sqrt(animal(name).leg_length / 0.484), 0.3, gait)
    found = with_contacts(raw(clip)).contacts
    score = measure.contact_score(found, clip.contacts, tolerance=3)
    assert score.frames > 0.97
    assert score.landings > 0.95


def test_a_walk_over_a_floor_at_another_height_is_brought_to_the_ground() -> None:
    clip = stepping("fox", 4.0, 0.8)
    ready = make_ready(raw(lifted(clip, 0.4)), 30.0)
    assert not ready.on_the_spot
    assert ready.floor == pytest.approx(0.4, abs=0.003)
    points = measure.ball_positions(ready.clip)[..., 2] - measure.rest_heights(ready.clip)
    assert np.abs(points[ready.clip.contacts]).max() < 0.012
    assert ready.clip.root[:, 2] == pytest.approx(0.0, abs=0.02)
    assert len(ready.stance or ()) == 4


def test_a_cycle_on_the_spot_is_planted_as_if_it_travelled_and_stays_on_the_spot() -> None:
    clip = on_the_spot(stepping("fox", 4.0, 0.8), 0.8)
    ready = make_ready(raw(clip), 30.0)
    assert ready.on_the_spot
    assert ready.drift == pytest.approx([0.0, -0.8], abs=0.04)
    assert ready.clip.contacts.any(axis=0).all()
    made = finished(carry(ready, animal("horse"), HERE, None), ready)
    middle = measure.low_pass(made.root[:, :2], 1.0, made.fps)
    assert np.ptp(middle, axis=0).max() < 0.1 * made.skeleton.leg_length


def test_a_motion_in_centimetres_is_said_to_be() -> None:
    ready = make_ready(raw(sized(stepping("fox", 2.0, 0.8), 100.0)), 30.0)
    assert ready.factor == pytest.approx(0.01)
    assert any("centimetres" in note for note in ready.notes)
    assert ready.clip.skeleton.leg_length == pytest.approx(animal("fox").leg_length, rel=1e-6)


def test_cats_are_taken_at_their_size() -> None:
    small = sized(stepping("fox", 2.0, 0.8), 0.4)
    assert make_ready(raw(small), 30.0).factor == 1.0


def test_feet_that_never_stand_leave_the_ground_where_they_are_lowest() -> None:
    clip = lifted(stepping("fox", 2.0, 0.8), 0.2)
    flying = replace(clip, hips=clip.hips + np.array([1.0, 0.0, 0.0]) * np.arange(len(clip))[:, None] ** 2 * 2e-3)
    ready = make_ready(raw(flying), 30.0)
    assert any("lowest" in note for note in ready.notes)
    assert ready.floor == pytest.approx(0.2, abs=0.02)


def test_an_animal_that_does_not_stand_in_its_rest_pose_is_refused() -> None:
    fox = animal("fox")
    rotations = np.array(fox.rest_rotations)
    rotations[0] = rot.mul(np.array([0.0, 0.0, 1.0, 0.0]), rotations[0])
    fallen = replace(stepping("fox", 1.0, 0.8), skeleton=posed_rest(fox, rotations))
    with pytest.raises(RigError, match="stand upright"):
        make_ready(raw(fallen), 30.0)


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_a_rest_pose_is_brought_to_the_origin(name: str) -> None:
    skeleton = animal(name)
    grounded = grounded_rest(skeleton)
    assert grounded.leg_length == pytest.approx(skeleton.leg_length)
    assert measure.size(grounded) == pytest.approx(measure.size(skeleton))


@pytest.mark.parametrize("target", ["fox", "horse"])
def test_a_carried_walk_stands_where_it_is_planted(target: str) -> None:
    ready = make_ready(raw(stepping("fox", 4.0, 0.8, 0.2)), 30.0)
    planted = plant(carry(ready, animal(target), HERE, None), ready, FlatGround())
    report = judge_transfer(planted.clip, ready.clip, FlatGround(), planted.lock_offset)
    assert report["slide_leg"].value < 3.0
    assert report["penetration_leg"].value < 5.0
    assert report["float_leg"].value < 10.0
    assert report["knee_plane"].measured
