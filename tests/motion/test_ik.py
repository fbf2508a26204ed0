"""Leg inverse kinematics: targets reached, knees forward, nothing changed where nothing is asked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.ik import MAX_REACH, knee_hinge, solve_leg
from tests.motion.test_skeleton import walker
from tests.synthetic import walk

HINGE = np.array([1.0, 0.0, 0.0])


def leg(seed: int, frames: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Legs that hang down, bent forward by 5 to 100 degrees about +X, with up to 3 degrees sideways."""
    rng = np.random.default_rng(seed)
    hip = rng.normal(size=(frames, 3))
    down = np.array([0.0, 0.0, -0.44])
    thigh = rot.exp(rng.normal(scale=0.3, size=(frames, 3)) * [1.0, 0.2, 0.0])
    bend = rot.exp(np.stack([rng.uniform(0.1, 1.7, frames), rng.normal(scale=0.02, size=frames), np.zeros(frames)], -1))
    knee = hip + rot.rotate(thigh, down)
    return hip, knee, knee + rot.rotate(rot.mul(thigh, bend), 0.95 * down)


def solved(hip, knee, ankle, turn):  # type: ignore[no-untyped-def]
    new_knee = hip + rot.rotate(turn.thigh, knee - hip)
    return new_knee, new_knee + rot.rotate(turn.shin, ankle - knee)


@given(st.integers(0, 10_000))
def test_a_target_in_reach_is_reached(seed: int) -> None:
    hip, knee, ankle = leg(seed)
    rng = np.random.default_rng(seed + 1)
    direction = rng.normal(size=hip.shape) * [0.5, 0.5, 0.0] + [0.0, 0.0, -1.0]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = hip + direction * rng.uniform(0.3, 0.855, (len(hip), 1))
    turn = solve_leg(hip, knee, ankle, np.broadcast_to(HINGE, hip.shape), target, rng.normal(scale=0.3, size=len(hip)))
    new_knee, new_ankle = solved(hip, knee, ankle, turn)
    np.testing.assert_allclose(new_ankle, target, atol=1e-6)
    np.testing.assert_allclose(turn.shortfall, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(new_knee - hip, axis=1), 0.44, atol=1e-9)


@given(st.integers(0, 10_000))
def test_a_leg_already_there_is_left_alone(seed: int) -> None:
    hip, knee, ankle = leg(seed)
    turn = solve_leg(hip, knee, ankle, np.broadcast_to(HINGE, hip.shape), ankle)
    np.testing.assert_allclose(rot.angle_between(turn.thigh, rot.IDENTITY), 0.0, atol=1e-5)
    np.testing.assert_allclose(rot.angle_between(turn.shin, rot.IDENTITY), 0.0, atol=1e-5)


def test_out_of_reach_is_stretched_almost_straight_and_says_by_how_much() -> None:
    hip, knee, ankle = leg(4)
    length = 0.44 * 1.95
    target = hip + np.array([0.0, -0.3, -1.0])
    turn = solve_leg(hip, knee, ankle, np.broadcast_to(HINGE, hip.shape), target)
    _, new_ankle = solved(hip, knee, ankle, turn)
    np.testing.assert_allclose(np.linalg.norm(new_ankle - hip, axis=1), MAX_REACH * length, atol=1e-9)
    expected = np.linalg.norm(target - hip, axis=1) - MAX_REACH * length
    np.testing.assert_allclose(turn.shortfall, expected, atol=1e-9)


def test_a_hyperextended_knee_comes_out_bent_forward() -> None:
    hip = np.array([[0.0, 0.0, 1.0]])
    knee = np.array([[0.0, 0.01, 0.55]])
    ankle = np.array([[0.0, 0.0, 0.1]])
    turn = solve_leg(hip, knee, ankle, HINGE[None], ankle + [0.0, 0.0, 0.03])
    new_knee, new_ankle = solved(hip, knee, ankle, turn)
    # In front of the line from hip to ankle; the figure faces -Y.
    assert new_knee[0, 1] < 0.5 * (hip[0, 1] + new_ankle[0, 1]) - 0.03


def test_knee_angle_moves_smoothly_while_the_target_does() -> None:
    frames = 200
    hip = np.tile([0.0, 0.0, 0.9], (frames, 1))
    knee = np.tile([0.004, -0.02, 0.47], (frames, 1))
    ankle = np.tile([0.0, 0.0, 0.05], (frames, 1))
    phase = np.linspace(0.0, 2.0 * np.pi, frames)
    target = ankle + np.stack([0 * phase, 0.1 * np.sin(phase), 0.1 - 0.1 * np.cos(phase)], axis=1)
    turn = solve_leg(hip, knee, ankle, np.broadcast_to(HINGE, hip.shape), target)
    turned = rot.log(rot.inv_mul(turn.thigh, turn.shin))
    assert np.abs(np.diff(turned, 2, axis=0)).max() < 0.01


def test_the_hinge_is_found_whatever_the_joints_frames() -> None:
    clip = walk(2.0)
    for foot in clip.skeleton.feet:
        found = knee_hinge(clip.skeleton, foot, *clip.world)
        np.testing.assert_allclose(found, [1.0, 0.0, 0.0], atol=0.02)
    turned = walker(rest_seed=3)
    rest = turned.rest_world
    for foot in turned.feet:
        found = knee_hinge(turned, foot, rest[0][None], rest[1][None])
        np.testing.assert_allclose(rot.rotate(rest[1][foot.hip], found), [1.0, 0.0, 0.0], atol=0.02)
