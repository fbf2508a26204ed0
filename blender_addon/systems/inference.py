"""ONNX Runtime, imported only when a network is loaded, one thread, with errors an animator understands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.errors import GaitsmithError, PackError

Float32 = npt.NDArray[np.float32]


class RuntimeMissingError(GaitsmithError):
    """ONNX Runtime cannot be imported."""


class Network:
    """One network of a pack.

    Args:
        data: the ONNX file's contents. name: for messages.
        inputs, outputs: names and shapes it must have; None is a free axis.

    Raises:
        RuntimeMissingError: no ONNX Runtime. PackError: damaged, or of another shape.
    """

    def __init__(
        self, data: bytes, name: str,
        inputs: Mapping[str, tuple[int | None, ...]], outputs: Mapping[str, tuple[int | None, ...]],
    ) -> None:  # fmt: skip
        if b"location" in data:
            # External tensors: a model must not name other files of the machine.
            raise PackError(f"{name} in the pack refers to other files", "Do not use this pack")
        runtime = _onnxruntime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's own exceptions share no base class
            raise PackError(
                f"{name} in the pack is not a network this version can run ({str(error).splitlines()[0][:200]})",
                "Update the add-on, or import or train the pack again",
            ) from error
        _check(name, self._session.get_inputs(), inputs)
        _check(name, self._session.get_outputs(), outputs)
        self._outputs = list(outputs)

    def __call__(self, **inputs: npt.NDArray[Any]) -> Float32:
        """The first output for the inputs given by name."""
        found: Float32 = self._session.run(self._outputs, inputs)[0]
        return found


def _check(name: str, found: Any, wanted: Mapping[str, tuple[int | None, ...]]) -> None:
    shapes = {item.name: tuple(size if isinstance(size, int) else None for size in item.shape) for item in found}
    for key, shape in wanted.items():
        if key not in shapes:
            raise PackError(f"{name} in the pack lacks {key!r}", "Use a pack made with this version, or train it again")
        if shapes[key] != shape:
            raise PackError(
                f"{name} in the pack: {key!r} has shape {shapes[key]}, not {shape}",
                "Use a pack made with this version, or train it again",
            )
    if len(shapes) != len(wanted):
        raise PackError(f"{name} in the pack takes or gives other values than it should", "Train the pack again")


def _onnxruntime() -> Any:
    try:
        import onnxruntime
    except Exception as error:  # a wheel for another system fails with more than ImportError
        raise RuntimeMissingError(
            f"ONNX Runtime, which runs the trained networks, cannot be loaded ({error})",
            "Install the extension's zip for this system and Blender version, or choose Motion Matching",
        ) from error
    return onnxruntime
