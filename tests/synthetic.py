"""A plain biped and a made-up walk, for tests that must not depend on captured data."""

from __future__ import annotations

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.skeleton import Skeleton, make_skeleton

_JOINTS = [
    # name, parent, offset from the parent, role
    ("Hips", None, (0.0, 0.0, 0.93), "hips"),
    ("LeftUpLeg", "Hips", (0.09, 0.0, -0.02), "left_hip"),
    ("LeftLeg", "LeftUpLeg", (0.0, -0.01, -0.42), "left_knee"),
    ("LeftFoot", "LeftLeg", (0.0, 0.02, -0.42), "left_ankle"),
    ("LeftToes", "LeftFoot", (0.0, -0.12, -0.045), "left_toe"),
    ("RightUpLeg", "Hips", (-0.09, 0.0, -0.02), "right_hip"),
    ("RightLeg", "RightUpLeg", (0.0, -0.01, -0.42), "right_knee"),
    ("RightFoot", "RightLeg", (0.0, 0.02, -0.42), "right_ankle"),
    ("RightToes", "RightFoot", (0.0, -0.12, -0.045), "right_toe"),
    ("Spine", "Hips", (0.0, 0.0, 0.12), "spine_1"),
    ("Spine1", "Spine", (0.0, 0.0, 0.2), "spine_2"),
    ("Head", "Spine1", (0.0, 0.0, 0.25), "head"),
    ("LeftShoulder", "Spine1", (0.03, 0.0, 0.18), "left_clavicle"),
    ("LeftArm", "LeftShoulder", (0.15, 0.0, 0.0), "left_shoulder"),
    ("LeftForeArm", "LeftArm", (0.28, 0.0, 0.0), "left_elbow"),
    ("LeftHand", "LeftForeArm", (0.25, 0.0, 0.0), "left_wrist"),
    ("RightShoulder", "Spine1", (-0.03, 0.0, 0.18), "right_clavicle"),
    ("RightArm", "RightShoulder", (-0.15, 0.0, 0.0), "right_shoulder"),
    ("RightForeArm", "RightArm", (-0.28, 0.0, 0.0), "right_elbow"),
    ("RightHand", "RightForeArm", (-0.25, 0.0, 0.0), "right_wrist"),
]
_TAILS = {
    "LeftToes": (0, -0.07, -0.01), "RightToes": (0, -0.07, -0.01), "Head": (0, 0, 0.2),
    "LeftHand": (0.08, 0, 0), "RightHand": (-0.08, 0, 0),
}  # fmt: skip


def biped() -> Skeleton:
    """A T-posed biped of 20 joints, 1.7 m tall, standing on z = 0."""
    names = [joint[0] for joint in _JOINTS]
    parents = [-1 if joint[1] is None else names.index(joint[1]) for joint in _JOINTS]
    offsets = np.array([joint[2] for joint in _JOINTS])
    tails = np.zeros_like(offsets)
    for i, name in enumerate(names):
        children = [k for k, parent in enumerate(parents) if parent == i]
        tails[i] = _TAILS.get(name, offsets[children[0]] if children else (0, 0, 0.05))
    return make_skeleton(names, parents, offsets, tails, {joint[3]: joint[0] for joint in _JOINTS}, ball_height=0.025)


def walk(seconds: float = 4.0, speed: float = 1.0, turning: float = 0.0, fps: float = 60.0, phase: float = 0.0) -> Clip:
    """A made-up walk at ``speed`` m/s turning at ``turning`` rad/s; legs and arms swing as sines.

    Feet slide a little: it is no capture. At speed 0 the figure stands still.
    """
    skeleton = biped()
    t = np.arange(round(seconds * fps) + 1) / fps
    stride = 1.0 * min(1.0, speed)
    cycle = 2 * np.pi * t * (speed / max(stride * 1.3, 1e-6)) + phase if speed > 0 else 0.0 * t
    swing = 0.45 * min(1.0, speed)
    yaw = turning * t
    step = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1) * speed / fps
    place = np.concatenate([np.zeros((1, 2)), np.cumsum(step[:-1], axis=0)])
    rotations = np.tile(skeleton.rest_rotations, (len(t), 1, 1))
    across = np.array([1.0, 0.0, 0.0])
    contacts = np.zeros((len(t), 2), bool)
    for column, side, sign in ((0, "left", 1.0), (1, "right", -1.0)):
        wave = sign * np.sin(cycle)
        lift = np.clip(sign * np.cos(cycle), 0.0, None) * swing
        # About +x a positive angle swings a leg that hangs down forward, to -y.
        rotations[:, skeleton.index(f"{side}_hip")] = rot.from_axis_angle(-across, swing * wave + 0.5 * lift)
        rotations[:, skeleton.index(f"{side}_knee")] = rot.from_axis_angle(across, 0.1 + 1.2 * lift)
        rotations[:, skeleton.index(f"{side}_ankle")] = rot.from_axis_angle(-across, 0.1)
        hang = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), 1.3 * sign)
        shoulder = rot.from_axis_angle(across, 0.6 * swing * wave)
        rotations[:, skeleton.index(f"{side}_shoulder")] = rot.mul(shoulder, hang)
        contacts[:, column] = (sign * np.cos(cycle) <= 0.0) if speed > 0 else True
    rotations[:, 0] = rot.from_yaw(yaw)
    hips = np.concatenate([place, np.full((len(t), 1), 0.91)], axis=1)
    root = np.concatenate([place, yaw[:, None]], axis=1)
    return Clip(skeleton, fps, hips, rotations, root, contacts, name=f"walk {speed} {turning}")
