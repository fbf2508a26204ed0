"""Networks to ONNX, node by node: perceptrons, and a stepper that runs in one call.

Written with `onnx.helper` rather than torch's exporters, which change from release to release; these
networks are chains of products and activations. A test compares them with torch.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import nn

OPSET = 17
#: Understood by every ONNX Runtime since 1.12.
IR_VERSION = 8
_ACTIVATIONS: dict[type[nn.Module], str] = {nn.ReLU: "Relu", nn.ELU: "Elu"}


def perceptron(network: nn.Sequential, source: str, result: str) -> bytes:
    """The ONNX file of a network: ``source`` (n, inputs) -> ``result`` (n, outputs)."""
    nodes, weights = _chain(network, source, result)
    inputs = [helper.make_tensor_value_info(source, TensorProto.FLOAT, ["n", _first(network).in_features])]
    outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, ["n", _last(network).out_features])]
    return finished(helper.make_graph(nodes, result, inputs, outputs, weights))


def stepper(network: nn.Sequential) -> bytes:
    """The ONNX file that adds a network's output to its input again and again.

    ``state`` (n, size), ``frames`` () int64 -> ``states`` (frames, n, size), without the first.
    """
    size = _first(network).in_features
    nodes, weights = _chain(network, "before", "change")
    nodes += [
        helper.make_node("Add", ["before", "change"], ["after"]),
        helper.make_node("Identity", ["going"], ["go_on"]),
        helper.make_node("Identity", ["after"], ["shown"]),
    ]
    state: list[str | int | None] = ["n", size]
    body = helper.make_graph(
        nodes, "step",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("before", TensorProto.FLOAT, state),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("after", TensorProto.FLOAT, state),
            helper.make_tensor_value_info("shown", TensorProto.FLOAT, state),
        ],
    )  # fmt: skip
    yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
    graph = helper.make_graph(
        [helper.make_node("Loop", ["frames", "yes", "state"], ["end", "states"], body=body)],
        "stepper",
        [
            helper.make_tensor_value_info("state", TensorProto.FLOAT, state),
            helper.make_tensor_value_info("frames", TensorProto.INT64, []),
        ],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["frames", *state])],
        [*weights, yes],
    )
    return finished(graph)


def _chain(network: nn.Sequential, source: str, result: str) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    nodes, weights = [], []
    value = source
    for i, layer in enumerate(network):
        target = result if i == len(network) - 1 else f"{result}_{i}"
        if isinstance(layer, nn.Linear):
            # Stored (inputs, outputs): what a product with a single row reads fastest.
            names = [f"{result}_weight_{i}", f"{result}_bias_{i}"]
            weights.append(numpy_helper.from_array(layer.weight.detach().numpy().T.copy(), names[0]))
            weights.append(numpy_helper.from_array(layer.bias.detach().numpy(), names[1]))
            nodes.append(helper.make_node("Gemm", [value, *names], [target]))
        else:
            nodes.append(helper.make_node(_ACTIVATIONS[type(layer)], [value], [target]))
        value = target
    return nodes, weights


def finished(graph: onnx.GraphProto) -> bytes:
    """The file of a graph, checked."""
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="gaitsmith"
    )
    onnx.checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString()
    return data


def _first(network: nn.Sequential) -> nn.Linear:
    layer = network[0]
    assert isinstance(layer, nn.Linear)
    return layer


def _last(network: nn.Sequential) -> nn.Linear:
    layer = network[-1]
    assert isinstance(layer, nn.Linear)
    return layer
