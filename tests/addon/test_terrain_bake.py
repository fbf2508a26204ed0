"""Whole bakes by a system that feels the ground: it walks the character's own terrain, scaled to its own legs."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve
from blender_addon.motion.abilities import Abilities, Leap
from blender_addon.motion.limits import Limits
from blender_addon.motion.proportions import sized_skeleton
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.scene.shot import read_shot
from blender_addon.systems.pfnn import Pfnn
from blender_addon.systems.pfnn_features import input_layout, output_layout
from blender_addon.systems.trajectory import PAST, SAMPLE_SECONDS, SAMPLES
from tests.addon.rig_makers import armature_of, empty_scene, poly_curve
from tests.addon.test_terrain import box, hills
from tests.synthetic import biped

GAITS = ("stand", "walk")
INPUTS, OUTPUTS = input_layout(20, 2), output_layout(20)


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


class Glider:
    """In place of a network: glides along its wish in the rest pose, feet in the air, over the ground it feels."""

    def __init__(self) -> None:
        self.rest = biped().rest_world[0]
        self.heights: list[np.ndarray] = []

    def __call__(self, inputs, phase):
        course = INPUTS.get(inputs, "trajectory_positions").reshape(-1, SAMPLES, 2)[:, PAST:]
        facing = INPUTS.get(inputs, "trajectory_directions").reshape(-1, SAMPLES, 2)[:, PAST:]
        self.heights.append(INPUTS.get(inputs, "trajectory_heights"))
        count = len(inputs)
        turning = np.arctan2(facing[:, 1, 0], -facing[:, 1, 1]) / SAMPLE_SECONDS
        found = OUTPUTS.join(
            trajectory_positions=course.reshape(count, -1), trajectory_directions=facing.reshape(count, -1),
            joint_positions=np.tile(self.rest.reshape(-1), (count, 1)), joint_velocities=np.zeros((count, 60)),
            joint_angles=np.zeros((count, 60)), root_velocity=course[:, 1] / SAMPLE_SECONDS,
            root_turning=turning[:, None], phase_change=np.full((count, 1), 5.0), contacts=np.zeros((count, 4)),
        )  # fmt: skip
        return found.astype(np.float32)


@pytest.mark.parametrize("size", [0.5, 1.0, 1.7])
def test_a_body_of_any_size_is_as_high_over_its_hills_as_on_level_ground(size):
    body = sized_skeleton(biped(), size)
    ob = armature_of(body, root=True)
    curve = poly_curve([(0, 0, 0), (3.0 * size, 0, 0)])
    glider = Glider()
    start = np.zeros((1, INPUTS.size), np.float32)
    INPUTS.get(start, "trajectory_directions")[:, 1::2] = -1.0
    system = Pfnn(biped(), 60.0, GAITS, glider, start, np.zeros(1, np.float32))
    shot = read_shot(ob, curve, [hills()])
    settings = BakeSettings(schedule=Schedule.constant(0.8 * size), limits=Limits(stand_before=0.2, stand_after=0.3))
    solved = solve(shot, system, settings, speeds=(0.3, 2.0), judged=False)
    ground = shot.ground.height(solved.clip.root[:, :2])
    over = solved.clip.hips[:, 2] - ground
    assert np.ptp(ground) > 0.05
    assert np.abs(np.concatenate(glider.heights)).max() > 0.02, "the ground is felt"
    # What is left are the hills' bumps, over which the body goes smoothly.
    assert np.abs(over - 0.93 * size).max() < 0.06 and np.abs(np.mean(over) - 0.93 * size) < 0.03


@pytest.mark.parametrize("root_motion", ["bone", "object"])
def test_what_carries_the_travel_does_not_dive_into_a_ditch_that_is_leapt_over(root_motion):
    ob = armature_of(biped(), root=True)
    parts = [box(-1, -2, -2, 3, 2, 0), box(3, -2, -2, 4, 2, -1.2), box(4, -2, -2, 8, 2, 0)]
    shot = read_shot(ob, poly_curve([(0, 0, 0), (7, 0, 0)]), parts, root_motion=root_motion)
    start = np.zeros((1, INPUTS.size), np.float32)
    INPUTS.get(start, "trajectory_directions")[:, 1::2] = -1.0
    leap = Leap(1.0, 0.3, 2.2, 0.3, 0.4, 1.6, 1.2, 1.6, 1.8, 2.6)
    system = Pfnn(biped(), 60.0, GAITS, Glider(), start, np.zeros(1, np.float32), abilities=Abilities(leap=leap))
    schedule = Schedule([Mark(0.0, 1.0), Mark(3.0, action="jump")])
    solved = solve(shot, system, BakeSettings(schedule=schedule), speeds=(0.3, 2.0), judged=False)
    (travel,) = [one for one in solved.channels if one.path == "location" and np.ptp(one.values, axis=0).max() > 6.0]
    assert np.sort(np.ptp(travel.values, axis=0))[:2] == pytest.approx([0.0, 0.0], abs=0.02), "only ahead"
