"""The phase-functioned network, with the layer sizes of Holden et al. 2017. Values are normalised.

All control points' answers to one layer come from one product, and are blended before the activation: the same as
blending the weights, since a layer is linear in them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from blender_addon.systems.phase_function import CONTROL_POINTS

HIDDEN = 512


class PhaseLayer(nn.Module):
    """One layer at all control points.

    Attributes:
        weight: (inputs, points * outputs). bias: (points, outputs).
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.inputs, self.outputs = inputs, outputs
        bound = math.sqrt(6.0 / (inputs + outputs))
        self.weight = nn.Parameter(torch.empty(inputs, CONTROL_POINTS * outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(CONTROL_POINTS, outputs))

    def forward(self, values: Tensor, shares: Tensor) -> Tensor:
        """The layer's answer (n, outputs) to ``values`` (n, inputs) with ``shares`` (n, 4) of the control points."""
        answers = (values @ self.weight).view(len(values), CONTROL_POINTS, self.outputs)
        return torch.bmm(shares[:, None], answers)[:, 0] + shares @ self.bias


class PfnnNetwork(nn.Module):
    """Inputs (n, in), shares of the control points (n, 4) -> outputs (n, out).

    Args:
        inputs, outputs: sizes. hidden: units in each of the two hidden layers. dropout: share of values left out.
    """

    def __init__(self, inputs: int, outputs: int, hidden: int = HIDDEN, dropout: float = 0.0) -> None:
        super().__init__()
        sizes = (inputs, hidden, hidden, outputs)
        self.layers = nn.ModuleList(PhaseLayer(*pair) for pair in zip(sizes[:-1], sizes[1:], strict=True))
        self.dropout = dropout

    def forward(self, inputs: Tensor, shares: Tensor) -> Tensor:
        """The outputs, normalised."""
        values = inputs
        last = len(self.layers) - 1
        for number, layer in enumerate(self.layers):
            if self.dropout > 0.0:
                values = functional.dropout(values, self.dropout, self.training)
            values = layer(values, shares)
            if number < last:
                values = functional.elu(values)
        return values

    def size(self) -> Tensor:
        """Mean absolute value of all parameters: the L1 loss of the paper, for each weight."""
        parameters = list(self.parameters())
        count = sum(parameter.numel() for parameter in parameters)
        return torch.stack([parameter.abs().sum() for parameter in parameters]).sum() / count


def phase_shares(phase: Tensor) -> Tensor:
    """Shares (n, 4) of the control points at phases (n,), radians.

    The same as `phase_function.spline_coefficients`, with gradients.
    """
    place = phase * (CONTROL_POINTS / (2.0 * math.pi))
    # Of a point at distance d (cyclic, in points) the Catmull-Rom kernel.
    points = torch.arange(CONTROL_POINTS, dtype=phase.dtype)
    away = torch.remainder(place[:, None] - points + 2.0, float(CONTROL_POINTS)) - 2.0
    d = away.abs()
    near = 1.0 + d * d * (1.5 * d - 2.5)
    far = 2.0 + d * (-4.0 + d * (2.5 - 0.5 * d))
    return torch.where(d < 1.0, near, far)
