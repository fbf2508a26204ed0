"""Bake what the gait preview shows: on the spot as one cycle or some seconds, or along the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from .. import baking, gait_baking, library
from ..bake_settings import BakeSettings
from ..motion.errors import GaitsmithError
from ..motion.schedule import AUTO, Schedule
from . import animal, common, gait_stage, gait_state, request
from .bake import BakeRun, fill_report
from .watched import Watched
from .worker import Worker


@dataclass(frozen=True)
class Spot:
    """A bake on the spot, read from the scene; names and numbers, nothing of Blender.

    Attributes:
        armature: name of the armature object.
        shot, settings: where and how to write.
        asked: what to make.
        fit_scene: let the scene play one cycle, its doubled last frame left out.
    """

    armature: str
    shot: Any
    settings: BakeSettings
    asked: gait_baking.OnTheSpot
    fit_scene: bool


class GaitBakeRun(BakeRun):
    """A bake of what the gait preview shows: `begin`, then `look` until it says True."""

    def begin(self, context: bpy.types.Context) -> None:
        """Read the scene and start to compute; raises `GaitsmithError` when something is missing or broken."""
        wanted = gait_stage.missing(context)
        if wanted:
            raise GaitsmithError(wanted)
        gait_state.end(context)
        chosen = common.settings(context)
        if chosen.armature is None:
            chosen.armature = common.chosen_armature(context)
        if chosen.gaits.where == "CURVE":
            common.adopt_selection(context)
            if chosen.gaits.speed <= 0.0:
                raise GaitsmithError("At 0 m/s the animal never comes to the path's end", "Set a speed above 0")
            schedule = Schedule.constant(chosen.gaits.speed, chosen.gaits.gait)
            self._request = request.read(context, schedule, library.GAIT_MODEL)
            self._start(context, lambda progress: request.solve(self._request, progress))
        else:
            self._request = spot = _read(context)
            self._start(
                context, lambda progress: gait_baking.solve(spot.shot, spot.asked, spot.settings, progress)
            )

    def _start(self, context: bpy.types.Context, work: Any) -> None:
        self._worker = Worker(work)
        now = common.state(context)
        now.baking, now.bake_cancel, now.bake_fraction, now.bake_stage = True, False, 0.0, "Planning"
        if now.message_where == "gaits":
            now.message = ""

    def _write(self, context: bpy.types.Context, result: Any) -> None:
        if not isinstance(self._request, Spot):
            super()._write(context, result)
            return
        self.message = _write(self._request, result)
        fill_report(common.settings(context), request.Done(self.message, "", ()))


def _read(context: bpy.types.Context) -> Spot:
    from ..scene import in_place

    chosen = common.settings(context)
    gaits, ob = chosen.gaits, common.chosen_armature(context)
    shot = in_place.standing(ob, context.scene, deform=chosen.rig_bones == "DEFORM")
    cycle = gaits.length == "CYCLE"
    manner = request.gaits_of(ob, shot.rig.skeleton)
    asked = gait_baking.OnTheSpot(gaits.gait, gaits.speed, None if cycle else gaits.seconds, manner)
    settings = BakeSettings(
        frame_start=chosen.frame_start, output=chosen.output.lower(),
        name=f"{ob.name} {title(gaits.gait, context)}", markers=chosen.markers, lifts=chosen.lifts,
        tolerance=request.tolerance_of(chosen), layer=request.layer_of(chosen),
    )  # fmt: skip
    return Spot(ob.name, shot, settings, asked, chosen.fit_scene and chosen.output != "LAYER")


def title(gait: str, context: bpy.types.Context) -> str:
    """The gait's name; by speed, that of the gait that fits."""
    if gait != AUTO:
        return gait
    return animal.gait_at(context, common.settings(context).gaits.speed)


def _write(spot: Spot, solved: baking.Solved) -> str:
    """Write the keys; what to tell the user."""
    from ..scene import setup

    armature = bpy.data.objects.get(spot.armature)
    if armature is None:
        raise GaitsmithError(
            f"The armature {spot.armature!r} was removed or renamed while it was baked", "Choose it, then bake again"
        )
    written = baking.write(solved, armature).written
    if spot.fit_scene:
        last = written.frame_end - (1 if spot.asked.seconds is None else 0)
        setup.fit_frame_range(written.frame_start, last)
    what = "one cycle" if spot.asked.seconds is None else f"{spot.asked.seconds:.1f} s"
    where = request.WHERE.get(written.mode, "as a new action")
    line = (f"{armature.name}: {what} at {solved.plan.speed[0]:.2f} m/s, frames {written.frame_start} to "
            f"{written.frame_end} {where} {written.action!r}")  # fmt: skip
    return "\n".join([line, *solved.notes, *written.notes])


class GAITSMITH_OT_gait_bake(Watched, bpy.types.Operator):
    """Write what the gait preview shows as keyframes on the character. One undo takes it all back"""

    bl_idname = "gaitsmith.gait_bake"
    bl_label = "Bake This"
    bl_options = {"REGISTER", "UNDO"}
    run_class, where, busy, wish_to_cancel = GaitBakeRun, "gaits", "baking", "bake_cancel"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs an animal, and no other bake."""
        if context.scene is None:
            return False
        wanted = "A bake is running" if common.state(context).baking else gait_stage.missing(context)
        if wanted:
            cls.poll_message_set(wanted)
        return not wanted


CLASSES = (GAITSMITH_OT_gait_bake,)
