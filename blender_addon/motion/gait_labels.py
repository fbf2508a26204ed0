"""Gaits of two legs by frame, as PFNN learns and asks for them: stand, walk, run, crouch, jump.

Suggested from speed, height and contacts, to be corrected by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .clip import BoolArray, Clip
from .contacts import on_uneven_ground
from .dataset import ACTIONS
from .filters import lowpass
from .labels import feet_down, label_actions
from .metrics_feet import ball_positions
from .rotations import Array
from .runs import clean_runs, runs
from .skeleton import Skeleton

#: In the order of PFNN's gait inputs.
BIPED_GAITS: tuple[str, ...] = ("stand", "walk", "run", "crouch", "jump")
#: Hips lower than this share of their height over the lower foot in the rest pose crouch.
CROUCHED = 0.84
#: The trunk's top, as a share of its height in the rest pose, where crouching begins, and at its deepest.
UPRIGHT, LOWEST = 0.9, 0.4
#: Whoever crouches does so at least this deep.
LEAST_DEPTH = 0.1
#: Joints nearer than this share of the hips' height to the middle, sideways, belong to the trunk.
_MIDDLE = 0.05
#: A flight is a jump if it lasts this long (s), or if the lower foot gets this share of the leg off the ground.
_LONG_FLIGHT, _HIGH_FLIGHT = 0.3, 0.16
#: Seconds of crouching before a jump, and of landing after it, that belong to it.
_GATHER, _LAND = 0.3, 0.3
#: Spans shorter than this many seconds take their neighbour's label.
_SHORTEST = 0.25


def label_biped_gaits(clip: Clip) -> npt.NDArray[np.int64]:
    """Index into `BIPED_GAITS` for each frame (f,) of a two-legged clip."""
    plain = label_actions(clip)
    found = np.array([BIPED_GAITS.index(name) for name in ACTIONS])[plain]
    low = clean_runs(crouching(clip)[:, None], round(_SHORTEST * clip.fps))[:, 0]
    found[low] = BIPED_GAITS.index("crouch")
    for first, end in jumps(clip):
        found[max(first - round(_GATHER * clip.fps), 0) : end + round(_LAND * clip.fps)] = BIPED_GAITS.index("jump")
    return found


def gait_weights(labels: npt.NDArray[np.int64], fps: float, gaits: int = len(BIPED_GAITS)) -> Array:
    """One-hot labels (f, gaits), going over into each other within a quarter of a second."""
    sharp = np.eye(gaits)[labels]
    return np.clip(lowpass(sharp, fps, 2.0), 0.0, 1.0) if len(labels) > 1 else sharp


def graded_crouch(weights: Array, names: Sequence[str], clip: Clip) -> Array:
    """Gait weights (f, gaits) whose crouching tells how low: the rest of it counts as walking.

    So a network can be asked to go as low as a ceiling wants it. What is called crouching is so a little, however
    upright it is: somebody may have said so by hand. Nothing changes without crouching or walking.
    """
    if "crouch" not in names or "walk" not in names:
        return weights
    graded, crouch = weights.copy(), names.index("crouch")
    part = (1.0 - np.maximum(crouch_depth(body_top(clip)), LEAST_DEPTH)) * weights[:, crouch]
    graded[:, crouch] -= part
    graded[:, names.index("walk")] += part
    return graded


def crouch_depth(top: Array) -> Array:
    """How deep one crouches, 0 to 1, whose `body_top` is ``top``."""
    return np.asarray(np.clip((UPRIGHT - top) / (UPRIGHT - LOWEST), 0.0, 1.0))


def top_of_depth(depth: Array) -> Array:
    """The `body_top` of so deep a crouch: the inverse of `crouch_depth`."""
    return np.asarray(UPRIGHT - depth * (UPRIGHT - LOWEST))


def body_top(clip: Clip) -> Array:
    """Height (f,) of the highest joint of trunk and head over the lower foot, as a share of that in the rest pose."""
    lowest = ball_positions(clip)[..., 2].min(axis=1)
    rest = clip.skeleton.rest_world[0]
    feet = min(float(rest[foot.toe, 2]) for foot in clip.skeleton.feet)
    joints = np.array(upright_joints(clip.skeleton))
    high = clip.world[0][:, joints, 2].max(axis=1) - lowest
    return np.asarray(lowpass(high, clip.fps, 1.0) / (float(rest[joints, 2].max()) - feet))


def upright_joints(skeleton: Skeleton) -> list[int]:
    """Joints of trunk, neck and head: those whose rest place is near the middle, hips and above."""
    rest = skeleton.rest_world[0]
    near = np.abs(rest[:, 0] - rest[0, 0]) < _MIDDLE * rest[0, 2]
    return [joint for joint in range(len(skeleton)) if near[joint] and rest[joint, 2] >= rest[0, 2] - 1e-6]


def hips_over_feet(clip: Clip) -> Array:
    """Height (f,) of the hips over the lower foot, as a share of that in the rest pose."""
    lowest = ball_positions(clip)[..., 2].min(axis=1)
    rest = clip.skeleton.rest_world[0]
    feet = min(float(rest[foot.toe, 2]) for foot in clip.skeleton.feet)
    return np.asarray((clip.hips[:, 2] - lowest) / (rest[0, 2] - feet))


def crouching(clip: Clip) -> BoolArray:
    """Frames (f,) in which the hips are low for longer than a step."""
    return np.asarray(lowpass(hips_over_feet(clip), clip.fps, 1.0) < CROUCHED)


def feet_bearing(clip: Clip) -> BoolArray:
    """When each foot bears on the ground, level or not, with its ball or its heel (f, 2)."""
    return feet_down(clip, on_uneven_ground(clip))


def jumps(clip: Clip) -> list[tuple[int, int]]:
    """Flights that are jumps: first frame off the ground, first frame down again."""
    down = feet_bearing(clip).any(axis=1)
    lowest = ball_positions(clip)[..., 2].min(axis=1)
    leg = clip.skeleton.leg_length
    found = []
    for first, end in runs(~down):
        if first == 0 or end == len(clip):
            continue
        ground = np.interp(np.arange(first, end), [first - 1, end], lowest[[first - 1, min(end, len(clip) - 1)]])
        height = float(np.max(lowest[first:end] - ground))
        if end - first >= _LONG_FLIGHT * clip.fps or height > _HIGH_FLIGHT * leg:
            found.append((first, end))
    return found
