"""Checks of a BVH file before Blender's importer sees it: what is wrong, and on which line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import ClipError

_CHANNELS = frozenset(f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation"))
_EXPORT_AGAIN = "Export the file again"


@dataclass(frozen=True)
class BvhInfo:
    """What a sound BVH file holds.

    Attributes:
        joints: names in file order, end sites left out.
        channels: numbers a frame.
        frames: number of frames.
        fps: frames per second, rounded to a whole number where the file's frame time means one.
    """

    joints: tuple[str, ...]
    channels: int
    frames: int
    fps: float


def check_bvh(path: str | Path) -> BvhInfo:
    """Read a BVH file's structure and check every number in it.

    Raises:
        ClipError: the file is missing, empty, not BVH, truncated, has another number of frames or of values a
            frame than it says, channels a skeleton cannot be moved by, or numbers that are none. The message
            names the file and the line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ClipError(f"{path} cannot be read ({error.strerror})", "Check the path") from error
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise ClipError(f"{path.name} is empty", _EXPORT_AGAIN)
    if lines[0].split()[:1] != ["HIERARCHY"]:
        raise _fault(path, 1, "does not begin with HIERARCHY: it is no BVH file")
    joints, channels, motion = _hierarchy(path, lines)
    frames, fps = _header(path, lines, motion)
    _values(path, lines, motion + 3, frames, channels)
    return BvhInfo(joints, channels, frames, fps)


def _fault(path: Path, line: int, what: str, remedy: str = _EXPORT_AGAIN) -> ClipError:
    return ClipError(f"{path.name}, line {line}: {what}", remedy)


def _hierarchy(path: Path, lines: list[str]) -> tuple[tuple[str, ...], int, int]:
    """Joint names, channels a frame and the index of the line that says MOTION."""
    joints: list[str] = []
    depth = total = 0
    open_joint = 0
    for number, line in enumerate(lines[1:], start=2):
        words = line.split()
        if not words:
            continue
        key = words[0]
        if key == "MOTION":
            if depth:
                raise _fault(path, number, f"the skeleton ends with {depth} braces still open")
            if open_joint:
                raise _fault(path, open_joint, f"joint {joints[-1]} has no channels")
            if not joints:
                raise _fault(path, number, "the skeleton has no joints")
            return tuple(joints), total, number - 1
        if key in ("ROOT", "JOINT"):
            if open_joint:
                raise _fault(path, open_joint, f"joint {joints[-1]} has no channels")
            joints.append(" ".join(words[1:]) or f"joint {len(joints) + 1}")
            open_joint = number
        elif key == "CHANNELS":
            total += _channels(path, number, words, joints)
            open_joint = 0
        elif key == "OFFSET":
            if len(words) != 4 or not all(_finite(word) for word in words[1:]):
                raise _fault(path, number, "the offset is not three numbers")
        elif key in ("{", "}"):
            depth += 1 if key == "{" else -1
        elif key != "End":
            raise _fault(path, number, f"unknown word {key!r} in the skeleton")
    raise _fault(path, len(lines), "the file ends within the skeleton: it is truncated")


def _channels(path: Path, number: int, words: list[str], joints: list[str]) -> int:
    names = words[2:]
    count = int(words[1]) if len(words) > 1 and words[1].isdigit() else -1
    if not joints or count != len(names) or not set(names) <= _CHANNELS:
        raise _fault(path, number, "the channels are not as many as said, or unknown")
    rotations = [name for name in names if name.endswith("rotation")]
    if len(set(rotations)) != 3 and rotations:
        raise _fault(path, number, f"joint {joints[-1]} has {len(rotations)} rotation channels, not 3")
    if len(joints) == 1 and (len(rotations) != 3 or sum(name.endswith("position") for name in names) != 3):
        raise _fault(path, number, f"the root {joints[-1]} lacks position or rotation channels")
    return len(names)


def _header(path: Path, lines: list[str], motion: int) -> tuple[int, float]:
    fields = []
    for at, key in ((motion + 1, "Frames:"), (motion + 2, "Frame Time:")):
        value = lines[at].strip() if at < len(lines) else ""
        if not value.startswith(key) or not _finite(value[len(key) :]):
            raise _fault(path, at + 1, f"{key!r} and a number are missing")
        fields.append(float(value[len(key) :]))
    frames, time = int(fields[0]), fields[1]
    if frames < 1:
        raise _fault(path, motion + 2, "the file has no frames")
    if not 1e-4 < time < 10.0:
        raise _fault(path, motion + 3, f"a frame time of {time:g} s makes no sense")
    return frames, _rate(time, lines[motion + 2].partition(".")[2].strip())


def _rate(time: float, decimals: str) -> float:
    """Frames per second of a frame time written with these decimals: 0.0333 and 0.033333 both mean 30."""
    fps = 1.0 / time
    for likely in (float(round(fps)), round(fps) / 1.001):
        rounded = likely > 0.0 and abs(1.0 / likely - time) <= 0.5001 * 10.0 ** -len(decimals)
        if rounded or (likely > 0.0 and abs(fps / likely - 1.0) < 1e-4):
            return likely
    return fps


def _values(path: Path, lines: list[str], start: int, frames: int, channels: int) -> None:
    rows = [(number, line.split()) for number, line in enumerate(lines[start:], start=start + 1) if line.strip()]
    for number, words in rows:
        if len(words) != channels:
            end = " (the file is truncated here)" if number == rows[-1][0] and len(words) < channels else ""
            raise _fault(path, number, f"{len(words)} values, the skeleton has {channels} channels{end}")
    if len(rows) != frames:
        raise _fault(
            path, start - 1, f"the file says {frames} frames but holds {len(rows)}",
            "It was cut off, or the number is wrong: export it again or mend the number",
        )  # fmt: skip
    try:
        finite = np.isfinite(np.array([words for _, words in rows], dtype=np.float64))
    except ValueError:
        finite = np.array([[_finite(word) for word in words] for _, words in rows])
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        number, words = rows[row]
        raise _fault(path, number, f"value {column + 1} ({words[column]}) of frame {row + 1} is not a number")


def _finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
