"""Unbroken runs of equal values over frames: stands, swings, gaits; and who gets those that are too short."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Runs = list[tuple[int, int]]


def runs(mask: npt.NDArray[np.bool_], value: bool = True) -> Runs:
    """The runs of ``value`` in ``mask`` (frames,) as half-open ranges [first, last), in order."""
    same = np.concatenate([[False], np.asarray(mask, dtype=bool) == value, [False]])
    edges = np.flatnonzero(same[1:] != same[:-1])
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def clean_runs(states: npt.NDArray[np.bool_], shortest: int) -> npt.NDArray[np.bool_]:
    """Fill gaps, then remove spikes, of up to ``shortest`` frames, per column of ``states`` (frames, n).

    What touches an end of the clip is not a gap or a spike: it may go on beyond.
    """
    states = np.array(states, dtype=bool)
    for column in states.T:
        for value in (False, True):
            for first, last in runs(column, value):
                if last - first <= shortest and first > 0 and last < len(column):
                    column[first:last] = not value
    return states


def carried_over(
    labels: npt.NDArray[np.int64], shortest: float, keep_first: bool = True,
    clock: npt.NDArray[np.float64] | None = None,
) -> npt.NDArray[np.int64]:  # fmt: skip
    """Labels (frames,) whose short runs became the one before: for what follows a wish, which comes before it is done.

    Args:
        labels: (frames,).
        shortest: runs shorter than so many frames are short.
        keep_first: a first run that is short stays; else it becomes what follows.
        clock: (frames,) what ``shortest`` counts instead of frames, such as strides, rising.
    """
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]]).tolist()
    out = np.array(labels, dtype=np.int64)
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        if (last - first if clock is None else clock[last - 1] - clock[first]) >= shortest:
            continue
        if first > 0:
            out[first:last] = out[first - 1]
        elif last < len(labels) and not keep_first:
            out[first:last] = labels[last]
    return out


def given_to_longer(labels: npt.NDArray[np.int64], shortest: int) -> npt.NDArray[np.int64]:
    """Labels (frames,) whose runs shorter than ``shortest`` frames took their longer neighbour's, shortest run first.

    For what is looked at as a whole: a blink says nothing of what comes before it or after it.
    """
    labels = np.array(labels, dtype=np.int64)
    while True:
        edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]])
        sizes = np.diff(edges)
        if len(sizes) < 2 or sizes.min() >= shortest:
            return labels
        k = int(np.argmin(sizes))
        before, after = (int(sizes[k - 1]) if k else -1), (int(sizes[k + 1]) if k + 1 < len(sizes) else -1)
        labels[edges[k] : edges[k + 1]] = labels[edges[k] - 1] if before >= after else labels[edges[k + 1]]
