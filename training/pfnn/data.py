"""What the network learns from: every frame's trajectory, pose, gaits, phase and ground, assembled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels, label_clip
from blender_addon.motion.contact_labels import CONTACT_POINTS, flat_contacts
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.gait_labels import gait_weights, graded_crouch
from blender_addon.motion.phases import Phase
from blender_addon.motion.rotations import Array
from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.layout import Layout
from blender_addon.systems.pfnn_features import (
    Felt,
    clip_frames,
    felt_along,
    input_layout,
    output_layout,
)
from blender_addon.systems.trajectory import PAST, SAMPLES

from ..coverage import LEAST_SECONDS, check_seconds
from ..terrain_fitting import TerrainFits
from .stance_ground import StanceGround

#: Values that hardly move must not be blown up: least scale, relative to the mean of their block.
_LEAST_SCALE = 0.2
#: Inputs of bones are made so small beside the others (Holden et al. 2017).
BONE_SCALE = 0.1
#: How often frames of a kind are drawn rises with the root of how rare they are, up to so many times the commonest's.
_RARE = 16.0
#: A gait is shown by frames with more than this share of it.
_PRESENT = 0.1
#: Of what is drawn this share is on the ground that was there, the rest on ground that was fitted.
_OWN_GROUND = 0.4
#: Heights are learned from ground of more than this deviation, metres.
_UNEVEN = 0.005


@dataclass(frozen=True)
class Take:
    """A clip with its labels and the ground under it.

    Attributes:
        clip: the motion. phase: its phase. gaits: shares (frames, gaits).
        contacts: (frames, 4), columns as `contact_labels.CONTACT_POINTS`: where heels and balls themselves rest, for
            that is what is planted.
        grounds: the ground felt at each frame, one or more ways it may have been.
        left_out: frames (frames,) that are not to be learned; None: all are.
    """

    clip: Clip
    phase: Phase
    gaits: Array
    contacts: npt.NDArray[np.bool_]
    grounds: Sequence[Felt]
    left_out: npt.NDArray[np.bool_] | None = None

    def mirrored(self) -> Take:
        """Left and right swapped; the phase half a turn on."""
        return Take(
            self.clip.mirrored(), Phase(self.phase.angle + np.pi, self.phase.reliable), self.gaits,
            self.contacts[:, [2, 3, 0, 1]],
            [Felt(felt.heights[:, [0, 2, 1]], felt.reference) for felt in self.grounds], self.left_out,
        )  # fmt: skip


@dataclass(frozen=True)
class PfnnData:
    """All frames of a data set, mirror images among them.

    Attributes:
        skeleton: of the clips. fps: their rate. gaits: their names.
        frames: [trajectory, gaits, pose, angles, steps, contacts] of every frame (n, size), normalised.
        heights: (variants, n, 36), normalised, each from its own reference height.
        offsets: those reference heights over the first variant's (variants, n), metres.
        phase: (n,), radians.
        mean, scale: (size,) of ``frames``. height_mean, height_scale: (36,).
        inputs, outputs: the layouts of the network.
        ranges: first and one-past-last frame of each clip (r, 2).
        weights: how often each frame is drawn, relative to others (n,).
    """

    skeleton: Skeleton
    fps: float
    gaits: tuple[str, ...]
    frames: Tensor
    heights: Tensor
    offsets: Tensor
    phase: Tensor
    mean: Tensor
    scale: Tensor
    height_mean: Tensor
    height_scale: Tensor
    inputs: Layout
    outputs: Layout
    ranges: npt.NDArray[np.int64]
    weights: Tensor

    @classmethod
    def of(
        cls, takes: Sequence[Take], gaits: tuple[str, ...], mirror: bool = True, like: PfnnData | None = None
    ) -> PfnnData:
        """Assemble takes; ``like`` gives the normalisation of the training frames for others.

        Raises:
            DatasetError: no take has three frames.
        """
        takes = [take for take in takes if len(take.clip) > 2]
        if not takes:
            raise DatasetError("There is no motion to train on", "Add clips of some seconds")
        if mirror:
            takes = [image for take in takes for image in (take, take.mirrored())]
        skeleton = takes[0].clip.skeleton
        blocks = frame_layout(len(skeleton), len(gaits))
        ends = np.cumsum([len(take.clip) for take in takes])
        variants = max(len(take.grounds) for take in takes)
        frames, phase = torch.empty(int(ends[-1]), blocks.size), torch.empty(int(ends[-1]))
        heights = torch.empty(variants, int(ends[-1]), 3 * SAMPLES)
        offsets = torch.empty(variants, int(ends[-1]))
        for take, end in zip(takes, ends, strict=True):
            _assemble(take, slice(end - len(take.clip), end), blocks, (frames, heights, offsets, phase))
        if like is None:
            weights = _drawn(frames, heights, blocks, len(gaits))
            for take, end in zip(takes, ends, strict=True):
                if take.left_out is not None:
                    weights[end - len(take.clip) : end][torch.from_numpy(take.left_out)] = 0.0
            mean, scale = _fit(frames, blocks)
            height_mean, height_scale = heights.mean(dim=(0, 1)), heights.std(dim=(0, 1))
            height_scale = height_scale.clamp_min(max(0.5 * float(height_scale.mean()), 0.02))
        else:
            weights = torch.ones(len(frames))
            mean, scale, height_mean, height_scale = like.mean, like.scale, like.height_mean, like.height_scale
        frames.sub_(mean).div_(scale)
        heights.sub_(height_mean).div_(height_scale)
        ranges = np.stack([ends - [len(take.clip) for take in takes], ends], axis=1).astype(np.int64)
        return cls(
            skeleton, takes[0].clip.fps, gaits, frames, heights, offsets, phase, mean, scale, height_mean, height_scale,
            input_layout(len(skeleton), len(gaits)), output_layout(len(skeleton)), ranges, weights,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def blocks(self) -> Layout:
        """The layout of ``frames``."""
        return frame_layout(len(self.skeleton), len(self.gaits))

    def windows(self, length: int) -> Tensor:
        """First frames (m,) of stretches of ``length`` frames within one clip that have a frame before and after."""
        starts = [np.arange(first + 1, last - length) for first, last in self.ranges]
        return torch.from_numpy(np.concatenate(starts).astype(np.int64))

    def trajectory(self, rows: Tensor, variant: Tensor) -> Tensor:
        """All of the input but the pose (n, ...), normalised, of frames on a variant (n,) of their ground."""
        places = self.blocks.slices
        found = self.frames[rows]
        return torch.cat(
            [found[:, places["trajectory"]], self.heights[variant, rows], found[:, places["gaits"]]], dim=1
        )

    def body(self, rows: Tensor, variant: Tensor) -> Tensor:
        """Pose, angles, steps and contacts (n, ...), normalised, heights as a variant (n,) of the ground has them."""
        pose = self.blocks.slices["pose"]
        found = self.frames[rows][:, pose.start :]
        if len(self.offsets) > 1:
            joints = len(self.skeleton)
            up = torch.arange(2, 3 * joints, 3)
            found[:, up] -= self.offsets[variant, rows][:, None] / self.scale[pose][up]
        return found

    def pose(self, rows: Tensor, variant: Tensor) -> Tensor:
        """The pose as it goes in (n, 6 b), normalised and made small."""
        return BONE_SCALE * self.body(rows, variant)[:, : 6 * len(self.skeleton)]

    def inputs_of(self, rows: Tensor, variant: Tensor) -> Tensor:
        """The input (n, in), normalised, of frames with the true pose of the frame before."""
        return torch.cat([self.trajectory(rows, variant), self.pose(rows - 1, variant)], dim=1)

    def targets_of(self, rows: Tensor, variant: Tensor) -> Tensor:
        """What the answer should be (n, out), normalised."""
        future = self.frames[rows + 1].index_select(1, self.future_columns)
        return torch.cat([future, self.body(rows, variant)], dim=1)

    def draw_variants(self, count: int, random: torch.Generator) -> Tensor:
        """One variant of the ground for each of so many rows: its own, or one that was fitted."""
        if len(self.heights) == 1:
            return torch.zeros(count, dtype=torch.int64)
        fitted = torch.randint(1, len(self.heights), (count,), generator=random)
        return torch.where(torch.rand(count, generator=random) < _OWN_GROUND, 0, fitted)

    @property
    def future_columns(self) -> Tensor:
        """Columns of ``frames`` with the future half of the trajectory."""
        half = torch.arange(2 * PAST, 2 * SAMPLES)
        return torch.cat([half, half + 2 * SAMPLES])

    @property
    def output_columns(self) -> Tensor:
        """Columns of ``frames`` whose mean and scale the outputs have."""
        blocks = self.blocks
        return torch.cat([self.future_columns, torch.arange(blocks.slices["pose"].start, blocks.size)])

    def input_scaling(self) -> tuple[Tensor, Tensor]:
        """Mean and scale (in,) of the input in metres and so on; the bones' smallness is in the scale."""
        places = self.blocks.slices
        pose = places["pose"]
        parts = [(self.mean, self.scale, places["trajectory"]), (self.height_mean, self.height_scale, slice(None)),
                 (self.mean, self.scale, places["gaits"])]  # fmt: skip
        mean = torch.cat([*(m[place] for m, _, place in parts), self.mean[pose]])
        return mean, torch.cat([*(s[place] for _, s, place in parts), self.scale[pose] / BONE_SCALE])

    def physical_inputs(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Inputs of some frames (m, in), metres, metres a second; on the first variant of their ground."""
        mean, scale = self.input_scaling()
        at = torch.from_numpy(rows)
        found: npt.NDArray[np.float32] = (self.inputs_of(at, torch.zeros_like(at)) * scale + mean).numpy()
        return found


def frame_layout(joints: int, gaits: int) -> Layout:
    """The columns of a frame as it is stored."""
    return Layout.of(
        trajectory=4 * SAMPLES, gaits=gaits * SAMPLES, pose=6 * joints, angles=3 * joints, steps=4,
        contacts=len(CONTACT_POINTS),
    )  # fmt: skip


def takes_of(
    dataset: Dataset, labels: Sequence[ClipLabels] | None = None, fits: TerrainFits | None = None
) -> tuple[tuple[str, ...], list[Take]]:
    """Names of the gaits, and every clip with its labels and the ground under it.

    Args:
        dataset: the motion. labels: of its clips, in order; found when not given, but for gaits that the data set
            itself labels. fits: ground fitted under the clips, more ways that it may have been.
    """
    labels = labels or labels_of(dataset)
    takes = []
    for number, (clip, label) in enumerate(zip(dataset.clips, labels, strict=True)):
        ground = StanceGround.of(clip) if label.uneven else _level
        grounds = [felt_along(clip.root, clip.fps, ground), *(fits.felt(number) if fits is not None else ())]
        gaits = gait_weights(label.gaits, clip.fps, len(label.gait_names))
        gaits = graded_crouch(gaits, label.gait_names, clip)
        own = dataset.labelled[number]
        left_out = own.left_out if own is not None else None
        takes.append(Take(clip, label.phase, gaits, flat_contacts(clip, label.contacts), grounds, left_out))
    return labels[0].gait_names, takes


def labels_of(dataset: Dataset) -> list[ClipLabels]:
    """Labels of every clip as they are found from its motion, but for what the data set itself says."""
    every = zip(dataset.clips, dataset.tags, dataset.labelled, strict=True)
    found = [label_clip(clip, tags, own) for clip, tags, own in every]
    if not dataset.action_names:
        return found
    return [
        replace(label, gaits=track, gait_names=dataset.action_names)
        for label, track in zip(found, dataset.actions, strict=True)
    ]


def check_enough(data: PfnnData, mirrored: bool, least: float = LEAST_SECONDS) -> None:
    """Raise `DatasetError` that says how much motion is missing, if there is too little that is to be learned."""
    seconds = int((data.weights > 0.0).sum()) / data.fps / (2 if mirrored else 1)
    check_seconds(seconds, least)


def _level(xy: Array) -> Array:
    return np.zeros(xy.shape[:-1])


def _assemble(take: Take, place: slice, blocks: Layout, into: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    """Put a take's frames where they belong; with fewer variants than others it repeats its own."""
    frames, heights, offsets, phase = into
    found = clip_frames(take.clip, take.phase, take.gaits, take.grounds[0], take.contacts)
    rows = blocks.join(
        trajectory=found.trajectory, gaits=found.gaits, pose=found.pose, angles=found.angles, steps=found.steps,
        contacts=found.contacts,
    )  # fmt: skip
    frames[place] = torch.from_numpy(rows.astype(np.float32))
    phase[place] = torch.from_numpy(found.phase.astype(np.float32))
    for variant in range(len(heights)):
        felt = take.grounds[variant % len(take.grounds)]
        heights[variant, place] = torch.from_numpy(felt.heights.reshape(len(take.clip), -1).astype(np.float32))
        offset = felt.reference - take.grounds[0].reference
        offsets[variant, place] = torch.from_numpy(offset.astype(np.float32))


def _drawn(frames: Tensor, heights: Tensor, blocks: Layout, gaits: int) -> Tensor:
    """How often each frame is drawn (n,): rare gaits, and uneven ground, more often than their share."""
    now = frames[:, blocks.slices["gaits"]].view(len(frames), SAMPLES, gaits)[:, PAST] > _PRESENT
    uneven = (heights[0].std(dim=1) > _UNEVEN)[:, None]
    kinds = torch.cat([now & ~uneven, now & uneven], dim=1)
    share = kinds.float().mean(dim=0)
    often = (share.max() / share.clamp_min(1e-9)).sqrt().clamp_max(_RARE)
    return (kinds * often).amax(dim=1).clamp_min(1.0)


def _fit(frames: Tensor, blocks: Layout) -> tuple[Tensor, Tensor]:
    """Mean and scale (size,) of frames that are not normalised yet."""
    mean = frames.mean(dim=0, dtype=torch.float64).float()
    scale = frames.std(dim=0)
    for place in _groups(blocks):
        scale[place] = scale[place].clamp_min(max(_LEAST_SCALE * float(scale[place].mean()), 1e-4))
    return mean, scale


def _groups(blocks: Layout) -> list[slice]:
    """Columns of one kind and unit."""
    places = blocks.slices
    trajectory, pose, steps = (places[name].start for name in ("trajectory", "pose", "steps"))
    half, middle = 2 * SAMPLES, (places["pose"].start + places["pose"].stop) // 2
    return [
        slice(trajectory, trajectory + half), slice(trajectory + half, trajectory + 2 * half), places["gaits"],
        slice(pose, middle), slice(middle, places["pose"].stop), places["angles"], slice(steps, steps + 2),
        slice(steps + 2, steps + 3), slice(steps + 3, steps + 4), places["contacts"],
    ]  # fmt: skip
