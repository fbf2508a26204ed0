"""A standing body bent into a pose: trunk, neck, head and tail turned, laid onto where hips and shoulders shall be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import rotations as rot
from ...rotations import Array
from ..body import Body, pitch, roll
from .bones import swung

#: Tail joints keep this height over the ground (shoulder heights), and come to it over so many radians.
_TAIL_GROUND, _TAIL_SOFT = 0.035, 0.25
#: How steeply a tail hangs before it reaches the ground, radians.
_TAIL_DROP = np.radians(50.0)

#: Necks bend most where they begin: the power of a joint's number to which its share of the bend goes.
_NECK_EARLY = 0.6


@dataclass(frozen=True, eq=False)
class Frames:
    """A body over some frames, seen from where it stands, facing -Y.

    Attributes:
        hips: of joint 0 (f, 3). turns: world turns away from rest (f, b, 4). positions: of all joints (f, b, 3).
    """

    hips: Array
    turns: Array
    positions: Array

    @classmethod
    def of(cls, body: Body, hips: Array, turns: Array) -> Frames:
        """From hips and turns."""
        local = body.skeleton.local_rotations(rot.mul(turns, body.rotations))
        return cls(hips, turns, body.skeleton.fk(hips, local)[0])

    def row(self, index: int) -> Frames:
        """A single frame."""
        part = [index]
        return Frames(self.hips[part], self.turns[part], self.positions[part])

    def ends(self, body: Body) -> Array:
        """Where each leg ends (f, 4, 3): its last joint, or its point on the ground."""
        world = rot.mul(self.turns, body.rotations)
        return np.stack([limb.points(self.positions, world)[:, -1] for limb in body.limbs], axis=1)


@dataclass(frozen=True, eq=False)
class Bend:
    """What a pose asks of trunk, neck and head at each frame (f,).

    Attributes:
        pelvis, chest: (f, 3) where the middles of hip and shoulder joints shall be; which of both gives way: ``held``.
        held: share (f,) of what does not fit that the shoulders take.
        flex: rounding of the back. roll_hind, roll_fore: left side up.
        neck, head: pitch of the last neck joint and of the head against standing. look: yaw of the head.
        blade: share of the chest's pitch that the shoulder blades take back.
    """

    pelvis: Array
    chest: Array
    held: Array
    flex: Array
    roll_hind: Array
    roll_fore: Array
    neck: Array
    head: Array
    look: Array
    blade: Array


def bent(body: Body, before: Frames, bend: Bend) -> Frames:
    """The body bent; legs go with what carries them."""
    frames, joints = len(before.hips), len(body.skeleton)
    added = np.zeros((frames, joints, 4))
    added[..., 0] = 1.0
    count = max(len(body.spine), 1)
    for number, joint in enumerate((0, *body.spine)):
        share = number / count
        part = pitch((1.0 - share) * bend.flex)
        added[:, joint] = rot.mul(part, roll((1.0 - share) * bend.roll_hind + share * bend.roll_fore))
    fixed = {0, *body.spine}
    _inherit(body, added, fixed)
    shape = Frames.of(body, np.zeros((frames, 3)), rot.mul(added, before.turns))
    pelvis, chest = middles(body, shape.positions)
    chord = chest - pelvis
    length = np.hypot(chord[:, 1], chord[:, 2])
    rise = bend.chest[:, 2] - bend.pelvis[:, 2]
    angle = np.arcsin(np.clip(rise / length, -0.95, 0.95)) - np.arctan2(chord[:, 2], -chord[:, 1])
    added = rot.mul(pitch(angle)[:, None], added)
    _neck(body, added, angle, bend)
    _inherit(body, added, fixed | {*body.neck, body.head})
    turns = rot.mul(added, before.turns)
    _blades(body, turns, -bend.blade * angle)
    pelvis, chest = (rot.rotate(pitch(angle), v) for v in (pelvis, chest))
    error = (chest - pelvis) - (bend.chest - bend.pelvis)
    hips = bend.pelvis - pelvis - (1.0 - bend.held)[:, None] * error * np.array([0.0, 1.0, 0.0])
    return Frames.of(body, hips, turns)


def middles(body: Body, positions: Array) -> tuple[Array, Array]:
    """Middle of the hip joints and of the shoulder joints (f, 3)."""
    hips, shoulders = ([body.limbs[k].foot.hip for k in pair] for pair in ((0, 1), (2, 3)))
    return np.mean(positions[:, hips], axis=1), np.mean(positions[:, shoulders], axis=1)


def tail_on_ground(body: Body, posed: Frames, curl: Array, share: Array) -> Frames:
    """The tail let down until it lies, its tip to one side by ``curl`` (f,), in a share (f,) of the pose."""
    if not body.tail:
        return posed
    turns = np.array(posed.turns)
    ground = _TAIL_GROUND * body.height
    place = posed.positions[:, body.tail[0]]
    ends = [*body.tail[1:], -1]
    for number, (joint, following) in enumerate(zip(body.tail, ends, strict=True)):
        tip = body.positions[following] if following >= 0 else body.positions[joint] + rot.rotate(
            body.rotations[joint], body.skeleton.tails[joint]
        )
        bone = tip - body.positions[joint]
        length = float(np.linalg.norm(bone))
        now = rot.rotate(turns[:, joint], bone) / length
        least = np.arcsin(np.clip((ground - place[:, 2]) / length, -0.95, 0.95))
        lying = _tail_direction((number + 1) / len(body.tail) * curl, np.maximum(least, -_TAIL_DROP))
        wished = swung(now, lying, share)
        slope = np.arcsin(np.clip(wished[:, 2], -1.0, 1.0))
        # Never under the ground, whatever the share.
        under = least - slope
        eased = np.maximum(under + _TAIL_SOFT, 0.0) ** 2 / (4.0 * _TAIL_SOFT)
        raised = slope + np.where(under < _TAIL_SOFT, eased, under)
        wished = _tail_direction(np.arctan2(wished[:, 0], wished[:, 1]), raised)
        turns[:, joint] = rot.mul(rot.between(now, wished), turns[:, joint])
        place = place + length * wished
    return Frames.of(body, posed.hips, turns)


def _tail_direction(yaw: Array, slope: Array) -> Array:
    """Directions (f, 3) of a bone that points backwards, its end to the left and up by angles (f,)."""
    return np.stack([np.sin(yaw) * np.cos(slope), np.cos(yaw) * np.cos(slope), np.sin(slope)], axis=1)


def _neck(body: Body, added: Array, angle: Array, bend: Bend) -> None:
    """Neck and head from the chest's pitch to their own; in place."""
    if body.head < 0:
        return
    count = len(body.neck)
    for number, joint in enumerate((*body.neck, body.head)):
        share = (number + 1) / (count + 1)
        up = bend.head if joint == body.head else angle + (bend.neck - angle) * ((number + 1) / count) ** _NECK_EARLY
        added[:, joint] = rot.mul(rot.from_yaw(share * bend.look), pitch(up))


def _blades(body: Body, turns: Array, angle: Array) -> None:
    """Shoulder blades turned back about the body's left, and the legs with them; in place."""
    for limb in body.limbs[2:]:
        if limb.scapula < 0:
            continue
        for joint in (limb.scapula, *limb.joints, *([limb.end] if limb.end >= 0 else [])):
            turns[:, joint] = rot.mul(pitch(angle), turns[:, joint])


def _inherit(body: Body, added: Array, own: set[int]) -> None:
    for joint, parent in enumerate(body.skeleton.parents):
        if joint not in own:
            added[:, joint] = added[:, parent]
