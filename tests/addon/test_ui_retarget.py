"""Retargeting through panel and operators: one press, what is said, cancelling."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import blender_addon
from blender_addon import retargeting
from blender_addon.operators.retarget import RetargetRun
from tests.addon.fake_layout import FakeLayout
from tests.addon.movers import animate, joints, set_fps, steady_walk
from tests.addon.rig_makers import armature_of
from tests.synthetic import biped


@pytest.fixture(autouse=True)
def scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    set_fps(30)
    source = armature_of(biped(), "Actor")
    animate(source, steady_walk(2.0, 1.0), "March", frame_start=5)
    chosen = bpy.context.scene.gaitsmith
    chosen.armature = armature_of(biped(), "Hero", root=True)
    chosen.retarget_source = source
    yield chosen
    blender_addon.unregister()


def state():
    return bpy.context.window_manager.gaitsmith


def drawn() -> FakeLayout:
    layout = FakeLayout()
    bpy.types.GAITSMITH_PT_retarget.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def test_one_press_carries_the_sources_action_over(scene) -> None:
    assert bpy.ops.gaitsmith.retarget() == {"FINISHED"}
    hero = scene.armature
    assert hero.animation_data.action.name == "March Hero"
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (5, 65)
    ours, theirs = (joints(ob, ["Hips"], [5, 65])[:, 0] for ob in (hero, scene.retarget_source))
    # Planting a made-up walk, whose feet slide, lowers the hips by some centimetres.
    assert np.all(np.abs(ours - theirs) < [0.03, 0.03, 0.05])
    assert "frames 5 to 65" in drawn().labels()
    rows = {row.label: row for row in scene.report}
    assert rows["Bake error"].verdict == "GOOD" and rows["Foot slide per m of leg"].verdict == "GOOD"
    assert all(row.frame >= 5 for row in scene.report if row.frame > 0)


def test_the_feet_stand_on_the_panels_terrain(scene) -> None:
    bpy.ops.mesh.primitive_plane_add(size=30, location=(0, 0, 0.7))
    scene.ground, scene.ground_object = "OBJECT", bpy.context.object
    assert bpy.ops.gaitsmith.retarget() == {"FINISHED"}
    assert 0.7 < joints(scene.armature, ["LeftToes", "RightToes"], range(5, 66))[..., 2].min() < 0.75
    scene.retarget_plant = False
    assert bpy.ops.gaitsmith.retarget() == {"FINISHED"}
    assert joints(scene.armature, ["LeftToes", "RightToes"], range(5, 66))[..., 2].min() < 0.1


def test_all_actions_of_the_source_but_not_those_of_others(scene) -> None:
    animate(scene.retarget_source, steady_walk(1.0, 0.0), "Wait")
    stranger = armature_of(biped(), "Stranger")
    for bone in stranger.data.bones:
        bone.name = f"{bone.name}_x"
    action = bpy.data.actions.new("Strange")
    stranger.animation_data_create().action = action
    stranger.pose.bones[0].keyframe_insert("location", frame=1)
    scene.retarget_all = True
    assert bpy.ops.gaitsmith.retarget() == {"FINISHED"}
    assert {"Wait Hero", "March Hero"} <= set(bpy.data.actions.keys())
    assert "Strange Hero" not in bpy.data.actions


def test_the_panels_ways_to_write_hold_here_too(scene) -> None:
    scene.keys, scene.markers = "REDUCED", True
    assert bpy.ops.gaitsmith.retarget() == {"FINISHED"}
    action = scene.armature.animation_data.action
    from blender_addon.scene.compat import action_curves

    counts = [len(curve.keyframe_points) for curve in action_curves(action)]
    assert 0 < sum(counts) < 0.6 * 61 * len(counts)
    assert {marker.name for marker in action.pose_markers} == {"L foot", "R foot"}
    rows = {row.label: row for row in scene.report}
    assert rows["Bake error"].verdict == "GOOD"


def test_the_panel_says_what_is_missing(scene) -> None:
    scene.retarget_source.animation_data_clear()
    assert "Actor has no action" in drawn().labels() and not bpy.ops.gaitsmith.retarget.poll()
    scene.retarget_source = scene.armature
    assert "same armature" in drawn().labels() and not bpy.ops.gaitsmith.retarget.poll()
    scene.retarget_source = None
    assert "a source" in drawn().labels()
    assert {"retarget_source", "retarget_action", "retarget_plant"} <= drawn().names("prop")


def test_an_action_of_another_rig_is_refused_by_its_bones(scene) -> None:
    strange = armature_of(biped(), "Stranger")
    animate(strange, steady_walk(1.0, 0.5), "Strange")
    for bone in scene.retarget_source.data.bones:
        bone.name = f"mixamorig:{bone.name}"
    scene.retarget_action = bpy.data.actions["Strange"]
    before = set(bpy.data.actions.keys())
    with pytest.raises(RuntimeError, match="another rig: of the 20 bones it moves, 'Actor' has 0"):
        bpy.ops.gaitsmith.retarget()
    assert state().message_is_error and set(bpy.data.actions.keys()) == before and not state().retargeting


def test_cancelling_while_reading_or_computing_leaves_nothing(scene, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(bpy.data.actions.keys())
    run = RetargetRun()
    run.begin(bpy.context)
    assert not run.look(bpy.context) and state().retargeting
    assert "Reading March" in drawn().labels() and "gaitsmith.retarget_cancel" in drawn().names("operator")
    bpy.ops.gaitsmith.retarget_cancel()
    assert run.look(bpy.context) and run.cancelled and not state().retargeting
    solve = retargeting.solve

    def slow(found, progress):
        while progress(0.1, "Planting feet"):
            pass
        return solve(found, progress)

    monkeypatch.setattr(retargeting, "solve", slow)
    run = RetargetRun()
    run.begin(bpy.context)
    while state().retarget_stage != "Planting feet":
        assert not run.look(bpy.context)
    state().retarget_cancel = True
    while not run.look(bpy.context):
        pass
    assert run.cancelled and set(bpy.data.actions.keys()) == before
    assert scene.armature.animation_data is None


def test_a_character_removed_meanwhile_is_told(scene) -> None:
    run = RetargetRun()
    run.begin(bpy.context)
    bpy.context.window_manager.gaitsmith.retarget_cancel = False
    while run._worker is None:
        run.look(bpy.context)
    bpy.data.objects.remove(scene.armature)
    run.wait(bpy.context)
    assert run.failed and "removed or renamed" in run.message


@pytest.mark.parametrize("what", ["source", "action", "character", "ground"])
def test_what_is_removed_while_it_is_read_is_told(scene, what: str) -> None:
    bpy.ops.mesh.primitive_plane_add(size=30)
    scene.ground, scene.ground_object = "OBJECT", bpy.context.object
    animate(scene.retarget_source, steady_walk(6.0, 1.0), "Long")
    run = RetargetRun()
    run.begin(bpy.context)
    run.look(bpy.context)
    if what == "action":
        bpy.data.actions.remove(bpy.data.actions["Long"])
    else:
        named = {"source": "Actor", "character": "Hero", "ground": scene.ground_object.name}
        bpy.data.objects.remove(bpy.data.objects[named[what]])
    run.wait(bpy.context)
    assert run.failed and "removed" in run.message and not state().retargeting
