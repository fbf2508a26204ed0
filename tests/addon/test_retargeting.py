"""Actions carried from one armature to another: where they go, how feet stand, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from blender_addon import retargeting
from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import Cancelled, ClipError, RigError
from blender_addon.motion.retarget import posed_rest
from blender_addon.motion.skeleton import Skeleton
from blender_addon.motion.terrain import FlatGround, HeightField
from blender_addon.retargeting import RetargetSettings
from tests.addon.movers import animate, joints, set_fps
from tests.addon.movers import steady_walk as walk
from tests.addon.rig_makers import armature_of, empty_scene
from tests.synthetic import biped

RAW = RetargetSettings(plant=False, level="none")
TOES = ("LeftToes", "RightToes")
#: How near the hips must be, metres: planting a made-up walk, whose feet slide, lowers them by some centimetres.
NEAR = np.array([0.03, 0.03, 0.05])


@pytest.fixture(autouse=True)
def scene():
    empty_scene()
    set_fps(30)


def sized(factor: float) -> Skeleton:
    skeleton = biped()
    return replace(skeleton, offsets=skeleton.offsets * factor, tails=skeleton.tails * factor,
                   ball_height=skeleton.ball_height * factor)  # fmt: skip


def a_posed(skeleton: Skeleton, angle: float = 0.8) -> Skeleton:
    rotations = np.array(skeleton.rest_rotations)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joint = skeleton.index(f"{side}_shoulder")
        rotations[joint] = rot.mul(rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), sign * angle), rotations[joint])
    return posed_rest(skeleton, rotations)


def walker(name: str = "Source", seconds: float = 3.0, **options) -> bpy.types.Object:
    ob = armature_of(biped(), name)
    animate(ob, walk(seconds, 1.0, fps=30.0, **options))
    return ob


def stands(done: retargeting.Done) -> list[tuple[int, int, int]]:
    """(foot, first, last) of each contact of more than four frames, frames of the scene."""
    found, contacts = [], done.solved.keys.contacts
    for side in (0, 1):
        down = np.concatenate([[False], contacts[:, side], [False]]).astype(int)
        for first, end in zip(np.flatnonzero(np.diff(down) > 0), np.flatnonzero(np.diff(down) < 0), strict=True):
            if end - first > 4:
                found.append((side, int(first) + done.written.frame_start, int(end) - 1 + done.written.frame_start))
    return found


def test_a_taller_character_takes_longer_steps_and_stands_on_its_feet() -> None:
    source, target = walker(), armature_of(sized(1.3), "Target", root=True)
    (done,) = retargeting.retarget_actions(source, target)
    frames = range(done.written.frame_start, done.written.frame_end + 1)
    assert list(frames) == list(range(1, 92))
    hips = {ob.name: joints(ob, ["Hips"], [1, 91])[:, 0] for ob in (source, target)}
    assert np.allclose((hips["Target"][1] - hips["Target"][0])[:2], 1.3 * (hips["Source"][1] - hips["Source"][0])[:2],
                       atol=0.02)  # fmt: skip
    places = joints(target, TOES, frames)
    spans = stands(done)
    assert len(spans) >= 4
    for side, first, last in spans:
        still = places[first - 1 : last, side]
        assert np.linalg.norm(np.ptp(still[:, :2], axis=0)) < 0.003 * 1.3
        assert np.abs(still[:, 2].min() - 0.025 * 1.3) < 0.02
    assert done.report["bake_error"].mark == "good" and done.report["slide_leg"].mark == "good"


def test_there_and_back_again_the_joints_are_where_they_were() -> None:
    source, other = walker(turning=0.4), armature_of(a_posed(biped()), "Other", root=True)
    back = armature_of(biped(), "Back")
    retargeting.retarget_actions(source, other, settings=RAW)
    retargeting.retarget_actions(other, back, settings=RAW)
    names, frames = biped().names, range(1, 92, 10)
    away = np.linalg.norm(joints(source, names, frames) - joints(back, names, frames), axis=-1)
    assert away.max() < 0.01, f"{away.max():.4f} m, {names[away.max(axis=0).argmax()]}"


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_scale_and_orientation_of_the_object_do_not_matter(scale: float) -> None:
    source = walker()
    plain = armature_of(biped(), "Plain")
    turned = armature_of(biped(), "Turned", unit=scale)
    turned.scale = (scale,) * 3
    retargeting.retarget_actions(source, plain)
    (done,) = retargeting.retarget_actions(source, turned)
    frames = (1, 30, 91)
    assert np.allclose(joints(plain, biped().names, frames), joints(turned, biped().names, frames), atol=1e-4)
    assert done.report["bake_error"].value < 1e-5 * 1.7


def test_the_character_begins_where_it_stands_or_where_the_source_begins() -> None:
    source = walker()
    source.location, source.rotation_euler = (2, 1, 0), (0, 0, 0.3)
    target = armature_of(biped(), "Target")
    target.location, target.rotation_euler = (-1, 4, 0.5), (0, 0, 1.4)
    bpy.context.view_layer.update()
    turned = np.array(target.matrix_world @ source.matrix_world.inverted())
    theirs = joints(source, ["Hips"], (1, 91))[:, 0]
    retargeting.retarget_actions(source, target)
    ours = joints(target, ["Hips"], (1, 91))[:, 0]
    assert np.all(np.abs(ours - theirs @ turned[:3, :3].T - turned[:3, 3]) < NEAR)
    retargeting.retarget_actions(source, target, settings=RetargetSettings(at_source=True))
    assert np.all(np.abs(joints(target, ["Hips"], (1, 91))[:, 0] - theirs) < NEAR)


def test_feet_stand_on_the_ground_that_is_given() -> None:
    slope = HeightField.from_function(lambda xy: -0.15 * xy[..., 1], (-3, -6, 3, 3), 0.05)
    source, target = walker(), armature_of(biped(), "Target")
    (done,) = retargeting.retarget_actions(source, target, ground=slope)
    for side, first, last in stands(done):
        place = joints(target, [TOES[side]], [(first + last) // 2])[0, 0]
        # The joint stands 25 mm over the ground, measured across it.
        over = (place[2] + 0.15 * place[1]) / np.hypot(1.0, 0.15)
        assert abs(over - 0.025) < 0.012
    assert done.report["penetration_leg"].value < 5.0 and done.report["float_leg"].value < 10.0


def test_a_walk_on_the_spot_stays_there_and_its_feet_run_evenly() -> None:
    source = armature_of(biped(), "Source")
    clip = walk(3.0, 1.0, fps=30.0)
    root = np.array(clip.root)
    root[:, :2] = 0.0
    animate(source, clip.moved(root - clip.root))
    target = armature_of(biped(), "Target")
    (done,) = retargeting.retarget_actions(source, target)
    assert done.solved.source.ready.on_the_spot and any("on the spot" in note for note in done.report.notes)
    frames = range(1, 92)
    hips = joints(target, ["Hips"], frames)[:, 0]
    assert np.ptp(hips[:, :2], axis=0).max() < 0.1
    places = joints(target, TOES, frames)
    drift = done.solved.source.ready.drift
    spans = [span for span in stands(done) if span[2] - span[1] > 4]
    assert len(spans) >= 4 and np.linalg.norm(drift) == pytest.approx(1.0, abs=0.3)
    for side, first, last in spans:
        steps = np.diff(places[first - 1 : last, side, :2], axis=0)
        assert np.allclose(steps, -drift / 30.0, atol=0.002)


def test_a_source_at_another_rate_keeps_its_speed() -> None:
    source = armature_of(biped(), "Source")
    animate(source, walk(3.0, 1.0, fps=60.0))
    set_fps(23.976)
    target = armature_of(biped(), "Target")
    (done,) = retargeting.retarget_actions(source, target, settings=RetargetSettings(source_fps=60.0))
    count = done.written.frame_end - done.written.frame_start + 1
    assert count == int(3.0 * 23.976) + 1
    hips = joints(target, ["Hips"], (done.written.frame_start, done.written.frame_end))[:, 0]
    seconds = (count - 1) / 23.976
    assert np.linalg.norm((hips[1] - hips[0])[:2]) == pytest.approx(seconds, rel=0.03)


def test_several_actions_become_one_new_action_each() -> None:
    source = walker()
    animate(source, walk(2.0, 0.5, fps=30.0), "Stroll", frame_start=11)
    actions = [bpy.data.actions["Walk"], bpy.data.actions["Stroll"]]
    target = armature_of(biped(), "Target")
    done = retargeting.retarget_actions(source, target, actions)
    assert [one.written.action for one in done] == ["Walk Target", "Stroll Target"]
    assert target.animation_data.action.name == "Walk Target" and source.animation_data.action.name == "Stroll"
    assert done[1].written.frame_start == 11 and bpy.data.actions["Stroll Target"].use_fake_user
    target.animation_data.action = bpy.data.actions["Stroll Target"]
    if hasattr(target.animation_data, "action_slot"):
        target.animation_data.action_slot = bpy.data.actions["Stroll Target"].slots[0]
    hips = joints(target, ["Hips"], (11, 71))[:, 0]
    assert 0.7 < np.linalg.norm(hips[1] - hips[0]) < 1.3


def test_nothing_stays_when_the_last_of_several_cannot_be_written() -> None:
    source = walker()
    animate(source, walk(2.0, 0.5, fps=30.0), "Stroll")
    target = armature_of(biped(), "Target")
    animate(target, walk(1.0, 0.0, fps=30.0), "Stand")
    before = set(bpy.data.actions.keys())
    found = retargeting.read(source, target, [bpy.data.actions["Walk"], bpy.data.actions["Stroll"]])
    first, second = retargeting.solve(found)
    with pytest.raises(RigError):
        retargeting.write(found, (replace(first, channels=()), second), target)
    assert set(bpy.data.actions.keys()) == before and target.animation_data.action.name == "Stand"
    assert joints(target, ["Hips"], [5]).shape == (1, 1, 3)


def test_it_can_be_cancelled_at_any_report() -> None:
    found = retargeting.read(walker(), armature_of(biped(), "Target"))
    shares: list[float] = []

    def stop(share: float, _stage: str) -> bool:
        shares.append(share)
        return len(shares) < 3

    before = len(bpy.data.actions)
    with pytest.raises(Cancelled):
        retargeting.solve(found, stop)
    assert len(shares) == 3 and len(bpy.data.actions) == before


def test_reading_goes_in_pieces_and_reads_the_same() -> None:
    source, target = walker(seconds=8.0), armature_of(biped(), "Target")
    shares = [share for share, _ in retargeting.reading(source, target, ())]
    assert len(shares) >= 4 and shares == sorted(shares) and shares[-1] == 1.0
    found = retargeting.read(source, target, settings=RAW)
    clip = found.sources[0].ready.clip
    assert len(clip) == 481
    toe = joints(source, ["LeftToes"], [61])[0, 0]
    assert np.allclose(clip.world[0][120, clip.skeleton.index("left_toe"), :2], toe[:2], atol=1e-3)


def other_rig() -> bpy.types.Object:
    ob = armature_of(biped(), "Other")
    for bone in ob.data.bones:
        bone.name = f"strange_{bone.name}" if bone.name != "Hips" else bone.name
    return ob


def test_what_cannot_be_retargeted_is_refused_and_nothing_changes() -> None:
    source, target = walker(), armature_of(biped(), "Target")
    walk_action = bpy.data.actions["Walk"]
    before = set(bpy.data.actions.keys())
    with pytest.raises(RigError, match="both 'Source'"):
        retargeting.read(source, source)
    with pytest.raises(RigError, match="no source"):
        retargeting.read(None, target)
    with pytest.raises(ClipError, match="has no action"):
        retargeting.read(armature_of(biped(), "Still"), target)
    with pytest.raises(ClipError, match="of the 20 bones it moves, 'Other' has 1"):
        retargeting.read(other_rig(), target, [walk_action])
    target.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    with pytest.raises(RigError, match="unevenly"):
        retargeting.read(source, target)
    assert set(bpy.data.actions.keys()) == before and target.animation_data is None


def test_an_unplanted_action_keeps_its_height() -> None:
    source = walker()
    source.location.z = 0.4
    target = armature_of(biped(), "Target")
    bpy.context.view_layer.update()
    settings = RetargetSettings(plant=False, at_source=True, level="height")
    retargeting.retarget_actions(source, target, ground=FlatGround(), settings=settings)
    assert np.allclose(joints(target, ["Hips"], [1, 45]), joints(source, ["Hips"], [1, 45]), atol=0.02)
