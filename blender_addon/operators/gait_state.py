"""The gait preview that plays: a stream of motion, its pieces made in a thread, and where it is drawn.

Names and plain arrays only: nothing of Blender's is kept from one tick to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..motion.errors import GaitsmithError
from ..motion.gait_stream import Asked, Piece, Stream, performer
from ..motion.gait_way import Way
from ..motion.picture import PAW_SHARE, bone_sides
from ..motion.rotations import Array
from ..motion.terrain import FlatGround
from . import animal, common, request
from .worker import Worker

#: When nothing was drawn for longer (Blender was busy), time does not jump, seconds.
LONGEST_TICK_S = 0.1
#: A path with less of it left is none, metres.
SHORTEST_M = 0.5


@dataclass(frozen=True)
class Stage:
    """Where the animal is drawn, in metres.

    Attributes:
        name: of the armature object.
        sides: side of the body of each bone: 0 left, 1 right, 2 neither.
        in_place: the root stays, and the ground moves below it.
        place: (3,) of the root on the ground when in place; else its z alone counts: the height of a flat ground.
        facing: yaw when in place.
        unit: metres per unit of the scene.
        paw: radius of a drawn footfall.
    """

    name: str
    sides: npt.NDArray[np.int64]
    in_place: bool
    place: Array
    facing: float
    unit: float
    paw: float

    def matrix(self, root: Array) -> Array:
        """From what is relative to the root's place to the scene (4, 4), in its units, for a root (3,): x, y, yaw."""
        turn = self.facing - root[2] if self.in_place else 0.0
        found = np.eye(4)
        found[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        found[:3, 3] = self.place if self.in_place else [root[0], root[1], self.place[2]]
        found[:3] /= self.unit
        return found


_stream: Stream | None = None
_stage: Stage | None = None
_worker: Worker[tuple[Piece, float]] | None = None


def missing(context: bpy.types.Context) -> str:
    """What the gait preview still needs, in words; empty when it can begin."""
    if context.scene is None or context.view_layer is None:
        return "Open a scene first"
    ob = common.chosen_armature(context)
    if ob is None:
        return "Still needed: an animal. Choose its armature under Character, or select it"
    legs = animal.legs(context)
    if legs == 2:
        return f"Gaits are for four legs, and {ob.name} goes on two: choose an animal under Character"
    if legs == 0:
        return "The legs of this armature are not known: map its bones under Character"
    found = animal.facts(context)
    if found is not None and found.problem:
        return found.problem
    if common.settings(context).gaits.where == "CURVE" and common.chosen_curve(context) is None:
        return "Still needed: a path. Draw one under Path, or play in place"
    return ""


def begin(context: bpy.types.Context) -> None:
    """Read the scene and start; raises `GaitsmithError` that says what is missing or broken."""
    global _stream, _stage
    wanted = missing(context)
    if wanted:
        raise GaitsmithError(wanted)
    end(context)
    from ..scene import curves, in_place, shot

    chosen = common.settings(context)
    ob = common.chosen_armature(context)
    limits = request.limits_of(context)
    if chosen.gaits.where == "PLACE":
        found, way, ground = in_place.standing(ob, context.scene), Way.straight(), None
        place = found.points[0]
    else:
        found = shot.read_shot(
            ob, common.chosen_curve(context), request.ground_of(chosen), reverse=chosen.reverse, scene=context.scene
        )
        if chosen.start > found.path.length - SHORTEST_M:
            raise GaitsmithError("The path ends where the animal would start", "Set its start nearer to 0 (Path)")
        way = Way.along(found.path, limits, chosen.start)
        flat = isinstance(found.ground, FlatGround)
        ground, place = (None, found.points[0]) if flat else (found.ground, np.zeros(3))
    skeleton = found.rig.skeleton
    perform, choose = performer(skeleton, request.gaits_of(ob, skeleton), ground)
    _stage = Stage(
        found.rig.name, bone_sides(skeleton), chosen.gaits.where == "PLACE", place, found.rig.facing,
        curves.metres_per_unit(context.scene), PAW_SHARE * skeleton.leg_length,
    )  # fmt: skip
    _stream = Stream(perform, choose, way, _asked(chosen), acceleration=limits.acceleration)
    common.state(context).gaits_playing = True


def _asked(chosen: Any) -> Asked:
    return Asked(chosen.gaits.gait, chosen.gaits.speed)


def tick(context: bpy.types.Context, seconds: float) -> bool:
    """Go on by some seconds; False when it is over. Errors are told in the panel."""
    global _worker
    stream, stage = _stream, _stage
    if stream is None or stage is None or not common.state(context).gaits_playing:
        return False
    if stage.name not in bpy.data.objects:
        common.tell(context, f"{stage.name} was removed or renamed: choose an animal, then play again", "gaits", True)
        return False
    stream.ask(_asked(common.settings(context)))
    if _worker is not None and not _worker.running:
        done, _worker = _worker, None
        if done.error:
            print(done.detail)  # noqa: T201 - Blender's console is where users look
            common.tell(context, done.error, "gaits", error=True)
            return False
        if done.result is not None:
            stream.take(*done.result)
    stream.advance(min(seconds, LONGEST_TICK_S))
    if _worker is None:
        _worker = _next(stream)
    return True


def _next(stream: Stream) -> Worker[tuple[Piece, float]] | None:
    job = stream.job()
    if job is None:
        return None

    def work(_progress: Any) -> tuple[Piece, float]:
        begun = time.perf_counter()
        return job.make(), time.perf_counter() - begun

    return Worker(work)


def wait() -> None:
    """Until what is being made is made: without a window there are no ticks."""
    if _worker is not None:
        _worker.wait()


def end(context: bpy.types.Context) -> None:
    """Stop, and draw nothing any more."""
    clear()
    now = getattr(context.window_manager, "gaitsmith", None)
    if now is not None:
        now.gaits_playing = False


def clear() -> None:
    """Forget everything."""
    global _stream, _stage, _worker
    if _worker is not None:
        _worker.cancel()
    _stream = _stage = _worker = None


def playing() -> tuple[Stream, Stage] | None:
    """What is to be drawn; None when nothing plays."""
    return None if _stream is None or _stage is None else (_stream, _stage)
