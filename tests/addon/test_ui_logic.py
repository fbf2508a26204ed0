"""The logic under panels and operators, without a window: schedule, training, overlay arrays, threads, presets."""

from __future__ import annotations

import json
import sys
import threading
import time
import types
from pathlib import Path

import bpy
import numpy as np
import pytest

import blender_addon
from blender_addon import choices, library
from blender_addon.motion import picture as overlay
from blender_addon.motion.clip import Clip
from blender_addon.motion.errors import Cancelled, GaitsmithError, PackError
from blender_addon.motion.skeleton import make_skeleton
from blender_addon.operators import common, request, schedule, training_run, training_session
from blender_addon.operators.training_run import TrainingPlan, TrainingRun
from blender_addon.operators.worker import Worker


@pytest.fixture
def chosen():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    yield bpy.context.scene.gaitsmith
    blender_addon.unregister()


def places(chosen) -> list[float]:
    return [round(mark.at, 3) for mark in chosen.marks]


def test_marks_stay_in_order_and_the_active_one_stays_active(chosen) -> None:
    for at in (5.0, 1.0, 3.0):
        schedule.add_mark(chosen, at)
    assert places(chosen) == [1.0, 3.0, 5.0]
    assert chosen.marks[chosen.active_mark].at == 3.0
    chosen.marks[1].at = 9.0
    schedule.sort_marks(chosen, 1)
    assert places(chosen) == [1.0, 5.0, 9.0] and chosen.active_mark == 2


def test_a_new_mark_takes_over_what_holds_there_and_stays_on_the_curve(chosen) -> None:
    chosen.speed = 2.0
    schedule.add_mark(chosen, length=1.5)
    assert chosen.marks[0].speed == pytest.approx(2.0) and places(chosen) == [1.5]


def test_mark_operators(chosen) -> None:
    assert not bpy.ops.gaitsmith.mark_remove.poll()
    bpy.ops.gaitsmith.mark_add()
    bpy.ops.gaitsmith.mark_add(at=0.5)
    assert places(chosen) == [0.5, 2.0]
    bpy.ops.gaitsmith.mark_remove()
    assert places(chosen) == [2.0]


def test_actions_are_kept_by_name_whatever_the_pack_offers(chosen) -> None:
    chosen.action = "run"
    assert chosen.action_name == "run" and chosen.action == "run"
    chosen.action_name = "moonwalk"
    assert chosen.action == "moonwalk"  # still shown, as "not in this pack"


def test_another_action_begins_at_its_usual_speed_or_pause(chosen) -> None:
    schedule.add_mark(chosen, 4.0)
    mark = chosen.marks[0]
    mark.speed = 1.0
    mark.action = "walk"
    assert mark.speed == pytest.approx(1.0)  # no other action: the speed stays
    mark.action = "run"
    assert mark.speed == pytest.approx(2.8)
    mark.action = "stand"
    assert mark.pause == pytest.approx(1.0)
    mark.pause = 3.0
    mark.action = "walk"
    mark.action = "stand"
    assert mark.pause == pytest.approx(3.0)


def test_a_mark_behind_a_stand_goes_on_as_the_character_came(chosen) -> None:
    for action in ("run", "stand"):
        schedule.add_mark(chosen)
        chosen.marks[chosen.active_mark].action = action
    schedule.add_mark(chosen)
    assert places(chosen) == [2.0, 4.0, 6.0]
    assert chosen.marks[2].action == "run" and chosen.marks[2].speed == pytest.approx(2.8)


@pytest.mark.parametrize(
    "value, unit, text",
    [(8e-12, "mm", "< 0.001 mm"), (0.0, "mm", "0 mm"), (-0.5678, "cm", "-0.568 cm"), (1234.5, "", "1234")],
)
def test_figures_read_without_exponents(value: float, unit: str, text: str) -> None:
    assert request.reading(value, unit) == text


def test_the_schedule_of_the_panel(chosen) -> None:
    chosen.speed = 1.0
    mark = chosen.marks.add()
    mark.at, mark.speed, mark.action_name, mark.pause = 4.0, 3.0, "run", 0.5
    marks = request.schedule_of(chosen).marks
    assert [(m.at, m.speed, m.action, m.pause) for m in marks] == [(0.0, 1.0, "walk", 0.0), (4.0, 3.0, "run", 0.5)]


def test_an_absurd_speed_is_refused_with_words(chosen) -> None:
    chosen.speed = 0.0
    with pytest.raises(GaitsmithError) as caught:
        request.schedule_of(chosen)
    assert caught.value.remedy


# Training ---------------------------------------------------------------------------------------

CHILD = """
import json, sys, time
kind, out = sys.argv[1], sys.argv[2]
say = lambda **e: print(json.dumps(e), flush=True)
say(event="stage", stage="decompressor")
for i in range(2000):
    say(event="progress", stage="decompressor", fraction=i / 2000, loss=1000.0 / (i + 1), validation=0.7, unit="cm",
        seconds_left=90.0 - i / 100)
if kind == "wait":
    time.sleep(60)
if kind == "error":
    say(event="error", message="Only 0.4 min of motion", remedy="4.6 min more are needed")
    sys.exit(2)
say(event="remark", message="There is no report: the disk is full")
say(event="done", pack=out)
"""


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "child.py"
    script.write_text(CHILD, encoding="utf-8")
    runs: list[TrainingRun] = []

    def begin(kind: str) -> TrainingRun:
        folder = tmp_path / "training" / "ävja"
        plan = TrainingPlan("Ävja", "lmm", 5.0, True, sys.executable)
        plan.save(folder)
        (folder / training_run.DATASET_NAME).mkdir(exist_ok=True)
        command = (sys.executable, "-u", str(script), kind, str(folder / "pack"))
        monkeypatch.setattr(TrainingPlan, "command", lambda *_: command)
        runs.append(TrainingRun(folder, plan))
        return runs[-1]

    yield begin
    for run in runs:
        run.job.cancel(0.5)


def finish(run: TrainingRun, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not run.look():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_training_reports_stage_loss_and_time_left(train) -> None:
    run = train("done")
    finish(run)
    assert run.error == "" and run.pack is not None and run.pack.name == "pack"
    assert run.fraction == 1.0 and run.stage == "Decompressor"
    assert run.remarks == ["There is no report: the disk is full"]
    assert run.loss == "loss 0.5, held-out 0.7 cm" and run.left.endswith("left")
    assert 100 < len(run.losses) <= training_run.CURVE_POINTS and run.losses[0] > run.losses[-1]


def test_a_training_that_fails_says_why(train) -> None:
    run = train("error")
    finish(run)
    assert run.pack is None and run.error == "Only 0.4 min of motion. 4.6 min more are needed"


def test_a_training_that_failed_before_it_learnt_anything_is_not_offered_to_be_resumed(
    train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(common, "tell", lambda _context, text, *_, **__: said.append(text))
    for learnt in (True, False):
        run = train("error")
        kept = run.folder / f".{training_run.PACK_NAME}.training" / "stepper.pt"
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(b"hours")
        if not learnt:
            kept.unlink()
        finish(run)
        training_session._conclude(None, run)
        assert training_run.unfinished(tmp_path / "training") == (run.folder if learnt else None)
        assert "4.6 min more are needed" in said[-1]


def test_a_training_can_be_stopped_and_waits_to_be_resumed(train, tmp_path: Path) -> None:
    run = train("wait")
    run.ask_to_end()
    finish(run, 15.0)
    assert run.cancelled and run.pack is None
    folder = training_run.unfinished(tmp_path / "training")
    assert folder == run.folder
    assert TrainingPlan.load(folder) == run.plan


def test_a_new_training_leaves_the_checkpoints_of_an_interrupted_one(train, tmp_path: Path) -> None:
    run = train("wait")
    root = tmp_path / "training"
    assert training_run.free_folder(root, "ävja") == run.folder, "nothing was learnt yet"
    kept = run.folder / f".{training_run.PACK_NAME}.training" / "stepper.pt"
    kept.parent.mkdir()
    kept.write_bytes(b"hours")
    assert training_run.free_folder(root, "ävja") == root / "ävja-2"
    (run.folder / training_run.PLAN_NAME).unlink()
    assert training_run.free_folder(root, "ävja") == run.folder, "finished: its checkpoints are done with"


def test_the_command_is_the_trainings_own(tmp_path: Path) -> None:
    from training import cli
    from training.settings import LmmSettings, MannTrainingSettings, PfnnTrainingSettings, read_settings

    kinds = {"lmm": LmmSettings, "mm": LmmSettings, "pfnn": PfnnTrainingSettings, "mann": MannTrainingSettings}
    assert set(kinds) == {item[0] for item in choices.TRAINED_SYSTEMS}
    for system, kind in kinds.items():
        plan = TrainingPlan("Name with spaces", system, 5.0, False, "/usr/bin/python3")
        plan.save(tmp_path)
        command = plan.command(tmp_path, resume=system == "lmm")
        assert command[:4] == ("/usr/bin/python3", "-u", "-m", "training")
        options = cli._parser().parse_args(command[4:])
        assert options.json_lines and options.title == "Name with spaces"
        assert options.resume == (system == "lmm")
        assert read_settings(Path(options.settings), kind).mirror is False


def test_a_damaged_plan_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / training_run.PLAN_NAME).write_text("{")
    assert training_run.unfinished(tmp_path) is None
    assert training_run.unfinished(tmp_path / "nowhere") is None


@pytest.mark.parametrize(("seconds", "text"), [(40, "40 s"), (720, "12 min"), (7500, "2 h 5 min")])
def test_durations_read_well(seconds: float, text: str) -> None:
    assert training_run.duration(seconds) == text


# Threads ----------------------------------------------------------------------------------------


def test_a_worker_returns_its_result_and_its_progress() -> None:
    worker = Worker(lambda progress: progress(0.5, "Walking") and 42)
    assert worker.wait(5.0) and worker.result == 42 and worker.stage == "Walking" and not worker.error


def test_a_worker_stops_at_its_next_report() -> None:
    began = threading.Event()

    def work(progress):
        while progress(0.1, "x"):
            began.set()
            time.sleep(0.001)
        raise Cancelled

    worker = Worker(work)
    began.wait(5.0)
    worker.cancel()
    assert worker.wait(5.0) and worker.cancelled and worker.result is None


def test_a_workers_errors_become_words() -> None:
    def known(_progress):
        raise GaitsmithError("No legs", "Map them")

    def unknown(_progress):
        raise KeyError("spine")

    first, second = Worker(known), Worker(unknown)
    assert first.wait(5.0) and second.wait(5.0)
    assert first.error == "No legs. Map them" and not first.detail
    assert "spine" in second.error and "Traceback" in second.detail


# Overlay ----------------------------------------------------------------------------------------


@pytest.fixture
def clip() -> Clip:
    names = ["hips", "lh", "lk", "la", "lt", "rh", "rk", "ra", "rt"]
    roles = {"hips": "hips"}
    for side, letter in (("left", "l"), ("right", "r")):
        for part, end in (("hip", "h"), ("knee", "k"), ("ankle", "a"), ("toe", "t")):
            roles[f"{side}_{part}"] = letter + end
    leg = [[0.0, 0, -0.1], [0.0, 0, -0.4], [0.0, 0, -0.4], [0.0, -0.12, -0.07]]
    offsets = [[0, 0, 1.0], *[[0.1 * (i == 0) + x, y, z] for i, (x, y, z) in enumerate(leg)]]
    offsets += [[-0.1 * (i == 0) + x, y, z] for i, (x, y, z) in enumerate(leg)]
    skeleton = make_skeleton(names, [-1, 0, 1, 2, 3, 0, 5, 6, 7], np.array(offsets), roles=roles)
    frames = 61
    hips = np.zeros((frames, 3))
    hips[:, 1] = -np.linspace(0.0, 1.0, frames)
    hips[:, 2] = 1.0
    rotations = np.tile(skeleton.rest_rotations, (frames, 1, 1))
    contacts = np.zeros((frames, 2), dtype=bool)
    contacts[:20, 0] = contacts[30:, 1] = True
    return Clip(skeleton, 60.0, hips, rotations, np.zeros((frames, 3)), contacts)


def test_the_overlay_draws_every_bone_where_the_clip_has_it(clip: Clip) -> None:
    found = overlay.picture(clip, np.zeros((2, 3)))
    positions = clip.world[0]
    lines = found.segments.reshape(len(clip), -1, 2, 3)
    assert np.allclose(lines[7, 3], positions[7, [3, 4]], atol=1e-6)  # ankle to toe
    assert len(found) == 61


def test_the_overlay_knows_left_from_right(clip: Clip) -> None:
    found = overlay.picture(clip, np.zeros((2, 3)))
    across = found.segments[0].reshape(-1, 2, 3)[:, 1, 0]
    assert np.all(found.sides[across > 0.05] == 0) and np.all(found.sides[across < -0.05] == 1)
    assert len(found.sides) == found.segments.shape[1] // 2


def test_the_overlay_follows_the_timeline_at_the_scenes_rate(clip: Clip) -> None:
    found = overlay.picture(clip, np.zeros((2, 3)))
    assert found.place(1, 1, 24.0) == 0.0
    assert found.place(13, 1, 24.0) == pytest.approx(30.0)
    assert found.place(-100, 1, 24.0) == 0.0 and found.place(1000, 1, 24.0) == 60.0
    half = found.body(30.5)
    assert np.allclose(half, (found.segments[30] + found.segments[31]) / 2, atol=1e-6)


def test_footprints_lie_where_the_feet_stand(clip: Clip) -> None:
    prints = overlay.footprints(clip)
    assert [(p.side, p.first, p.last) for p in prints] == [(0, 0, 19), (1, 30, 60)]
    ankle = clip.world[0][9, clip.skeleton.index("left_ankle")]
    assert np.linalg.norm(prints[0].outline[:, :2].mean(axis=0) - ankle[:2]) < 0.15
    assert np.allclose(prints[0].outline[0], prints[0].outline[-1], atol=1e-6)


# Packs ------------------------------------------------------------------------------------------


@pytest.fixture
def packs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(library, "user_folder", lambda: tmp_path / "user packs")
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "shipped")
    library.forget()
    yield tmp_path
    library.forget()


def make_pack(path: Path, title: str = "Mine") -> Path:
    from blender_addon.systems.packs import PackInfo, write_pack

    skeleton = make_skeleton(["hips"], [-1], np.zeros((1, 3)))
    info = PackInfo("lmm", title, 60.0, skeleton, {}, (0.3, 2.0), ("stand", "walk"), "CC-BY 4.0", ("A. Walker",))
    write_pack(path, info, {"decompressor.onnx": b"x"})
    return path


def test_packs_are_listed_shipped_first(packs_folder: Path) -> None:
    make_pack(packs_folder / "user packs" / "aaa")
    make_pack(packs_folder / "shipped" / "zzz", "Biped")
    found = library.installed()
    assert [(p.id, p.shipped, p.label) for p in found] == [
        ("zzz", True, "Biped (LMM)"), ("aaa", False, "Mine (LMM)"), ("gait-model", True, "Gait model (no pack)")
    ]  # fmt: skip
    assert found[0].summary == "stand, walk; 0.3 to 2.0 m/s"


def test_a_pack_is_installed_from_a_zip_and_removed(packs_folder: Path) -> None:
    pack = library.install(make_pack(packs_folder / "mein gång.zip"))
    assert pack.id == "mein-gang" and not pack.problem
    with pytest.raises(PackError):
        library.install(packs_folder / "mein gång.zip")
    library.remove(pack.id)
    assert library.find(pack.id) is None


def test_a_trained_pack_takes_its_folder_from_its_title(packs_folder: Path) -> None:
    make_pack(packs_folder / "work" / "pack", "Räv & Hund 2")
    assert library.install(packs_folder / "work" / "pack" / "pack.json").id == "rav-hund-2"


def test_a_damaged_pack_is_shown_with_its_problem_and_not_installed(packs_folder: Path) -> None:
    path = make_pack(packs_folder / "user packs" / "broken")
    (path / "pack.json").write_text(json.dumps({"schema": 99}))
    assert "Update the add-on" in library.installed()[0].problem
    with pytest.raises(PackError):
        library.install(path)


def test_a_shipped_pack_cannot_be_removed(packs_folder: Path) -> None:
    make_pack(packs_folder / "shipped" / "zzz")
    with pytest.raises(PackError):
        library.remove("zzz")


@pytest.mark.parametrize(("key", "ctrl", "stops"), [("ESC", False, True), ("Z", True, True), ("Z", False, False)])
def test_escape_and_undo_stop_what_runs(key: str, ctrl: bool, stops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from blender_addon.operators import common, watched

    state = types.SimpleNamespace(stop=False)
    monkeypatch.setattr(common, "state", lambda _context: state)
    work = watched.Watched()
    work.wish_to_cancel = "stop"  # type: ignore[misc]
    event = types.SimpleNamespace(type=key, value="PRESS", ctrl=ctrl, oskey=False)
    assert work.modal(None, event) == ({"RUNNING_MODAL"} if stops else {"PASS_THROUGH"})  # type: ignore[arg-type]
    assert state.stop is stops


def test_an_undo_from_anywhere_stops_what_runs_and_nothing_listens_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    from blender_addon.operators import common, watched

    state = types.SimpleNamespace(stop=False)
    monkeypatch.setattr(common, "state", lambda _context: state)
    work = watched.Watched()
    work.wish_to_cancel = "stop"  # type: ignore[misc]
    work._timer = None
    before = list(bpy.app.handlers.undo_pre)
    work._undone = work._stopper()
    bpy.app.handlers.undo_pre.append(work._undone)
    work._undone(bpy.context.scene)
    assert state.stop
    window_manager = types.SimpleNamespace(event_timer_remove=lambda _timer: None)
    work._let_go(types.SimpleNamespace(window_manager=window_manager))  # type: ignore[arg-type]
    assert list(bpy.app.handlers.undo_pre) == before
