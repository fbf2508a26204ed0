"""A simple body for a four-legged skeleton, as foxes and dogs have it: trunk, legs, muzzle, ears, tail. No Blender."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..motion import animal
from ..motion import rotations as rot
from ..motion.rotations import Array
from ..motion.skeleton import Foot, Skeleton
from .body import Piece, bone_ends, capsule, ellipsoid

#: Half widths at both ends of each part of a leg, across and in depth, in shares of the withers' height.
_LEGS: dict[str, tuple[float, float, float, float]] = {
    "scapula": (0.040, 0.075, 0.062, 0.100), "shoulder": (0.062, 0.098, 0.044, 0.058),
    "elbow": (0.040, 0.052, 0.028, 0.032), "wrist": (0.030, 0.034, 0.028, 0.030),
    "hip": (0.068, 0.120, 0.050, 0.075), "knee": (0.046, 0.066, 0.026, 0.034), "hock": (0.028, 0.034, 0.026, 0.030),
    "fore_paw": (0.030, 0.032, 0.028, 0.030), "hind_paw": (0.030, 0.032, 0.028, 0.030),
}  # fmt: skip
#: Half widths of the trunk at pelvis, waist and chest, in shares of the withers' height.
_WIDTH = (0.120, 0.120, 0.150)
#: How much of the height between back and elbow or stifle the trunk fills at pelvis, waist and chest.
_DEPTH = (0.50, 0.46, 0.60)
_NECK, _TAIL = (0.130, 0.095), (0.035, 0.075, 0.015)
_HEAD = 0.36


def animal_body(skeleton: Skeleton) -> list[Piece]:
    """The pieces of a body around a four-legged skeleton in its rest pose."""
    size = animal.shoulder_height(skeleton)
    ends = bone_ends(skeleton)
    pieces = [*_trunk(skeleton, ends, size), *_neck(skeleton, ends, size), *_tail(skeleton, ends, size)]
    if skeleton.has("head"):
        pieces += _head(skeleton, size)
    for foot in skeleton.feet:
        pieces += _leg(skeleton, foot, ends, size)
    return pieces


def _roles(skeleton: Skeleton, stem: str) -> list[str]:
    return [role for role in (stem, *(f"{stem}_{k}" for k in range(1, 9))) if skeleton.has(role)]


def _trunk(skeleton: Skeleton, ends: Array, size: float) -> Iterator[Piece]:
    """Capsules under the spine: deep at the chest, drawn in at the waist."""
    places = skeleton.rest_world[0]
    hind, fore = animal.girdles(skeleton, places)
    elbow, knee = (
        float(np.mean([places[skeleton.index(f"{side}_{part}"), 2] for side in ("left", "right")]))
        for part in ("elbow", "knee")
    )
    rear, front = float(hind[1]) + 0.10 * size, float(fore[1]) - 0.02 * size

    def section(point: Array) -> tuple[Array, float, float]:
        """Middle, half width and half depth of the trunk at a point of the spine."""
        share = np.clip((point[1] - rear) / min(front - rear, -1e-6), 0.0, 1.0)
        bottom = knee + share * (elbow - knee)
        half = float(np.interp(share, (0.0, 0.45, 0.85), _DEPTH)) * max(float(point[2]) - bottom, 0.2 * size)
        half = min(half, 0.3 * size)
        wide = size * float(np.interp(share, (0.0, 0.45, 0.85), _WIDTH))
        return np.array([point[0], point[1], point[2] + 0.05 * size - half]), wide, half

    for role in ("hips", *_roles(skeleton, "spine")):
        joint = skeleton.index(role)
        begin = np.array(places[joint])
        if role == "hips":
            begin[1] = max(begin[1], rear)
        one, two = section(begin), section(ends[joint])
        yield Piece(joint, *capsule(one[0], two[0], (one[1], one[2], two[1], two[2])), 0)


def _neck(skeleton: Skeleton, ends: Array, size: float) -> Iterator[Piece]:
    joints = [skeleton.index(role) for role in _roles(skeleton, "neck")]
    places = skeleton.rest_world[0]
    for number, joint in enumerate(joints):
        wide = size * np.interp([number, number + 1], (0, len(joints)), _NECK)
        radii = (0.85 * wide[0], wide[0], 0.85 * wide[1], wide[1])
        yield Piece(joint, *capsule(places[joint], ends[joint], radii), 0)


def _tail(skeleton: Skeleton, ends: Array, size: float) -> Iterator[Piece]:
    """A brush: thickest behind the middle."""
    joints = [skeleton.index(role) for role in _roles(skeleton, "tail")]
    places = skeleton.rest_world[0]
    for number, joint in enumerate(joints):
        wide = size * np.interp(np.array([number, number + 1]) / len(joints), (0.0, 0.6, 1.0), _TAIL)
        yield Piece(joint, *capsule(places[joint], ends[joint], (wide[0], wide[0], wide[1], wide[1])), 0)


def _head(skeleton: Skeleton, size: float) -> Iterator[Piece]:
    """Skull, muzzle with a nose, and two ears that stand up."""
    joint = skeleton.index("head")
    places, turns = skeleton.rest_world
    line = rot.rotate(turns[joint], skeleton.tails[joint])
    # Where the head's bone does not lead to the nose: ahead, a little down.
    if -line[1] < 0.5 * np.linalg.norm(line) or np.linalg.norm(line) < 0.05 * size:
        line = np.array([0.0, -1.0, -0.3])
    ahead = line / np.linalg.norm(line) - [0.0, 0.0, 0.1]
    ahead = ahead / np.linalg.norm(ahead)
    up = np.cross([1.0, 0.0, 0.0], ahead)
    up = up if up[2] > 0.0 else -up
    skull = places[joint] + 0.075 * size * ahead + 0.01 * size * up
    nose = skull + (_HEAD - 0.09) * size * ahead - 0.045 * size * up
    yield Piece(joint, *ellipsoid(skull, np.array([0.108, 0.122, 0.108]) * size), 3)
    muzzle = (0.070 * size, 0.068 * size, 0.030 * size, 0.027 * size)
    yield Piece(joint, *capsule(skull + 0.05 * size * ahead - 0.012 * size * up, nose, muzzle), 3)
    yield Piece(joint, *ellipsoid(nose + 0.012 * size * ahead + 0.008 * size * up, np.full(3, 0.021 * size)), 4)
    for side in (1.0, -1.0):
        across = side * np.array([1.0, 0.0, 0.0])
        root = skull + size * (0.060 * across + 0.075 * up - 0.020 * ahead)
        tip = root + size * (0.030 * across + 0.130 * up)
        yield Piece(joint, *capsule(root, tip, np.array([0.042, 0.040, 0.006, 0.006]) * size), 3)


def _leg(skeleton: Skeleton, foot: Foot, ends: Array, size: float) -> Iterator[Piece]:
    """A leg from the shoulder blade or hip down to a paw that stands on the ground."""
    places, turns = skeleton.rest_world
    side, end = foot.side.split("_")
    colour = 1 if side == "left" else 2
    ball = places[foot.ankle] + rot.rotate(turns[foot.ankle], foot.ball)
    if end == "fore" and skeleton.has(f"{side}_scapula"):
        blade = skeleton.index(f"{side}_scapula")
        yield Piece(blade, *capsule(places[blade], ends[blade], np.array(_LEGS["scapula"]) * size), colour)
    roles = {skeleton.index(role): role.split("_", 1)[1] for role in animal.leg_roles(foot.side) if skeleton.has(role)}
    for joint in foot.chain:
        last = joint == foot.chain[-1]
        if last and foot.toe != foot.ankle:
            continue
        radii = np.array(_LEGS.get(roles[joint], _LEGS["hock"])) * size
        goal = ball + [0.0, 0.0, 0.03 * size] if last else ends[joint]
        yield Piece(joint, *capsule(places[joint], goal, radii), colour)
    yield _paw(skeleton, foot, ball, size)


def _paw(skeleton: Skeleton, foot: Foot, ball: Array, size: float) -> Piece:
    """A paw whose underside lies on the ground from a little behind the ball to the toes' tip."""
    places, turns = skeleton.rest_world
    tip = places[foot.toe] + rot.rotate(turns[foot.toe], foot.tip)
    ahead = (tip - ball) * [1.0, 1.0, 0.0]
    length = float(np.linalg.norm(ahead))
    ahead = ahead / length if length > 0.02 * size else np.array([0.0, -1.0, 0.0])
    length = float(np.clip(length, 0.06 * size, 0.16 * size))
    high = max(0.045 * size, 0.8 * float(places[foot.toe, 2] - ball[2]) if foot.toe != foot.ankle else 0.0)
    wide = 0.048 * size
    back, front = ball - 0.35 * wide * ahead, ball + (length - 0.8 * wide) * ahead
    lift = np.array([0.0, 0.0, 0.5 * high])
    vertices, faces = capsule(back + lift, front + 0.85 * lift, (wide, 0.62 * high, 0.9 * wide, 0.5 * high))
    vertices = np.array(vertices)
    vertices[:, 2] = np.maximum(vertices[:, 2], ball[2])
    return Piece(foot.toe, vertices, faces, 4)
