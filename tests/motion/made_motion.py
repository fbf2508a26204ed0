"""Motion made so that its measures are known beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from tests.synthetic import biped

Floats = npt.NDArray[np.float64]


def glide(track: Floats, yaw: Floats | None = None, fps: float = 60.0, height: Floats | float = 0.0) -> Clip:
    """The biped in rest pose, carried along ``track`` (f, 2) facing ``yaw`` (f,), lifted by ``height``.

    Both feet are marked as in contact all the time.
    """
    skeleton = biped()
    frames = len(track)
    yaw = np.zeros(frames) if yaw is None else yaw
    rotations = np.tile(skeleton.rest_rotations, (frames, 1, 1))
    rotations[:, 0] = rot.mul(rot.from_yaw(yaw), rotations[:, 0])
    hips = np.concatenate([track, np.full((frames, 1), skeleton.offsets[0, 2])], axis=-1)
    hips[:, 2] += height
    root = np.concatenate([track, yaw[:, None]], axis=-1)
    return Clip(skeleton, fps, hips, rotations, root, np.ones((frames, 2), dtype=bool))


def with_joint(clip: Clip, role: str, rotations: Floats) -> Clip:
    """The clip with ``rotations`` (f, 4) applied to one joint in its rest pose's frame."""
    changed = np.array(clip.rotations)
    joint = clip.skeleton.index(role)
    changed[:, joint] = rot.mul(changed[:, joint], rotations)
    return replace(clip, rotations=changed)
