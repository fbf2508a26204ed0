"""What the network learns from: every frame's input, step and contacts, assembled and normalised once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.filters import derivative
from blender_addon.motion.labels import STAND_SPEED, root_speed
from blender_addon.motion.skeleton import Skeleton
from blender_addon.systems.layout import Layout
from blender_addon.systems.mann_features import (
    TRAJECTORY_BLOCKS,
    clip_frames,
    input_layout,
    output_layout,
    pose_columns,
)
from blender_addon.systems.trajectory import FUTURE, PAST

from ..coverage import LEAST_SECONDS, check_seconds

Labels = npt.NDArray[np.int64]

#: Values that hardly move must not be blown up: least scale, relative to the mean of their block ...
_LEAST_SHARE = 0.2
#: ... and least scale of the blocks in metres, metres a second and shares: a data set may hold one speed only.
_LEAST: dict[str, float] = {
    "trajectory_positions": 0.02, "trajectory_directions": 0.02, "trajectory_velocities": 0.05, "speeds": 0.05,
    "actions": 0.1, "joint_positions": 1e-3, "joint_rotations": 5e-3, "joint_velocities": 0.02,
}  # fmt: skip
#: Frames within a second of a change of action are drawn so much more often, those of rare actions at most so.
_CHANGING, _RARE = 3.0, 4.0
#: Inputs may lie beyond the data's range by this share of it.
_MARGIN = 0.1
#: A body that turns faster than this (rad/s) moves, even in one place.
_TURNING = 0.35


class Draws:
    """Draws places with given weights.

    Args:
        places: what is drawn (m,). weights: relative (m,), positive.
    """

    def __init__(self, places: Tensor, weights: Tensor) -> None:
        self.places = places
        self._ends = torch.cumsum(weights.double(), dim=0)

    def __call__(self, count: int, random: torch.Generator) -> Tensor:
        """Places (count,), with repetition."""
        at = torch.rand(count, generator=random, dtype=torch.float64) * self._ends[-1]
        return self.places[torch.searchsorted(self._ends, at).clamp_max(len(self.places) - 1)]


@dataclass(frozen=True)
class MannData:
    """All frames of a data set, mirror images among them.

    Attributes:
        skeleton: of the clips. fps: their rate. actions: the names of the actions.
        frames: [input, step, contacts] of every frame, normalised (n, size).
        mean, scale: (size,) of ``frames``; the outputs are normalised by the same.
        inputs, outputs: the layouts of the network.
        ranges: first and one-past-last frame of each clip (r, 2).
    """

    skeleton: Skeleton
    fps: float
    actions: tuple[str, ...]
    frames: Tensor
    mean: Tensor
    scale: Tensor
    inputs: Layout
    outputs: Layout
    ranges: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, clips: Sequence[Clip], labels: Sequence[Labels], actions: tuple[str, ...], mirror: bool = True,
        scaling: tuple[Tensor, Tensor] | None = None,
    ) -> MannData:  # fmt: skip
        """Assemble clips; ``scaling`` is the mean and scale that a network was trained with, by default their own.

        Raises:
            DatasetError: no clip has two frames.
        """
        pairs = [(clip, track) for clip, track in zip(clips, labels, strict=True) if len(clip) > 1]
        if not pairs:
            raise DatasetError("There is no motion to train on", "Add clips of some seconds")
        if mirror:
            pairs = [pair for clip, track in pairs for pair in ((clip, track), (clip.mirrored(), track))]
        skeleton = pairs[0][0].skeleton
        inputs = input_layout(len(skeleton), len(actions))
        outputs = output_layout(len(skeleton), len(skeleton.feet))
        ends = np.cumsum([len(clip) for clip, _ in pairs])
        frames = torch.empty(int(ends[-1]), inputs.size + 3 + len(skeleton.feet))
        for (clip, track), end in zip(pairs, ends, strict=True):
            found = clip_frames(clip, track, len(actions))
            rows = np.concatenate([found.inputs, found.steps, found.contacts], axis=1)
            frames[end - len(clip) : end] = torch.from_numpy(rows.astype(np.float32))
        mean, scale = scaling if scaling is not None else _fit(frames, inputs)
        frames.sub_(mean).div_(scale)
        ranges = np.stack([ends - [len(clip) for clip, _ in pairs], ends], axis=1).astype(np.int64)
        return cls(skeleton, pairs[0][0].fps, actions, frames, mean, scale, inputs, outputs, ranges)

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def target_columns(self) -> npt.NDArray[np.int64]:
        """Column of ``frames`` for every output; steps are those of the frame itself, all others of the next."""
        size = self.inputs.size
        columns: list[int] = []
        for name in TRAJECTORY_BLOCKS:
            place = self.inputs.slices[name]
            columns += range(place.start + 2 * PAST, place.start + 2 * (PAST + FUTURE))
        pose = pose_columns(self.inputs)
        columns += [*range(pose.start, pose.stop), *range(size, size + 3 + len(self.skeleton.feet))]
        return np.array(columns, dtype=np.int64)

    def limits(self) -> tuple[Tensor, Tensor]:
        """Least and greatest inputs (size,), normalised, with a margin: what lies beyond was never learned."""
        size = self.inputs.size
        least, greatest = self.frames[:, :size].amin(dim=0), self.frames[:, :size].amax(dim=0)
        margin = _MARGIN * (greatest - least) + 0.1
        return least - margin, greatest + margin

    def windows(self, length: int) -> Tensor:
        """First frames (m,) of all stretches of ``length`` frames within one clip."""
        starts = [np.arange(first, last - length + 1) for first, last in self.ranges]
        return torch.from_numpy(np.concatenate(starts).astype(np.int64))

    def importance(self) -> Tensor:
        """How often each frame is drawn, relative to others (n,): more near changes of action, and of rare actions.

        Starts, stops and changes are a few frames among thousands of even strides, and what goes wrong first.
        """
        count, kinds = len(self), len(self.actions)
        place = self.inputs.slices["actions"]
        actions = (self.frames[:, place] * self.scale[place] + self.mean[place]).view(count, -1, kinds).argmax(dim=2)
        now = actions[:, PAST]
        share = torch.bincount(now, minlength=kinds).float() / count
        rare = (1.0 / (kinds * share.clamp_min(1e-6))).sqrt().clamp(0.5, _RARE)
        near = (actions != now[:, None]).any(dim=1)
        return rare[now] * torch.where(near, _CHANGING, 1.0)

    def physical_inputs(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Inputs of some frames (m, size), metres, metres a second."""
        size = self.inputs.size
        found: npt.NDArray[np.float32] = (self.frames[rows, :size] * self.scale[:size] + self.mean[:size]).numpy()
        return found

    def physical_contacts(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Contacts of some frames (m, feet), 0 to 1."""
        at = self.inputs.size + 3
        found: npt.NDArray[np.float32] = (self.frames[rows, at:] * self.scale[at:] + self.mean[at:]).numpy()
        return found


def action_labels(dataset: Dataset) -> tuple[tuple[str, ...], list[Labels]]:
    """Names of the actions, and the action of every frame of every clip.

    The data set's own labels, those that occur. Without any: ``move`` where the root moves or turns, else what the
    clip's tags say of resting (sit, lie, idle), else ``stand``; a moving clip tagged ``jump`` jumps.
    """
    if dataset.action_names:
        used = np.unique(np.concatenate(dataset.actions))
        table = np.full(len(dataset.action_names), -1, dtype=np.int64)
        table[used] = np.arange(len(used))
        return tuple(dataset.action_names[i] for i in used), [table[track] for track in dataset.actions]
    names: list[str] = ["move", "stand"]
    tracks = []
    for clip, tags in zip(dataset.clips, dataset.tags, strict=True):
        rest = next((name for name in ("sit", "lie", "idle") if name in tags), "stand")
        going = "jump" if "jump" in tags else "move"
        names += [name for name in (rest, going) if name not in names]
        turning = np.abs(derivative(clip.root[:, 2], clip.fps)) > _TURNING
        moving = (root_speed(clip) > STAND_SPEED) | turning
        tracks.append(np.where(moving, names.index(going), names.index(rest)).astype(np.int64))
    return tuple(names), tracks


def check_enough(data: MannData, mirrored: bool, least: float = LEAST_SECONDS) -> None:
    """Raise `DatasetError` that says how much motion is missing, if there is too little."""
    seconds = len(data) / data.fps / (2 if mirrored else 1)
    check_seconds(seconds, least)


def _fit(frames: Tensor, inputs: Layout) -> tuple[Tensor, Tensor]:
    """Mean and scale (size,) of frames that are not normalised yet."""
    mean = frames.mean(dim=0, dtype=torch.float64).float()
    scale = frames.std(dim=0)
    size = inputs.size
    places = [(inputs.slices[name], least) for name, least in _LEAST.items()]
    places += [(slice(size, size + 2), 0.05), (slice(size + 2, size + 3), 0.05), (slice(size + 3, None), 0.1)]
    for place, least in places:
        scale[place] = scale[place].clamp_min(max(_LEAST_SHARE * float(scale[place].mean()), least))
    return mean, scale
