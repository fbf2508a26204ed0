"""What the four networks learn from: features X, poses Y and character-space poses Q, assembled once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blender_addon.systems.database import Database
from blender_addon.systems.features import Normalizer
from blender_addon.systems.layout import Layout
from blender_addon.systems.poses import encode_poses

from ..coverage import LEAST_SECONDS, check_seconds
from ..kinematics import Kinematics


@dataclass(frozen=True)
class Scaling:
    """How poses and their character-space form are normalised.

    Attributes:
        mean: (y + q,) mean of every value.
        scale: (y + q,) one scale for each block: the mean of its values' deviations.
        pose_scale: (y,) deviation of every pose value: the scale of the decompressor's output.
    """

    mean: Tensor
    scale: Tensor
    pose_scale: Tensor


@dataclass(frozen=True)
class Frames:
    """All frames of a data set, ready for batches.

    Attributes:
        features: X, normalised by `normalizer` (n, 27).
        states: [Y, Q], normalised by `scaling` (n, y + q).
        layout: the blocks of ``states``; those of Q begin with ``character_``.
        scaling: the normalisation. kinematics: Y -> Q. fps: frames a second.
        ranges: first and one-past-last frame of each clip (r, 2).
        searchable: frames the projector may find (n,).
    """

    features: Tensor
    normalizer: Normalizer
    states: Tensor
    layout: Layout
    scaling: Scaling
    kinematics: Kinematics
    fps: float
    ranges: npt.NDArray[np.int64]
    searchable: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, database: Database, like: Frames | None = None) -> Frames:
        """Assemble a data base; ``like`` gives the normalisation of the training frames for others.

        Raises:
            DatasetError: less motion than `coverage.LEAST_SECONDS` to train on.
        """
        feet = database.contacts.shape[1]
        kinematics = Kinematics(database.skeleton, feet)
        parts = []
        for first, last in database.ranges:
            vectors = encode_poses(database.poses(np.arange(first, last)), database.fps)
            parts.append(torch.from_numpy(vectors.astype(np.float32)))
        poses = torch.cat(parts)
        layout = Layout(
            (*kinematics.pose_layout.blocks, *(replace(b, name=f"character_{b.name}") for b in kinematics.layout))
        )
        with torch.no_grad():
            character = torch.cat([kinematics(chunk) for chunk in poses.split(8192)])
        states = torch.cat([poses, character], dim=1)
        scaling = like.scaling if like is not None else _fit(states, layout, poses.shape[1])
        states.sub_(scaling.mean).div_(scaling.scale)
        normalizer = database.normalizer if like is None else like.normalizer
        return cls(
            torch.from_numpy(normalizer.apply(database.raw)), normalizer, states, layout, scaling, kinematics,
            database.fps, database.ranges, database.searchable,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.features)

    @property
    def pose_size(self) -> int:
        """Length of a pose vector."""
        return self.kinematics.pose_layout.size

    def windows(self, length: int) -> Tensor:
        """First frames (m,) of all stretches of ``length`` frames within one clip."""
        starts = [np.arange(first, last - length + 1) for first, last in self.ranges]
        return torch.from_numpy(np.concatenate(starts).astype(np.int64))


def check_enough(database: Database, least: float = LEAST_SECONDS) -> None:
    """Raise `DatasetError` that says how much motion is missing, if there is too little."""
    images = 2 if any(name.endswith("(mirrored)") for name in database.names) else 1
    seconds = len(database) / database.fps / images
    check_seconds(seconds, least)


def _fit(states: Tensor, layout: Layout, pose_size: int) -> Scaling:
    mean, deviation = states.mean(dim=0), states.std(dim=0)
    scale = torch.empty_like(mean)
    for block in layout:
        place = layout.slices[block.name]
        scale[place] = deviation[place].mean().clamp_min(1e-4)
    # Values that hardly move (a finger's third axis) must not be blown up.
    pose_scale = torch.maximum(deviation[:pose_size], 0.05 * scale[:pose_size])
    return Scaling(mean, scale, pose_scale)
