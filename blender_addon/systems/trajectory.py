"""The trajectory that networks which live on their own answers are told: the root at samples around now.

Holden et al. 2017 and Zhang et al. 2018 tell it so. In the root space of the frame it belongs to.
"""

from __future__ import annotations

import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.rotations import Array
from .features import sample_root

#: Time between samples of the trajectory: 10 frames at 60 fps.
SAMPLE_SECONDS = 1 / 6
#: Samples behind the character; samples from now on.
PAST, FUTURE = 6, 6
#: All of them.
SAMPLES = PAST + FUTURE
#: When the samples are, seconds from now.
SAMPLE_TIMES: tuple[float, ...] = tuple(SAMPLE_SECONDS * k for k in range(-PAST, FUTURE))
#: When a wish is read: now, at the future samples, and one sample on, so that every sample has neighbours.
HORIZON_SECONDS: tuple[float, ...] = tuple(SAMPLE_SECONDS * k for k in range(FUTURE + 1))


def clip_trajectory(clip: Clip) -> tuple[Array, Array, Array]:
    """Root positions, facings and velocities (frames, 12, 2) around every frame, in its root space.

    Beyond the clip's ends the root goes on along an arc.
    """
    frames = np.arange(len(clip))
    at = [frames + seconds * clip.fps for seconds in SAMPLE_TIMES]
    world = np.stack([sample_root(clip.root, when, clip.fps) for when in at], axis=1)
    before, after = (
        np.stack([sample_root(clip.root, when + side, clip.fps) for when in at], axis=1) for side in (-1.0, 1.0)
    )
    turn = -clip.root[:, None, 2]
    return (
        rot.rotate_2d(turn, world[..., :2] - clip.root[:, None, :2]),
        rot.direction_of_yaw(world[..., 2] + turn),
        rot.rotate_2d(turn, (after - before)[..., :2] * (0.5 * clip.fps)),
    )


def sampled(labels: Array, fps: float) -> Array:
    """Labels (frames, 12, n) around every frame, of such by frame (frames, n); the ends' go on."""
    ahead = np.round(np.array(SAMPLE_TIMES) * fps).astype(np.int64)
    rows = np.clip(np.arange(len(labels))[:, None] + ahead, 0, len(labels) - 1)
    return labels[rows]
