"""Exact nearest neighbours for many queries at once: what the projector is trained on."""

from __future__ import annotations

import torch
from torch import Tensor

#: Candidates and queries in one product: together they stay in the processor's cache.
_BLOCK, _QUERIES = 4096, 64


class Neighbours:
    """All candidates' features, ready for blocked products.

    |q - x|^2 is least where q.x - |x|^2 / 2 is greatest: one product a block, its greatest value by
    rows, and the place only in the block that won.

    Args:
        features: candidates (n, d), float32.
    """

    def __init__(self, features: Tensor) -> None:
        # Taking the mean away keeps the products small, so that float32 does not confuse neighbours.
        self._mean = features.mean(dim=0)
        centred = features - self._mean
        half = 0.5 * centred.double().square().sum(dim=1, keepdim=True).float()
        rows = torch.cat([centred, half], dim=1)
        self._blocks = [block.T.contiguous() for block in rows.split(_BLOCK)]

    @torch.no_grad()
    def nearest(self, queries: Tensor) -> Tensor:
        """Candidate (m,) nearest to each query (m, d)."""
        return torch.cat([self._nearest(part) for part in queries.split(_QUERIES)])

    def _nearest(self, queries: Tensor) -> Tensor:
        count = len(queries)
        asked = torch.cat([queries - self._mean, -torch.ones(count, 1)], dim=1)
        best = torch.stack([(asked @ block).amax(dim=1) for block in self._blocks], dim=1).argmax(dim=1)
        found = torch.empty(count, dtype=torch.long)
        for block in best.unique().tolist():
            rows = (best == block).nonzero()[:, 0]
            found[rows] = (asked[rows] @ self._blocks[block]).argmax(dim=1) + block * _BLOCK
        return found
