"""Starting states of a pack: real frames of every gait, resting ones and others in the midst of movement."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import torch

from blender_addon.systems.pfnn import FASTEST_WALK
from blender_addon.systems.trajectory import PAST, SAMPLE_SECONDS, SAMPLES

from .. import starts
from .data import PfnnData

#: What is felt may lie beyond what was felt in training by this share of its range.
_MARGIN = 0.2
#: Such a share of the frames is left out of what counts as learned of the ground, at either end.
RARELY = 1e-3


def choose(data: PfnnData, seed: int) -> npt.NDArray[np.int64]:
    """Frames to begin from: of every gait the calmest ones, and others spread over its speeds; on level ground."""
    places = data.blocks.slices
    gaits = _physical(data, places["gaits"]).reshape(len(data), SAMPLES, -1)[:, PAST]
    trajectory = _physical(data, places["trajectory"])[:, : 2 * SAMPLES].reshape(len(data), SAMPLES, 2)
    speed = np.linalg.norm(np.diff(trajectory, axis=1), axis=-1) / SAMPLE_SECONDS
    pose = _physical(data, places["pose"]).reshape(len(data), 2, -1, 3)
    restless = np.maximum(speed.max(axis=1), np.linalg.norm(pose[:, 1], axis=-1).max(axis=1))
    level = (data.heights[0] * data.height_scale + data.height_mean).abs().amax(dim=1).numpy() < 0.03
    usable = np.zeros(len(data), dtype=np.bool_)
    usable[data.windows(1).numpy()] = True
    usable &= level
    return starts.choose((gaits > 0.5) & usable[:, None], speed[:, PAST - 1], restless, seed)


def fastest_walk(data: PfnnData) -> float:
    """The speed, m/s, that walking frames hardly exceed."""
    places = data.blocks.slices
    if "walk" not in data.gaits:
        return FASTEST_WALK
    gaits = _physical(data, places["gaits"]).reshape(len(data), SAMPLES, -1)[:, PAST]
    steps = _physical(data, places["steps"])
    walking = gaits[:, data.gaits.index("walk")] > 0.9
    speeds = np.linalg.norm(steps[walking, :2], axis=1)
    return float(np.quantile(speeds, 0.99)) if len(speeds) else FASTEST_WALK


def felt_range(data: PfnnData) -> npt.NDArray[np.float32]:
    """Lowest and highest height felt at each point in training (2, 36), metres, and somewhat beyond."""
    learned = data.weights > 0.0
    # Point by point: all heights together are large.
    ends = np.stack(
        [np.quantile(data.heights[..., point][:, learned].numpy(), [RARELY, 1.0 - RARELY])
         for point in range(data.heights.shape[-1])], axis=1,
    )  # fmt: skip
    ends = ends * data.height_scale.numpy() + data.height_mean.numpy()
    beyond = _MARGIN * (ends[1] - ends[0])
    return np.asarray(ends + np.stack([-beyond, beyond]), dtype=np.float32)


def starts_file(data: PfnnData, seed: int) -> bytes:
    """The contents of ``starts.npz``: inputs (k, size), phases (k,), the fastest walk, and the heights felt (2, 36)."""
    rows = choose(data, seed)
    stream = io.BytesIO()
    np.savez_compressed(
        stream, inputs=data.physical_inputs(rows), phases=data.phase[torch.from_numpy(rows)].numpy(),
        fastest_walk=np.float32(fastest_walk(data)), felt=felt_range(data),
    )  # fmt: skip
    return stream.getvalue()


def _physical(data: PfnnData, place: slice) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = (data.frames[:, place] * data.scale[place] + data.mean[place]).numpy()
    return found
