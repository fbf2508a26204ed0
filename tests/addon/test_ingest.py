"""Ingest: files through Blender's importers and actions of the scene, against an independent reading of the BVH."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from blender_addon.__main__ import main
from blender_addon.motion import rotations as rot
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import ClipError, DatasetError, RigError
from blender_addon.motion.recipes import DataFolder, load_recipe
from blender_addon.motion.takes import Take, prepare
from blender_addon.operators.training_session import Gathering
from blender_addon.scene import importers, ingest, read_actions

pytestmark = pytest.mark.blender

NAME = "tiling_run_straight.bvh"


@pytest.fixture(autouse=True)
def empty_file() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.fixture
def sample(shared_data: Path) -> Path:
    return shared_data / "samples" / NAME


def positions_by_hand(path: Path, scale: float = 0.01) -> dict[str, np.ndarray]:
    """World positions (frames, 3) by joint, straight from the text, in metres, Z up, facing -Y."""
    head, motion = path.read_text().split("MOTION")
    rows = np.array([line.split() for line in motion.strip().splitlines()[2:]], dtype=float)
    found: dict[str, np.ndarray] = {}
    stack: list[tuple[str, np.ndarray]] = []
    column, offset, name, end = 0, np.zeros(3), "", False
    for line in head.splitlines():
        words = line.split()
        if words[:1] in (["ROOT"], ["JOINT"]):
            name = words[1]
        elif words[:1] == ["End"]:
            end = True
        elif words[:1] == ["OFFSET"]:
            offset = np.array(words[1:], dtype=float)
        elif words[:1] == ["}"]:
            if end:
                end = False
            else:
                stack.pop()
        elif words[:1] == ["CHANNELS"]:
            place, turn = np.tile(offset, (len(rows), 1)), np.tile(np.eye(3), (len(rows), 1, 1))
            for channel in words[2:]:
                axis, values = "XYZ".index(channel[0]), rows[:, column]
                column += 1
                if channel.endswith("position"):
                    place[:, axis] = values
                else:
                    one, other = (axis + 1) % 3, (axis + 2) % 3
                    step = np.tile(np.eye(3), (len(rows), 1, 1))
                    cosine, sine = np.cos(np.radians(values)), np.sin(np.radians(values))
                    step[:, one, one], step[:, other, other] = cosine, cosine
                    step[:, one, other], step[:, other, one] = -sine, sine
                    turn = turn @ step
            if stack:
                above, above_turn = found[stack[-1][0]], stack[-1][1]
                place = above + np.einsum("fij,fj->fi", above_turn, place)
                turn = above_turn @ turn
            found[name] = place
            stack.append((name, turn))
    return {name: scale * np.stack([p[:, 0], -p[:, 2], p[:, 1]], axis=-1) for name, p in found.items()}


def assert_same_motion(clip, expected: dict[str, np.ndarray], tolerance: float, rows: slice = slice(None)) -> None:
    positions, _ = clip.world
    for joint, name in enumerate(clip.skeleton.names):
        if name in expected:
            np.testing.assert_allclose(positions[:, joint], expected[name][rows], atol=tolerance, err_msg=name)


def test_a_bvh_is_read_as_it_is_written_and_nothing_stays_behind(sample: Path) -> None:
    clip = importers.import_clips(sample, importers.ImportOptions(scale=0.01))[0]
    assert clip.fps == 30.0
    assert clip.skeleton.missing_roles == ()
    assert_same_motion(clip, positions_by_hand(sample), 1e-5)
    assert not bpy.data.objects and not bpy.data.actions and not bpy.data.armatures


def test_centimetres_are_recognised_by_the_figure(sample: Path) -> None:
    clip = importers.import_clips(sample)[0]
    assert clip.skeleton.leg_length == pytest.approx(0.8656, abs=1e-3)
    with pytest.raises(ClipError, match=r"legs would be 0\.000866 m long"):
        importers.import_clips(sample, importers.ImportOptions(scale=1e-5))


def test_axes_can_be_told(sample: Path) -> None:
    turned = importers.import_clips(sample, importers.ImportOptions(scale=0.01, forward="Z"))[0]
    straight = importers.import_clips(sample, importers.ImportOptions(scale=0.01))[0]
    half = rot.from_yaw(np.pi)
    np.testing.assert_allclose(turned.world[0], rot.rotate(half, straight.world[0]), atol=1e-5)
    with pytest.raises(ClipError, match="do not go together"):
        importers.ImportOptions(forward="Y", up="-Y")


@pytest.fixture
def armature(sample: Path) -> bpy.types.Object:
    bpy.ops.import_anim.bvh(filepath=str(sample), global_scale=0.01, frame_start=1, rotate_mode="NATIVE")
    return bpy.context.object


def test_a_figure_that_lies_by_wrong_axes_is_said(sample: Path, tmp_path: Path, capsys) -> None:
    for axis in ("-Y,Z", "-Z,-Y"):
        assert main(["ingest", str(sample), f"--axis={axis}", "--out", str(tmp_path / "d")]) == 2
        said = capsys.readouterr().err
        assert "upright" in said and "--axis" in said and not list(tmp_path.iterdir())


def test_an_action_is_read_alike_from_its_curves_and_by_playing_it(armature: bpy.types.Object, sample: Path) -> None:
    expected = positions_by_hand(sample)
    plain = read_actions.read_action(armature, fps=30.0)
    assert_same_motion(plain, expected, 1e-5)
    bpy.context.scene.frame_set(17)
    armature.pose.bones["Head"].constraints.new("LIMIT_ROTATION").influence = 0.0
    armature.location = (1.0, 2.0, 0.5)
    played = read_actions.read_action(armature, fps=30.0)
    moved = {name: place + [1.0, 2.0, 0.5] for name, place in expected.items()}
    assert_same_motion(played, moved, 1e-4)
    assert bpy.context.scene.frame_current == 17


def test_other_axes_of_the_object_and_bone_modes_do_not_matter(armature: bpy.types.Object, sample: Path) -> None:
    armature.rotation_euler = (0.3, -0.2, 1.0)
    armature.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    clip = read_actions.read_action(armature, fps=30.0)
    matrix = np.array(armature.matrix_world)
    expected = {name: place @ matrix[:3, :3].T + matrix[:3, 3] for name, place in positions_by_hand(sample).items()}
    assert_same_motion(clip, expected, 1e-4)


@pytest.mark.parametrize("kind", ["blend", "fbx", "glb"])
def test_other_file_kinds_give_the_same_motion(
    armature: bpy.types.Object, sample: Path, tmp_path: Path, kind: str
) -> None:
    expected = positions_by_hand(sample)
    bpy.context.scene.render.fps = 30
    scene, action = bpy.context.scene, armature.animation_data.action
    scene.frame_start, scene.frame_end = (int(number) for number in action.frame_range)
    path = tmp_path / f"löp 走る.{kind}"
    if kind == "blend":
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    elif kind == "fbx":
        bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0)
    else:
        bpy.ops.export_scene.gltf(filepath=str(path), export_animation_mode="ACTIVE_ACTIONS")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 30
    clips = importers.import_clips(path, importers.ImportOptions(scale=1.0, fps=30.0))
    assert len(clips) == 1
    assert abs(len(clips[0]) - len(next(iter(expected.values())))) <= 1
    count = min(len(clips[0]), len(expected["Hips"]))
    assert_same_motion(clips[0].cut(0, count), expected, 2e-3, slice(0, count))
    assert not bpy.data.objects and not bpy.data.actions


def test_empty_actions_single_frames_and_no_legs_are_told_apart(armature: bpy.types.Object) -> None:
    empty = bpy.data.actions.new("Tom")
    with pytest.raises(ClipError, match="'Tom' is empty"):
        read_actions.read_action(armature, empty)
    with pytest.raises(ClipError, match="single frame"):
        read_actions.read_action(armature, frames=(5, 5))
    cube = bpy.data.objects.new("Stol", bpy.data.armatures.new("Stol"))
    bpy.context.scene.collection.objects.link(cube)
    with pytest.raises(RigError, match="'Stol' lacks: hips"):
        read_actions.skeleton_of(cube)
    assert read_actions.actions_for(armature)[0] == armature.animation_data.action


def test_an_action_with_nan_is_refused(armature: bpy.types.Object) -> None:
    curve = next(c for c in read_actions._curves(armature.animation_data.action, armature) if "Hips" in c.data_path)
    curve.keyframe_points[10].co[1] = float("nan")
    with pytest.raises(ClipError, match="not numbers"):
        read_actions.read_action(armature)


@pytest.mark.parametrize("played", [False, True])
def test_a_rotation_that_is_no_number_is_not_taken_for_none(armature: bpy.types.Object, played: bool) -> None:
    """Where a constraint acts, the scene is played instead of the curves being read."""
    found = read_actions._curves(armature.animation_data.action, armature)
    curve = next(c for c in found if "LeftLeg" in c.data_path and "rotation" in c.data_path)
    curve.keyframe_points[10].co[1] = float("nan")
    if played:
        armature.pose.bones["LeftLeg"].constraints.new("LIMIT_SCALE")
    with pytest.raises(ClipError, match="not numbers"):
        read_actions.read_action(armature)


def test_actions_of_the_scene_become_a_data_set(armature: bpy.types.Object, tmp_path: Path) -> None:
    bpy.context.scene.render.fps = 30
    gathering = Gathering([(armature.name, armature.animation_data.action.name)], tmp_path / "d")
    gathering.run(bpy.context)
    dataset = Dataset.load(tmp_path / "d")
    assert dataset.fps == 60.0
    assert "run" in dataset.tags[0]


def test_the_command_makes_a_levelled_data_set(shared_data: Path, tmp_path: Path, capsys) -> None:
    files = [str(shared_data / "samples" / name) for name in (NAME, "ys2010_walk_normal_straight.bvh")]
    assert main(["ingest", *files, "--out", str(tmp_path / "d"), "--scale", "0.01", "--credit", "Me"]) == 0
    assert "run" in capsys.readouterr().out
    dataset = Dataset.load(tmp_path / "d")
    assert (len(dataset), dataset.credits) == (2, ("Me",))
    for clip in dataset.clips:
        toes = clip.world[0][:, [foot.toe for foot in clip.skeleton.feet], 2]
        flat = np.concatenate([toes[clip.contacts[:, side], side] for side in (0, 1)])
        assert np.median(flat) == pytest.approx(clip.skeleton.ball_height, abs=5e-3)


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.bvh"], "does not exist"),
    (["notes.txt"], "none of .bvh"),
    (["broken.bvh"], "broken.bvh, line 1"),
    (["broken.glb"], "Blender cannot read broken.glb"),
    ([], "files or a recipe"),
    (["a.bvh", "--axis", "Q,Y"], "do not go together"),
    (["a.bvh", "--scale", "-1"], "makes no sense"),
    (["--recipe", "none.toml"], "data folder"),
])  # fmt: skip
def test_errors_say_what_and_write_nothing(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes.txt", "broken.bvh", "broken.glb"):
        (tmp_path / name).write_text("hello")
    assert main(["ingest", *arguments, "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith("error: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.bvh", "broken.glb", "notes.txt"]


RECIPE = """
skeleton = "human/studio/a.bvh"
ball_height = 0.03
held_out = ["b"]
[family.studio]
scale = 0.01
licence = "L"
credit = "C"
[[takes]]
family = "studio"
group = "one"
files = ["human/studio/*.bvh"]
tags = ["special"]
ranges = {a = [[0, 60], [90, 150]]}
"""


def test_a_recipe_reads_folders_and_archives_and_retargets(shared_data: Path, tmp_path: Path) -> None:
    data = tmp_path / "data" / "human" / "studio"
    data.mkdir(parents=True)
    shutil.copy(shared_data / "samples" / "ys2010_walk_normal_straight.bvh", data / "a.bvh")
    shutil.copy(shared_data / "samples" / NAME, data / "b.bvh")
    (tmp_path / "r.toml").write_text(RECIPE)
    dataset = ingest.ingest_recipe(tmp_path / "r.toml", tmp_path / "data")
    assert [clip.name for clip in dataset.clips] == ["a 0-60", "a 90-150", "b"]
    assert dataset.held_out == [False, False, True]
    assert all("special" in tags for tags in dataset.tags)
    assert dataset.skeleton.ball_height == 0.03
    shutil.make_archive(str(data), "zip", data.parent, "studio")
    shutil.rmtree(data)
    again = ingest.ingest_recipe(tmp_path / "r.toml", tmp_path / "data")
    np.testing.assert_array_equal(again.clips[2].hips, dataset.clips[2].hips)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('held_out = ["b"]', 'held_out = ["zz"]', "Held out, but not among the takes: zz"),
    ("human/studio/*.bvh", "human/studio/*.fbx", "No file"),
    ("{a =", "{q =", "speaks of q"),
    ("licence", "license", "Unknown in family studio: license"),
    ("[family", "[fam ily", "cannot be read"),
])  # fmt: skip
def test_a_faulty_recipe_says_where(shared_data: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    data = tmp_path / "data" / "human" / "studio"
    data.mkdir(parents=True)
    for name in ("a", "b"):
        shutil.copy(shared_data / "samples" / NAME, data / f"{name}.bvh")
    (tmp_path / "r.toml").write_text(RECIPE.replace(old, new, 1))
    with pytest.raises(DatasetError, match=message):
        ingest.ingest_recipe(tmp_path / "r.toml", tmp_path / "data")


def test_a_run_of_another_skeleton_keeps_its_steps_on_ours(shared_data: Path, tmp_path: Path) -> None:
    samples = shared_data / "samples"
    stroll = importers.import_clips(samples / "ys2010_walk_normal_straight.bvh")[0]
    sprint = importers.import_clips(samples / "cmu_02_03.bvh", importers.ImportOptions(0.056444))[0]
    dataset = prepare([Take(stroll), Take(sprint)])
    run = dataset.clips[1]
    assert run.skeleton is dataset.clips[0].skeleton
    assert "run" in dataset.tags[1]
    speed = np.linalg.norm(run.root[-1, :2] - run.root[0, :2]) / run.seconds
    # CMU's runner goes at 2.66 m/s (index.tsv) on legs of 0.838 m; ours are 0.866 m long.
    assert speed == pytest.approx(2.66 * 0.8656 / 0.8377, rel=0.03)
    toes = run.world[0][:, [foot.toe for foot in run.skeleton.feet], 2]
    assert toes.min() > -0.01


def test_a_recipe_goes_on_with_the_takes_of_the_one_it_extends(shared_data: Path, tmp_path: Path) -> None:
    data = tmp_path / "data" / "human" / "studio"
    data.mkdir(parents=True)
    for name in ("a", "b", "c"):
        shutil.copy(shared_data / "samples" / NAME, data / f"{name}.bvh")
    (tmp_path / "base.toml").write_text(RECIPE.replace("*.bvh", "[ab].bvh"))
    (tmp_path / "more.toml").write_text(
        'extends = "base.toml"\nname = "more"\nheld_out = ["c"]\n[[takes]]\nfamily = "studio"\n'
        'files = ["human/studio/c.bvh"]\n'
    )
    recipe = load_recipe(tmp_path / "more.toml", DataFolder(tmp_path / "data"))
    assert [Path(take.path).stem for take in recipe.takes] == ["a", "b", "c"]
    assert [take.held_out for take in recipe.takes] == [False, True, True] and recipe.name == "more"
    (tmp_path / "again.toml").write_text('extends = "more.toml"\n')
    with pytest.raises(DatasetError, match="may not be extended"):
        load_recipe(tmp_path / "again.toml", DataFolder(tmp_path / "data"))
