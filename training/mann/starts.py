"""Starting states of a pack: real frames of every action, resting ones and others in the midst of movement."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from blender_addon.systems.trajectory import PAST

from .. import starts
from .data import MannData


def choose(data: MannData, seed: int) -> npt.NDArray[np.int64]:
    """Frames to begin from: of every action the calmest ones, and others spread over its speeds."""
    places, count = data.inputs.slices, len(data)
    actions = _physical(data, places["actions"]).reshape(count, -1, len(data.actions))[:, PAST]
    trajectory = _physical(data, places["speeds"])
    joints = _physical(data, places["joint_velocities"]).reshape(count, -1, 3)
    restless = np.maximum(trajectory.max(axis=1), np.linalg.norm(joints, axis=-1).max(axis=1))
    return starts.choose(actions > 0.5, trajectory[:, PAST], restless, seed)


def starts_file(data: MannData, seed: int) -> bytes:
    """The contents of ``starts.npz``: inputs (k, size) and contacts (k, feet)."""
    rows = choose(data, seed)
    stream = io.BytesIO()
    np.savez_compressed(stream, inputs=data.physical_inputs(rows), contacts=data.physical_contacts(rows))
    return stream.getvalue()


def _physical(data: MannData, place: slice) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = (data.frames[:, place] * data.scale[place] + data.mean[place]).numpy()
    return found
