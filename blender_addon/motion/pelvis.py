"""What the legs cannot reach: heels rise behind the body, the pelvis comes down, swings give way; all smoothly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .bridging import bridge, calm, minimum_jerk, soft_positive, upper_envelope
from .feet import FootMotion, FootTarget
from .filters import lowpass
from .footfalls import Footfalls
from .foothold import Foothold
from .rotations import UP, Array
from .runs import runs

#: A heel rises at most this much more than the source's, radians.
_MAX_ROLL = np.radians(30.0)
#: The heel starts to rise when the ankle is this share of the leg's length behind the hip, and does so fully at the
#: second.
_BEHIND = (0.0, 0.4)
#: The shin leans at most this far forwards over a flat foot, or as far as the source's, radians.
_MAX_LEAN = np.radians(38.0)
#: What the shin leans further the heel rises this many times, for the shin leans on with it; at most so far, radians,
#: and no further than this share of the leg: huge feet would fold it.
_EASE, _MAX_EASE, _MAX_RISE = 1.3, np.radians(55.0), 0.2
#: Window of the pelvis' drop to each side, seconds.
_DROP_WINDOW = 0.15
#: A swinging foot is drawn in fully only when it is asked much more than this too far, metres.
_SOFT = 0.005
#: Metres by which a swinging foot gives way to spare its knee one rad/s^2 of acceleration.
_GIVE = 5e-4
#: So many metres for each radian the foot gives at least, however straight the leg.
_LEAST_LEVER = 0.01
#: Radians by which a heel rises early to spare its knee one rad/s^2 of acceleration, within so many seconds of the
#: foot's leaving the ground; rises of a fraction of a degree count less.
_ROLL, _PUSH, _SMALL_ROLL = 2e-3, 0.15, np.radians(0.3)
#: A heel that rises saves its leg at least this share of the foot's length, for each radian.
_LEAST_GAIN = 0.3
#: Calming stretches no knee beyond this, radians: a straight knee has no defined plane.
_STRAIGHT = 0.06


@dataclass(frozen=True)
class SourceLeg:
    """The source's leg: hip, knee and ankle positions (f, 3), its full and its own length (f,), metres."""

    hip: Array
    knee: Array
    ankle: Array
    full: Array
    own: Array

    @classmethod
    def of(cls, positions: Array, motion: FootMotion) -> SourceLeg:
        """Read a leg from world positions (f, b, 3)."""
        foot = motion.shape.foot
        hip, knee, ankle = (positions[:, j] for j in (foot.hip, foot.knee, foot.ankle))
        full = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
        return cls(hip, knee, ankle, full, np.linalg.norm(ankle - hip, axis=1))

    def limit(self, share: float) -> Array:
        """How far the leg may be stretched (f,): to ``share`` of its length, or as far as it was."""
        return np.maximum(np.minimum(self.own, 0.999 * self.full), share * self.full)


def body_ground(
    falls: Sequence[Footfalls], holds: Sequence[Foothold], frames: int, fps: float, cutoff: float,
    made_on: Sequence[Foothold | None] | None = None,
) -> Array:  # fmt: skip
    """Height of the ground that the body walks on (f,), metres, over that it was made on, low-passed at ``cutoff`` Hz.

    In the middle of a stand the body is over the foot; between those times each foot's ground goes straight from
    one height to the next, so that it is a straight ramp on a slope walked evenly. Mean of the feet. ``made_on``: the
    ground that the source was made on, in the same places, where that was not level ground at height 0.
    """
    signals = []
    for fall, hold, own in zip(falls, holds, made_on or [None] * len(falls), strict=True):
        if not fall.stands:
            continue
        heights = hold.heights if own is None else hold.heights - own.heights
        stands = np.array(fall.stands)
        inset = np.minimum(0.5 * (stands[:, 1] - stands[:, 0]), 0.3 * fps)
        times = np.stack([stands[:, 0] + inset - 0.5, stands[:, 1] - inset - 0.5 + 1e-6], axis=1)
        signals.append(np.interp(np.arange(frames), times.ravel(), np.repeat(heights, 2)))
    if not signals:
        return np.zeros(frames)
    return lowpass(np.mean(signals, axis=0), fps, cutoff)


def ankle_of(motion: FootMotion, target: FootTarget) -> Array:
    """The ankle's position (f, 3) that a foot's target asks for."""
    return target.ball - rot.rotate(target.rotation, motion.shape.ball)


def roll_heel(
    motion: FootMotion, target: FootTarget, falls: Footfalls, leg: SourceLeg, raised: Array, fps: float
) -> FootTarget:
    """Raise the heel of a foot behind the body, about its ball, where the leg is asked to be longer than it was.

    People push off this way; without it the knee of the trailing leg snaps straight. The heel comes down again
    in the first part of the swing.

    Args:
        raised: how far the hips are moved up already (f,), metres.
    """
    hip = leg.hip + raised[:, None] * UP
    ankle = ankle_of(motion, target)
    reach = ankle - hip
    distance = np.linalg.norm(reach, axis=1)
    left = rot.rotate(target.rotation, motion.shape.left)
    ahead = np.stack([left[:, 1], -left[:, 0], np.zeros(len(left))], axis=-1)
    behind = -np.sum(reach * ahead, axis=1) / leg.full
    share = minimum_jerk((behind - _BEHIND[0]) / (_BEHIND[1] - _BEHIND[0]))
    excess = soft_positive(distance - leg.own, 0.004) - 0.5 * 0.004
    # Metres of leg that a radian of heel lift saves.
    arm = ankle - target.ball
    gain = -np.sum(np.cross(left, arm) * reach, axis=1) / np.maximum(distance, 1e-6)
    size = float(np.linalg.norm(motion.shape.ball))
    useful = minimum_jerk(gain / (0.5 * size))
    angle = share * useful * np.maximum(excess, 0.0) / np.maximum(gain, 0.4 * size)
    return _lift_heel(target, left, _MAX_ROLL * np.tanh(angle / _MAX_ROLL), falls, fps)


def ease_ankle(
    motion: FootMotion, target: FootTarget, falls: Footfalls, shin: Array, own_shin: Array, leg_length: float,
    fps: float,
) -> FootTarget:  # fmt: skip
    """Raise the heel of a standing foot over which the shin leans further than an ankle bends, as on stairs down.

    Args:
        shin: direction (f, 3) from ankle to knee that the target leads to, unit.
        own_shin: the source's (f, 3).
        leg_length: metres.
    """
    def lean(direction: Array, rotation: Array) -> Array:
        ahead, left = rot.rotate(rotation, motion.shape.ahead), rot.rotate(rotation, motion.shape.left)
        up = np.cross(ahead, left)
        return np.asarray(np.arctan2(np.sum(direction * ahead, axis=1), np.sum(direction * up, axis=1)))

    limit = np.maximum(_MAX_LEAN, lean(own_shin, motion.rotation))
    width = np.radians(6.0)
    angle = _EASE * soft_positive(lean(shin, target.rotation) - limit - width, 0.5 * width)
    left = rot.rotate(target.rotation, motion.shape.left)
    most = min(_MAX_EASE, _MAX_RISE * leg_length / max(float(np.linalg.norm(motion.shape.ball)), 1e-6))
    return _lift_heel(target, left, most * np.tanh(angle / most), falls, fps)


def pelvis_drop(
    motions: Sequence[FootMotion], targets: Sequence[FootTarget], legs: Sequence[SourceLeg], raised: Array, fps: float,
    share: float,
) -> Array:  # fmt: skip
    """How far the hips must come down (f,) so that no leg is stretched beyond its limit; smooth in time.

    Args:
        raised: how far the hips are moved up already (f,), metres.
        share: share of its full length that a leg may be stretched to, or as far as the source's was.
    """
    need = np.zeros(len(raised))
    for motion, target, leg in zip(motions, targets, legs, strict=True):
        reach = leg.hip + raised[:, None] * UP - ankle_of(motion, target)
        level = np.linalg.norm(reach[:, :2], axis=1)
        limit = leg.limit(share)
        highest = np.sqrt(np.maximum(limit**2 - level**2, (0.3 * leg.full) ** 2))
        need = np.maximum(need, reach[:, 2] - highest)
    return upper_envelope(need, fps, _DROP_WINDOW)


def draw_in_swing(motion: FootMotion, target: FootTarget, leg: SourceLeg, raised: Array, share: float) -> FootTarget:
    """Draw a swinging foot towards the hip where even the lowered pelvis lets the leg not reach that far."""
    reach = ankle_of(motion, target) - leg.hip - raised[:, None] * UP
    distance = np.linalg.norm(reach, axis=1)
    beyond = np.maximum(distance - leg.limit(share), 0.0)
    # Zero and smooth where it begins; a standing foot needs none.
    pull = np.where(target.contact, 0.0, beyond * beyond / (beyond + _SOFT))
    return replace(target, ball=target.ball - (pull / np.maximum(distance, 1e-6))[:, None] * reach)


@dataclass(frozen=True)
class _Knee:
    """The knee that a foot's target leads to, over time.

    Attributes:
        reach: from hip to ankle (f, 3), metres.
        distance: its length (f,).
        upper, lower: lengths of thigh and shin (f,), metres.
    """

    reach: Array
    distance: Array
    upper: Array
    lower: Array

    @classmethod
    def of(cls, motion: FootMotion, target: FootTarget, leg: SourceLeg, raised: Array) -> _Knee:
        """With the hips moved up by ``raised`` (f,), metres."""
        reach = ankle_of(motion, target) - leg.hip - raised[:, None] * UP
        upper = np.linalg.norm(leg.knee - leg.hip, axis=1)
        return cls(reach, np.linalg.norm(reach, axis=1), upper, leg.full - upper)

    def bend(self, length: Array) -> Array:
        """Flexion (f,), radians, of a leg that is stretched to a length (f,)."""
        cosine = (length**2 - self.upper**2 - self.lower**2) / (2.0 * self.upper * self.lower)
        return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))

    @property
    def lever(self) -> Array:
        """Metres that a leg shortens (f,) for each radian that it bends."""
        sine = np.sin(self.bend(self.distance))
        return np.asarray(self.upper * self.lower * sine / np.maximum(self.distance, 1e-6))

    @property
    def give(self) -> Array:
        """Price (f,), for `calm`, of a bend by the foot's giving way along the leg."""
        return np.asarray((self.lever**2 + _LEAST_LEVER**2) / _GIVE**2)


def push_off(
    motion: FootMotion, target: FootTarget, falls: Footfalls, leg: SourceLeg, raised: Array, fps: float
) -> FootTarget:
    """Let a heel rise early, about its ball, where the knee would jerk as the foot leaves the ground.

    A leg that is stretched over a locked foot until its last frame, as up a stair, snaps from stretching to bending:
    people bend it while they push off. The heel comes down again in the first part of the swing.

    Args:
        raised: how far the hips are moved up (f,), metres.
    """
    knee = _Knee.of(motion, target, leg, raised)
    left = rot.rotate(target.rotation, motion.shape.left)
    arm = knee.reach + leg.hip + raised[:, None] * UP - target.ball
    gain = -np.sum(np.cross(left, arm) * knee.reach, axis=1) / np.maximum(knee.distance, 1e-6)
    gain = np.maximum(gain, _LEAST_GAIN * float(np.linalg.norm(motion.shape.ball)))
    by_heel = (np.maximum(knee.lever, _LEAST_LEVER) / gain / _ROLL) ** 2
    ends = [*(first for first, _ in falls.stands[1:]), len(raised)]
    gaps = [
        (max(first + (last - first) // 3, last - round(_PUSH * fps)), end)
        for (first, last), end in zip(falls.stands, ends, strict=False) if last < len(raised)
    ]  # fmt: skip
    price = np.where(target.contact, by_heel, knee.give)
    change = calm(knee.bend(knee.distance), knee.bend(leg.own), price, gaps, fps)
    asked = np.where(target.contact, knee.lever * change / gain, 0.0)
    angle = np.maximum(soft_positive(asked, _SMALL_ROLL) - 0.5 * _SMALL_ROLL, 0.0)
    return _lift_heel(target, left, _MAX_ROLL * np.tanh(angle / _MAX_ROLL), falls, fps)


def calm_knee(motion: FootMotion, target: FootTarget, leg: SourceLeg, raised: Array, fps: float) -> FootTarget:
    """Let a swinging foot give way along its leg where its knee would jerk.

    Near full stretch a few millimetres of the foot's way are many degrees of the knee: a leg that reaches down a
    slope or a stair snaps straight and bends again within a few frames. The knee is made no more accelerated than
    the source's as far as the foot's way allows; standing feet stay where they are.

    Args:
        raised: how far the hips are moved up (f,), metres.
    """
    knee = _Knee.of(motion, target, leg, raised)
    asked = knee.bend(knee.distance)
    change = calm(asked, knee.bend(leg.own), knee.give, runs(~target.contact), fps)
    calmed = np.maximum(asked + change, np.minimum(asked, _STRAIGHT))
    length = np.sqrt(knee.upper**2 + knee.lower**2 + 2.0 * knee.upper * knee.lower * np.cos(calmed))
    pull = np.where(change != 0.0, knee.distance - length, 0.0)
    return replace(target, ball=target.ball - (pull / np.maximum(knee.distance, 1e-6))[:, None] * knee.reach)


def _lift_heel(target: FootTarget, left: Array, angle: Array, falls: Footfalls, fps: float) -> FootTarget:
    """Raise a standing foot's heel about its ball by an angle (f,), and lower it in the first part of the swing."""
    timing = [(0.0, 0.7)] * max(len(falls.stands) - 1, 0)
    angle = bridge(angle[:, None], falls.stands, fps, timing=timing)[:, 0]
    return replace(target, rotation=rot.mul(rot.exp(left * angle[:, None]), target.rotation))
