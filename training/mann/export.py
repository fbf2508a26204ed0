"""The network to ONNX, node by node: normalisation included, weights stored small.

Weights are stored as 8-bit numbers with a scale for each unit of each expert (a pack of 8 experts then takes 6 MB), and
multiplied as they are (``INTEGER``), or unfolded to 32 bits when the network is loaded. What a frame takes is reading
the weights: 25 MB do not stay in a processor's cache when anything else runs. Measured, one frame of 480-512-512-363:
0.31 ms in 32 bits, 0.10 in 8. Values of 8 bits took 0.09, with errors of 5% of an output's deviation; values of 14 bits
differ from the unfolded weights by 0.03%. See `training.export` for why this is not left to torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from ..export import finished
from .networks import Experts, MannNetwork

Float32 = npt.NDArray[np.float32]

#: How weights are kept: 32 bits; 8 bits unfolded to 32 when loaded; 8 bits, also multiplied in 8 bits.
FULL, COMPACT, INTEGER = "full", "compact", "integer"
_GREATEST = 127.0
#: Values go in as two numbers of 7 bits each, stored without sign: with 8 bits the sums of two products clip to 16
#: bits on processors without VNNI instructions.
_HALF, _ZERO = 63.0, 64


class _Graph:
    """Nodes and constants in the making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, values: npt.NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output


def mann(
    network: MannNetwork, inputs: tuple[Tensor, Tensor], outputs: tuple[Tensor, Tensor], kept: str,
    limits: tuple[Tensor, Tensor] | None = None,
) -> bytes:  # fmt: skip
    """The ONNX file: ``inputs`` (n, in) -> ``outputs`` (n, out), neither normalised.

    Args:
        network: what was trained. inputs, outputs: mean and scale of each. kept: `FULL`, `COMPACT` or `INTEGER`.
        limits: least and greatest inputs, normalised; what goes in is kept between them, so that a character who
            leaves what was learned comes back instead of flying off.
    """
    graph = _Graph()
    mean, scale = (values.numpy().astype(np.float32) for values in inputs)
    centred = graph.add("Sub", ["inputs", graph.constant("input_mean", mean)], "centred")
    values = graph.add("Mul", [centred, graph.constant("input_rate", 1.0 / scale)], "normalised")
    if limits is not None:
        least, greatest = (part.numpy().astype(np.float32) for part in limits)
        values = graph.add("Max", [values, graph.constant("least", least)], "not_below")
        values = graph.add("Min", [values, graph.constant("greatest", greatest)], "within")
    shares = _gate(graph, network, values)
    rows = graph.add("Unsqueeze", [shares, graph.constant("second", np.array([1], np.int64))], "share_rows")
    last = len(network.layers) - 1
    for number, layer in enumerate(network.layers):
        assert isinstance(layer, Experts)
        values = _layer(graph, number, layer, values, shares, rows, kept)
        if number < last:
            values = graph.add("Elu", [values], f"active_{number}")
    mean, scale = (part.numpy().astype(np.float32) for part in outputs)
    values = graph.add("Mul", [values, graph.constant("output_scale", scale)], "scaled")
    graph.add("Add", [values, graph.constant("output_mean", mean)], "outputs")
    return finished(
        helper.make_graph(
            graph.nodes, "mann",
            [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, ["n", len(inputs[0])])],
            [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["n", len(outputs[0])])],
            graph.constants,
        )
    )  # fmt: skip


def _gate(graph: _Graph, network: MannNetwork, values: str) -> str:
    columns = graph.constant("gating_columns", network.gating.numpy())
    values = graph.add("Gather", [values, columns], "gating_inputs", axis=1)
    for number, layer in enumerate(network.gate):
        name = f"gate_{number}"
        if isinstance(layer, nn.Linear):
            weight = graph.constant(f"{name}_weight", layer.weight.detach().numpy().T)
            bias = graph.constant(f"{name}_bias", layer.bias.detach().numpy())
            values = graph.add("Gemm", [values, weight, bias], name)
        elif isinstance(layer, nn.ELU):
            values = graph.add("Elu", [values], name)
        else:
            values = graph.add("Softmax", [values], name, axis=-1)
    return values


def _layer(graph: _Graph, number: int, layer: Experts, values: str, shares: str, rows: str, kept: str) -> str:
    """All experts' answers in one product, blended by the shares."""
    name = f"layer_{number}"
    weight = layer.weight.detach().numpy()
    if kept == FULL:
        answers = graph.add("MatMul", [values, graph.constant(f"{name}_weight", weight)], f"{name}_product")
    else:
        small, rate = quantised(weight)
        integers = graph.constant(f"{name}_weight", small)
        rates = graph.constant(f"{name}_rate", rate)
        multiply = _integer_product if kept == INTEGER else _unfolded_product
        answers = multiply(graph, name, values, integers, rates)
    shape = graph.constant(f"{name}_shape", np.array([-1, layer.experts, layer.outputs], np.int64))
    answers = graph.add("Reshape", [answers, shape], f"{name}_answers")
    mixed = graph.add("MatMul", [rows, answers], f"{name}_mixed")
    flat = graph.constant(f"{name}_flat", np.array([-1, layer.outputs], np.int64))
    mixed = graph.add("Reshape", [mixed, flat], f"{name}_blended")
    bias = graph.constant(f"{name}_bias", layer.bias.detach().numpy())
    return graph.add("Add", [mixed, graph.add("MatMul", [shares, bias], f"{name}_bias_blended")], f"{name}_values")


def _unfolded_product(graph: _Graph, name: str, values: str, integers: str, rates: str) -> str:
    # Constants only: done once, when the network is loaded.
    weight = graph.add("Cast", [integers], f"{name}_cast", to=TensorProto.FLOAT)
    weight = graph.add("Mul", [weight, rates], f"{name}_unfolded")
    return graph.add("MatMul", [values, weight], f"{name}_product")


def _integer_product(graph: _Graph, name: str, values: str, integers: str, rates: str) -> str:
    """Values in 14 bits, each row by its own scale, times weights in 8.

    Upper and lower halves are rows of one product: the weights, which are what takes the time, are read once.
    """

    def constant(what: str, value: float) -> str:
        return graph.constant(f"{name}_{what}", np.array(value, np.float32))

    def add(kind: str, inputs: list[str], what: str, **attributes: Any) -> str:
        return graph.add(kind, inputs, f"{name}_{what}", **attributes)

    most, finer, zero = constant("most", _HALF), constant("finer", 2.0 * _HALF), constant("zero", _ZERO)
    size = add("ReduceMax", [add("Abs", [values], "size")], "greatest", axes=[1], keepdims=1)
    upper_rate = add("Div", [add("Max", [size, constant("least", 1e-12)], "some"), most], "upper_rate")
    lower_rate = add("Div", [upper_rate, finer], "lower_rate")
    upper = add("Round", [add("Div", [values, upper_rate], "upper_exact")], "upper")
    rest = add("Sub", [values, add("Mul", [upper, upper_rate], "upper_part")], "rest")
    lower = add("Round", [add("Div", [rest, lower_rate], "lower_exact")], "lower")
    rows = add("Add", [add("Concat", [upper, lower], "both", axis=0), zero], "shifted")
    rows = add("Cast", [rows], "bytes", to=TensorProto.UINT8)
    zero_byte = graph.constant(f"{name}_zero_byte", np.array(_ZERO, np.uint8))
    product = add("MatMulInteger", [rows, integers, zero_byte], "integers")
    product = add("Cast", [product], "cast", to=TensorProto.FLOAT)
    product = add("Mul", [product, add("Concat", [upper_rate, lower_rate], "both_rates", axis=0)], "scaled")
    graph.nodes.append(helper.make_node("Split", [product], [f"{name}_up", f"{name}_low"], axis=0))
    return add("Mul", [add("Add", [f"{name}_up", f"{name}_low"], "sum"), rates], "product")


def quantised(weight: Float32) -> tuple[npt.NDArray[np.int8], Float32]:
    """Weights (in, out) as 8-bit integers, and what each column (out,) is multiplied by."""
    rate = np.maximum(np.abs(weight).max(axis=0), 1e-12) / _GREATEST
    small = np.clip(np.round(weight / rate), -_GREATEST, _GREATEST).astype(np.int8)
    return small, rate.astype(np.float32)
