"""Exact nearest neighbour over matching features, faster than a full scan.

Neighbouring frames have similar features, so runs of frames are boxed (axis-aligned bounding boxes,
as in Holden et al. 2020's reference search) and a box that cannot hold the nearest is never opened.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

_BOX = 16
_FIRST = 8


class Index:
    """A searchable set of feature vectors.

    Args:
        features: all frames' normalised features (n, d).
        searchable: frames that may be found (n,) bool; all by default.
    """

    def __init__(self, features: Float32, searchable: npt.NDArray[np.bool_] | None = None) -> None:
        frames = np.arange(len(features)) if searchable is None else np.nonzero(searchable)[0]
        if len(frames) == 0:
            raise ValueError("nothing to search in")
        padding = (-len(frames)) % _BOX
        # Boxes are filled with copies of the last frame: copies never change the answer.
        self._frames: IntArray = np.concatenate([frames, np.repeat(frames[-1:], padding)]).astype(np.int64)
        boxed = np.ascontiguousarray(features[self._frames], dtype=np.float32).reshape(-1, _BOX, features.shape[1])
        self._boxed: Float32 = boxed
        self._low: Float32 = np.ascontiguousarray(boxed.min(axis=1).T)
        self._high: Float32 = np.ascontiguousarray(boxed.max(axis=1).T)
        self._scratch = (np.empty_like(self._low), np.empty_like(self._low))

    def __len__(self) -> int:
        return len(self._frames)

    def nearest(self, query: Float32, forbidden: tuple[int, int] | None = None) -> tuple[int, float]:
        """The frame nearest to ``query`` (d,) and its squared distance.

        Args:
            query: normalised features (d,).
            forbidden: frames ``first`` up to, not including, ``last`` may not be found. When nothing
                else is left the answer is (-1, inf).
        """
        query = np.asarray(query, dtype=np.float32)
        bound = self._bounds(query)
        seeds = np.argpartition(bound, min(_FIRST, len(bound) - 1))[:_FIRST]
        frame, best = self._open(seeds, query, forbidden)
        bound[seeds] = np.inf
        candidates = np.nonzero(bound < best)[0]
        # Best first, in growing batches: each batch shrinks what is left to open.
        size = 64
        while len(candidates):
            if len(candidates) > size:
                nearest = np.argpartition(bound[candidates], size)[:size]
                batch = candidates[nearest]
            else:
                batch = candidates
            found, distance = self._open(batch, query, forbidden)
            if distance < best:
                frame, best = found, distance
            bound[batch] = np.inf
            candidates = candidates[bound[candidates] < best]
            size *= 4
        return frame, best

    def _bounds(self, query: Float32) -> Float32:
        """Squared distance (boxes,) from the query to each box, 0 inside; never above the true one."""
        below, above = self._scratch
        column = query[:, None]
        np.subtract(self._low, column, out=below)
        np.subtract(column, self._high, out=above)
        np.maximum(below, above, out=below)
        np.maximum(below, np.float32(0.0), out=below)
        bound: Float32 = np.einsum("ij,ij->j", below, below)
        # Rounding must not close the box that holds the answer.
        return bound * np.float32(1.0 - 1e-5)

    def _open(self, boxes: IntArray, query: Float32, forbidden: tuple[int, int] | None) -> tuple[int, float]:
        away = self._boxed[boxes] - query
        distance = np.einsum("ijk,ijk->ij", away, away).reshape(-1)
        if forbidden is not None:
            frames = self._frames.reshape(-1, _BOX)[boxes].reshape(-1)
            distance[(frames >= forbidden[0]) & (frames < forbidden[1])] = np.inf
        best = int(np.argmin(distance))
        if not np.isfinite(distance[best]):
            return -1, np.inf
        return int(self._frames[boxes[best // _BOX] * _BOX + best % _BOX]), float(distance[best])
