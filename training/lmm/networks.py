"""The four networks of Learned Motion Matching, with the layer sizes of Holden et al. 2020.

All of them work on normalised values; `fold` moves the normalisation into the first and last layers
for export.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

#: Size of the latent vector z (Holden et al. 2020).
LATENT = 32
HIDDEN = 512


def _layers(sizes: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        parts.append(nn.Linear(inputs, outputs))
        if i < len(sizes) - 2:
            parts.append(activation())
    return nn.Sequential(*parts)


def compressor(inputs: int) -> nn.Sequential:
    """C: [Y, Q] -> z; three hidden layers, ELU. Needed in training only."""
    return _layers([inputs, HIDDEN, HIDDEN, HIDDEN, LATENT], nn.ELU)


def decompressor(features: int, outputs: int) -> nn.Sequential:
    """D: [x, z] -> y; one hidden layer, ReLU."""
    return _layers([features + LATENT, HIDDEN, outputs], nn.ReLU)


def stepper(features: int) -> nn.Sequential:
    """S: [x, z] -> (dx, dz), the change to the next frame; two hidden layers, ReLU."""
    size = features + LATENT
    return _layers([size, HIDDEN, HIDDEN, size], nn.ReLU)


def projector(features: int) -> nn.Sequential:
    """P: x^ -> (x, z) of the nearest frame; four hidden layers, ReLU."""
    return _layers([features, HIDDEN, HIDDEN, HIDDEN, HIDDEN, features + LATENT], nn.ReLU)


@torch.no_grad()
def fold(
    network: nn.Sequential,
    inputs: tuple[Tensor, Tensor] | None = None,
    outputs: tuple[Tensor, Tensor] | None = None,
) -> nn.Sequential:
    """A copy that takes and gives values that are not normalised.

    Args:
        network: linear first and last layers. inputs, outputs: (mean, scale) of each value; the
            network sees (value - mean) / scale and gives (value - mean) / scale.
    """
    parts: list[nn.Module] = []
    last = len(network) - 1
    for i, layer in enumerate(network):
        if not isinstance(layer, nn.Linear):
            parts.append(layer)
            continue
        weight, bias = layer.weight.double(), layer.bias.double()
        if i == 0 and inputs is not None:
            weight = weight / inputs[1].double()
            bias = bias - weight @ inputs[0].double()
        if i == last and outputs is not None:
            weight, bias = weight * outputs[1].double()[:, None], bias * outputs[1].double() + outputs[0].double()
        copy = nn.Linear(layer.in_features, layer.out_features)
        copy.weight.copy_(weight.float())
        copy.bias.copy_(bias.float())
        parts.append(copy)
    return nn.Sequential(*parts)
