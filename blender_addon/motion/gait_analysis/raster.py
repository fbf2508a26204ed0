"""Gait diagrams as images: bars, lines and tiny letters in numpy, written as PNG without any library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import GaitsmithError
from .diagram import Diagram, Text, shapes

Image = npt.NDArray[np.uint8]

#: Colours of the legs, in the order of `animal.LEGS`: left ones blue, right ones orange, fore legs lighter.
LEG_COLOURS = ((38, 96, 190), (205, 95, 20), (105, 160, 235), (245, 160, 85))
_PAPER, _INK, _LINE, _GAP = (255, 255, 255), (40, 40, 40), (215, 215, 215), (238, 238, 244)
#: Letters of 3 by 5 dots, row by row from the top, as bits.
_FONT = {
    "A": 0o25755, "B": 0o65656, "C": 0o34443, "D": 0o65556, "E": 0o74647, "F": 0o74644, "G": 0o34553, "H": 0o55755,
    "I": 0o72227, "J": 0o11152, "K": 0o55655, "L": 0o44447, "M": 0o57755, "N": 0o65555, "O": 0o25552, "P": 0o65644,
    "Q": 0o25563, "R": 0o65655, "S": 0o34216, "T": 0o72222, "U": 0o55557, "V": 0o55552, "W": 0o55775, "X": 0o55255,
    "Y": 0o55222, "Z": 0o71247, "0": 0o75557, "1": 0o26227, "2": 0o61247, "3": 0o61216, "4": 0o55711, "5": 0o74616,
    "6": 0o34757, "7": 0o71222, "8": 0o75757, "9": 0o75716, ".": 0o00002, ",": 0o00024, "%": 0o51245, "/": 0o11244,
    "-": 0o00700, ":": 0o02020, "(": 0o12221, ")": 0o42224, "+": 0o02720, "=": 0o07070, " ": 0,
}  # fmt: skip


def draw(diagram: Diagram, width: int = 900, height: int = 300) -> Image:
    """The diagram as an image (height, width, 3), RGB, first row on top."""
    image: Image = np.full((height, width, 3), _PAPER, dtype=np.uint8)
    found = shapes(diagram)
    for gap in found.gaps:
        _fill(image, gap, _GAP)
    for (left, bottom), (right, top) in found.lines:
        _fill(image, (left, bottom, right, top), _LINE)
    for bar, leg in zip(found.bars, found.legs, strict=True):
        _fill(image, bar, LEG_COLOURS[leg])
    dot = max(1, height // 120)
    for word in found.texts:
        _write(image, word, dot)
    return image


def write_png(path: str | Path, image: Image) -> None:
    """Write an image (h, w, 3 or 4), bytes, as PNG; raises `GaitsmithError` when the file cannot be written."""
    height, width, channels = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    parts = [b"\x89PNG\r\n\x1a\n"]
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")):
        parts.append(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    try:
        Path(path).write_bytes(b"".join(parts))
    except OSError as error:
        raise GaitsmithError(f"{path} could not be written ({error})", "Choose another folder") from error


def _fill(image: Image, box: npt.ArrayLike, colour: tuple[int, int, int]) -> None:
    """Fill a rectangle of the unit square (left, bottom, right, top), one dot wide at least."""
    height, width, _ = image.shape
    left, bottom, right, top = (float(edge) for edge in np.asarray(box, dtype=np.float64))
    x, y = round(left * width), round((1.0 - top) * height)
    image[y : max(round((1.0 - bottom) * height), y + 1), x : max(round(right * width), x + 1)] = colour


def _write(image: Image, word: Text, dot: int) -> None:
    """Write a word, its middle line at its y; what the font lacks stays blank."""
    height, width, _ = image.shape
    x = round(word.x * width - word.anchor * (4 * len(word.text) - 1) * dot)
    y = round((1.0 - word.y) * height) - 5 * dot // 2
    for place, letter in enumerate(word.text.upper()):
        bits = _FONT.get(letter, 0)
        for row in range(5):
            for column in range(3):
                if bits >> (3 * (4 - row) + 2 - column) & 1:
                    top, left = y + row * dot, x + (4 * place + column) * dot
                    image[max(top, 0) : top + dot, max(left, 0) : left + dot] = _INK
