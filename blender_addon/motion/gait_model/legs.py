"""The legs under a trunk: from hip and shoulder blade to the paws, without overstretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import rotations as rot
from ..animal_limbs import Limb
from ..limb_ik import Hinges, greatest_reach, solve_chain
from ..rotations import Array
from ..speed_profile import smoothed
from .body import Body, pitch
from .footholds import FootPaths
from .padded_root import PaddedRoot, dilated
from .trunk import Trunk

#: Bodies are carried so low that no standing leg is stretched beyond this share of its greatest reach.
_STRETCH = 0.92
#: Up to this share of its reach a leg comes to its target.
_REACHED = 0.985
#: A leg in the air is held back softly from this share of its reach on; it comes no nearer than this to all of it.
_HELD_FROM, _HELD_AT = 0.86, 0.985
#: The shoulder blade's part of a fore leg's swing, and its greatest turn, radians.
_BLADE, _MOST_BLADE = 0.35, np.radians(28.0)
#: Before the chest is lowered the blades are set steeper, by at most this much, radians.
_STEEPER = np.radians(11.0)
#: Where the wrist is in a fore leg whose paw begins below it, how far it bends with the paw's fold, and its share of
#: the leg's own folding.
_CARPUS, _CARPUS_FOLD, _CARPUS_SHARE = 2, 0.8, 0.06
#: No lower than this share of the shoulder height; and every so many frames are looked at.
_LOWEST, _EVERY = 0.14, 8
#: The lowering changes within so many seconds (0.6 m): slower than a stride, so that it does not bob.
_LOWERED_OVER = 0.35


@dataclass(frozen=True, eq=False)
class HangingLeg:
    """One leg as the solver takes it, its blade turned: points (f, n + 1, 3), turns (f, 4), reach (f,) in metres."""

    limb: Limb
    joints: list[int]
    points: Array
    hinges: Hinges
    target: Array
    blade: Array
    heading: Array
    paw: Array
    reach: Array
    bent: Array | None


def legs_of(body: Body, trunk: Trunk, feet: FootPaths, steeper: Array) -> tuple[HangingLeg, ...]:
    """The four legs as they hang under a trunk.

    Args:
        body: the skeleton.
        trunk: with the legs as at rest under it.
        feet: where the feet are.
        steeper: how much steeper than at rest the shoulder blades are set (f,), radians: see `lowered`.
    """
    return tuple(_leg(body, trunk, feet, leg, slice(None), steeper) for leg in range(len(body.limbs)))


def stretched(legs: Sequence[HangingLeg], feet: FootPaths) -> npt.NDArray[np.bool_]:
    """Frames (f, 4) of contact in which a leg does not reach its foot's place."""
    far = [np.linalg.norm(leg.target - leg.points[:, 0], axis=1) > _REACHED * leg.reach for leg in legs]
    return feet.contact & np.stack(far, axis=1)


def solve_legs(legs: Sequence[HangingLeg], trunk: Trunk, feet: FootPaths) -> Array:
    """World turns away from rest (f, b, 4) of all joints, the legs' solved; what is asked too far is not reached."""
    turns = np.array(trunk.turns)
    for number, part in enumerate(legs):
        limb, foot = part.limb, part.limb.foot
        turn = solve_chain(part.points, _held(part, feet.air[:, number]), part.hinges)
        if limb.scapula >= 0:
            turns[:, limb.scapula] = rot.mul(part.blade, turns[:, limb.scapula])
        for at, joint in enumerate(part.joints):
            before = part.blade if part.bent is None or at < _CARPUS else rot.mul(part.bent, part.blade)
            turns[:, joint] = rot.mul(rot.mul(turn.segments[:, at], before), turns[:, joint])
        if foot.toe != foot.ankle:
            turns[:, foot.ankle] = part.paw
            turns[:, foot.toe] = rot.mul(part.heading, pitch(-feet.curl[:, number]))
    return turns


def lowered(body: Body, course: PaddedRoot, trunk: Trunk, feet: FootPaths) -> tuple[Array, Array, Array]:
    """How much lower the hind and the fore quarters must be carried (f,), metres, for standing legs to reach.

    And how much steeper the shoulder blades are set (f,), radians, which spares the fore quarters part of that.
    """
    frames = len(course)
    need = np.zeros((2, frames))
    for leg in range(len(body.limbs)):
        rows = _telling(feet.contact[:, leg])
        part = _leg(body, trunk, feet, leg, rows, np.zeros(frames))
        line = part.target - part.points[:, 0]
        aside = np.linalg.norm(line[:, :2], axis=1)
        reach = np.sqrt(np.maximum((_STRETCH * part.reach) ** 2 - aside**2, (0.5 * part.reach) ** 2))
        need[leg // 2, rows] = np.maximum(need[leg // 2, rows], -line[:, 2] - reach)
    half = _LOWERED_OVER * float(np.sqrt(course.scale))
    arm = body.blade_reach
    out = []
    for row, most in zip(need, (0.0, _STEEPER * arm), strict=True):
        held = dilated(np.minimum(row, _LOWEST * body.height + most), max(int(half * course.fps), 1))
        out.append(smoothed(held, half, course.fps))
    hind, fore = out
    if arm <= 0.0:
        return hind, fore, np.zeros(frames)
    steeper = _STEEPER * np.tanh(fore / (_STEEPER * arm))
    return hind, fore - steeper * arm, steeper


def _telling(contact: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Frames of contact that tell how far a leg must reach: both ends of each stance, and some between."""
    inside = contact[1:] & contact[:-1]
    ends = contact & np.concatenate([[True], ~inside]) | contact & np.concatenate([~inside, [True]])
    ends[::_EVERY] |= contact[::_EVERY]
    return np.flatnonzero(ends)


def _leg(
    body: Body, trunk: Trunk, feet: FootPaths, leg: int, rows: slice | npt.NDArray[np.int64], steeper: Array
) -> HangingLeg:
    """A leg at some of the frames."""
    limb = body.limbs[leg]
    foot = limb.foot
    world = rot.mul(trunk.turns[rows], body.rotations)
    positions = trunk.positions[rows]
    height = limb.points(body.positions[None], body.rotations[None])[0, -1, 2]
    target = feet.position[rows, leg] + np.array([0.0, 0.0, height])
    heading = rot.from_yaw(feet.yaw[rows, leg])
    joints = list(limb.joints)
    points, hinges, paw = limb.points(positions, world), limb.hinges(world), heading
    if foot.toe != foot.ankle:
        # Heel up is nose-down: the paw's own way of folding.
        paw = rot.mul(heading, pitch(-feet.peel[rows, leg]))
        target = target + rot.rotate(paw, body.positions[foot.ankle] - body.positions[foot.toe])
        points, joints = points[:, :-1], joints[:-1]
        inner = len(joints) - 1
        hinges = Hinges(hinges.axes[:, :inner], hinges.straight[:inner], hinges.share[:inner])
    blade = np.broadcast_to(rot.IDENTITY, (len(points), 4))
    if limb.scapula >= 0:
        across = rot.rotate(world[:, body.skeleton.parents[limb.scapula]], limb.lateral)
        blade = _blade_turn(points, target, across, steeper[rows])
        top = positions[:, limb.scapula][:, None]
        points = top + rot.rotate(blade[:, None], points - top)
        hinges = Hinges(rot.rotate(blade[:, None], hinges.axes), hinges.straight, hinges.share)
    bent = None
    if leg >= 2 and len(joints) > _CARPUS:
        fold = 0.0 if trunk.keyed else _CARPUS_FOLD
        points, hinges, bent = _carpus_bent(points, hinges, fold * feet.curl[rows, leg])
    reach = greatest_reach(points, hinges)
    return HangingLeg(limb, joints, points, hinges, target, blade, heading, paw, reach, bent)


def _carpus_bent(points: Array, hinges: Hinges, angle: Array) -> tuple[Array, Hinges, Array]:
    """A fore leg whose wrist is one of its inner joints (a horse's knee): bent in the air, hardly while it stands."""
    axis = hinges.axes[:, _CARPUS - 1]
    bent = rot.from_axis_angle(axis, angle)
    moved = points.copy()
    moved[:, _CARPUS + 1 :] = points[:, _CARPUS : _CARPUS + 1] + rot.rotate(
        bent[:, None], points[:, _CARPUS + 1 :] - points[:, _CARPUS : _CARPUS + 1]
    )
    axes = hinges.axes.copy()
    axes[:, _CARPUS:] = rot.rotate(bent[:, None], axes[:, _CARPUS:])
    share = np.array(hinges.share)
    share[_CARPUS - 1] = _CARPUS_SHARE
    return moved, Hinges(axes, hinges.straight, share), bent


def _blade_turn(points: Array, target: Array, across: Array, steeper: Array) -> Array:
    """The shoulder blade's turn (f, 4): part of the leg's swing forwards and back from how it hangs at rest."""
    hangs, swung = points[:, -1] - points[:, 0], target - points[:, 0]
    angle = np.sum(rot.log(rot.between(hangs, swung)) * across, axis=1)
    return rot.from_axis_angle(across, steeper + _MOST_BLADE * np.tanh(_BLADE * angle / _MOST_BLADE))


def _held(part: HangingLeg, air: Array) -> Array:
    """The leg's target (f, 3), drawn nearer to its top in the air where it would be stretched."""
    line = part.target - part.points[:, 0]
    wished = np.linalg.norm(line, axis=1)
    begin, room = _HELD_FROM * part.reach, (_HELD_AT - _HELD_FROM) * part.reach
    beyond = np.maximum(wished - begin, 0.0)
    held = np.where(beyond > 0.0, begin + room * np.tanh(beyond / room), wished)
    share = 1.0 + air * (held / np.maximum(wished, 1e-9) - 1.0)
    return np.asarray(part.points[:, 0] + share[:, None] * line)
