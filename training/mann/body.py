"""The skeleton in torch: what the run time makes of a predicted pose, and where the feet then are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems import mann_features


class TorchBody:
    """Counterpart of `mann_features.ForwardKinematics`, with gradients; a test holds the two together.

    Args:
        skeleton: whose offsets and feet hold.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        body = mann_features.ForwardKinematics(skeleton)
        self.joints = body.joints
        self._parents = torch.from_numpy(body.parents)
        self._offsets = torch.from_numpy(body.offsets).float()[None, :, :, None]
        self._chain = torch.from_numpy(body.chain).float()
        self._ankles = torch.tensor([foot.ankle for foot in skeleton.feet])
        balls = torch.tensor([foot.ball.tolist() for foot in skeleton.feet])
        self._balls = balls[None, :, :, None]

    def axes(self, raw: Tensor) -> Tensor:
        """Orthonormal axes (n, b, 3, 3), a row each, of predicted ones (n, 6 b)."""
        pairs = raw.view(len(raw), self.joints, 2, 3)
        x = nn.functional.normalize(pairs[:, :, 0], dim=-1, eps=1e-6)
        y = pairs[:, :, 1]
        y = nn.functional.normalize(y - (x * y).sum(-1, keepdim=True) * x, dim=-1, eps=1e-6)
        return torch.stack([x, y, torch.linalg.cross(x, y)], dim=2)

    def positions(self, hips: Tensor, axes: Tensor) -> Tensor:
        """Joint positions (n, b, 3), metres, of the hips' (n, 3) and axes (n, b, 3, 3)."""
        arms = (axes.index_select(1, self._parents) * self._offsets).sum(dim=2)
        return self._chain @ arms + hips[:, None]

    def balls(self, positions: Tensor, axes: Tensor) -> Tensor:
        """The soles' points under the balls of the feet (n, feet, 3), metres."""
        turned = (axes.index_select(1, self._ankles) * self._balls).sum(dim=2)
        return positions.index_select(1, self._ankles) + turned
