"""Model packs: reading, checking, writing, installing and listing them. Nothing in a pack is executed.

A pack is a folder or a zip with ``pack.json``, ONNX files and ``.npz`` arrays, all in one level.
Every file is named in ``pack.json`` with its size and checksum; files it does not name are never read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.abilities import Abilities
from ..motion.errors import GaitsmithError, PackError
from ..motion.skeleton import Skeleton
from .layout import Layout
from .pack_files import MANIFEST, TOTAL_LIMIT_BYTES, check_name, read_folder_file, read_zip

#: Grows whenever an older version could misread a pack.
SCHEMA = 1
#: The systems this version can play.
SYSTEMS: tuple[str, ...] = ("mm", "lmm", "mann", "pfnn")

_AGAIN = "Import or train the pack again"


@dataclass(frozen=True)
class PackInfo:
    """What ``pack.json`` says.

    Attributes:
        system: one of `SYSTEMS`. title: for people. fps: frames a second.
        skeleton: the joints it moves.
        layouts: the vectors its networks take and give, by name (``features``, ``poses``).
        speeds: slowest and fastest steady speed it covers, metres a second.
        actions: what the character can do.
        licence, credits: whose motion it is, and on what terms.
        training: what it was made from and how (seconds, clips, iterations, settings ...).
        held_out: takes kept for evaluation.
        metrics: measured figures by name, units in the names.
        weights: the feature weights it was made with.
        reference: what the capture does at each speed (`motion.metrics_reference.SpeedTable` as JSON), to
            judge results by; may be empty.
        abilities: what it can do besides going on level ground; nothing in older packs.
    """

    system: str
    title: str
    fps: float
    skeleton: Skeleton
    layouts: Mapping[str, Layout]
    speeds: tuple[float, float]
    actions: tuple[str, ...] = ()
    licence: str = ""
    credits: tuple[str, ...] = ()
    training: Mapping[str, Any] = field(default_factory=dict)
    held_out: tuple[str, ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    reference: Mapping[str, Any] = field(default_factory=dict)
    abilities: Abilities = Abilities()

    def to_json(self) -> dict[str, Any]:
        """The description without the list of files."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        plain["skeleton"] = self.skeleton.to_json()
        plain["layouts"] = {name: layout.to_json() for name, layout in self.layouts.items()}
        plain["abilities"] = self.abilities.to_json()
        return {"schema": SCHEMA, **plain}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PackInfo:
        """The inverse of `to_json`; raises `PackError` that names what is wrong."""
        _check_version(data)
        try:
            low, high = (float(speed) for speed in data["speeds"])
            info = cls(
                system=str(data["system"]), title=str(data["title"]), fps=float(data["fps"]),
                skeleton=Skeleton.from_json(data["skeleton"]),
                layouts={str(name): Layout.from_json(value) for name, value in dict(data["layouts"]).items()},
                speeds=(low, high), actions=_strings(data.get("actions", ())),
                licence=str(data.get("licence", "")), credits=_strings(data.get("credits", ())),
                training=dict(data.get("training", {})), held_out=_strings(data.get("held_out", ())),
                metrics=dict(data.get("metrics", {})),
                weights={str(name): float(value) for name, value in dict(data.get("weights", {})).items()},
                reference=dict(data.get("reference", {})), abilities=Abilities.from_json(data.get("abilities", {})),
            )  # fmt: skip
        except KeyError as error:
            raise PackError(f"The pack does not say its {error.args[0]}", _AGAIN) from error
        except (TypeError, ValueError, AttributeError) as error:
            raise PackError(f"The pack's description is malformed ({error})", _AGAIN) from error
        except GaitsmithError as error:
            raise PackError(f"The pack's description is malformed: {error.message}", _AGAIN) from error
        if not (1.0 <= info.fps <= 1000.0 and 0.0 <= low <= high <= 100.0 and high > 0.0):
            raise PackError("The pack's frame rate or speeds make no sense", _AGAIN)
        return info


@dataclass(frozen=True)
class Pack:
    """A pack that was read and whose files have the right checksums.

    Attributes:
        info: what it says of itself. files: their contents by name.
    """

    info: PackInfo
    files: Mapping[str, bytes]

    @property
    def speeds(self) -> tuple[float, float]:
        """Slowest and fastest speed covered, metres a second."""
        return self.info.speeds

    def file(self, name: str) -> bytes:
        """A file's contents; raises `PackError` when the pack lacks it."""
        if name not in self.files:
            raise PackError(f"The pack lacks {name}", _AGAIN)
        return self.files[name]

    def arrays(
        self, name: str, shapes: Mapping[str, tuple[int | None, ...]],
        optional: Mapping[str, tuple[int | None, ...]] | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """The arrays of an ``.npz`` file, checked; never unpickled.

        Args:
            name: of the file. shapes: the arrays wanted and their shapes; None is any length.
            optional: more of them, which older packs may lack.
        """
        data = self.file(name)
        found: dict[str, npt.NDArray[Any]] = {}
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > TOTAL_LIMIT_BYTES:
                    raise PackError(f"{name} unpacks to more than a pack may hold", "Do not use this pack")
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                shapes = {**shapes, **{key: shape for key, shape in (optional or {}).items() if key in archive}}
                for key in shapes:
                    found[key] = np.asarray(archive[key])
        except KeyError as error:
            raise PackError(f"{name} in the pack lacks an array ({error.args[0]})", _AGAIN) from error
        except (ValueError, OSError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
            raise PackError(f"{name} in the pack is not a plain array file", "Do not use this pack") from error
        for key, wanted in shapes.items():
            _check_array(f"{key} in {name}", found[key], wanted)
        return found


def read_info(path: Path) -> PackInfo:
    """What the pack at ``path`` says of itself, without reading its networks."""
    return PackInfo.from_json(_manifest(_reader(path)))


def read_pack(path: Path) -> Pack:
    """Read a pack and check everything that can be checked without its system.

    Raises:
        PackError: missing, damaged, unsafe, of another version or of an unknown system.
    """
    read = _reader(path)
    data = _manifest(read)
    info = PackInfo.from_json(data)
    if info.system not in SYSTEMS:
        raise PackError(f"The pack is for a system this version lacks ({info.system})", "Update the add-on")
    listed = data.get("files")
    if not isinstance(listed, dict) or not listed:
        raise PackError("The pack does not say which files it holds", _AGAIN)
    files: dict[str, bytes] = {}
    for name, entry in listed.items():
        check_name(name)
        content = read(name)
        wanted = entry.get("sha256") if isinstance(entry, dict) else None
        if hashlib.sha256(content).hexdigest() != wanted:
            raise PackError(f"{name} in the pack has a wrong checksum: it was damaged or changed", _AGAIN)
        files[name] = content
    return Pack(info, files)


def write_pack(path: Path, info: PackInfo, files: Mapping[str, bytes]) -> None:
    """Write a pack as a folder, or as a zip when ``path`` ends so; whole or not at all.

    Raises:
        PackError: a file's name is unsafe, or the disk is full or may not be written.
    """
    for name in files:
        check_name(name)
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()}
    manifest = json.dumps({**info.to_json(), "files": listed}, indent=1, ensure_ascii=False).encode()
    everything = {MANIFEST: manifest, **files}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".zip":
            _write_zip(path, everything)
        else:
            _write_folder(path, everything)
    except OSError as error:
        raise PackError(
            f"The pack cannot be written to {path} ({error})", "Free some disk space or choose another folder"
        ) from error


def install_pack(source: Path, folder: Path, name: str = "") -> Path:
    """Check the pack ``source`` (folder or zip) and copy it into ``folder``; returns its new place."""
    pack = read_pack(source)
    target = folder / (name or source.stem)
    check_name(target.name)
    write_pack(target, pack.info, pack.files)
    return target


def list_packs(folders: Iterable[Path]) -> dict[Path, PackInfo | PackError]:
    """All packs lying in ``folders`` (folders and zips), with what they say or why they cannot be used."""
    found: dict[Path, PackInfo | PackError] = {}
    for folder in folders:
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if path.name.startswith(".") or not ((path / MANIFEST).is_file() or path.suffix == ".zip"):
                continue
            try:
                found[path] = read_info(path)
            except PackError as error:
                found[path] = error
    return found


def load_system(path: Path, **options: Any) -> Any:
    """The system in the pack at ``path``, ready to roll out; fulfils `protocol.System`.

    Args:
        path: a pack's folder or zip. options: passed to the system: ``weights`` (feature group ->
            weight), ``stride``, ``gain`` and what else its settings offer.
    """
    pack = read_pack(path)
    if pack.info.system == "lmm":
        from .learned_motion_matching import LearnedMotionMatching

        return LearnedMotionMatching.from_pack(pack, **options)
    if pack.info.system == "mann":
        from .mann import Mann

        return Mann.from_pack(pack, **options)
    if pack.info.system == "pfnn":
        from .pfnn import Pfnn

        return Pfnn.from_pack(pack, **options)
    from .matching_pack import motion_matching_from_pack

    return motion_matching_from_pack(pack, **options)


def _reader(path: Path) -> Any:
    """A function that reads one file of the pack by name."""
    if path.is_dir():
        return lambda name: read_folder_file(path, name)
    if not path.exists():
        raise PackError(f"There is no pack at {path}", "Choose another one")
    contents = read_zip(path)

    def read(name: str) -> bytes:
        if name not in contents:
            raise PackError(f"The pack lacks {name}", _AGAIN)
        return contents[name]

    return read


def _manifest(read: Any) -> dict[str, Any]:
    try:
        data = json.loads(read(MANIFEST).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PackError(f"{MANIFEST} is not valid JSON", _AGAIN) from error
    if not isinstance(data, dict):
        raise PackError(f"{MANIFEST} is not a description of a pack", _AGAIN)
    return data


def _check_version(data: Mapping[str, Any]) -> None:
    schema = data.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise PackError("The pack does not say its schema version", _AGAIN)
    if schema > SCHEMA:
        raise PackError(f"The pack is of a newer version ({schema}; this add-on reads {SCHEMA})", "Update the add-on")
    if schema < SCHEMA:
        raise PackError(f"The pack is of an older version ({schema}; this add-on reads {SCHEMA})", "Train it again")


def _check_array(what: str, array: npt.NDArray[Any], wanted: tuple[int | None, ...]) -> None:
    fits = len(array.shape) == len(wanted) and all(w in (None, n) for n, w in zip(array.shape, wanted, strict=False))
    if not fits:
        shape = " x ".join("any" if n is None else str(n) for n in wanted)
        raise PackError(f"{what} has shape {array.shape}, not {shape}", _AGAIN)
    if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and not np.all(np.isfinite(array))):
        raise PackError(f"{what} holds values that are not numbers", _AGAIN)


def _strings(values: Any) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError("a list of texts was expected")
    return tuple(str(value) for value in values)


def _write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path) -> None:
    """Raise `PackError` where something stands at ``path`` that a pack must not replace."""
    if path.suffix == ".zip" and not path.is_dir():
        return
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MANIFEST).exists())):
        raise PackError(f"{path} exists and is not a pack", "Choose another folder")


def _write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    check_target(path)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    old = work.with_name(work.name + ".old")
    try:
        for name, data in files.items():
            (work / name).write_bytes(data)
        work.chmod(0o755)
        if path.exists():
            os.replace(path, old)
        try:
            os.replace(work, path)
        except OSError:
            # The old pack is worth more than none.
            if old.exists():
                os.replace(old, path)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
