import hashlib
import io
import json
import os
import pickle
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.abilities import Abilities, Crouch, Leap
from blender_addon.motion.errors import PackError
from blender_addon.systems import packs
from blender_addon.systems.features import layouts
from blender_addon.systems.layout import Layout
from blender_addon.systems.matching_pack import CLIPS, clips_file, read_clips
from blender_addon.systems.packs import (
    PackInfo,
    install_pack,
    list_packs,
    load_system,
    read_info,
    read_pack,
    write_pack,
)
from blender_addon.systems.protocol import abilities_of
from tests.synthetic import biped, walk

LEAP = Leap(
    speed=1.0, flight=0.3, flight_speed=2.2, behind=0.3, ahead=0.4, phase=1.6, nearest=1.2, furthest=1.6, slow=1.8,
    fast=2.6,
)  # fmt: skip


def info(**changes) -> PackInfo:
    features, poses = layouts(biped())
    values = dict(
        system="mm", title="Test", fps=60.0, skeleton=biped(), layouts={"features": features, "poses": poses},
        speeds=(0.3, 1.5), actions=("stand", "walk"), licence="CC0-1.0", credits=("Somebody",),
        training={"seconds": 8.0}, held_out=("take 7",), metrics={"joint_error_cm": 0.5},
    )  # fmt: skip
    return PackInfo(**{**values, **changes})


@pytest.fixture
def files() -> dict[str, bytes]:
    return {CLIPS: clips_file([walk(3.0, 0.0), walk(3.0, 1.0)])}


@pytest.fixture(params=["folder", "zip"])
def pack(request, tmp_path: Path, files) -> Path:
    path = tmp_path / "väg 道" / ("pack" if request.param == "folder" else "pack.zip")
    write_pack(path, info(), files)
    return path


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def manifest(contents: dict[str, bytes], **changes) -> bytes:
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in contents.items()}
    return json.dumps({**info().to_json(), "files": listed, **changes}).encode()


def test_what_was_written_is_read_again(pack, files):
    found = read_pack(pack)
    assert dict(found.files) == files
    assert json.dumps(found.info.to_json()) == json.dumps(info().to_json())
    assert read_info(pack).credits == ("Somebody",)


def test_abilities_are_kept_and_absent_in_older_packs(tmp_path, files):
    able = Abilities(Crouch(0.4, 0.8, 1.1), LEAP, 0.6)
    write_pack(tmp_path / "able", info(abilities=able), files)
    assert read_info(tmp_path / "able").abilities == able
    data = json.loads(manifest(files))
    del data["abilities"]
    path = zipped(tmp_path / "old.zip", {"pack.json": json.dumps(data).encode(), **files})
    assert read_info(path).abilities == Abilities()
    assert abilities_of(load_system(path)) == Abilities()


def test_an_array_that_older_packs_lack_may_be_missing(tmp_path):
    stream = io.BytesIO()
    np.savez(stream, old=np.zeros(3), new=np.zeros(2))
    write_pack(tmp_path / "pack", info(), {"arrays.npz": stream.getvalue()})
    pack = read_pack(tmp_path / "pack")
    assert set(pack.arrays("arrays.npz", {"old": (3,)}, {"new": (2,), "newer": (4,)})) == {"old", "new"}
    with pytest.raises(PackError, match="new in arrays.npz has shape"):
        pack.arrays("arrays.npz", {"old": (3,)}, {"new": (4,)})


def test_a_matching_pack_walks_the_clips_it_holds(pack):
    clips = read_clips(read_pack(pack))
    expected = walk(3.0, 1.0)
    assert np.allclose(clips[1].world[0], expected.world[0], atol=3e-4)
    system = load_system(pack, stride=8, weights={"foot_velocity": 2.0})
    assert system.stride == 8 and len(system.database) == 4 * len(expected)


def test_a_changed_file_is_refused_by_name(tmp_path, files):
    write_pack(tmp_path / "pack", info(), files)
    target = tmp_path / "pack" / CLIPS
    data = bytearray(target.read_bytes())
    data[100] ^= 1
    target.write_bytes(bytes(data))
    with pytest.raises(PackError, match=f"{CLIPS}.*checksum"):
        read_pack(tmp_path / "pack")


def test_a_missing_file_is_named(tmp_path, files):
    write_pack(tmp_path / "pack", info(), files)
    (tmp_path / "pack" / CLIPS).unlink()
    with pytest.raises(PackError, match=CLIPS):
        read_pack(tmp_path / "pack")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": packs.SCHEMA + 1}, "newer version"),
        ({"schema": "1"}, "schema"),
        ({"schema": 0}, "older version"),
        ({"system": "nsm"}, "nsm"),
        ({"speeds": [1.0]}, "malformed"),
        ({"speeds": [2.0, 1.0]}, "make no sense"),
        ({"fps": float("nan")}, "make no sense"),
        ({"skeleton": {"names": []}}, "malformed"),
        ({"layouts": {"features": [["a"]]}}, "malformed"),
        ({"credits": "one text"}, "malformed"),
        ({"abilities": {"crouch": {"depth": 1.0}}}, "malformed"),
        ({"abilities": [1]}, "malformed"),
        ({"abilities": {"crouch": {"usual": 0.2, "deepest": float("nan"), "fastest": 1.0}}}, "malformed"),
        ({"abilities": {"leap": {**asdict(LEAP), "flight": 0.0}}}, "malformed"),
        ({"abilities": {"leap": {**asdict(LEAP), "speed": -1.0}}}, "speed is below 0"),
        ({"abilities": {"leap": {**asdict(LEAP), "nearest": LEAP.furthest + 1.0}}}, "longer than the longest"),
        ({"abilities": {"crouch": {"usual": 0.9, "deepest": 0.3, "fastest": 1.0}}}, "deeper than the deepest"),
        ({"abilities": {"crouch": {"usual": 0.2, "deepest": 0.8, "fastest": -3.0}}}, "fastest is below 0"),
        ({"abilities": {"steepest": -1.0}}, "a slope"),
        ({"files": {}}, "which files"),
        ({"files": {"../evil": {"sha256": ""}}}, "outside itself"),
        ({"files": {CLIPS: None}}, "checksum"),
    ],
)  # fmt: skip
def test_a_manifest_that_makes_no_sense_is_refused_with_the_reason(tmp_path, files, changes, message):
    path = zipped(tmp_path / "pack.zip", {"pack.json": manifest(files, **changes), **files})
    with pytest.raises(PackError, match=message):
        read_pack(path)


@pytest.mark.parametrize("missing", ["system", "title", "fps", "skeleton", "layouts", "speeds"])
def test_a_manifest_that_lacks_something_names_it(tmp_path, files, missing):
    data = json.loads(manifest(files))
    del data[missing]
    path = zipped(tmp_path / "pack.zip", {"pack.json": json.dumps(data).encode(), **files})
    with pytest.raises(PackError, match=missing):
        read_pack(path)


def test_another_feature_layout_is_refused_by_its_blocks_name(tmp_path, files):
    _, poses = layouts(biped())
    other = Layout.of(trajectory_position=6, trajectory_direction=6, foot_position=6, foot_velocity=6, hips_speed=3)
    write_pack(tmp_path / "pack", info(layouts={"features": other, "poses": poses}), files)
    with pytest.raises(PackError, match="hips_speed"):
        load_system(tmp_path / "pack")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "C:\\evil", "..\\evil", "c:evil", "//evil"])
def test_a_zip_that_leaves_its_folder_is_refused_and_nothing_is_written(tmp_path, files, name):
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    path = zipped(inside / "pack.zip", {"pack.json": manifest(files), **files, name: b"evil"})
    with pytest.raises(PackError, match="outside"):
        install_pack(path, inside / "packs")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b", "pack.zip"]


@given(name=st.text(min_size=1, max_size=40))
def test_no_name_of_a_zip_entry_reaches_outside(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("zip")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        try:
            archive.writestr(zipfile.ZipInfo(name), b"x")
        except (ValueError, UnicodeEncodeError):
            return
    path = folder / "pack.zip"
    path.write_bytes(stream.getvalue())
    with pytest.raises(PackError):
        install_pack(path, folder / "packs")
    assert [p.name for p in folder.rglob("*")] == ["pack.zip"]


@given(data=st.binary(max_size=400))
def test_rubbish_is_refused_as_a_pack_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("zip") / "pack.zip"
    path.write_bytes(data)
    with pytest.raises(PackError):
        read_pack(path)


@given(at=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_damaged_zip_is_refused_or_still_whole(tmp_path_factory, at, value):
    folder = tmp_path_factory.mktemp("zip")
    files = {"notes.txt": b"some text " * 30}
    write_pack(folder / "pack.zip", info(), files)
    data = bytearray((folder / "pack.zip").read_bytes())
    data[at % len(data)] = value
    (folder / "pack.zip").write_bytes(bytes(data))
    try:
        found = read_pack(folder / "pack.zip")
    except PackError:
        return
    assert dict(found.files) == files


def test_a_link_in_a_zip_is_refused(tmp_path, files):
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive:
        archive.writestr("pack.json", manifest(files))
        entry = zipfile.ZipInfo(CLIPS)
        entry.external_attr = (0o120777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(PackError, match="link"):
        read_pack(tmp_path / "pack.zip")


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_in_a_folder_is_refused(tmp_path, files):
    write_pack(tmp_path / "pack", info(), files)
    (tmp_path / "secret").write_bytes(files[CLIPS])
    (tmp_path / "pack" / CLIPS).unlink()
    (tmp_path / "pack" / CLIPS).symlink_to(tmp_path / "secret")
    with pytest.raises(PackError, match="link"):
        read_pack(tmp_path / "pack")


def test_a_zip_made_to_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "pack.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.bin", bytes(64 << 20))
    assert (tmp_path / "pack.zip").stat().st_size < 100_000
    with pytest.raises(PackError, match="fill the memory"):
        read_pack(tmp_path / "pack.zip")


def test_a_zip_that_holds_a_name_twice_is_refused(tmp_path, files):
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive, pytest.warns(UserWarning):
        archive.writestr("pack.json", manifest(files))
        archive.writestr("pack.json", manifest(files))
    with pytest.raises(PackError, match="twice"):
        read_pack(tmp_path / "pack.zip")


def test_a_folder_zipped_as_a_whole_is_read(tmp_path, files):
    entries = {"pack.json": manifest(files), **files}
    path = zipped(tmp_path / "pack.zip", {f"mine/{name}": data for name, data in entries.items()})
    assert dict(read_pack(path).files) == files


def test_pickled_arrays_are_refused_and_never_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path(tmp_path / "ran").touch, ())

    stream = io.BytesIO()
    np.savez(stream, rotations=np.array([Evil()], dtype=object))
    for data in (stream.getvalue(), pickle.dumps(Evil()), b"not arrays"):
        write_pack(tmp_path / "pack", info(), {CLIPS: data})
        with pytest.raises(PackError, match=CLIPS):
            load_system(tmp_path / "pack")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("hips", np.zeros((10, 2), np.float32)),
        ("hips", np.full((362, 3), np.nan, np.float32)),
        ("rotations", np.zeros((362, 3, 4), np.int16)),
        ("lengths", np.array([181, 900])),
        ("lengths", np.array([0, 362])),
        ("lengths", np.array([1.5, 2.5])),
        ("root", np.array(["text"] * 362)),
    ],
)
def test_arrays_of_another_shape_or_kind_are_refused(tmp_path, files, array, value):
    with np.load(io.BytesIO(files[CLIPS])) as archive:
        arrays = dict(archive)
    arrays[array] = value
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    write_pack(tmp_path / "pack", info(), {CLIPS: stream.getvalue()})
    with pytest.raises(PackError):
        load_system(tmp_path / "pack")


def test_a_failed_write_leaves_the_old_pack(tmp_path, files, monkeypatch):
    write_pack(tmp_path / "pack", info(), files)

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(PackError, match="No space"):
        write_pack(tmp_path / "pack", info(title="New"), files)
    monkeypatch.undo()
    assert read_pack(tmp_path / "pack").info.title == "Test"
    assert [p.name for p in tmp_path.iterdir()] == ["pack"]


def test_a_folder_that_is_no_pack_is_not_overwritten(tmp_path, files):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "scene.blend").write_text("precious")
    with pytest.raises(PackError, match="not a pack"):
        write_pack(tmp_path / "work", info(), files)
    assert (tmp_path / "work" / "scene.blend").read_text() == "precious"


def test_listing_shows_good_packs_and_says_what_is_wrong_with_others(tmp_path, files):
    write_pack(tmp_path / "good", info(), files)
    write_pack(tmp_path / "zipped.zip", info(title="Zipped"), files)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pack.json").write_text("{")
    (tmp_path / "no pack").mkdir()
    found = list_packs([tmp_path, tmp_path / "absent"])
    assert [path.name for path in found] == ["bad", "good", "zipped.zip"]
    assert isinstance(found[tmp_path / "bad"], PackError)
    assert found[tmp_path / "zipped.zip"].title == "Zipped"


def test_installing_a_zip_gives_a_folder(tmp_path, files):
    write_pack(tmp_path / "mine.zip", info(), files)
    place = install_pack(tmp_path / "mine.zip", tmp_path / "packs")
    assert place == tmp_path / "packs" / "mine" and read_pack(place).info.title == "Test"


def test_a_pack_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path, monkeypatch):
    folder = tmp_path / "pack"
    packs._write_folder(folder, {packs.MANIFEST: b"old"})
    real, calls = os.replace, []

    def second_fails(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError("no space left")
        real(source, target)

    monkeypatch.setattr(packs.os, "replace", second_fails)
    with pytest.raises(OSError, match="no space"):
        packs._write_folder(folder, {packs.MANIFEST: b"new"})
    assert (folder / packs.MANIFEST).read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["pack"]
