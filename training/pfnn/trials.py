"""What a trained network really does of what it was shown: asked to leap and to crouch, and measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blender_addon.motion.abilities import Crouch, Leap
from blender_addon.motion.clip import Clip
from blender_addon.motion.crouching import CROUCH, Crouching
from blender_addon.motion.gait_labels import LEAST_DEPTH, body_top, top_of_depth
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
#: Crouches are tried so much deeper from one to the next, at shares of the fastest, and measured there on the way.
_DEEPER, _PACES, _CROUCHED = 0.05, (0.4, 0.7, 1.0), (4.5, 8.0)
#: So far off what is asked, as a share of the body's top, a crouch is another one.
_OFF = 0.05
#: Of the widest leaps so many, of ten, are no shorter than what is called the furthest.
_SURELY = 0.1
#: Leaps of one width that differ more than this, metres, are no leaps of that width.
_ALIKE = 0.3


def practised_leap(
    system: System, leap: Leap, speeds: tuple[float, float], progress: Progress | None = None
) -> Leap | None:
    """The leap as the system does it: how far at which speed, and where its feet are then; None if it does not leap.

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
    return fitted(leap, flew.reshape(_WIDTHS, _PLACES), found.reshape(_WIDTHS, _PLACES, 3))


def practised_crouch(
    system: System, crouch: Crouch, speeds: tuple[float, float], progress: Progress | None = None
) -> Crouch | None:
    """The crouch as deep as the system follows what it is asked; None if it does not crouch.

    Args:
        system: with the trained network. crouch: as the training motion has it. speeds: the pack's, m/s.
        progress: told the share done; returns False to cancel.

    Raises:
        Cancelled: ``progress`` returned False.
    """
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -_CROUCHED[1] - 1.0]]), False)
    depths = np.arange(LEAST_DEPTH, crouch.deepest + 1e-9, _DEEPER)
    if not len(depths):
        return None
    paces = [max(share * crouch.fastest, speeds[0]) for share in _PACES]
    plans = [
        make_plan(path, Schedule([Mark(0.0, pace), Mark(_BEFORE - 1.5, pace, CROUCH)]), fps=system.fps, speeds=speeds,
                  crouching=Crouching(replace(crouch, usual=float(depth), deepest=1.0, slow=None)))
        for depth in depths for pace in paces
    ]  # fmt: skip
    made = synthesise(system, plans, None, SynthesisSettings(plant=False), progress)
    tops = np.array([_tops(each.followed) for each in made]).reshape(len(depths), len(paces), 2)
    deepest = followed(depths, tops)
    if deepest is None:
        return None
    slow = None if crouch.slow is None else crouch.fastest_at(deepest)
    return replace(crouch, usual=min(crouch.usual, deepest), deepest=deepest, slow=slow)


def followed(depths: Array, tops: Array) -> float | None:
    """The deepest of the depths (n,), ascending, down to which every crouch was as deep as asked; None: not one was.

    Args:
        depths: asked for. tops: the lowest and the highest that the body's top was in each trial (n, paces, 2).
    """
    asked = top_of_depth(depths)[:, None]
    good = np.all((tops[..., 0] > asked - _OFF) & (tops[..., 1] < asked + _OFF), axis=1)
    steps = len(depths) if good.all() else int(np.argmin(good))
    return float(depths[steps - 1]) if steps else None


def _tops(clip: Clip) -> tuple[float, float]:
    """The lowest and the highest that the body's top is where it crouches, shares as `body_top`."""
    way = -clip.root[:, 1]
    tops = body_top(clip)[(way > _CROUCHED[0]) & (way < _CROUCHED[1])]
    return (float(tops.min()), float(tops.max())) if len(tops) else (np.inf, -np.inf)


def fitted(leap: Leap, flew: Array, found: Array) -> Leap | None:
    """The leap with measured widths: those speeds in the air at which no trial failed; None if there are none.

    Args:
        leap: as it was. flew: speeds in the air (widths, places), m/s.
        found: how far the feet were behind and ahead of the root, and from each other (widths, places, 3), metres;
            NaN where it did not leap.
    """
    sure = np.all(np.isfinite(found), axis=(1, 2)) & (np.ptp(found[..., 2], axis=1) < _ALIKE)
    if not np.any(sure):
        return None
    speeds, feet = flew[sure].ravel(), found[sure].reshape(-1, 3)
    slow, fast = float(speeds.min()), float(speeds.max())
    degree = 1 if fast > slow else 0
    line = np.polyfit(speeds, feet[:, 2], degree)
    short = float(np.quantile(feet[:, 2] - np.polyval(line, speeds), _SURELY))
    nearest, furthest = (float(np.polyval(line, speed)) for speed in (slow, fast))
    behind, ahead = np.median(feet[:, :2], axis=0).tolist()
    return replace(
        leap, behind=behind, ahead=ahead, nearest=nearest, furthest=max(furthest + short, nearest), slow=slow,
        fast=fast, flight_speed=min(max(leap.flight_speed, slow), fast),
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
