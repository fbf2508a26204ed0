"""``python -m blender_addon retarget``: files in, a .blend and a report out, or words and nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from blender_addon import __main__ as command
from tests.addon.movers import animate, joints, set_fps, steady_walk
from tests.addon.rig_makers import armature_of, empty_scene
from tests.synthetic import biped


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source as .blend, .bvh, .fbx and .glb, and a taller character with a ground as .blend and .glb."""
    folder = tmp_path_factory.mktemp("Motive für später")
    empty_scene()
    set_fps(30)
    source = armature_of(biped(), "Actor")
    animate(source, steady_walk(2.0, 0.5), "Stroll")
    animate(source, steady_walk(2.0, 1.0), "March")
    bpy.data.actions["Stroll"].use_fake_user = True
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 61
    source.select_set(True)
    bpy.ops.export_anim.bvh(filepath=str(folder / "march.bvh"), frame_start=1, frame_end=61)
    bpy.ops.export_scene.fbx(filepath=str(folder / "march.fbx"), use_selection=True, bake_anim_use_all_actions=False,
                             bake_anim_use_nla_strips=False, add_leaf_bones=False)  # fmt: skip
    bpy.ops.export_scene.gltf(filepath=str(folder / "march.glb"), export_animation_mode="ACTIVE_ACTIONS")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "actor.blend"))
    empty_scene()
    set_fps(24)
    skeleton = biped()
    tall = replace(skeleton, offsets=skeleton.offsets * 1.2, tails=skeleton.tails * 1.2, ball_height=0.03)
    armature_of(tall, "Hero", root=True)
    bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, 0.5))
    bpy.context.object.name = "Ledge"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "hero.blend"))
    return folder


def retarget(folder: Path, source: str, target: str, *more: str) -> tuple[int, dict | None]:
    out, report = folder / "out.blend", folder / "out.json"
    for path in (out, report):
        path.unlink(missing_ok=True)
    code = command.main(["retarget", str(folder / source), str(folder / target), "--out", str(out), "--report",
                         str(report), *more])  # fmt: skip
    assert out.exists() == report.exists() == (code == 0)
    return code, json.loads(report.read_text("utf-8")) if report.exists() else None


def travel(report: dict, action: dict) -> float:
    """How far the hips go in the saved file, metres."""
    ob = bpy.data.objects[report["armature"]]
    ends = joints(ob, [report["bones"]["hips"]], [action["frame_start"], action["frame_end"]])[:, 0, :2]
    return float(np.linalg.norm(ends[1] - ends[0]))


@pytest.mark.parametrize("source", ["march.bvh", "march.fbx", "march.glb", "actor.blend"])
def test_every_kind_of_file_is_carried_over_at_the_targets_rate(folder: Path, source: str) -> None:
    more = ("--action", "March") if source == "actor.blend" else ()
    code, report = retarget(folder, source, "hero.blend", *more)
    assert code == 0 and report is not None and report["fps"] == 24.0
    (action,) = report["actions"]
    keys = {row["key"]: row for row in action["figures"]}
    assert keys["bake_error"]["mark"] == "good" and keys["slide_leg"]["value"] < 3.0
    assert len(action["contacts"]["left_foot"]) + len(action["contacts"]["right_foot"]) >= 3
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(24.0)
    assert sorted(ob.name for ob in bpy.data.objects) == ["Hero", "Ledge"], "the source does not stay"
    assert [a.name for a in bpy.data.actions] == [action["action"]]
    seconds = (action["frame_end"] - action["frame_start"]) / 24.0
    assert seconds == pytest.approx(2.0, abs=0.1)
    assert travel(report, action) == pytest.approx(1.2 * seconds, rel=0.06)


def test_all_actions_of_the_source_and_a_ground_of_the_target(folder: Path) -> None:
    code, report = retarget(folder, "actor.blend", "hero.blend", "--ground", "Ledge", "--fps", "29.97")
    assert code == 0 and report is not None and report["fps"] == pytest.approx(29.97)
    assert {action["source_action"] for action in report["actions"]} == {"March", "Stroll"}
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert len(bpy.data.actions) == 2
    toes = joints(bpy.data.objects["Hero"], ["LeftToes", "RightToes"], range(1, 50))[..., 2]
    assert 0.5 < toes.min() < 0.56


def test_unplanted_feet_are_left_as_they_come(folder: Path) -> None:
    code, report = retarget(folder, "march.bvh", "hero.blend", "--no-plant")
    assert code == 0 and report is not None
    assert not any(row["key"] == "lock_offset" for row in report["actions"][0]["figures"])


@pytest.mark.parametrize(
    ("source", "target", "more", "words"),
    [
        ("nothing.bvh", "hero.blend", (), "does not exist"),
        ("march.bvh", "nothing.glb", (), "does not exist"),
        ("actor.blend", "hero.blend", ("--action", "Jump"), "no action 'Jump'; there are: March, Stroll"),
        ("hero.blend", "hero.blend", (), "both hero.blend"),
        ("actor.blend", "hero.blend", ("--ground", "Moon"), "no object or collection 'Moon'"),
        ("actor.blend", "hero.blend", ("--fps", "0"), "make no sense"),
        ("actor.blend", "hero.blend", ("--source-armature", "Nobody"), "no armature 'Nobody'"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], source: str, target: str, more: tuple[str, ...], words: str
) -> None:  # fmt: skip
    code, _ = retarget(folder, source, target, *more)
    assert code == 2 and words in capsys.readouterr().err
    assert not [path for path in folder.iterdir() if "part" in path.name]


def turn_of_head(name: str, frame: int) -> float:
    """How far the head is turned out of its rest pose, degrees."""
    bpy.context.scene.frame_set(frame)
    bone = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Head"]
    return float(np.degrees((bone.matrix @ bone.bone.matrix_local.inverted()).to_quaternion().angle))


def test_a_frame_may_stand_for_the_rest_pose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A head that is turned by 46 degrees from the first frame to the last: against the first frame it never turns."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "actor.blend"))
    source = bpy.data.objects["Actor"]
    source.animation_data.action = bpy.data.actions["March"]
    head = source.pose.bones["Head"]
    head.rotation_mode = "QUATERNION"
    for frame in range(1, 62):
        head.rotation_quaternion = (np.cos(0.4), 0.0, np.sin(0.4), 0.0)
        head.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "turned.blend"))
    usual = ("turned.blend", "hero.blend", "--action", "March")
    turns = []
    for more in ((), ("--reference-frame", "1")):
        code, report = retarget(folder, *usual, *more)
        assert code == 0 and report is not None
        bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
        turns.append(turn_of_head("Hero", 20))
    assert turns[0] == pytest.approx(np.degrees(0.8), abs=2.0) and turns[1] < 2.0
    assert not [key for key in bpy.data.objects["Hero"].keys() if "reference" in key]  # noqa: SIM118
    assert retarget(folder, *usual, "--reference-frame", "900")[0] == 2
    assert "goes from 1 to 61" in capsys.readouterr().err


def test_the_characters_pose_may_stand_for_its_rest_pose(folder: Path) -> None:
    """A character whose head is posed aside, and counts as straight there, keeps it aside."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "hero.blend"))
    head = bpy.data.objects["Hero"].pose.bones["Head"]
    head.rotation_mode = "QUATERNION"
    head.rotation_quaternion = (np.cos(0.4), 0.0, np.sin(0.4), 0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "aside.blend"))
    code, _ = retarget(folder, "march.bvh", "aside.blend", "--target-reference", "1")
    assert code == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert turn_of_head("Hero", 20) == pytest.approx(np.degrees(0.8), abs=2.0)
    assert not [key for key in bpy.data.objects["Hero"].keys() if "reference" in key]  # noqa: SIM118


def test_source_and_character_in_one_file(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "actor.blend"))
    armature_of(biped(), "Double").location.x = 3.0
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "both.blend"))
    names = ("--source-armature", "Actor", "--armature", "Double", "--action", "March")
    code, report = retarget(folder, "both.blend", "both.blend", *names)
    assert code == 0 and report is not None and report["armature"] == "Double"
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    ours, theirs = (joints(bpy.data.objects[name], ["Hips"], [1, 61])[:, 0] for name in ("Double", "Actor"))
    # Planting a made-up walk, whose feet slide, lowers the hips by some centimetres.
    assert np.all(np.abs(ours - [3.0, 0.0, 0.0] - theirs) < [0.03, 0.03, 0.05])


def test_the_result_may_not_go_over_the_source(folder: Path) -> None:
    before = (folder / "actor.blend").read_bytes()
    assert command.main(["retarget", str(folder / "actor.blend"), str(folder / "hero.blend"), "--out",
                         str(folder / "actor.blend")]) == 2  # fmt: skip
    assert (folder / "actor.blend").read_bytes() == before
