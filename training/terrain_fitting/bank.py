"""A bank of ground to search: many heightmaps of one size, sampled all together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from blender_addon.motion.errors import TerrainError

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bank:
    """Heightmaps of one size.

    Attributes:
        heights: (maps, n, n), metres; first axis along x.
        cell: distance between neighbouring heights, metres.
        kinds: what each map shows, a word a map.
    """

    heights: Floats
    cell: float
    kinds: tuple[str, ...]
    _flat: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.heights.ndim != 3 or self.heights.shape[1] != self.heights.shape[2] or self.heights.shape[1] < 2:
            raise TerrainError("A bank of ground needs square maps of one size")
        if len(self.kinds) != len(self.heights):
            raise TerrainError("Every map of a bank of ground needs a kind")
        if not np.all(np.isfinite(self.heights)):
            raise TerrainError("The ground to fit has holes or infinite heights", "Close its holes")
        object.__setattr__(self, "_flat", np.ascontiguousarray(self.heights, dtype=np.float32).ravel())

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def size(self) -> float:
        """Length of a map's side, metres."""
        return (self.heights.shape[1] - 1) * self.cell

    def sample(self, maps: Indices, x: Floats, y: Floats) -> Floats:
        """Bilinear heights (k, n) of maps (k,) at x and y (k, n), metres from the map's corner.

        Beyond a map's edge the edge's height goes on.
        """
        side = self.heights.shape[1]
        limit = np.float32(side - 1.001)
        x = np.clip(x * np.float32(1.0 / self.cell), np.float32(0.0), limit)
        y = np.clip(y * np.float32(1.0 / self.cell), np.float32(0.0), limit)
        i, j = x.astype(np.int32), y.astype(np.int32)
        x -= i
        y -= j
        at = i * np.int32(side) + j + (maps.astype(np.int32) * np.int32(side * side))[:, None]
        low = self._flat.take(at)
        low += y * (self._flat.take(at + 1) - low)
        at += side
        high = self._flat.take(at)
        high += y * (self._flat.take(at + 1) - high)
        low += x * (high - low)
        return low
