import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.filters import derivative
from blender_addon.motion.plan import Plan
from blender_addon.systems.mann import FASTEST_FOOT, Mann, MannSettings
from blender_addon.systems.mann_control import Blend, blended, trail_of
from blender_addon.systems.mann_features import (
    POSE_BLOCKS,
    ForwardKinematics,
    clip_frames,
    gating_columns,
    input_layout,
    output_layout,
    rotations_of,
)
from blender_addon.systems.poses import relative_trajectory
from blender_addon.systems.protocol import System, Wish
from blender_addon.systems.rollout import rollout
from blender_addon.systems.trajectory import FUTURE, HORIZON_SECONDS, PAST, SAMPLE_TIMES, clip_trajectory
from blender_addon.systems.trajectory_control import Trail, Trajectory, Wanted
from tests.animal_motion import roam
from tests.animals import animal

ACTIONS = ("walk", "trot", "stand")


def labels(clip, action=0):
    return np.full(len(clip), action)


def test_the_papers_dog_has_480_inputs_and_363_outputs_before_contacts():
    assert input_layout(27, 6).size == 480
    assert output_layout(27, 0).size == 363 and output_layout(27, 4).size == 367


def test_the_gate_sees_the_feets_velocities_the_actions_and_the_speed_of_now():
    clip = roam(2.0, 1.1, 0.3)
    columns = gating_columns(clip.skeleton, 3)
    assert len(columns) == 12 + 3 + 1
    frames = clip_frames(clip, np.arange(len(clip)) // 60 % 3, 3)
    seen = frames.inputs[70, columns]
    velocity = derivative(clip.world[0], 60.0)[70, [foot.toe for foot in clip.skeleton.feet]]
    assert np.allclose(seen[:12], rot.rotate(rot.from_yaw(-clip.root[70, 2]), velocity).reshape(-1))
    assert seen[12:15].tolist() == [0.0, 1.0, 0.0]
    assert seen[15] == pytest.approx(1.1, abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_joints_without_a_loop_are_where_kinematics_put_them(seed):
    rng = np.random.default_rng(seed)
    skeleton = animal(("fox", "horse", "wolf_without_paws")[seed % 3])
    rotations = rot.normalize(rng.normal(size=(2, len(skeleton), 4)))
    hips = rng.normal(size=(2, 3))
    places, turns = skeleton.fk(hips, rotations)
    body = ForwardKinematics(skeleton)
    axes = body.axes(rot.to_6d(turns).reshape(2, -1))
    assert np.allclose(body.positions(hips, axes), places, atol=1e-9)
    assert np.allclose(rot.angle_between(rotations_of(axes), turns), 0.0, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_predicted_axes_become_the_same_rotations_as_by_gram_schmidt(seed):
    skeleton = animal("fox")
    raw = np.random.default_rng(seed).normal(size=(3, 6 * len(skeleton)))
    axes = ForwardKinematics(skeleton).axes(raw)
    assert np.allclose(axes @ np.swapaxes(axes, -1, -2), np.eye(3), atol=1e-9)
    expected = rot.from_6d(raw.reshape(3, -1, 6))
    assert np.allclose(np.abs(np.sum(rotations_of(axes) * expected, axis=-1)), 1.0, atol=1e-6)


def test_inputs_hold_the_trajectory_a_second_back_and_nearly_a_second_ahead():
    clip = roam(4.0, 1.2, 0.5)
    frames = clip_frames(clip, labels(clip), 3)
    layout = input_layout(len(clip.skeleton), 3)
    at = 100 + np.round(np.array(SAMPLE_TIMES) * 60).astype(int)
    assert at.tolist() == [40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150]
    places, facing = relative_trajectory(clip.root[100:101], clip.root[None, at])
    assert np.allclose(layout.get(frames.inputs[100], "trajectory_positions"), places.reshape(-1), atol=1e-9)
    assert np.allclose(layout.get(frames.inputs[100], "trajectory_directions"), facing.reshape(-1), atol=1e-9)
    velocity = layout.get(frames.inputs[100], "trajectory_velocities").reshape(-1, 2)
    assert np.allclose(velocity, 1.2 * facing, atol=0.02)
    assert np.allclose(layout.get(frames.inputs[100], "speeds"), 1.2, atol=1e-3)


def test_a_trail_is_seen_as_the_same_trajectory_that_was_learned():
    clip = roam(4.0, 1.2, 0.5)
    learned = [part[150, :PAST] for part in clip_trajectory(clip)]
    count = Trail.frames(60.0)
    trail = Trail(clip.root[None, 151 - count : 151], np.zeros((1, count)), np.zeros((1, count, 3)))
    course, _, _ = trail.past(60.0)
    for got, expected in zip((course.positions, course.directions, course.velocities), learned, strict=True):
        assert np.allclose(got[0], expected, atol=1e-9)


def test_a_trail_made_of_samples_goes_through_them():
    clip = roam(4.0, 1.2, 0.5)
    frames = clip_frames(clip, labels(clip, 1), 3)
    layout = input_layout(len(clip.skeleton), 3)
    course, speeds, actions = trail_of(frames.inputs[150:151], layout, 60.0).past(60.0)
    assert np.allclose(course.positions[0], clip_trajectory(clip)[0][150, :PAST], atol=1e-9)
    assert np.allclose(speeds, 1.2, atol=1e-3) and np.allclose(actions[0, :, 1], 1.0)


def test_the_blend_keeps_the_own_now_and_obeys_at_the_horizon():
    t = np.arange(FUTURE) / (FUTURE - 1)
    blend = Blend(position=0.25, direction=1.0, velocity=2.0)
    for row, tau in zip(blend.shares[..., 0], (0.25, 1.0, 2.0), strict=True):
        assert np.allclose(row, [0.0, *t[1:] ** tau])
    rng = np.random.default_rng(0)
    own, wish = (Trajectory.of(*rng.normal(size=(3, 1, FUTURE, 2))) for _ in range(2))
    found = blended(own, wish, Blend(position=1.0, direction=1.0, velocity=2.0).shares)
    assert np.allclose(found.positions[0, 2], 0.6 * own.positions[0, 2] + 0.4 * wish.positions[0, 2])
    assert np.allclose(found.velocities[0, 2], 0.84 * own.velocities[0, 2] + 0.16 * wish.velocities[0, 2])
    assert np.allclose(np.linalg.norm(found.directions, axis=-1), 1.0)


def wish_along(plan_root: np.ndarray, frame: int, root: np.ndarray, count: int) -> Wish:
    at = np.minimum(frame + np.round(np.array(HORIZON_SECONDS) * 60).astype(int), len(plan_root) - 1)
    positions, directions = relative_trajectory(root[None], plan_root[None, at])
    speed = np.linalg.norm(np.diff(plan_root[:2, :2], axis=0)) * 60.0
    actions = np.zeros((1, len(at), count))
    actions[..., 0] = 1.0
    return Wish(positions, directions, np.array([speed]), np.full((1, len(at)), speed), actions)


def test_within_a_chunk_the_wish_moves_on_as_the_plan_does():
    root = roam(4.0, 1.2, 0.4).root
    first = Wanted.of(wish_along(root, 100, root[100], 3))
    here = np.array([[*rot.rotate_2d(-root[100, 2], root[105, :2] - root[100, :2]), root[105, 2] - root[100, 2]]])
    moved = first.after(5 / 60).trajectory.seen_from(here)
    later = Wanted.of(wish_along(root, 105, root[105], 3)).after(0.0).trajectory
    assert np.abs(moved.positions - later.positions).max() < 3e-3
    assert np.abs(moved.directions - later.directions).max() < 3e-3


class Recital:
    """In place of a network: gives the true outputs of a clip, one frame after another, whatever goes in."""

    def __init__(self, clip, first: int) -> None:
        frames = clip_frames(clip, labels(clip), 3)
        inputs, outputs = input_layout(len(clip.skeleton), 3), output_layout(len(clip.skeleton), 4)
        following = frames.inputs[1:]
        future = {
            name: inputs.get(following, name).reshape(len(following), -1, 2)[:, PAST:].reshape(len(following), -1)
            for name in ("trajectory_positions", "trajectory_directions", "trajectory_velocities")
        }
        pose = {name: inputs.get(following, name) for name in POSE_BLOCKS}
        steps = frames.steps[:-1]
        self.rows = outputs.join(
            **future, **pose, root_velocity=steps[:, :2], root_turning=steps[:, 2:], contacts=frames.contacts[1:]
        )
        self.starts, self.contacts = frames.inputs[first : first + 1], frames.contacts[first : first + 1]
        self.at, self.seen = first, []

    def __call__(self, inputs):
        self.seen.append(inputs)
        self.at += 1
        return np.repeat(self.rows[self.at - 1 : self.at], len(inputs), axis=0).astype(np.float32)


@pytest.mark.parametrize("stride", [1, 3])
def test_a_network_that_knows_a_clip_by_heart_gives_the_clip(stride):
    clip = roam(5.0, 1.2, 0.4)
    player = Recital(clip, 20)
    system: System = Mann(clip.skeleton, 60.0, ACTIONS, player, player.starts, player.contacts,
                          MannSettings(stride=stride))  # fmt: skip
    system.noise_hz = None
    part = clip.cut(20, 260)
    speed = np.full(len(part), 1.2)
    plan = Plan(60.0, part.root[:, :2], part.root[:, 2], speed, np.cumsum(speed) / 60, ("walk",),
                np.zeros(len(part), np.int64), np.zeros(len(part), bool))  # fmt: skip
    made = rollout(system, [plan])[0].clip
    assert np.abs(made.root - part.root).max() < 1e-4
    assert np.abs(made.world[0] - part.world[0]).max() < 1e-4
    balls = np.stack([part.world[0][:, foot.ankle] + rot.rotate(part.world[1][:, foot.ankle], foot.ball)
                      for foot in part.skeleton.feet], axis=1)  # fmt: skip
    speed = np.linalg.norm(np.diff(balls[..., :2], axis=0), axis=-1) * 60.0
    still = speed < FASTEST_FOOT * part.skeleton.leg_length**0.5
    # The made-up clip's feet slide; what slides is not in contact.
    assert np.array_equal(made.contacts[:-1], part.contacts[:-1] & still)
    assert 0.1 < made.contacts.mean() < part.contacts.mean()
    # What goes in is what was learned: the true trajectory, and the pose as it was left.
    true = clip_frames(clip, labels(clip), 3).inputs[20:260]
    seen = np.concatenate(player.seen)[: len(true)]
    layout = input_layout(len(clip.skeleton), 3)
    for block in layout:
        error = np.abs(layout.get(seen, block.name) - layout.get(true, block.name))[65:170].max()
        assert error < (0.05 if block.name == "trajectory_velocities" else 5e-3), block.name


def test_the_start_is_the_state_that_fits_the_wish():
    walking, standing = roam(3.0, 1.2), roam(3.0, 0.0)
    starts = np.concatenate([clip_frames(clip, labels(clip, a), 3).inputs[60:61] for clip, a in
                             ((walking, 0), (standing, 2))])  # fmt: skip
    system = Mann(walking.skeleton, 60.0, ACTIONS, Recital(walking, 0), starts, np.ones((2, 4)))
    for speed, action, chosen in ((1.2, 0, 0), (0.0, 2, 1)):
        root = np.zeros((200, 3))
        root[:, 1] = -speed * np.arange(200) / 60
        wish = wish_along(root, 0, root[0], 3)
        wish.actions[:] = np.eye(3)[action]
        assert np.allclose(system.start(wish).pose[0], starts[chosen, -12 * len(walking.skeleton) :])


def test_a_wish_far_off_is_brought_within_reach_and_a_near_one_left_alone():
    root = roam(4.0, 1.2, 0.4).root
    near = Wanted.of(wish_along(root, 100, root[100] + np.array([0.05, 0.1, 0.1]), 3)).after(0.0).trajectory
    assert near.within_reach() is near
    far = Wanted.of(wish_along(root, 100, root[100] + np.array([1.0, -2.0, 1.0]), 3)).after(0.0).trajectory
    brought = far.within_reach()
    assert np.linalg.norm(brought.here[0, :2]) == pytest.approx(0.2) and brought.here[0, 2] == pytest.approx(-0.2)
    direction = far.here[0, :2] / np.linalg.norm(far.here[0, :2])
    assert np.allclose(brought.here[0, :2], 0.2 * direction)
    lengths = [np.linalg.norm(np.diff(course.positions[0], axis=0), axis=1) for course in (far, brought)]
    assert np.allclose(*lengths)
