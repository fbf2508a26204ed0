"""A four-legged armature's rest pose as an upright skeleton: the trunk level, the paws on the ground, facing -Y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..motion import animal
from ..motion import rotations as rot
from ..motion.errors import RigError
from ..motion.rotations import UP, Array
from . import soles
from .rest_pose import RestPose, hung, in_reference, stood_up

#: A leg is mapped to a wrong place if it is off to the other side by this share of the body's length.
_ASIDE = 0.02
#: A bone's end tells where toes end if it is level, ahead, and this long in shares of the leg.
_TOES = (0.02, 0.25)


def read_animal_rest(
    ob: bpy.types.Object, bones: Mapping[str, str], order: Sequence[str], parents: Mapping[str, str | None],
    joints: tuple[Array, Array], rotation: Array, scale: float,
) -> RestPose:  # fmt: skip
    """The skeleton of a four-legged armature's mapped bones; arguments as of `rest_pose.read_rest`.

    Raises:
        RigError: legs have no length or are mapped crosswise, or the body lies on its back.
    """
    count = len(order)
    number = {role: index for index, role in enumerate(order)}
    own = joints[0][:count], joints[1][:count]
    _check_lengths(bones, number, own[1])
    world, places = in_reference(ob, bones, order, own, parents)
    world, places = rot.mul(rotation, world), rot.rotate(rotation, places * scale)
    stand = stood_up(ob, _up(places, number), rotation, "lies on its back")
    world, places = rot.mul(stand, world), rot.rotate(stand, places)
    _check_places(places, number)
    hind, fore = _girdles(places, number)
    facing = float(rot.yaw_of_direction((fore - hind)[:2]))
    back = rot.from_yaw(-facing)
    world, places = rot.mul(back, world), rot.rotate(back, places)
    lengths = np.array([ob.data.bones[bones[role]].length * scale for role in order])
    tails = np.stack([np.zeros(count), lengths, np.zeros(count)], axis=-1)
    _plausible_toes(tails, places, world, number)
    # The middle between the girdles is the root, and stands over the origin.
    middle = 0.5 * np.sum(_girdles(places, number), axis=0)
    skeleton = hung(bones, order, parents, world, places, tails)
    offsets = np.array(skeleton.offsets)
    floor = _floor(places, world, tails, number)
    offsets[0] = places[0] - [*middle[:2], floor]
    skeleton = replace(skeleton, offsets=offsets)
    found = soles.measured_paws(ob, skeleton, own, scale)
    if found:
        level = soles.lowest(skeleton, found)
        offsets[0, 2] -= level
        floor += level
        skeleton = replace(skeleton, offsets=np.array(offsets), soles=found)
    return RestPose(skeleton, facing, rot.mul(stand, rotation), floor, bool(found))


def _legs(number: Mapping[str, int]) -> dict[str, list[int]]:
    return {leg: [number[role] for role in animal.leg_roles(leg) if role in number] for leg in animal.LEGS}


def _girdles(places: Array, number: Mapping[str, int]) -> tuple[Array, Array]:
    hind, fore = (
        0.5 * (places[number[f"left_{part}"]] + places[number[f"right_{part}"]]) for part in ("hip", "shoulder")
    )
    return hind, fore


def _check_lengths(bones: Mapping[str, str], number: Mapping[str, int], places: Array) -> None:
    """Refuse legs whose joints lie in one place, and girdles that do."""
    size = float(np.ptp(places, axis=0).max())
    names = {index: role for role, index in number.items()}
    for chain in _legs(number).values():
        for one, other in zip(chain, chain[1:], strict=False):
            if np.linalg.norm(places[one] - places[other]) < 1e-4 * size:
                upper, lower = names[one], names[other]
                raise RigError(
                    f"The leg's bones {bones[upper]!r} and {bones[lower]!r} begin at one place: the bone between "
                    f"{upper.replace('_', ' ')} and {lower.replace('_', ' ')} has no length",
                    "Map these parts to other bones, or move the bones apart in Edit Mode",
                )
    hind, fore = _girdles(places, number)
    if np.linalg.norm(hind - fore) < 1e-3 * size:
        raise RigError("Hind and fore legs begin at one place", "Map hind and fore legs to different bones")


def _up(places: Array, number: Mapping[str, int]) -> Array:
    """Where the back points: from the feet to the girdles, across the trunk."""
    hind, fore = _girdles(places, number)
    trunk = (fore - hind) / float(np.linalg.norm(fore - hind))
    feet = np.mean([places[chain[-1]] for chain in _legs(number).values()], axis=0)
    up = 0.5 * (hind + fore) - feet
    up = up - (up @ trunk) * trunk
    return np.asarray(up / max(float(np.linalg.norm(up)), 1e-12))


def _ahead(places: Array, number: Mapping[str, int]) -> Array:
    """Where the trunk points, level, whatever the legs are mapped to; from hind to fore legs without a spine."""
    far = [role for role in ("head", "neck_2", "neck") if role in number]
    # A single bone may be anything that hangs on the pelvis.
    far += sorted((role for role in number if role.startswith("spine_") and role != "spine_1"), reverse=True)
    hind, fore = _girdles(places, number)
    lines = [places[number[far[0]]] - places[0]] if far else []
    for line in (*lines, fore - hind):
        level = line * np.array([1.0, 1.0, 0.0])
        if np.linalg.norm(level) > 0.3 * np.linalg.norm(line):
            return np.asarray(level / np.linalg.norm(level))
    raise RigError("The trunk stands upright: hips and shoulders lie above each other",
                   "Map the hind legs to the ones at the pelvis, or lay the trunk level in the rest pose")  # fmt: skip


def _check_places(places: Array, number: Mapping[str, int]) -> None:
    """Refuse legs that stand where another leg should."""
    ahead = _ahead(places, number)
    left = np.cross(UP, ahead)
    middles = {leg: np.mean(places[chain], axis=0) for leg, chain in _legs(number).items()}
    centre = np.mean(list(middles.values()), axis=0)
    size = float(np.ptp(places @ ahead))
    where = {}
    for leg, place in middles.items():
        across, along = float((place - centre) @ left), float((place - centre) @ ahead)
        side, end = leg.split("_")
        stands = "left" if across > 0.0 else "right", "fore" if along > 0.0 else "hind"
        if abs(across) < _ASIDE * size:
            stands = side, stands[1]
        if stands != (side, end):
            where[leg] = f"{stands[0]} {stands[1]}"
    if len(where) == 4 and all(leg.split("_")[1] in stands for leg, stands in where.items()):
        raise RigError("Left and right legs are mapped the wrong way round", "Swap left and right in the bone map")
    if where:
        words = ", ".join(f"the bones of the {leg.replace('_', ' ')} leg stand {there}" for leg, there in where.items())
        raise RigError(f"Legs are mapped crosswise: {words}", "Give each leg the bones that stand in its own place")


def _plausible_toes(tails: Array, places: Array, world: Array, number: Mapping[str, int]) -> None:
    """Where importers guessed the ends of toes that lie on the ground, guess again: ahead, level."""
    ground = min(float(places[chain[-1], 2]) for chain in _legs(number).values())
    for chain in _legs(number).values():
        last, leg = chain[-1], float(places[chain[0], 2]) - ground
        if float(places[last, 2]) - ground > 0.14 * leg:
            continue
        tail = rot.rotate(world[last], tails[last])
        ahead = -float(tail[1])
        if not (_TOES[0] * leg < ahead < _TOES[1] * leg and abs(tail[2]) < 2.0 * ahead):
            tails[last] = rot.inv_rotate(world[last], np.array([0.0, -0.1 * leg, 0.0]))


def _floor(places: Array, world: Array, tails: Array, number: Mapping[str, int]) -> float:
    """Height of the ground without a mesh: the armature's floor if the feet stand near it, else under the toes."""
    legs = _legs(number).values()
    heights = [
        min(float(places[chain[-1], 2]), float((places + rot.rotate(world, tails))[chain[-1], 2])) for chain in legs
    ]
    reach = float(np.mean([places[chain[0], 2] for chain in legs])) - min(heights)
    lowest = min(heights)
    # Legs without paws end well above the floor, at the hock or even at the elbow.
    near = 0.1 if all(len(chain) > 3 for chain in legs) else 2.0
    return 0.0 if -0.01 * reach <= lowest <= near * reach else lowest - 0.012 * reach

