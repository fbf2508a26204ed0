"""The IK controls of Rigify's generated animals against the FK motion they stand for, through Blender's own solver."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from blender_addon.motion import animal as anatomy
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.errors import RigError
from blender_addon.motion.key_reduction import Tolerance
from blender_addon.motion.runs import runs
from blender_addon.scene import actions, compat, unbake
from blender_addon.scene.channels import channels_of
from blender_addon.scene.layering import Layer
from blender_addon.scene.paw_chains import PlainHeel
from blender_addon.scene.reduction import reduce_channels
from blender_addon.scene.rigify_ik import with_ik
from blender_addon.scene.rigs import keep_map, read_rig
from tests.addon.rig_makers import empty_scene
from tools import rig_truths

ANIMALS = ("wolf", "cat", "horse")
FRAMES = (1, 9, 17, 26, 33, 40)
#: What Blender's solver may leave, in shares of the leg.
SHARE = 2e-4


def rig_of(kind: str):
    empty_scene()
    ob = rig_truths.open_rigify(kind, True)
    ob.hide_set(False)
    ob.location, ob.rotation_euler = (1.0, 0.5, 0.0), (0.0, 0.0, 0.7)
    return ob


def strides(skeleton, frames: int = 41, fps: float = 30.0, bend: float = 0.45, twist: float = 0.0) -> Clip:
    """Legs that swing and fold, each in its own time, under a body that goes and turns: by FK alone."""
    t = np.arange(frames) / fps
    rotations = np.tile(skeleton.rest_rotations, (frames, 1, 1))
    root = np.stack([0.3 * np.sin(t), -0.8 * t, 0.4 * t], axis=1)
    rotations[:, 0] = rot.mul(rot.from_yaw(root[:, 2]), rotations[:, 0])
    across = np.array([1.0, 0.0, 0.0])
    places, rest = skeleton.rest_world
    for number, foot in enumerate(skeleton.feet):
        for place, joint in enumerate(foot.chain):
            wave = np.sin(2.0 * np.pi * (1.5 * t + 0.25 * number) + 1.1 * place)
            if place == 1:
                # Knees and elbows fold further, and do not straighten.
                thigh, shin = (places[b] - places[a] for a, b in zip(foot.chain[:2], foot.chain[1:3], strict=True))
                wave = (0.6 + 0.5 * wave) * np.sign(np.cross(thigh, shin)[0])
            turn = bend * wave[:, None] * across + twist * wave[:, None] * np.array([0.0, 0.3, 1.0])
            local = rot.exp(rot.inv_rotate(rest[joint], turn))
            rotations[:, joint] = rot.mul(skeleton.rest_rotations[joint], local)
    for role in ("neck", "head", "tail_1", "spine_2"):
        joint = skeleton.index(role)
        rotations[:, joint] = rot.mul(rotations[:, joint], rot.exp(0.2 * np.sin(3.0 * t)[:, None] * [1.0, 0.4, 0.7]))
    hips = skeleton.rest_world[0][0] + np.concatenate([root[:, :2], 0.02 * np.sin(9.0 * t)[:, None]], axis=1)
    return Clip(skeleton, fps, hips, rot.unroll(rotations), root, np.zeros((frames, 4), bool))


def bake(ob, both=False, motion="bone", **made):
    rig, ik = with_ik(ob, read_rig(ob), both)
    clip = strides(rig.skeleton, **made)
    base = actions.object_base(ob) if motion == "object" else None
    channels = channels_of(rig, clip, motion, base=base, ik=ik)
    actions.write(ob, rig, channels, name="Stride")
    return rig, ik, clip, channels


def curves(ob):
    return compat.curve_store(ob, ob.animation_data.action).fcurves


def at(ob, bones, frame):
    bpy.context.scene.frame_set(frame)
    return actions.evaluated(ob, bones)


@pytest.mark.parametrize("kind", ANIMALS)
def test_paws_heels_and_joints_are_where_the_fk_motion_has_them(kind: str) -> None:
    ob = rig_of(kind)
    rig, ik, clip, _ = bake(ob)
    error = actions.measure(ob, rig, clip, 1, samples=41, loose=ik.loose)
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.05, error


@pytest.mark.parametrize("motion", ["object", "in place", "hips"])
def test_however_travel_is_carried_paws_are_where_they_belong(motion: str) -> None:
    ob = rig_of("wolf")
    rig, ik, clip, _ = bake(ob, motion=motion)
    error = actions.measure(ob, rig, clip, 1, motion=motion, samples=12, loose=ik.loose)
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.05, error


@pytest.mark.parametrize("variant", ["small", "axes turned", "parented"])
def test_however_the_rig_lies_paws_are_where_they_belong(variant: str) -> None:
    ob = rig_of("wolf")
    if variant == "small":
        ob.scale = (0.2, 0.2, 0.2)
    else:
        rig_truths.vary(ob, variant)
    rig, ik, clip, _ = bake(ob)
    error = actions.measure(ob, rig, clip, 1, samples=12, loose=ik.loose)
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.05, error


@pytest.mark.parametrize("kind", ANIMALS)
def test_legs_that_twist_keep_their_places_and_lose_the_twist(kind: str) -> None:
    ob = rig_of(kind)
    rig, ik, clip, _ = bake(ob, twist=0.25)
    error = actions.measure(ob, rig, clip, 1, samples=41, loose=ik.loose)
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.1, error
    assert actions.measure(ob, rig, clip, 1, samples=12).degrees > 1.0


@pytest.mark.parametrize("kind", ANIMALS)
def test_hidden_chains_turn_as_blenders_solver_turns_them(kind: str) -> None:
    """What carries the heels' controls, as Blender shows it: folded legs are where the solver's way there counts."""
    ob = rig_of(kind)
    rig, ik, clip, _ = bake(ob, bend=0.6, twist=0.2)
    turn, place = rig.rotation, rig.place
    positions, world = clip.world
    away = rot.mul(rot.inv_mul(turn, world), rot.inv(rig.joints[0][: len(rig.skeleton)]))
    shift = rot.inv_rotate(turn, positions - place) - rot.rotate(away, rig.joints[1][: len(rig.skeleton)])
    moves = [(away[:, joint], shift[:, joint]) for joint in range(len(rig.skeleton))]
    for limb in ik.limbs:
        made = limb.moves(rig, moves, clip.contacts[:, 0], clip.fps)[0][limb.frame]
        carrier = ob.data.bones[limb.controls[-1]].parent
        rest = rot.from_matrix(np.array(carrier.matrix_local)[:3, :3])
        for frame in FRAMES:
            _, found = at(ob, [carrier.name], frame)
            wanted = rot.mul(turn, rot.mul(made[0][frame - 1], rest))
            assert np.degrees(rot.angle_between(found[0], wanted)) < 0.05, (carrier.name, frame)


@pytest.mark.parametrize("kind", ANIMALS)
def test_the_ik_rules_and_only_its_controls_are_keyed(kind: str) -> None:
    ob = rig_of(kind)
    _, ik, _, channels = bake(ob)
    names = {channel.bone for channel in channels}
    assert len(ik.limbs) == 4 and set(ik.names) <= names and "torso" in names
    assert not any("_fk." in name and "spine" not in name for name in names) and not names & set(ik.fk)
    bpy.context.scene.frame_set(20)
    for name in [bone.name for bone in ob.pose.bones if "IK_FK" in bone]:
        switches = ob.pose.bones[name]
        assert switches["IK_FK"] == 0.0 and switches["IK_Stretch"] == 0.0 and switches["pole_vector"]
    chains = [bone for bone in ob.pose.bones if any(c.type == "IK" and c.chain_count == 2 for c in bone.constraints)]
    assert len(chains) == 10
    assert all(part.ik_stretch == 0.0 for bone in chains for part in (bone, bone.parent))
    toes = [name for name in ik.fk if not name.endswith(("_fk.L", "_fk.R"))]
    assert len(toes) == 4 and all(np.allclose(ob.pose.bones[name].matrix_basis, np.eye(4)) for name in toes)


@pytest.mark.parametrize("kind", ANIMALS)
def test_with_both_the_switch_can_be_turned_without_a_jump(kind: str) -> None:
    ob = rig_of(kind)
    rig, ik, clip, _ = bake(ob, both=True)
    loose = set(ik.loose)
    bones = [name for joint, name in enumerate(rig.probes) if joint not in loose]
    by_ik = [at(ob, bones, frame) for frame in FRAMES]
    for curve in curves(ob):
        if curve.data_path.endswith('["IK_FK"]'):
            curve.keyframe_points[0].co[1] = 1.0
            curve.update()
    by_fk = [at(ob, bones, frame) for frame in FRAMES]
    for one, other in zip(by_ik, by_fk, strict=True):
        assert np.abs(one[0] - other[0]).max() < SHARE * max(rig.skeleton.leg_length, 0.4)
        assert np.degrees(rot.angle_between(one[1], other[1])).max() < 0.05
    error = actions.measure(ob, rig, clip, 1, samples=12)
    assert error.metres < 4e-5 and error.degrees < 1e-2, error


@pytest.mark.parametrize("kind", ANIMALS)
def test_an_animator_can_move_one_paw_and_the_others_stay(kind: str) -> None:
    ob = rig_of(kind)
    rig, ik, _, _ = bake(ob, bend=0.2)
    paws = [rig.skeleton.names[foot.toe] for foot in rig.skeleton.feet]
    before = at(ob, paws, 20)[0]
    lift = 0.05 * rig.skeleton.leg_length
    for point in curves(ob).find(f'pose.bones["{ik.limbs[2].controls[1]}"].location', index=2).keyframe_points:
        point.co[1] += lift
    curves(ob).find(f'pose.bones["{ik.limbs[2].controls[1]}"].location', index=2).update()
    moved = at(ob, paws, 20)[0] - before
    assert np.allclose(moved[2], [0.0, 0.0, lift], atol=1e-4)
    assert np.abs(moved[[0, 1, 3]]).max() < 1e-6


@pytest.mark.parametrize("kind", ["wolf", "horse"])
def test_standing_paws_have_keys_that_stand(kind: str) -> None:
    """By the gait model: from landing until the heel lifts, the control of a paw does not move at all."""
    from blender_addon.bake_settings import BakeSettings
    from blender_addon.baking import bake_errors, solve
    from blender_addon.gait_entry import AnyAnimal
    from blender_addon.motion.limits import Limits
    from blender_addon.motion.schedule import Schedule
    from blender_addon.motion.terrain import FlatGround
    from blender_addon.scene.shot import read_shot
    from tests.addon.rig_makers import poly_curve

    ob = rig_of(kind)
    shot = read_shot(ob, poly_curve([(0, 0, 0), (0, -4, 0)]), FlatGround(), controls="ik")
    brisk = Limits.responsive(0.5, four_legged=True)
    solved = solve(shot, AnyAnimal(), BakeSettings(Schedule.constant(1.0, "walk"), brisk))
    length = shot.rig.skeleton.leg_length
    values = {(channel.bone, channel.path): channel.values for channel in solved.channels}
    assert shot.ik is not None
    for column, limb in enumerate(shot.ik.limbs):
        places = values[limb.controls[1], "location"]
        for begin, end in runs(solved.keys.contacts[:, column])[1:-1]:
            middle = places[begin + (end - begin) // 4 : end - (end - begin) // 3]
            assert np.ptp(middle, axis=0).max() < 0.004 * length, (limb.controls[1], begin)
    actions.write(ob, shot.rig, solved.channels, name="Walk")
    error = actions.measure(ob, shot.rig, solved.keys, 1, samples=30, loose=shot.ik.loose)
    assert [figure.mark for figure in bake_errors(error, solved.keys, True, None)] == ["good", "good"], error
    # The model's knees are hinges, as the rig's are: nothing is lost about their length.
    assert actions.measure(ob, shot.rig, solved.keys, 1, samples=30).degrees < 0.2


@pytest.mark.parametrize("kind", ["wolf", "horse"])
@pytest.mark.parametrize("controls", ["ik", "both"])
def test_reduced_keys_hold_their_tolerance_in_blender(kind: str, controls: str) -> None:
    ob = rig_of(kind)
    rig, ik = with_ik(ob, read_rig(ob), controls == "both")
    clip = strides(rig.skeleton, frames=101, fps=60.0, bend=0.3)
    channels, found = reduce_channels(rig, channels_of(rig, clip, ik=ik), clip.contacts, Tolerance(), ik=ik)
    actions.write(ob, rig, channels, name=controls)
    error = actions.measure(ob, rig, clip, 1, samples=40, loose=ik.loose)
    assert error.metres <= 0.002 and error.degrees <= 0.5, error
    assert found.share() < 0.25 and not found.notes, (found.share(), found.notes)


def test_a_layer_by_ik_goes_over_a_bake_by_fk_and_is_taken_back() -> None:
    ob = rig_of("wolf")
    rig = read_rig(ob)
    actions.write(ob, rig, channels_of(rig, strides(rig.skeleton)), name="By FK")
    before = [at(ob, rig.probes, frame)[0] for frame in FRAMES]
    rig, ik = with_ik(ob, rig, both=True)
    clip = strides(rig.skeleton, bend=0.25)
    actions.write(ob, rig, channels_of(rig, clip, ik=ik), name="Layer", mode="layer", layer=Layer(10, 30, 3, 3))
    error = actions.measure(ob, rig, clip, 1, samples=9, loose=ik.loose, span=(13, 25))
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.1, error
    for frame, places in zip(FRAMES, before, strict=True):
        if not 10 <= frame <= 30:
            assert np.abs(at(ob, rig.probes, frame)[0] - places).max() < 1e-5, frame
    unbake.unbake(ob)
    for frame, places in zip(FRAMES, before, strict=True):
        assert np.abs(at(ob, rig.probes, frame)[0] - places).max() < 1e-6, frame


def test_taking_a_bake_back_leaves_the_rig_as_it_was() -> None:
    ob = rig_of("horse")
    bpy.context.view_layer.update()
    names = [bone.name for bone in ob.pose.bones]
    before = actions.evaluated(ob, names)
    switches = ("IK_FK", "IK_Stretch", "pole_vector", "IK_parent", "pole_parent")
    kept = {bone.name: {key: bone[key] for key in switches if key in bone} for bone in ob.pose.bones}
    assert sum(map(len, kept.values())) == 4 * len(switches)
    stretch = {bone.name: bone.ik_stretch for bone in ob.pose.bones}
    bake(ob, both=True)
    unbake.unbake(ob)
    bpy.context.view_layer.update()
    after = actions.evaluated(ob, names)
    assert np.abs(after[0] - before[0]).max() < 1e-6
    assert all(ob.pose.bones[name][key] == value for name, values in kept.items() for key, value in values.items())
    assert all(ob.pose.bones[name].ik_stretch == value for name, value in stretch.items())


def test_fk_over_both_leaves_nothing_of_what_carried_the_paws() -> None:
    ob = rig_of("wolf")
    bake(ob, both=True)
    rig = read_rig(ob)
    clip = strides(rig.skeleton, bend=0.3)
    actions.write(ob, rig, channels_of(rig, clip), name="By FK", mode="replace")
    error = actions.measure(ob, rig, clip, 1, samples=12)
    assert error.metres < 1e-5 and error.degrees < 1e-2, error


def test_locked_channels_are_left_alone_and_named() -> None:
    ob = rig_of("wolf")
    ob.pose.bones["foot_heel_ik.L"].lock_rotation = (True, True, True)
    ob.pose.bones["foot_heel_ik.L"].lock_rotations_4d = False
    rig, ik = with_ik(ob, read_rig(ob))
    written = actions.write(ob, rig, channels_of(rig, strides(rig.skeleton), ik=ik), name="Stride")
    assert any("foot_heel_ik.L rotation" in note for note in written.notes), written.notes
    keyed = {curve.data_path.split('"')[1] for curve in curves(ob)}
    assert "foot_heel_ik.L" not in keyed and {"foot_heel_ik.R", "front_foot_heel_ik.L"} <= keyed


def edit(ob, change) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_heels_that_hang_on_their_paws_turn_with_them() -> None:
    """As Rigify's plain paws are built: nothing turns by itself."""
    ob = rig_of("wolf")

    def plain(bones) -> None:
        for side in "LR":
            bones[f"foot_heel_ik.{side}"].parent = bones[f"foot_ik.{side}"]

    edit(ob, plain)
    rig, ik, clip, _ = bake(ob)
    assert [isinstance(limb.heel, PlainHeel) for limb in ik.limbs] == [True, True, False, False]
    error = actions.measure(ob, rig, clip, 1, samples=20, loose=ik.loose)
    assert error.metres < SHARE * rig.skeleton.leg_length and error.degrees < 0.05, error


def test_rigs_without_known_ik_are_refused_with_a_way_out() -> None:
    ob = rig_of("wolf")
    edit(ob, lambda bones: bones.remove(bones["front_foot_heel_ik.R"]))
    with pytest.raises(RigError, match="right fore leg of 'rig' lacks 'front_foot_heel_ik.R'") as caught:
        with_ik(ob, read_rig(ob))
    assert "FK" in caught.value.remedy
    ob = rig_of("wolf")
    ob.pose.bones["MCH-front_foot_track.L"].constraints[0].track_axis = "TRACK_X"
    with pytest.raises(RigError, match="not built as it is known here"):
        with_ik(ob, read_rig(ob))
    ob = rig_of("cat")
    bones = dict(read_rig(ob).bone_map.bones)
    del bones["left_hind_paw"]
    keep_map(ob, bones)
    with pytest.raises(RigError, match="left hind leg of 'rig' lacks a paw"):
        with_ik(ob, read_rig(ob))


def test_legs_are_in_the_order_of_feet() -> None:
    rig, ik = with_ik(rig_of("horse"), read_rig(bpy.data.objects["rig"]))
    assert [limb.start for limb in ik.limbs] == [foot.hip for foot in rig.skeleton.feet]
    assert [foot.side for foot in rig.skeleton.feet] == list(anatomy.LEGS)
    assert replace(ik, both=True).both and ik.extra == 8
