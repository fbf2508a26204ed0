"""A made-up walk of four legs, for tests that must not depend on gait models: feet stand while they are down."""

from __future__ import annotations

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal_limbs import limbs_of
from blender_addon.motion.bridging import minimum_jerk
from blender_addon.motion.clip import Clip
from tests.animals import animal

#: Lateral sequence: left hind, left fore, right hind, right fore.
LAGS = (0.0, 0.5, 0.25, 0.75)
DUTY = 0.65


def animal_walk(
    name: str = "fox", seconds: float = 6.0, speed: float = 0.8, turning: float = 0.0, slide: float = 0.0,
    stride: float = 1.0, fps: float = 60.0,
) -> Clip:  # fmt: skip
    """A walk on level ground at ``speed`` m/s (0: standing), turning at ``turning`` rad/s.

    ``slide``: share of the body's way that standing feet are dragged along. ``stride``: length of the steps.
    """
    skeleton = animal(name)
    size = skeleton.leg_length / 0.484
    t = np.arange(round(seconds * fps) + 1) / fps
    period = stride * 0.7 * np.sqrt(size)
    yaw = turning * t
    step = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1) * speed / fps
    place = np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
    rotations = np.tile(skeleton.rest_rotations, (len(t), 1, 1))
    rotations[:, 0] = rot.mul(rot.from_yaw(yaw), rotations[:, 0])
    # A little lower than at rest, so that legs reach ahead and behind.
    low = np.array([0.0, 0.0, 0.05 * skeleton.leg_length])
    ground = np.concatenate([place, np.zeros((len(t), 1))], axis=1)
    hips = rot.rotate(rot.from_yaw(yaw), skeleton.offsets[0]) + ground - low
    positions, world = skeleton.fk(hips, rotations)
    new, contacts = np.array(rotations), np.ones((len(t), 4), bool)
    rest = skeleton.rest_world
    for column, limb in enumerate(limbs_of(skeleton)):
        rest_end = limb.points(rest[0][None], rest[1][None])[0, -1]
        phase = (t / period + LAGS[column]) % 1.0
        standing = phase < DUTY if speed else np.ones(len(t), bool)
        swing = np.clip((phase - DUTY) / (1.0 - DUTY), 0.0, 1.0)
        # Time since the middle of the stand at which the foot is where its rest place under the body was.
        ahead = np.where(standing, 0.5 * DUTY - phase, DUTY * (minimum_jerk(swing) - 0.5)) * period * (1.0 - slide)
        ahead = ahead if speed else 0.0 * t
        moment = yaw + turning * ahead
        turned = rot.rotate(rot.from_yaw(moment), rest_end)
        centre = ground + np.concatenate([_way(yaw, turning, speed, ahead), np.zeros((len(t), 1))], axis=1)
        lift = np.where(standing, 0.0, 64.0 * (swing * (1.0 - swing)) ** 3 * 0.09 * skeleton.leg_length)
        end = centre + turned + lift[:, None] * [0.0, 0.0, 1.0]
        turn = limb.solve(skeleton, positions, world, end)
        toe = None
        if limb.end >= 0:
            peel = np.where(standing, 0.0, 0.7 * np.sin(np.pi * swing) ** 2 * (1.0 - swing))
            toe = rot.mul(rot.from_yaw(moment), rot.mul(rot.exp(peel[:, None] * [1.0, 0, 0]), rest[1][limb.foot.toe]))
        limb.write(skeleton, new, world, turn, toe)
        contacts[:, column] = standing
    root = np.concatenate([place, yaw[:, None]], axis=1)
    return Clip(skeleton, fps, hips, rot.unroll(new), root, contacts, name=f"{name} {speed} {turning}")


def _way(yaw: np.ndarray, turning: float, speed: float, ahead: np.ndarray) -> np.ndarray:
    """Where the root is ``ahead`` seconds on, from where it is (f, 2)."""
    if abs(turning) < 1e-9:
        return speed * ahead[:, None] * np.stack([np.sin(yaw), -np.cos(yaw)], axis=1)
    to = yaw + turning * ahead
    return speed / turning * np.stack([np.cos(yaw) - np.cos(to), np.sin(yaw) - np.sin(to)], axis=1)
