"""Made-up motion of a four-legged animal, for tests that must depend neither on captured data nor on the gait model."""

from __future__ import annotations

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import LEGS
from blender_addon.motion.clip import Clip
from tests.animals import animal

#: When each leg's swing begins, shares of a stride, in the order of `LEGS`.
LAGS = {"walk": (0.0, 0.5, 0.25, 0.75), "trot": (0.0, 0.5, 0.5, 0.0), "pace": (0.0, 0.5, 0.0, 0.5)}


def roam(seconds: float = 4.0, speed: float = 1.0, turning: float = 0.0, gait: str = "walk", fps: float = 60.0) -> Clip:
    """A fox at ``speed`` m/s turning at ``turning`` rad/s; legs, spine and tail swing as sines. Feet slide.

    At speed 0 it stands still and breathes.
    """
    skeleton = animal("fox")
    t = np.arange(round(seconds * fps) + 1) / fps
    yaw = turning * t
    step = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1) * speed / fps
    place = np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
    cycle = 2 * np.pi * 1.2 * t if speed > 0 else 0.0 * t
    swing = 0.35 * min(1.0, speed)
    local = np.tile(skeleton.rest_rotations, (len(t), 1, 1))
    _, rest = skeleton.rest_world
    contacts = np.ones((len(t), 4), dtype=bool)

    def turn(joint: int, axis: list[float], angle: np.ndarray) -> None:
        """Turn a joint about an axis of model space, as it lies at rest."""
        parent = rest[skeleton.parents[joint]] if joint else rot.IDENTITY
        axis_in_parent = rot.inv_rotate(parent, np.array(axis))
        local[:, joint] = rot.mul(rot.from_axis_angle(axis_in_parent, angle), local[:, joint])

    for column, (leg, lag) in enumerate(zip(LEGS, LAGS[gait], strict=True)):
        foot = skeleton.feet[column]
        assert foot.side == leg
        wave = cycle - 2 * np.pi * lag
        turn(foot.chain[0], [-1.0, 0.0, 0.0], swing * np.sin(wave))
        turn(foot.chain[1], [1.0, 0.0, 0.0], swing * (1.0 - np.cos(wave)) * 0.5)
        if speed > 0:
            contacts[:, column] = np.cos(wave) < 0.0
    for number in (1, 2):
        turn(skeleton.index(f"tail_{number}"), [0.0, 0.0, 1.0], 0.2 * np.sin(0.5 * cycle))
    turn(skeleton.index("spine_1"), [1.0, 0.0, 0.0], 0.03 * np.sin(2 * np.pi * 0.4 * t))
    local[:, 0] = rot.mul(rot.from_yaw(yaw), local[:, 0])
    hips = rot.rotate(rot.from_yaw(yaw), np.tile(skeleton.offsets[0], (len(t), 1)))
    hips[:, :2] += place
    hips[:, 2] += 0.01 * np.sin(2 * cycle)
    root = np.concatenate([place, yaw[:, None]], axis=1)
    return Clip(skeleton, fps, hips, local, root, contacts, name=f"{gait} {speed} {turning}")
