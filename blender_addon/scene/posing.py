"""The joints of a rig as its channels pose them: the way back from keys to motion, numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..motion import rotations as rot
from ..motion.ik import two_bones
from ..motion.key_reduction import Moved, Track
from ..motion.rotations import Array
from .channels import Channel, ObjectBase, quaternions_of, rotation_near
from .ik_channels import IkRig, Move

if TYPE_CHECKING:
    from .controls import Control
    from .rigs import Rig

#: Channels are tried at so many frames, by so much in their own unit.
_SAMPLES, _NUDGE = 6, 1e-4
#: Metres and radians of an error of 1 in channels that move no joint.
_LONELY = {"rotation_quaternion": (0.0, 2.0), "rotation_euler": (0.0, 1.0), "rotation_axis_angle": (0.0, 1.0),
           "scale": (1.0, 0.0)}  # fmt: skip
_REST: Move = (rot.IDENTITY, np.zeros(3))


class Poser:
    """Poses the joints of a rig by the values of its channels; places in metres, in a space that stands still.

    Args:
        rig: the rig.
        channels: what is keyed, those of carrying bones before those of carried ones (`in_order`).
        base: needed where the object carries the travel.
        ik: limbs that are keyed by their IK controls.
    """

    def __init__(
        self, rig: Rig, channels: Sequence[Channel], base: ObjectBase | None = None, ik: IkRig | None = None
    ) -> None:
        self.rig, self.base, self.ik, self.channels = rig, base, ik, channels
        self.index = {(channel.bone, channel.path): number for number, channel in enumerate(channels)}
        self.paths = {channel.bone: channel.path for channel in channels if channel.path.startswith("rotation")}
        keyed = {channel.bone for channel in channels}
        # The root carries all others, wherever the rig lists it.
        ordered = sorted(rig.controls, key=lambda control: control.joint != len(rig.skeleton))
        self.controls = {control.bone: control for control in ordered if control.bone in keyed}
        dense = [channel.values for channel in channels]
        self.wanted_moves = self.moves(dense)[1]
        self._object = self._object_move(dense)
        self._made: dict[int, Move] = {}
        self._made_by: dict[str, Move] = {}
        self._finished = 0

    def __call__(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """Places (f, j, 3) and rotations (f, j, 4) of the joints of the skeleton."""
        count = len(self.rig.skeleton)
        moves, _ = self.moves(values)
        if self.ik is not None:
            self.ik.finish(moves, self.rig)
        places, turns = np.empty((len(values[0]), count, 3)), np.empty((len(values[0]), count, 4))
        for joint in range(count):
            turn, shift = moves.get(joint) or moves[self.rig.skeleton.parents[joint]]
            moves.setdefault(joint, (turn, shift))
            places[:, joint] = rot.rotate(turn, self.rig.joints[1][joint]) + shift
            turns[:, joint] = rot.mul(turn, self.rig.joints[0][joint])
        places = places * self.rig.scale
        away = self._object_move(values)
        if away is None:
            return places, turns
        return rot.rotate(away[0][:, None], places) + away[1][:, None], rot.mul(away[0][:, None], turns)

    def moves(self, values: Sequence[Array]) -> tuple[dict[int, Move], dict[str, Move]]:
        """By joint (the last control that moves it), and by control: moves in the armature's space."""
        by_joint: dict[int, Move] = self._start()
        by_control: dict[str, Move] = {}
        for control in self.controls.values():
            made = self._move(control, by_control.get(control.carrier, by_joint.get(control.ride, _REST)), values)
            by_joint[control.joint] = by_control[control.bone] = made
            if self.ik is not None:
                self.ik.carry(control, by_joint, self._roll(control, values))
        return by_joint, by_control

    def wanted(self, number: int, done: Sequence[Array]) -> Array:
        """The values of a channel that bring its control where it belongs when the channels before are as ``done``."""
        channel = self.channels[number]
        if number == 0:
            self._made, self._made_by, self._finished = self._start(), {}, 0
        if not channel.bone or channel.bone not in self.controls:
            return channel.values
        control = self.controls[channel.bone]
        self._finish_before(control, done)
        ride = self._ride(control)
        turn, shift = self._goal(control, done)
        head = control.rest[1]
        carried = rot.rotate(ride[0], head) + ride[1]
        if channel.path == "location":
            axes = rot.mul(ride[0], control.loc_axes)
            return rot.inv_rotate(axes, rot.rotate(turn, head) + shift - carried)
        if (channel.bone, "location") not in self.index:
            turn = rot.mul(self._aim(control, carried), turn)
        frame = control.rest[0] if control.turns_alone else rot.mul(ride[0], control.rest[0])
        basis = rot.inv_mul(frame, rot.mul(turn, control.rest[0]))
        return rotation_near(channel.path, basis, control.mode, channel.values)

    def _start(self) -> dict[int, Move]:
        return {-1: _REST, len(self.rig.skeleton): _REST}

    def _finish_before(self, control: Control, done: Sequence[Array]) -> None:
        """Move the joints of all controls before this one as they came out."""
        names = list(self.controls)
        for name in names[self._finished : names.index(control.bone)]:
            made = self.controls[name]
            move = self._move(made, self._ride(made), done)
            self._made[made.joint] = self._made_by[name] = move
            if self.ik is not None:
                self.ik.carry(made, self._made, self._roll(made, done))
            self._finished += 1

    def _goal(self, control: Control, done: Sequence[Array]) -> Move:
        """Where the control belongs, in the armature as its object came out."""
        turn, shift = self.wanted_moves[control.bone]
        roll = self._roll(control, done)
        if self.ik is not None and roll is not None:
            was = self._roll(control, [channel.values for channel in self.channels])
            assert was is not None
            turn, shift = self.ik.unrolled(control, (turn, shift), was, roll)
        if self._object is None:
            return turn, shift
        then, now, scale = self._object, self._object_move(done), self.rig.scale
        assert now is not None
        return (
            rot.inv_mul(now[0], rot.mul(then[0], turn)),
            rot.inv_rotate(now[0], rot.rotate(then[0], shift * scale) + then[1] - now[1]) / scale,
        )

    def _aim(self, control: Control, head: Array) -> Array:
        """The small turn that points a bone whose head came out elsewhere at where its end belongs."""
        skeleton, rest = self.rig.skeleton, self.rig.joints[1]
        children = [k for k, parent in enumerate(skeleton.parents) if parent == control.joint]
        if self._object is not None or len(children) != 1 or control.joint == 0:
            return rot.IDENTITY
        turn, shift = self.wanted_moves[control.bone]
        goal_head = rot.rotate(turn, control.rest[1]) + shift
        # Heels of paws turn about the far end of their joint's bone.
        joint = control.joint if self.ik is not None and control.bone in self.ik.turning_back else children[0]
        tip = rot.rotate(turn, rest[joint]) + shift
        end = tip
        foot = next((foot for foot in skeleton.feet if foot.hip == control.joint), None)
        if foot is not None:
            end = self._knee(foot.knee, foot.chain[2] if foot.chain else foot.ankle, head, goal_head, tip)
        return rot.between(tip - goal_head, end - head)

    def _knee(self, knee: int, ankle: int, head: Array, goal_head: Array, tip: Array) -> Array:
        """Where the knee must be for the ankle to come out right from a hip at ``head``."""
        below = next((c for c in self.controls.values() if c.joint == knee), None)
        if below is None:
            return tip
        turn, shift = self.wanted_moves[below.bone]
        goal = rot.rotate(turn, self.rig.joints[1][ankle]) + shift
        return two_bones(head, goal, np.linalg.norm(tip - goal_head, axis=-1), np.linalg.norm(goal - tip, axis=-1), tip)

    def _ride(self, control: Control) -> Move:
        """What carries a control, as it came out."""
        return self._made_by.get(control.carrier) or self._made.get(control.ride, _REST)

    def _move(self, control: Control, ride: Move, values: Sequence[Array]) -> Move:
        """How a control moves from its rest pose, carried by its ride."""
        turn, head = control.rest
        place = rot.rotate(ride[0], head) + ride[1]
        location = self.index.get((control.bone, "location"))
        if location is not None:
            place = place + rot.rotate(rot.mul(ride[0], control.loc_axes), values[location])
        frame = turn if control.turns_alone else rot.mul(ride[0], turn)
        if control.bone in self.paths:
            path = self.paths[control.bone]
            frame = rot.mul(frame, quaternions_of(path, values[self.index[control.bone, path]], control.mode))
        away = rot.mul(frame, rot.inv(turn))
        return away, place - rot.rotate(away, head)

    def _roll(self, control: Control, values: Sequence[Array]) -> Array | None:
        """The roll of the heel under a foot's control, if there is one."""
        roll = self.ik.roll_of(control) if self.ik is not None else None
        number = self.index.get((roll.bone, roll.path)) if roll is not None else None
        return values[number] if number is not None and number < len(values) else None

    def _object_move(self, values: Sequence[Array]) -> Move | None:
        """How the armature object stands: rotation and place in metres; None where it carries nothing."""
        if "" not in self.paths or self.base is None:
            return None
        path = self.paths[""]
        turn = quaternions_of(path, values[self.index["", path]], self.base.mode)
        return turn, values[self.index["", "location"]] * (self.base.parent_scale * self.base.unit)


def in_order(rig: Rig, channels: Sequence[Channel]) -> list[int]:
    """Numbers of the channels, the object's, rolls' and the root's first."""
    root = {control.bone for control in rig.controls if control.joint == len(rig.skeleton)} | {""}
    known = {control.bone for control in rig.controls} - root
    return sorted(range(len(channels)), key=lambda number: channels[number].bone in known)


def body_of(
    rig: Rig, channels: Sequence[Channel], planted: Array, base: ObjectBase | None = None, ik: IkRig | None = None
) -> tuple[list[Track], Moved]:
    """Channels as what `motion.key_reduction.reduce_keys` wants.

    Args:
        rig: the rig.
        channels: what is keyed, `in_order`.
        planted: (f, 2) which foot stands.
        base: needed where the object carries the travel.
        ik: limbs that are keyed by their IK controls.
    """
    pose = Poser(rig, channels, base, ik)
    count = len(rig.skeleton)
    turns = np.ones(count, dtype=bool)
    if ik is not None:
        turns[list(ik.loose)] = False
    standing = np.zeros((len(planted), count), dtype=bool)
    for side, foot in enumerate(rig.skeleton.feet):
        standing[:, [foot.ankle, foot.toe]] = planted[:, side : side + 1]
    body = Moved(pose, turns, standing, pose.wanted)
    return _tracks(pose, body), body


def _near(pose: Poser, channel: Channel) -> tuple[Array, Array]:
    """The joints (j,) that a channel moves by itself, and those that it also moves through IK.

    The former are those of its own control, and where their children begin.
    """
    parents = np.array(pose.rig.skeleton.parents)
    near = np.zeros(len(parents), dtype=bool)
    control = pose.controls.get(channel.bone)
    joint = control.joint if control is not None else None
    if joint is not None and joint < len(parents):
        near = parents == joint
        near[joint] = True
    if pose.ik is None:
        return near, near
    through = pose.ik.near(channel.bone, joint, len(parents))
    return (near if near.any() else through), near | through


def _tracks(pose: Poser, body: Moved) -> list[Track]:
    """What each channel moves and how far, found by trying each of its components at some frames, all in one go."""
    dense = [channel.values for channel in pose.channels]
    frames = np.unique(np.linspace(0, len(dense[0]) - 1, _SAMPLES).round().astype(int))
    tries = [(number, part) for number, values in enumerate(dense) for part in range(values.shape[1])]
    stacked = [np.tile(values[frames], (len(tries) + 1, 1)) for values in dense]
    for row, (number, part) in enumerate(tries, start=1):
        stacked[number][row * len(frames) : (row + 1) * len(frames), part] += _NUDGE
    places, turns = body.pose(stacked)
    places = places.reshape(len(tries) + 1, len(frames), *places.shape[1:])
    turns = turns.reshape(len(tries) + 1, len(frames), *turns.shape[1:])
    away = np.linalg.norm(places[1:] - places[:1], axis=-1).max(axis=1) / _NUDGE
    angle = rot.angle_between(turns[1:], turns[:1]).max(axis=1) / _NUDGE
    owner = np.array([number for number, _ in tries])
    found = []
    for number, channel in enumerate(pose.channels):
        near, moves = _near(pose, channel)
        metres, radians = away[owner == number].max(axis=0), angle[owner == number].max(axis=0)
        far, wide = (float(gain[near].max(initial=0.0)) for gain in (metres, radians * body.turns))
        if max(far, wide) < 1e-6:
            # Nothing that is looked at, or another control of the joint has the last word.
            far, wide = _LONELY.get(channel.path, (pose.rig.scale, 0.0))
        reaches = (metres > 1e-6) | ((radians > 1e-6) & body.turns)
        found.append(Track(channel.values, far, wide, moves, reaches))
    return found
