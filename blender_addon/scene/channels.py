"""From motion in the world to the channels of a rig's controls: numbers only, no Blender in here.

The chain of a pose bone, as Blender builds it: pose = parent's pose * (parent's rest^-1 * own rest) * basis, with
the exceptions of bones that do not inherit rotation or keep their location in the armature's axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import ClipError
from ..motion.key_reduction import Curve
from ..motion.rotations import Array
from .ik_channels import IkRig, limb_moves

if TYPE_CHECKING:
    from .rigs import Control, Rig

RootMotion = Literal["bone", "object", "in place", "hips"]
ROOT_MOTIONS: tuple[RootMotion, ...] = ("bone", "object", "in place", "hips")


@dataclass(frozen=True)
class Channel:
    """Values of one animated property over time.

    Attributes:
        bone: the bone it belongs to; empty for the armature object itself.
        path: property name: ``location``, ``rotation_quaternion``, ``rotation_euler``, ``rotation_axis_angle``.
        values: (frames, components).
        curve: fewer keys that stand for the values; None: one key a frame.
    """

    bone: str
    path: str
    values: Array
    curve: Curve | None = None

    @property
    def data_path(self) -> str:
        """The path of its curves."""
        if not self.bone:
            return self.path
        escaped = self.bone.replace("\\", "\\\\").replace('"', '\\"')
        return f'pose.bones["{escaped}"].{self.path}'


@dataclass(frozen=True)
class ObjectBase:
    """How the armature object itself turns world transforms into its own channels.

    Attributes:
        parent_rotation, parent_place, parent_scale: world frame that its location and rotation are relative to
            (parent and parent inverse): (4,), (3,) in units, units per unit.
        mode: its rotation mode.
        unit: metres per unit.
    """

    parent_rotation: Array
    parent_place: Array
    parent_scale: float
    mode: str
    unit: float


def root_track(clip: Clip, rig: Rig, height: Array | None = None) -> tuple[Array, Array]:
    """World rotation (f, 4) and place (f, 3) of the rig's root for a clip on its skeleton.

    Args:
        clip: the motion.
        rig: the rig.
        height: height of the ground under the root (f,), metres; 0 when not given.
    """
    turn = rot.mul(rot.from_yaw(clip.root[:, 2] - rig.facing), rot.mul(rig.standing, rig.joints[0][-1]))
    level = np.zeros(len(clip)) if height is None else np.asarray(height)
    return turn, np.concatenate([clip.root[:, :2], (level + rig.root_height)[:, None]], axis=-1)


def in_place(clip: Clip, rig: Rig) -> Clip:
    """The clip with its travel taken out: the root stays at the armature object, facing as the rest pose does."""
    still = np.array([rig.place[0], rig.place[1], rig.facing])
    return clip.moved(still - clip.root)


def channels_of(
    rig: Rig, clip: Clip, motion: RootMotion = "bone", height: Array | None = None, base: ObjectBase | None = None,
    ik: IkRig | None = None,
) -> list[Channel]:  # fmt: skip
    """The channels that make the rig move as the clip does.

    Args:
        rig: the target.
        clip: motion on ``rig.skeleton``, in the world, at the rate of the keys.
        motion: what carries the travel: the root bone, the object, nothing (in place), or the hips.
        height: height of the ground under the root (f,), metres.
        base: needed for ``object``.
        ik: limbs of the rig that are keyed by their IK controls.
    """
    if clip.skeleton.names != rig.skeleton.names:
        raise ClipError("The motion is not on the rig's skeleton", "Retarget it first")
    if motion == "in place":
        clip = in_place(clip, rig)
    frames = len(clip)
    turn, place = rig.rotation, rig.place
    found: list[Channel] = []
    root = root_track(clip, rig, height)
    if motion == "object":
        if base is None:
            raise ClipError("The object's own frame is missing")
        place = root[1] - np.array([0.0, 0.0, rig.root_height])
        turn = rot.mul(rot.from_yaw(clip.root[:, 2] - rig.facing), rig.standing)
        found += _object_channels(turn, place, base)
        turn, place = turn[:, None], place[:, None]
    positions, world = clip.world
    count = len(rig.skeleton)
    # Poses of joints and root, what else limbs need, and, last, the armature itself, in the armature's space and units.
    turns = np.empty((frames, count + 2, 4))
    places = np.empty((frames, count + 2, 3))
    turns[:, :count] = rot.inv_mul(turn, world)
    places[:, :count] = rot.inv_rotate(turn, positions - place) / rig.scale
    turns[:, count + 1], places[:, count + 1] = rot.IDENTITY, 0.0
    turns[:, count], places[:, count] = rig.joints[0][count], rig.joints[1][count]
    moved = motion == "bone" and rig.root_bone is not None
    if moved:
        turns[:, count] = rot.inv_mul(rig.rotation, root[0])
        places[:, count] = rot.inv_rotate(rig.rotation, root[1] - rig.place) / rig.scale
    rest = (
        np.concatenate([rig.joints[0], rot.IDENTITY[None]]), np.concatenate([rig.joints[1], np.zeros((1, 3))])
    )  # fmt: skip
    if ik is not None:
        rolls, turns, places, rest = _with_limbs(ik, rig, clip, turns, places, rest)
        found += rolls
    keyed = [control for control in rig.controls if moved or control.joint != count]
    return found + _control_channels(keyed, turns, places, rest)


def _with_limbs(
    ik: IkRig, rig: Rig, clip: Clip, turns: Array, places: Array, rest: tuple[Array, Array]
) -> tuple[list[Channel], Array, Array, tuple[Array, Array]]:
    """The rolls' channels, and the poses with those of soles and poles before the armature's own."""
    count = len(rig.skeleton)
    away = rot.mul(turns[:, :count], rot.inv(rest[0][:count]))
    shift = places[:, :count] - rot.rotate(away, rest[1][:count])
    moves, angles = limb_moves(
        ik, rig, [(away[:, joint], shift[:, joint]) for joint in range(count)], clip.contacts, clip.fps
    )
    more = [moves.get(count + 1 + number, moves[ik.limbs[0].pole[0]]) for number in range(ik.extra)]
    turns = np.concatenate([turns[:, :-1], np.stack([move[0] for move in more], axis=1), turns[:, -1:]], axis=1)
    places = np.concatenate([places[:, :-1], np.stack([move[1] for move in more], axis=1), places[:, -1:]], axis=1)
    whole = np.tile(rot.IDENTITY, (ik.extra, 1)), np.zeros((ik.extra, 3))
    rest = np.concatenate([rest[0], whole[0]]), np.concatenate([rest[1], whole[1]])
    rolls = [
        rotation_channel(limb.roll.bone, rot.from_axis_angle(np.eye(3)[0], angles[limb.roll.bone]), limb.roll.mode)
        for limb in ik.limbs if limb.roll is not None and limb.roll.bone in angles
    ]  # fmt: skip
    return rolls, turns, places, rest


def _control_channels(
    controls: list[Control], turns: Array, places: Array, rest: tuple[Array, Array]
) -> list[Channel]:
    joint = np.array([control.joint for control in controls])
    ride = np.array([control.ride for control in controls])
    own = np.array([control.rest[0] for control in controls])
    # The control's pose: it moves with its joint as one rigid body.
    pose = rot.mul(turns[:, joint], rot.inv_mul(rest[0][joint], own))
    alone = np.array([control.turns_alone for control in controls])
    carried = rot.mul(turns[:, ride], rot.inv_mul(rest[0][ride], own))
    frame = np.where(alone[:, None], own, carried)
    basis = rot.unroll(rot.normalize(rot.inv_mul(frame, pose)))
    basis = np.where((basis[:1, :, :1] < 0.0), -basis, basis)
    found = []
    for index, control in enumerate(controls):
        if control.location:
            wanted = _attached(control, control.joint, turns, places, rest)
            origin = _attached(control, control.ride, turns, places, rest)
            axes = rot.mul(turns[:, control.ride], rot.inv_mul(rest[0][control.ride], control.loc_axes))
            found.append(Channel(control.bone, "location", rot.inv_rotate(axes, wanted - origin)))
        if control.rotation:
            found.append(rotation_channel(control.bone, basis[:, index], control.mode))
    return found


def _attached(control: Control, joint: int, turns: Array, places: Array, rest: tuple[Array, Array]) -> Array:
    """Where the control's head would be if it hung rigidly on ``joint``."""
    arm = rot.inv_rotate(rest[0][joint], control.rest[1] - rest[1][joint])
    return np.asarray(places[:, joint] + rot.rotate(turns[:, joint], arm))


def rotation_channel(bone: str, basis: Array, mode: str) -> Channel:
    """Rotations (f, 4), signs continuous, as the channel of a rotation mode; no mode is ever changed."""
    if mode == "QUATERNION":
        return Channel(bone, "rotation_quaternion", basis)
    if mode == "AXIS_ANGLE":
        return Channel(bone, "rotation_axis_angle", axis_angles(basis))
    return Channel(bone, "rotation_euler", eulers(basis, mode))


def axis_angles(q: Array) -> Array:
    """Angle and axis (f, 4) of rotations (f, 4), continuous: the axis never flips, the angle may pass pi."""
    length = np.linalg.norm(q[:, 1:], axis=-1, keepdims=True)
    turning = length[:, 0] > 1e-9
    axis = np.where(turning[:, None], q[:, 1:] / np.maximum(length, 1e-12), np.array([0.0, 1.0, 0.0]))
    angle = 2.0 * np.arctan2(length[:, 0], q[:, 0])
    for frame in range(1, len(q)):
        if not turning[frame]:
            axis[frame] = axis[frame - 1]
        elif axis[frame] @ axis[frame - 1] < 0.0:
            axis[frame], angle[frame] = -axis[frame], -angle[frame]
    return np.concatenate([np.unwrap(angle)[:, None], axis], axis=-1)


def eulers(q: Array, order: str) -> Array:
    """Euler angles (f, 3), x y z, in Blender's sense of ``order``, without jumps.

    ``XYZ`` turns about x first. Of the two triples that make a rotation, the one nearer to the frame before is taken.
    """
    i, j, k = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    m = rot.to_matrix(q)
    cosine = np.hypot(m[:, i, i], m[:, j, i])
    second = np.arctan2(-sign * m[:, k, i], cosine)
    locked = cosine < 1e-6
    first = np.where(locked, np.arctan2(-sign * m[:, j, k], m[:, j, j]), np.arctan2(sign * m[:, k, j], m[:, k, k]))
    third = np.where(locked, 0.0, np.arctan2(sign * m[:, j, i], m[:, i, i]))
    angles = np.empty((len(q), 3))
    angles[:, i], angles[:, j], angles[:, k] = first, second, third
    other = np.array(angles)
    other[:, i] += np.pi
    other[:, j] = np.pi - other[:, j]
    other[:, k] += np.pi
    smooth = np.unwrap(angles, axis=0)
    if len(q) > 1 and np.abs(np.diff(smooth, axis=0)).max() > 1.0:
        smooth = _nearest_way(angles, other)
    return smooth


def quaternions_of(path: str, values: Array, mode: str) -> Array:
    """Unit quaternions (f, 4) of a rotation channel's values."""
    if path == "rotation_quaternion":
        return rot.normalize(values)
    if path == "rotation_axis_angle":
        axis = values[:, 1:] / np.maximum(np.linalg.norm(values[:, 1:], axis=1, keepdims=True), 1e-12)
        return rot.from_axis_angle(axis, values[:, 0])
    found = np.broadcast_to(rot.IDENTITY, (len(values), 4))
    for letter in mode:
        number = "XYZ".index(letter)
        found = rot.mul(rot.from_axis_angle(np.eye(3)[number], values[:, number]), found)
    return found


def rotation_near(path: str, basis: Array, mode: str, near: Array) -> Array:
    """Rotations (f, 4) as values of a channel, of those that mean the same the ones nearest to ``near``."""
    if path == "rotation_quaternion":
        return np.where(np.sum(basis * near, axis=-1, keepdims=True) < 0.0, -basis, basis)
    turn = 2.0 * np.pi
    if path == "rotation_axis_angle":
        values = axis_angles(basis)
        flip = np.sum(values[:, 1:] * near[:, 1:], axis=-1, keepdims=True) < 0.0
        values = np.where(flip, -values, values)
        values[:, 0] -= turn * np.round((values[:, 0] - near[:, 0]) / turn)
        return np.asarray(values)
    one = eulers(basis, mode)
    other = np.pi + one
    middle = "XYZ".index(mode[1])
    other[:, middle] = np.pi - one[:, middle]
    one, other = (c - turn * np.round((c - near) / turn) for c in (one, other))
    farther = np.abs(other - near).sum(axis=1) < np.abs(one - near).sum(axis=1)
    return np.where(farther[:, None], other, one)


def _nearest_way(one: Array, other: Array) -> Array:
    found = np.array(one)
    turn = 2.0 * np.pi
    for frame in range(1, len(found)):
        before = found[frame - 1]
        choices = [c - turn * np.round((c - before) / turn) for c in (one[frame], other[frame])]
        found[frame] = min(choices, key=lambda c: float(np.abs(c - before).sum()))
    return found


def _object_channels(turn: Array, place: Array, base: ObjectBase) -> list[Channel]:
    location = rot.inv_rotate(base.parent_rotation, place / base.unit - base.parent_place) / base.parent_scale
    local = rot.unroll(rot.inv_mul(base.parent_rotation, turn))
    return [Channel("", "location", location), rotation_channel("", local, base.mode)]
