"""Data sets: saved and loaded whole, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from blender_addon.motion.dataset import JSON_NAME, NPZ_NAME, Dataset, Source
from blender_addon.motion.errors import DatasetError
from tests.synthetic import biped, walk


def made() -> Dataset:
    return Dataset(
        biped(), [walk(1.0), walk(0.5, speed=0.0)], [("walk",), ("stand",)], [False, True], ("Someone",),
        [Source("gång/a.bvh", 3, 63, "CC0", "Someone", ("odd",)), Source()],
    )  # fmt: skip


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    folder = tmp_path / "дата set"
    made().save(folder)
    loaded = Dataset.load(folder)
    for one, other in zip(made().clips, loaded.clips, strict=True):
        np.testing.assert_allclose(other.world[0], one.world[0], atol=1e-5)
        np.testing.assert_allclose(other.root, one.root, atol=1e-6)
        assert (other.contacts == one.contacts).all()
        assert (other.name, other.fps) == (one.name, one.fps)
    assert (loaded.tags, loaded.held_out, loaded.credits, loaded.sources) == (
        made().tags, made().held_out, made().credits, made().sources
    )  # fmt: skip
    assert sorted(p.name for p in tmp_path.iterdir()) == ["дата set"]


def test_saving_again_replaces_and_saving_over_something_else_is_refused(tmp_path: Path) -> None:
    made().save(tmp_path / "d")
    made().part(held_out=True).save(tmp_path / "d")
    assert len(Dataset.load(tmp_path / "d")) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(DatasetError, match="is not a data set"):
        made().save(tmp_path / "mine")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_full_disk_leaves_the_old_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made().save(tmp_path / "d")

    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DatasetError, match="No space left"):
        made().part(held_out=True).save(tmp_path / "d")
    assert len(Dataset.load(tmp_path / "d")) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_place_that_cannot_be_taken_keeps_the_old_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made().save(tmp_path / "d")
    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        if target == tmp_path / "d" and not str(source).endswith(".old"):
            raise OSError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DatasetError, match="Permission denied"):
        made().part(held_out=True).save(tmp_path / "d")
    assert len(Dataset.load(tmp_path / "d")) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_really_full_disk_is_said_once(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from tests.motion.test_dataset import made\nfrom blender_addon.motion.errors import DatasetError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try: made().save(Path(sys.argv[1]) / 'd')\n"
        "except DatasetError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "cannot be written (File too large)" in done.stdout and not done.stderr and not list(tmp_path.iterdir())


def test_an_empty_one_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no motion"):
        Dataset(biped(), []).save(tmp_path / "d")
    assert not list(tmp_path.iterdir())


def test_damage_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is not a data set"):
        Dataset.load(tmp_path)
    folder = tmp_path / "d"
    made().save(folder)
    good = (folder / JSON_NAME).read_text()
    for text, message in (
        (good[:100], "damaged"), (good.replace('"schema": 1', '"schema": 99'), "version 99"), ("[]", "damaged"),
        ("[" * 100_000, "damaged"),
    ):  # fmt: skip
        (folder / JSON_NAME).write_text(text)
        with pytest.raises(DatasetError, match=message):
            Dataset.load(folder)
    data = json.loads(good)
    data["clips"][0]["frames"] += 1
    (folder / JSON_NAME).write_text(json.dumps(data))
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.load(folder)
    (folder / JSON_NAME).write_text(good)
    (folder / NPZ_NAME).write_bytes((folder / NPZ_NAME).read_bytes()[:1000])
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.load(folder)


def test_a_pickled_array_is_not_loaded(tmp_path: Path) -> None:
    made().save(tmp_path)
    with np.load(tmp_path / NPZ_NAME) as file:
        arrays = dict(file)
    np.savez(tmp_path / NPZ_NAME, **(arrays | {"rotations": 0.0 * arrays["rotations"]}))
    with pytest.raises(DatasetError, match="rotations of"):
        Dataset.load(tmp_path)
    arrays["root"] = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / NPZ_NAME, **arrays)
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.load(tmp_path)


def test_clips_at_different_rates_are_refused() -> None:
    with pytest.raises(DatasetError, match="30 fps"):
        Dataset(biped(), [walk(1.0), walk(1.0).resampled(30.0)])


def test_actions_of_frames_are_kept_with_their_names(tmp_path: Path) -> None:
    clips = [walk(1.0), walk(0.5, speed=0.0)]
    tracks = [np.arange(61) // 40, np.full(31, 2)]
    names = ("walk", "trot", "lie")
    labelled = Dataset(biped(), clips, held_out=[False, True], action_names=names, actions=tracks)
    labelled.save(tmp_path / "d")
    loaded = Dataset.load(tmp_path / "d")
    assert loaded.action_names == names
    assert all(np.array_equal(a, b) for a, b in zip(loaded.actions, tracks, strict=True))
    assert [len(track) for track in loaded.part(held_out=True).actions] == [31]
    # Without labels nothing is written of them, as before there were any.
    made().save(tmp_path / "plain")
    with np.load(tmp_path / "plain" / NPZ_NAME) as file:
        assert "actions" not in file.files
    assert "action_names" not in json.loads((tmp_path / "plain" / JSON_NAME).read_text(encoding="utf-8"))
    assert Dataset.load(tmp_path / "plain").actions == []


@pytest.mark.parametrize(
    "actions", [[], [np.zeros(61, np.int64)], [np.zeros(61, np.int64), np.zeros(30, np.int64)],
                [np.zeros(61, np.int64), np.full(31, 3)], [np.full(61, -1), np.zeros(31, np.int64)]],
)  # fmt: skip
def test_actions_that_fit_neither_frames_nor_names_are_refused(actions: list[np.ndarray]) -> None:
    with pytest.raises(DatasetError, match="actions"):
        Dataset(biped(), [walk(1.0), walk(0.5)], action_names=("a", "b", "c"), actions=actions)


def test_damaged_actions_are_told(tmp_path: Path) -> None:
    Dataset(biped(), [walk(1.0)], action_names=("walk",), actions=[np.zeros(61, np.int64)]).save(tmp_path / "d")
    data = json.loads((tmp_path / "d" / JSON_NAME).read_text(encoding="utf-8"))
    with np.load(tmp_path / "d" / NPZ_NAME) as file:
        arrays = {key: file[key] for key in file.files}
    arrays["actions"][5] = 9
    np.savez(tmp_path / "d" / NPZ_NAME, **arrays)
    with pytest.raises(DatasetError, match="damaged|do not fit"):
        Dataset.load(tmp_path / "d")
    del arrays["actions"]
    np.savez(tmp_path / "d" / NPZ_NAME, **arrays)
    assert data["action_names"] == ["walk"]
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.load(tmp_path / "d")
