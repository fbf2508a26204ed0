"""Made-up gaits of four legs whose footfalls, strides and path are known, for tests that must not need data."""

from __future__ import annotations

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import contact_offsets, contact_points, girdles
from blender_addon.motion.animal_limbs import limbs_of
from blender_addon.motion.clip import Clip
from tests.animals import animal

#: Lags against the left hind (left hind, right hind, left fore, right fore) and duty.
GAITS = {
    "walk": ((0.0, 0.5, 0.25, 0.75), 0.65), "trot": ((0.0, 0.5, 0.5, 0.0), 0.45), "pace": ((0.0, 0.5, 0.0, 0.5), 0.45),
}  # fmt: skip


def stepping(
    name: str = "fox", seconds: float = 4.0, speed: float = 0.8, turning: float = 0.0, gait: str = "walk",
    frequency: float = 2.0, fps: float = 60.0,
) -> Clip:  # fmt: skip
    """An animal that steps along a line or a circle; each foot stands exactly where it lands. Speed 0 stands still."""
    skeleton = animal(name)
    size = skeleton.leg_length / 0.484
    t = np.arange(round(seconds * fps) + 1) / fps
    root = way(t, speed, turning)
    positions, rotations = skeleton.rest_world
    middle = 0.5 * np.add(*girdles(skeleton, positions))
    stance = (contact_points(skeleton, positions, rotations) - middle)[:, :2]
    lags, duty = GAITS[gait]
    contacts = np.ones((len(t), 4), dtype=bool)
    goals = np.zeros((len(t), 4, 3))
    for leg in range(4):
        cycle = t * frequency - lags[leg]
        stride, phase = np.floor(cycle), cycle % 1.0
        # A foot stands under its place on the body in the middle of its stance.
        here, there = (_under(way((stride + k + lags[leg] + 0.5 * duty) / frequency, speed, turning), stance[leg])
                       for k in (0.0, 1.0))  # fmt: skip
        u = np.clip((phase - duty) / (1.0 - duty), 0.0, 1.0)
        share = (u * u * (3.0 - 2.0 * u))[:, None]
        goals[:, leg, :2] = here + share * (there - here)
        if speed > 0.0:
            goals[:, leg, 2] = 0.04 * size * np.sin(np.pi * u) ** 2
            contacts[:, leg] = phase < duty
    world = np.tile(skeleton.rest_rotations, (len(t), 1, 1))
    bob = np.sin(4.0 * np.pi * frequency * t) if speed > 0.0 else 0.0 * t
    pitch = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.02 * bob)
    world[:, 0] = rot.mul(rot.from_yaw(root[:, 2]), rot.mul(pitch, skeleton.rest_rotations[0]))
    arm = rot.rotate(rot.from_yaw(root[:, 2]), skeleton.offsets[0] - middle)
    hips = np.concatenate([root[:, :2], np.full((len(t), 1), middle[2] - 0.02 * size)], axis=1) + arm
    hips[:, 2] += 0.006 * size * bob
    locals_ = np.array(world)
    places, turns = skeleton.fk(hips, world)
    for leg, limb in enumerate(limbs_of(skeleton)):
        goal, toe = goals[:, leg], None
        if limb.end >= 0:
            toe = rot.mul(rot.from_yaw(root[:, 2]), rotations[limb.end])
            goal = goal - rot.rotate(toe, contact_offsets(skeleton)[leg])
        limb.write(skeleton, locals_, turns, limb.solve(skeleton, places, turns, goal), toe)
    return Clip(skeleton, fps, hips, rot.unroll(locals_), root, contacts, name=f"{name} {gait} {speed} {turning}")


def way(t: np.ndarray, speed: float, turning: float) -> np.ndarray:
    """Root (x, y, yaw) at times (n,): from the origin along -Y, on a circle where it turns (rad/s)."""
    yaw = turning * t
    if turning == 0.0:
        return np.stack([0.0 * t, -speed * t, yaw], axis=1)
    radius = speed / turning
    return np.stack([radius * (1.0 - np.cos(yaw)), -radius * np.sin(yaw), yaw], axis=1)


def _under(root: np.ndarray, stance: np.ndarray) -> np.ndarray:
    return root[:, :2] + rot.rotate_2d(root[:, 2], np.broadcast_to(stance, (len(root), 2)))
