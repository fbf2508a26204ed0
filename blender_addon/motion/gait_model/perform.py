"""The gait model's one act: a plan becomes a motion, planted on level ground, with its contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import rotations as rot
from ..clip import Clip
from ..gait_names import GAITS
from ..plan import Plan
from ..rotations import Array
from ..skeleton import Skeleton
from .actions.leap import Leaps
from .actions.rest import settle
from .body import Body
from .footholds import foot_paths, giving_way
from .legs import legs_of, lowered, solve_legs, stretched
from .padded_root import PaddedRoot
from .settings import GaitSettings
from .shape import PoseShape, ShapeMotion, motion_of
from .table import BODY, GaitTable, build_of, load_table
from .timing import Timing, timing_of
from .trunk import girdles_of, trunk_of

#: So often feet are lifted early or set down late where legs do not reach: a stance made shorter stands elsewhere.
_GIVEN = 3


def perform(skeleton: Skeleton, plan: Plan, settings: GaitSettings | None = None) -> Clip:
    """The motion of a four-legged skeleton along a plan, frame by frame as the plan, its root exactly the plan's.

    Args:
        skeleton: four-legged, of any size.
        plan: the root over time; its actions name gaits, sit, lie and jump; anything else moves as fits the speed.
        settings: seed, variation, build.

    Raises:
        RigError: the skeleton is not four-legged or lacks a leg.
    """
    return perform_body(Body.of(skeleton), plan, settings or GaitSettings())


def perform_body(body: Body, plan: Plan, settings: GaitSettings, pad: int | None = None) -> Clip:
    """`perform` for a skeleton read before; ``pad``: see `PaddedRoot.of`."""
    course = PaddedRoot.of(plan, body, pad)
    table = table_for(body, settings)
    asked = [settings.gait if settings.gait and name in ("auto", "stand") else name for name in plan.actions]
    asking = np.pad(plan.action, course.pad, mode="edge")
    leaps = Leaps(plan, course, body, settings)
    timing = leaps.timed(timing_of(course, asked, asking, body.height, table, settings))
    shape = None if settings.shape is None else motion_of(settings.shape, timing, body)
    numbers = _numbers(timing, table, settings.shape if shape is not None else None, shape)
    feet = leaps.lifted(foot_paths(course, timing, body, numbers, settings), timing)
    girdles = leaps.carried(girdles_of(course, timing, body, numbers, settings, shape))
    trunk = trunk_of(course, timing, body, girdles, settings, shape, whole=False)
    hind, fore, steeper = lowered(body, course, trunk, feet)
    girdles = replace(girdles, rise_hind=girdles.rise_hind - hind, rise_fore=girdles.rise_fore - fore)
    trunk = trunk_of(course, timing, body, girdles, settings, shape)
    legs = legs_of(body, trunk, feet, steeper)
    for _ in range(_GIVEN):
        far = stretched(legs, feet)
        if not np.any(far):
            break
        timing = giving_way(timing, feet, far)
        feet = leaps.lifted(foot_paths(course, timing, body, numbers, settings), timing)
        legs = legs_of(body, trunk, feet, steeper)
    turns = solve_legs(legs, trunk, feet)
    inner = slice(course.pad, course.pad + len(plan))
    hips, turns, contact = settle(body, plan, settings, trunk.hips[inner], turns[inner], feet.contact[inner])
    world = rot.mul(turns, body.rotations)
    return Clip(
        skeleton=body.skeleton, fps=plan.fps, hips=hips, root=plan.root, contacts=contact,
        rotations=rot.unroll(body.skeleton.local_rotations(world)), name="gait model",
    )  # fmt: skip


def table_for(body: Body, settings: GaitSettings) -> GaitTable:
    """The table of the build that is set, or that the animal's size suggests."""
    return load_table(build_of(body.height) if settings.build == "auto" else settings.build)


def _numbers(timing: Timing, table: GaitTable, shape: PoseShape | None, motion: ShapeMotion | None) -> Array:
    """The body's numbers at each frame (f, len(BODY)), gaits blended, with those that a shape knows of its own gait."""
    numbers = timing.weights @ np.stack([table[name].body for name in GAITS])
    if shape is None or motion is None:
        return np.asarray(numbers)
    known = {
        "lift_hind": shape.lift[0], "lift_fore": shape.lift[1], "fold_hind": np.degrees(shape.fold[0]),
        "fold_fore": np.degrees(shape.fold[1]), "width": float(np.mean(shape.width)),
    }  # fmt: skip
    for name, value in known.items():
        column = numbers[:, BODY.index(name)]
        numbers[:, BODY.index(name)] = column + motion.own * (float(value) - column)
    return np.asarray(numbers)
