"""Measures of the feet on the ground, from the clip's own kinematics, its contacts and the terrain only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .animal import contact_offsets, contact_points
from .clip import BoolArray, Clip
from .metrics_basics import MEASURE_FPS, Ground, IntArray, intervals, size
from .rotations import Array
from .skeleton import Foot, Skeleton

#: Height over rest at which a moving foot no longer counts as skating (MANN, Zhang et al. 2018), metres.
SKATE_HEIGHT = 0.025
#: Skate ratio: the toe lower than this over its rest, metres, and faster than this, m/s.
LOW_TOE = 0.05
FAST_TOE = 0.2
#: Paws of a body with its withers at `ANIMAL_HEIGHT` are lifted hardly higher than a person's toes are thick.
LOW_PAW = 0.02

#: A measure of one contact: foot, first frame, frame after the last.
_Measure = Callable[[int, int, int], float]


@dataclass(frozen=True)
class PerContact:
    """One value for each contact of a clip.

    Attributes:
        foot: column of the clip's contacts (n,).
        span: first frame and frame after the last (n, 2).
        value: what was measured (n,).
    """

    foot: IntArray
    span: IntArray
    value: Array

    def worst(self) -> tuple[float, int]:
        """The greatest value and the first frame of its contact; (NaN, 0) without contacts."""
        if len(self.value) == 0:
            return float("nan"), 0
        worst = int(np.argmax(self.value))
        return float(self.value[worst]), int(self.span[worst, 0])

    def percentile(self, q: float) -> float:
        """The ``q``-th percentile (0..100) over the contacts; NaN without contacts."""
        return float(np.percentile(self.value, q)) if len(self.value) else float("nan")


def ball_positions(clip: Clip) -> Array:
    """World position (f, feet, 3) of the ball of each foot, metres: the toe joint.

    Without a toe joint it is the point that stands over the ball's sole point at the ball's height. Of four legs it
    is that over the contact point (`animal.contact_points`) of each.
    """
    positions, rotations = clip.world
    if clip.skeleton.four_legged:
        points = contact_points(clip.skeleton, positions, rotations)
        points[..., 2] += rest_heights(clip)
        return points
    found = []
    for foot in clip.skeleton.feet:
        if foot.toe != foot.ankle:
            found.append(positions[:, foot.toe])
        else:
            sole = positions[:, foot.ankle] + rot.rotate(rotations[:, foot.ankle], foot.ball)
            found.append(sole + np.array([0.0, 0.0, foot.ball_height]))
    return np.stack(found, axis=1)


def rest_heights(clip: Clip) -> Array:
    """Height (feet,) of the ball over the ground in a flat stance, metres, from the skeleton."""
    return np.array([foot.ball_height for foot in clip.skeleton.feet])


def measured_rest_heights(clip: Clip, ground: Ground) -> Array:
    """Median height (feet,) of the ball over the ground in contact, metres.

    For capture, whose floor is known to a few centimetres only. Feet that never touch take the skeleton's.
    """
    ball = ball_positions(clip)
    height = ball[..., 2] - ground.height(ball[..., :2])
    rest = rest_heights(clip)
    for foot in range(height.shape[1]):
        touching = clip.contacts[:, foot]
        if np.any(touching):
            rest[foot] = np.median(height[touching, foot])
    return rest


def ball_speed(clip: Clip) -> Array:
    """Horizontal speed (f, feet) of the balls from the frame before, m/s; the first frame repeats the second."""
    ball = ball_positions(clip)[..., :2]
    speed = np.zeros(ball.shape[:2])
    if len(ball) > 1:
        speed[1:] = np.linalg.norm(np.diff(ball, axis=0), axis=-1) * clip.fps
        speed[0] = speed[1]
    return speed


def foot_skate(clip: Clip, ground: Ground, rest: Array | None = None) -> Array:
    """Foot skate in MANN's form (f, feet), cm per frame of 1/60 s whatever the clip's rate.

    Speed of the ball times (2 - 2^(h/H)), h its height over ``rest`` (feet,) clamped to [0, H], H = 2.5 cm; four
    legs: for withers at 0.6 m, with the size of others.
    """
    ball = ball_positions(clip)
    height = ball[..., 2] - ground.height(ball[..., :2]) - (rest_heights(clip) if rest is None else rest)
    limit = SKATE_HEIGHT * size(clip.skeleton)
    weight = 2.0 - 2.0 ** (np.clip(height, 0.0, limit) / limit)
    return ball_speed(clip) * (100.0 / MEASURE_FPS) * weight


def held_contacts(clip: Clip) -> BoolArray:
    """Contact frames (f, feet) whose frame before is one too: the foot should not have moved since."""
    held = np.array(clip.contacts)
    held[1:] &= clip.contacts[:-1]
    held[0] = False
    return held


def mean_skate(skate: Array, clip: Clip, contacts_only: bool) -> float:
    """Mean of `foot_skate` (f, feet): the mean of each foot, then of the feet, cm/frame.

    Over all frames, or over contact frames: those in contact whose frame before is in contact too, as
    a landing or lifting foot moves. NaN when no frame counts.
    """
    if not contacts_only:
        return float(np.mean(skate))
    held = held_contacts(clip)
    means = [np.mean(skate[held[:, foot], foot]) for foot in range(skate.shape[1]) if np.any(held[:, foot])]
    return float(np.mean(means)) if means else float("nan")


def low_and_fast(clip: Clip, ground: Ground, rest: Array | None = None) -> Array:
    """Frames (f, feet), 0 or 1, with the toe lower than 5 cm over rest and faster than 0.2 m/s.

    Their mean is the skate ratio; contacts do not matter to it. Four legs: lower than 2 cm, with withers at 0.6 m.
    """
    ball = ball_positions(clip)
    height = ball[..., 2] - ground.height(ball[..., :2]) - (rest_heights(clip) if rest is None else rest)
    low = (LOW_PAW if clip.skeleton.four_legged else LOW_TOE) * size(clip.skeleton)
    return ((height < low) & (ball_speed(clip) > FAST_TOE)).astype(np.float64)


def slides(clip: Clip) -> PerContact:
    """Greatest horizontal distance between any two places of the ball within each contact, metres.

    Found as the greatest extent over 64 directions, at most 0.03% short.
    """
    directions = rot.direction_of_yaw(np.arange(64) * (np.pi / 64.0))
    extent = ball_positions(clip)[..., :2] @ directions.T
    return _per_contact(clip, lambda foot, a, b: float(np.max(np.ptp(extent[a:b, foot], axis=0))))


def foot_heading(clip: Clip) -> Array:
    """Yaw (f, feet) of each foot against rest, unwrapped radians: of its left axis, seen from above.

    Pitch turns a foot about that axis, so a high heel leaves its heading alone, whereas the line from
    ankle to ball shrinks to nothing from above. Four legs: of the paws or hooves.
    """
    _, world = clip.world
    _, rest = clip.skeleton.rest_world
    found = []
    for foot in clip.skeleton.feet:
        joint = foot.toe if clip.skeleton.four_legged else foot.ankle
        left = rot.rotate(rot.mul(world[:, joint], rot.inv(rest[joint])), np.array([1.0, 0.0, 0.0]))
        found.append(np.unwrap(np.arctan2(left[:, 1], left[:, 0])))
    return np.stack(found, axis=1)


def foot_yaws(clip: Clip) -> PerContact:
    """Range of the foot's heading within each contact, radians."""
    heading = foot_heading(clip)
    return _per_contact(clip, lambda foot, a, b: float(np.ptp(heading[a:b, foot])))


def sole_heights(clip: Clip, ground: Ground) -> Array:
    """Height (f, feet, 3) of the sole over the terrain, metres: heel, ball and tip of the toes.

    Paws and hooves carry all three with their toes.
    """
    positions, rotations = clip.world
    feet = []
    for number, foot in enumerate(clip.skeleton.feet):
        ankle, toe = positions[:, foot.ankle], positions[:, foot.toe]
        if clip.skeleton.four_legged:
            sole = np.stack([_heel(clip.skeleton, foot), contact_offsets(clip.skeleton)[number], foot.tip])
            feet.append(toe[:, None] + rot.rotate(rotations[:, foot.toe, None], sole))
            continue
        feet.append(np.stack([
            ankle + rot.rotate(rotations[:, foot.ankle], foot.heel),
            ankle + rot.rotate(rotations[:, foot.ankle], foot.ball),
            toe + rot.rotate(rotations[:, foot.toe], foot.tip),
        ], axis=1))  # fmt: skip
    points = np.stack(feet, axis=1)
    return np.asarray(points[..., 2] - ground.height(points[..., :2]), dtype=np.float64)


def penetration(clip: Clip, ground: Ground) -> Array:
    """Depth (f, feet) of the deepest sole point under the terrain, metres; NaN outside contacts."""
    depth = np.maximum(-np.min(sole_heights(clip, ground), axis=-1), 0.0)
    return np.where(clip.contacts[:, : depth.shape[1]], depth, np.nan)


def floating(clip: Clip, ground: Ground) -> Array:
    """Height (f, feet) of the lowest sole point over the terrain, metres; NaN outside contacts.

    The lowest only: heel and toes rightly lift in turn while a foot rolls.
    """
    height = np.maximum(np.min(sole_heights(clip, ground), axis=-1), 0.0)
    return np.where(clip.contacts[:, : height.shape[1]], height, np.nan)


def _heel(skeleton: Skeleton, foot: Foot) -> Array:
    """The heel's point on a paw's sole in the toe joint's frame (3,), metres."""
    positions, rotations = skeleton.rest_world
    heel = positions[foot.ankle] + rot.rotate(rotations[foot.ankle], foot.heel)
    return np.asarray(rot.inv_rotate(rotations[foot.toe], heel - positions[foot.toe]))


def _per_contact(clip: Clip, measure: _Measure) -> PerContact:
    feet: list[int] = []
    spans: list[tuple[int, int]] = []
    values: list[float] = []
    for foot in range(len(clip.skeleton.feet)):
        for first, last in intervals(clip.contacts[:, foot]):
            feet.append(foot)
            spans.append((int(first), int(last)))
            values.append(measure(foot, int(first), int(last)))
    return PerContact(
        np.array(feet, dtype=np.int64), np.array(spans, dtype=np.int64).reshape(-1, 2), np.array(values, dtype=float)
    )
