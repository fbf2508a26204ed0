"""From raw takes to a data set: T-poses dropped, cut, labelled, defects noted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import ACTIONS
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.labels import find_glitches, label_actions, measured_tags, t_pose_frames
from blender_addon.motion.root_track import with_root
from blender_addon.motion.takes import Take, describe, prepare
from tests.synthetic import walk


def led_in(clip: Clip, frames: int) -> Clip:
    """The clip after ``frames`` frames of T-pose."""
    rest = np.tile(clip.skeleton.rest_rotations, (frames, 1, 1))
    return replace(
        clip, hips=np.concatenate([np.repeat(clip.hips[:1], frames, axis=0), clip.hips]),
        rotations=np.concatenate([rest, clip.rotations]), root=np.zeros((frames + len(clip), 3)),
        contacts=np.zeros((frames + len(clip), 2), bool),
    )  # fmt: skip


def test_a_t_pose_in_front_is_dropped_and_told() -> None:
    clip = led_in(walk(2.0), 7)
    assert t_pose_frames(clip) == 7
    assert t_pose_frames(walk(2.0)) == 0
    dataset = prepare([Take(clip, "a.bvh")])
    assert len(dataset.clips[0]) == len(walk(2.0))
    assert dataset.sources[0].defects == ("7 frames of T-pose dropped",)


def test_a_calm_stand_with_hanging_arms_in_rest_is_no_t_pose() -> None:
    clip = walk(1.0, speed=0.0)
    skeleton = replace(clip.skeleton, rest_rotations=clip.rotations[0])
    assert t_pose_frames(replace(clip, skeleton=skeleton)) == 0


def test_nothing_but_a_t_pose_is_refused() -> None:
    clip = led_in(walk(1.0), 60).cut(0, 60)
    with pytest.raises(DatasetError, match="nothing but its T-pose"):
        prepare([Take(clip)])


def test_takes_are_cut_to_their_ranges_in_their_own_frame_rate() -> None:
    slow = walk(4.0).resampled(30.0)
    dataset = prepare([Take(slow, "a.bvh", ranges=((0, 45), (60, 120), (0, 3)))])
    assert [len(clip) for clip in dataset.clips] == [90, 120]
    assert [(source.first, source.last) for source in dataset.sources] == [(0, 45), (60, 120)]
    assert dataset.fps == 60.0
    # The second part is the take's second half, at its place.
    np.testing.assert_allclose(dataset.clips[1].hips[0, :2], slow.hips[60, :2], atol=1e-6)


def test_the_floor_is_put_under_the_feet() -> None:
    clip = walk(3.0, speed=0.0)
    lifted = replace(clip, hips=clip.hips + np.array([0.0, 0.0, 0.7]))
    out = prepare([Take(lifted)]).clips[0]
    toes = out.world[0][:, [foot.toe for foot in out.skeleton.feet], 2]
    np.testing.assert_allclose(toes, out.skeleton.ball_height, atol=2e-3)
    assert out.contacts.all()
    same = prepare([Take(lifted, level="none")]).clips[0]
    np.testing.assert_allclose(same.hips, lifted.hips, atol=1e-6)


def test_standing_walking_and_the_way_gone_are_labelled() -> None:
    stand, stroll = with_root(walk(3.0, speed=0.0)), with_root(walk(3.0, speed=1.0))
    assert set(label_actions(stand)) == {ACTIONS.index("stand")}
    assert set(label_actions(stroll)) == {ACTIONS.index("walk")}
    half_turn = np.tile([0.0, 0.0, np.pi], (len(stroll), 1))
    assert "back" not in measured_tags(stroll)
    assert "back" in measured_tags(stroll.moved(half_turn))
    assert "side" in measured_tags(stroll.moved(0.5 * half_turn))
    assert "turn" in measured_tags(with_root(walk(4.0, turning=0.5)))


def test_running_is_what_flies() -> None:
    clip = with_root(walk(4.0, speed=1.8))
    phase = np.arange(len(clip)) // 12 % 4
    contacts = np.stack([phase == 0, phase == 2], axis=-1)
    # Feet far from the ground, so that only the given contacts count.
    flying = replace(clip, contacts=contacts, hips=clip.hips + np.array([0.0, 0.0, 0.5]))
    assert (label_actions(flying) == ACTIONS.index("run")).mean() > 0.9
    walking = replace(flying, contacts=np.stack([phase != 0, phase != 2], axis=-1))
    assert not (label_actions(walking) == ACTIONS.index("run")).any()


def test_a_glitch_is_found_where_it_is() -> None:
    clip = walk(4.0)
    rotations = np.array(clip.rotations)
    joint = clip.skeleton.index("left_elbow")
    rotations[100, joint] = rot.mul(rotations[100, joint], rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), 1.5))
    found = find_glitches(replace(clip, rotations=rotations))
    assert [abs(frame - 100) <= 1 for frame, _ in found] == [True]
    assert found[0][1] == "LeftHand"
    assert find_glitches(clip) == ()


def test_the_table_adds_up() -> None:
    dataset = prepare([Take(walk(6.0), "a"), Take(walk(4.0, speed=0.0), "b", held_out=True)])
    table = describe(dataset)
    assert "2 clips" in table and "1 held out" in table
    minutes = [float(line.split()[1]) for line in table.splitlines() if line.startswith(("stand ", "walk ", "run "))]
    assert sum(minutes) == pytest.approx(dataset.seconds / 60, abs=0.02)


def test_a_walk_over_a_hill_is_told_for_its_feet_miss_the_level_floor() -> None:
    flat = walk(6.0)
    hips = np.array(flat.hips)
    hips[:, 2] += 0.8 * np.sin(np.linspace(0.0, np.pi, len(flat)))
    assert prepare([Take(flat, level="height")]).sources[0].defects == ()
    told = describe(prepare([Take(replace(flat, hips=hips), level="height")]))
    assert "level ground" in told and "1 clip, " in told


def test_nothing_to_do_and_too_short_takes_are_refused() -> None:
    with pytest.raises(DatasetError, match="no motion to ingest"):
        prepare([])
    with pytest.raises(DatasetError, match="motion left"):
        prepare([Take(walk(0.2))])
    with pytest.raises(DatasetError, match="Unknown levelling"):
        prepare([Take(walk(1.0), level="askew")])
