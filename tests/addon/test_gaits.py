"""Gaits in the panel: the preview without a window, bakes of what it shows, own cycles, and words for two legs."""

from __future__ import annotations

import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import blender_addon
from blender_addon import library
from blender_addon.motion.gait_analysis.cycles import check_cycle
from blender_addon.motion.gait_analysis.footfalls import analyse_clip
from blender_addon.motion.gait_model.table import gait_for_speed, load_table
from blender_addon.motion.gait_picture import bars
from blender_addon.motion.skeleton import make_skeleton
from blender_addon.operators import animal, gait_stage, gait_state
from blender_addon.operators.gait_bake import GaitBakeRun
from blender_addon.overlays import gaits as overlay
from blender_addon.scene import read_actions, rigs
from blender_addon.scene.compat import action_curves
from tests.addon.fake_layout import FakeLayout
from tests.addon.test_ui_scene import BONES


@pytest.fixture(autouse=True)
def scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    chosen = bpy.context.scene.gaitsmith
    chosen.pack_id = library.GAIT_MODEL
    bpy.ops.gaitsmith.character_create()
    chosen.property_unset("pack_id")
    bpy.context.scene.render.fps = 30
    yield chosen
    blender_addon.unregister()


def fox() -> bpy.types.Object:
    return bpy.context.scene.gaitsmith.armature


def message() -> str:
    return bpy.context.window_manager.gaitsmith.message


def draw(name: str) -> FakeLayout:
    layout = FakeLayout()
    getattr(bpy.types, name).draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def make_curve() -> bpy.types.Object:
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0, -5, 0, 1)
    ob = bpy.data.objects.new("Way", data)
    bpy.context.collection.objects.link(ob)
    return ob


def biped() -> bpy.types.Object:
    ob = bpy.data.objects.new("Person", bpy.data.armatures.new("Person"))
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for mirrored in (False, True):
        for name, parent, head, tail in BONES:
            if mirrored and not name.endswith(".L"):
                continue
            flip = np.array([-1.0 if mirrored else 1.0, 1.0, 1.0])
            swap = (lambda n: n.replace(".L", ".R")) if mirrored else (lambda n: n)
            bone = ob.data.edit_bones.new(swap(name))
            bone.head, bone.tail = flip * head, flip * tail
            bone.parent = ob.data.edit_bones.get(swap(parent)) if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def play(seconds: float) -> None:
    for _ in range(round(seconds * 60)):
        assert gait_state.tick(bpy.context, 1.0 / 60.0)
        gait_state.wait()


def shown():
    playing = gait_state.playing()
    assert playing is not None
    return playing[0].shown()


# The preview ----------------------------------------------------------------------------------------------------


def test_the_preview_plays_without_a_curve_and_answers_the_sliders(scene) -> None:
    assert bpy.ops.gaitsmith.gait_preview() == {"FINISHED"}
    play(1.0)
    assert shown().gait == "walk" and bpy.context.window_manager.gaitsmith.gaits_playing
    scene.gaits.gait = "trot"
    scene.gaits.speed = 2.6
    play(2.0)
    assert shown().gait == "trot" and shown().speed == pytest.approx(2.6)
    bpy.ops.gaitsmith.gait_preview()
    assert gait_state.playing() is None and not bpy.context.window_manager.gaitsmith.gaits_playing


@pytest.mark.parametrize("gait", ["walk", "auto"])
def test_the_preview_goes_no_faster_than_the_gait_is_made_and_says_so(scene, gait: str) -> None:
    scene.gaits.gait, scene.gaits.speed = gait, 25.0
    high = animal.speed_range(bpy.context, gait)[1]
    bpy.ops.gaitsmith.gait_preview()
    play(0.2)
    assert shown().gait == ("walk" if gait == "walk" else "gallop") and shown().speed == pytest.approx(high)
    told = f"{high:.2f} m/s is used, not 25.00"
    scene.gaits.speed = high
    assert gait_stage.too_fast(bpy.context) == ""
    scene.gaits.speed = 25.0
    bpy.ops.gaitsmith.dismiss()
    assert told in draw("GAITSMITH_PT_gaits").labels()
    bpy.ops.gaitsmith.gait_bake()
    assert told in message(), "in the same words as the bake"


def test_along_a_path_a_gait_that_is_too_slow_goes_over_into_another(scene) -> None:
    scene.curve = make_curve()
    scene.gaits.where, scene.gaits.gait, scene.gaits.speed = "CURVE", "walk", 2.5
    bpy.ops.gaitsmith.gait_preview()
    play(1.0)
    assert shown().gait == "trot" and shown().speed > animal.speed_range(bpy.context, "walk")[1]
    assert gait_stage.too_fast(bpy.context) == ""


def test_nothing_in_the_file_changes_while_it_plays(scene) -> None:
    before = [(bone.name, np.array(bone.matrix_basis)) for bone in fox().pose.bones]
    bpy.ops.gaitsmith.gait_preview()
    play(1.0)
    assert fox().animation_data is None and not bpy.data.actions
    for name, matrix in before:
        assert np.array_equal(matrix, np.array(fox().pose.bones[name].matrix_basis))


def test_in_place_the_animal_is_drawn_where_it_stands(scene) -> None:
    fox().location, fox().rotation_euler = (3.0, 2.0, 0.5), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.gaitsmith.gait_preview()
    play(1.5)
    stream, stage = gait_state.playing()
    now = stream.shown()
    matrix = stage.matrix(now.root)
    body = now.body @ matrix[:3, :3].T + matrix[:3, 3]
    rest = np.array([fox().matrix_world @ bone.head_local for bone in fox().data.bones if bone.use_deform])
    assert body.mean(axis=0)[:2] == pytest.approx(rest.mean(axis=0)[:2], abs=0.12)
    assert body[:, 2].min() == pytest.approx(0.5, abs=0.04)
    # It looks the way the rig does: head and tail lie on one line with the rest pose's.
    long, was = np.ptp(body[:, :2], axis=0), np.ptp(rest[:, :2], axis=0)
    assert np.arctan2(*long) == pytest.approx(np.arctan2(*was), abs=0.25)


def test_in_place_it_follows_when_the_character_is_moved(scene) -> None:
    bpy.ops.gaitsmith.gait_preview()
    play(0.5)
    fox().location = (2.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert gait_state.playing()[1].place[0] == pytest.approx(2.0)
    play(0.5)


def test_along_the_path_it_goes_to_the_end_and_begins_again(scene) -> None:
    scene.curve = make_curve()
    scene.gaits.where, scene.gaits.speed = "CURVE", 2.0
    bpy.ops.gaitsmith.gait_preview()
    y = []
    for _ in range(8):
        play(1.0)
        y.append(shown().root[1])
    assert min(y) < -4.5 and np.diff(y).max() > 2.0


def test_the_timelines_preview_draws_four_feet(scene) -> None:
    from blender_addon.operators import preview_state
    from blender_addon.overlays.draw import _feet

    scene.curve = make_curve()
    scene.action, scene.speed = "auto", 2.0
    bpy.ops.gaitsmith.preview()
    found = preview_state.picture(bpy.context)
    assert {step.side for step in found.footprints} == {0, 1, 2, 3}
    assert [name for name, _ in _feet(found)] == ["LH", "RH", "LF", "RF"]
    size = np.ptp(found.footprints[0].outline, axis=0)
    assert size[0] == pytest.approx(size[1], rel=0.01) and 0.02 < size[0] < 0.12
    bpy.ops.gaitsmith.preview()


def test_on_a_terrain_the_feet_stand_on_it(scene) -> None:
    scene.curve = make_curve()
    bpy.ops.mesh.primitive_plane_add(size=20.0, rotation=(0.15, 0.0, 0.0))
    scene.ground, scene.ground_object = "OBJECT", bpy.context.object
    scene.gaits.where = "CURVE"
    bpy.ops.gaitsmith.gait_preview()
    play(2.0)
    stream, _ = gait_state.playing()
    done = [stance for stance in stream.stances if 30 < stance.first < 90]
    assert len(done) > 4
    for stance in done:
        assert stance.place[2] == pytest.approx(np.tan(0.15) * stance.place[1], abs=0.012)


def test_a_path_that_is_over_at_the_start_is_refused(scene) -> None:
    scene.curve, scene.start, scene.gaits.where = make_curve(), 4.8, "CURVE"
    with pytest.raises(RuntimeError, match="nearer to 0"):
        bpy.ops.gaitsmith.gait_preview()
    assert gait_state.playing() is None


def test_another_place_or_path_takes_effect_while_it_plays(scene) -> None:
    scene.curve = curve = make_curve()
    scene.gaits.speed = 1.5
    bpy.ops.gaitsmith.gait_preview()
    play(1.0)
    scene.gaits.where = "CURVE"
    play(1.0)
    gone = shown().root[1]
    assert not gait_state.playing()[1].in_place and gone == pytest.approx(-1.5, abs=0.2)
    curve.data.splines[0].points[0].co = (1.0, 0.0, 0.0, 1.0)
    curve.data.splines[0].points[1].co = (1.0, -5.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    play(1.0)
    assert shown().root[0] == pytest.approx(1.0, abs=0.05) and shown().root[1] < gone
    scene.curve = None
    assert gait_state.playing() is None and "path" in message()


def test_another_file_ends_it_and_forgets_the_animal(scene) -> None:
    bpy.ops.gaitsmith.gait_preview()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert gait_state.playing() is None and not bpy.context.window_manager.gaitsmith.gaits_playing
    assert animal.facts(bpy.context) is None


def test_a_longer_legged_edit_is_seen(scene) -> None:
    before = animal.facts(bpy.context).height
    bpy.context.view_layer.objects.active = fox()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in fox().data.edit_bones:
        bone.head *= 2.0
        bone.tail *= 2.0
    bpy.ops.object.mode_set(mode="OBJECT")
    assert animal.facts(bpy.context).height == pytest.approx(2.0 * before, rel=0.02)


def test_a_removed_animal_ends_it_with_words(scene) -> None:
    bpy.ops.gaitsmith.gait_preview()
    bpy.data.objects.remove(fox())
    assert not gait_state.tick(bpy.context, 0.01)
    assert "removed or renamed" in message()


def test_a_tick_takes_less_than_4_ms_of_its_own(scene) -> None:
    bpy.ops.gaitsmith.gait_preview()
    play(0.5)
    took = []
    for number in range(240):
        if number % 60 == 0:
            scene.gaits.speed += 0.5
        begun = time.thread_time()
        gait_state.tick(bpy.context, 1.0 / 60.0)
        stream, stage = gait_state.playing()
        now = stream.shown()
        stage.matrix(now.root)
        bars(stream.stances, now.frame, stream.fps, overlay.BEFORE_S, overlay.AFTER_S)
        took.append(time.thread_time() - begun)
        time.sleep(0.002)
    assert np.max(took) < 4e-3


def test_the_speed_slider_spans_the_gaits_of_an_animal_of_this_size(scene) -> None:
    height = animal.facts_now(bpy.context).height
    scene.gaits.share = 1.0
    assert scene.gaits.speed == pytest.approx(load_table()["gallop"].speeds(height)[1])
    assert gait_for_speed(scene.gaits.speed, height) == "gallop"
    scene.gaits.gait = "walk"
    assert scene.gaits.speed == pytest.approx(load_table()["walk"].speeds(height)[1])
    scene.gaits.share = 0.0
    assert 0.1 < scene.gaits.speed < 0.4
    scene.gaits.gait = "trot"
    assert scene.gaits.share == pytest.approx(0.0, abs=1e-6)


# Two legs and no legs -------------------------------------------------------------------------------------------


def test_two_legs_are_told_that_gaits_are_for_four(scene) -> None:
    scene.armature = biped()
    assert not bpy.ops.gaitsmith.gait_preview.poll() and not bpy.ops.gaitsmith.gait_bake.poll()
    layout = draw("GAITSMITH_PT_gaits")
    assert "four legs" in layout.labels() and not layout.names("operator")


def test_without_a_character_the_panel_says_what_is_needed(scene) -> None:
    bpy.data.objects.remove(fox())
    assert "an animal" in draw("GAITSMITH_PT_gaits").labels()


def test_the_pack_in_use_fits_the_legs_until_one_is_chosen(scene) -> None:
    assert scene.pack == library.GAIT_MODEL and animal.misfit(bpy.context) == ""
    animals = fox()
    scene.armature = biped()
    assert scene.pack == library.DEFAULT_PACK and animal.misfit(bpy.context) == ""
    scene.pack = library.GAIT_MODEL
    assert "two" in draw("GAITSMITH_PT_motion").labels()
    scene.armature = animals
    scene.pack = library.DEFAULT_PACK
    assert "Gait model (no pack)" in draw("GAITSMITH_PT_motion").labels()
    scene.curve = make_curve()
    with pytest.raises(RuntimeError, match="two legs"):
        bpy.ops.gaitsmith.bake()


# The schedule ---------------------------------------------------------------------------------------------------


def test_animals_are_offered_their_gaits_and_rests(scene) -> None:
    from blender_addon import choices

    names = [item[0] for item in choices.action_items(scene, bpy.context)]
    assert names == ["auto", "walk", "pace", "trot", "canter", "gallop", "stand", "sit", "lie", "jump"]
    assert all(len(item[2]) > 5 for item in choices.action_items(scene, bpy.context))
    scene.armature = biped()
    assert "gallop" not in choices.offered_actions(bpy.context)


def test_speeds_begin_as_fits_the_animals_size(scene) -> None:
    scene.action = "trot"
    small = scene.speed
    fox().scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    scene.action = "walk"
    scene.action = "trot"
    assert scene.speed == pytest.approx(small * np.sqrt(2.0), rel=0.01)


def test_rests_and_leaps_hide_what_they_do_not_have(scene) -> None:
    bpy.ops.gaitsmith.mark_add(at=2.0)
    mark = scene.marks[0]
    for action, names in (("sit", {"pause"}), ("jump", set()), ("gallop", {"speed", "ease", "pause"})):
        mark.action = action
        drawn = [name for kind, name in draw("GAITSMITH_PT_schedule").drawn if kind == "prop"]
        after = drawn[drawn.index("at") + 1 :]
        assert set(after) - {"action"} == names


# Bake this ------------------------------------------------------------------------------------------------------


def baked_clip():
    return read_actions.read_action(fox(), skeleton=rigs.read_rig(fox()).skeleton)


def test_one_cycle_is_baked_in_place_and_closes(scene) -> None:
    scene.gaits.gait, scene.gaits.speed = "trot", 2.4
    assert bpy.ops.gaitsmith.gait_bake() == {"FINISHED"}
    assert "one cycle" in message() and "trot" in fox().animation_data.action.name
    clip = baked_clip()
    assert clip.rotations[0] == pytest.approx(clip.rotations[-1], abs=1e-4)
    assert clip.hips[0] == pytest.approx(clip.hips[-1], abs=1e-4)
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    assert last - first + 1 == len(clip) - 1
    found = check_cycle(clip)
    assert found.usable and found.gait.label == "trot"
    assert found.stride.speed == pytest.approx(2.4, rel=0.12)


@pytest.mark.parametrize("length", ["CYCLE", "SECONDS"])
@pytest.mark.parametrize(("gait", "speed"), [("walk", 25.0), ("gallop", 0.0), ("auto", 0.0), ("auto", 25.0)])
def test_speeds_beyond_the_gait_are_brought_into_it_and_said(scene, length: str, gait: str, speed: float) -> None:
    scene.gaits.gait, scene.gaits.length, scene.gaits.seconds = gait, length, 1.0
    scene.gaits.speed = speed
    low, high = animal.speed_range(bpy.context, gait)
    used = high if speed > high else low
    assert bpy.ops.gaitsmith.gait_bake() == {"FINISHED"}
    assert f" at {used:.2f} m/s, frames" in message() and f"not {speed:.2f}" in message()


def test_a_bake_along_the_path_without_speed_is_refused(scene) -> None:
    scene.gaits.where, scene.curve, scene.gaits.speed = "CURVE", make_curve(), 0.0
    with pytest.raises(RuntimeError, match="Set a speed above 0"):
        bpy.ops.gaitsmith.gait_bake()
    assert not bpy.data.actions


def test_seconds_in_place_last_as_long_as_asked(scene) -> None:
    scene.gaits.length, scene.gaits.seconds, scene.gaits.speed = "SECONDS", 3.0, 1.0
    bpy.ops.gaitsmith.gait_bake()
    assert len(baked_clip()) == 91
    assert np.ptp(baked_clip().hips[:, :2], axis=0).max() < 0.15


def test_a_bake_in_place_is_undone_and_reduced(scene) -> None:
    scene.keys = "REDUCED"
    bpy.ops.gaitsmith.gait_bake()
    keys = [len(curve.keyframe_points) for curve in action_curves(fox().animation_data.action)]
    assert min(keys) < max(keys)
    bpy.ops.gaitsmith.unbake()
    assert fox().animation_data is None or fox().animation_data.action is None


def test_along_the_path_the_gait_and_speed_of_the_preview_are_baked(scene) -> None:
    scene.curve = make_curve()
    scene.gaits.where, scene.gaits.gait, scene.gaits.speed = "CURVE", "trot", 2.0
    scene.pack_id = "biped-lmm"  # what is previewed needs no pack
    assert bpy.ops.gaitsmith.gait_bake() == {"FINISHED"}
    assert len(scene.report) > 5
    assert "trot" in fox().animation_data.action.name
    layout = FakeLayout()
    panel = bpy.types.GAITSMITH_PT_quality
    panel.draw(SimpleNamespace(layout=layout, _figure=lambda *a: panel._figure(None, *a)), bpy.context)
    assert "Trot, " in layout.labels() and "strides of" in layout.labels()


def test_a_bake_ends_the_preview_and_can_be_cancelled(scene) -> None:
    bpy.ops.gaitsmith.gait_preview()
    run = GaitBakeRun()
    run.begin(bpy.context)
    assert gait_state.playing() is None
    bpy.context.window_manager.gaitsmith.bake_cancel = True
    while not run.look(bpy.context):
        time.sleep(0.01)
    assert run.failed and not bpy.data.actions and not bpy.context.window_manager.gaitsmith.baking


# An own cycle as shape ------------------------------------------------------------------------------------------


def test_an_own_cycle_becomes_the_shape_and_goes_again(scene) -> None:
    assert not bpy.ops.gaitsmith.gait_shape_use.poll()
    scene.gaits.gait, scene.gaits.speed = "trot", 2.4
    bpy.ops.gaitsmith.gait_bake()
    assert bpy.ops.gaitsmith.gait_shape_use() == {"FINISHED"}
    assert "trot" in message() and "Moves in the manner of" in draw("GAITSMITH_PT_gaits").labels()
    bpy.ops.gaitsmith.gait_preview()
    play(1.0)
    assert shown().gait == "trot"
    bpy.ops.gaitsmith.gait_shape_clear()
    assert not bpy.ops.gaitsmith.gait_shape_clear.poll()


def test_a_cycle_that_is_none_is_refused_with_its_reason(scene) -> None:
    scene.gaits.length, scene.gaits.seconds = "SECONDS", 3.3
    bpy.ops.gaitsmith.gait_bake()
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.gaitsmith.gait_shape_use()
    assert "cycle" in str(caught.value) and not bpy.ops.gaitsmith.gait_shape_clear.poll()


def test_the_kept_shape_says_when_the_bones_have_changed(scene) -> None:
    from blender_addon.motion.errors import RigError
    from blender_addon.scene import gait_shape

    scene.gaits.gait, scene.gaits.speed = "trot", 2.4
    bpy.ops.gaitsmith.gait_bake()
    bpy.ops.gaitsmith.gait_shape_use()
    other = make_skeleton(("a", "b"), (-1, 0), np.zeros((2, 3)))
    with pytest.raises(RigError, match="other bones"):
        gait_shape.kept(fox(), other)


def test_the_baked_gait_has_the_footfalls_asked_for(scene) -> None:
    scene.curve = make_curve()
    scene.gaits.where, scene.gaits.gait, scene.gaits.speed = "CURVE", "pace", 1.8
    bpy.ops.gaitsmith.gait_bake()
    from blender_addon.motion.contacts import with_contacts
    from blender_addon.motion.root_track import with_root

    found = analyse_clip(with_root(with_contacts(baked_clip())))
    assert found.mean.lags[2] == pytest.approx(0.03, abs=0.1)
