"""Gait diagrams: what they show is what the feet do."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.gait_analysis.diagram import FIELD, LABELS, diagram_of_stride, shapes
from blender_addon.motion.gait_analysis.raster import LEG_COLOURS, draw, write_png
from blender_addon.motion.gait_analysis.stride import Stride
from tests.motion.made_footfalls import BOOK, contacts_of


@given(st.sampled_from(sorted(BOOK)), st.floats(0.0, 1.0))
def test_a_stride_wraps_round_its_ends(name: str, at: float) -> None:
    lags, duty = np.array(BOOK[name][0]), np.full(4, BOOK[name][1])
    found = diagram_of_stride(Stride(0.0, 60.0, 60.0, duty, lags), name, at)
    phase = (np.arange(500) + 0.5) / 500
    contacts = contacts_of(phase + at, lags, duty)
    for leg, spans in enumerate(found.spans):
        assert sum(end - start for start, end in spans) == pytest.approx(duty[leg])
        down = np.array([any(a <= p <= b for a, b in spans) for p in phase])
        assert np.mean(down != contacts[:, leg]) < 0.01
    up = np.array([any(a <= p <= b for a, b in found.suspensions) for p in phase])
    assert np.mean(up == contacts.any(axis=1)) < 0.01


def test_shapes_lie_in_the_field_in_the_order_of_the_legs() -> None:
    stride = Stride(0.0, 60.0, 60.0, np.full(4, 0.4), np.array(BOOK["trot"][0]))
    found = shapes(diagram_of_stride(stride, "trot 1.3 m/s"))
    left, right, bottom, top = FIELD
    assert found.bars[:, [0, 2]].min() >= left - 1e-9 and found.bars[:, [0, 2]].max() <= right + 1e-9
    assert found.bars[:, [1, 3]].min() >= bottom and found.bars[:, [1, 3]].max() <= top
    rows = [found.bars[found.legs == leg][:, 1].mean() for leg in range(4)]
    assert rows == sorted(rows, reverse=True)
    texts = [word.text for word in found.texts]
    assert set(LABELS) <= set(texts) and "trot 1.3 m/s" in texts and "40%" in texts
    for word in found.texts:
        assert 0.0 <= word.x <= 1.0 and 0.0 <= word.y <= 1.0


def test_the_picture_shows_each_foot_while_it_stands() -> None:
    lags, duty = np.array(BOOK["lateral walk"][0]), np.full(4, 0.6)
    diagram = diagram_of_stride(Stride(0.0, 60.0, 60.0, duty, lags), at=0.3)
    image = draw(diagram, 800, 240)
    assert image.shape == (240, 800, 3)
    for colour in LEG_COLOURS:
        shown = np.all(image == colour, axis=-1).any(axis=0).sum() / 800
        assert shown == pytest.approx(0.6 * (FIELD[1] - FIELD[0]), abs=0.005)
        assert not np.all(image[: round((1 - FIELD[3]) * 240)] == colour, axis=-1).any()
    assert (image < 60).all(axis=-1).sum() > 100  # labels


def test_the_file_is_a_png_of_the_same_dots(tmp_path: Path) -> None:
    image = np.random.default_rng(1).integers(0, 256, (7, 11, 3), dtype=np.uint8)
    write_png(tmp_path / "gait.png", image)
    data = (tmp_path / "gait.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (11, 7)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(7, 34)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].reshape(7, 11, 3), image)
    with pytest.raises(GaitsmithError, match="could not be written"):
        write_png(tmp_path / "no folder" / "gait.png", image)
