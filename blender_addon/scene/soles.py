"""The soles of a character's feet, measured on its own mesh in the rest pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.rotations import Array
from ..motion.skeleton import SIDES, Foot, Skeleton, Sole

#: A vertex belongs to a foot with at least this share of its weight.
_SHARE = 0.5
#: Fewer vertices make no foot.
_LEAST = 12
#: A paw's last joint is no higher than this share of its leg; legs without paw bones end at the hock.
_PAW = 0.75

#: (mesh, its points, what was looked for) -> points: bakes and previews ask for the same again and again.
_known: dict[tuple[object, ...], Array] = {}


def foot_points(ob: bpy.types.Object, bones: Sequence[str]) -> Array:
    """Rest places (n, 3) in the armature's space of the vertices that follow some of its bones."""
    wanted = frozenset(bones)
    found = [np.empty((0, 3))]
    back = np.linalg.inv(np.array(ob.matrix_world, dtype=np.float64))
    for mesh in bpy.data.objects:
        if mesh.type != "MESH" or not mesh.users_scene:
            continue
        if mesh.parent == ob and mesh.parent_type == "BONE" and mesh.parent_bone in wanted:
            bone = ob.data.bones[mesh.parent_bone]
            place = np.array(bone.matrix_local, dtype=np.float64)
            place[:3, 3] += place[:3, 1] * bone.length
            place = place @ np.array(mesh.matrix_parent_inverse) @ np.array(mesh.matrix_basis)
            found.append(_moved(place, _coordinates(mesh.data)))
        elif any(modifier.type == "ARMATURE" and modifier.object == ob for modifier in mesh.modifiers):
            place = back @ np.array(mesh.matrix_world, dtype=np.float64)
            found.append(_moved(place, _weighted(mesh, wanted)))
    return np.concatenate(found)


def _coordinates(mesh: bpy.types.Mesh) -> Array:
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def _weighted(ob: bpy.types.Object, wanted: frozenset[str]) -> Array:
    groups = frozenset(group.index for group in ob.vertex_groups if group.name in wanted)
    points = _coordinates(ob.data)
    if not groups:
        return points[:0]
    key = (ob.name_full, len(points), hash(points.tobytes()), groups)
    if key not in _known:
        if len(_known) > 64:
            _known.clear()
        chosen = []
        for vertex in ob.data.vertices:
            mine = total = 0.0
            for member in vertex.groups:
                total += member.weight
                if member.group in groups:
                    mine += member.weight
            if total > 0.0 and mine >= _SHARE * total:
                chosen.append(vertex.index)
        _known[key] = points[chosen]
    return _known[key]


def _moved(matrix: Array, points: Array) -> Array:
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def measured(
    ob: bpy.types.Object, skeleton: Skeleton, rest: tuple[Array, Array], scale: float
) -> dict[str, Sole]:
    """Side -> sole, for the feet whose mesh tells: empty for a character without mesh.

    Args:
        ob: the armature.
        skeleton: upright in its rest pose; metres.
        rest: rotations (b, 4) and places (b, 3) of its joints in the armature's space, where the mesh is at rest.
        scale: metres per unit of the armature.
    """
    positions, rotations = skeleton.rest_world
    found = {}
    for side in SIDES:
        ankle = skeleton.index(f"{side}_ankle")
        toe = skeleton.index(f"{side}_toe") if skeleton.has(f"{side}_toe") else ankle
        own = _below(ob, skeleton.names[ankle])
        toes = _below(ob, skeleton.names[toe]) if toe != ankle else set()
        clouds = []
        for joint, bones in ((ankle, own - toes), (toe, toes)):
            points = foot_points(ob, sorted(bones)) if bones else np.empty((0, 3))
            local = rot.inv_rotate(rest[0][joint], (points - rest[1][joint]) * scale)
            clouds.append(positions[joint] + rot.rotate(rotations[joint], local))
        sole = _sole(np.concatenate(clouds), skeleton, side, ankle, toe)
        if sole is not None:
            found[side] = sole
    return found if len(found) == 2 else {}


def measured_paws(
    ob: bpy.types.Object, skeleton: Skeleton, rest: tuple[Array, Array], scale: float
) -> dict[str, Sole]:
    """Leg -> sole under its paw or hoof, for a four-legged character whose mesh tells; arguments as of `measured`.

    Where the toes lie on the ground the leg stands under their joint; where the leg's last joint is above the
    ground, on the middle of what touches it.
    """
    positions, rotations = skeleton.rest_world
    found = {}
    for foot in skeleton.feet:
        clouds = []
        below = {joint: _below(ob, skeleton.names[joint]) for joint in (foot.ankle, foot.toe)}
        if foot.toe != foot.ankle:
            below[foot.ankle] = below[foot.ankle] - below[foot.toe]
        for joint, bones in below.items():
            points = foot_points(ob, sorted(bones)) if bones else np.empty((0, 3))
            local = rot.inv_rotate(rest[0][joint], (points - rest[1][joint]) * scale)
            clouds.append(positions[joint] + rot.rotate(rotations[joint], local))
        sole = _paw(np.concatenate(clouds), skeleton, foot)
        if sole is not None:
            found[foot.side] = sole
    return found if len(found) == len(skeleton.feet) else {}


def _paw(points: Array, skeleton: Skeleton, foot: Foot) -> Sole | None:
    """The sole under the vertices of a paw or hoof (n, 3); None where they cannot be those of one."""
    if len(points) < _LEAST:
        return None
    positions, rotations = skeleton.rest_world
    ground = float(np.percentile(points[:, 2], 1.0))
    top, over = float(positions[foot.hip, 2]) - ground, float(positions[foot.toe, 2]) - ground
    if not (0.0 < over < top and over < _PAW * top):
        return None
    near = points[points[:, 2] < ground + 0.35 * over]
    back, front = float(near[:, 1].max()), float(near[:, 1].min())
    across = 0.5 * float(near[:, 0].min() + near[:, 0].max())
    if back - front > 0.8 * top:
        return None
    flat = foot.toe != foot.ankle

    def local(joint: int, x: float, y: float) -> Array:
        return rot.inv_rotate(rotations[joint], np.array([x, y, ground]) - positions[joint])

    at = float(positions[foot.toe, 1])
    if not flat or not front <= at <= back:
        at = 0.5 * (back + front)
    ball = local(foot.ankle, float(positions[foot.toe, 0]) if flat else across, at)
    return Sole(ball if flat else local(foot.ankle, across, back), ball, local(foot.toe, across, front))


def _below(ob: bpy.types.Object, bone: str) -> set[str]:
    return {bone, *(child.name for child in ob.data.bones[bone].children_recursive)}


def _sole(points: Array, skeleton: Skeleton, side: str, ankle: int, toe: int) -> Sole | None:
    """The sole under the vertices of one foot (n, 3); None where they cannot be those of a foot."""
    if len(points) < _LEAST:
        return None
    positions, rotations = skeleton.rest_world
    ground = float(np.percentile(points[:, 2], 1.0))
    over = float(positions[ankle, 2]) - ground
    knee = positions[skeleton.index(f"{side}_knee")]
    if not 0.0 < over < 1.5 * float(np.linalg.norm(knee - positions[ankle])):
        return None
    ahead = np.array([0.0, -1.0, 0.0])
    if toe != ankle:
        step = (positions[toe] - positions[ankle]) * np.array([1.0, 1.0, 0.0])
        if np.linalg.norm(step) > 0.2 * over:
            ahead = step / np.linalg.norm(step)
    near = points[points[:, 2] < ground + 0.5 * over]
    along = (near - positions[ankle]) @ ahead
    back, front = float(along.min()), float(along.max())
    if not 0.5 * over < front - back < 8.0 * over + 0.5:
        return None
    left = np.cross(np.array([0.0, 0.0, 1.0]), ahead)
    across = (near - positions[ankle]) @ left

    def under(share: float, at: float) -> Array:
        """On the ground, at ``at`` along the foot, in the middle of the sole there."""
        here = np.abs(along - (back + share * (front - back))) < 0.15 * (front - back)
        middle = 0.5 * float(across[here].min() + across[here].max()) if here.any() else 0.0
        point = positions[ankle] + at * ahead + middle * left
        return np.array([point[0], point[1], ground])

    length = front - back
    ball = float((positions[toe] - positions[ankle]) @ ahead) if toe != ankle else back + 0.7 * length
    if not back + 0.3 * length < ball < front:
        ball = back + 0.7 * length
    return Sole(
        heel=rot.inv_rotate(rotations[ankle], under(0.0, back) - positions[ankle]),
        ball=rot.inv_rotate(rotations[ankle], under((ball - back) / length, ball) - positions[ankle]),
        tip=rot.inv_rotate(rotations[toe], under(1.0, front) - positions[toe]),
    )


def lowest(skeleton: Skeleton, soles: Mapping[str, Sole]) -> float:
    """Height of the lowest measured sole in the rest pose."""
    positions, rotations = skeleton.rest_world
    heights = []
    for foot in skeleton.feet:
        sole, ankle = soles[foot.side], foot.ankle
        heights.append(float((positions[ankle] + rot.rotate(rotations[ankle], sole.ball))[2]))
    return min(heights)
