"""Labels in Blender: on the action through saving, copying and appending; operators, panel, training's data check."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import blender_addon
from blender_addon.motion.errors import ClipError
from blender_addon.motion.label_detection import detect
from blender_addon.motion.label_tracks import Span, with_gait
from blender_addon.operators import label_edit, label_state, mark_edit, training_session
from blender_addon.operators.label_detect import DetectRun
from blender_addon.operators.training_session import Gathering
from blender_addon.scene import compat, labels
from tests.addon.fake_layout import FakeLayout
from tests.addon.movers import animate, set_fps, steady_walk
from tests.addon.rig_makers import armature_of, poly_curve
from tests.synthetic import biped

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def hero():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    set_fps(30)
    ob = armature_of(biped(), "Hero", root=True)
    animate(ob, steady_walk(4.0, 1.0), "March", frame_start=5)
    bpy.context.scene.gaitsmith.armature = ob
    yield ob
    blender_addon.unregister()


def action(name: str = "March") -> bpy.types.Action:
    return bpy.data.actions[name]


def state():
    return bpy.context.window_manager.gaitsmith


def chosen():
    return bpy.context.scene.gaitsmith.labels


def shown():
    return label_state.shown(bpy.context)


def drawn(panel: str = "GAITSMITH_PT_labels") -> FakeLayout:
    layout = FakeLayout()
    getattr(bpy.types, panel).draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


# Detecting --------------------------------------------------------------------------------------


def test_one_press_labels_the_action_and_says_what_was_found(hero) -> None:
    assert bpy.ops.gaitsmith.labels_detect() == {"FINISHED"}
    tracks = shown().tracks
    assert (tracks.first, tracks.last) == (5, 125) and tracks.spans("gait") == (Span(5, 125, "walk"),)
    assert "March" in state().message and "contacts; walk" in state().message and not state().message_is_error
    # The same as from the clip that was written.
    wanted = detect(steady_walk(4.0, 1.0), 5)
    assert np.mean(tracks.contacts == wanted.contacts) > 0.97


def test_detecting_where_not_edited_leaves_edits_and_anew_takes_them_away(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="crouch", first=30, last=50)
    assert bpy.ops.gaitsmith.labels_again() == {"FINISHED"}
    assert Span(30, 50, "crouch") in shown().tracks.spans("gait") and "21 frames kept" in state().message
    bpy.ops.gaitsmith.labels_detect()
    assert shown().tracks.spans("gait") == (Span(5, 125, "walk"),)


def test_what_cannot_be_labelled_is_said_in_the_panel(hero) -> None:
    animate(hero, steady_walk(0.3, 1.0), "Twitch")
    with pytest.raises(RuntimeError, match="too short"):
        bpy.ops.gaitsmith.labels_detect()
    assert "too short" in drawn().labels() and state().message_is_error
    assert shown() is None and not state().labelling
    hero.animation_data.action = None
    assert not bpy.ops.gaitsmith.labels_detect.poll()
    assert "Choose a character that has an action" in drawn().labels()


def test_a_cancelled_detection_changes_nothing(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    before = labels.text_of(action())
    run = DetectRun()
    run.begin(bpy.context)
    run.look(bpy.context)
    state().label_cancel = True
    while not run.look(bpy.context):
        pass
    assert run.cancelled and not state().labelling and labels.text_of(action()) == before


def test_an_action_that_goes_meanwhile_is_said(hero) -> None:
    run = DetectRun()
    run.begin(bpy.context)
    bpy.data.actions.remove(action())
    run.wait(bpy.context)
    assert run.failed and "removed or renamed" in run.message


# Where they live --------------------------------------------------------------------------------


def test_labels_survive_copying_saving_and_appending(hero, tmp_path: Path) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="run", first=20, last=40)
    spans = shown().tracks.spans("gait")
    copy = action().copy()
    compat.bind_action(hero, copy)
    assert shown().action == copy.name and shown().tracks.spans("gait") == spans
    action().use_fake_user = True
    path = tmp_path / "walk.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert shown().tracks.spans("gait") == spans
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path)) as (_, into):
        into.actions = ["March"]
    other = armature_of(biped(), "Other", root=True)
    compat.bind_action(other, action())
    bpy.context.scene.gaitsmith.armature = other
    assert shown().tracks.spans("gait") == spans


def test_two_characters_in_one_action_have_labels_of_their_own(hero) -> None:
    if not hasattr(action(), "slots"):
        pytest.skip("before slots an action has one player")
    other = armature_of(biped(), "Other", root=True)
    data = other.animation_data_create()
    data.action = action()
    data.action_slot = action().slots.new(id_type="OBJECT", name="Other")
    first = labels.unlabelled(action(), hero)
    labels.write(action(), hero, with_gait(first, "run", 5, 20))
    labels.write(action(), other, with_gait(first, "crouch", 5, 20))
    assert labels.read(action(), hero).spans("gait")[0].name == "run"
    assert labels.read(action(), other).spans("gait")[0].name == "crouch"
    assert labels.clear(action(), other) and labels.read(action(), hero) is not None
    assert labels.clear(action(), hero) and labels.PROPERTY not in action()


def test_labels_go_with_keys_that_are_moved(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="run", first=20, last=40)
    for curve in compat.action_curves(action()):
        for key in curve.keyframe_points:
            key.co[0] += 100
        curve.update()
    assert Span(120, 140, "run") in shown().tracks.spans("gait")


def test_damaged_labels_are_said_and_can_be_cleared(hero) -> None:
    action()[labels.PROPERTY] = "{nonsense"
    assert shown() is None and "damaged" in drawn().labels()
    assert bpy.ops.gaitsmith.labels_clear() == {"FINISHED"} and labels.PROPERTY not in action()
    action()[labels.PROPERTY] = 7
    assert shown() is None


def test_a_linked_action_is_refused(hero, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = SimpleNamespace(library="other.blend", name="March")
    with pytest.raises(ClipError, match="another file"):
        labels._own(linked)


# By hand ----------------------------------------------------------------------------------------


def test_an_unlabelled_action_can_be_labelled_all_by_hand(hero) -> None:
    assert bpy.ops.gaitsmith.label_contact(point="left_toe", first=10, last=20) == {"FINISHED"}
    assert shown().tracks.spans("left_toe") == (Span(10, 20),)
    assert "left toe stands on frames 10 to 20" in state().message
    bpy.ops.gaitsmith.label_contact(point="left_toe", first=15, last=15, down=False)
    assert shown().tracks.spans("left_toe") == (Span(10, 14), Span(16, 20))


def test_the_nearest_end_moves_to_the_current_frame(hero) -> None:
    bpy.ops.gaitsmith.label_contact(point="left_toe", first=30, last=50)
    bpy.context.scene.frame_set(33)
    bpy.ops.gaitsmith.label_end(point="left_toe")
    assert shown().tracks.spans("left_toe") == (Span(33, 50),)
    bpy.context.scene.frame_set(48)
    bpy.ops.gaitsmith.label_end(point="left_toe")
    assert shown().tracks.spans("left_toe") == (Span(33, 47),), "from frame 48 on it is up"
    bpy.context.scene.frame_set(300)
    with pytest.raises(RuntimeError, match="outside the action"):
        bpy.ops.gaitsmith.label_end(point="left_toe")
    with pytest.raises(RuntimeError, match="no contact"):
        bpy.context.scene.frame_set(20)
        bpy.ops.gaitsmith.label_end(point="right_toe")


def test_actions_phases_and_forgetting(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_action(action="limp", first=30, last=60)
    bpy.ops.gaitsmith.label_phase(first=70, last=80)
    tracks = shown().tracks
    assert tracks.spans("action") == (Span(30, 60, "limp"),) and not tracks.reliable[65:76].any()
    bpy.ops.gaitsmith.label_release(first=5, last=125)
    bpy.ops.gaitsmith.labels_again()
    assert not shown().tracks.edited.any and not shown().tracks.spans("action")


def test_the_panels_menus_have_a_value_from_the_start(hero) -> None:
    assert (chosen().gait, chosen().point) == ("walk", "left_heel")


def test_errors_of_edits_reach_the_panel(hero) -> None:
    with pytest.raises(RuntimeError, match="no gait of this character"):
        bpy.ops.gaitsmith.label_gait(gait="gallop", first=10, last=20)
    with pytest.raises(RuntimeError, match="lie outside"):
        bpy.ops.gaitsmith.label_gait(gait="walk", first=500, last=600)


def test_ranges_are_taken_from_the_playhead(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="run", first=40, last=60)
    bpy.context.scene.frame_set(50)
    for end, wanted in (("ALL", (5, 125)), ("FIRST", (50, 125)), ("SPAN", (40, 60)), ("LAST", (40, 50))):
        bpy.ops.gaitsmith.label_range(end=end)
        assert (chosen().first, chosen().last) == wanted, end


def test_every_edit_can_be_undone(hero) -> None:
    if not bpy.ops.ed.undo_push.poll():
        pytest.skip("no undo here")
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.ed.undo_push(message="Detected")
    bpy.ops.gaitsmith.label_gait(gait="run", first=40, last=60)
    bpy.ops.ed.undo_push(message="Gait")
    assert len(shown().tracks.spans("gait")) == 3
    bpy.ops.ed.undo()
    assert shown().tracks.spans("gait") == (Span(5, 125, "walk"),)


# What is shown ----------------------------------------------------------------------------------


def test_the_panel_shows_labels_doubts_and_tools_in_both_editors(hero) -> None:
    assert "Nothing is labelled" in drawn().labels()
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="jump", first=60, last=64)
    bpy.ops.gaitsmith.label_release(first=60, last=64)
    for panel in ("GAITSMITH_PT_labels", "GAITSMITH_PT_labels_dopesheet"):
        layout = drawn(panel)
        assert "March" in layout.labels() and "jump for 0.17 s only" in layout.labels()
        assert {"gaitsmith.labels_edit", "gaitsmith.label_end", "gaitsmith.label_gait"} <= layout.names("operator")
    bpy.ops.gaitsmith.label_go(frame=60)
    assert bpy.context.scene.frame_current == 60
    state().labelling, state().label_stage, state().label_fraction = True, "Reading", 0.4
    assert "Reading 40%" in drawn().labels()
    state().labelling = False


def test_soles_lie_on_the_ground_where_the_feet_stand(hero) -> None:
    # The overlay's module needs a GPU when it draws, not when its places are asked for.
    from blender_addon.overlays import labels as overlay

    bpy.ops.gaitsmith.labels_detect()
    heights, names = [], set()
    for frame in range(30, 100, 7):
        bpy.context.scene.frame_set(frame)
        for sole, place in overlay.standing(bpy.context, shown()):
            heights.append(place.z)
            names.add(sole.name)
    assert names == {"left_heel", "left_toe", "right_heel", "right_toe"}
    assert np.median(np.abs(heights)) < 0.02 and np.max(np.abs(heights)) < 0.08
    assert "walk" in overlay.caption(shown(), 60) and "phase" in overlay.caption(shown(), 60)
    assert overlay.caption(shown(), 900) == ""


def test_a_draft_is_shown_instead_while_something_is_dragged(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    label_state.draft(with_gait(shown().tracks, "run", 10, 20))
    assert Span(10, 20, "run") in shown().tracks.spans("gait")
    label_state.draft(None)
    assert shown().tracks.spans("gait") == (Span(5, 125, "walk"),)


class Clicks:
    """Feeds a modal operator with events, in pixels of a region that begins at (100, 50)."""

    def __init__(self, operator, monkeypatch: pytest.MonkeyPatch) -> None:
        from tests.addon.test_label_lanes import region

        made = region(0.0, 5.0, 800, 300)
        made.x, made.y = 100, 50
        self.region, self.operator = made, operator
        monkeypatch.setattr(label_edit, "region_under", lambda *_: made)
        # In the background the interface has no scale.
        view_of = label_state.view_of
        monkeypatch.setattr(label_state, "view_of", lambda region, tracks, _: view_of(region, tracks))
        monkeypatch.setattr(type(operator), "_say", lambda *_: None, raising=False)

    def __call__(self, kind: str, value: str = "NOTHING", x: float = 0.0, y: float = 0.0, ctrl: bool = False):
        event = SimpleNamespace(type=kind, value=value, mouse_x=100 + x, mouse_y=50 + y, ctrl=ctrl, shift=False)
        return self.operator.modal(bpy.context, event)


@pytest.fixture
def edit(hero, monkeypatch: pytest.MonkeyPatch):
    bpy.ops.gaitsmith.labels_detect()

    class Bare:
        """The operator's methods without Blender's instance."""

        report = staticmethod(lambda *_: None)

    for name in ("modal", "_hover", "_drag", "_keep", "_drop", "_choose", "_say", "_finish"):
        setattr(Bare, name, getattr(label_edit.GAITSMITH_OT_labels_edit, name))
    operator = Bare()
    operator._grip = operator._before = None
    operator._gait = "run"
    return Clicks(operator, monkeypatch)


def test_dragging_over_the_gait_lane_sets_the_gait_under_the_mouse(edit) -> None:
    y = 26.0 + 1.5 * 15.0
    assert edit("MOUSEMOVE", x=200.0, y=y) == {"PASS_THROUGH"}
    assert edit("LEFTMOUSE", "PRESS", 200.0, y) == {"RUNNING_MODAL"}
    edit("MOUSEMOVE", x=300.0, y=y)
    edit("LEFTMOUSE", "RELEASE", 300.0, y)
    assert Span(40, 60, "run") in labels.read(action(), bpy.context.scene.gaitsmith.armature).spans("gait")
    assert edit("ESC", "PRESS") == {"FINISHED"}


def test_escape_in_a_drag_puts_it_back_and_the_next_one_ends(edit) -> None:
    before, y = labels.text_of(action()), 26.0 + 1.5 * 15.0
    edit("LEFTMOUSE", "PRESS", 200.0, y)
    edit("MOUSEMOVE", x=300.0, y=y)
    assert edit("ESC", "PRESS") == {"RUNNING_MODAL"} and labels.text_of(action()) == before
    assert shown().tracks.spans("gait") == (Span(5, 125, "walk"),)
    assert edit("RIGHTMOUSE", "PRESS") == {"FINISHED"}


def test_wheel_and_numbers_choose_the_gait_and_other_keys_pass(edit) -> None:
    y = 26.0 + 1.5 * 15.0
    assert edit("WHEELUPMOUSE", "PRESS", 200.0, y) == {"RUNNING_MODAL"} and edit.operator._gait == "crouch"
    assert edit("TWO", "PRESS", 200.0, y) == {"RUNNING_MODAL"} and edit.operator._gait == "walk"
    assert edit("SPACE", "PRESS", 200.0, y) == {"PASS_THROUGH"}
    assert edit("LEFTMOUSE", "PRESS", 200.0, 280.0) == {"PASS_THROUGH"}, "beside the lanes"


def test_editing_ends_when_the_labels_go(edit) -> None:
    labels.clear(action(), bpy.context.scene.gaitsmith.armature)
    assert edit("MOUSEMOVE", x=10.0, y=40.0) == {"FINISHED"}


# Training ---------------------------------------------------------------------------------------


def test_training_takes_the_labels_of_the_action(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="crouch", first=65, last=125)
    bpy.ops.gaitsmith.label_action(action="sneak", first=95, last=125)
    gathering = Gathering([("Hero", "March")], None)
    gathering.run(bpy.context)
    text = gathering.table
    rows = {cells[0]: cells for cells in map(str.split, text.splitlines()) if cells}
    # Half of the 4 s, of which half is called by another name.
    assert float(rows["crouch"][1]) * 60 == pytest.approx(1.0, abs=0.35)
    assert float(rows["sneak"][1]) * 60 == pytest.approx(1.0, abs=0.35)
    assert "Contacts a second: left heel" in text and "Labelled by hand" in text


def test_the_data_check_names_doubtful_frames_as_the_animator_counts_them(hero) -> None:
    bpy.ops.gaitsmith.labels_detect()
    bpy.ops.gaitsmith.label_gait(gait="jump", first=60, last=66)
    assert "March, frames 60 to 66: jump for 0.2" in training_session.check(bpy.context)


def test_phase_functioned_networks_can_be_chosen_and_need_a_python(hero) -> None:
    bpy.context.scene.gaitsmith.train_system = "pfnn"
    layout = FakeLayout()
    bpy.types.GAITSMITH_PT_train.draw(SimpleNamespace(layout=layout), bpy.context)
    assert "train_minutes" in layout.names("prop") and "Python with torch" in layout.labels()


# Marks ------------------------------------------------------------------------------------------


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch):
    scene = bpy.context.scene.gaitsmith
    scene.curve = poly_curve([(0, 0, 0), (0, -10, 0)])
    for at, name in ((2.0, "run"), (6.0, "walk")):
        bpy.ops.gaitsmith.mark_add(at=at)
        scene.marks[scene.active_mark].action = name

    class Bare:
        """The operator's methods without Blender's instance."""

    for name in ("modal", "_press", "_drag", "_change", "_finish"):
        setattr(Bare, name, getattr(mark_edit.GAITSMITH_OT_marks_edit, name))
    operator = Bare()
    operator._dragged, operator._before = -1, 0.0
    # A view in which a metre along the path is ten pixels, seen from above.
    monkeypatch.setattr(mark_edit, "view_under", lambda *_: ("region", "view"))
    monkeypatch.setattr(mark_edit, "mouse_on_curve", lambda _c, event, _v: event.mouse_x / 10.0)
    near = lambda _c, event, _v: next(  # noqa: E731
        (i for i, m in enumerate(scene.marks) if abs(10.0 * m.at - event.mouse_x) < 5), None)
    monkeypatch.setattr(mark_edit, "mark_at", near)

    def send(kind: str, value: str = "NOTHING", x: float = 0.0, ctrl: bool = False, shift: bool = False):
        event = SimpleNamespace(type=kind, value=value, mouse_x=x, mouse_y=0, ctrl=ctrl, shift=shift)
        return operator.modal(bpy.context, event)

    return scene, send


def names(scene) -> list[tuple[float, str]]:
    return [(round(mark.at, 2), mark.action_name) for mark in scene.marks]


def test_marks_are_dragged_along_the_path_past_each_other(marks) -> None:
    scene, send = marks
    send("LEFTMOUSE", "PRESS", 20.0)
    send("MOUSEMOVE", x=75.0)
    assert scene.marks[0].at == pytest.approx(7.5)
    send("LEFTMOUSE", "RELEASE", 75.0)
    assert names(scene) == [(6.0, "walk"), (7.5, "run")] and scene.active_mark == 1


def test_escape_puts_a_dragged_mark_back(marks) -> None:
    scene, send = marks
    send("LEFTMOUSE", "PRESS", 20.0)
    send("MOUSEMOVE", x=50.0)
    assert send("ESC", "PRESS") == {"RUNNING_MODAL"} and names(scene)[0] == (2.0, "run")
    assert send("ESC", "PRESS") == {"FINISHED"}


def test_the_wheel_changes_what_a_mark_asks_for_and_its_speed(marks) -> None:
    scene, send = marks
    assert send("WHEELDOWNMOUSE", "PRESS", 20.0) == {"RUNNING_MODAL"}
    assert names(scene)[0] == (2.0, "walk") and scene.marks[0].speed == pytest.approx(1.2)
    send("G", "PRESS", 20.0)
    assert names(scene)[0] == (2.0, "run") and scene.marks[0].speed == pytest.approx(2.8)
    for name in ("stand", "walk"):
        send("G", "PRESS", 20.0)
        assert names(scene)[0] == (2.0, name)
    assert scene.marks[0].pause == 0.0, "it came with the stand"
    assert send("WHEELUPMOUSE", "PRESS", 45.0) == {"PASS_THROUGH"}, "beside the marks it zooms"


def test_marks_are_added_on_the_path_and_removed(marks) -> None:
    scene, send = marks
    assert send("LEFTMOUSE", "PRESS", 40.0) == {"PASS_THROUGH"}
    send("LEFTMOUSE", "PRESS", 40.0, ctrl=True)
    assert [at for at, _ in names(scene)] == [2.0, 4.0, 6.0]
    send("X", "PRESS", 60.0)
    assert [at for at, _ in names(scene)] == [2.0, 4.0]


def test_the_path_is_drawn_in_the_colours_of_what_is_done(marks) -> None:
    from blender_addon.operators import flow

    scene, _ = marks
    bpy.ops.gaitsmith.mark_add(at=8.0)
    scene.marks[scene.active_mark].action = "stand"
    parts = flow.stretches_drawn(bpy.context)
    assert [action for _, action in parts] == ["walk", "run", "walk"]
    ends = [(round(float(-p[0, 1]), 2), round(float(-p[-1, 1]), 2)) for p, _ in parts]
    assert ends == [(0.0, 2.0), (2.0, 6.0), (6.0, 10.0)]
