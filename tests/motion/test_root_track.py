"""The root track: it follows the way and the turns, and leaves the sway in the pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.root_track import body_yaw, root_track, with_root
from tests.synthetic import walk


def test_sway_stays_out_of_the_root() -> None:
    clip = walk(8.0, speed=1.0)
    time = np.arange(len(clip)) / clip.fps
    sway = 0.04 * np.sin(2 * np.pi * 2.0 * time)
    swaying = replace(clip, hips=clip.hips + sway[:, None] * np.array([1.0, 0.0, 0.0]))
    track = root_track(swaying.skeleton, swaying.world[0], swaying.fps)
    middle = slice(60, -60)
    assert np.abs(track[middle, 0]).max() < 0.3 * 0.04
    np.testing.assert_allclose(track[middle, 1], clip.hips[middle, 1], atol=0.01)


def test_the_facing_is_that_of_the_walk_also_beyond_a_full_turn() -> None:
    clip = walk(12.0, speed=1.0, turning=0.8)
    track = root_track(clip.skeleton, clip.world[0], clip.fps)
    np.testing.assert_allclose(track[60:-60, 2], 0.8 * np.arange(len(clip))[60:-60] / clip.fps, atol=0.02)
    assert track[-1, 2] > 2 * np.pi


def test_hips_and_shoulders_have_an_equal_say() -> None:
    clip = walk(1.0, speed=0.0)
    rotations = np.array(clip.rotations)
    spine = clip.skeleton.index("spine_1")
    rotations[:, spine] = rot.mul(rot.from_yaw(0.4), rotations[:, spine])
    twisted = replace(clip, rotations=rotations)
    np.testing.assert_allclose(body_yaw(twisted.skeleton, twisted.world[0]), 0.2, atol=1e-6)


def test_a_clip_moved_and_turned_moves_and_turns_its_root() -> None:
    clip = with_root(walk(3.0, speed=0.8, turning=0.3))
    delta = np.tile([2.0, -1.0, 1.1], (len(clip), 1))
    moved = clip.moved(delta)
    # A rigid motion of the whole: about the world's origin, not frame by frame.
    turn = rot.from_yaw(1.1)
    hips = rot.rotate(turn, clip.hips)
    rigid = replace(clip, hips=hips, rotations=moved.rotations)
    again = with_root(rigid).root
    np.testing.assert_allclose(again[:, :2], rot.rotate_2d(1.1, clip.root[:, :2]), atol=1e-6)
    np.testing.assert_allclose(again[:, 2], clip.root[:, 2] + 1.1, atol=1e-6)
