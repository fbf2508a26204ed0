"""Forward kinematics in torch, with velocities, by depth level: what losses in character space need.

The numpy counterpart is `blender_addon.motion.skeleton.Skeleton.fk`; a test holds the two together.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.layout import Layout
from blender_addon.systems.poses import pose_layout


def character_layout(joints: int) -> Layout:
    """Q: the pose after forward kinematics, in root space (Holden et al. 2020)."""
    return Layout.of(
        positions=3 * joints, rotations=6 * joints, velocities=3 * joints, angular_velocities=3 * joints
    )


class Kinematics:
    """Pose vectors to character space, for one skeleton.

    Joints come out in order of depth (`order`), not in the skeleton's: parents then lie in the level
    before, and nothing has to be scattered back.

    Attributes:
        joints, feet: how many the skeleton has.
        order: the skeleton's joint at each place of the output (b,).
    """

    def __init__(self, skeleton: Skeleton, feet: int = 2) -> None:
        self.joints, self.feet = len(skeleton), feet
        self.pose_layout = pose_layout(self.joints, feet)
        self.layout = character_layout(self.joints)
        order = [0]
        self._parents: list[Tensor] = []
        self._sizes = [1]
        previous = [0]
        for children, parents in skeleton.levels:
            self._parents.append(torch.tensor([previous.index(int(parent)) for parent in parents]))
            previous = [int(child) for child in children]
            self._sizes.append(len(previous))
            order += previous
        self.order = np.array(order)
        self._order = torch.tensor(order)
        self._offsets = torch.from_numpy(skeleton.offsets[self.order].astype(np.float32))[None, :, :, None]

    def __call__(self, poses: Tensor) -> Tensor:
        """Q (n, 15 b) of pose vectors (n, size), in metres, 6D, metres and radians a second."""
        places = self.pose_layout.slices
        count, joints = len(poses), self.joints
        axes = poses[:, places["rotations"]].reshape(count, joints, 2, 3).index_select(1, self._order)
        spin = poses[:, places["angular_velocities"]].reshape(count, joints, 3, 1).index_select(1, self._order)
        # One product a level: the parent's rotation times [local rotation | offset | local spin].
        local = torch.cat([matrices(axes), self._offsets.expand(count, -1, -1, -1), spin], dim=-1)
        levels = local.split(self._sizes, dim=1)
        turn, turning = levels[0][..., :3], levels[0][..., 4]
        place, speed = poses[:, None, places["hips_position"]], poses[:, None, places["hips_velocity"]]
        found = [(place, turn, speed, turning)]
        for level, parents in zip(levels[1:], self._parents, strict=True):
            product = turn.index_select(1, parents) @ level
            arm, carried = product[..., 3], turning.index_select(1, parents)
            place = place.index_select(1, parents) + arm
            speed = speed.index_select(1, parents) + torch.linalg.cross(carried, arm)
            turn, turning = product[..., :3], carried + product[..., 4]
            found.append((place, turn, speed, turning))
        place, turn, speed, turning = (torch.cat(parts, dim=1) for parts in zip(*found, strict=True))
        columns = turn[..., :2].transpose(-1, -2)
        return torch.cat([part.reshape(count, -1) for part in (place, columns, speed, turning)], dim=-1)


def matrices(axes: Tensor) -> Tensor:
    """Rotation matrices (..., 3, 3) of two axes (..., 2, 3) by Gram-Schmidt; see `rotations.from_6d`."""
    x = torch.nn.functional.normalize(axes[..., 0, :], dim=-1, eps=1e-8)
    y = axes[..., 1, :]
    y = torch.nn.functional.normalize(y - (x * y).sum(dim=-1, keepdim=True) * x, dim=-1, eps=1e-8)
    return torch.stack([x, y, torch.linalg.cross(x, y)], dim=-1)
