"""One foot's motion as planting sees it, and where planting wants it on the terrain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .bridging import BoolArray, bridge, per_stand, soft_positive
from .clip import Clip
from .footfalls import Footfalls
from .foothold import Foothold
from .rotations import UP, Array
from .skeleton import Foot, Skeleton
from .terrain import FlatGround, Terrain

#: A foot counts as flat in the source below this pitch and this rise of its ball.
FLAT_PITCH, FLAT_RISE = np.radians(12.0), 0.02
#: Residual tilt and rise (metres) of a flat source foot, taken for an error of the capture and removed, at most.
_LEVEL_LIMIT, _RISE_LIMIT = np.radians(10.0), 0.05


@dataclass(frozen=True)
class FootShape:
    """A foot's points and axes in its joints' frames.

    Attributes:
        foot: the joints.
        ball: the toe joint (or the ball itself, for a foot without toes) in the ankle's frame (3,).
        ahead, left: the flat foot's heading and left side in the ankle's frame (3,).
        toe_left: the left side in the toe joint's frame (3,).
        heel_length, tip_length: from the ball back to the heel and ahead to the toes' tip, metres.
    """

    foot: Foot
    ball: Array
    ahead: Array
    left: Array
    toe_left: Array
    heel_length: float
    tip_length: float

    @property
    def has_toe(self) -> bool:
        """Whether toes bend apart from the foot."""
        return self.foot.toe != self.foot.ankle

    @classmethod
    def of(cls, skeleton: Skeleton, foot: Foot) -> FootShape:
        """Measure a foot in its skeleton's rest pose."""
        positions, rotations = skeleton.rest_world
        turn = rotations[foot.ankle]
        ball = rot.inv_rotate(turn, positions[foot.toe] - positions[foot.ankle])
        if foot.toe == foot.ankle:
            ball = skeleton.tails[foot.ankle]
        ahead = rot.rotate(turn, foot.ball - foot.heel) * np.array([1.0, 1.0, 0.0])
        length = float(np.linalg.norm(ahead))
        ahead = ahead / max(length, 1e-9)
        left = np.array([-ahead[1], ahead[0], 0.0])
        tip = rot.rotate(rotations[foot.toe], foot.tip) + positions[foot.toe] - positions[foot.ankle]
        tip_length = float((tip - rot.rotate(turn, ball)) @ ahead)
        return cls(
            foot=foot, ball=ball, ahead=rot.inv_rotate(turn, ahead), left=rot.inv_rotate(turn, left),
            toe_left=rot.inv_rotate(rotations[foot.toe], left), heel_length=length,
            tip_length=max(tip_length, 0.01),
        )  # fmt: skip


@dataclass(frozen=True)
class FootMotion:
    """A foot over time, before planting: ball (f, 3), ankle and toe world rotations (f, 4), angles (f,).

    Pitch and roll are those over the ground that the motion was made on, ``ground`` (f,) is that one's height under
    the standing foot, metres; for motion made for level ground at height 0 nothing need be said.
    """

    shape: FootShape
    ball: Array
    rotation: Array
    toe_rotation: Array
    yaw: Array
    pitch: Array
    roll: Array
    ground: Array | float = 0.0

    @property
    def rise(self) -> Array:
        """Height (f,) of the ball over its place in a flat stance, metres."""
        return np.asarray(self.ball[:, 2] - self.shape.foot.ball_height - self.ground)

    def standing_on(self, stood: Foothold, falls: Footfalls) -> FootMotion:
        """The same foot of a motion made on other than level ground, which was ``stood`` upon in each stand."""
        if not falls.stands:
            return self
        frames = len(self.ball)
        ahead = rot.direction_of_yaw(falls.yaws)
        left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=-1)
        slope = -stood.normals[:, :2] / stood.normals[:, 2:]
        tilt = np.arctan(np.stack([-np.sum(slope * ahead, axis=1), np.sum(slope * left, axis=1)], axis=1))
        level = stood.heights + self.shape.foot.ball_height * (1.0 / stood.normals[:, 2] - 1.0)
        ground, pitch, roll = per_stand(frames, falls.stands, np.column_stack([level, tilt])).T
        return replace(self, pitch=self.pitch - pitch, roll=self.roll - roll, ground=ground)

    @classmethod
    def of(cls, clip: Clip, foot: Foot) -> FootMotion:
        """Read a foot from a clip. Pitch is positive with the heel up, roll with the left side up."""
        shape = FootShape.of(clip.skeleton, foot)
        positions, rotations = clip.world
        turn = rotations[:, foot.ankle]
        ball = positions[:, foot.ankle] + rot.rotate(turn, shape.ball)
        ahead, left = rot.rotate(turn, shape.ahead), rot.rotate(turn, shape.left)
        # Heading from both axes: steep pitch spoils one, steep roll the other.
        level = ahead[:, :2] + np.stack([left[:, 1], -left[:, 0]], axis=-1)
        return cls(
            shape=shape, ball=ball, rotation=turn, toe_rotation=rotations[:, foot.toe],
            yaw=np.unwrap(rot.yaw_of_direction(level)),
            pitch=np.arcsin(np.clip(-ahead[:, 2], -1.0, 1.0)), roll=np.arcsin(np.clip(left[:, 2], -1.0, 1.0)),
        )  # fmt: skip


@dataclass(frozen=True)
class FootTarget:
    """Where planting wants a foot.

    Attributes:
        ball: position (f, 3), metres.
        rotation: ankle joint in the world (f, 4).
        toe_turn: rotation of the toe joint in the world (f, 4), applied on the left of what the foot carries it to.
        twist: how far the heading was turned (f,), radians.
        lock_offset: horizontal distance the lock moved the ball (f,), metres; 0 in swings.
        contact: final contacts (f,).
    """

    ball: Array
    rotation: Array
    toe_turn: Array
    twist: Array
    lock_offset: Array
    contact: BoolArray


def aim_foot(
    motion: FootMotion, falls: Footfalls, holds: Foothold, terrain: Terrain, fps: float, max_twist: float,
    stood: Foothold | None = None, climb: float = 0.3,
) -> FootTarget:  # fmt: skip
    """Lock a foot at its footfalls and carry every change smoothly through the swings.

    Args:
        motion: the source.
        falls: its stands, spots and headings.
        holds: the ground at each of them.
        max_twist: a locked foot turns along with the source beyond this angle, radians.
        stood: what the source itself stood on, where that was not level ground at height 0.
        climb: share of a swing by which a foot is over an edge earlier upwards, and later downwards.
    """
    frames, stands = len(motion.ball), falls.stands
    contact = falls.mask(frames)
    base = _level_errors(motion, falls)
    heights = holds.heights + motion.shape.foot.ball_height / holds.normals[:, 2]
    own = 0.0 if stood is None else stood.heights + motion.shape.foot.ball_height * (1.0 / stood.normals[:, 2] - 1.0)
    lift = (heights - base[:, 2] - motion.shape.foot.ball_height - own)[:, None]
    spots = per_stand(frames, stands, holds.spots)
    offset = bridge(spots - motion.ball[:, :2], stands, fps)
    rises = bridge(per_stand(frames, stands, lift), stands, fps, timing=_climb_timing(terrain, holds, climb))[:, 0]
    away = motion.yaw - per_stand(frames, stands, falls.yaws[:, None])[:, 0]
    excess = np.sign(away) * np.maximum(soft_positive(np.abs(away) - max_twist, 0.05) - 0.01, 0.0)
    twist = bridge((excess - away)[:, None], stands, fps)[:, 0]
    level = bridge(per_stand(frames, stands, base[:, :2]), stands, fps)
    tilt = bridge(per_stand(frames, stands, _tilts(holds.normals)), stands, fps)

    ahead, left = rot.rotate(motion.rotation, motion.shape.ahead), rot.rotate(motion.rotation, motion.shape.left)
    rotation = rot.mul(rot.exp(-left * level[:, :1] - ahead * level[:, 1:]), motion.rotation)
    if stood is not None:
        flat = bridge(per_stand(frames, stands, _tilts(stood.normals)), stands, fps)
        rotation = rot.mul(rot.exp(-flat), rotation)
    rotation = rot.mul(rot.exp(tilt), rot.mul(rot.from_yaw(twist), rotation))
    ball = motion.ball + np.concatenate([offset, rises[:, None]], axis=1)
    toes = rot.mul(rot.mul(rotation, rot.inv(motion.rotation)), motion.toe_rotation)
    return FootTarget(
        ball=ball, rotation=rotation, toe_turn=toes, twist=twist,
        lock_offset=np.where(contact, np.linalg.norm(offset, axis=1), 0.0), contact=contact,
    )  # fmt: skip


def sole_points(shape: FootShape, ball: Array, rotation: Array, toes: Array) -> Array:
    """Heel, ball and tip on the sole (f, 3, 3) of a foot with its toe joint at ``ball``."""
    ankle = ball - rot.rotate(rotation, shape.ball)
    heel = ankle + rot.rotate(rotation, shape.foot.heel)
    under = ankle + rot.rotate(rotation, shape.foot.ball)
    tip = (ball if shape.has_toe else ankle) + rot.rotate(toes, shape.foot.tip)
    return np.stack([heel, under, tip], axis=1)


def _level_errors(motion: FootMotion, falls: Footfalls) -> Array:
    """Pitch, roll (radians) and rise of the ball (metres) of the flat foot in each stand (stands, 3).

    A foot that stands flat on the floor has none of them; what is left is an error of the capture or of the
    roll-out. It is constant within a stand, so that taking it away does not touch the foot's dynamics.
    """
    rise = motion.rise
    flat = (np.abs(motion.pitch) < FLAT_PITCH) & (rise < FLAT_RISE)
    errors = np.zeros((len(falls.stands), 3))
    signals = np.stack([motion.pitch, motion.roll, rise], axis=1)
    for k, (first, last) in enumerate(falls.stands):
        inside = signals[first:last][flat[first:last]]
        if len(inside) >= 3:
            errors[k] = np.median(inside, axis=0)
        else:
            errors[k, 2] = rise[first:last].min()
    limits = np.array([_LEVEL_LIMIT, _LEVEL_LIMIT, _RISE_LIMIT])
    return np.clip(errors, -limits, limits)


def stood_upon(motion: FootMotion, falls: Footfalls, terrain: Terrain, made_on: Foothold) -> Foothold:
    """What the source stood on: the ground it was made on, but where its foot was clearly at another height.

    A foot over the edge of a stair stands on the stair, whatever is under the middle of its ball.
    """
    if isinstance(terrain, FlatGround) or not falls.stands:
        return made_on
    low = [motion.ball[first:last, 2].min() - motion.shape.foot.ball_height for first, last in falls.stands]
    away = np.array(low) - made_on.heights
    return replace(made_on, heights=made_on.heights + away - np.clip(away, -_RISE_LIMIT, _RISE_LIMIT))


def _climb_timing(terrain: Terrain, holds: Foothold, most: float) -> list[tuple[float, float]]:
    """Over an edge (not along a slope) climb early in a swing and come down late, by a share of it at most."""
    if len(holds.spots) < 2:
        return []
    share = np.linspace(0.0, 1.0, 13)
    way = holds.spots[:-1, None] + np.diff(holds.spots, axis=0)[:, None] * share[:, None]
    rise = np.diff(holds.heights)
    edge = np.max(terrain.height(way) - holds.heights[:-1, None] - rise[:, None] * share, axis=1)
    early = most * np.clip((edge - 0.02) / 0.08, 0.0, 1.0)
    return [(0.0, 1.0 - e) if up > 0.0 else (e, 1.0) for e, up in zip(early, rise, strict=True)]


def _tilts(normals: Array) -> Array:
    """Rotation vectors (n, 3) that lay a level sole onto normals (n, 3)."""
    return rot.log(rot.between(np.broadcast_to(UP, normals.shape), normals))
