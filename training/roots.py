"""A character's own root as seen from the true one, in torch: for windows in which a network walks by itself."""

from __future__ import annotations

import torch
from torch import Tensor


def turned(vectors: Tensor, angle: Tensor) -> Tensor:
    """Horizontal vectors (..., 2) turned by angles (...)."""
    c, s = torch.cos(angle), torch.sin(angle)
    x, y = vectors[..., 0], vectors[..., 1]
    return torch.stack([c * x - s * y, s * x + c * y], dim=-1)


def onward(astray: Tensor, step: Tensor, truth: Tensor) -> Tensor:
    """The own root as seen from the true one, after both took their steps (n, 3)."""
    place = astray[:, :2] + turned(step[:, :2], astray[:, 2]) - truth[:, :2]
    return torch.cat([turned(place, -truth[:, 2]), astray[:, 2:] + step[:, 2:] - truth[:, 2:]], dim=1)


def carried(points: Tensor, step: Tensor) -> Tensor:
    """Points (n, k, 3) of the root space after a step (n, 3), as seen from the root space before it."""
    flat = turned(points[..., :2], step[:, 2:]) + step[:, None, :2]
    return torch.cat([flat, points[..., 2:]], dim=-1)
