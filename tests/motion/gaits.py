"""Plans for the tests of the gait model, and what is read off the motions it makes."""

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.metrics_feet import ball_positions
from blender_addon.motion.plan import Plan

FPS = 60.0


def plan_of(speed, rate=0.0, seconds=None, action="auto") -> Plan:
    """A plan of given speeds (m/s) and yaw rates (rad/s), constant or per frame."""
    frames = len(speed) if np.ndim(speed) else len(rate) if np.ndim(rate) else int(seconds * FPS) + 1
    speed, rate = (np.broadcast_to(np.asarray(track, dtype=float), (frames,)).copy() for track in (speed, rate))
    yaw = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1])) / FPS])
    step = rot.direction_of_yaw(yaw) * speed[:, None]
    place = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * (step[1:] + step[:-1]), axis=0) / FPS])
    return Plan(FPS, place, yaw, speed, np.cumsum(speed) / FPS, ("stand", action), np.ones(frames, np.int64),
                np.zeros(frames, np.bool_))  # fmt: skip


def ramps(*corners: tuple[float, float]) -> np.ndarray:
    """Values over time through corners (seconds, value), edges rounded as plans have them."""
    time = np.arange(int(corners[-1][0] * FPS) + 1) / FPS
    track = np.interp(time, *zip(*corners, strict=True))
    kernel = np.hanning(27) / np.hanning(27).sum()
    return np.convolve(np.pad(track, 13, mode="edge"), kernel, mode="valid")


def edges(contact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames at which a foot lands, and at which it leaves."""
    change = np.diff(contact.astype(int))
    return np.flatnonzero(change == 1) + 1, np.flatnonzero(change == -1) + 1


def timing_of(clip: Clip) -> tuple[np.ndarray, np.ndarray, float]:
    """Duty (4,), landings after the left hind's (4,) in 0..1 and the stride's seconds: means, from the contacts."""
    landings = [edges(clip.contacts[:, leg])[0] for leg in range(4)]
    own = landings[0]
    lags = []
    for leg in range(4):
        share = []
        for first, last in zip(own[:-1], own[1:], strict=True):
            inside = landings[leg][(landings[leg] >= first) & (landings[leg] < last)]
            share += [(frame - first) / (last - first) for frame in inside]
        lags.append(np.angle(np.mean(np.exp(2j * np.pi * np.array(share)))) / (2.0 * np.pi) % 1.0)
    return clip.contacts[own[0] : own[-1]].mean(axis=0), np.array(lags), float(np.mean(np.diff(own))) / clip.fps


def skate(clip: Clip) -> float:
    """Greatest step of a foot between two frames of contact, cm."""
    ball = ball_positions(clip)
    steps = np.linalg.norm(np.diff(ball[..., :2], axis=0), axis=-1)
    both = clip.contacts[1:] & clip.contacts[:-1]
    return 100.0 * float(steps[both].max(initial=0.0))


def angular_acceleration(clip: Clip, part: str) -> float:
    """99th percentile over both sides of a joint's angular acceleration, degrees/s2."""
    joints = [clip.skeleton.index(f"{side}_{part}") for side in ("left", "right")]
    turns = clip.rotations[:, joints]
    speed = rot.log(rot.inv_mul(turns[:-1], turns[1:])) * clip.fps
    return float(np.percentile(np.degrees(np.linalg.norm(np.diff(speed, axis=0), axis=-1)) * clip.fps, 99.0))


def without(skeleton, *roles: str):
    """A skeleton without the joints of these roles; what hung on them hangs on their parents."""
    from blender_addon.motion.skeleton import Skeleton

    positions, rotations = skeleton.rest_world
    gone = {skeleton.index(role) for role in roles if skeleton.has(role)}
    kept = [joint for joint in range(len(skeleton)) if joint not in gone]
    parents, offsets, turns = [], [], []
    for joint in kept:
        parent = skeleton.parents[joint]
        while parent in gone:
            parent = skeleton.parents[parent]
        parents.append(kept.index(parent) if parent >= 0 else -1)
        whole = parent < 0
        offsets.append(positions[joint] if whole
                       else rot.inv_rotate(rotations[parent], positions[joint] - positions[parent]))  # fmt: skip
        turns.append(rotations[joint] if whole else rot.inv_mul(rotations[parent], rotations[joint]))
    names = tuple(skeleton.names[joint] for joint in kept)
    return Skeleton(
        names, tuple(parents), np.array(offsets), np.array(turns), skeleton.tails[kept],
        {role: name for role, name in skeleton.roles.items() if name in names}, skeleton.ball_height,
    )  # fmt: skip
