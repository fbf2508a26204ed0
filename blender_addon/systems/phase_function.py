"""The cyclic phase function of PFNN: how much of each control point's weights a phase takes.

Holden et al. 2017. A cubic Catmull-Rom spline through four control points, cyclic in the phase p: with
w = 4 p / (2 pi) mod 1 and the control points a0 before, a1 at, a2 after p and a3 behind that,
Theta(p) = a1 + w (a2 - a0) / 2 + w^2 (a0 - 5/2 a1 + 2 a2 - a3 / 2) + w^3 (3/2 a1 - 3/2 a2 + a3 / 2 - a0 / 2),
which is a sum over k of c_k(p) a_k. Since a layer is linear in its weights, a network may blend
its layers' outputs by the same c before each activation, which is what both training and run time do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..motion.rotations import Array

#: Control points of the spline.
CONTROL_POINTS = 4
_TWO_PI = 2.0 * np.pi


def spline_coefficients(phase: npt.ArrayLike) -> Array:
    """Shares c (..., 4) of the control points at phases (...) in radians; any number of turns. They sum to 1."""
    place = 4.0 * np.asarray(phase, dtype=np.float64) / _TWO_PI
    first = np.floor(place)
    w = place - first
    # Of the points before, at, after and two after: the formula's columns.
    shares = np.stack([
        -0.5 * w + w**2 - 0.5 * w**3,
        1.0 - 2.5 * w**2 + 1.5 * w**3,
        0.5 * w + 2.0 * w**2 - 1.5 * w**3,
        -0.5 * w**2 + 0.5 * w**3,
    ], axis=-1)  # fmt: skip
    points = (first[..., None].astype(np.int64) + np.arange(-1, 3)) % CONTROL_POINTS
    out = np.empty_like(shares)
    np.put_along_axis(out, points, shares, axis=-1)
    return out


def phase_table(points: npt.NDArray[np.float32], bins: int) -> npt.NDArray[np.float32]:
    """Weights (bins, ...) at evenly spread phases, for a precomputed phase function.

    Args:
        points: control points' weights (4, ...). bins: how many phases; the paper uses 50.
    """
    shares = spline_coefficients(np.arange(bins) * (_TWO_PI / bins)).astype(np.float32)
    return np.asarray(np.tensordot(shares, points, axes=1), dtype=np.float32)
