"""Legs of many segments come to their targets, smoothly and without bending to the wrong side."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import LEGS
from blender_addon.motion.animal_limbs import Limb, limbs_of
from blender_addon.motion.limb_ik import Hinges, bends, solve_chain
from tests.animals import animal

ANIMALS = ("fox", "horse", "wolf_without_paws")


def _rest(name):
    skeleton = animal(name)
    positions, rotations = skeleton.rest_world
    return skeleton, positions, rotations


def _turned(points, turn):
    """Joints (f, n + 1, 3) after the turns, from the segments' lengths alone."""
    parts = rot.rotate(turn.segments, np.diff(points, axis=1))
    return np.concatenate([np.zeros_like(points[:, :1]), np.cumsum(parts, axis=1)], axis=1) + points[:, :1]


def _path(seed, frames, size, rate=2.0):
    """A random smooth path (frames, 3): a sum of sines, about ``size`` wide, and its bound on acceleration."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, frames)[:, None, None]
    frequency = rng.uniform(0.3, rate, (1, 4, 3))
    phase = rng.uniform(0.0, 2 * np.pi, (1, 4, 3))
    return size * 0.4 * np.sum(rng.uniform(-1, 1, (1, 4, 3)) * np.sin(2 * np.pi * frequency * t + phase), axis=1)


@pytest.mark.parametrize("name", ANIMALS)
@pytest.mark.parametrize("leg", range(4), ids=LEGS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_an_end_comes_to_every_target_in_reach_with_all_lengths_and_bends_kept(name, leg, seed):
    skeleton, positions, rotations = _rest(name)
    limb = Limb.of(skeleton, skeleton.feet[leg])
    rng = np.random.default_rng(seed)
    frames = 50
    positions, rotations = np.repeat(positions[None], frames, 0), np.repeat(rotations[None], frames, 0)
    points = limb.points(positions, rotations)
    length = np.linalg.norm(np.diff(points[0], axis=0), axis=1).sum()
    own = np.linalg.norm(points[0, -1] - points[0, 0])
    direction = rng.normal(size=(frames, 3)) * [0.4, 0.8, 0.2] + [0, 0, -1.5]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = points[:, 0] + direction * rng.uniform(0.7 * own, min(own, 0.96 * length), (frames, 1))
    hinges = limb.hinges(rotations)
    turn = solve_chain(points, target, hinges)
    found = _turned(points, turn)
    assert np.abs(found[:, -1] - target).max() < 1e-6 * length
    assert np.abs(found[:, -1] - turn.end).max() < 1e-9 * length
    assert turn.shortfall.max() < 1e-7 * length
    assert np.allclose(np.linalg.norm(np.diff(found, axis=1), axis=2), np.linalg.norm(np.diff(points, axis=1), axis=2))
    axes = rot.rotate(turn.segments[:, :-1], hinges.axes)
    assert np.all(bends(found, axes) > limb.straight)


@pytest.mark.parametrize("name", ANIMALS)
def test_a_leg_that_may_stay_stays(name):
    skeleton, positions, rotations = _rest(name)
    for limb in limbs_of(skeleton):
        points = limb.points(positions[None], rotations[None])
        turn = limb.solve(skeleton, positions[None], rotations[None], points[:, -1])
        straight = bends(points, limb.hinges(rotations[None]).axes)[0] - limb.straight
        if np.all(straight > np.radians(2.0)):
            assert np.linalg.norm(rot.log(turn.segments), axis=-1).max() < 1e-6


@given(seed=st.integers(0, 10**6), leg=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_joints_move_smoothly_through_stretch_and_fold(seed, leg):
    """Halving the time step divides second differences by four: no kink, whatever the target does."""
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, leg)
    found = []
    for frames in (2001, 4001):
        body = np.repeat(positions[None], frames, 0), np.repeat(rotations[None], frames, 0)
        points = limb.points(*body)
        # Through the source's own reach again and again, and out of reach at times.
        target = points[:, -1] + _path(seed, frames, 0.12) + [0.0, 0.0, 0.03]
        turns = rot.unroll(limb.solve(skeleton, *body, target).segments)
        speed = np.abs(np.diff(turns, axis=0)) * frames
        bound = np.abs(np.diff(target, axis=0)).max() * frames
        assert speed.max() < 120.0 * bound
        found.append(np.abs(np.diff(turns, 2, axis=0)).max())
    assert found[1] < 0.6 * found[0] + 1e-9


def limb_at(skeleton, leg):
    return Limb.of(skeleton, skeleton.feet[leg])


def test_nothing_kinks_where_stretch_turns_into_fold():
    """Second differences across the source's own reach are as small as beside it."""
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, 0)
    frames = 401
    body = np.repeat(positions[None], frames, 0), np.repeat(rotations[None], frames, 0)
    points = limb.points(*body)
    target = points[:, -1] + np.linspace(-0.02, 0.02, frames)[:, None] * [0.0, 0.0, 1.0]
    second = np.abs(np.diff(limb.solve(skeleton, *body, target).segments, 2, axis=0)).max(axis=(1, 2))
    assert second[190:210].max() < 1.2 * second[150:190].max()


def test_a_straight_or_wrongly_bent_source_bends_as_the_hint_says():
    frames = 81
    bend = np.radians(np.linspace(-8.0, 8.0, frames))
    points = np.zeros((frames, 4, 3))
    points[:, 1] = [0.0, 0.0, -0.2]
    points[:, 2] = points[:, 1] + 0.2 * np.stack([0 * bend, np.sin(bend), -np.cos(bend)], axis=1)
    points[:, 3] = points[:, 2] + [0.0, 0.0, -0.15]
    axes = np.tile(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]), (frames, 1, 1))
    hinges = Hinges(axes, np.zeros(2), np.full(2, 0.8))
    for reach in (0.3, 0.45, 0.53):
        turn = solve_chain(points, np.tile([0.05, 0.0, -reach], (frames, 1)), hinges)
        found = bends(_turned(points, turn), rot.rotate(turn.segments[:, :-1], axes))
        assert found.min() > 0.0
        assert np.abs(np.diff(found, axis=0)).max() < np.radians(3.0)


def test_out_of_reach_is_reported_and_the_leg_points_at_its_target():
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, 0)
    points = limb.points(positions[None], rotations[None])
    away = points[:, 0] + np.array([[0.0, 0.3, -0.9]])
    turn = solve_chain(points, away, limb.hinges(rotations[None]))
    length = np.linalg.norm(np.diff(points[0], axis=0), axis=1).sum()
    reached = np.linalg.norm(turn.end - points[:, 0])
    assert reached < length
    assert turn.shortfall[0] == pytest.approx(np.linalg.norm(away - points[:, 0]) - reached, abs=1e-7)
    aim = (away - points[:, 0]) / np.linalg.norm(away - points[:, 0])
    assert np.allclose((turn.end - points[:, 0]) / reached, aim, atol=1e-9)


def test_a_folding_hind_leg_shares_its_bend_between_stifle_and_hock():
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, 0)
    points = limb.points(positions[None], rotations[None])
    hinges = limb.hinges(rotations[None])
    turn = solve_chain(points, points[:, -1] + [0.0, 0.0, 0.1], hinges)
    more = bends(_turned(points, turn), rot.rotate(turn.segments[:, :-1], hinges.axes)) - bends(points, hinges.axes)
    stifle, hock = more[0, :2]
    assert 0.6 < stifle / hock < 1.7


@pytest.mark.parametrize("name", ANIMALS)
def test_turns_written_back_put_the_end_on_its_target(name):
    skeleton, positions, rotations = _rest(name)
    target_turn = rot.from_yaw(np.array([0.4]))
    for limb in limbs_of(skeleton):
        locals_ = np.array(skeleton.rest_rotations[None])
        world = rotations[None], positions[None]
        target = limb.points(world[1], world[0])[:, -1] + 0.08 * skeleton.leg_length * np.array([[0.3, -1.0, 0.6]])
        turn = limb.solve(skeleton, world[1], world[0], target, twist=np.array([0.1]))
        toe = rot.mul(target_turn, rotations[None, limb.foot.toe])
        limb.write(skeleton, locals_, world[0], turn, toe)
        found, turned = skeleton.fk(skeleton.offsets[:1], locals_)
        assert np.abs(limb.points(found, turned)[:, -1] - target).max() < 1e-6 + turn.shortfall.max()
        if limb.end >= 0:
            assert np.allclose(np.abs(np.sum(turned[:, limb.end] * toe, axis=-1)), 1.0)
        others = [j for j in range(len(skeleton)) if j not in (*limb.foot.chain, limb.scapula)]
        assert np.array_equal(locals_[0, others], skeleton.rest_rotations[others])


def test_the_shoulder_blade_takes_its_share_of_the_swing():
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, 2)
    points = limb.points(positions[None], rotations[None])
    angle = 0.2
    # A leg a little drawn in, so that the shoulder's way forwards and up is in its reach.
    leg = points[:, -1] - points[:, 0]
    swung = points[:, 0] + 0.92 * rot.rotate(rot.exp(np.array([-angle, 0.0, 0.0])), leg)
    turn = limb.solve(skeleton, positions[None], rotations[None], swung)
    assert np.allclose(rot.log(turn.scapula)[0], [-0.35 * angle, 0.0, 0.0], atol=2e-3)
    assert turn.shortfall[0] < 1e-9
    assert np.abs(turn.end - swung).max() < 1e-7


def test_the_shoulder_blade_gives_way_to_a_leg_that_cannot_reach():
    skeleton, positions, rotations = _rest("fox")
    limb = limb_at(skeleton, 2)
    points = limb.points(positions[None], rotations[None])
    leg = points[:, -1] - points[:, 0]
    swung = points[:, 0] + rot.rotate(rot.exp(np.array([-0.2, 0.0, 0.0])), leg)
    turn = limb.solve(skeleton, positions[None], rotations[None], swung)
    assert rot.log(turn.scapula)[0, 0] > -0.05
    assert turn.shortfall[0] < 1e-3


def test_four_legs_are_solved_in_milliseconds():
    skeleton, positions, rotations = _rest("fox")
    frames = 600
    body = np.repeat(positions[None], frames, 0), np.repeat(rotations[None], frames, 0)
    limbs = limbs_of(skeleton)
    targets = [limb.points(*body)[:, -1] + _path(3, frames, 0.1) for limb in limbs]
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        for limb, target in zip(limbs, targets, strict=True):
            limb.solve(skeleton, *body, target)
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.1
