"""The bridge from the panel's settings to the scene's work: plan, preview, bake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from .. import library
from ..motion.facing import Facing
from ..motion.path import RootPath
from ..motion.plan import Limits, Plan, make_plan
from ..motion.schedule import Mark, Schedule
from . import common

#: Acceleration and deceleration at responsiveness 0, 0.5 and 1, m/s2: calm, usual, brisk.
ACCELERATIONS = (0.7, 1.2, 2.2)
#: Frames a second at which the panel plans, to know how long the motion lasts.
LOOK_FPS = 15.0


@dataclass(frozen=True)
class FigureRow:
    """One figure for the panel Quality; ``frame`` in frames of the scene."""

    label: str
    text: str
    wanted: str
    mark: str
    about: str = ""
    frame: int | None = None


@dataclass(frozen=True)
class Baked:
    """What a bake says when it is done."""

    message: str
    title: str
    figures: tuple[FigureRow, ...]


def schedule_of(chosen: Any) -> Schedule:
    """The panel's schedule: what holds from the start, then the marks; raises `PathError`."""
    marks = [Mark(0.0, chosen.speed, chosen.action_name)] if chosen.action_name != "stand" else []
    for mark in chosen.marks:
        marks.append(Mark(mark.at, mark.speed, mark.action_name, mark.pause, mark.ease))
    return Schedule(marks)


def limits_of(chosen: Any) -> Limits:
    """The body's limits, by responsiveness."""
    low, middle, high = ACCELERATIONS
    share = 2.0 * chosen.responsiveness
    rate = low + (middle - low) * share if share <= 1.0 else middle + (high - middle) * (share - 1.0)
    return Limits(acceleration=rate, deceleration=rate)


def facing_of(chosen: Any) -> Facing:
    """Where the body looks; raises `PathError`."""
    if chosen.facing == "OBJECT":
        ob = chosen.facing_object
        place = ob.matrix_world.translation if ob is not None else None
        return Facing("object", target=(place.x, place.y) if place is not None else None)
    return Facing("fixed", yaw=chosen.facing_angle) if chosen.facing == "FIXED" else Facing("path")


def plan_of(context: bpy.types.Context, path: RootPath, fps: float = LOOK_FPS) -> Plan:
    """The plan of the panel's settings along a path; raises `PathError`."""
    chosen = common.settings(context)
    pack = library.find(chosen.pack_id)
    speeds = {"speeds": pack.speeds} if pack is not None and pack.speeds is not None else {}
    return make_plan(
        path.reversed() if chosen.reverse else path, schedule_of(chosen), limits=limits_of(chosen),
        facing=facing_of(chosen), fps=fps, start=chosen.start, **speeds,
    )  # fmt: skip
