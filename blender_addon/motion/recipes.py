"""Recipes: which takes of a data folder make a data set, with the options of each, as a TOML file."""

from __future__ import annotations

import fnmatch
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import DatasetError

_TOP = {"extends", "name", "fps", "skeleton", "ball_height", "shortest", "held_out", "family", "takes"}
_FAMILY = {"scale", "licence", "credit", "rest", "forward", "up", "fps"}
_TAKES = {"family", "group", "files", "leave_out", "level", "tags", "ranges"}


@dataclass(frozen=True)
class Family:
    """Takes of one kind: how their files are read and whom to name.

    Attributes:
        scale: metres per unit of the file; None: found out.
        licence, credit: of what is made from them.
        rest: a file whose first frame is the reference pose; empty: the rest pose is.
        forward, up: the file's axes.
        fps: frames per second, overruling the file's.
    """

    scale: float | None = None
    licence: str = ""
    credit: str = ""
    rest: str = ""
    forward: str = "-Z"
    up: str = "Y"
    fps: float | None = None


@dataclass(frozen=True)
class TakeSpec:
    """One file of a recipe; fields as in `takes.Take`."""

    path: str
    family: Family
    group: str = ""
    level: str = "tilt"
    tags: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    held_out: bool = False


@dataclass(frozen=True)
class Recipe:
    """A data set to be: its takes in order, and what holds for all of them."""

    name: str
    fps: float
    skeleton: str
    ball_height: float | None
    shortest: float
    takes: tuple[TakeSpec, ...] = field(default=())

    @property
    def files(self) -> tuple[str, ...]:
        """Every file the recipe reads, once."""
        names = [self.skeleton, *(take.family.rest for take in self.takes), *(take.path for take in self.takes)]
        return tuple(dict.fromkeys(name for name in names if name))


class DataFolder:
    """A folder of takes, some of whose sub-folders may still be archives (``human/studio.zip``)."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not self.root.is_dir():
            raise DatasetError(f"The data folder {self.root} does not exist", "Give it with --data")

    def find(self, pattern: str) -> list[str]:
        """Paths relative to the folder that match a pattern such as ``human/studio/walk_*.bvh``, sorted."""
        folder, _, _ = pattern.rpartition("/")
        names = {path.relative_to(self.root).as_posix() for path in self.root.glob(pattern)}
        archive = self.root / f"{folder}.zip"
        if folder and archive.is_file():
            above = folder.rpartition("/")[0]
            prefix = f"{above}/" if above else ""
            with zipfile.ZipFile(archive) as file:
                names |= {prefix + name for name in file.namelist() if fnmatch.fnmatchcase(prefix + name, pattern)}
        return sorted(names)

    def fetch(self, name: str, work: Path) -> Path:
        """The file ``name``, unpacked below ``work`` when it lies in an archive."""
        path = self.root / name
        if path.is_file():
            return path
        folder = name.rpartition("/")[0]
        member = "/".join(name.split("/")[-2:])
        target = work / name
        if ".." in name.split("/"):
            raise DatasetError(f"The path {name} leads out of the data folder", "Correct the recipe")
        try:
            with zipfile.ZipFile(self.root / f"{folder}.zip") as archive:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise DatasetError(f"{name} is not in {self.root}", "Check --data and the recipe") from error
        return target


def load_recipe(path: str | Path, data: DataFolder) -> Recipe:
    """Read a recipe and find its files; one that ``extends`` another (a file beside it) goes on with its takes.

    Raises:
        DatasetError: it cannot be read, has unknown keys, a pattern finds nothing, or names in ``held_out``,
            ``ranges`` or ``leave_out`` belong to no take.
    """
    path = Path(path)
    table = _read(path)
    try:
        if "extends" in table:
            table = _extended(_read(path.parent / str(table["extends"])), table)
        return _build(table, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DatasetError(f"The recipe {path} is malformed ({error!r})", "Correct it") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DatasetError(f"The recipe {path} cannot be read ({error})", "Correct it") from error


def _extended(base: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe that takes over another one's and adds to it: single values replaced, lists gone on with."""
    if "extends" in base:
        raise DatasetError("A recipe that extends another one may not be extended", "Name the first one")
    merged = {**base, **{key: value for key, value in table.items() if key != "extends"}}
    merged["family"] = {**base.get("family", {}), **table.get("family", {})}
    merged["takes"] = [*base.get("takes", ()), *table.get("takes", ())]
    merged["held_out"] = [*base.get("held_out", ()), *table.get("held_out", ())]
    return merged


def _build(table: Mapping[str, Any], data: DataFolder) -> Recipe:
    _known(table, _TOP, "the recipe")
    families = {}
    for name, entry in table.get("family", {}).items():
        _known(entry, _FAMILY, f"family {name}")
        families[name] = Family(**entry)
    held = set(table.get("held_out", ()))
    unused = set(held)
    specs: list[TakeSpec] = []
    for entry in table["takes"]:
        _known(entry, _TAKES, "takes")
        ranges = {name: tuple((int(a), int(b)) for a, b in spans) for name, spans in entry.get("ranges", {}).items()}
        left_out = set(entry.get("leave_out", ()))
        found = [path for pattern in entry["files"] for path in _some(data, pattern)]
        stems = {Path(name).stem for name in found}
        for name in (*ranges, *left_out):
            if name not in stems:
                raise DatasetError(f"The recipe speaks of {name}, which is none of its files", "Correct the recipe")
        for name in dict.fromkeys(found):
            stem = Path(name).stem
            unused.discard(stem)
            if stem not in left_out:
                specs.append(TakeSpec(
                    name, families[entry["family"]] if "family" in entry else Family(), entry.get("group", ""),
                    entry.get("level", "tilt"), tuple(entry.get("tags", ())), ranges.get(stem, ()), stem in held,
                ))  # fmt: skip
    if unused:
        raise DatasetError(f"Held out, but not among the takes: {', '.join(sorted(unused))}", "Correct the recipe")
    ball = table.get("ball_height")
    return Recipe(
        str(table.get("name", "")), float(table.get("fps", 60.0)), str(table.get("skeleton", "")),
        None if ball is None else float(ball), float(table.get("shortest", 0.5)), tuple(specs),
    )  # fmt: skip


def _some(data: DataFolder, pattern: str) -> list[str]:
    found = data.find(pattern)
    if not found:
        raise DatasetError(f"No file in {data.root} matches {pattern}", "Check --data and the recipe")
    return found


def _known(table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    unknown = sorted(set(table) - set(keys))
    if unknown:
        raise DatasetError(f"Unknown in {where}: {', '.join(unknown)}", f"Known are: {', '.join(sorted(keys))}")
