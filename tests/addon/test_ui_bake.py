"""Bake and preview through the operators, with a small pack made from a made-up walk."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import blender_addon
from blender_addon import library
from blender_addon.motion.dataset import Dataset
from blender_addon.operators import common, preview_state, request
from blender_addon.operators.bake import BakeRun
from blender_addon.scene import compat
from tests import synthetic
from tests.addon.fake_layout import FakeLayout
from tools import rig_truths


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from training.mm import make_pack

    clips = [synthetic.walk(8.0, speed, turn) for speed in (0.0, 0.6, 1.2) for turn in (-0.4, 0.0, 0.4)]
    folder = tmp_path_factory.mktemp("packs")
    make_pack(Dataset(synthetic.biped(), clips), folder / "packs" / "made-up", "Made up")
    return folder


@pytest.fixture(autouse=True)
def scene(pack: Path, monkeypatch: pytest.MonkeyPatch):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    monkeypatch.setattr(library, "user_folder", lambda: pack / "packs")
    library.forget()
    blender_addon.register()
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0, -4, 0, 1)
    curve = bpy.data.objects.new("Way", data)
    bpy.context.collection.objects.link(curve)
    chosen = bpy.context.scene.gaitsmith
    chosen.pack_id = "made-up"
    bpy.ops.gaitsmith.character_create()
    curve.select_set(True)
    yield chosen
    blender_addon.unregister()
    library.forget()


def walker() -> bpy.types.Object:
    return bpy.context.scene.gaitsmith.armature


def message() -> str:
    return bpy.context.window_manager.gaitsmith.message


def root_at(frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    ob = walker().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(ob.matrix_world @ ob.pose.bones["Root"].head)


def test_one_press_walks_the_selected_character_along_the_selected_curve(scene) -> None:
    assert bpy.ops.gaitsmith.bake() == {"FINISHED"}
    assert scene.curve.name == "Way" and "as a new action" in message()
    last = bpy.context.scene.frame_end
    assert np.linalg.norm(root_at(scene.frame_start)[:2]) < 0.1
    assert np.linalg.norm(root_at(last)[:2] - (0, -4)) < 0.1


def test_the_report_stands_in_the_panel_and_leads_to_the_worst_frames(scene) -> None:
    scene.frame_start = 101
    bpy.ops.gaitsmith.bake()
    rows = {row.label: row for row in scene.report}
    assert rows["Bake error"].verdict == "GOOD" and rows["Foot slide"].wanted == "at most 3"
    index, row = next((i, r) for i, r in enumerate(scene.report) if r.frame > 0)
    assert row.frame >= 101
    bpy.ops.gaitsmith.figure_jump(index=index)
    assert bpy.context.scene.frame_current == row.frame
    scene.report_all = True
    layout = FakeLayout()
    bpy.types.GAITSMITH_PT_quality.draw(
        SimpleNamespace(layout=layout, _figure=lambda *a: bpy.types.GAITSMITH_PT_quality._figure(None, *a)), bpy.context
    )
    assert "gaitsmith.figure_jump" in layout.names("operator") and "good" in layout.labels()


def test_a_second_bake_replaces_or_adds_as_chosen(scene) -> None:
    bpy.ops.gaitsmith.bake()
    first = walker().animation_data.action.name
    scene.output = "REPLACE"
    bpy.ops.gaitsmith.bake()
    assert walker().animation_data.action.name == first
    assert {action.name for action in bpy.data.actions} == {first, f"{first} (before)"}
    scene.output = "NEW"
    bpy.ops.gaitsmith.bake()
    assert walker().animation_data.action.name != first and len(bpy.data.actions) == 3
    bpy.ops.gaitsmith.push_nla()
    assert walker().animation_data.action is None and len(walker().animation_data.nla_tracks) == 1
    scene.output = "NLA"
    bpy.ops.gaitsmith.bake()
    assert len(walker().animation_data.nla_tracks) == 2


def test_clearing_takes_the_action_away(scene) -> None:
    assert not bpy.ops.gaitsmith.bake_clear.poll()
    bpy.ops.gaitsmith.bake()
    bpy.ops.gaitsmith.bake_clear()
    assert walker().animation_data.action is None and len(scene.report) == 0


def test_a_cancelled_bake_leaves_nothing(scene, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = request.solve

    def slow(asked, progress, judged=True):
        while progress(0.1, "Walking"):
            time.sleep(0.005)
        return solve(asked, progress, judged)

    monkeypatch.setattr(request, "solve", slow)
    common.tell(bpy.context, "Of the bake before")
    run = BakeRun()
    run.begin(bpy.context)
    assert not run.look(bpy.context) and bpy.context.window_manager.gaitsmith.baking and message() == ""
    bpy.context.window_manager.gaitsmith.bake_cancel = True
    while not run.look(bpy.context):
        time.sleep(0.01)
    assert run.failed and "Nothing was changed" in run.message
    assert len(bpy.data.actions) == 0 and not bpy.context.window_manager.gaitsmith.baking


def test_a_character_removed_while_it_is_baked_is_told(scene) -> None:
    run = BakeRun()
    run.begin(bpy.context)
    bpy.data.objects.remove(walker())
    run.wait(bpy.context)
    assert run.failed and "removed or renamed" in run.message and len(bpy.data.actions) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: setattr(s, "pack_id", "gone"), "not installed"),
        (lambda s: setattr(s, "speed", 0.0), "speed"),
        (lambda s: setattr(s, "start", 50.0), "start"),
        (lambda s: setattr(s, "action_name", "moonwalk"), "moonwalk"),
        (lambda s: setattr(s.curve or bpy.data.objects["Way"], "scale", (0, 0, 0)), "length"),
        (lambda s: setattr(s.armature, "scale", (1, 2, 1)), "scale"),
    ],
)
def test_what_cannot_be_baked_is_refused_with_a_remedy(scene, change, words: str) -> None:
    change(scene)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.gaitsmith.bake()
    assert len(bpy.data.actions) == 0 and bpy.context.window_manager.gaitsmith.message_is_error


def test_a_strip_being_edited_in_the_nla_is_left_alone(scene) -> None:
    bpy.ops.gaitsmith.bake()
    bpy.ops.gaitsmith.push_nla()
    data = walker().animation_data
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    data.use_tweak_mode = True
    action = data.action.name
    for operator in (bpy.ops.gaitsmith.bake, bpy.ops.gaitsmith.push_nla, bpy.ops.gaitsmith.bake_clear):
        for scene.output in ("NEW", "REPLACE", "NLA"):
            with pytest.raises(RuntimeError, match="Leave its tweak mode"):
                operator()
    assert data.action.name == action and len(bpy.data.actions) == 1
    data.use_tweak_mode = False
    assert bpy.ops.gaitsmith.bake() == {"FINISHED"}


def test_bones_renamed_while_they_are_baked_are_told(scene) -> None:
    run = BakeRun()
    run.begin(bpy.context)
    walker().data.bones["LeftLeg"].name = "Shin"
    run.wait(bpy.context)
    assert run.failed and "renamed while it was baked: LeftLeg" in run.message and len(bpy.data.actions) == 0


def test_an_add_on_switched_off_while_it_bakes_can_bake_again(scene) -> None:
    BakeRun().begin(bpy.context)
    bpy.context.window_manager.gaitsmith.training = True
    blender_addon.unregister()
    blender_addon.register()
    now = bpy.context.window_manager.gaitsmith
    assert not now.baking and not now.training
    assert bpy.ops.gaitsmith.bake() == {"FINISHED"}


def test_the_preview_is_the_bake_to_come(scene) -> None:
    bpy.ops.gaitsmith.preview()
    found = preview_state.picture(bpy.context)
    assert found is not None and len(bpy.data.actions) == 0
    bpy.ops.gaitsmith.bake()
    frame = 40
    ankle = walker().evaluated_get(bpy.context.evaluated_depsgraph_get())
    bpy.context.scene.frame_set(frame)
    ankle = walker().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["LeftFoot"].head
    body = found.body(found.place(frame, 1, 24.0))
    assert np.linalg.norm(body - np.array(ankle), axis=1).min() < 0.01
    bpy.ops.gaitsmith.preview()
    assert preview_state.picture(bpy.context) is None


def test_a_changed_path_makes_the_preview_anew(scene) -> None:
    bpy.ops.gaitsmith.preview()
    before = preview_state.picture(bpy.context)
    scene.curve.data.splines[0].points[1].co = (0, -8, 0, 1)
    bpy.context.view_layer.update()
    preview_state.make_now(bpy.context)
    after = preview_state.picture(bpy.context)
    assert len(after) > len(before) and after.path[-1][1] == pytest.approx(-8.0, abs=0.05)
    scene.speed = 0.0
    preview_state.make_now(bpy.context)
    assert preview_state.picture(bpy.context) is None and "speed" in message().lower()


def test_the_preview_stops_when_another_file_is_opened(scene) -> None:
    bpy.ops.gaitsmith.preview()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert preview_state.picture(bpy.context) is None


def test_a_layer_goes_over_the_chosen_frames_and_is_taken_back(scene) -> None:
    bpy.ops.gaitsmith.bake()
    first = root_at(10)
    scene.output, scene.layer_whole, scene.layer_first, scene.layer_last = "LAYER", False, 30, 60
    scene.reverse = True
    before = bpy.context.scene.frame_end
    assert bpy.ops.gaitsmith.bake() == {"FINISHED"}
    assert "as a layer over the action" in message() and bpy.context.scene.frame_end == before
    assert np.allclose(root_at(10), first, atol=1e-5) and root_at(45)[1] < -1.0
    assert bpy.ops.gaitsmith.unbake() == {"FINISHED"} and root_at(45)[1] > -1.0
    assert bpy.ops.gaitsmith.unbake() == {"FINISHED"}
    assert walker().animation_data is None or walker().animation_data.action is None
    assert not bpy.ops.gaitsmith.unbake.poll()


def test_reduced_keys_are_fewer_and_said_so(scene) -> None:
    bpy.ops.gaitsmith.bake()
    dense = sum(len(curve.keyframe_points) for curve in compat.action_curves(walker().animation_data.action))
    scene.keys = "REDUCED"
    bpy.ops.gaitsmith.bake()
    sparse = sum(len(curve.keyframe_points) for curve in compat.action_curves(walker().animation_data.action))
    assert sparse < 0.3 * dense and "of the keys kept" in message()
    assert {row.label: row for row in scene.report}["Bake error"].verdict == "GOOD"


def test_limbs_by_ik_count_on_generated_rigs_alone(scene) -> None:
    scene.controls = "IK"
    assert bpy.ops.gaitsmith.bake() == {"FINISHED"}


@pytest.mark.parametrize("kind", ["wolf", "cat", "horse"])
def test_the_choice_of_controls_shows_and_counts_for_rigifys_animals(scene, kind) -> None:
    ob = rig_truths.open_rigify(kind, True)
    chosen = bpy.context.scene.gaitsmith
    chosen.armature, chosen.controls = ob, "BOTH"
    layout = FakeLayout()
    bpy.types.GAITSMITH_PT_output.draw(SimpleNamespace(layout=layout), bpy.context)
    assert {"rig_bones", "controls"} <= set(layout.names("prop"))
    assert request.controls_of(chosen, ob) == "both"
    chosen.rig_bones = "DEFORM"
    assert request.controls_of(chosen, ob) == "fk"


def test_landings_and_lifts_are_marked(scene) -> None:
    scene.markers = scene.lifts = True
    bpy.ops.gaitsmith.bake()
    names = [marker.name for marker in walker().animation_data.action.pose_markers]
    assert set(names) == {"L foot", "R foot", "L lifts", "R lifts"}


@pytest.mark.parametrize("output", ["NEW", "LAYER"])
def test_the_output_panel_offers_what_belongs_to_the_choice(scene, output) -> None:
    scene.output, scene.keys, scene.markers = output, "REDUCED", True
    layout = FakeLayout()
    bpy.types.GAITSMITH_PT_output.draw(SimpleNamespace(layout=layout), bpy.context)
    shown = layout.names("prop")
    assert {"keys", "key_degrees", "key_millimetres", "lifts"} <= set(shown)
    assert ("layer_in" in shown) == (output == "LAYER") != ("fit_scene" in shown)
    assert "gaitsmith.unbake" in layout.names("operator")
