"""Animals through the whole flow: bakes by the gait model, packs of other legs, clips read back, retargeting."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from blender_addon import __main__ as command
from blender_addon import library, retargeting
from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve, write
from blender_addon.gait_entry import AnyAnimal, fox
from blender_addon.motion import animal as anatomy
from blender_addon.motion.errors import PackError, RigError
from blender_addon.motion.key_reduction import Tolerance
from blender_addon.motion.limits import Limits
from blender_addon.motion.schedule import Schedule
from blender_addon.motion.terrain import FlatGround
from blender_addon.scene import setup, unbake
from blender_addon.scene.character import create_character
from blender_addon.scene.importers import ImportOptions
from blender_addon.scene.ingest import ingest_files
from blender_addon.scene.shot import read_shot
from tests.addon.bakers import make_pack, system_of
from tests.addon.rig_makers import armature_of, empty_scene, poly_curve
from tests.animals import animal
from tests.synthetic import biped
from tools import rig_truths

BRISK = Limits.responsive(0.5, four_legged=True)


@pytest.fixture(autouse=True)
def scene():
    empty_scene()
    setup.set_fps(bpy.context.scene, 60.0)


def walked(ob, gait="walk", speed=1.0, length=3.0, **options):
    """Bake by the gait model, straight on."""
    shot = read_shot(ob, poly_curve([(0, 0, 0), (0, -length, 0)]), FlatGround(), **options)
    settings = BakeSettings(Schedule.constant(speed, gait), BRISK, markers=True, lifts=True, fit_scene=True)
    return write(solve(shot, AnyAnimal(), settings), ob)


def heads(ob, bone: str, frames) -> np.ndarray:
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        pose = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.array(pose.matrix_world @ pose.pose.bones[bone].head))
    return np.array(found)


def test_the_gait_model_moves_a_rig_of_its_own_and_its_feet_stand_as_blender_shows_them() -> None:
    ob = create_character(fox(), "Fox")
    baked = walked(ob)
    figures = {figure.key: figure.value for figure in baked.report.figures}
    assert figures["bake_error"] < 1e-5 and figures["slide_max"] < 3.0
    assert baked.solved.clip.skeleton is baked.solved.followed.skeleton, "nothing is retargeted"
    contacts, first = baked.solved.keys.contacts, baked.written.frame_start
    for column, leg in enumerate(anatomy.LEGS):
        down = np.flatnonzero(contacts[:, column])
        stance = next(run for run in np.split(down, np.flatnonzero(np.diff(down) > 1) + 1) if 10 < len(run) < 60)
        toe = baked.solved.shot.rig.skeleton.feet[column].toe
        places = heads(ob, baked.solved.shot.rig.skeleton.names[toe], first + stance)
        assert np.ptp(places[:, :2], axis=0).max() < 2e-3, leg
    places = heads(ob, "Root", [baked.written.frame_end])
    assert np.allclose(places[0], [0, -3, 0], atol=1e-3)


def test_landings_of_four_feet_are_marked_and_marked_anew() -> None:
    ob = create_character(fox(), "Fox")
    baked = walked(ob)
    marks = {mark.name for mark in bpy.data.actions[baked.written.action].pose_markers}
    assert marks == {f"{leg}{words}" for leg in ("LH", "RH", "LF", "RF") for words in ("", " lifts")}
    contacts = baked.solved.keys.contacts
    landed = 1 + np.flatnonzero(~contacts[:-1, 1] & contacts[1:, 1])
    frames = sorted(
        mark.frame for mark in bpy.data.actions[baked.written.action].pose_markers if mark.name == "RH"
    )
    assert frames[-len(landed):] == (baked.written.frame_start + landed).tolist()


@pytest.mark.parametrize("motion", ["object", "in place", "hips"])
def test_animals_travel_by_what_was_chosen(motion: str) -> None:
    ob = create_character(fox(), "Fox")
    baked = walked(ob, root_motion=motion)
    figures = {figure.key: figure.value for figure in baked.report.figures}
    assert figures["bake_error"] < 1e-5
    way = heads(ob, "Hips", [baked.written.frame_start, baked.written.frame_end])
    assert abs(np.diff(way[:, 1])[0] + (0.0 if motion == "in place" else 3.0)) < 0.1
    moved = np.diff(heads(ob, "Root", [baked.written.frame_start, baked.written.frame_end])[:, 1])[0]
    assert abs(moved + (3.0 if motion == "object" else 0.0)) < 1e-3


def test_packs_of_other_legs_are_refused_with_what_to_choose(tmp_path_factory) -> None:
    pack, system = system_of(make_pack(tmp_path_factory.mktemp("pack")))
    shot = read_shot(create_character(fox(), "Fox"), poly_curve([(0, 0, 0), (0, -3, 0)]))
    with pytest.raises(PackError, match="This pack walks on two legs, and 'Fox' has four") as caught:
        solve(shot, system, speeds=pack.speeds)
    assert "Gait model" in caught.value.remedy
    person = read_shot(armature_of(biped(), "Held"), poly_curve([(0, 0, 0), (0, -3, 0)]))
    with pytest.raises(RigError, match="two legs") as caught:
        solve(person, AnyAnimal())
    assert caught.value.remedy


def test_the_gait_model_stands_in_the_list_without_files() -> None:
    pack = library.find(library.GAIT_MODEL)
    assert pack is not None and pack.legs == 4 and pack.shipped and not pack.problem
    assert pack.label == "Gait model (no pack)" and "gallop" in pack.actions and pack.systems == ("gait",)
    system, info = library.load(pack)
    assert isinstance(system, AnyAnimal) and info.skeleton.four_legged
    with pytest.raises(PackError, match="comes with the add-on"):
        library.remove(pack.id)
    # A horse twice as high as a fox is faster.
    assert AnyAnimal.speeds(animal("horse"))[1] > 1.3 * AnyAnimal.speeds(fox())[1]


def test_a_shot_file_bakes_an_animal_by_the_gait_model(shared_data, tmp_path: Path) -> None:
    rig = tmp_path / "räv.glb"
    rig.write_bytes((shared_data / "rigs/fox-dog.glb").read_bytes())
    shot = tmp_path / "shot.toml"
    shot.write_text(
        'pack = "gait-model"\nrig = "räv.glb"\nfps = 24\n[curve]\npoints = [[0, 0], [0, -4]]\n'
        '[[schedule]]\nspeed = 2.4\naction = "trot"\n[output]\nmarkers = true\n', encoding="utf-8",
    )  # fmt: skip
    out, told = tmp_path / "out.blend", tmp_path / "out.json"
    assert command.main(["bake", str(shot), "--out", str(out), "--report", str(told)]) == 0
    report = json.loads(told.read_text("utf-8"))
    assert set(report["contacts"]) == {f"{leg}_foot" for leg in anatomy.LEGS}
    assert report["bones"]["left_hock"] == "Back_Leg_Ankle_L" and report["pack"]["system"] == "gait"
    assert {row["key"]: row["mark"] for row in report["figures"]}["slide_max"] == "good"
    bpy.ops.wm.open_mainfile(filepath=str(out))
    ob = bpy.data.objects[report["armature"]]
    toe = report["bones"]["left_hind_hoof"]
    for first, last in report["contacts"]["left_hind_foot"]:
        if last - first > 2:
            assert np.ptp(heads(ob, toe, range(first + 1, last))[:, :2], axis=0).max() < 3e-3


def test_captured_animals_come_in_as_bvh(tmp_path: Path) -> None:
    """A walk written as BVH, as capture is shared, is read as four legs that stand when they stood."""
    ob = create_character(fox(), "Fox", with_body=False)
    baked = walked(ob)
    bpy.context.view_layer.objects.active = ob
    path = tmp_path / "hund.bvh"
    bpy.ops.export_anim.bvh(
        filepath=str(path), frame_start=baked.written.frame_start, frame_end=baked.written.frame_end,
        global_scale=100.0, rotate_mode="NATIVE",
    )
    found = ingest_files([path], ImportOptions(forward="-Y", up="Z"))
    clip = found.clips[0]
    assert found.skeleton.four_legged and clip.contacts.shape[1] == 4
    assert np.isclose(found.skeleton.leg_length, fox().leg_length, rtol=0.05)
    meant = baked.solved.keys.resampled(60.0).contacts
    count = min(len(meant), len(clip))
    assert (clip.contacts[30 : count - 30] == meant[30 : count - 30]).mean() > 0.85


def _action(name: str) -> bpy.types.Action:
    """An imported action; Blender 4.2 adds the armature's name to it."""
    return next(action for action in bpy.data.actions if action.name.split("_Armature")[0] == name)


def test_one_data_set_has_one_kind_of_body(shared_data) -> None:
    files = [shared_data / "samples/tiling_run_straight.bvh", shared_data / "quadruped/khronos_fox.glb"]
    with pytest.raises(RigError, match="legged"):
        ingest_files(files)


def test_an_animals_action_is_carried_over_to_another_animal(shared_data) -> None:
    source = rig_truths.open_file(shared_data / "quadruped/fox-animations.glb")
    setup.set_fps(bpy.context.scene, 60.0)
    ob = create_character(animal("horse"), "Horse")
    done = retargeting.retarget_actions(source, ob, [_action("Walk")])[0]
    figures = {figure.key: figure.value for figure in done.report.figures}
    assert figures["bake_error"] < 2e-5 and figures["slide_leg"] < 3.0
    assert done.solved.keys.contacts.shape[1] == 4
    person = armature_of(biped(), "Held")
    with pytest.raises(RigError, match="four-legged"):
        retargeting.retarget_actions(source, person, [_action("Walk")])


def test_a_tiny_animals_quick_steps_stay_apart() -> None:
    """A kitten swings its feet in 0.08 s: bridged, two stands would become one between the two."""
    ob = create_character(fox(), "Kitten")
    ob.scale = (0.2,) * 3
    baked = walked(ob, speed=0.45, length=1.5)
    followed, made = (clip.contacts for clip in (baked.solved.followed, baked.solved.clip))
    steps = [int((~contacts[:-1] & contacts[1:]).sum()) for contacts in (followed, made)]
    assert steps[0] == steps[1] > 20
    figures = {figure.key: figure.value for figure in baked.report.figures}
    assert figures["slide_max"] < 0.5


def test_fewer_keys_hold_the_standing_paws_and_unbaking_gives_the_switches_back() -> None:
    ob = rig_truths.open_rigify("wolf", True)
    setup.set_fps(bpy.context.scene, 60.0)
    tail = ob.pose.bones["spine.002"].constraints["Copy Rotation"]
    before = tail.influence, ob.pose.bones["thigh_parent.L"]["IK_FK"]
    shot = read_shot(ob, poly_curve([(0, 0, 0), (0, -3, 0)]), FlatGround())
    settings = BakeSettings(Schedule.constant(1.0, "walk"), BRISK, tolerance=Tolerance())
    baked = write(solve(shot, AnyAnimal(), settings), ob)
    assert "% of the keys kept" in baked.notes[0] and int(baked.notes[0].split("%")[0]) <= 15
    bpy.context.scene.frame_set(baked.written.frame_start)
    assert tail.influence == 0.0 and ob.pose.bones["thigh_parent.L"]["IK_FK"] == 1.0
    unbake.unbake(ob)
    assert (tail.influence, ob.pose.bones["thigh_parent.L"]["IK_FK"]) == before


@pytest.mark.parametrize(("gait", "speed", "said"), [("gallop", 0.4, "it goes in walk"), ("walk", 1.2, "")])
def test_gaits_asked_for_beyond_their_speeds_are_said(gait: str, speed: float, said: str) -> None:
    notes = walked(create_character(fox(), "Fox"), gait, speed, length=1.5).solved.notes
    assert any(said in note for note in notes) if said else not any("is made at" in note for note in notes)
