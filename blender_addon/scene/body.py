"""A simple body for a skeleton: one low-poly mesh of rounded pieces, each belonging to one joint. No Blender here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton

#: Radii (metres, for legs of `REFERENCE_LEG`) at the start and the end of each role's piece: across, and front to back.
RADII: dict[str, tuple[float, float, float, float]] = {
    "hips": (0.150, 0.110, 0.135, 0.100), "spine_1": (0.130, 0.095, 0.150, 0.105),
    "spine": (0.155, 0.105, 0.120, 0.085),
    "neck": (0.050, 0.050, 0.048, 0.048), "clavicle": (0.050, 0.055, 0.060, 0.055),
    "shoulder": (0.052, 0.052, 0.040, 0.040), "elbow": (0.040, 0.040, 0.030, 0.028),
    "wrist": (0.032, 0.036, 0.026, 0.020),
    "hip": (0.088, 0.088, 0.060, 0.060), "knee": (0.058, 0.058, 0.040, 0.040),
}  # fmt: skip
REFERENCE_LEG = 0.866
SIDES = 12
_MIDDLE = ("spine", "neck", "head")
_CAP = (0.35, 0.75, 0.95)


@dataclass(frozen=True)
class Piece:
    """A closed part of the body.

    Attributes:
        joint: its joint.
        vertices: (n, 3) metres, in the skeleton's rest pose.
        faces: tuples of vertex indices.
        colour: 0 middle, 1 left, 2 right, 3 head, 4 feet.
    """

    joint: int
    vertices: Array
    faces: tuple[tuple[int, ...], ...]
    colour: int


def bone_ends(skeleton: Skeleton) -> Array:
    """Where each joint's bone ends in the rest pose (b, 3), metres: at the next joint of its limb, if it has one."""
    places, turns = skeleton.rest_world
    role_of = {name: role for role, name in skeleton.roles.items()}
    ends = np.array(places)
    for joint in range(len(skeleton)):
        children = [child for child, parent in enumerate(skeleton.parents) if parent == joint]
        middle = [child for child in children if role_of.get(skeleton.names[child], "").startswith(_MIDDLE)]
        if middle or len(children) == 1:
            ends[joint] = places[(middle or children)[0]]
        else:
            ends[joint] = places[joint] + rot.rotate(turns[joint], skeleton.tails[joint])
        if np.linalg.norm(ends[joint] - places[joint]) < 0.01:
            ends[joint] = places[joint] + np.array([0.0, 0.0, 0.05])
    return ends


def body(skeleton: Skeleton) -> list[Piece]:
    """The pieces of a body around a biped's skeleton in its rest pose."""
    places, _ = skeleton.rest_world
    ends = bone_ends(skeleton)
    scale = skeleton.leg_length / REFERENCE_LEG
    pieces = []
    for role, name in skeleton.roles.items():
        joint = skeleton.names.index(name)
        side = 1 if role.startswith("left") else 2 if role.startswith("right") else 0
        part = role.split("_", 1)[1] if side else role
        if part in ("ankle", "toe"):
            pieces.append(_shoe(skeleton, joint, part, places, ends, scale))
        elif part == "head":
            pieces += _head(joint, places[joint], ends[joint], scale, skeleton.has("neck"))
        else:
            radii = RADII.get(part) or RADII["spine"]
            # A collar bone begins in front of the chest: its outer half is enough.
            start = 0.45 * places[joint] + 0.55 * ends[joint] if part == "clavicle" else places[joint]
            vertices, faces = capsule(start, ends[joint], np.array(radii) * scale)
            pieces.append(Piece(joint, vertices, faces, side))
    return pieces


def _head(joint: int, start: Array, end: Array, scale: float, has_neck: bool) -> list[Piece]:
    """A head, with a nose to tell front from back; with its neck where the skeleton has none."""
    up = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    base = start if has_neck else start + up * 0.09 * scale
    centre = base + up * 0.115 * scale
    pieces = [Piece(joint, *ellipsoid(centre, np.array([0.078, 0.095, 0.118]) * scale), 3)]
    pieces.append(Piece(joint, *ellipsoid(centre + np.array([0, -0.1, -0.005]) * scale, np.full(3, 0.016) * scale), 3))
    if not has_neck:
        pieces.append(Piece(joint, *capsule(start, base + up * 0.03 * scale, np.array(RADII["neck"]) * scale), 0))
    return pieces


def _shoe(skeleton: Skeleton, joint: int, part: str, places: Array, ends: Array, scale: float) -> Piece:
    """Half a shoe with its sole on the ground: from the heel to the ball, or from the ball to the tip."""
    foot = next(foot for foot in skeleton.feet if joint in (foot.ankle, foot.toe))
    _, turns = skeleton.rest_world
    heel = places[foot.ankle] + rot.rotate(turns[foot.ankle], foot.heel)
    ball = places[foot.ankle] + rot.rotate(turns[foot.ankle], foot.ball)
    tip = places[foot.toe] + rot.rotate(turns[foot.toe], foot.tip)
    if part == "ankle":
        top = max(float(places[foot.ankle, 2] - heel[2]), 0.03 * scale)
        ring = [(heel, 0.034, top * 0.95), (places[foot.ankle] * [1, 1, 0] + heel * [0, 0, 1], 0.038, top * 1.15),
                (ball, 0.046, max(2.2 * foot.ball_height, 0.045 * scale))]  # fmt: skip
    else:
        ring = [(ball, 0.046, max(2.1 * foot.ball_height, 0.043 * scale)), (tip, 0.036, 0.024 * scale)]
    ahead = (ball - heel) * [1, 1, 0]
    across = np.array([-ahead[1], ahead[0], 0.0]) / max(float(np.linalg.norm(ahead)), 1e-9)
    vertices = []
    for place, half, height in ring:
        wide = across * half * scale
        up = np.array([0.0, 0.0, height])
        vertices += [place - wide, place + wide, place + 0.8 * wide + up, place - 0.8 * wide + up]
    faces = [(3, 2, 1, 0)]
    for k in range(len(ring) - 1):
        for s in range(4):
            a, b = 4 * k + s, 4 * k + (s + 1) % 4
            faces.append((a, b, b + 4, a + 4))
    last = 4 * (len(ring) - 1)
    faces.append((last, last + 1, last + 2, last + 3))
    return Piece(joint, np.array(vertices), tuple(faces), 4)


def capsule(start: Array, end: Array, radii: npt.ArrayLike) -> tuple[Array, tuple[tuple[int, ...], ...]]:
    """A rounded cone from start to end; radii (4,): across and in depth at the start, then at the end."""
    a, b, c, d = np.asarray(radii, dtype=np.float64)
    axis = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    across = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.8 else np.array([0.0, 0.0, 1.0])
    across = across - axis * (across @ axis)
    across /= np.linalg.norm(across)
    depth = np.cross(axis, across)
    rings = [(start - axis * np.sqrt(1 - t * t) * 0.6 * min(a, b), a * t, b * t) for t in _CAP]
    rings += [(start, a, b), (end, c, d)]
    rings += [(end + axis * np.sqrt(1 - t * t) * 0.6 * min(c, d), c * t, d * t) for t in reversed(_CAP)]
    return _lathe(rings, across, depth)


def ellipsoid(centre: Array, radii: Array) -> tuple[Array, tuple[tuple[int, ...], ...]]:
    """A ball drawn out along x, y and z; radii (3,)."""
    angles = np.linspace(-0.46, 0.46, 8) * np.pi
    rings = [
        (centre + np.array([0.0, 0.0, radii[2] * np.sin(t)]), radii[0] * np.cos(t), radii[1] * np.cos(t))
        for t in angles
    ]
    return _lathe(rings, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))


def _lathe(
    rings: list[tuple[Array, float, float]], across: Array, depth: Array
) -> tuple[Array, tuple[tuple[int, ...], ...]]:
    turn = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.cos(turn)[:, None] * across, np.sin(turn)[:, None] * depth
    vertices = np.concatenate([place + wide * circle[0] + deep * circle[1] for place, wide, deep in rings])
    faces: list[tuple[int, ...]] = [tuple(reversed(range(SIDES)))]
    for k in range(len(rings) - 1):
        for s in range(SIDES):
            a, b = k * SIDES + s, k * SIDES + (s + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
    faces.append(tuple(range(len(vertices) - SIDES, len(vertices))))
    return vertices, tuple(faces)
