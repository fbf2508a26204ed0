"""The trunk, neck, head and tail: the girdles' motion over the legs' phases, laid onto the course."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rotations as rot
from ..rotations import Array
from ..speed_profile import smoothed
from .body import Body, pitch, roll
from .followers import follow, glances, slow_noise
from .padded_root import PaddedRoot
from .settings import GaitSettings
from .shape import CHANNELS, ShapeMotion, leg_joints
from .table import BODY
from .timing import Timing

#: Seconds (0.6 m) that the head looks ahead on the way, and how much of that turn neck and head make, at most.
_LOOK_AHEAD, _LOOK_SHARE, _MOST_LOOK = 0.45, 0.55, 0.7
#: Breaths a second (0.6 m) and the pitch of the back with them, radians.
_BREATHS, _BREATH = 0.4, np.radians(0.5)
#: The tail hangs so far below its rest while standing, radians from the first joint on, and its springs.
_TAIL_HANG = np.radians(16.0)
_TAIL_HZ, _TAIL_SLOWER, _TAIL_DAMPING = 2.6, 0.82, 0.42
#: Heave bends the tail by so many radians per m/s2 over g.
_TAIL_HEAVE = 0.10
_FLAT = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Trunk:
    """The trunk's pose as turns away from the rest pose, in the world.

    Attributes:
        hips: position of joint 0 (f, 3), metres.
        turns: world rotation of each joint relative to its rest (f, b, 4); legs turn with what carries them.
        positions: world positions (f, b, 3) with the legs so.
        keyed: whether the legs are posed by a shape, not as at rest.
    """

    hips: Array
    turns: Array
    positions: Array
    keyed: bool = False

    def rotations(self, body: Body) -> Array:
        """World rotations (f, b, 4)."""
        return rot.mul(self.turns, body.rotations)


@dataclass(frozen=True, eq=False)
class Girdles:
    """How pelvis and chest move against the course: metres and radians (f,) each.

    Attributes:
        rise_hind, rise_fore: height against standing.
        roll_hind, roll_fore: left side up.
        yaw_hind, yaw_fore: to the left.
        aside: of the whole trunk, to the left.
        flex: rounding of the back.
        hold, neck, tail: as `BODY`, carriage in radians.
    """

    rise_hind: Array
    rise_fore: Array
    roll_hind: Array
    roll_fore: Array
    yaw_hind: Array
    yaw_fore: Array
    aside: Array
    flex: Array
    hold: Array
    neck: Array
    tail: Array


def girdles_of(
    course: PaddedRoot, timing: Timing, body: Body, numbers: Array, settings: GaitSettings, shape: ShapeMotion | None
) -> Girdles:
    """The girdles' motion from the legs' phases and the body's numbers (f, len(BODY)), or a shape's in its own gait."""
    value = {name: numbers[:, at] for at, name in enumerate(BODY)}
    alive = settings.liveliness * timing.moving
    # Slow steps move the body less than the gait's own.
    alive = alive * np.clip(0.35 + 0.65 * course.pace / (0.85 * np.sqrt(course.scale)), 0.35, 1.0)
    middle = 2.0 * np.pi * (timing.phase - 0.5 * timing.duty)
    found: dict[str, Array] = {}
    sway = np.zeros(len(course))
    for end, (left, right) in (("hind", (0, 1)), ("fore", (2, 3))):
        one, two = middle[:, left], middle[:, right]
        once = 0.5 * (np.cos(one) + np.cos(two))
        twice = 0.5 * (np.cos(2.0 * one) + np.cos(2.0 * two))
        found[f"rise_{end}"] = -body.height * (
            alive * (value[f"bounce_{end}"] * once + value[f"bob_{end}"] * twice) + timing.moving * value["crouch"]
        )
        aside = 0.5 * (np.cos(one) - np.cos(two))
        found[f"roll_{end}"] = np.radians(value[f"roll_{end}"]) * alive * aside
        # A hip goes forward with its leg: left forward turns the girdle to the right.
        found[f"yaw_{end}"] = np.radians(value[f"yaw_{end}"]) * alive * 0.5 * (np.sin(one) - np.sin(two))
        sway += 0.5 * body.height * value["sway"] * alive * aside
    landing = 2.0 * np.pi * timing.phase[:, :2]
    flex = np.radians(value["flex"]) * alive * np.mean(np.cos(landing + 0.35), axis=1)
    if shape is not None:
        found["aside"], found["flex"] = sway, flex
        for at, name in enumerate(CHANNELS):
            found[name] = found[name] + shape.own * (shape.trunk[:, at] - found[name])
        sway, flex = found.pop("aside"), found.pop("flex")
    still = 1.0 - timing.moving
    rng = np.random.default_rng([settings.seed, 3])
    noise = slow_noise(len(course), course.fps, 4, 6.5 * float(np.sqrt(course.scale)), rng) * settings.fidget
    sway += still * 0.006 * body.height * noise[:, 0]
    found["rise_hind"] += still * 0.002 * body.height * noise[:, 1]
    found["rise_fore"] += still * 0.002 * body.height * noise[:, 2]
    found["roll_hind"] += still * np.radians(0.8) * noise[:, 0]
    found["roll_fore"] += still * np.radians(0.5) * noise[:, 3]
    breath = np.sin(2.0 * np.pi * _BREATHS / np.sqrt(course.scale) * np.arange(len(course)) / course.fps)
    flex += (0.3 + 0.7 * still) * _BREATH * breath * settings.fidget
    # A shape carries neck and tail its own way.
    carried = timing.moving if shape is None else np.zeros(len(course))
    return Girdles(
        **found, aside=sway, flex=flex, hold=value["hold"] * carried, neck=np.radians(value["neck"]) * carried,
        tail=np.radians(value["tail"]) * carried + (0.0 if shape is None else _TAIL_HANG * timing.moving),
    )  # fmt: skip


def trunk_of(
    course: PaddedRoot, timing: Timing, body: Body, girdles: Girdles, settings: GaitSettings, shape: ShapeMotion | None,
    *, whole: bool = True,
) -> Trunk:  # fmt: skip
    """The trunk's pose: its own shape first, then laid with the middles of hips and shoulders onto the course.

    Not ``whole``: what legs hang on only, head and tail as at rest.
    """
    frames = len(course)
    turns = np.zeros((frames, len(body.skeleton), 4))
    turns[..., 0] = 1.0
    bent = _bend(course, girdles, len(body.spine))
    along = rot.normalize(np.broadcast_to(rot.IDENTITY, (frames, 4)))
    turns[:, 0] = along
    for joint in body.spine:
        along = rot.mul(along, bent)
        turns[:, joint] = along
    _inherit(turns, body, {0, *body.spine})
    bare = _place(turns, np.zeros((frames, 3)), body)
    pelvis, chest = _middles(bare, body)
    upright = _laid(chest - pelvis, course, girdles, body)
    turns = rot.mul(upright[:, None], turns)
    pelvis, chest = rot.rotate(upright, pelvis), rot.rotate(upright, chest)
    rise = 0.5 * (girdles.rise_hind + girdles.rise_fore)
    side = rot.rotate_2d(course.root[:, 2], np.stack([girdles.aside, np.zeros(frames)], axis=1))
    height = 0.5 * (body.pelvis[2] + body.chest[2]) + rise
    middle = np.concatenate([course.root[:, :2] + side, height[:, None]], axis=1)
    hips = middle - 0.5 * (pelvis + chest)
    if not whole:
        _inherit(turns, body, {0, *body.spine}, shape)
        return Trunk(hips, turns, _place(turns, hips, body), shape is not None)
    _head(turns, course, timing, body, girdles, settings)
    _tail(turns, hips, course, body, girdles, settings)
    free = (*body.neck, *([body.head] if body.head >= 0 else []), *body.tail)
    if shape is not None:
        _add_free(turns, body, free, shape.free)
    _inherit(turns, body, {0, *body.spine, *free}, shape)
    return Trunk(hips, turns, _place(turns, hips, body), shape is not None)


def _bend(course: PaddedRoot, girdles: Girdles, joints: int) -> Array:
    """What each spine joint turns against the one before (f, 4)."""
    if joints == 0:
        return np.broadcast_to(rot.IDENTITY, (len(course), 4))
    yaw = 2.0 * course.bend + girdles.yaw_fore - girdles.yaw_hind
    twist = girdles.roll_fore - girdles.roll_hind
    # Rotation vectors: nose-down is +X here, left side up is -Y, to the left is +Z.
    vector = np.stack([girdles.flex, -twist, yaw], axis=1) / joints
    return rot.exp(vector)


def _laid(line: Array, course: PaddedRoot, girdles: Girdles, body: Body) -> Array:
    """The turn (f, 4) that brings the trunk's line from hips to shoulders onto the course, with its pitch and roll."""
    rest = body.chest - body.pelvis
    slope = np.arctan2(rest[2], float(np.linalg.norm(rest[:2])))
    length = np.linalg.norm(line, axis=1)
    lift = girdles.rise_fore - girdles.rise_hind
    angle = np.arcsin(np.clip((rest[2] + lift) / length, -0.9, 0.9)) - slope
    level = rot.between(line, np.broadcast_to(rest, line.shape))
    yaw = course.root[:, 2] + 0.5 * (girdles.yaw_hind + girdles.yaw_fore)
    turned = rot.mul(rot.from_yaw(yaw), rot.mul(pitch(angle), roll(girdles.roll_hind)))
    return rot.mul(turned, level)


def _head(
    turns: Array, course: PaddedRoot, timing: Timing, body: Body, girdles: Girdles, settings: GaitSettings
) -> None:
    """Neck and head: carriage, looking where the way goes, the trunk's pitch and roll held off; in place."""
    if body.head < 0:
        return
    fps, frames = course.fps, len(course)
    chest = turns[:, body.chest_joint]
    ahead = rot.rotate(chest, rot.FORWARD)
    rise = np.arcsin(np.clip(ahead[:, 2], -1.0, 1.0))
    calm = 0.35 * float(np.sqrt(course.scale))
    rng = np.random.default_rng([settings.seed, 4])
    look = np.minimum(np.arange(frames) + int(_LOOK_AHEAD * np.sqrt(course.scale) * fps), frames - 1)
    facing = smoothed(course.root[look, 2], 0.2, fps) - rot.yaw_of_direction(ahead[:, :2])
    facing = rot.wrap_angle(facing)
    turn = _MOST_LOOK * np.tanh(facing * _LOOK_SHARE / _MOST_LOOK)
    still = 1.0 - timing.moving
    glance = glances(frames, fps, rng) * settings.fidget
    nod = slow_noise(frames, fps, 2, 5.0, rng) * settings.fidget
    turn = turn + (0.25 * timing.moving**2 + 0.75 * still) * 0.8 * glance
    swing = rise - smoothed(rise, calm, fps)
    leaning = np.arcsin(np.clip(rot.rotate(chest, _FLAT)[:, 2], -1.0, 1.0))
    joints = (*body.neck, body.head)
    raised = girdles.neck + still * np.radians(1.5) * nod[:, 0]
    # The neck takes the trunk's swing back where it begins, the head keeps its own line.
    shares = np.linspace(1.3, 0.7, len(joints)) / len(joints)
    before = chest
    for number, joint in enumerate(joints):
        up = shares[number] * (raised - girdles.hold * swing)
        if joint == body.head:
            up = up - 0.8 * raised
        part = rot.mul(rot.from_yaw(shares[number] * turn), pitch(up))
        part = rot.mul(part, roll(-shares[number] * (0.8 * leaning)))
        before = rot.mul(before, part)
        turns[:, joint] = before


def _tail(
    turns: Array, hips: Array, course: PaddedRoot, body: Body, girdles: Girdles, settings: GaitSettings
) -> None:
    """Each tail joint is a spring that follows the one before; in place."""
    if not body.tail:
        return
    fps = course.fps
    pelvis = turns[:, 0]
    ahead = rot.rotate(pelvis, rot.FORWARD)
    yaw = np.unwrap(rot.yaw_of_direction(ahead[:, :2]))
    rise = np.arcsin(np.clip(ahead[:, 2], -1.0, 1.0))
    heave = np.gradient(np.gradient(smoothed(hips[:, 2], 0.05, fps))) * fps * fps
    rng = np.random.default_rng([settings.seed, 5])
    wag = slow_noise(len(course), fps, 1, 3.5, rng)[:, 0] * settings.fidget * np.radians(5.0)
    hang = -_TAIL_HANG + girdles.tail
    # Seen from the pelvis: yaw and rise (f, 2) that the spring of each joint has reached.
    reached = np.stack([yaw, rise + _TAIL_HEAVE * heave / 9.81], axis=1)
    frequency = _TAIL_HZ / float(np.sqrt(course.scale))
    above = np.stack([yaw, rise], axis=1)
    before = pelvis
    for number, joint in enumerate(body.tail):
        reached = follow(reached, fps, frequency * _TAIL_SLOWER**number, _TAIL_DAMPING)
        swing = reached - above
        droop = hang * (0.9 if number == 0 else 0.45 * np.exp(-0.5 * number))
        # A tail points backwards: pitching it nose-up lowers its tip.
        part = rot.mul(rot.from_yaw(swing[:, 0] + wag * (0.3 + 0.3 * number)), pitch(swing[:, 1] - droop))
        before = rot.mul(before, part)
        turns[:, joint] = before
        above = reached


def _middles(positions: Array, body: Body) -> tuple[Array, Array]:
    hips, shoulders = ([body.limbs[k].foot.hip for k in pair] for pair in ((0, 1), (2, 3)))
    return np.mean(positions[:, hips], axis=1), np.mean(positions[:, shoulders], axis=1)


def _add_free(turns: Array, body: Body, joints: tuple[int, ...], added: Array) -> None:
    """Turn neck, head and tail further by (f, n, 4) each against the joint before; in place."""
    was = {joint: np.array(turns[:, joint]) for joint in (*body.spine, 0, *joints)}
    for number, joint in enumerate(joints):
        parent = body.skeleton.parents[joint]
        own = rot.inv_mul(was[parent], was[joint])
        turns[:, joint] = rot.mul(turns[:, parent], rot.mul(added[:, number], own))


def _inherit(turns: Array, body: Body, own: set[int], shape: ShapeMotion | None = None) -> None:
    """Give every joint without a turn of its own that of its parent, legs by a shape; in place."""
    keyed = {}
    for leg, tracks in enumerate(shape.legs if shape is not None else ()):
        keyed.update({joint: tracks[:, at] for at, joint in enumerate(leg_joints(body, leg))})
    for joint, parent in enumerate(body.skeleton.parents):
        if joint in keyed:
            turns[:, joint] = rot.mul(turns[:, parent], keyed[joint])
        elif joint not in own:
            turns[:, joint] = turns[:, parent]


def _place(turns: Array, hips: Array, body: Body) -> Array:
    """World positions (f, b, 3) of joints turned away from rest."""
    out = np.empty((*turns.shape[:2], 3))
    out[:, 0] = hips
    for joint, parent in enumerate(body.skeleton.parents):
        if joint:
            out[:, joint] = out[:, parent] + rot.rotate(
                turns[:, parent], body.positions[joint] - body.positions[parent]
            )
    return out
