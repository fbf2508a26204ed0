"""Panels and operators on a real scene: a curve and an armature."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

import blender_addon
from blender_addon import library
from blender_addon.operators import common, flow, preview_state
from blender_addon.scene import curves
from tests.addon.fake_layout import FakeLayout


@pytest.fixture(autouse=True)
def addon():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    yield
    blender_addon.unregister()


@pytest.fixture
def curve() -> bpy.types.Object:
    data = bpy.data.curves.new("Väg", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, [(0, 0, 0), (0, -4, 0), (3, -4, 1)], strict=True):
        point.co = (*place, 1)
    ob = bpy.data.objects.new("Väg", data)
    bpy.context.collection.objects.link(ob)
    return ob


#: name, parent, head, tail: the legs and spine of Rigify's human metarig, without Rigify.
BONES = [
    ("spine", None, (0, 0.05, 1.0), (0, 0.05, 1.15)),
    ("spine.001", "spine", (0, 0.05, 1.15), (0, 0.05, 1.3)),
    ("spine.002", "spine.001", (0, 0.05, 1.3), (0, 0.05, 1.5)),
    ("spine.004", "spine.002", (0, 0.05, 1.5), (0, 0.05, 1.6)),
    ("spine.006", "spine.004", (0, 0.05, 1.6), (0, 0.05, 1.8)),
    ("thigh.L", "spine", (0.1, 0.0, 1.0), (0.1, -0.01, 0.55)),
    ("shin.L", "thigh.L", (0.1, -0.01, 0.55), (0.1, 0.02, 0.09)),
    ("foot.L", "shin.L", (0.1, 0.02, 0.09), (0.1, -0.1, 0.02)),
    ("toe.L", "foot.L", (0.1, -0.1, 0.02), (0.1, -0.17, 0.02)),
]


@pytest.fixture
def metarig() -> bpy.types.Object:
    data = bpy.data.armatures.new("metarig")
    ob = bpy.data.objects.new("metarig", data)
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for mirrored in (False, True):
        for name, parent, head, tail in BONES:
            if mirrored and ".L" not in name:
                continue
            sign = -1 if mirrored else 1
            bone = data.edit_bones.new(name.replace(".L", ".R") if mirrored else name)
            bone.head, bone.tail = (sign * head[0], *head[1:]), (sign * tail[0], *tail[1:])
            if parent is not None:
                bone.parent = data.edit_bones[parent.replace(".L", ".R") if mirrored else parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.select_set(True)
    return ob


def draw(name: str) -> FakeLayout:
    layout = FakeLayout()
    panel = getattr(bpy.types, name)
    if panel.poll(bpy.context):
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def select(ob: bpy.types.Object) -> None:
    for other in bpy.context.view_layer.objects.selected:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def test_selected_objects_are_taken_when_the_fields_are_empty(curve, metarig) -> None:
    select(curve)
    metarig.select_set(True)
    assert common.chosen_curve(bpy.context) == curve and common.chosen_armature(bpy.context) == metarig
    assert common.missing(bpy.context) == ""
    common.adopt_selection(bpy.context)
    assert bpy.context.scene.gaitsmith.curve == curve and bpy.context.scene.gaitsmith.armature == metarig


def test_the_path_panel_tells_the_length_on_the_ground(curve) -> None:
    bpy.context.scene.gaitsmith.curve = curve
    assert "7.0 m long" in draw("GAITSMITH_PT_path").labels()


def test_the_schedule_panel_tells_the_duration_or_the_trouble(curve) -> None:
    chosen = bpy.context.scene.gaitsmith
    chosen.curve = curve
    assert "s in all" in draw("GAITSMITH_PT_schedule").labels()
    chosen.speed = 0.0
    assert "speed" in draw("GAITSMITH_PT_schedule").labels().lower()


def test_the_schedule_panel_tells_of_an_action_that_the_pack_lacks(curve, monkeypatch: pytest.MonkeyPatch) -> None:
    walker = library.Pack("w", Path("w"), "Walker", "mm", ("stand", "walk"), (0.5, 1.5))
    monkeypatch.setattr(library, "find", lambda _id: walker)
    chosen = bpy.context.scene.gaitsmith
    chosen.curve = curve
    assert "s in all" in draw("GAITSMITH_PT_schedule").labels()
    chosen.marks.add().action_name = "run"
    flow.forget_plan()
    assert '"run"' in draw("GAITSMITH_PT_schedule").labels()


def test_an_edited_curve_is_read_again(curve) -> None:
    bpy.context.scene.gaitsmith.curve = curve
    assert flow.curve_facts(bpy.context)[0] == pytest.approx(7.0, abs=1e-3)
    curve.data.splines[0].points[2].co = (5, -4, 0, 1)
    bpy.context.view_layer.update()
    assert flow.curve_facts(bpy.context)[0] == pytest.approx(9.0, abs=1e-3)
    curve.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    assert flow.curve_facts(bpy.context)[0] == pytest.approx(18.0, abs=1e-3)


def test_reading_a_curve_in_edit_mode_is_no_change_of_it(curve, monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[None] = []
    monkeypatch.setattr(preview_state, "scene_changed", lambda: changes.append(None))
    bpy.context.scene.gaitsmith.curve = curve
    bpy.context.view_layer.objects.active = curve
    bpy.ops.object.mode_set(mode="EDIT")
    assert flow.curve_length(bpy.context) == pytest.approx(7.0, abs=1e-3)
    changes.clear()
    curves.read_curve(curve)
    assert not changes, "the preview would begin anew at each of its own readings, without end"
    bpy.ops.curve.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(2.0, 2.0, 2.0))
    bpy.context.view_layer.update()
    assert changes
    assert flow.curve_length(bpy.context) == pytest.approx(14.0, abs=1e-3)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_message_is_told_line_by_line_and_taken_back_with_what_it_tells(curve) -> None:
    common.tell(bpy.context, "Walker: frames 1 to 9\nFrom 2 m on it goes slower", "path")
    drawn = [text for kind, text in draw("GAITSMITH_PT_path").drawn if kind == "label"]
    assert "Walker: frames 1 to 9" in drawn and "From 2 m on it goes slower" in drawn
    flow._on_undo()
    assert not common.state(bpy.context).message


def test_while_a_path_is_drawn_the_panel_says_how(curve) -> None:
    curve.data.splines.clear()
    bpy.context.scene.gaitsmith.curve = curve
    bpy.context.view_layer.objects.active = curve
    assert "no points" in draw("GAITSMITH_PT_path").labels()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "left mouse button" in draw("GAITSMITH_PT_path").labels()
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("points", [[], [(0, 0, 0)], [(1, 1, 0), (1, 1, 0)], [(0, 0, 0), (float("nan"), 0, 0)]])
def test_a_broken_curve_is_told_in_the_panel(curve, points) -> None:
    spline = curve.data.splines[0]
    curve.data.splines.remove(spline)
    if points:
        spline = curve.data.splines.new("POLY")
        spline.points.add(len(points) - 1)
        for point, place in zip(spline.points, points, strict=True):
            point.co = (*place, 1)
    bpy.context.scene.gaitsmith.curve = curve
    length, problem = flow.curve_facts(bpy.context)
    assert length is None and problem
    assert problem.split()[0] in draw("GAITSMITH_PT_path").labels()


def test_marks_stand_on_the_curve(curve) -> None:
    chosen = bpy.context.scene.gaitsmith
    chosen.curve = curve
    bpy.ops.gaitsmith.mark_add(at=2.0)
    bpy.ops.gaitsmith.mark_add(at=5.5)
    first, second = flow.mark_spots(bpy.context)
    assert first.foot == pytest.approx((0, -2, 0)) and second.foot == pytest.approx((1.5, -4, 0.5))
    assert second.active and not first.active and first.text == "2.0 m  walk 1.2 m/s"
    chosen.reverse = True
    assert flow.mark_spots(bpy.context)[0].foot == pytest.approx((1.0, -4, 1 / 3), abs=1e-4)


def test_the_metarig_is_mapped_and_the_map_can_be_corrected(metarig) -> None:
    bpy.context.scene.gaitsmith.armature = metarig
    labels = draw("GAITSMITH_PT_character").labels()
    assert "Two legs" in labels
    bpy.ops.gaitsmith.bones_map()
    chosen = bpy.context.scene.gaitsmith
    rows = {row.role: row for row in chosen.bones}
    assert rows["left_knee"].bone == "shin.L" and rows["left_knee"].required
    assert "prop" in {kind for kind, _ in draw("GAITSMITH_PT_bones").drawn} or chosen.bones
    rows["left_knee"].bone = "thigh.L"
    with pytest.raises(RuntimeError, match=r"thigh\.L"):
        bpy.ops.gaitsmith.bones_apply()
    assert "thigh.L" in bpy.context.window_manager.gaitsmith.message
    rows["left_knee"].bone = "shin.L"
    rows["head"].bone = ""
    assert bpy.ops.gaitsmith.bones_apply() == {"FINISHED"}
    from blender_addon.scene import rigs

    assert "head" not in rigs.bone_map(metarig)


def test_a_pose_becomes_the_reference_and_the_rest_pose_again(metarig) -> None:
    from blender_addon.scene import rigs

    bpy.context.scene.gaitsmith.armature = metarig
    bpy.ops.gaitsmith.bones_map()
    rest = rigs.read_rig(metarig).skeleton.rest_rotations
    metarig.pose.bones["spine.001"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    assert bpy.ops.gaitsmith.reference_use() == {"FINISHED"}
    assert "A pose is the reference" in draw("GAITSMITH_PT_bones").labels()
    assert abs(rigs.read_rig(metarig).skeleton.rest_rotations - rest).max() > 0.1
    bpy.ops.gaitsmith.reference_clear()
    assert abs(rigs.read_rig(metarig).skeleton.rest_rotations - rest).max() < 1e-9


def test_the_map_is_saved_and_loaded_by_file(metarig, tmp_path) -> None:
    bpy.context.scene.gaitsmith.armature = metarig
    bpy.ops.gaitsmith.bones_map()
    path = tmp_path / "karta ü.json"
    assert bpy.ops.gaitsmith.bones_save(filepath=str(path)) == {"FINISHED"}
    bpy.context.scene.gaitsmith.bones.clear()
    assert bpy.ops.gaitsmith.bones_load(filepath=str(path)) == {"FINISHED"}
    assert any(row.bone == "shin.L" for row in bpy.context.scene.gaitsmith.bones)
    path.write_text("{")
    with pytest.raises(RuntimeError, match="no bone map"):
        bpy.ops.gaitsmith.bones_load(filepath=str(path))


def test_an_armature_without_legs_is_refused_in_words() -> None:
    bpy.ops.object.armature_add()
    assert "no legs" in draw("GAITSMITH_PT_character").labels()


def test_the_ground_from_selection() -> None:
    assert not bpy.ops.gaitsmith.ground_from_selection.poll()
    bpy.ops.mesh.primitive_plane_add()
    first = bpy.context.active_object
    bpy.ops.gaitsmith.ground_from_selection()
    chosen = bpy.context.scene.gaitsmith
    assert chosen.ground == "OBJECT" and chosen.ground_object == first
    bpy.ops.mesh.primitive_cube_add()
    first.select_set(True)
    bpy.ops.gaitsmith.ground_from_selection()
    assert chosen.ground == "COLLECTION" and len(chosen.ground_collection.objects) == 2


def test_poll_messages_say_what_is_missing(curve) -> None:
    assert not bpy.ops.gaitsmith.bake.poll()
    assert "a path" in common.missing(bpy.context) and "a character" in common.missing(bpy.context)
    bpy.context.scene.gaitsmith.curve = curve
    assert "a path" not in common.missing(bpy.context)


def test_a_facing_object_is_asked_for(curve, metarig) -> None:
    chosen = bpy.context.scene.gaitsmith
    chosen.curve, chosen.armature, chosen.facing = curve, metarig, "OBJECT"
    assert "face" in common.missing(bpy.context)
    chosen.facing_object = curve
    chosen.ground = "OBJECT"
    assert "stand on" in common.missing(bpy.context)


def test_training_sources(metarig) -> None:
    from blender_addon.operators import training_session

    chosen = bpy.context.scene.gaitsmith
    chosen.armature = metarig
    assert training_session.sources(bpy.context) == []
    for frame, z in ((1, 0.0), (49, 1.0)):
        bone = metarig.pose.bones["spine"]
        bone.location.z = z
        bone.keyframe_insert("location", frame=frame)
    name = metarig.animation_data.action.name
    assert training_session.sources(bpy.context) == [("metarig", name)]
    chosen.train_source = "ALL"
    assert training_session.sources(bpy.context) == [("metarig", name)]
    assert training_session.source_summary(bpy.context) == "1 action (2 s)"
    draw("GAITSMITH_PT_train")


def test_checking_data_without_actions_is_refused(metarig) -> None:
    bpy.context.scene.gaitsmith.armature = metarig
    assert not bpy.ops.gaitsmith.data_check.poll()
    assert not bpy.ops.gaitsmith.train.poll()


def test_drawing_a_path_adds_an_empty_curve() -> None:
    from blender_addon.operators import path

    ob = path.new_curve(bpy.context)
    path.prepare_pen(bpy.context, on_surface=True)
    pen = bpy.context.scene.tool_settings.curve_paint_settings
    assert bpy.context.scene.gaitsmith.curve == ob and ob.type == "CURVE" and not ob.data.splines
    assert pen.depth_mode == "SURFACE" and pen.curve_type == "BEZIER"
    path.prepare_pen(bpy.context, on_surface=False)
    assert pen.depth_mode == "CURSOR" and bpy.context.scene.cursor.location.z == 0.0
