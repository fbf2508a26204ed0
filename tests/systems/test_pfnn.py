"""The phase-functioned network's vectors and run time, with made-up networks: neither torch nor ONNX takes part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import courses
from blender_addon.motion import rotations as rot
from blender_addon.motion.phases import Phase
from blender_addon.motion.plan import Plan
from blender_addon.motion.terrain import FlatGround, HeightField
from blender_addon.systems.pfnn import Pfnn, PfnnSettings
from blender_addon.systems.pfnn_control import PfnnBlend, blended_gaits, blended_trajectory, in_step, meant_gaits
from blender_addon.systems.pfnn_features import (
    ASIDE,
    PfnnFrames,
    RestBody,
    angles_of,
    clip_frames,
    felt_along,
    input_layout,
    output_layout,
    rotations_of,
)
from blender_addon.systems.poses import relative_trajectory
from blender_addon.systems.protocol import System, Wish
from blender_addon.systems.rollout import rollout
from blender_addon.systems.synthesis import synthesise
from blender_addon.systems.trajectory import FUTURE, HORIZON_SECONDS, PAST, SAMPLE_TIMES
from blender_addon.systems.trajectory_control import Trajectory
from tests.synthetic import biped, walk

GAITS = ("stand", "walk", "run")
INPUTS, OUTPUTS = input_layout(20, 3), output_layout(20)


def ramp(xy):
    """Rises ahead, and to the left."""
    return -0.2 * xy[..., 1] + 0.1 * xy[..., 0]


def frames_of(clip, ground=None, rate: float = 5.0) -> PfnnFrames:
    felt = felt_along(clip.root, clip.fps, ground or (lambda xy: np.zeros(xy.shape[:-1])))
    angle = rate / clip.fps * np.arange(len(clip))
    gaits = np.tile([0.0, 1.0, 0.0], (len(clip), 1))
    return clip_frames(clip, Phase(angle, np.ones(len(clip), bool)), gaits, felt, np.repeat(clip.contacts, 2, axis=1))


def inputs_of(frames: PfnnFrames) -> np.ndarray:
    """Inputs (frames - 1, size) from the second frame on."""
    now = [part[1:] for part in (frames.trajectory, frames.heights, frames.gaits)]
    return np.concatenate([*now, frames.pose[:-1]], axis=1)


def test_sizes_are_those_of_the_paper_but_for_the_sixth_gait():
    assert input_layout(31, 6).size == 342
    sizes = {block.name: block.size for block in input_layout(31, 5)}
    assert sizes == {"trajectory_positions": 24, "trajectory_directions": 24, "trajectory_heights": 36, "gaits": 60,
                     "joint_positions": 93, "joint_velocities": 93}  # fmt: skip


def lifted(clip, ground):
    """The clip with its body as high over the ground as before."""
    return replace(clip, hips=clip.hips + np.stack([0 * clip.hips[:, 0]] * 2 + [ground(clip.root[:, :2])], axis=1))


def test_heights_are_felt_under_the_trajectory_and_counted_from_the_middle_ones_around():
    clip = walk(4.0, 1.2, 0.3)
    frames = frames_of(lifted(clip, ramp), ramp)
    at = 120 + np.round(np.array(SAMPLE_TIMES) * 60).astype(int)
    middle = ramp(clip.root[at, :2])
    # Straight slopes have their reference in the middle of the way around.
    reference = felt_along(clip.root, 60.0, ramp).reference[120]
    assert reference == pytest.approx(ramp(clip.root[100:141, :2]).mean(), abs=2e-3)
    left = ramp(clip.root[at, :2] + ASIDE * np.stack([np.cos(clip.root[at, 2]), np.sin(clip.root[at, 2])], axis=1))
    heights = frames.heights[120].reshape(3, 12)
    assert np.allclose(heights[0], middle - reference, atol=1e-6)
    assert np.allclose(heights[1], left - reference, atol=1e-6)
    assert np.allclose(heights[1] + heights[2], 2 * heights[0], atol=1e-9)
    # The pose's heights too: the body is as high over its ground as on the level.
    level = frames_of(clip)
    joints = [pose[120].reshape(2, 20, 3)[0] for pose in (frames.pose, level.pose)]
    assert np.allclose(joints[0] - joints[1], [0, 0, ramp(clip.root[120, :2]) - reference], atol=1e-9)


def test_frames_hold_the_pose_and_the_way_to_the_next_frame():
    clip = walk(4.0, 1.2, 0.3)
    frames = frames_of(clip)
    turn = rot.from_yaw(-clip.root[:, 2])[:, None]
    base = np.concatenate([clip.root[:, :2], np.zeros((len(clip), 1))], axis=1)[:, None]
    joints = rot.rotate(turn, clip.world[0] - base)
    assert np.allclose(frames.pose[:, :60], joints.reshape(len(clip), -1), atol=1e-9)
    assert np.allclose(frames.steps[:-1, :2], [[0.0, -1.2]], atol=1e-2)
    assert np.allclose(frames.steps[:, 2], 0.3, atol=1e-6) and np.allclose(frames.steps[:, 3], 5.0, atol=1e-6)
    assert frames.phase.max() < 2 * np.pi
    assert np.array_equal(frames.contacts[:, 1::2] > 0.5, clip.contacts)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_angles_are_rotations_away_from_rest_even_beyond_half_a_turn(seed):
    skeleton = biped()
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(20, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angle = np.linspace(0.0, 4.5, 60)[:, None] * rng.uniform(0.0, 1.0, 20)
    turns = rot.mul(rot.exp(axis * angle[..., None]), skeleton.rest_world[1])
    # Both signs of a quaternion are the same rotation.
    found = angles_of(skeleton, rng.choice([-1.0, 1.0], (60, 20, 1)) * turns)
    assert np.allclose(found, axis * angle[..., None], atol=1e-6)
    back = rotations_of(skeleton, found)
    assert np.allclose(np.abs(np.sum(back * turns, axis=-1)), 1.0, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_joints_without_a_loop_are_where_kinematics_put_them(seed):
    skeleton = biped()
    rng = np.random.default_rng(seed)
    hips, angles = rng.normal(size=(4, 3)), rng.normal(size=(4, 20, 3))
    local = skeleton.local_rotations(rotations_of(skeleton, angles))
    assert np.allclose(RestBody(skeleton).positions(hips, angles), skeleton.fk(hips, local)[0], atol=1e-9)


def test_each_part_of_the_trajectory_has_its_own_bias():
    t = np.arange(FUTURE) / (FUTURE - 1)
    own = Trajectory.of(np.zeros((1, FUTURE, 2)), np.tile([0.0, -1.0], (1, FUTURE, 1)), np.zeros((1, FUTURE, 2)))
    # The wish goes ahead and stands half a metre to the left.
    ahead = np.stack([np.full(FUTURE, 0.5), -0.3 * np.arange(FUTURE)], axis=-1)[None]
    wish = Trajectory.of(ahead, own.directions, own.velocities)
    places, facings = blended_trajectory(own, wish, PfnnBlend(position=2.0, speed=0.5))
    assert np.allclose(places[0, :, 0], 0.5 * t**2.0)
    assert np.allclose(places[0, 1:, 1], -0.3 * np.arange(1, FUTURE) * t[1:] ** 0.5)
    assert np.allclose(places[0, -1], wish.positions[0, -1]) and np.allclose(facings, own.directions)
    even, _ = blended_trajectory(own, wish, PfnnBlend(position=0.7, speed=0.7))
    share = np.where(t > 0, t**0.7, 0.0)[:, None]
    assert np.allclose(even[0], share * wish.positions[0])
    turned = Trajectory.of(own.positions, np.tile([1.0, 0.0], (1, FUTURE, 1)), own.velocities)
    _, facings = blended_trajectory(own, turned, PfnnBlend(direction=1.0))
    assert np.allclose(np.linalg.norm(facings, axis=-1), 1.0) and np.allclose(facings[0, -1], [1.0, 0.0])
    gaits = blended_gaits(np.zeros((1, FUTURE, 1)), np.ones((1, FUTURE, 1)), PfnnBlend(gait=3.0))
    assert np.allclose(gaits[0, :, 0], np.where(t > 0, t**3.0, 0.0))


def test_gaits_are_meant_as_they_were_labelled():
    walk_, run = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    assert np.allclose(meant_gaits(walk_, np.array(1.2), GAITS, 1.8), walk_)
    assert np.allclose(meant_gaits(walk_, np.array(3.0), GAITS, 1.8), run)
    assert np.allclose(meant_gaits(walk_, np.array(1.8), GAITS, 1.8), [0.0, 0.5, 0.5])
    assert np.allclose(meant_gaits(walk_, np.array(0.0), GAITS, 1.8), [1.0, 0.0, 0.0])
    assert np.allclose(meant_gaits(run, np.array(2.0), GAITS, 1.8), run)
    stand = np.array([1.0, 0.0, 0.0])
    assert np.allclose(meant_gaits(stand, np.array(1.2), GAITS, 1.8), walk_), "nobody stands who goes on"
    assert np.allclose(meant_gaits(stand, np.array(0.0), GAITS, 1.8), stand)
    assert np.allclose(meant_gaits(np.array([1.0]), np.array(0.0), ("crouch",), 1.8), [1.0])


class Recital:
    """In place of a network: gives the true answers of a clip, one frame after another, whatever goes in."""

    def __init__(self, clip, ground, first: int = 20, rate: float = 5.0) -> None:
        frames = frames_of(clip, ground, rate)
        course = frames.trajectory.reshape(len(clip), 2, 12, 2)[:, :, PAST:].reshape(len(clip), -1)
        self.rows = np.concatenate(
            [course[1:], frames.pose[:-1], frames.angles[:-1], frames.steps[:-1], frames.contacts[:-1]], axis=1
        )
        self.true = inputs_of(frames)
        self.starts, self.phases = self.true[first - 1 : first], frames.phase[first : first + 1]
        self.at, self.seen, self.told = first, [], []

    def __call__(self, inputs, phase):
        self.seen.append(inputs)
        self.told.append(phase)
        self.at += 1
        return np.repeat(self.rows[self.at - 1 : self.at], len(inputs), axis=0).astype(np.float32)


def plan_of(part) -> Plan:
    speed = np.full(len(part), 1.2)
    return Plan(60.0, part.root[:, :2], part.root[:, 2], speed, np.cumsum(speed) / 60, ("walk",),
                np.zeros(len(part), np.int64), np.zeros(len(part), bool))  # fmt: skip


@given(phase=st.floats(0.0, 50.0), pace=st.floats(4.5, 8.0), foot=st.floats(0.0, np.pi))
def test_steps_are_hurried_so_that_a_leap_finds_its_foot_down(phase, pace, foot):
    now, began = np.array([phase]), phase
    for frame in range(90):
        until = np.array([1.5 - frame / 60.0])
        quick = in_step(np.array([pace]), now, until, foot)
        assert 0.75 * pace - 1e-9 <= quick[0] <= 1.25 * pace + 1e-9
        now = now + quick / 60.0
    away = (now[0] - foot + 0.5 * np.pi) % np.pi - 0.5 * np.pi
    assert abs(away) < 0.1
    assert abs(now[0] - began - 1.5 * pace) < 0.5 * np.pi + 0.05


def test_without_a_leap_ahead_steps_keep_their_pace():
    pace = np.array([6.0, 6.0])
    assert np.array_equal(in_step(pace, np.array([1.0, 2.0]), np.array([np.inf, 3.0]), 1.6), pace)


@pytest.mark.parametrize("stride", [1, 3])
def test_a_network_that_knows_a_clip_by_heart_gives_the_clip_on_its_ground(stride):
    clip = lifted(walk(5.0, 1.2, 0.4), ramp)
    player = Recital(clip, ramp)
    system: System = Pfnn(clip.skeleton, 60.0, GAITS, player, player.starts, player.phases,
                          settings=PfnnSettings(stride=stride))  # fmt: skip
    system.noise_hz = None
    part = clip.cut(20, 260)
    field = HeightField.from_function(ramp, (-8.0, -8.0, 8.0, 8.0), 0.5)
    made = rollout(system, [plan_of(part)], terrains=[field])[0].clip
    assert np.abs(made.root - part.root).max() < 1e-4
    # Towards its end the plan stands, and other ground is felt ahead.
    assert np.abs(made.world[0] - part.world[0])[:180].max() < 1e-3
    assert np.array_equal(made.contacts, part.contacts)
    assert np.allclose(np.diff(np.concatenate(player.told)), 5.0 / 60, atol=1e-6)
    # What goes in is what was learned: the true trajectory, the ground under it, and the pose as it was left.
    seen, true = np.concatenate(player.seen)[:240], player.true[19:259]
    for block in INPUTS:
        error = np.abs(INPUTS.get(seen, block.name) - INPUTS.get(true, block.name))[65:170].max()
        assert error < (2e-3 if block.name == "trajectory_heights" else 5e-3), block.name


def wishing(count: int, speed: float = 1.2, **changes) -> Wish:
    ahead = np.array(HORIZON_SECONDS)
    root = np.stack([0 * ahead, -speed * ahead, 0 * ahead], axis=1)
    positions, directions = relative_trajectory(np.zeros((count, 3)), np.tile(root, (count, 1, 1)))
    actions = np.zeros((count, len(ahead), 3))
    actions[..., 1] = 1.0
    return Wish(positions, directions, np.full(count, speed), np.full((count, len(ahead)), speed), actions, **changes)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_phase_never_runs_backwards_whatever_the_network_says(seed):
    rng = np.random.default_rng(seed)

    def wild(inputs, phase):
        return rng.normal(scale=3.0, size=(len(inputs), OUTPUTS.size)).astype(np.float32)

    starts = inputs_of(frames_of(walk(3.0, 1.2)))[60:63].astype(np.float32)
    system = Pfnn(biped(), 60.0, GAITS, wild, starts, np.arange(3.0, dtype=np.float32))
    state = system.start_anywhere(4, seed)
    for _ in range(5):
        after, chunk = system.step(state, wishing(4))
        assert np.all(after.phase >= state.phase)
        assert np.all((chunk.poses.contacts >= 0) & (chunk.poses.contacts <= 1))
        state = after


def test_a_herd_walks_as_each_of_it_would_alone():
    mix = np.random.default_rng(1).normal(scale=0.02, size=(INPUTS.size, OUTPUTS.size)).astype(np.float32)

    def linear(inputs, phase):
        return np.tanh(inputs @ mix) + np.cos(phase)[:, None].astype(np.float32) * 0.01

    starts = inputs_of(frames_of(walk(3.0, 1.2)))[60:63].astype(np.float32)
    system = Pfnn(biped(), 60.0, GAITS, linear, starts, np.arange(3.0, dtype=np.float32))

    def hills(points):
        return 0.1 * np.sin(points[..., 1])

    together = system._begin(np.arange(3))
    alone = [system._begin(np.array([k])) for k in range(3)]
    for _ in range(3):
        together, chunk = system.step(together, wishing(3, ground=hills))
        for k in range(3):
            alone[k], single = system.step(alone[k], wishing(1, ground=hills))
            assert np.allclose(single.poses.hips[0], chunk.poses.hips[k], atol=1e-6)
            assert np.allclose(single.poses.rotations[0], chunk.poses.rotations[k], atol=1e-6)


def test_a_body_that_strays_is_brought_to_the_height_of_its_path():
    clip = lifted(walk(5.0, 1.2), ramp)
    player = Recital(clip, ramp)
    system = Pfnn(clip.skeleton, 60.0, GAITS, player, player.starts, player.phases)
    system.noise_hz = None
    part = clip.cut(20, 240)
    # The plan lies half a metre to the left of where the network goes, and higher.
    plan = replace(plan_of(part), positions=part.root[:, :2] + [0.5, 0.0])
    field = HeightField.from_function(ramp, (-8.0, -8.0, 8.0, 8.0), 0.5)
    player.at = 20
    made = synthesise(system, [plan], [field])[0]
    over = made.followed.hips[:, 2] - field.height(made.followed.root[:, :2])
    assert np.abs(over - (part.hips[:, 2] - ramp(part.root[:, :2])))[30:-30].max() < 0.01
    sunk = made.clip.hips[:, 2] - made.followed.hips[:, 2]
    assert np.abs(sunk).max() < 0.2, "planting must not lift the body by the ground, 0.9 m, once more"


def test_level_ground_is_felt_where_none_is_given():
    clip = walk(5.0, 1.2)
    player = Recital(clip, None)
    system = Pfnn(clip.skeleton, 60.0, GAITS, player, player.starts, player.phases)
    rollout(system, [plan_of(clip.cut(20, 100))])
    assert np.abs(INPUTS.get(np.concatenate(player.seen), "trajectory_heights")).max() == 0.0
    player.seen, player.at = [], 20
    rollout(system, [plan_of(clip.cut(20, 100))], terrains=[FlatGround(2.0)])
    assert np.abs(INPUTS.get(np.concatenate(player.seen), "trajectory_heights")).max() < 1e-6


def test_ground_beyond_what_was_learned_is_felt_as_the_nearest_that_was():
    clip = lifted(walk(5.0, 1.2), ramp)
    plan, field = plan_of(clip.cut(20, 100)), HeightField.from_function(ramp, (-8.0, -8.0, 8.0, 8.0), 0.5)
    random = np.random.default_rng(0)
    lowest, highest = -random.uniform(0.0, 0.2, 36), random.uniform(0.0, 0.2, 36)

    def felt(limits):
        player = Recital(clip, ramp)
        system = Pfnn(clip.skeleton, 60.0, GAITS, player, player.starts, player.phases, felt=limits)
        rollout(system, [plan], terrains=[field])
        return INPUTS.get(np.concatenate(player.seen), "trajectory_heights")

    free, kept = felt(None), felt(np.stack([lowest, highest]))
    assert np.any(free < lowest) and np.any(free > highest)
    expected = [[min(max(height, low), high) for height, low, high in zip(row, lowest, highest, strict=True)]
                for row in free]  # fmt: skip
    assert np.allclose(kept, expected, atol=1e-6)


@pytest.mark.parametrize("speed", [0.5, 1.2, 2.5])
def test_stairs_have_a_smooth_reference_height(speed):
    felt = felt_along(walk(8.0, speed).root, 60.0, courses.stairs())
    under = felt.heights[:, 0, PAST] + felt.reference
    assert np.abs(np.diff(under)).max() > 0.17
    # The stairs rise by 0.6 m a metre: the body goes up with them but for what one of the points is worth.
    assert np.abs(np.diff(felt.reference)).max() < 1.2 * 0.6 * speed / 60 + 0.009
