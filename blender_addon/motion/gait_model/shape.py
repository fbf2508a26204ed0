"""The way an animator's own cycle moves, taken apart so that the gait model can move by it at any speed on any way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rotations as rot
from ..animal import contact_points, girdles
from ..clip import Clip
from ..errors import ClipError
from ..gait_analysis.cycles import check_cycle, in_place
from ..gait_names import GAITS
from ..rotations import Array
from .body import Body
from .timing import Timing

#: Channels of the girdles, as `trunk.Girdles`; those of the second line change sign where left and right are swapped.
CHANNELS: tuple[str, ...] = (
    "rise_hind", "rise_fore", "flex",
    "roll_hind", "roll_fore", "yaw_hind", "yaw_fore", "aside",
)  # fmt: skip
_SIDED = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0])
#: Reflected at the middle plane, a rotation vector keeps its part across the body and loses the sign of the others.
_MIRROR = np.array([1.0, -1.0, -1.0])
#: Harmonics kept of the trunk's motion and of the legs'; samples of a stride from which they are found.
_HARMONICS, _SAMPLES = 5, 64
#: Bounds of what is read from a cycle: lift in shoulder heights, fold of the paws in radians, width of the track.
_LIFT, _FOLD, _WIDTH = (0.02, 0.5), (0.0, np.radians(110.0)), (0.2, 1.5)


@dataclass(frozen=True, eq=False)
class PoseShape:
    """An animator's cycle as harmonics against the phases of trunk and legs; left and right legs averaged.

    Attributes:
        names: joints of the skeleton it is of.
        gait: what the cycle is.
        trunk: harmonics of `CHANNELS` (h, 8) over the phase of the hind foot that lands first.
        joints: joints of neck, head and tail; `free` holds their harmonics.
        free: rotation vectors against the joint before (h, n, 3), away from rest, over the same phase.
        legs: of the hind and of the fore leg: rotation vectors of the left one's joints (h, m, 3), top first, over
            `leg_phase`; the fore leg's begin with the shoulder blade's where there is one.
        lift: of hind and fore feet, in shoulder heights (2,).
        fold: of hind and fore paws in swing, radians (2,).
        width: of the hind and the fore feet's track over that in standing (2,).
    """

    names: tuple[str, ...]
    gait: str
    trunk: Array
    joints: tuple[int, ...]
    free: Array
    legs: tuple[Array, Array]
    lift: Array
    fold: Array
    width: Array

    @classmethod
    def of(cls, clip: Clip) -> PoseShape:
        """Take a cycle apart, in place or with root motion.

        Raises:
            ClipError: it is no usable cycle of four legs; says why.
            RigError: the skeleton lacks a leg.
        """
        cycle = check_cycle(clip).demand()
        if cycle.gait.label not in GAITS:
            raise ClipError(
                f"The cycle {clip.name!r} is a {cycle.gait.label}, which is no gait of the model",
                f"Choose a cycle of one of: {', '.join(GAITS)}",
            )
        body = Body.of(clip.skeleton)
        still = in_place(clip).cut(0, cycle.frames)
        stride = cycle.stride
        period = cycle.seconds * clip.fps
        landings = (stride.first / period + stride.lags - 0.5 * stride.duty) % 1.0
        first = _first_hind(landings)
        symmetrical = cycle.gait.label not in ("canter", "gallop")
        positions, rotations = still.world
        turns = rot.mul(rotations, rot.inv(body.rotations))
        swapped = first == 1 and not symmetrical
        joints = (*body.neck, *([body.head] if body.head >= 0 else []), *body.tail)
        trunk = _harmonics(_channels(positions, turns, body), landings[first], period)
        free = _harmonics(_relative(turns, joints, body), landings[first], period)
        if swapped:
            trunk, free = trunk * _SIDED, free * _MIRROR
        if symmetrical:
            trunk, free = _even_sides(trunk, _SIDED), _even_sides(free, _MIRROR)
        points = contact_points(clip.skeleton, positions, rotations)
        legs = []
        measured = np.zeros((3, 2))
        for pair in range(2):
            legs.append(_leg_harmonics(turns, body, pair, landings, stride.duty, period))
            measured[:, pair] = _feet(points, turns, body, pair)
        return cls(
            clip.skeleton.names, cycle.gait.label, trunk, joints, free, (legs[0], legs[1]),
            np.clip(measured[0], *_LIFT), np.clip(measured[1], *_FOLD), np.clip(measured[2], *_WIDTH),
        )  # fmt: skip

    def fits(self, body: Body) -> bool:
        """Whether it is of a skeleton with the same joints."""
        return self.names == body.skeleton.names


@dataclass(frozen=True, eq=False)
class ShapeMotion:
    """A shape over the frames of a motion.

    Attributes:
        own: how much the gait is the shape's own (f,), 0..1.
        trunk: `CHANNELS` (f, 8).
        free: turns of the shape's free joints against those before (f, n, 4).
        legs: for each leg the turns of `leg_joints` against those before (f, m, 4).
    """

    own: Array
    trunk: Array
    free: Array
    legs: tuple[Array, ...]


def leg_joints(body: Body, leg: int) -> tuple[int, ...]:
    """The joints of a leg that a shape turns: the shoulder blade, and all down to the toes."""
    limb = body.limbs[leg]
    blade = (limb.scapula,) if limb.scapula >= 0 else ()
    return (*blade, *limb.foot.chain)


def leg_phase(phase: Array, duty: Array) -> Array:
    """A leg's phase (...) in 0..1 from its landing, stretched so that stance and swing are half of it each."""
    part = np.mod(phase, 1.0)
    return np.where(part < duty, 0.5 * part / duty, 0.5 + 0.5 * (part - duty) / np.maximum(1.0 - duty, 1e-6))


def evaluate(harmonics: Array, phase: Array) -> Array:
    """Harmonics (h, ...) at phases (f,): (f, ...)."""
    return np.tensordot(_basis(phase, (len(harmonics) - 1) // 2), harmonics, axes=1)


def sides(phase: Array) -> tuple[Array, Array]:
    """The phase (f,) of the hind foot that lands first, from the legs' phases (f, 4); -1 if it is the right."""
    behind = np.mod(phase[:, 0] - phase[:, 1], 1.0)
    left = behind < 0.5
    return np.where(left, phase[:, 0], phase[:, 1]), np.where(left, 1.0, -1.0)


def mirrored(values: Array, side: Array) -> Array:
    """Rotation vectors (f, ..., 3) reflected where ``side`` (f,) is -1."""
    sign = np.where(side[:, None] < 0.0, _MIRROR, 1.0)
    return values * sign.reshape(len(side), *([1] * (values.ndim - 2)), 3)


def sided(values: Array, side: Array) -> Array:
    """Girdle channels (f, 8) reflected where ``side`` (f,) is -1."""
    return np.asarray(values * np.where(side[:, None] < 0.0, _SIDED, 1.0))


def motion_of(shape: PoseShape, timing: Timing, body: Body) -> ShapeMotion | None:
    """A shape over a timing; None where it is of another skeleton."""
    if not shape.fits(body):
        return None
    own = timing.weights[:, GAITS.index(shape.gait)] * timing.moving
    phase, side = timing.phase[:, 0], np.ones(len(own))
    if shape.gait in ("canter", "gallop"):
        phase, side = sides(timing.phase)
    trunk = sided(evaluate(shape.trunk, phase), side)
    # In other gaits only the carriage is taken over.
    mean = np.broadcast_to(shape.free[0], (len(own), *shape.free.shape[1:]))
    free = own[:, None, None] * mirrored(evaluate(shape.free, phase), side)
    free = free + (timing.moving - own)[:, None, None] * mean
    legs = []
    for leg in range(4):
        over = leg_phase(timing.phase[:, leg], timing.duty[:, leg])
        turns = timing.moving[:, None, None] * evaluate(shape.legs[leg // 2], over)
        legs.append(turns * (_MIRROR if leg % 2 else 1.0))
    return ShapeMotion(own, trunk, rot.exp(free), tuple(rot.exp(turns) for turns in legs))


def _first_hind(landings: Array) -> int:
    """Which hind foot (0 left, 1 right) begins the stride: the one that the other follows sooner."""
    return 0 if (landings[1] - landings[0]) % 1.0 <= 0.5 else 1


def _channels(positions: Array, turns: Array, body: Body) -> Array:
    """`CHANNELS` (f, 8) of a cycle in place."""
    pelvis, chest = girdles(body.skeleton, positions)
    hind, fore = turns[:, 0], turns[:, body.chest_joint]
    rise = [np.arcsin(np.clip(rot.rotate(turn, rot.FORWARD)[:, 2], -1.0, 1.0)) for turn in (hind, fore)]
    roll = [np.arcsin(np.clip(rot.rotate(turn, np.array([1.0, 0.0, 0.0]))[:, 2], -1.0, 1.0)) for turn in (hind, fore)]
    yaw = [rot.wrap_angle(rot.yaw_of_direction(rot.rotate(turn, rot.FORWARD)[:, :2])) for turn in (hind, fore)]
    aside = 0.5 * (pelvis + chest)[:, 0]
    return np.stack([
        pelvis[:, 2] - body.pelvis[2], chest[:, 2] - body.chest[2], rise[0] - rise[1],
        roll[0], roll[1], yaw[0], yaw[1], aside - aside.mean(),
    ], axis=1)  # fmt: skip


def _relative(turns: Array, joints: tuple[int, ...], body: Body) -> Array:
    """Rotation vectors (f, n, 3) of joints against their parents, away from rest."""
    parents = [body.skeleton.parents[joint] for joint in joints]
    if not joints:
        return np.zeros((len(turns), 0, 3))
    return rot.log(rot.inv_mul(turns[:, parents], turns[:, list(joints)]))


def _leg_harmonics(turns: Array, body: Body, pair: int, landings: Array, duty: Array, period: float) -> Array:
    """Mean of both legs' rotation vectors (h, m, 3) over `leg_phase`, as the left one's."""
    found = []
    for leg in (2 * pair, 2 * pair + 1):
        tracks = _relative(turns, leg_joints(body, leg), body)
        share = np.arange(_SAMPLES) / _SAMPLES
        stance = float(duty[leg])
        # The inverse of `leg_phase`.
        own = np.where(share < 0.5, 2.0 * share * stance, stance + (2.0 * share - 1.0) * (1.0 - stance))
        sampled = _sampled(tracks, (landings[leg] + own) % 1.0, period)
        found.append(sampled * (_MIRROR if leg % 2 else 1.0))
    return _fit(0.5 * (found[0] + found[1]))


def _feet(points: Array, turns: Array, body: Body, pair: int) -> Array:
    """Lift, fold and width of a pair of feet (3,)."""
    values = []
    for leg in (2 * pair, 2 * pair + 1):
        height = points[:, leg, 2]
        lift = float(height.max() - np.percentile(height, 20.0)) / body.height
        low = height <= np.percentile(height, 40.0)
        beside = float(np.mean(np.abs(points[low, leg, 0])))
        foot = body.limbs[leg].foot
        ahead = rot.rotate(turns[:, foot.ankle], rot.FORWARD)
        down = np.arctan2(-ahead[:, 2], -ahead[:, 1])
        down = np.unwrap(down)
        fold = float(down.max() - np.median(down[low])) if foot.toe != foot.ankle else 0.0
        values.append([lift, fold, beside / max(abs(float(body.places[leg, 0])), 1e-3)])
    return np.mean(values, axis=0)


def _sampled(tracks: Array, phases: Array, period: float) -> Array:
    """A cyclic track (f, ...) of ``period`` frames at phases (s,), linear between frames."""
    frames = len(tracks)
    at = np.mod(phases, 1.0) * period
    low = np.minimum(at.astype(np.int64), frames - 1)
    following = np.where(low + 1 < frames, low + 1, 0)
    gap = np.where(low + 1 < frames, 1.0, max(period - (frames - 1), 1e-6))
    part = np.clip((at - low) / gap, 0.0, 1.0).reshape(-1, *([1] * (tracks.ndim - 1)))
    return np.asarray(tracks[low] + part * (tracks[following] - tracks[low]))


def _harmonics(tracks: Array, landing: float, period: float) -> Array:
    return _fit(_sampled(tracks, landing + np.arange(_SAMPLES) / _SAMPLES, period))


def _fit(samples: Array) -> Array:
    """Harmonics (h, ...) of evenly spaced samples of a whole period (s, ...)."""
    basis = _basis(np.arange(len(samples)) / len(samples), _HARMONICS)
    weights = np.full(basis.shape[1], 2.0 / len(samples))
    weights[0] = 1.0 / len(samples)
    return np.tensordot(basis.T * weights[:, None], samples, axes=1)


def _basis(phase: Array, harmonics: int) -> Array:
    """1, then cosine and sine of each harmonic (f, 2 n + 1)."""
    angle = 2.0 * np.pi * np.asarray(phase)[:, None] * np.arange(1, harmonics + 1)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(len(angle), -1)
    return np.concatenate([np.ones((len(angle), 1)), waves], axis=1)


def _even_sides(harmonics: Array, sign: Array) -> Array:
    """What left and right do alike half a stride apart: even harmonics of what keeps its sign, odd ones of the rest."""
    numbers = (np.arange(len(harmonics)) + 1) // 2
    even = (numbers % 2 == 0).reshape(-1, *([1] * (harmonics.ndim - 1)))
    return np.where(even == (sign > 0.0), harmonics, 0.0)
