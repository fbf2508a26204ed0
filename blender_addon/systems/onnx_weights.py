"""The constants of an ONNX file, read without the onnx package, which Blender does not have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..motion.errors import PackError

#: Field numbers of onnx.proto: ModelProto.graph, GraphProto.initializer, TensorProto's dims, data_type, name, raw_data.
_GRAPH, _INITIALIZER, _DIMS, _TYPE, _NAME, _RAW = 7, 5, 1, 2, 8, 9
#: TensorProto.DataType.
_TYPES: dict[int, npt.DTypeLike] = {1: np.float32, 3: np.int8, 7: np.int64, 10: np.float16}
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5


def read_constants(data: bytes, name: str) -> dict[str, npt.NDArray[np.generic]]:
    """Constants of the graph by name; those of kinds that packs do not hold are left out.

    Args:
        data: the file's contents. name: for messages.

    Raises:
        PackError: it is no ONNX file.
    """
    found: dict[str, npt.NDArray[np.generic]] = {}
    try:
        for graph in _parts(memoryview(data), _GRAPH):
            for tensor in _parts(graph, _INITIALIZER):
                key, values = _tensor(tensor)
                if values is not None:
                    found[key] = values
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise PackError(f"{name} in the pack is damaged ({error})", "Import or train the pack again") from error
    return found


def _tensor(data: memoryview) -> tuple[str, npt.NDArray[np.generic] | None]:
    shape: list[int] = []
    kind, key, raw = 0, "", memoryview(b"")
    for field, value in _fields(data):
        if field == _DIMS and isinstance(value, int):
            shape.append(value)
        elif field == _DIMS and isinstance(value, memoryview):
            at = 0
            while at < len(value):
                size, at = _varint(value, at)
                shape.append(size)
        elif field == _TYPE and isinstance(value, int):
            kind = value
        elif field == _NAME and isinstance(value, memoryview):
            key = bytes(value).decode("utf-8")
        elif field == _RAW and isinstance(value, memoryview):
            raw = value
    if kind not in _TYPES:
        return key, None
    return key, np.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape)


def _parts(data: memoryview, field: int) -> Iterator[memoryview]:
    for number, value in _fields(data):
        if number == field and isinstance(value, memoryview):
            yield value


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Numbers and values of a message's fields."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_LONG, _SHORT):
            size = 8 if kind == _LONG else 4
        else:
            raise ValueError("an unknown kind of field")
        if at + size > len(data):
            raise ValueError("it ends too early")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without end")
