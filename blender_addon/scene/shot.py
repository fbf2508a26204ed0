"""What a bake reads from the scene, once, as plain numbers; after this nothing of Blender is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import bpy
import numpy as np

from ..motion.ceiling import Ceiling, Overhead
from ..motion.crown import Crown
from ..motion.errors import PathError
from ..motion.path import RootPath
from ..motion.rotations import Array
from ..motion.terrain import FlatGround, HeightField, Terrain, require_ground
from . import actions, curves, terrain
from .bone_map import BoneMap
from .channels import ObjectBase, RootMotion
from .crowns import crown_of
from .ik_channels import IkRig
from .rigify_ik import with_ik
from .rigs import Rig, read_rig

#: Farther from the world's origin than this (metres) Blender's numbers are too coarse for feet that stand still.
FAR = 1000.0
#: Shorter holes under the path (metres) are not spoken of.
_NOTED_HOLE = 0.1
#: A terrain farther above or below the path than this (metres) may not be the one that was meant.
_NOTED_DROP = 3.0
#: Nor one so far above it: of a closed room whose faces look out, that is the roof, metres.
_NOTED_RISE = 1.2

#: Controls of limbs that get keys.
Controls = Literal["fk", "ik", "both"]
Ground = bpy.types.Object | bpy.types.Collection | list[bpy.types.Object] | Terrain | None


@dataclass(frozen=True)
class Shot:
    """A character, its way and its ground.

    Attributes:
        rig: the character.
        path: the way, in the direction of travel.
        points: (n, 3) metres, the same with heights.
        ground: what the feet stand on.
        fps: the scene's frame rate, broken rates included.
        root_motion: what carries the travel.
        base: the armature object's own frame, where the object carries it.
        title: names of character and curve, for reports.
        notes: what the user may want to know.
        ik: limbs that are keyed by their IK controls.
        ceiling: what is over the way; None under the open sky.
        crown: the top of the character; None where nothing is over it.
    """

    rig: Rig
    path: RootPath
    points: Array
    ground: Terrain
    fps: float
    root_motion: RootMotion
    base: ObjectBase | None
    title: str
    notes: tuple[str, ...] = ()
    ik: IkRig | None = None
    ceiling: Ceiling | None = None
    crown: Crown | None = None

    @property
    def cyclic(self) -> bool:
        """Whether the way is closed."""
        return self.path.cyclic

    @property
    def overhead(self) -> Overhead | None:
        """The character and the ceiling over its way; None under the open sky."""
        if self.ceiling is None or self.crown is None:
            return None
        return Overhead(self.path, self.ceiling, self.crown, self.rig.skeleton.four_legged)


def scene_fps(scene: bpy.types.Scene) -> float:
    """Frames a second, broken rates (23.976) included."""
    return float(scene.render.fps / scene.render.fps_base)


def read_shot(
    armature: bpy.types.Object | None,
    curve: bpy.types.Object | None,
    ground: Ground = None,
    *,
    reverse: bool = False,
    root_motion: RootMotion = "bone",
    bones: BoneMap | None = None,
    deform: bool = False,
    controls: Controls = "fk",
    scene: bpy.types.Scene | None = None,
) -> Shot:
    """Read character, way and ground.

    Args:
        armature: the character's armature object.
        curve: the curve object.
        ground: an object, a collection, objects, a `motion.terrain.Terrain`, or None for a level floor at the height
            of the curve's beginning.
        reverse: travel the curve from its end.
        root_motion: what carries the travel.
        bones: a bone map; the kept or guessed one when not given.
        deform: key a generated Rigify rig's deform bones instead of its controls.
        controls: which controls of a generated Rigify rig's limbs are keyed: ``fk``, ``ik`` or ``both``.
        scene: where; the context's when not given.

    Raises:
        PathError, RigError, TerrainError: what is missing or broken, and what to do.
    """
    scene = scene or bpy.context.scene
    found = curves.read_curve(curve)
    points = found.points[::-1].copy() if reverse and not found.cyclic else found.points
    if reverse and found.cyclic:
        points = np.concatenate([points[:1], points[:0:-1]])
    path = RootPath.from_points(points, found.cyclic)
    rig = read_rig(armature, bones, deform=deform)
    assert armature is not None and curve is not None
    rig, ik = (rig, None) if controls == "fk" else with_ik(armature, rig, controls == "both")
    base = actions.object_base(armature) if root_motion == "object" else None
    field, hole, ceiling = _ground(ground, points, found.cyclic, armature)
    return Shot(
        rig, path, points, field, scene_fps(scene), root_motion, base,
        f"{armature.name} along {curve.name}", (*found.notes, *rig.notes, *_notes(points, field, hole)), ik,
        ceiling, crown_of(armature, rig) if ceiling is not None else None,
    )  # fmt: skip


def _notes(points: Array, field: Terrain, hole: float) -> Iterator[str]:
    away = float(np.abs(points).max())
    if away > FAR:
        yield (
            f"The path lies {away / 1000.0:.3g} km from the world's origin, where Blender's numbers are only good to "
            f"{1000.0 * float(np.spacing(np.float32(away))):.2g} mm: move everything nearer to it"
        )
    away = float(field.height(points[:1, :2])[0] - points[0, 2])
    if away < -_NOTED_DROP:
        yield f"The terrain lies {-away:.1f} m below the path's beginning"
    elif away > _NOTED_RISE:
        yield (
            f"The terrain lies {away:.1f} m above the path's beginning, and is walked on: to walk inside or under it, "
            "flip its normals, so that its floor looks up"
        )
    if hole > _NOTED_HOLE:
        yield (
            f"The path crosses a hole of {hole:.2f} m in the terrain: where nobody leaps over it, the ground is "
            "guessed from its edges"
        )


def _ground(
    ground: Ground, points: Array, cyclic: bool, armature: bpy.types.Object
) -> tuple[Terrain, float, Ceiling | None]:
    """What is stood upon, the longest hole in it under the path, metres, and what is over it."""
    if ground is None:
        return FlatGround(float(points[0, 2])), 0.0, None
    field: Terrain
    ceiling: Ceiling | None = None
    if isinstance(ground, (bpy.types.Object, bpy.types.Collection, list)):
        way = np.concatenate([points, points[:1]]) if cyclic else points
        field, over = terrain.read_surroundings(ground, way, armature)
        ceiling = None if over.open else replace(over, cyclic=cyclic)
    else:
        field = ground
    path = RootPath.from_points(points, cyclic)
    along = path.position(np.linspace(0.0, path.length, max(int(path.length / 0.05), 2)))
    return field, require_ground(field, along, ditches=True), ceiling


def check_facing_target(ob: bpy.types.Object | None) -> tuple[float, float]:
    """The place (x, y) in metres of the object to face; raises `PathError` without one."""
    if ob is None:
        raise PathError("There is no object to face", "Choose one, or face along the path")
    unit = curves.metres_per_unit()
    place = ob.matrix_world.translation
    return float(place.x) * unit, float(place.y) * unit


__all__ = ["Ground", "HeightField", "Shot", "check_facing_target", "read_shot", "scene_fps"]
