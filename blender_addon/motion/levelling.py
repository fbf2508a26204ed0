"""Levelling: the tilt and the height of the floor that a take was captured on are found and taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .clip import Clip
from .contacts import detect_contacts, flat_frames, foot_points, standing_heights, usual_settings
from .rotations import Array
from .runs import runs

#: Scatter of a flat contact's height about the floor, metres, and how far floors tilt (slope). Together they
#: say how far the points of a take are believed: one that covers little ground keeps a tilt near zero.
HEIGHT_SCATTER = 0.005
USUAL_TILT = 0.01


@dataclass(frozen=True)
class Floor:
    """A plane ``z = slope . (x, y) + height``.

    Attributes:
        slope: rise per metre along x and y (2,).
        height: height of the toe joint in flat contact over the origin, metres.
        contacts: how many flat contacts it was fitted to.
        spread: 95th percentile of their distance from the plane, metres.
    """

    slope: Array
    height: float
    contacts: int
    spread: float


def flat_contacts(clip: Clip, floor: Floor | None = None) -> Array:
    """One point (n, 3) for each time a foot stands flat: the median of its toe joint (or `foot_points`), metres.

    Flat means that toe joint and ankle both rest. ``floor`` says where the toe joint stands; without it the
    lowest twentieth of its heights does. A runner's heels may never come down: then contacts of the ball count.
    """
    toes = foot_points(clip)
    level = np.percentile(toes[..., 2], 5) if floor is None else floor.height + toes[..., :2] @ floor.slope
    down = detect_contacts(
        toes, clip.fps, rest_height=level, leg_length=clip.skeleton.leg_length, settings=usual_settings(clip.skeleton)
    )
    flat = flat_frames(clip, down)
    shortest = max(2, round(0.08 * clip.fps))
    for chosen in (flat, down):
        points = [
            np.median(toes[first:last, side], axis=0)
            for side in range(toes.shape[1])
            for first, last in runs(chosen[:, side])
            if last - first >= shortest
        ]
        if points:
            break
    return np.array(points) if points else np.zeros((0, 3))


def fit_floor(takes: Sequence[Array]) -> list[Floor]:
    """One floor a take from their flat contacts (n, 3): a common slope, each its own height.

    Robust least squares (Huber weights at 1 cm) with a prior of `USUAL_TILT` on the slope, so that takes
    covering little ground are not tilted by noise. A take without contacts gets height 0 and no slope.
    """
    filled = [points for points in takes if len(points)]
    slope = np.zeros(2)
    if filled:
        flat = np.concatenate([points[:, :2] - np.median(points[:, :2], axis=0) for points in filled])
        rise = np.concatenate([points[:, 2] - np.median(points[:, 2]) for points in filled])
        which = np.repeat(np.arange(len(filled)), [len(points) for points in filled])
        unknowns = np.concatenate([flat, np.eye(len(filled))[which]], axis=1)
        prior = np.diag([1.0 / USUAL_TILT**2] * 2 + [1e-9] * len(filled))
        weights = np.ones(len(rise))
        for _ in range(8):
            weighted = unknowns * (weights / HEIGHT_SCATTER**2)[:, None]
            solution = np.linalg.solve(unknowns.T @ weighted + prior, weighted.T @ rise)
            residual = np.abs(rise - unknowns @ solution)
            weights = 1.0 / np.maximum(residual / 0.01, 1.0)
        slope = solution[:2]
    floors = []
    for points in takes:
        if not len(points):
            floors.append(Floor(np.zeros(2), 0.0, 0, 0.0))
            continue
        over = points[:, 2] - points[:, :2] @ slope
        height = float(np.median(over))
        floors.append(Floor(slope, height, len(points), float(np.percentile(np.abs(over - height), 95))))
    return floors


def find_floors(clips: Sequence[Clip], *, keep_slope: bool = False, lowest: bool = False) -> list[Floor]:
    """The floors of clips recorded on one floor; found twice, the second time with contacts seen from the first.

    Args:
        clips: takes of one group.
        keep_slope: find heights only.
        lowest: the ground was not flat: the height is where the lowest contacts are.
    """
    floors = _fit([flat_contacts(clip) for clip in clips], keep_slope, lowest)
    again = [flat_contacts(clip, floor if floor.contacts else None) for clip, floor in zip(clips, floors, strict=True)]
    return _fit(again, keep_slope, lowest)


def _fit(takes: list[Array], keep_slope: bool, lowest: bool) -> list[Floor]:
    floors = fit_floor(takes)
    if keep_slope:
        share = 10 if lowest else 50
        floors = [
            replace(floor, slope=np.zeros(2), height=float(np.percentile(points[:, 2], share)) if len(points) else 0.0)
            for floor, points in zip(floors, takes, strict=True)
        ]
    return floors


def levelled(clip: Clip, floor: Floor) -> Clip:
    """The clip turned so that ``floor`` is level, and lifted so that the toe joint in flat contact is at the
    skeleton's ``ball_height`` over z = 0 (the ankle at its rest height where there is no toe joint; contact points of
    four legs at 0).

    Contacts and root are kept; compute them anew afterwards.
    """
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = rot.between(normal / np.linalg.norm(normal), rot.UP)
    pivot = np.array([0.0, 0.0, floor.height])
    stand = float(standing_heights(clip.skeleton)[0])
    hips = rot.rotate(turn, clip.hips - pivot) + np.array([0.0, 0.0, stand])
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.mul(turn, rotations[:, 0])
    return replace(clip, hips=hips, rotations=rotations)
