"""Starting states of a pack: a few hundred real frames, standing ones among them."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from blender_addon.systems.database import Database

Float32 = npt.NDArray[np.float32]

_STANDING, _MOVING = 128, 192
#: Slower than this, feet and hips, is standing: metres a second.
_CALM_SPEED = 0.12


def choose(database: Database, seed: int) -> npt.NDArray[np.int64]:
    """Frames to begin from: the calmest, spread over the takes, and others spread over all motion."""
    calm = calm_frames(database)
    random = np.random.default_rng(seed)
    standing = calm[np.linspace(0, len(calm) - 1, min(_STANDING, len(calm))).astype(np.int64)]
    found = np.nonzero(database.searchable)[0]
    pool = random.choice(found, size=min(8192, len(found)), replace=False)
    return np.unique(np.concatenate([standing, pool[_spread(database.features[pool], _MOVING)]]))


def calm_frames(database: Database) -> npt.NDArray[np.int64]:
    """Frames in order that stand still; the calmest few when none really does."""
    places = database.layout.slices
    feet = database.raw[:, places["foot_velocity"]].reshape(len(database), -1, 3)
    hips = database.raw[:, places["hip_velocity"]]
    speed = np.maximum(np.linalg.norm(feet, axis=-1).max(axis=1), np.linalg.norm(hips, axis=-1))
    ahead = np.abs(database.raw[:, places["trajectory_position"]]).max(axis=1)
    restless = np.where(database.searchable, speed + ahead, np.inf)
    calm = np.nonzero(restless < _CALM_SPEED)[0]
    if len(calm) < 16:
        calm = np.sort(np.argsort(restless)[: min(64, len(restless))])
    return calm.astype(np.int64)


def starts_file(database: Database, states: Float32) -> bytes:
    """The contents of ``starts.npz``: states (k, 59), the normaliser and what standing looks like."""
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        states=states.astype(np.float32),
        mean=database.normalizer.mean,
        scale=database.normalizer.scale,
        calm=database.raw[calm_frames(database)].mean(axis=0, dtype=np.float64).astype(np.float32),
    )
    return stream.getvalue()


def _spread(points: Float32, count: int) -> npt.NDArray[np.int64]:
    """Greedy farthest-point choice of ``count`` of ``points`` (n, d)."""
    chosen = [0]
    distance = np.full(len(points), np.inf, dtype=np.float32)
    for _ in range(min(count, len(points)) - 1):
        away = points - points[chosen[-1]]
        distance = np.minimum(distance, np.einsum("ij,ij->i", away, away))
        chosen.append(int(np.argmax(distance)))
    return np.array(chosen, dtype=np.int64)
