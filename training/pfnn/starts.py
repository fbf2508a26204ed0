"""Starting states of a pack: real frames of every gait, resting ones and others in the midst of movement."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import torch

from blender_addon.systems.trajectory import PAST, SAMPLES

from .data import PfnnData

#: How many frames of each gait, at rest and on the move.
_AT_REST, _MOVING = 24, 24
#: Slower than this over the whole trajectory, and in all joints, is rest: metres a second.
_CALM_SPEED = 0.15


def choose(data: PfnnData, seed: int) -> npt.NDArray[np.int64]:
    """Frames to begin from: of every gait the calmest ones, and others spread over its speeds; on level ground."""
    random = np.random.default_rng(seed)
    places = data.blocks.slices
    gaits = _physical(data, places["gaits"]).reshape(len(data), SAMPLES, -1)[:, PAST]
    trajectory = _physical(data, places["trajectory"])[:, : 2 * SAMPLES].reshape(len(data), SAMPLES, 2)
    speed = np.linalg.norm(np.diff(trajectory, axis=1), axis=-1) * 6.0
    pose = _physical(data, places["pose"]).reshape(len(data), 2, -1, 3)
    restless = np.maximum(speed.max(axis=1), np.linalg.norm(pose[:, 1], axis=-1).max(axis=1))
    level = (data.heights[0] * data.height_scale + data.height_mean).abs().amax(dim=1).numpy() < 0.03
    usable = np.zeros(len(data), dtype=np.bool_)
    usable[data.windows(1).numpy()] = True
    usable &= level
    chosen = []
    for gait in range(gaits.shape[1]):
        rows = np.nonzero(usable & (gaits[:, gait] > 0.5))[0]
        if len(rows) == 0:
            continue
        calm = rows[restless[rows] < _CALM_SPEED]
        if len(calm) == 0:
            calm = rows[np.argsort(restless[rows])[:_AT_REST]]
        chosen.append(calm[np.linspace(0, len(calm) - 1, min(_AT_REST, len(calm))).astype(np.int64)])
        # By speed, so that the rare fast ones are there too.
        ordered = rows[np.argsort(speed[rows, PAST - 1] + 1e-3 * random.random(len(rows)))]
        chosen.append(ordered[np.linspace(0, len(ordered) - 1, min(_MOVING, len(ordered))).astype(np.int64)])
    return np.unique(np.concatenate(chosen))


def fastest_walk(data: PfnnData) -> float:
    """The speed, m/s, that walking frames hardly exceed."""
    places = data.blocks.slices
    if "walk" not in data.gaits:
        return 2.0
    gaits = _physical(data, places["gaits"]).reshape(len(data), SAMPLES, -1)[:, PAST]
    steps = _physical(data, places["steps"])
    walking = gaits[:, data.gaits.index("walk")] > 0.9
    speeds = np.linalg.norm(steps[walking, :2], axis=1)
    return float(np.quantile(speeds, 0.99)) if len(speeds) else 2.0


def starts_file(data: PfnnData, seed: int) -> bytes:
    """The contents of ``starts.npz``: inputs (k, size), phases (k,), and the fastest walk."""
    rows = choose(data, seed)
    stream = io.BytesIO()
    np.savez_compressed(
        stream, inputs=data.physical_inputs(rows), phases=data.phase[torch.from_numpy(rows)].numpy(),
        fastest_walk=np.float32(fastest_walk(data)),
    )  # fmt: skip
    return stream.getvalue()


def _physical(data: PfnnData, place: slice) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = (data.frames[:, place] * data.scale[place] + data.mean[place]).numpy()
    return found
