"""The report of a training: its history survives interruptions, and it is written beside the pack."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from blender_addon.motion import courses  # noqa: E402
from blender_addon.motion.dataset import Dataset  # noqa: E402
from blender_addon.motion.errors import Cancelled, DatasetError  # noqa: E402
from blender_addon.motion.planting import plant_feet  # noqa: E402
from blender_addon.motion.terrain import HeightField  # noqa: E402
from blender_addon.systems.packs import list_packs, read_pack  # noqa: E402
from tests.animal_motion import roam  # noqa: E402
from tests.synthetic import walk  # noqa: E402
from training.cli import main  # noqa: E402
from training.pfnn.data import labels_of  # noqa: E402
from training.report import Ended, history_of, report_folder, write_report  # noqa: E402
from training.settings import StageSettings  # noqa: E402
from training.terrain_fitting import FitSettings  # noqa: E402
from training.trainer import Budget, Outcome, Trainer, Watch  # noqa: E402

PLOTTING = "matplotlib"


class Halving:
    """One number that shall become 0; its held-out figure is its distance from there."""

    name, terms, unit = "halving", ("error",), "cm"

    def __init__(self) -> None:
        self.module = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.constant_(self.module.weight, 4.0)

    def losses(self, random, done=1.0):
        return self.module.weight.square().sum()[None]

    def validate(self):
        return float(self.module.weight.detach().abs().sum())

    def memory(self):
        return []

    def recall(self, memory):
        """Nothing to restore."""


def train(path: Path, questions: int = 99, iterations: int = 8) -> Outcome:
    asked = iter(range(questions))
    watch = Watch(cancelled=lambda: next(asked, None) is None, validate_seconds=0.0)
    return Trainer(Halving(), StageSettings(1, 1, 1, 0.1), Budget(iterations=iterations), 1, path, watch).run(True)


def test_the_history_of_a_stage_survives_interruptions(tmp_path):
    whole = train(tmp_path / "whole.pt")
    for _ in range(3):
        with pytest.raises(Cancelled):
            train(tmp_path / "parts.pt", 2)
    parts = train(tmp_path / "parts.pt")
    again = train(tmp_path / "parts.pt")
    assert [row[0] for row in history_of(parts)] == list(range(1, 9))
    for one, other, third in zip(history_of(whole), history_of(parts), history_of(again), strict=True):
        assert one[2:] == other[2:] == third[2:]
    assert whole.unit == "cm" and all(row[3] > 0.0 for row in history_of(whole))


def test_checkpoints_from_before_there_was_a_history_are_resumed(tmp_path):
    path = tmp_path / "c.pt"
    with pytest.raises(Cancelled):
        train(path, 5)
    state = torch.load(path, weights_only=True)
    for name in ("history", "unit"):
        del state["outcome"][name]
    torch.save(state, path)
    assert [row[0] for row in history_of(train(path))] == [6, 7, 8]


@pytest.fixture(scope="module")
def people() -> Dataset:
    clips = [walk(8.0, speed, turning) for speed in (0.7, 1.0, 1.4) for turning in (-0.3, 0.0, 0.3)]
    hill = HeightField.from_function(courses.slope(12.0), (-3.0, -14.0, 3.0, 2.0), 0.25)
    clips += [plant_feet(walk(8.0, 1.0), hill).clip, walk(5.0, 1.1, 0.1)]
    clips = [dataclasses.replace(clip, name=f"{number}") for number, clip in enumerate(clips)]
    held = [False] * (len(clips) - 1) + [True]
    return Dataset(clips[0].skeleton, clips, [()] * 9 + [("slope",), ()], held)


@pytest.fixture(scope="module")
def animals() -> Dataset:
    clips = [roam(6.0, speed, turning, gait) for speed in (0.6, 1.2) for turning in (-0.4, 0.0, 0.4)
             for gait in ("walk", "trot")]  # fmt: skip
    return Dataset(clips[0].skeleton, clips)


def made_up(unit: str = "cm") -> dict[str, Outcome]:
    history = [(10.0, 1.0, 0.5, 3.0), (20.0, 2.0, 0.2, 1.25), (20.0, 2.0, 0.2, 1.25), (30.0, 3.0, 0.1, 1.5)]
    windows = Outcome(5, 2.0, 0.3, None, [(5.0, 2.0, 0.3, math.nan)])
    return {"steps": Outcome(30, 3.0, 0.1, 1.5, history, unit), "windows": windows}


def test_the_report_tells_what_was_learned_and_how_it_went(people, tmp_path):
    ended = Ended("pfnn", "Walker", people, made_up(), {"training_seconds": 5.0})
    files = write_report(ended, tmp_path / "r")
    text = files[0].read_text(encoding="utf-8")
    steps = next(line for line in text.splitlines() if line.startswith("steps"))
    assert steps.split() == ["steps", "30", "3", "0.1", "3,", "1.5,", "1.25", "cm", "(at", "20)"]
    assert next(line for line in text.splitlines() if line.startswith("windows")).split()[-1] == "-"
    learned = people.part(held_out=False)
    assert f"{len(learned)} clips, {learned.seconds:.0f} s; 1 clips, 5 s, were held out" in text
    assert "\nwalk " in text and "training seconds: 5.0" in text
    rows = list(csv.DictReader((tmp_path / "r" / "history.csv").open(encoding="utf-8")))
    assert [row["iteration"] for row in rows] == ["10", "20", "30", "5"]
    assert rows[1]["held_out"] == "1.25" and rows[1]["unit"] == "cm" and rows[3]["held_out"] == ""


def test_pictures_show_the_curves_and_the_fitted_ground_and_replace_old_ones(people, tmp_path):
    pytest.importorskip(PLOTTING)
    (tmp_path / "ground_level_099.png").write_text("old")
    settings = FitSettings(fits=2, placements=6, size=8.0, cell=0.1)
    few = dataclasses.replace(people, clips=people.clips[8:10], tags=people.tags[8:10], held_out=[], sources=[],
                              labelled=[])  # fmt: skip
    files = write_report(Ended("pfnn", "W", few, made_up(), {}, labels_of(few), settings), tmp_path)
    assert {path.name for path in files} == {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in files if path.suffix == ".png"} == {
        "loss.png", "ground_uneven_001.png", "ground_level_000.png"
    }  # fmt: skip


def test_without_a_plotting_library_there_are_no_pictures(people, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, PLOTTING, None)
    settings = FitSettings(fits=2, placements=6)
    files = write_report(Ended("pfnn", "W", people, made_up(), {}, labels_of(people), settings), tmp_path)
    assert [path.name for path in files] == ["training.txt", "history.csv"]
    assert "no matplotlib" in files[0].read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_told(people, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="cannot be written"):
        write_report(Ended("lmm", "W", people, made_up(), {}), tmp_path / "file")


def test_the_report_lies_beside_a_folder_or_a_zip():
    assert report_folder(Path("a/walk 1.5")) == Path("a/walk 1.5-report")
    assert report_folder(Path("a/walk 1.5.zip")) == Path("a/walk 1.5-report")


SETTINGS = {
    "lmm": "[decompressor]\nbatch = 8\n[stepper]\nbatch = 4\nwindow = 6\n[projector]\nbatch = 8\n",
    "mann": "experts = 4\nhidden = 24\n[steps]\nbatch = 16\n[windows]\nbatch = 4\nwindow = 4\n",
    "pfnn": "hidden = 16\nfit_ground = false\n[steps]\nbatch = 16\n[windows]\nbatch = 4\nwindow = 4\n",
}
STAGES = {"lmm": ("decompressor", "projector", "stepper"), "mann": ("steps", "windows"), "pfnn": ("steps", "windows")}


@pytest.mark.parametrize("system", SETTINGS)
def test_every_learned_system_leaves_a_report_beside_its_pack(system, people, animals, tmp_path, capsys):
    (animals if system == "mann" else people).save(tmp_path / "data")
    (tmp_path / "s.toml").write_text(SETTINGS[system])
    (tmp_path / "packs").mkdir()
    out = tmp_path / "packs" / "p.zip"
    command = ["train", system, str(tmp_path / "data"), "--out", str(out), "--iterations", "2", "--settings",
               str(tmp_path / "s.toml"), "--json-lines"]  # fmt: skip
    assert main(command) == 0
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert done["kind"] == "done" and Path(done["report"]) == tmp_path / "packs" / "p-report" / "training.txt"
    rows = list(csv.DictReader((tmp_path / "packs" / "p-report" / "history.csv").open(encoding="utf-8")))
    assert [(row["stage"], row["iteration"]) for row in rows] == [(name, "2") for name in STAGES[system]]
    assert np.isfinite([float(row["loss"]) for row in rows]).all()
    assert list(list_packs([tmp_path / "packs"])) == [out] and "training.txt" not in read_pack(out).files


def test_a_report_is_left_out_when_not_wanted_and_no_pack_is_lost_for_want_of_one(people, tmp_path, capsys):
    people.save(tmp_path / "data")
    (tmp_path / "s.toml").write_text(SETTINGS["pfnn"])
    command = ["train", "pfnn", str(tmp_path / "data"), "--out", str(tmp_path / "p"), "--iterations", "2", "--settings",
               str(tmp_path / "s.toml"), "--json-lines"]  # fmt: skip
    assert main([*command, "--no-report"]) == 0 and not (tmp_path / "p-report").exists()
    (tmp_path / "p-report").write_text("in the way")
    capsys.readouterr()
    assert main(command) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[-1]["report"] == "" and "no report" in events[-2]["message"]
