"""Starting states of a pack: real frames of every action, resting ones and others in the midst of movement."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from blender_addon.systems.trajectory import PAST

from .data import MannData

#: How many frames of each action, at rest and on the move.
_AT_REST, _MOVING = 24, 24
#: Slower than this, all joints over the whole trajectory, is rest: metres a second.
_CALM_SPEED = 0.15


def choose(data: MannData, seed: int) -> npt.NDArray[np.int64]:
    """Frames to begin from: of every action the calmest ones, and others spread over its speeds."""
    random = np.random.default_rng(seed)
    places, count = data.inputs.slices, len(data)
    actions = _physical(data, places["actions"]).reshape(count, -1, len(data.actions))[:, PAST]
    trajectory = _physical(data, places["speeds"])
    joints = _physical(data, places["joint_velocities"]).reshape(count, -1, 3)
    restless = np.maximum(trajectory.max(axis=1), np.linalg.norm(joints, axis=-1).max(axis=1))
    chosen = []
    for action in range(len(data.actions)):
        rows = np.nonzero(actions[:, action] > 0.5)[0]
        if len(rows) == 0:
            continue
        calm = rows[restless[rows] < _CALM_SPEED]
        if len(calm) == 0:
            calm = rows[np.argsort(restless[rows])[:_AT_REST]]
        chosen.append(calm[np.linspace(0, len(calm) - 1, min(_AT_REST, len(calm))).astype(np.int64)])
        # By speed, so that the rare fast ones are there too.
        ordered = rows[np.argsort(trajectory[rows, PAST] + 1e-3 * random.random(len(rows)))]
        chosen.append(ordered[np.linspace(0, len(ordered) - 1, min(_MOVING, len(ordered))).astype(np.int64)])
    return np.unique(np.concatenate(chosen))


def starts_file(data: MannData, seed: int) -> bytes:
    """The contents of ``starts.npz``: inputs (k, size) and contacts (k, feet)."""
    rows = choose(data, seed)
    stream = io.BytesIO()
    np.savez_compressed(stream, inputs=data.physical_inputs(rows), contacts=data.physical_contacts(rows))
    return stream.getvalue()


def _physical(data: MannData, place: slice) -> npt.NDArray[np.float32]:
    found: npt.NDArray[np.float32] = (data.frames[:, place] * data.scale[place] + data.mean[place]).numpy()
    return found
