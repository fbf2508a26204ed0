"""How far a trained network really leaps: asked for leaps of every width on level ground, and measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blender_addon.motion.abilities import Leap
from blender_addon.motion.clip import Clip
from blender_addon.motion.metrics_feet import ball_positions
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.systems.protocol import System
from blender_addon.systems.rollout import Progress
from blender_addon.systems.synthesis import SynthesisSettings, synthesise

#: So many widths, each from so many places, that the steps before it differ.
_WIDTHS, _PLACES = 5, 6
#: The way to the first leap and its length in all, metres; from place to place.
_BEFORE, _WAY, _APART = 4.0, 9.0, 0.17
#: Of the widest leaps so many, of ten, are no shorter than what is called the furthest.
_SURELY = 0.1


def practised(system: System, leap: Leap, speeds: tuple[float, float], progress: Progress | None = None) -> Leap:
    """The leap as the system does it: how far at which speed, and where its feet are then.

    Args:
        system: with the trained network. leap: as the training motion has it. speeds: the pack's, m/s.
        progress: told the share done; returns False to cancel.

    Raises:
        Cancelled: ``progress`` returned False.
    """
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -_WAY]]), False)
    asked = np.linspace(leap.nearest, leap.furthest, _WIDTHS).repeat(_PLACES)
    places = np.tile(_BEFORE + _APART * np.arange(_PLACES), _WIDTHS)
    plans = [
        make_plan(path, Schedule([Mark(0.0, leap.speed), Mark(float(at), action="jump", reach=float(reach))]),
                  fps=system.fps, speeds=speeds, leap=leap)
        for at, reach in zip(places, asked, strict=True)
    ]  # fmt: skip
    made = synthesise(system, plans, None, SynthesisSettings(plant=False), progress)
    found = np.array([_measured(each.followed, plan, leap) for each, plan in zip(made, plans, strict=True)])
    flew = np.array([leap.speed_for(float(reach)) for reach in asked])
    return fitted(leap, flew, found)


def fitted(leap: Leap, flew: Array, found: Array) -> Leap:
    """The leap with measured widths.

    Args:
        leap: as it was. flew: speeds in the air (n,), m/s.
        found: how far the feet were behind and ahead of the root, and from each other (n, 3), metres.
    """
    known = np.all(np.isfinite(found), axis=1)
    if np.count_nonzero(known) < _WIDTHS:
        return leap
    flew, found = flew[known], found[known]
    line = np.polyfit(flew, found[:, 2], 1)
    short = np.quantile(found[:, 2] - np.polyval(line, flew), _SURELY)
    slow, fast = float(flew.min()), float(flew.max())
    nearest, furthest = (float(np.polyval(line, speed)) for speed in (slow, fast))
    behind, ahead = np.median(found[:, :2], axis=0).tolist()
    return replace(
        leap, behind=behind, ahead=ahead, nearest=nearest, furthest=max(furthest + float(short), nearest), slow=slow,
        fast=fast,
    )  # fmt: skip


def _measured(clip: Clip, plan: Plan, leap: Leap) -> tuple[float, float, float]:
    """How far the feet are behind the root at take-off and ahead of it at landing, and from each other."""
    lost = (np.nan, np.nan, np.nan)
    if not plan.leaps:
        return lost
    take_off, landing = (round(seconds * clip.fps) for seconds in (plan.leaps[0], plan.leaps[0] + leap.flight))
    middle = (take_off + landing) // 2
    balls, roots = -ball_positions(clip)[..., 1], -clip.root[:, 1]
    before, after = clip.contacts[:middle], clip.contacts[middle:]
    if clip.contacts[middle].any() or not (before.any() and after.any()):
        return lost
    last, first = (int(np.flatnonzero(part.any(axis=1))[k]) for part, k in ((before, -1), (after, 0)))
    off = balls[last][before[last]].max()
    on = balls[middle + first][after[first]].max()
    return float(roots[take_off] - off), float(on - roots[landing]), float(on - off)
