"""Unbroken runs of true values in masks over frames: stands, swings, stretches that stand out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Runs = list[tuple[int, int]]


def runs(mask: npt.NDArray[np.bool_], value: bool = True) -> Runs:
    """The runs of ``value`` in ``mask`` (frames,) as half-open ranges [first, last), in order."""
    same = np.concatenate([[False], np.asarray(mask, dtype=bool) == value, [False]])
    edges = np.flatnonzero(same[1:] != same[:-1])
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
