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


def carried_over(labels: npt.NDArray[np.int64], shortest: int, keep_first: bool = True) -> npt.NDArray[np.int64]:
    """Labels (frames,) whose runs shorter than ``shortest`` frames became the one before.

    A first run that is short stays, or becomes what follows if it is not to be kept.
    """
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]]).tolist()
    out = np.array(labels, dtype=np.int64)
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        if last - first >= shortest:
            continue
        if first > 0:
            out[first:last] = out[first - 1]
        elif last < len(labels) and not keep_first:
            out[first:last] = labels[last]
    return out
