"""The files of a pack, read from a folder or a zip without trusting either."""

from __future__ import annotations

import re
import stat
import zipfile
from pathlib import Path

from ..motion.errors import PackError

MANIFEST = "pack.json"
#: All files of a pack together, unpacked. 30 minutes of matching data take about 20 MB.
TOTAL_LIMIT_BYTES = 512 << 20
MANIFEST_LIMIT_BYTES = 4 << 20
_ENTRIES = 64
#: Network weights hardly shrink; what shrinks more than this is made to fill the memory.
_GREATEST_RATIO = 200
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_UNSAFE = "Do not use this pack"


def check_name(name: str) -> None:
    """Raise `PackError` unless ``name`` is a plain file name that stays in the pack's folder."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
        raise PackError(f"The pack names a file outside itself or with a strange name ({name!r})", _UNSAFE)


def read_folder_file(folder: Path, name: str) -> bytes:
    """One file of a pack folder; links are refused."""
    check_name(name)
    path = folder / name
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise PackError(f"{name} in the pack is a link or no file", _UNSAFE)
        _check_size(name, status.st_size)
        return path.read_bytes()
    except OSError as error:
        message = f"The pack lacks {name}, or it cannot be read ({error.strerror})"
        raise PackError(message, "Import the pack again") from error


def read_zip(path: Path) -> dict[str, bytes]:
    """All files of a zipped pack, every entry checked before any is unpacked.

    The files lie at the top, or all in one folder (as zipping a folder makes them).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            folder = _common_folder(entries)
            contents: dict[str, bytes] = {}
            for entry in entries:
                if entry.is_dir():
                    continue
                name = entry.filename[len(folder) :]
                check_name(name)
                if name in contents:
                    raise PackError(f"The pack holds {name} twice", _UNSAFE)
                with archive.open(entry) as stream:
                    data = stream.read(entry.file_size + 1)
                if len(data) != entry.file_size:
                    raise PackError(f"{name} in the pack is larger than it says", _UNSAFE)
                contents[name] = data
            return contents
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError) as error:
        raise PackError(f"{path.name} is not a readable zip ({error})", "Download or export the pack again") from error
    except Exception as error:  # zlib, lzma and bz2 raise their own kinds
        if isinstance(error, PackError):
            raise
        raise PackError(f"{path.name} is damaged ({error})", "Download or export the pack again") from error


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > _ENTRIES:
        raise PackError(f"The pack holds {len(entries)} files, more than any pack has", _UNSAFE)
    total = 0
    for entry in entries:
        name = entry.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ":" in name or ".." in parts or "\x00" in name:
            raise PackError(f"The pack names a file outside itself ({name!r})", _UNSAFE)
        mode = entry.external_attr >> 16
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise PackError(f"{name} in the pack is a link or no file", _UNSAFE)
        if entry.flag_bits & 1:
            raise PackError("The pack is encrypted", "Ask for one without a password")
        _check_size(name, entry.file_size)
        total += entry.file_size
        if entry.file_size > (1 << 20) and entry.file_size > _GREATEST_RATIO * max(entry.compress_size, 1):
            raise PackError(f"{name} in the pack is made to fill the memory", _UNSAFE)
    if total > TOTAL_LIMIT_BYTES:
        raise PackError(f"The pack unpacks to {total >> 20} MB, more than any pack has", _UNSAFE)


def _check_size(name: str, size: int) -> None:
    limit = MANIFEST_LIMIT_BYTES if name.endswith(MANIFEST) else TOTAL_LIMIT_BYTES
    if size > limit:
        raise PackError(f"{name} in the pack is too large ({size >> 20} MB)", _UNSAFE)


def _common_folder(entries: list[zipfile.ZipInfo]) -> str:
    names = [entry.filename for entry in entries if not entry.is_dir()]
    first = names[0].split("/")[0] + "/" if names and "/" in names[0] else ""
    return first if first and all(name.startswith(first) for name in names) else ""
