"""How a four-legged body rides over uneven ground: each girdle over its feet, the head held level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .animal import contact_points, girdles
from .clip import Clip
from .filters import lowpass
from .footfalls import Footfalls
from .foothold import Foothold
from .pelvis import body_ground
from .rotations import UP, Array
from .skeleton import Skeleton
from .turning import NECK, TAIL

#: Part of the ground's tilt from side to side that the trunk takes, and how far it rolls at most, radians. Animals
#: keep upright across a slope: the legs uphill bend.
_ROLL, _MOST_ROLL = 0.3, np.radians(7.0)
#: The trunk rolls below this share of the frequency at which it follows the ground.
_ROLL_CUTOFF = 0.5
#: Part of the trunk's tilt that neck and head do not follow.
_HEAD_LEVEL = 0.7
#: The same for tails: they would drag over the steps behind.
_TAIL_LEVEL = 0.5
#: A trunk pitches no further than this, radians.
_STEEPEST = np.radians(50.0)
#: Part of the ground's rise ahead by which legs lean back from the upright, and how far at most, radians: upright, a
#: leg would have to stretch behind the body uphill by as much as it folds ahead of it.
_LEAN, _MOST_LEAN = 0.8, np.radians(13.0)


@dataclass(frozen=True, eq=False)
class Ride:
    """How a body is carried.

    Attributes:
        hind, fore: rise of the middle of the hip joints and of the shoulder joints (f,), metres.
        roll: tilt of the trunk to its right (f,), radians: left side up.
    """

    hind: Array
    fore: Array
    roll: Array

    @classmethod
    def over(cls, clip: Clip, falls: Sequence[Footfalls], holds: Sequence[Foothold], cutoff: float) -> Ride:
        """Over the ground at the feet's footholds, low-passed at ``cutoff`` Hz; feet in the order of `animal.LEGS`."""
        frames, fps = len(clip), clip.fps
        hind, fore = (body_ground(falls[k : k + 2], holds[k : k + 2], frames, fps, cutoff) for k in (0, 2))
        width = _track(clip.skeleton)
        tilt = np.zeros(frames)
        for k in (0, 2):
            if falls[k].stands and falls[k + 1].stands:
                left, right = (
                    body_ground(falls[n : n + 1], holds[n : n + 1], frames, fps, _ROLL_CUTOFF * cutoff)
                    for n in (k, k + 1)
                )
                tilt += 0.5 * np.arctan2(left - right, width)
        roll = _MOST_ROLL * np.tanh(_ROLL * tilt / _MOST_ROLL)
        return cls(hind, fore, lowpass(roll, fps, cutoff))

    def lowered(self, hind: Array, fore: Array) -> Ride:
        """The same, each girdle so much lower (f,), metres."""
        return replace(self, hind=self.hind - hind, fore=self.fore - fore)


def carried(clip: Clip, ride: Ride) -> Clip:
    """The clip with its body raised, pitched and rolled as a ride says; feet go along, necks keep level.

    The girdles stay over their way: it is the feet that go further ahead uphill (`ahead_uphill`).
    """
    skeleton = clip.skeleton
    hind, fore = girdles(skeleton, clip.world[0])
    line = fore - hind
    length = np.linalg.norm(line, axis=1)
    level = line * np.array([1.0, 1.0, 0.0])
    ahead = level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 1e-9)
    left = np.cross(UP, ahead)
    highest = np.sin(_STEEPEST)
    pitch = np.arcsin(np.clip((line[:, 2] + ride.fore - ride.hind) / length, -highest, highest)) - np.arcsin(
        np.clip(line[:, 2] / length, -highest, highest)
    )
    turn = rot.mul(rot.from_axis_angle(left, -pitch), rot.from_axis_angle(ahead, ride.roll))
    middle = 0.5 * (hind + fore)
    raised = middle + 0.5 * (ride.hind + ride.fore)[:, None] * UP
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.mul(turn, rotations[:, 0])
    neck = [skeleton.index(role) for role in (*NECK, "head") if skeleton.has(role)]
    tail = [skeleton.index(role) for role in TAIL if skeleton.has(role)]
    _level(skeleton, rotations, clip.world[1], turn, sorted(neck), _HEAD_LEVEL)
    _level(skeleton, rotations, clip.world[1], turn, sorted(tail), _TAIL_LEVEL)
    return replace(clip, hips=raised + rot.rotate(turn, clip.hips - middle), rotations=rotations)


def ahead_uphill(clip: Clip, ride: Ride, cutoff: float) -> Array:
    """How much further ahead (f, 2) the feet stand where the ground rises under the body, metres; behind downhill.

    Legs then lean into the slope, most of the way to standing square to the ground. Low-passed at ``cutoff`` Hz.
    """
    hind, fore = girdles(clip.skeleton, clip.world[0])
    line = (fore - hind)[:, :2]
    length = np.linalg.norm(line, axis=1)
    lean = _MOST_LEAN * np.tanh(_LEAN * np.arctan2(ride.fore - ride.hind, length) / _MOST_LEAN)
    shift = clip.skeleton.leg_length * lowpass(np.tan(lean), clip.fps, cutoff)
    return np.asarray((shift / np.maximum(length, 1e-9))[:, None] * line)


def _level(
    skeleton: Skeleton, rotations: Array, world: Array, turn: Array, joints: Sequence[int], share: float
) -> None:
    """Turn a chain's joints back (f, b, 4), in place, each by its part, so that its end keeps ``share`` of its tilt."""
    back = -share * rot.log(turn)
    before = np.broadcast_to(rot.IDENTITY, turn.shape)
    for number, joint in enumerate(joints, start=1):
        own = rot.exp(back * (number / len(joints)))
        above = rot.mul(before, rot.mul(turn, world[:, skeleton.parents[joint]]))
        rotations[:, joint] = rot.inv_mul(above, rot.mul(own, rot.mul(turn, world[:, joint])))
        before = own


def _track(skeleton: Skeleton) -> float:
    """Distance between left and right feet at rest, metres."""
    points = contact_points(skeleton, *skeleton.rest_world)
    return float(np.mean(np.linalg.norm(points[[0, 2], :2] - points[[1, 3], :2], axis=1)))
