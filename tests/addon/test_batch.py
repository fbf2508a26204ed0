"""Shot files: what they may say, what is refused, and bakes on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import bpy
import numpy as np
import pytest

from blender_addon import __main__ as command
from blender_addon.shot_file import ShotError, read_shot_file
from tests.addon.bakers import make_pack
from tests.addon.rig_makers import armature_of, empty_scene, poly_curve
from tests.addon.test_terrain import hills
from tests.synthetic import biped

WALK = """
pack = "{pack}"
fps = 30
[curve]
points = [[0, 0], [0, -3]]
[[schedule]]
speed = 0.8
[follow]
exact = true
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return make_pack(tmp_path_factory.mktemp("pâck mit raum"))


def bake(folder, text, name="out"):
    shot = folder / "shot.toml"
    shot.write_text(text, encoding="utf-8")
    out, report = folder / f"{name}.blend", folder / f"{name}.json"
    code = command.main(["bake", str(shot), "--out", str(out), "--report", str(report)])
    return code, out, json.loads(report.read_text("utf-8")) if report.is_file() else None


def test_a_shot_becomes_a_blend_and_a_report_that_others_can_measure(pack, tmp_path) -> None:
    folder = tmp_path / "Übung 歩く"
    folder.mkdir()
    code, out, report = bake(folder, WALK.format(pack=pack.as_posix()))
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["out.blend", "out.json", "shot.toml"]
    bpy.ops.wm.open_mainfile(filepath=str(out))
    ob = bpy.data.objects[report["armature"]]
    scene = bpy.context.scene
    assert scene.render.fps / scene.render.fps_base == report["fps"] == 30
    assert ob.animation_data.action.name == report["action"]
    root, toe = report["bones"]["root"], report["bones"]["left_toe"]
    track, toes = [], []
    for frame in range(report["frame_start"], report["frame_end"] + 1):
        scene.frame_set(frame)
        track.append(np.array(ob.matrix_world @ ob.pose.bones[root].head))
        toes.append(np.array(ob.matrix_world @ ob.pose.bones[toe].head))
    assert np.abs(np.array(track)[:, 0]).max() < 1e-3 and abs(track[-1][1] + 3) < 1e-3
    stands = report["contacts"]["left_foot"]
    assert len(stands) > 2 and stands[0][0] == report["frame_start"]
    for first, last in stands:
        still = np.array(toes)[first - report["frame_start"] + 1 : last - report["frame_start"]]
        assert not len(still) or np.ptp(still[:, :2], axis=0).max() < 0.003
    keys = {row["key"]: row for row in report["figures"]}
    assert keys["path_root_max"]["unit"] == "cm" and keys["bake_error"]["mark"] == "good"
    assert {"plan", "motion", "retarget", "plant", "keys", "write", "save", "total"} <= set(report["seconds"])


def test_a_rig_file_with_its_own_curve_and_ground(pack, tmp_path) -> None:
    empty_scene()
    armature_of(biped(), "Held", root=True)
    poly_curve([(0, 0, 0), (4, 0, 0)], "Väg")
    hills().name = "Berg"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "szene mit held.blend"))
    code, out, report = bake(tmp_path, f"""
        pack = "{pack.as_posix()}"
        rig = "szene mit held.blend"
        armature = "Held"
        frame_start = -12
        [curve]
        object = "Väg"
        start = 0.5
        reverse = true
        [terrain]
        object = "Berg"
        [[schedule]]
        at = 0
        speed = 0.7
        [[schedule]]
        at = 2.0
        action = "stand"
        pause = 1.0
    """)  # fmt: skip
    assert code == 0
    assert report["armature"] == "Held" and report["frame_start"] == -12
    bpy.ops.wm.open_mainfile(filepath=str(out))
    bpy.context.scene.frame_set(report["frame_end"])
    ob = bpy.data.objects["Held"]
    assert np.allclose(np.array(ob.matrix_world @ ob.pose.bones["Root"].head)[:2], [0, 0], atol=0.05)


def test_bvh_and_glb_rigs(pack, tmp_path) -> None:
    empty_scene()
    ob = armature_of(biped(), "Held", unit=0.01)
    ob.select_set(True)
    bpy.ops.export_anim.bvh(filepath=str(tmp_path / "held.bvh"), frame_start=1, frame_end=2)
    for bone in ob.data.bones:
        bone.use_deform = True
    ob.scale = (0.01,) * 3
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "held.glb"))
    for name in ("held.bvh", "held.glb"):
        code, out, report = bake(tmp_path, f'rig = "{name}"\n' + WALK.format(pack=pack.as_posix()), name[-3:])
        assert code == 0, name
        keys = {row["key"]: row for row in report["figures"]}
        assert keys["bake_error"]["value"] < 1e-5, name
        assert keys["path_root_max"]["value"] < 0.1, name
        bpy.ops.wm.open_mainfile(filepath=str(out))
        bpy.context.scene.frame_set(report["frame_start"] + 30)
        ob = bpy.data.objects[report["armature"]]
        head, foot = (ob.matrix_world @ ob.pose.bones[report["bones"][key]].head for key in ("head", "left_foot"))
        assert head.z - foot.z > 1.0, f"{name} walks lying down"


@pytest.mark.parametrize("kind", ["npy", "png"])
def test_height_fields(pack, tmp_path, kind) -> None:
    """Rows run along y: a slope along x of 10 cm a metre."""
    x = np.linspace(-4, 4, 161)
    rows = np.tile(0.1 * (x + 4), (81, 1))
    if kind == "npy":
        np.save(tmp_path / "höhen.npy", rows)
        height = 1.0
    else:
        empty_scene()
        image = bpy.data.images.new("h", 161, 81, float_buffer=False)
        image.colorspace_settings.name = "Non-Color"
        flat = np.ones((81, 161, 4), np.float32)
        flat[..., :3] = (rows / 0.8)[..., None]
        image.pixels.foreach_set(flat.ravel())
        image.filepath_raw, image.file_format = str(tmp_path / "höhen.png"), "PNG"
        image.save()
        height = 0.8
    text = WALK.replace("[[0, 0], [0, -3]]", "[[-1.5, 0], [1.5, 0]]").format(pack=pack.as_posix())
    code, out, report = bake(
        tmp_path, text + f'\n[terrain]\nheightfield = "höhen.{kind}"\nsize = [8, 4]\nheight = {height}\n'
    )
    assert code == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    ob = bpy.data.objects[report["armature"]]
    ends = []
    for frame in (report["frame_start"], report["frame_end"]):
        bpy.context.scene.frame_set(frame)
        ends.append((ob.matrix_world @ ob.pose.bones["Root"].head).z)
    assert np.allclose(ends, [0.25, 0.55], atol=0.02)
    assert "Ground" in bpy.data.objects


@pytest.mark.parametrize(
    "text, said",
    [
        ("pack = 3\n[curve]\npoints=[[0,0],[1,0]]", "pack"),
        ("speed = 3\n[curve]\npoints=[[0,0],[1,0]]", "speed"),
        ("[curve]\npoints=[[0,0],[1]]", "Point 2"),
        ("[curve]\npoints=[[0,0],[nan,0]]", "finite"),
        ("[curve]\npoints=[]", "points"),
        ("", "points"),
        ("[curve]\nobject='Path'", "no .blend"),
        ("fps = 0\n[curve]\npoints=[[0,0],[1,0]]", "fps"),
        ("fps = true\n[curve]\npoints=[[0,0],[1,0]]", "fps"),
        ("rig = 'nothing.blend'\n[curve]\npoints=[[0,0],[1,0]]", "nothing.blend"),
        ("rig = 'shot.toml'\n[curve]\npoints=[[0,0],[1,0]]", "kinds"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[terrain]\nheightfield='h.npy'", "h.npy"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[[schedule]]\nspeed=0", "speed"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[[schedule]]\nspeed=900", "speed"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[[schedule]]\nat=-1", "-1"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[schedule]\nat=1", "schedule"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[follow]\nstrength=3", "strength"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[[schedule]]\naction='fly'", "fly"),
        ("[curve]\npoints=[[0,0],[0,0]]", "no length"),
        ("[curve]\npoints=[[0,0],[1,0]", "TOML"),
        ("pack='nowhere'\n[curve]\npoints=[[0,0],[1,0]]", "nowhere"),
        ("system='lmm'\n[curve]\npoints=[[0,0],[1,0]]", "made for mm"),
        ("system='pfnn'\n[curve]\npoints=[[0,0],[1,0]]", "made for mm"),
        (f"[curve]\npoints=[[0,0],[{10**400},0]]", "finite"),
        (f"[curve]\npoints=[[0,0],[1,0]]\nstart={10**400}", "start"),
        (f"frame_start={10**400}\n[curve]\npoints=[[0,0],[1,0]]", "frame_start"),
        ("[curve]\npoints=[[0,0],[inf,0]]", "finite"),
        ("a=" + "[" * 5000, "TOML"),
        (f"pack='{'x' * 5000}'\n[curve]\npoints=[[0,0],[1,0]]", "There is no pack"),
        (f"rig='{'x' * 5000}.blend'\n[curve]\npoints=[[0,0],[1,0]]", "no file"),
        ("pack=''\n[curve]\npoints=[[0,0],[1,0]]", "There is no pack"),
        ("[curve]\npoints=[[0,0],[1,0]]\n[facing]\nkind='object'", "what to face"),
    ],
)
def test_mistakes_are_refused_with_exit_code_2_and_nothing_is_written(pack, tmp_path, capsys, text, said) -> None:
    empty_scene()
    if "pack" not in text:
        text = f'pack = "{pack.as_posix()}"\n' + text
    code, out, report = bake(tmp_path, text)
    assert code == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["shot.toml"]


def test_an_unwritable_place_is_said_and_nothing_stays(pack, tmp_path, capsys) -> None:
    shot = tmp_path / "shot.toml"
    shot.write_text(WALK.format(pack=pack.as_posix()))
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert command.main(["bake", str(shot), "--out", str(blocked / "out.blend")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    report = ["--report", str(blocked / "r.json")]
    assert command.main(["bake", str(shot), "--out", str(tmp_path / "a.blend"), *report]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "shot.toml"]


def test_a_report_never_takes_the_place_of_another_file(pack, tmp_path, capsys) -> None:
    shot, out, folder = tmp_path / "shot.toml", tmp_path / "out.blend", tmp_path / "folder"
    shot.write_text(WALK.format(pack=pack.as_posix()))
    out.write_bytes(b"of yesterday")
    folder.mkdir()
    for report, said in ((out, "overwrite"), (shot, "overwrite"), (folder, "is a folder"), (shot / "r", "written")):
        assert command.main(["bake", str(shot), "--out", str(out), "--report", str(report)]) == 2
        assert said in capsys.readouterr().err
        assert out.read_bytes() == b"of yesterday" and shot.read_text().startswith("\npack")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "out.blend", "shot.toml"]


@pytest.mark.parametrize(
    ("grid", "more", "said"),
    [
        (np.zeros((200, 200)), "size = [4000, 0.1]", "hole"),
        (np.zeros((4, 4)), "size = [100000, 0.0001]", "thread"),
        (np.zeros((4, 4)), "size = [inf, 1]", "finite"),
        (np.zeros((4, 4)), "size = [8, 8]\ncentre = [nan, 0]", "finite"),
        (np.full((4, 4), np.nan), "size = [8, 8]", "nothing but a hole"),
        (np.full((4, 4), np.inf), "size = [8, 8]", "infinite"),
        (np.full((4, 4), 1e30), "size = [8, 8]", "mountain"),
        (np.zeros(9), "size = [8, 8]", "2 x 2"),
        (np.zeros((4, 4), complex), "size = [8, 8]", "complex128"),
        (np.repeat([[3.0], [0.0]], 2, axis=1)[[0] * 20 + [1] * 60][:, [0] * 80], "size = [8, 8]", "wall"),
    ],
)
def test_height_fields_that_nobody_can_walk_on_are_refused(pack, tmp_path, capsys, grid, more, said) -> None:
    np.save(tmp_path / "h.npy", grid)
    code, *_ = bake(tmp_path, WALK.format(pack=pack.as_posix()) + f"\n[terrain]\nheightfield = 'h.npy'\n{more}\n")
    assert code == 2 and said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["h.npy", "shot.toml"]


def test_a_picture_that_is_none_is_said(pack, tmp_path, capsys) -> None:
    (tmp_path / "h.png").write_bytes(b"no picture")
    text = WALK.format(pack=pack.as_posix()) + "\n[terrain]\nheightfield = 'h.png'\nsize = [8, 8]\n"
    assert bake(tmp_path, text)[0] == 2 and "no picture" in capsys.readouterr().err


def test_a_small_hole_under_the_path_and_great_distances_are_noted(pack, tmp_path) -> None:
    heights = np.zeros((81, 81))
    heights[20:24, 38:43] = np.nan
    np.save(tmp_path / "h.npy", heights)
    text = WALK.format(pack=pack.as_posix()) + "\n[terrain]\nheightfield = 'h.npy'\nsize = [8, 8]\n"
    code, _, report = bake(tmp_path, text)
    assert code == 0 and any("hole of 0.5" in note for note in report["notes"])
    far = WALK.format(pack=pack.as_posix()).replace("[[0, 0], [0, -3]]", "[[90000, 0], [90000, -3]]")
    assert any("90 km from the world's origin" in note for note in bake(tmp_path, far)[2]["notes"])


def test_rig_files_saved_in_edit_mode_or_hidden_are_baked_and_broken_ones_refused(pack, tmp_path, capsys) -> None:
    text = 'rig = "held.blend"\n' + WALK.format(pack=pack.as_posix())
    for state in ("edit", "hidden", "rest"):
        empty_scene()
        ob = armature_of(biped(), "Held", root=True)
        if state == "edit":
            bpy.ops.object.mode_set(mode="EDIT")
        elif state == "hidden":
            ob.hide_viewport = True
        else:
            ob.data.pose_position = "REST"
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "held.blend"))
        code, _, report = bake(tmp_path, text)
        marks = {row["key"]: row["mark"] for row in report["figures"]}
        assert code == 0 and marks.get("bake_error") == ("good" if state == "edit" else None)
        assert state == "edit" or any(state in note for note in report["notes"])
    (tmp_path / "held.blend").write_bytes((tmp_path / "held.blend").read_bytes()[:5000])
    assert bake(tmp_path, text)[0] == 2 and "cannot open held.blend" in capsys.readouterr().err
    (tmp_path / "held.bvh").write_text("HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHAN")
    assert bake(tmp_path, text.replace("held.blend", "held.bvh"))[0] == 2
    assert "held.bvh, line 5" in capsys.readouterr().err


def test_a_bake_taken_back_by_the_farm_leaves_nothing(pack, tmp_path) -> None:
    shot = tmp_path / "shot.toml"
    shot.write_text(WALK.format(pack=pack.as_posix()).replace("[0, -3]", "[0, -150]"))
    code = (
        "import os, signal, threading, runpy, sys\nfrom blender_addon.scene import setup\nsave = setup.save_blend\n"
        "def interrupted(*arguments):\n"
        "    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "    save(*arguments)\n    threading.Event().wait(5.0)\n"
        "setup.save_blend = interrupted\nrunpy.run_module('blender_addon', run_name='__main__')\n"
    )
    command_line = [sys.executable, "-c", code, "bake", str(shot), "--out", str(tmp_path / "out.blend")]
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=100)
    assert done.returncode == 130 and "cancelled" in done.stderr
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_missing_shot_files_are_said(tmp_path) -> None:
    with pytest.raises(ShotError, match="cannot be read"):
        read_shot_file(tmp_path / "none.toml")


def test_a_shot_file_may_ask_for_ik_reduced_keys_and_markers(tmp_path, pack) -> None:
    from tools import make_rigify

    text = WALK.format(pack=pack).replace("fps = 30", f'fps = 30\nrig = "{make_rigify.cached()}"\narmature = "rig"')
    code, _, found = bake(tmp_path, text + '[output]\ncontrols = "ik"\nkeys = "reduced"\nmarkers = true\n')
    assert code == 0 and any("of the keys kept" in note for note in found["notes"])
    assert "foot_ik.L" in found["controls"]["other"] and "left_thigh" not in found["controls"]
    action = bpy.data.actions[found["action"]]
    assert {"L foot", "R lifts"} <= {marker.name for marker in action.pose_markers}
    error = next(row for row in found["figures"] if row["key"] == "bake_error")
    assert error["value"] <= 0.0022


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ('mode = "over"', "Choose one of"), ("first = 3", "without mode"), ("degrees = 0", "from 0.01"),
        ('mode = "layer"\nfirst = 9\nlast = 9', "before it begins"), ("blend = 3", "Unknown key"),
        ('keys = "few"', "Choose one of"), ('mode = "layer"\nblend_in = -1', "at least 0"),
    ],
)  # fmt: skip
def test_an_output_that_makes_no_sense_is_refused(tmp_path, output, said) -> None:
    shot = tmp_path / "shot.toml"
    shot.write_text(WALK.format(pack="x") + f"[output]\n{output}\n", encoding="utf-8")
    with pytest.raises(ShotError, match=said):
        read_shot_file(shot)
