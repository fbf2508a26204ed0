"""Data sets: clips on one skeleton, their tags and origin, kept in a folder of two plain files."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .clip import Clip
from .errors import DatasetError, GaitsmithError
from .skeleton import Skeleton

SCHEMA = 1
JSON_NAME = "dataset.json"
NPZ_NAME = "clips.npz"
#: What reading a file that is none may raise.
_DAMAGE = (KeyError, TypeError, ValueError, OSError, RecursionError, MemoryError, zipfile.BadZipFile, zlib.error)
#: What the data sets of this add-on are made of.
ACTIONS: tuple[str, ...] = ("stand", "walk", "run")


@dataclass(frozen=True)
class Source:
    """Where a clip comes from.

    Attributes:
        path: the file or action it was read from.
        first, last: the frames of it, half open, in the file's own rate; -1 when unknown.
        licence: short name of the licence.
        credit: whom to name, in one line.
        defects: what was noticed in it, in words.
    """

    path: str = ""
    first: int = -1
    last: int = -1
    licence: str = ""
    credit: str = ""
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Labelled:
    """What was labelled of a clip beside its actions, in the scene it comes from.

    Attributes:
        contacts: (frames, 4): heels and toes (`contact_labels.CONTACT_POINTS`), or paws (`animal.LEGS`).
        reliable: (frames,) where the phase is one to learn from.
        edited: (frames,) where something was set by hand.
        left_out: (frames,) that are not to be learned by their phase; None: all are.
    """

    contacts: npt.NDArray[np.bool_]
    reliable: npt.NDArray[np.bool_]
    edited: npt.NDArray[np.bool_]
    left_out: npt.NDArray[np.bool_] | None = None

    def cut(self, first: int, last: int) -> Labelled:
        """Frames ``first`` up to, not including, ``last``."""
        out = self.left_out[first:last] if self.left_out is not None else None
        return Labelled(self.contacts[first:last], self.reliable[first:last], self.edited[first:last], out)


@dataclass(frozen=True)
class Dataset:
    """Clips on one skeleton at one frame rate.

    Attributes:
        skeleton: the joints all clips share.
        clips: the motion.
        tags: for each clip what it shows (stand, walk, run, back, side, turn, ...).
        held_out: for each clip whether it is kept for evaluation.
        credits: everyone to be named in what is made from these clips.
        sources: for each clip where it comes from.
        action_names: the vocabulary of ``actions``; empty when frames are not labelled.
        actions: for each clip, an index into ``action_names`` for every frame (frames,); empty without labels.
        labelled: for each clip its contacts and phase as they are labelled in its scene; None where they are not.
    """

    skeleton: Skeleton
    clips: list[Clip]
    tags: list[tuple[str, ...]] = field(default_factory=list)
    held_out: list[bool] = field(default_factory=list)
    credits: tuple[str, ...] = ()
    sources: list[Source] = field(default_factory=list)
    action_names: tuple[str, ...] = ()
    actions: list[npt.NDArray[np.int64]] = field(default_factory=list)
    labelled: list[Labelled | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.clips)
        for name, filler in (("tags", ()), ("held_out", False), ("sources", Source()), ("labelled", None)):
            values = list(getattr(self, name)) or [filler] * count
            if len(values) != count:
                raise DatasetError(f"The data set has {count} clips but {len(values)} entries of {name}")
            object.__setattr__(self, name, values)
        for clip in self.clips:
            if clip.skeleton.names != self.skeleton.names:
                raise DatasetError(f"Clip {clip.name!r} is on another skeleton", "Retarget it first")
            if abs(clip.fps - self.clips[0].fps) > 1e-6:
                raise DatasetError(f"Clip {clip.name!r} runs at {clip.fps:g} fps, the first at {self.clips[0].fps:g}",
                                   "Resample the clips to one rate")  # fmt: skip
        self._check_actions()

    def _check_actions(self) -> None:
        if len(self.actions) != (len(self.clips) if self.action_names else 0):
            raise DatasetError(f"The data set has {len(self.clips)} clips but {len(self.actions)} tracks of actions")
        for clip, track in zip(self.clips, self.actions, strict=bool(self.action_names)):
            if track.shape != (len(clip),) or track.min() < 0 or track.max() >= len(self.action_names):
                raise DatasetError(f"The actions of clip {clip.name!r} do not fit its frames or the data set's names",
                                   "Give every frame one of the data set's actions")  # fmt: skip
        for clip, labels in zip(self.clips, self.labelled, strict=True):
            if labels is not None and labels.contacts.shape != (len(clip), 4):
                raise DatasetError(f"The labels of clip {clip.name!r} do not fit its frames", "Label it anew")

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def fps(self) -> float:
        """Frames per second of all clips."""
        if not self.clips:
            raise DatasetError("The data set holds no clips", "Ingest some motion")
        return self.clips[0].fps

    @property
    def frames(self) -> int:
        """Frames of all clips together."""
        return sum(len(clip) for clip in self.clips)

    @property
    def seconds(self) -> float:
        """Length of all clips together."""
        return sum(len(clip) / clip.fps for clip in self.clips)

    def part(self, held_out: bool) -> Dataset:
        """Only the clips kept for evaluation, or only the others."""
        keep = [i for i, held in enumerate(self.held_out) if held == held_out]
        return Dataset(
            self.skeleton, [self.clips[i] for i in keep], [self.tags[i] for i in keep],
            [held_out] * len(keep), self.credits, [self.sources[i] for i in keep],
            self.action_names, [self.actions[i] for i in keep] if self.action_names else [],
            [self.labelled[i] for i in keep],
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the folder ``path``; written beside it first, then put in its place.

        Raises:
            DatasetError: nothing to write, something else stands there, or the disk refuses.
        """
        target = Path(path)
        if not self.clips:
            raise DatasetError("There is no motion to save", "Choose files or actions that hold motion")
        check_target(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        except OSError as error:
            raise DatasetError(f"{target} cannot be written ({error.strerror})", "Choose another folder") from error
        try:
            self._write(work)
            old = work.with_name(work.name + ".old")
            if target.exists():
                os.replace(target, old)
            try:
                os.replace(work, target)
            except OSError:
                if old.exists():
                    os.replace(old, target)
                raise
            shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise DatasetError(f"{target} cannot be written ({error.strerror})", "Free some space") from error
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _write(self, folder: Path) -> None:
        clips = []
        every = zip(self.clips, self.tags, self.held_out, self.sources, self.labelled, strict=True)
        for clip, tags, held, source, labels in every:
            clips.append({
                "name": clip.name, "fps": clip.fps, "frames": len(clip), "tags": list(tags), "held_out": held,
                "source": source.path, "range": [source.first, source.last], "licence": source.licence,
                "credit": source.credit, "defects": list(source.defects), "labelled": labels is not None,
            })  # fmt: skip
        data = {"schema": SCHEMA, "skeleton": self.skeleton.to_json(), "credits": list(self.credits), "clips": clips}
        if self.action_names:
            data["action_names"] = list(self.action_names)
        arrays: dict[str, npt.NDArray[Any]] = {
            "hips": np.concatenate([clip.hips for clip in self.clips]).astype(np.float32),
            "rotations": np.concatenate([clip.rotations for clip in self.clips]).astype(np.float32),
            "root": np.concatenate([clip.root for clip in self.clips]).astype(np.float32),
            "contacts": np.concatenate([clip.contacts for clip in self.clips]).astype(np.float32),
        }
        if self.action_names:
            arrays["actions"] = np.concatenate(self.actions).astype(np.uint8)
        if any(labels is not None for labels in self.labelled):
            arrays["labels"] = np.concatenate([
                _packed(labels, len(clip)) for clip, labels in zip(self.clips, self.labelled, strict=True)
            ])  # fmt: skip
        # Zipped in memory: a zip file on a full disk complains once more when it is forgotten.
        packed = io.BytesIO()
        np.savez(packed, **arrays)  # type: ignore[arg-type, unused-ignore]
        (folder / NPZ_NAME).write_bytes(packed.getbuffer())
        (folder / JSON_NAME).write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read a folder that `save` wrote; raises `DatasetError` for anything missing or damaged."""
        folder = Path(path)
        if not (folder / JSON_NAME).is_file() or not (folder / NPZ_NAME).is_file():
            raise DatasetError(f"{folder} is not a data set", "Make one with: python -m blender_addon ingest")
        try:
            data = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise DatasetError(f"{folder} has version {data['schema']}, not {SCHEMA}", "Ingest it anew")
            with np.load(folder / NPZ_NAME, allow_pickle=False) as file:
                labels = ("actions",) if data.get("action_names") else ()
                if any(entry.get("labelled") for entry in data["clips"]):
                    labels = (*labels, "labels")
                arrays = {key: np.asarray(file[key]) for key in ("hips", "rotations", "root", "contacts", *labels)}
            return cls._build(data, arrays)
        except DatasetError:
            raise
        except (GaitsmithError, *_DAMAGE) as error:
            raise DatasetError(f"The data set {folder} is damaged ({error})", "Ingest it anew") from error

    @classmethod
    def _build(cls, data: dict[str, Any], arrays: dict[str, Any]) -> Dataset:
        skeleton = Skeleton.from_json(data["skeleton"])
        total = sum(int(entry["frames"]) for entry in data["clips"])
        wrong = [key for key, array in arrays.items() if len(array) != total]
        if wrong or not total:
            raise ValueError(f"{total} frames are described, {len(arrays['hips'])} stored")
        names = tuple(str(name) for name in data.get("action_names", ()))
        clips, sources, actions, at = [], [], [], 0
        labelled: list[Labelled | None] = []
        for entry in data["clips"]:
            part = slice(at, at + int(entry["frames"]))
            at = part.stop
            rotations = arrays["rotations"][part].astype(np.float64)
            if not np.all(np.linalg.norm(rotations, axis=-1) > 0.1):
                raise ValueError(f"the rotations of {entry['name']} are none")
            clips.append(Clip(
                skeleton=skeleton, fps=float(entry["fps"]), hips=arrays["hips"][part].astype(np.float64),
                rotations=rotations / np.linalg.norm(rotations, axis=-1, keepdims=True),
                root=arrays["root"][part].astype(np.float64), contacts=arrays["contacts"][part] > 0.5,
                name=str(entry["name"]),
            ))  # fmt: skip
            if names:
                actions.append(arrays["actions"][part].astype(np.int64))
            labelled.append(_unpacked(arrays["labels"][part]) if entry.get("labelled") else None)
            first, last = entry.get("range", (-1, -1))
            sources.append(Source(
                str(entry.get("source", "")), int(first), int(last), str(entry.get("licence", "")),
                str(entry.get("credit", "")), tuple(str(d) for d in entry.get("defects", ())),
            ))  # fmt: skip
        return cls(
            skeleton, clips, [tuple(entry["tags"]) for entry in data["clips"]],
            [bool(entry["held_out"]) for entry in data["clips"]], tuple(data.get("credits", ())), sources,
            names, actions, labelled,
        )  # fmt: skip


def _packed(labels: Labelled | None, frames: int) -> npt.NDArray[np.uint8]:
    """Labels as bits (frames,): four contacts, reliable, edited, left out; nothing without labels."""
    if labels is None:
        return np.zeros(frames, np.uint8)
    out = labels.left_out if labels.left_out is not None else np.zeros(frames, bool)
    bits = np.concatenate([labels.contacts, np.stack([labels.reliable, labels.edited, out], axis=1)], axis=1)
    return np.asarray(np.packbits(bits, axis=1, bitorder="little")[:, 0])


def _unpacked(packed: npt.NDArray[np.uint8]) -> Labelled:
    bits = np.unpackbits(packed[:, None], axis=1, bitorder="little").astype(bool)
    return Labelled(bits[:, :4], bits[:, 4], bits[:, 5], bits[:, 6] if bits[:, 6].any() else None)


def check_target(path: Path) -> None:
    """Raise `DatasetError` where something stands at ``path`` that a data set must not replace."""
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / JSON_NAME).exists())):
        raise DatasetError(f"{path} exists and is not a data set", "Choose another folder")


def merged_credits(lines: Sequence[str]) -> tuple[str, ...]:
    """The distinct lines that are not empty, in their first order."""
    return tuple(dict.fromkeys(line for line in lines if line))
