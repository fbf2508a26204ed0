"""Legs on the ground in a rest: where feet must stand for hocks or elbows to lie, and joints between trunk and feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import rotations as rot
from ...rotations import Array
from ..body import Body
from .body_pose import Frames
from .bones import GIVES_FOLDED, between_two, folded, swung, turned, unit

#: Height of hocks and elbows, and of the joints below them, when they lie on the ground, in shoulder heights.
_LYING, _LYING_LOW = 0.055, 0.045

#: A foot in the air is held back from this share of its leg's length on, and comes no further than the second.
_HELD_FROM, _HELD_AT = 0.86, 0.985
#: Stifles are no lower than this, in shoulder heights: shins lie on the feet.
_KNEE = 0.10


@dataclass(frozen=True, eq=False)
class LegMeasures:
    """One leg's measures.

    Attributes:
        joints: top, middle, ankle and those below, without the end.
        upper, lower: length of its two great bones, metres.
        below: lengths of the bones from the ankle to the end.
        end: height of the end over the ground in standing, metres.
    """

    joints: tuple[int, ...]
    upper: float
    lower: float
    below: tuple[float, ...]
    end: float

    @property
    def reach(self) -> tuple[float, float]:
        """How near to the top the ankle may come and how far from it, metres."""
        return folded((self.upper, self.lower), GIVES_FOLDED), 0.98 * (self.upper + self.lower)

    @classmethod
    def of(cls, body: Body, leg: int) -> LegMeasures:
        """Measure a leg. A fore leg of two bones ends where its wrist would be."""
        limb = body.limbs[leg]
        points = limb.points(body.positions[None], body.rotations[None])[0]
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1).tolist()
        return cls(limb.joints, lengths[0], lengths[1], tuple(lengths[2:]), float(points[-1, 2]))

    def points(self, body: Body, leg: int, frames: Frames) -> Array:
        """Joints and end (f, n + 1, 3)."""
        return body.limbs[leg].points(frames.positions, rot.mul(frames.turns, body.rotations))


@dataclass(frozen=True, eq=False)
class Lying:
    """How one leg lies: place of its end (2,), yaw of the foot, directions (n, 3) of the bones below the ankle, and
    the normal (3,) of the plane of its two great bones."""

    place: Array
    yaw: float
    below: Array
    normal: Array


def lying(
    body: Body, leg: int, top: Array, *, yaw: float, fold: float, lean: float, splay: float, knee: float = 1.0
) -> Lying:
    """How a leg lies under (or beside) its top.

    Args:
        body: the skeleton. leg: which.
        top: of the leg (3,), metres.
        yaw: of the foot, to the left, radians.
        fold: angle in the middle joint, radians; 0: the ankle is where the upper bone, sloping by ``lean``, and the
            lower one on the ground bring it.
        lean: see ``fold``.
        splay: how far the plane of the great bones is yawed outwards, radians, to the left.
        knee: the stifle is no higher than this, in shoulder heights: the plane tips outwards until it is.
    """
    own = LegMeasures.of(body, leg)
    low = _LYING * body.height
    heights = _heights(own, _LYING_LOW * body.height)
    forward = np.array([np.sin(yaw), -np.cos(yaw), 0.0])
    below = [_sloped(forward, a - b, length) for a, b, length in zip(heights[:-1], heights[1:], own.below, strict=True)]
    if fold > 0.0:
        distance = folded((own.upper, own.lower), fold)
        aside = float(np.sqrt(max(distance**2 - (top[2] - heights[0]) ** 2, 0.0)))
        ankle = top[:2] - aside * np.array([np.sin(splay), -np.cos(splay)])
    else:
        elbow = top[:2] - own.upper * np.cos(lean) * np.array([np.sin(splay), -np.cos(splay)])
        level = _sloped(forward, low - heights[0], own.lower)
        ankle = elbow + own.lower * level[:2]
    place = ankle + sum((length * part[:2] for length, part in zip(own.below, below, strict=True)), np.zeros(2))
    across = np.array([np.cos(splay), np.sin(splay), 0.0])
    if fold > 0.0:
        bounds = (_KNEE * body.height, knee * body.height)
        across = _tipped(own, leg, top, np.array([*ankle, heights[0]]), across, bounds)
    return Lying(place, yaw, np.array(below).reshape(-1, 3), across)


def hip_height(body: Body, leg: int, fold: float, lean: float) -> float:
    """How high a hind leg's top is over the ground when it lies folded, metres."""
    own = LegMeasures.of(body, leg)
    return float(_heights(own, _LYING_LOW * body.height)[0] + folded((own.upper, own.lower), fold) * np.sin(lean))


def shoulder_height(body: Body, leg: int, slope: float) -> float:
    """How high a fore leg's top is when its elbow lies and the upper arm slopes so (radians), metres."""
    return float(_LYING * body.height + LegMeasures.of(body, leg).upper * np.sin(slope))


def put(
    body: Body, leg: int, posed: Frames, before: Frames, end: Array, below: Array, normal: Array, share: Array,
    air: Array,
) -> dict[int, Array]:  # fmt: skip
    """Turns of a leg's joints that bring its end to ``end`` (f, 3).

    Args:
        body: the skeleton. leg: which.
        posed: the body in its pose, the leg going with the trunk.
        before: the body in standing, from which the leg's bones keep their twist.
        end: (f, 3), metres.
        below: directions (f, n, 3) of the bones below the ankle.
        normal: of the plane of the two great bones (f, 3).
        share: how much of the normal is that of lying (f,): what remains is that of standing.
        air: how far from lift-off and touchdown the foot is (f,): there it is held back softly from being stretched.
    """
    own = LegMeasures.of(body, leg)
    was = own.points(body, leg, before)
    ankle = end - sum((length * below[:, at] for at, length in enumerate(own.below)), np.zeros(3))
    top = posed.positions[:, own.joints[0]]
    line = ankle - top
    wished = np.maximum(np.linalg.norm(line, axis=1), 1e-9)
    begin, room = (np.multiply(share, own.upper + own.lower) for share in (_HELD_FROM, _HELD_AT - _HELD_FROM))
    held = np.where(wished > begin, begin + room * np.tanh((wished - begin) / room), wished)
    ankle = top + (1.0 + air * (held / wished - 1.0))[:, None] * line
    sign = -1.0 if leg < 2 else 1.0
    plane = sign * unit(np.cross(was[:, 2] - was[:, 0], was[:, 1] - was[:, 0]))
    side = swung(plane, normal, share)
    stretch = np.linalg.norm(was[:, 2] - was[:, 0], axis=1)
    middle, reached = between_two(top, ankle, (own.upper, own.lower), sign * side, stretch)
    turns = {}
    new = [middle - top, reached - middle, *(below[:, at] for at in range(len(own.below)))]
    for at, joint in enumerate(own.joints):
        old = was[:, at + 1] - was[:, at]
        turns[joint] = turned(before.turns[:, joint], old, plane, new[at], side)
    return turns


def _tipped(own: LegMeasures, leg: int, top: Array, ankle: Array, across: Array, bounds: tuple[float, float]) -> Array:
    """The normal (3,) of a hind leg's plane, tipped outwards about the line to the ankle until the stifle is low."""
    line = unit(ankle - top)
    outwards = -1.0 if leg == 0 else 1.0
    best, least = across, np.inf
    for angle in np.radians(np.arange(0.0, 76.0, 2.0)):
        normal = rot.rotate(rot.from_axis_angle(line, outwards * angle), across)
        knee = between_two(top[None], ankle[None], (own.upper, own.lower), -normal[None])[0][0]
        out = max(bounds[0] - float(knee[2]), 0.0) * 3.0 + max(float(knee[2]) - bounds[1], 0.0)
        if out < least - 1e-4:
            best, least = normal, out
    return best


def _heights(own: LegMeasures, low: float) -> list[float]:
    """Heights of the ankle and the joints below it when the foot lies flat, down to the end's."""
    count = len(own.below)
    return [own.end + (low - own.end) * (count - at) / max(count, 1) for at in range(count + 1)] if count else [own.end]


def _sloped(forward: Array, drop: float, length: float) -> Array:
    """The direction of a bone that goes forwards and comes lower by ``drop``."""
    slope = np.arcsin(np.clip(drop / length, -0.95, 0.95))
    return np.asarray(forward * np.cos(slope) - np.array([0.0, 0.0, np.sin(slope)]))
