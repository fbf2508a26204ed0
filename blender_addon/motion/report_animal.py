"""Figures that only four legs have: how sharply their joints bend in each gait, and whether the gait is as asked."""

from __future__ import annotations

import numpy as np

from . import metrics as measure
from .animal import shoulder_height
from .clip import Clip
from .figures import Figure
from .gait_analysis.classify import GAIT_LABELS, label_gaits
from .metrics_gait import asked_gaits, made_strides, timing
from .plan import Plan
from .rotations import Array

#: Groups of gaits by how sharply stifle, hock, elbow and wrist may bend in them, degrees/s2 for withers at 0.6 m.
#: Walk and gallop as asked for; trot and pace lie between.
_SHARPEST: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("walk", ("stand", "walk"), 6e4), ("trot", ("trot", "pace"), 1.2e5),
    ("gallop", ("canter", "gallop", "bound"), 2.5e5),
)  # fmt: skip
#: Share of the strides that shall be what was asked, percent; deviations from the table that are allowed.
RIGHT, LAG, DUTY = 95.0, 0.05, 0.08


def hinge_figures(clip: Clip) -> list[Figure]:
    """Greatest angular acceleration of the joints of the legs, by the gait the feet make.

    Leaps count as galloping. Frames within a fifth of a second of a faster gait belong to that one.
    """
    even = measure.at_measuring_rate(clip)
    sharp = np.nanmax(np.nan_to_num(measure.knee_acceleration(even)), axis=1)
    group = np.zeros(len(even))
    labels = label_gaits(even)
    for rank, (_, gaits, _) in enumerate(_SHARPEST):
        group[np.isin(labels, [GAIT_LABELS.index(name) for name in gaits])] = rank
    group[~even.contacts.any(axis=1) & (group == 0)] = len(_SHARPEST) - 1
    near = round(0.2 * even.fps)
    group = measure.windowed(np.pad(group, near, mode="edge"), 2 * near + 1, np.max)[near:-near]
    found = []
    for rank, (name, _, most) in enumerate(_SHARPEST):
        chosen = np.where(group == rank, sharp, np.nan)
        if not np.isfinite(chosen).any():
            continue
        worst = int(np.nanargmax(chosen))
        found.append(Figure.of(
            f"hinges_{name}", f"Joints of the legs, greatest angular acceleration, {name}", float(chosen[worst]),
            "deg/s2", most / measure.size(clip.skeleton), round(worst * clip.fps / even.fps),
        ))  # fmt: skip
    return found


def gait_figures(clip: Clip, plan: Plan, times: Array) -> list[Figure]:
    """Whether the gait asked for is made, its timing against the table, and the pitch of the trunk.

    Args:
        clip: the motion.
        plan: what was asked.
        times: frame (f,) of the plan at each of the clip's.
    """
    height = shoulder_height(clip.skeleton)
    at = np.clip(np.round(times).astype(int), 0, len(plan) - 1)
    made = made_strides(clip, asked_gaits(plan.speed[at], plan.actions, plan.action[at], height))
    if not made:
        return []
    wrong = next((round(entry.stride.first) for entry in made if not entry.right), None)
    share = 100.0 * float(np.mean([not entry.right for entry in made]))
    figures = [
        Figure.of("gait_wrong", "Strides in another gait than asked", share, "%", 100.0 - RIGHT, wrong),
        Figure.of("gait_strides", "Strides held against the gait asked", len(made)),
    ]
    each = timing(made, height)
    if each:
        figures += [
            Figure.of("gait_lag", "Phase of the legs off the gait table", max(gait.lag for gait in each), "", LAG),
            Figure.of("gait_duty", "Duty of the legs off the gait table", max(gait.duty for gait in each), "", DUTY),
        ]  # fmt: skip
    for gait in each:
        low, high = gait.usual_pitch
        figures.append(Figure.of(
            f"pitch_{gait.gait}", f"Pitch of the trunk within a stride, {gait.gait}", gait.pitch, "deg", high, low=low
        ))  # fmt: skip
    return figures
