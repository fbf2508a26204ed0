"""What a motion shows: action labels by frame, tags by clip, and defects worth a look."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import rotations as rot
from .clip import BoolArray, Clip
from .contacts import ContactSettings, detect_contacts
from .dataset import ACTIONS
from .filters import derivative, lowpass
from .gait_analysis.classify import GAIT_LABELS, label_gaits
from .rotations import Array
from .runs import carried_over, runs
from .skeleton import Skeleton

#: Root speeds in m/s: below the first a character stands, above the second it runs
#: whatever its feet do, below the third it does not run.
STAND_SPEED = 0.15
SURELY_RUN = 2.3
SLOWEST_RUN = 1.0
#: A heel rolls on as soon as it has landed: faster than a ball, and lower.
_HEEL = ContactSettings(speed_on=0.6, speed_off=0.9, height_on=0.03, height_off=0.05)
_HEEL_UNEVEN = ContactSettings(speed_on=0.35, speed_off=0.6, height_on=np.inf, height_off=np.inf)


def root_speed(clip: Clip) -> Array:
    """Horizontal speed of the root (frames,), m/s."""
    return np.asarray(np.linalg.norm(derivative(clip.root[:, :2], clip.fps), axis=-1))


def vocabulary(skeleton: Skeleton) -> tuple[str, ...]:
    """What `label_actions` tells apart: `ACTIONS` of two legs, the gaits of four."""
    return GAIT_LABELS if skeleton.four_legged else ACTIONS


def label_actions(clip: Clip) -> npt.NDArray[np.int64]:
    """Index into `vocabulary` for each frame (frames,): stand, walk, run; of four legs the gait (`label_gaits`).

    Standing goes by root speed. Running is what has moments without a foot on the ground (over a tenth of 0.4 s to
    either side) and hardly any with both (under a twentieth), or is faster than anyone walks. Spans under 0.2 s
    take their neighbour's label.
    """
    if clip.skeleton.four_legged:
        return label_gaits(clip)
    speed, down = root_speed(clip), feet_down(clip)
    window = max(1, round(0.4 * clip.fps))
    double, none = _share(down.all(axis=-1), window), _share(~down.any(axis=-1), window)
    running = (speed > SLOWEST_RUN) & (((none > 0.1) & (double < 0.05)) | (speed > SURELY_RUN))
    labels = np.where(running, ACTIONS.index("run"), ACTIONS.index("walk"))
    labels[speed < STAND_SPEED] = ACTIONS.index("stand")
    return carried_over(labels, round(0.2 * clip.fps))


def feet_down(clip: Clip, uneven: bool = False) -> BoolArray:
    """When each foot bears on the ground with its ball or its heel (frames, feet); ``uneven`` as of `heels_down`.

    Contacts of the ball alone miss the heel, on which every step of a walk begins. Paws and hooves have none.
    """
    return clip.contacts if clip.skeleton.four_legged else clip.contacts | heels_down(clip, uneven)


def heels_down(clip: Clip, uneven: bool = False) -> BoolArray:
    """When each heel bears on the ground (frames, 2); on ``uneven`` ground by its speed alone."""
    positions, rotations = clip.world
    heels = np.stack([positions[:, foot.ankle] + rot.rotate(rotations[:, foot.ankle], foot.heel)
                      for foot in clip.skeleton.feet], axis=1)  # fmt: skip
    settings = _HEEL_UNEVEN if uneven else _HEEL
    return detect_contacts(heels, clip.fps, leg_length=clip.skeleton.leg_length, settings=settings)


def travel_angle(clip: Clip) -> Array:
    """Direction of travel relative to the root's facing (frames,), radians, 0 forward, positive to the left."""
    velocity = lowpass(derivative(clip.root[:, :2], clip.fps), clip.fps, 1.0)
    return rot.wrap_angle(rot.yaw_of_direction(velocity) - clip.root[:, 2])


def measured_tags(clip: Clip) -> tuple[str, ...]:
    """Tags of a clip: its actions (half a second at least), and back, side, turn.

    Back and side: over 15 % of the frames that move go more than 135, or between 50 and 135 degrees, off the
    facing. Turn: the facing covers more than 60 degrees.
    """
    labels = label_actions(clip)
    known = vocabulary(clip.skeleton)
    tags = [name for i, name in enumerate(known) if np.sum(labels == i) >= min(0.5 * clip.fps, 0.5 * len(clip))]
    moving = root_speed(clip) > 0.25
    if moving.any():
        off = np.abs(travel_angle(clip)[moving])
        if np.mean(off > np.radians(135)) > 0.15:
            tags.append("back")
        if np.mean((off > np.radians(50)) & (off <= np.radians(135))) > 0.15:
            tags.append("side")
    if np.ptp(clip.root[:, 2]) > np.radians(60):
        tags.append("turn")
    return tuple(tags)


def find_glitches(clip: Clip) -> tuple[tuple[int, str], ...]:
    """Frames where a joint's acceleration stands far out of the rest of the clip, with the joint's name.

    A joint glitches where it accelerates, relative to the hips, over 150 m/s2 and 15 times its own 95th
    percentile. It may also be a hit or a stamp.
    """
    if len(clip) < 5:
        return ()
    positions = clip.world[0] - clip.hips[:, None]
    size = np.linalg.norm(np.diff(positions, 2, axis=0), axis=-1) * clip.fps**2
    wild = size > np.maximum(15.0 * np.percentile(size, 95, axis=0), 150.0)
    found = []
    for first, last in runs(wild.any(axis=1)):
        excess = np.where(wild[first:last], size[first:last], 0.0).max(axis=0)
        found.append((first + 1, clip.skeleton.names[int(np.argmax(excess))]))
    return tuple(found)


def t_pose_frames(clip: Clip) -> int:
    """How many frames the clip begins with in its skeleton's T-pose, before the motion.

    Counts only when the rest pose has its upper arms out (within 35 degrees of level): a calm stand is no T-pose.
    A frame is in rest when its limbs differ by less than 10 degrees in the mean from the rest pose. Animals have no
    arms to hold out.
    """
    skeleton = clip.skeleton
    if skeleton.four_legged:
        return 0
    limbs = [skeleton.index(f"{side}_{part}") for side in ("left", "right")
             for part in ("shoulder", "elbow", "hip", "knee") if skeleton.has(f"{side}_{part}")]  # fmt: skip
    if not (skeleton.has("left_shoulder") and skeleton.has("left_elbow")):
        return 0
    positions, rest = skeleton.rest_world
    arm = positions[skeleton.index("left_elbow")] - positions[skeleton.index("left_shoulder")]
    if np.linalg.norm(arm) < 1e-6 or abs(arm[2]) / np.linalg.norm(arm) > np.sin(np.radians(35)):
        return 0
    _, world = clip.world
    away = rot.angle_between(world[:, 0:1], rot.mul(world[:, limbs], rot.mul(rot.inv(rest[limbs]), rest[0])))
    still = np.mean(away, axis=-1) < np.radians(10)
    return len(clip) if still.all() else int(np.argmin(still))


def _share(states: BoolArray, window: int) -> Array:
    """Share of set frames within ``window`` frames to either side (frames,)."""
    total = np.concatenate([[0.0], np.cumsum(states, dtype=float)])
    frame = np.arange(len(states))
    first, last = np.maximum(frame - window, 0), np.minimum(frame + window + 1, len(states))
    return np.asarray((total[last] - total[first]) / (last - first))
