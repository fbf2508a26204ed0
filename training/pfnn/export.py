"""The network to ONNX, node by node: normalisation included, one product a layer, answers blended by the phase."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from blender_addon.systems.phase_function import CONTROL_POINTS

from ..export import finished
from .networks import PfnnNetwork, PhaseLayer


def pfnn(
    network: PfnnNetwork, inputs: tuple[Tensor, Tensor], outputs: tuple[Tensor, Tensor], half: bool = False
) -> bytes:
    """The ONNX file: ``inputs`` (n, in), ``shares`` (n, 4) -> ``outputs`` (n, out), nothing normalised.

    Args:
        network: what was trained. inputs, outputs: mean and scale of each.
        half: keep weights in 16 bits; they are unfolded to 32 when the network is loaded.
    """
    nodes: list[onnx.NodeProto] = []
    constants: list[onnx.TensorProto] = []

    def constant(name: str, values: npt.NDArray[np.generic]) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(kind: str, taken: list[str], given: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, taken, [given], **attributes))
        return given

    mean, scale = (values.numpy().astype(np.float32) for values in inputs)
    values = add("Sub", ["inputs", constant("input_mean", mean)], "centred")
    values = add("Mul", [values, constant("input_rate", 1.0 / scale)], "normalised")
    rows = add("Unsqueeze", ["shares", constant("second", np.array([1], np.int64))], "share_rows")
    last = len(network.layers) - 1
    for number, layer in enumerate(network.layers):
        assert isinstance(layer, PhaseLayer)
        name = f"layer_{number}"
        weight = constant(f"{name}_weight", layer.weight.detach().numpy().astype(np.float16 if half else np.float32))
        if half:
            weight = add("Cast", [weight], f"{name}_unfolded", to=TensorProto.FLOAT)
        # The bias goes with the answers of its control point: blended with them.
        bias = constant(f"{name}_bias", layer.bias.detach().numpy().reshape(-1))
        answers = add("Gemm", [values, weight, bias], f"{name}_product")
        shape = constant(f"{name}_shape", np.array([-1, CONTROL_POINTS, layer.outputs], np.int64))
        answers = add("Reshape", [answers, shape], f"{name}_answers")
        mixed = add("MatMul", [rows, answers], f"{name}_mixed")
        flat = constant(f"{name}_flat", np.array([-1, layer.outputs], np.int64))
        values = add("Reshape", [mixed, flat], f"{name}_values")
        if number < last:
            values = add("Elu", [values], f"{name}_active")
    mean, scale = (part.numpy().astype(np.float32) for part in outputs)
    values = add("Mul", [values, constant("output_scale", scale)], "scaled")
    add("Add", [values, constant("output_mean", mean)], "outputs")
    return finished(
        helper.make_graph(
            nodes, "pfnn",
            [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, ["n", len(inputs[0])]),
             helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["n", CONTROL_POINTS])],
            [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["n", len(outputs[0])])],
            constants,
        )
    )  # fmt: skip
