"""Shot files (TOML) of ``python -m blender_addon bake``: read and checked key by key, before anything is loaded."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .library import DEFAULT_PACK
from .motion.errors import GaitsmithError
from .motion.schedule import Mark, Schedule
from .scene.channels import ROOT_MOTIONS

RIG_SUFFIXES = (".blend", ".glb", ".gltf", ".fbx", ".bvh")
HEIGHT_SUFFIXES = (".npy", ".png")
#: Frame rate of scenes made anew when the shot gives none.
DEFAULT_FPS = 60.0
_LARGEST_BYTES = 4 << 20
#: No length, time or factor is larger.
_GREATEST = 1e9
#: Blender's frames go no further.
_GREATEST_WHOLE = 1_048_574


class ShotError(GaitsmithError):
    """A shot file asks for something that cannot be."""


@dataclass(frozen=True)
class CurveAsked:
    """The way: ``points`` in metres or the name of an ``object`` of the rig's .blend."""

    points: tuple[tuple[float, ...], ...] = ()
    object: str = ""
    cyclic: bool = False
    reverse: bool = False
    start: float = 0.0
    laps: int = 1


@dataclass(frozen=True)
class TerrainAsked:
    """The ground: an ``object`` or ``collection`` of the rig's .blend, or a height field.

    Attributes:
        heightfield: .npy (metres) or .png (black is 0, white is ``height`` metres).
        size: its extent along x and y, metres.
        centre: x and y of its middle, metres.
        height: of white, metres; for .npy a factor.
        axes: ``yx``: rows along y, columns along x (as `numpy.meshgrid` makes them, and pictures); ``xy`` the other
            way. A picture's lowest row lies at the lowest y.
    """

    object: str = ""
    collection: str = ""
    heightfield: Path | None = None
    size: tuple[float, float] = (0.0, 0.0)
    centre: tuple[float, float] = (0.0, 0.0)
    height: float = 1.0
    axes: str = "yx"


@dataclass(frozen=True)
class FacingAsked:
    """Where the body looks: ``path``, ``fixed`` (``yaw`` in degrees) or ``object`` (a name, or a ``target`` place)."""

    kind: str = "path"
    yaw: float = 0.0
    target: tuple[float, float] | None = None
    object: str = ""


@dataclass(frozen=True)
class OutputAsked:
    """Where the keys go and how many.

    Attributes:
        mode: ``new``, ``replace``, ``nla`` or ``layer``.
        controls: ``fk``, ``ik`` or ``both``, of the limbs of a generated Rigify rig.
        reduced: fewer keys, within ``degrees``, ``millimetres`` and, for standing feet, ``planted`` millimetres.
        markers: set a marker where a foot lands and where it lifts.
        first, last: frames of a layer; None for the motion's own.
        blend_in, blend_out: frames over which a layer comes in and goes out.
    """

    mode: str = "new"
    controls: str = "fk"
    reduced: bool = False
    degrees: float = 0.5
    millimetres: float = 2.0
    planted: float = 1.0
    markers: bool = False
    first: int | None = None
    last: int | None = None
    blend_in: int = 10
    blend_out: int = 10


@dataclass(frozen=True)
class ShotFile:
    """A shot as asked for. Paths are absolute or start at the shot file's folder."""

    folder: Path
    pack: str = DEFAULT_PACK
    system: str = ""
    rig: Path | None = None
    armature: str = ""
    bones: Path | None = None
    deform: bool = False
    fps: float | None = None
    frame_start: int = 1
    name: str = "Walk"
    root_motion: str = "bone"
    plant: bool = True
    curve: CurveAsked = field(default_factory=CurveAsked)
    terrain: TerrainAsked = field(default_factory=TerrainAsked)
    facing: FacingAsked = field(default_factory=FacingAsked)
    schedule: Schedule = field(default_factory=Schedule)
    strength: float = 1.0
    exact: bool = False
    output: OutputAsked = field(default_factory=OutputAsked)


def read_shot_file(path: Path) -> ShotFile:
    """Read and check a shot file.

    Raises:
        ShotError: it is missing, no TOML, or a key is unknown, of the wrong kind or makes no sense.
        PathError: its schedule makes no sense.
    """
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise ShotError(f"{path} is larger than a shot file can be")
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ShotError(f"The shot file {path} cannot be read ({error.strerror})", "Check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ShotError(f"{path} is no TOML file: {error}", "Mend that line") from error
    return _shot(_Table(data, "the shot file"), path.resolve().parent)


def _shot(top: _Table, folder: Path) -> ShotFile:
    top.only("pack", "system", "rig", "armature", "bones", "deform", "fps", "frame_start", "name", "root_motion",
             "plant", "curve", "terrain", "facing", "schedule", "follow", "output")  # fmt: skip
    rig = top.path("rig", folder, RIG_SUFFIXES)
    fps = top.number("fps", None, 1.0, 1000.0)
    follow = top.table("follow")
    follow.only("strength", "exact")
    root_motion = top.choice("root_motion", "bone", ROOT_MOTIONS)
    curve = _curve(top.table("curve"), rig)
    return ShotFile(
        folder=folder, pack=top.text("pack", DEFAULT_PACK),
        system=top.choice("system", "", ("", "lmm", "mm", "mann", "pfnn", "gait")), rig=rig,
        armature=top.text("armature"), bones=top.path("bones", folder, (".json",)), deform=top.flag("deform"), fps=fps,
        frame_start=top.whole("frame_start", 1), name=top.text("name", "Walk"), root_motion=root_motion,
        plant=top.flag("plant", True), curve=curve, terrain=_terrain(top.table("terrain"), folder, rig),
        facing=_facing(top.table("facing")), schedule=_schedule(top.rows("schedule")),
        strength=follow.number("strength", 1.0, 0.0, 1.0) or 0.0, exact=follow.flag("exact"),
        output=_output(top.table("output")),
    )  # fmt: skip


def _output(table: _Table) -> OutputAsked:
    table.only("mode", "controls", "keys", "degrees", "millimetres", "planted", "markers", "first", "last", "blend_in",
               "blend_out")  # fmt: skip
    mode = table.choice("mode", "new", ("new", "replace", "nla", "layer"))
    layered = [key for key in ("first", "last", "blend_in", "blend_out") if key in table.data]
    if layered and mode != "layer":
        raise ShotError(f"{table.where} gives {layered[0]} without mode = \"layer\"", "Add it, or leave the frames out")
    first, last = (table.whole(key, 0) if key in table.data else None for key in ("first", "last"))
    if first is not None and last is not None and last <= first:
        raise ShotError(f"{table.where} ends at frame {last}, before it begins", "Give first and a later last")
    return OutputAsked(
        mode, table.choice("controls", "fk", ("fk", "ik", "both")),
        table.choice("keys", "every frame", ("every frame", "reduced")) == "reduced",
        table.number("degrees", 0.5, 0.01, 45.0) or 0.5, table.number("millimetres", 2.0, 0.01, 1000.0) or 2.0,
        table.number("planted", 1.0, 0.01, 1000.0) or 1.0, table.flag("markers"), first, last,
        table.whole("blend_in", 10, 0), table.whole("blend_out", 10, 0),
    )  # fmt: skip


def _curve(table: _Table, rig: Path | None) -> CurveAsked:
    table.only("points", "object", "cyclic", "reverse", "start", "laps")
    points = table.points("points")
    name = table.text("object")
    if bool(points) == bool(name):
        raise ShotError(f"{table.where} needs either points or the name of an object", "Give one of them")
    _in_blend(table, name, rig)
    return CurveAsked(
        points, name, table.flag("cyclic"), table.flag("reverse"), table.number("start", 0.0, 0.0) or 0.0,
        table.whole("laps", 1, 1),
    )  # fmt: skip


def _terrain(table: _Table, folder: Path, rig: Path | None) -> TerrainAsked:
    table.only("object", "collection", "heightfield", "size", "centre", "height", "axes")
    field_path = table.path("heightfield", folder, HEIGHT_SUFFIXES)
    asked = TerrainAsked(
        table.text("object"), table.text("collection"), field_path, table.pair("size") or (0.0, 0.0),
        table.pair("centre") or (0.0, 0.0), table.number("height", 1.0) or 0.0,
        table.choice("axes", "yx", ("yx", "xy")),
    )  # fmt: skip
    if sum(bool(way) for way in (asked.object, asked.collection, asked.heightfield)) > 1:
        raise ShotError("[terrain] gives more than one of object, collection and heightfield", "Give one of them")
    for name in (asked.object, asked.collection):
        _in_blend(table, name, rig)
    if asked.heightfield is not None and min(asked.size) <= 0.0:
        raise ShotError("[terrain] gives a heightfield without its size", "Add size = [along x, along y] in metres")
    return asked


def _in_blend(table: _Table, name: str, rig: Path | None) -> None:
    if name and (rig is None or rig.suffix.lower() != ".blend"):
        raise ShotError(f"{table.where} names the object {name!r}, but rig is no .blend that could hold it",
                        "Set rig to the .blend with that object")  # fmt: skip


def _facing(table: _Table) -> FacingAsked:
    table.only("kind", "yaw", "target", "object")
    kind = table.choice("kind", "path", ("path", "fixed", "object"))
    if kind == "object" and "target" not in table.data and not table.text("object"):
        raise ShotError("[facing] does not say what to face", "Add target = [x, y] in metres, or object = its name")
    return FacingAsked(
        kind, table.number("yaw", 0.0) or 0.0,
        table.pair("target"), table.text("object"),
    )  # fmt: skip


def _schedule(rows: list[_Table]) -> Schedule:
    marks = []
    for row in rows:
        row.only("at", "speed", "action", "pause", "ease")
        speed = row.number("speed", None)
        marks.append(
            Mark(row.number("at", 0.0) or 0.0, speed, row.text("action", "walk"), row.number("pause", 0.0) or 0.0,
                 row.number("ease", 0.5) or 0.0)
        )  # fmt: skip
    return Schedule(marks)


class _Table:
    """A TOML table read with its place in mind, so that errors name it."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ShotError(f"{where} must be a table", f"Write {where} on a line of its own and the keys below")
        self.data, self.where = data, where

    def only(self, *known: str) -> None:
        """Refuse keys that nobody reads."""
        unknown = sorted(set(self.data) - set(known))
        if unknown:
            raise ShotError(f"Unknown key {unknown[0]!r} in {self.where}", f"Known are: {', '.join(known)}")

    def table(self, key: str) -> _Table:
        return _Table(self.data.get(key, {}), f"[{key}]")

    def rows(self, key: str) -> list[_Table]:
        rows = self.data.get(key, [])
        if not isinstance(rows, list):
            raise ShotError(f"{key} must be a list of tables", f"Write [[{key}]] over each of them")
        return [_Table(row, f"[[{key}]] number {number}") for number, row in enumerate(rows, 1)]

    def text(self, key: str, default: str = "") -> str:
        return str(self._of(key, default, str, "text in quotes"))

    def flag(self, key: str, default: bool = False) -> bool:
        return bool(self._of(key, default, bool, "true or false"))

    def whole(self, key: str, default: int, least: int | None = None) -> int:
        value = self._of(key, default, int, "a whole number")
        if isinstance(value, bool) or abs(value) > _GREATEST_WHOLE or (least is not None and value < least):
            raise ShotError(f"{key} in {self.where} is {value!s:.40}",
                            f"Give a whole number{'' if least is None else f' of at least {least}'}")  # fmt: skip
        return int(value)

    def number(
        self, key: str, default: float | None, least: float = -math.inf, most: float = math.inf
    ) -> float | None:
        value = self._of(key, default, (int, float), "a number")
        if value is None:
            return None
        if not _is_number(value) or not least <= value <= most:
            bounds = f" from {least:g} to {most:g}" if math.isfinite(most) else f" of at least {least:g}"
            raise ShotError(f"{key} in {self.where} is {value}",
                            f"Give a number{bounds if math.isfinite(least) else ''}")  # fmt: skip
        return float(value)

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise ShotError(f"{key} in {self.where} is {value!r}", f"Choose one of: {', '.join(filter(None, choices))}")
        return value

    def pair(self, key: str) -> tuple[float, float] | None:
        if key not in self.data:
            return None
        found = self.data[key]
        if not isinstance(found, list) or len(found) != 2 or not all(_is_number(value) for value in found):
            raise ShotError(f"{key} in {self.where} must be two finite numbers", f"Write {key} = [1.0, 2.0]")
        return float(found[0]), float(found[1])

    def points(self, key: str) -> tuple[tuple[float, ...], ...]:
        found = self.data.get(key, [])
        if not isinstance(found, list):
            raise ShotError(f"{key} in {self.where} must be a list of points", f"Write {key} = [[0, 0], [0, -3]]")
        for number, point in enumerate(found, 1):
            if not isinstance(point, list) or len(point) not in (2, 3) or not all(map(_is_number, point)):
                raise ShotError(f"Point {number} in {self.where} must be two or three finite numbers",
                                "Write [x, y], metres")  # fmt: skip
        return tuple(tuple(float(value) for value in (*point, 0.0)[:3]) for point in found)

    def path(self, key: str, folder: Path, suffixes: tuple[str, ...]) -> Path | None:
        name = self.text(key)
        if not name:
            return None
        path = folder / name
        if path.suffix.lower() not in suffixes:
            raise ShotError(f"{key} in {self.where} is {name!r}", f"Give one of these kinds: {', '.join(suffixes)}")
        # isfile, for it says no where Path.is_file raises: names longer than the system's.
        if not os.path.isfile(path):
            raise ShotError(f"{key} in {self.where}: there is no file {path}", "Check the path")
        return path

    def _of(self, key: str, default: Any, kind: Any, words: str) -> Any:
        value = self.data.get(key, default)
        if key in self.data and not isinstance(value, kind):
            raise ShotError(f"{key} in {self.where} is {value!r}", f"Give {words}")
        return value


def _is_number(value: Any) -> bool:
    """Whether it is a number that a curve or a length can have; TOML knows inf, nan and integers of any size."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _GREATEST
