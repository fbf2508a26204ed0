"""Which packs are installed: those that ship, and the user's. `systems.packs` checks and loads them."""

from __future__ import annotations

import os
import re
import shutil
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import gait_entry
from .motion.errors import PackError
from .systems import packs

DEFAULT_PACK = "biped-lmm"
#: Stands for the gait model, which moves any four-legged character without a pack.
GAIT_MODEL = "gait-model"
#: The packs that come with the add-on.
SHIPPED = Path(__file__).parent / "packs"
#: Systems that can play a pack, by the system it was made for.
PLAYED_BY = {"lmm": ("lmm",), "mm": ("mm",), "mann": ("mann",), "gait": ("gait",)}

#: Menus ask at every redraw: the folders are looked at once in so many seconds.
LOOK_AGAIN_SECONDS = 1.0

_listed: tuple[tuple[Any, ...], tuple[Pack, ...]] | None = None
_looked = 0.0
_loaded: tuple[tuple[Any, ...], Any, packs.PackInfo] | None = None


@dataclass(frozen=True)
class Pack:
    """What the panel shows of an installed pack.

    Attributes:
        id: its folder's or file's name, by which scenes remember it.
        folder: where it lies: a folder or a zip.
        title: what people call it.
        system: the system it was made for.
        actions: what the character can do.
        speeds: slowest and fastest speed it covers, m/s; None if it does not say.
        licence, credits: whose motion it is, and on what terms.
        shipped: came with the add-on, cannot be removed.
        problem: why it cannot be used; empty if it can.
        legs: how many its character goes on; 0 if it does not say.
    """

    id: str
    folder: Path
    title: str
    system: str = ""
    actions: tuple[str, ...] = ()
    speeds: tuple[float, float] | None = None
    licence: str = ""
    credits: tuple[str, ...] = ()
    shipped: bool = False
    problem: str = ""
    legs: int = 0

    @property
    def label(self) -> str:
        """Title and system, for a menu."""
        return f"{self.title} ({self.system.upper()})" if self.system and self.id != GAIT_MODEL else self.title

    @property
    def summary(self) -> str:
        """One line on what it can do."""
        parts = [", ".join(self.actions)] if self.actions else []
        if self.speeds is not None:
            parts.append(f"{self.speeds[0]:.1f} to {self.speeds[1]:.1f} m/s")
        return "; ".join(parts)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that can play it."""
        return PLAYED_BY.get(self.system, (self.system,)) if self.system else ("lmm",)


def installed() -> tuple[Pack, ...]:
    """All packs, the shipped first, the gait model last; read again only when a folder has changed."""
    global _listed, _looked
    if _listed is not None and time.monotonic() - _looked < LOOK_AGAIN_SECONDS:
        return _listed[1]
    _looked = time.monotonic()
    key = tuple(_signature(folder) for folder in (SHIPPED, user_folder()))
    if _listed is None or _listed[0] != key:
        found: dict[str, Pack] = {}
        for folder, shipped in ((SHIPPED, True), (user_folder(), False)):
            for path, info in packs.list_packs([folder]).items():
                found.setdefault(path.stem, _head(path, info, shipped))
        found.setdefault(GAIT_MODEL, _head(SHIPPED / GAIT_MODEL, gait_entry.info(), True))
        _listed = (key, tuple(found.values()))
    return _listed[1]


def forget() -> None:
    """Have the folders read again."""
    global _listed, _loaded
    _listed = _loaded = None


def find(pack_id: str) -> Pack | None:
    """The installed pack of that id."""
    return next((pack for pack in installed() if pack.id == pack_id), None)


def locate(name: str, folder: Path) -> Path:
    """A pack by path (from ``folder`` or the working directory), else by name among the installed ones.

    Raises:
        PackError: there is none.
    """
    for path in (folder / name, Path(name)):
        if name and os.path.exists(path):
            return path
    found = find(name.removesuffix(".zip"))
    if found is not None:
        return found.folder
    names = ", ".join(pack.id for pack in installed()) or "none"
    raise PackError(f"There is no pack {name!r}", f"Give a path, or the name of an installed one ({names})")


def load_named(name: str, folder: Path) -> tuple[Any, packs.PackInfo]:
    """The system of a pack by path or name, as `locate` finds it, and what it says of itself; or the gait model.

    Raises:
        PackError: there is none, or it is damaged.
    """
    if name == GAIT_MODEL and not (folder / name).exists():
        return gait_entry.AnyAnimal(), gait_entry.info()
    path = locate(name, folder)
    return packs.load_system(path), packs.read_pack(path).info


def info_of(pack: Pack) -> packs.PackInfo:
    """What a pack says of itself; raises `PackError` when it cannot be read."""
    return gait_entry.info() if pack.id == GAIT_MODEL else packs.read_info(pack.folder)


def user_folder() -> Path:
    """Where imported and trained packs lie; need not exist yet."""
    from . import preferences

    return preferences.user_folder() / "packs"


def load(pack: Pack) -> tuple[Any, packs.PackInfo]:
    """The pack's system, ready to roll out, and what it says of itself; kept until its files change. Any thread.

    Raises:
        PackError: it is damaged, or ONNX Runtime cannot be loaded.
    """
    global _loaded
    if pack.id == GAIT_MODEL:
        return gait_entry.AnyAnimal(), gait_entry.info()
    key = _signature(pack.folder) if pack.folder.is_dir() else (str(pack.folder), pack.folder.stat().st_mtime_ns)
    if _loaded is None or _loaded[0] != key:
        _loaded = (key, packs.load_system(pack.folder), packs.read_info(pack.folder))
    return _loaded[1], _loaded[2]


def remove(pack_id: str) -> None:
    """Delete a user's pack; raises `PackError` for a shipped or unknown one."""
    pack = find(pack_id)
    if pack is None:
        raise PackError(f"There is no pack {pack_id!r}", "Choose one from the list")
    if pack.shipped:
        raise PackError("This pack comes with the add-on", "Only packs you imported or trained can be removed")
    try:
        shutil.rmtree(pack.folder) if pack.folder.is_dir() else pack.folder.unlink()
    except OSError as error:
        raise PackError(f"The pack could not be removed ({error})", f"Delete {pack.folder} by hand") from error
    finally:
        forget()


def install(source: Path, replace: bool = False) -> Pack:
    """Check a pack (folder, zip, or the pack.json in its folder) and copy it to the user's folder.

    Raises:
        PackError: it is damaged, unsafe or already installed (unless ``replace``).
    """
    source = source.parent if source.name == packs.MANIFEST else source
    name = folder_name(packs.read_info(source).title if source.stem == "pack" else source.stem)
    there = find(name)
    if there is not None and there.shipped:
        raise PackError(f"A pack named {name} comes with the add-on", "Rename the file, then import it again")
    if there is not None and not replace:
        raise PackError(f"A pack named {name} is already installed", "Remove it first, or rename the file")
    user_folder().mkdir(parents=True, exist_ok=True)
    packs.install_pack(source, user_folder(), name)
    forget()
    found = find(name)
    if found is None:
        raise PackError("The pack was copied but cannot be found", f"Look into {user_folder()}")
    return found


def folder_name(title: str) -> str:
    """A name for a folder made from any title: plain letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "pack"


def _head(path: Path, info: packs.PackInfo | PackError, shipped: bool) -> Pack:
    if isinstance(info, PackError):
        return Pack(path.stem, path, path.stem, shipped=shipped, problem=str(info))
    legs = 4 if info.skeleton.four_legged else 2
    return Pack(
        path.stem, path, info.title, info.system, info.actions, info.speeds, info.licence, info.credits, shipped,
        legs=legs,
    )  # fmt: skip


def _signature(folder: Path) -> tuple[Any, ...]:
    try:
        return (str(folder), *((path.name, path.stat().st_mtime_ns) for path in sorted(folder.iterdir())))
    except OSError:
        return (str(folder),)
