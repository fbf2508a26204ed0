"""PFNN with its phase function computed beforehand: quicker for one character, at the price of memory.

Holden et al. 2017, section 6: weights at evenly spread phases, of which the nearest are taken ("constant"), or the
answers of the two around the phase blended ("linear", more exact). The paper's cubic function needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..motion.errors import PackError
from ..motion.rotations import Array
from .phase_function import CONTROL_POINTS, phase_table

Float32 = npt.NDArray[np.float32]

#: Phases at which the weights are computed (paper).
BINS = 50
_TWO_PI = 2.0 * np.pi


class PhaseTables:
    """Inputs and phases to outputs, by weights computed beforehand.

    Args:
        constants: of the exported network, by name (`onnx_weights.read_constants`).
        linear: blend the two entries around the phase; else take the nearest.
        bins: how many phases.

    Raises:
        PackError: it is another network.
    """

    def __init__(self, constants: Mapping[str, npt.NDArray[np.generic]], linear: bool, bins: int = BINS) -> None:
        self.linear, self.bins = linear, bins
        try:
            self._mean, self._rate = (_float32(constants[name]) for name in ("input_mean", "input_rate"))
            self._out_scale, self._out_mean = (_float32(constants[name]) for name in ("output_scale", "output_mean"))
            self._layers = [self._table(constants, number) for number in range(3)]
        except (KeyError, ValueError) as error:
            raise PackError(
                f"The pack's network is not one that can be computed beforehand ({error})",
                "Use the cubic phase function, or train the pack again",
            ) from error

    @property
    def bytes(self) -> int:
        """Memory of the tables."""
        return sum(weight.nbytes + bias.nbytes for weight, bias in self._layers)

    def __call__(self, inputs: Float32, phase: Array) -> Float32:
        """Outputs (n, out), not normalised, of inputs (n, in) at phases (n,), radians."""
        values = (inputs - self._mean) * self._rate
        place = np.mod(phase, _TWO_PI) * (self.bins / _TWO_PI)
        found = [self._answer(row, float(at)) for row, at in zip(values, place, strict=True)]
        return np.asarray(np.stack(found) * self._out_scale + self._out_mean, dtype=np.float32)

    def _answer(self, values: Float32, place: float) -> Float32:
        low = int(place) if self.linear else round(place)
        part = np.float32(place - low)
        last = len(self._layers) - 1
        for number, (weight, bias) in enumerate(self._layers):
            entry = low % self.bins
            answer = values @ weight[entry] + bias[entry]
            if self.linear:
                entry = (low + 1) % self.bins
                answer += part * (values @ weight[entry] + bias[entry] - answer)
            values = answer if number == last else _elu(answer)
        return values

    def _table(self, constants: Mapping[str, npt.NDArray[np.generic]], number: int) -> tuple[Float32, Float32]:
        """Weights (bins, in, out) and biases (bins, out) of a layer."""
        weight = _float32(constants[f"layer_{number}_weight"])
        bias = _float32(constants[f"layer_{number}_bias"]).reshape(CONTROL_POINTS, -1)
        points = np.moveaxis(weight.reshape(len(weight), CONTROL_POINTS, -1), 1, 0)
        return phase_table(np.ascontiguousarray(points), self.bins), phase_table(bias, self.bins)


def _float32(values: npt.NDArray[np.generic]) -> Float32:
    return np.asarray(values, dtype=np.float32)


def _elu(values: Float32) -> Float32:
    return np.where(values > 0.0, values, np.expm1(np.minimum(values, 0.0)))
