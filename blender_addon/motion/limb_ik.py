"""Inverse kinematics for legs of any number of segments: one flexion for the whole leg, then a swing to its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .rotations import Array

#: A leg gives way softly beyond this share of its greatest reach, or beyond where the source's was.
SOFT_REACH = 0.985
#: Part of a fore leg's swing that the shoulder blade takes.
SCAPULA_SHARE = 0.35
#: Part of that share for swings other than forwards and back, and the blade's greatest turn, radians.
_ASIDE, _MOST_SCAPULA = 0.3, np.radians(28.0)
#: Rounds in which the blade gives way to a leg that cannot reach.
_RELIEF = 3
#: Bends nearer to straight than this (radians) are eased away from it: a joint never bends to its other side.
_NEAR_STRAIGHT = np.radians(2.0)
#: Joints that are bent back further than they should may go back this much more, radians.
_BACK = np.radians(8.0)
#: No joint is folded further than this, radians; it comes near to it softly, over the second, and the others go on.
_FOLDED, _SOFT_FOLD = np.radians(150.0), np.radians(18.0)
#: Flexions that are tried for the one at which a leg is shortest.
_TRIED = 9
#: How far the flexion goes towards straight: bends are then e^-7 of what they were.
_STRETCHED = -7.0
#: Share of a leg's length to which its reach is solved, and rounds of Newton's method (halving where it overshoots).
_TOLERANCE, _ROUNDS = 1e-10, 60


@dataclass(frozen=True, eq=False)
class Hinges:
    """How a leg's inner joints bend.

    Attributes:
        axes: unit axes (f, n - 1, 3), world: turning what hangs on the joint by a positive angle flexes it.
        straight: the least bend (n - 1,), radians, that stretching comes near to: 0 or more for joints that never
            bend to their other side, negative for those that hang back when they stand, as wrists and paws do; what
            the source bends these further back is kept.
        share: each joint's share (n - 1,) of a fold, radians per unit; the bends at rest.
    """

    axes: Array
    straight: Array
    share: Array


@dataclass(frozen=True, eq=False)
class LimbTurn:
    """How a leg must turn, as world rotations to apply on the left of the source's.

    Attributes:
        segments: for each joint of the leg and what hangs on it down to the next (f, n, 4).
        scapula: for the shoulder blade (f, 4); the identity without one.
        shortfall: how far the end stays from its target (f,), metres; 0 when it is in reach.
        end: where the leg's end comes to (f, 3), metres.
    """

    segments: Array
    scapula: Array
    shortfall: Array
    end: Array


def solve_chain(
    points: Array,
    target: Array,
    hinges: Hinges,
    *,
    twist: Array | float = 0.0,
    scapula: Array | None = None,
    protraction: Array | None = None,
    share: float = SCAPULA_SHARE,
) -> LimbTurn:
    """Turn a leg's segments so that its end comes to ``target``; smooth in time where points and target are.

    All inner joints bend by one common flexion, as the tendons of real legs couple stifle and hock: stretched, their
    bends shrink towards straight, each in proportion; folded, they grow, each by its share. Then the leg swings to
    its target by the shortest arc. What the source bends sideways stays as it is.

    Args:
        points: source positions of the joints from the top to the end (f, n + 1, 3), metres, n >= 2.
        target: wished position of the end (f, 3).
        hinges: how the n - 1 inner joints bend.
        twist: extra turn (f,) of the leg about the line from its top to the target, radians.
        scapula: positions of the shoulder blade's top (f, 3); it takes ``share`` of the swing and so moves the
            leg's top.
        protraction: unit axis (f, 3) or (3,) about which the blade swings forwards and back; about others it takes
            less.
        share: see ``scapula``, 0 to 1.
    """
    points, target = np.asarray(points, dtype=np.float64), np.asarray(target, dtype=np.float64)
    # Components first: every step of the solver then runs over whole rows.
    parts = np.ascontiguousarray(np.moveaxis(np.diff(points, axis=1), 0, -1))
    axes = hinges.axes
    flexion = _Flexion.of(parts, np.ascontiguousarray(np.moveaxis(axes, 0, -1)), hinges)
    nearest, farthest = flexion.distance(flexion.most)[0], flexion.distance(np.full(len(points), _STRETCHED))[0]
    own = np.linalg.norm(points[:, -1] - points[:, 0], axis=1)
    soft = np.maximum(SOFT_REACH * farthest, np.minimum(own, 0.9995 * farthest))
    blade = np.broadcast_to(rot.IDENTITY, (len(points), 4))
    if scapula is not None and share > 0.0:
        # The leg turns with the blade as one piece: its reach stays.
        blade = _scapula_turn(points, scapula, target, share, protraction, soft)
        points = scapula[:, None] + rot.rotate(blade[:, None], points - scapula[:, None])
        axes = rot.rotate(blade[:, None], axes)
    line = target - points[:, 0]
    wished = np.linalg.norm(line, axis=1)
    distance = np.maximum(_within(wished, soft, farthest), np.minimum(nearest, farthest))
    bent = flexion.solve(distance)
    turns = _accumulated(axes, (flexion.bend(bent)[0] - flexion.measured).T)
    end = np.sum(rot.rotate(turns, np.diff(points, axis=1)), axis=1)
    direction = line / np.maximum(wished, 1e-9)[:, None]
    swing = rot.between(end / np.maximum(np.linalg.norm(end, axis=1, keepdims=True), 1e-9), direction)
    if np.any(np.asarray(twist) != 0.0):
        swing = rot.mul(rot.from_axis_angle(direction, twist), swing)
    return LimbTurn(
        segments=rot.mul(rot.mul(swing[:, None], turns), blade[:, None]), scapula=np.array(blade),
        shortfall=np.abs(wished - distance), end=points[:, 0] + rot.rotate(swing, end),
    )  # fmt: skip


def greatest_reach(points: Array, hinges: Hinges) -> Array:
    """The distance (f,) from top to end to which a leg stretches at most, metres; arguments as of `solve_chain`."""
    parts = np.moveaxis(np.diff(points, axis=1), 0, -1)
    flexion = _Flexion.of(parts, np.moveaxis(hinges.axes, 0, -1), hinges)
    return flexion.distance(np.full(len(points), _STRETCHED))[0]


def carried_top(
    points: Array, target: Array, scapula: Array, protraction: Array | None = None, share: float = SCAPULA_SHARE
) -> Array:
    """Where a swing's share carries the leg's top (f, 3), had the leg no end; arguments as of `solve_chain`."""
    blade = _scapula_turn(points, scapula, target, share, protraction, np.full(len(points), np.inf))
    return np.asarray(scapula + rot.rotate(blade, points[:, 0] - scapula))


def levers(points: Array, hinges: Hinges, joints: int) -> tuple[Array, Array]:
    """Mean bend (f,), radians, of the first ``joints`` inner joints of a leg, and metres that it shortens for a radian.

    As the leg's common flexion changes it; points and hinges as of `solve_chain`.
    """
    flexion = _Flexion.of(np.moveaxis(np.diff(points, axis=1), 0, -1), np.moveaxis(hinges.axes, 0, -1), hinges)
    level = np.zeros(len(points))
    slope = np.mean(flexion.bend(level)[1][:joints], axis=0)
    return np.mean(flexion.measured[:joints], axis=0), -flexion.distance(level)[1] / np.maximum(slope, 1e-9)


def bends(points: Array, axes: Array) -> Array:
    """Signed bends (f, n - 1) of a leg's inner joints about their hinges, radians; positive is flexed.

    Args:
        points: joints from the top to the end (f, n + 1, 3), metres.
        axes: unit hinges (f, n - 1, 3), world.
    """
    parts = np.moveaxis(np.diff(points, axis=1), 0, -1)
    return _signed(parts, np.moveaxis(np.broadcast_to(axes, (len(points), *axes.shape[-2:])), 0, -1)).T


@dataclass(frozen=True, eq=False)
class _Flexion:
    """A leg's reach as a function of its common flexion u: 0 is the source, below is stretched, above folded.

    Each bend is ``straight + share * log(1 + exp(x + u))``: far from straight it grows by its share, near to it
    it shrinks in proportion, and there is no kink in between. ``room`` (n - 1, f) is what it grows to at most.
    """

    parts: Array
    axes: Array
    measured: Array
    straight: Array
    share: Array
    room: Array
    start: Array

    @classmethod
    def of(cls, parts: Array, axes: Array, hinges: Hinges) -> _Flexion:
        """From segments (n, 3, f) and hinges (n - 1, 3, f)."""
        measured = _signed(parts, axes)
        straight, share = hinges.straight[:, None], hinges.share[:, None]
        straight = np.where(straight < 0.0, _lesser(straight, measured - _BACK), straight)
        over = measured - straight
        eased = np.where(
            over > _NEAR_STRAIGHT, over, _NEAR_STRAIGHT * np.exp(np.minimum(over / _NEAR_STRAIGHT, 1.0) - 1.0)
        )
        room = np.maximum(_FOLDED - straight, eased + _SOFT_FOLD)
        free = -_SOFT_FOLD * _log_less(-eased / _SOFT_FOLD, -room / _SOFT_FOLD)
        return cls(parts, axes, measured, straight, share, room, _log_expm1(free / share))

    @property
    def most(self) -> Array:
        """The flexion (f,), at least 0, at which the two leading joints are folded as far as may be, or the leg is
        shortest: folded further some legs grow longer again.
        """
        folded = _log_expm1((self.room - 0.5 * _SOFT_FOLD) / self.share) - self.start
        share = np.linspace(0.0, 1.0, _TRIED)[:, None] * np.maximum(np.max(folded[:2], axis=0), 0.0)
        return np.take_along_axis(share, np.argmin([self.distance(u)[0] for u in share], axis=0)[None], axis=0)[0]

    def bend(self, u: Array) -> tuple[Array, Array]:
        """Bends (n - 1, f) at a flexion (f,), and their slopes."""
        x = self.start + u
        free = self.share * np.logaddexp(0.0, x)
        # The lesser of what it would be and the room, the corner rounded.
        held = 1.0 / (1.0 + np.exp((free - self.room) / _SOFT_FOLD))
        least = -_SOFT_FOLD * np.logaddexp(-free / _SOFT_FOLD, -self.room / _SOFT_FOLD)
        return self.straight + least, held * self.share / (1.0 + np.exp(-x))

    def distance(self, u: Array) -> tuple[Array, Array]:
        """The leg's reach (f,) at a flexion (f,), metres, and its slope."""
        bend, slope = self.bend(u)
        turn = bend - self.measured
        cosine, sine = np.cos(turn), np.sin(turn)
        tail, change = np.zeros_like(self.parts[0]), np.zeros_like(self.parts[0])
        for joint in range(len(self.axes) - 1, -1, -1):
            axis = self.axes[joint]
            tail = _about(axis, cosine[joint], sine[joint], self.parts[joint + 1] + tail)
            change = _about(axis, cosine[joint], sine[joint], change) + slope[joint] * _cross(axis, tail)
        line = self.parts[0] + tail
        reach = np.sqrt(np.einsum("cf,cf->f", line, line))
        return reach, np.einsum("cf,cf->f", line, change) / np.maximum(reach, 1e-12)

    def solve(self, wished: Array) -> Array:
        """The flexion (f,) at which the reach is ``wished`` (f,): Newton's method, kept inside a bracket."""
        low, high = np.full(len(wished), _STRETCHED), np.maximum(self.most, 1e-6)
        tolerance = _TOLERANCE * np.sum(np.linalg.norm(self.parts, axis=1), axis=0)
        u = np.zeros(len(wished))
        for _ in range(_ROUNDS):
            reach, slope = self.distance(u)
            error = reach - wished
            done = (np.abs(error) < tolerance) | (high - low < 1e-13)
            if np.all(done):
                break
            low, high = np.where(error > 0.0, u, low), np.where(error > 0.0, high, u)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = u - error / slope
            u = np.where(done, u, np.where((step > low) & (step < high), step, 0.5 * (low + high)))
        return u


def _within(wished: Array, soft: Array, farthest: Array) -> Array:
    """A distance (f,) that is the wished one up to ``soft``, and comes near to ``farthest`` beyond."""
    room = np.maximum(farthest - soft, 1e-9)
    beyond = np.maximum(wished - soft, 0.0)
    return np.asarray(np.where(beyond > 0.0, soft - room * np.expm1(-beyond / room), wished))


def _scapula_turn(
    points: Array, top: Array, target: Array, share: float, protraction: Array | None, limit: Array
) -> Array:
    """The blade's part of the swing (f, 4) from the leg's own line to the one to its target.

    Where that would carry the shoulder further from the target than ``limit`` (f,), the leg's reach, the blade gives
    way.
    """
    own, line = points[:, -1] - points[:, 0], target - points[:, 0]
    swing = rot.log(rot.between(*(v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9) for v in (own, line))))
    if protraction is not None:
        along = np.sum(swing * protraction, axis=1, keepdims=True) * protraction
        swing = along + _ASIDE * (swing - along)
    angle = share * swing
    arm = points[:, 0] - top
    size = np.linalg.norm(arm, axis=1)
    for _ in range(_RELIEF if np.all(np.isfinite(limit)) else 0):
        turned = rot.rotate(rot.exp(_capped(angle)), arm)
        line = target - top - turned
        far = np.linalg.norm(line, axis=1)
        beyond = np.maximum(far - limit, 0.0)
        # How much a turn brings the shoulder nearer to the target: metres a radian about each axis.
        gain = np.cross(turned, line) / np.maximum(far, 1e-9)[:, None]
        if protraction is not None:
            gain = np.sum(gain * protraction, axis=1, keepdims=True) * protraction
        least = (0.2 * size) ** 2
        # Zero and smooth where it begins.
        asked = beyond * beyond / (beyond + 0.01 * limit)
        angle = angle + (asked / (np.sum(gain * gain, axis=1) + least))[:, None] * gain
    return rot.exp(_capped(angle))


def _capped(angle: Array) -> Array:
    """Rotation vectors (f, 3) of the blade, no longer than it may turn."""
    size = np.linalg.norm(angle, axis=1, keepdims=True)
    # tanh(x) / x is even and smooth, so that nothing happens at 0.
    x = size / _MOST_SCAPULA
    return np.asarray(angle * np.where(x > 1e-6, np.tanh(x) / np.maximum(x, 1e-6), 1.0))


def _accumulated(axes: Array, turns: Array) -> Array:
    """World turns (f, n, 4) of all segments from the turns (f, n - 1) about each hinge; the first stays."""
    single = rot.from_axis_angle(axes, turns)
    found = [np.broadcast_to(rot.IDENTITY, (len(axes), 4))]
    for joint in range(axes.shape[1]):
        found.append(rot.mul(found[-1], single[:, joint]))
    return np.stack(found, axis=1)


def _signed(parts: Array, axes: Array) -> Array:
    """Bends (n - 1, f) of segments (n, 3, f) about their hinges (n - 1, 3, f)."""
    before, after = parts[:-1], parts[1:]
    flat = [v - np.einsum("jcf,jcf->jf", v, axes)[:, None] * axes for v in (before, after)]
    across = np.stack([_cross(a, b) for a, b in zip(flat[0], flat[1], strict=True)])
    return np.asarray(np.arctan2(np.einsum("jcf,jcf->jf", across, axes), np.einsum("jcf,jcf->jf", *flat)))


def _about(axis: Array, cosine: Array, sine: Array, v: Array) -> Array:
    """Vectors (3, f) turned about unit axes (3, f): Rodrigues' formula."""
    return np.asarray(cosine * v + sine * _cross(axis, v) + (1.0 - cosine) * np.einsum("cf,cf->f", axis, v) * axis)


def _cross(a: Array, b: Array) -> Array:
    """Cross products of (3, f)."""
    out = np.empty_like(b)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def _lesser(a: Array, b: Array) -> Array:
    """The lesser of two angles, the corner rounded."""
    return np.asarray(0.5 * (a + b - np.sqrt((a - b) ** 2 + _NEAR_STRAIGHT**2)))


def _log_expm1(y: Array) -> Array:
    """log(exp(y) - 1) for y > 0, the inverse of log(1 + exp(x))."""
    return np.asarray(y + np.log(-np.expm1(-y)))


def _log_less(a: Array, b: Array) -> Array:
    """log(exp(a) - exp(b)) for a > b."""
    return np.asarray(a + np.log(-np.expm1(b - a)))
