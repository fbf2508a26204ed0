"""An armature's rest pose, or the pose given as reference, as an upright skeleton in model space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.rotations import UP, Array
from ..motion.skeleton import SIDES, Skeleton
from . import soles
from .curves import metres_per_unit

#: Custom property of an armature object that holds its reference pose (JSON): bone -> rotation and place.
REFERENCE_PROPERTY = "gaitsmith_reference"
_EVEN = 1e-4
#: A body that leans more than this is taken to lie, not to lean; beyond the second angle it stands on its head.
_LEANS, _FALLS = np.radians(50.0), np.radians(125.0)


@dataclass(frozen=True)
class RestPose:
    """What the rest pose of an armature tells.

    Attributes:
        skeleton: upright, facing -Y, soles at height 0.
        facing: yaw in the world of a body standing as the armature object stands.
        standing: rotation (4,) from the armature's space to the world for a body that stands upright: the object's
            own, unless the rest pose lies.
        ground: height of the soles over the object's origin, metres, standing.
        from_mesh: the soles were measured on the mesh.
    """

    skeleton: Skeleton
    facing: float
    standing: Array
    ground: float
    from_mesh: bool


def object_frame(ob: bpy.types.Object) -> tuple[Array, Array, float]:
    """Rotation (4,), place (3,) in metres and metres per unit of an object; raises `RigError` unless evenly scaled."""
    matrix = np.array(ob.matrix_world, dtype=np.float64)
    unit = metres_per_unit()
    axes = matrix[:3, :3]
    if not np.all(np.isfinite(matrix)):
        raise RigError(f"The transform of {ob.name!r} is not finite", "Clear its location, rotation and scale")
    scales = np.linalg.norm(axes, axis=0)
    mean = float(np.mean(scales))
    remedy = "Apply its scale (Ctrl A > Scale), or give it and its parents one even scale"
    if mean < 1e-9:
        raise RigError(f"The armature {ob.name!r} is scaled to nothing", remedy)
    if np.ptp(scales) > _EVEN * mean or np.abs(axes.T @ axes / mean**2 - np.eye(3)).max() > 4 * _EVEN:
        words = " x ".join(f"{value:.3f}" for value in scales)
        raise RigError(f"The armature {ob.name!r} is scaled unevenly or sheared ({words})", remedy)
    if np.linalg.det(axes) < 0.0:
        raise RigError(f"The armature {ob.name!r} is mirrored (negative scale)", remedy)
    return rot.from_matrix(axes / mean), matrix[:3, 3] * unit, mean * unit


def keep_reference(ob: bpy.types.Object) -> None:
    """Take the pose that the armature shows now as the one to align by, instead of its rest pose."""
    bpy.context.view_layer.update()
    pose = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    kept = {}
    for bone in pose:
        matrix = np.array(bone.matrix, dtype=np.float64)
        axes = matrix[:3, :3] / np.maximum(np.linalg.norm(matrix[:3, :3], axis=0), 1e-12)
        if np.abs(np.array(bone.bone.matrix_local) - matrix).max() > 1e-6:
            kept[bone.name] = [*np.round(rot.from_matrix(axes), 7).tolist(), *np.round(matrix[:3, 3], 7).tolist()]
    ob[REFERENCE_PROPERTY] = json.dumps(kept, ensure_ascii=False)


def clear_reference(ob: bpy.types.Object) -> None:
    """Align by the rest pose again."""
    if REFERENCE_PROPERTY in ob:
        del ob[REFERENCE_PROPERTY]


def reference_pose(ob: bpy.types.Object) -> dict[str, Array]:
    """Bone -> rotation and place (7,) in the armature's space; empty when the rest pose is the reference.

    Raises:
        RigError: what is kept cannot be read.
    """
    text = ob.get(REFERENCE_PROPERTY)
    if not text:
        return {}
    try:
        kept = {str(name): np.array(values, dtype=np.float64) for name, values in json.loads(text).items()}
        if any(values.shape != (7,) or not np.all(np.isfinite(values)) for values in kept.values()):
            raise ValueError("values are missing")
        return kept
    except (ValueError, TypeError, AttributeError) as error:
        raise RigError(
            f"The reference pose kept with {ob.name!r} is damaged ({error})", "Clear it, or take the pose again"
        ) from error


def read_rest(
    ob: bpy.types.Object, bones: Mapping[str, str], order: Sequence[str], parents: Mapping[str, str | None],
    joints: tuple[Array, Array], rotation: Array, scale: float,
) -> RestPose:  # fmt: skip
    """The skeleton of an armature's mapped bones.

    Args:
        ob: the armature object.
        bones: role -> bone.
        order: roles, the hips first, parents before children.
        parents: role -> role of the joint above.
        joints: rest rotations (b, 4) and places (b, 3) in the armature's space, in that order; more are ignored.
        rotation, scale: of the object in the world.

    Raises:
        RigError: the legs have no length, begin at one place, or the body stands on its head.
    """
    count = len(order)
    number = {role: index for index, role in enumerate(order)}
    own = joints[0][:count], joints[1][:count]
    _check_lengths(bones, number, own[1])
    world, places = in_reference(ob, bones, order, own, parents)
    world, places = rot.mul(rotation, world), rot.rotate(rotation, places * scale)
    stand = stood_up(ob, _up(places, number), rotation, "stands on its head")
    world, places = rot.mul(stand, world), rot.rotate(stand, places)
    left = places[number["left_hip"]] - places[number["right_hip"]]
    if np.linalg.norm(left[:2]) < 1e-6:
        raise RigError("Both legs begin at one place", "Map left and right leg to different bones")
    facing = float(rot.yaw_of_direction(np.array([left[1], -left[0]])))
    back = rot.from_yaw(-facing)
    world, places = rot.mul(back, world), rot.rotate(back, places)
    lengths = np.array([ob.data.bones[bones[role]].length * scale for role in order])
    tails = np.stack([np.zeros(count), lengths, np.zeros(count)], axis=-1)
    _plausible_feet(tails, places, world, number)
    skeleton = hung(bones, order, parents, world, places, tails)
    found = soles.measured(ob, skeleton, own, scale)
    ground = soles.lowest(skeleton, found) if found else _ground(places, world, tails, number)
    offsets = np.array(skeleton.offsets)
    offsets[0] = [0.0, 0.0, places[0, 2] - ground]
    toes = [number[role] for role in ("left_toe", "right_toe") if role in number]
    leg = skeleton.leg_length
    ball = float(np.clip(np.mean(places[toes, 2]) - ground, 0.004, 0.25)) if toes else 0.023 * leg
    skeleton = replace(skeleton, offsets=offsets, ball_height=ball, soles=found, tails=_toeless(tails, found, number))
    return RestPose(skeleton, facing, rot.mul(stand, rotation), ground, bool(found))


def hung(
    bones: Mapping[str, str], order: Sequence[str], parents: Mapping[str, str | None], world: Array, places: Array,
    tails: Array,
) -> Skeleton:  # fmt: skip
    """The skeleton of joints by their rotations (b, 4) and places (b, 3) in the world, each on its parent."""
    number = {role: index for index, role in enumerate(order)}
    offsets, local = np.array(places), np.array(world)
    above = np.array([number[parents[role] or ""] for role in order[1:]])
    offsets[1:] = rot.inv_rotate(world[above], places[1:] - places[above])
    local[1:] = rot.inv_mul(world[above], world[1:])
    names = tuple(bones[role] for role in order)
    return Skeleton(names, (-1, *above.tolist()), offsets, local, tails, dict(zip(order, names, strict=True)))


def _check_lengths(bones: Mapping[str, str], number: Mapping[str, int], places: Array) -> None:
    """Refuse legs whose joints lie in one place."""
    size = float(np.ptp(places, axis=0).max())
    for side in SIDES:
        for upper, lower in (("hip", "knee"), ("knee", "ankle")):
            one, other = f"{side}_{upper}", f"{side}_{lower}"
            if np.linalg.norm(places[number[one]] - places[number[other]]) < 1e-4 * size:
                raise RigError(
                    f"The leg's bones {bones[one]!r} and {bones[other]!r} begin at one place: the bone between "
                    f"{upper} and {lower} has no length",
                    f"Map the {side} {upper} and {lower} to other bones, or move them apart in Edit Mode",
                )


def in_reference(
    ob: bpy.types.Object, bones: Mapping[str, str], order: Sequence[str], own: tuple[Array, Array],
    parents: Mapping[str, str | None],
) -> tuple[Array, Array]:  # fmt: skip
    """Rotations and places of the joints in the reference pose, in the armature's space."""
    kept = reference_pose(ob)
    if not any(bones[role] in kept for role in order):
        return own
    world = np.array([kept[bones[role]][:4] if bones[role] in kept else own[0][k] for k, role in enumerate(order)])
    places = np.array(own[1])
    number = {role: index for index, role in enumerate(order)}
    for index, role in enumerate(order):
        over = parents[role]
        if over is None:
            places[index] = kept[bones[role]][4:] if bones[role] in kept else own[1][index]
        else:
            at = number[over]
            arm = rot.inv_rotate(own[0][at], own[1][index] - own[1][at])
            places[index] = places[at] + rot.rotate(world[at], arm)
    return world, places


def _up(places: Array, number: Mapping[str, int]) -> Array:
    """Where a two-legged body points (3,), unit: from its feet to its hips and on to its head."""
    feet = 0.5 * (places[number["left_ankle"]] + places[number["right_ankle"]])
    hips = 0.5 * (places[number["left_hip"]] + places[number["right_hip"]])
    up = (hips - feet) / max(float(np.linalg.norm(hips - feet)), 1e-12)
    trunk = [role for role in ("head", "neck", "spine_3", "spine_2", "spine_1") if role in number]
    if trunk:
        line = places[number[trunk[0]]] - hips
        up = up + line / max(float(np.linalg.norm(line)), 1e-12)
    return np.asarray(up / max(float(np.linalg.norm(up)), 1e-12))


def stood_up(ob: bpy.types.Object, up: Array, rotation: Array, fallen: str) -> Array:
    """Rotation (4,) in the world that puts a body that lies on its feet; nothing for one that stands.

    Args:
        ob: the armature.
        up: where the body's upper end points (3,), unit.
        rotation: of the armature object.
        fallen: what is said of a body that is upside down.
    """
    lean = float(np.arccos(np.clip(up @ UP, -1.0, 1.0)))
    if lean < _LEANS:
        return rot.IDENTITY
    if lean > _FALLS:
        raise RigError(
            f"The rest pose of {ob.name!r} {fallen}",
            "Turn the armature object upright (R X 180), apply the rotation (Ctrl A), or mend the bone map",
        )
    axes = rot.rotate(rotation, np.concatenate([np.eye(3), -np.eye(3)]))
    return rot.between(axes[int(np.argmax(axes @ up))], UP)


def _plausible_feet(tails: Array, places: Array, world: Array, number: Mapping[str, int]) -> None:
    """Where importers guessed the ends of feet and toes, guess again: ahead along the foot, level."""
    for side in SIDES:
        if f"{side}_toe" not in number:
            ankle = number[f"{side}_ankle"]
            leg = float(np.linalg.norm(places[number[f"{side}_hip"]] - places[ankle]))
            tail = rot.rotate(world[ankle], tails[ankle])
            if not (-tail[1] > 0.5 * abs(tail[2]) and 0.06 * leg < -tail[1] < 0.35 * leg):
                tails[ankle] = rot.inv_rotate(world[ankle], np.array([0.0, -0.16 * leg, -0.07 * leg]))
            continue
        ankle, toe = number[f"{side}_ankle"], number[f"{side}_toe"]
        step = (places[toe] - places[ankle]) * np.array([1.0, 1.0, 0.0])
        foot = float(np.linalg.norm(step))
        tail = rot.rotate(world[toe], tails[toe])
        level = float(np.linalg.norm(tail[:2]))
        fits = abs(tail[2]) < 0.6 * level and 0.2 * foot < level < 1.3 * foot and float(tail @ step) > 0.0
        if foot > 1e-9 and not fits:
            tails[toe] = rot.inv_rotate(world[toe], 0.5 * step)


def _toeless(tails: Array, found: Mapping[str, soles.Sole], number: Mapping[str, int]) -> Array:
    """A foot without toe joint ends at its ball."""
    for side, sole in found.items():
        if f"{side}_toe" not in number:
            tails[number[f"{side}_ankle"]] = sole.ball
    return tails


def _ground(places: Array, world: Array, tails: Array, number: Mapping[str, int]) -> float:
    """Height of the soles in the rest pose: the armature's floor if the feet stand near it, else under the toes."""
    lowest = np.inf
    for side in SIDES:
        ankle = number[f"{side}_ankle"]
        toe = number.get(f"{side}_toe", ankle)
        tip = places[toe] + rot.rotate(world[toe], tails[toe])
        lowest = min(lowest, float(places[toe, 2]) if toe != ankle else np.inf, float(tip[2]))
        reach = float(np.linalg.norm(places[number[f"{side}_hip"]] - places[ankle]))
    # Toe joints stand up to about 6% of the leg over the floor.
    return 0.0 if 0.0 <= lowest <= 0.07 * reach else lowest - 0.012 * reach
