"""The seam of a looped cycle: how its end goes over into its beginning, and frames doubled or lost there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rotations import Array

#: Keyed cycles are drawn at about this many frames a second; finer ones are taken for resampled.
KEYED_FPS = 30.0
#: Still is what moves less than this share of the usual step.
_STILL = 0.1
#: Shares of the usual step (of a keyed frame): over the first the pose moves on at the seam, over the second it leaps.
_MOVES, _LEAPS = 0.5, 1.5
#: Frames between the last pose and the first, as its speed there tells, from which one is missing.
_GAP = 1.6
#: A pose that is this far off (lengths of the leg) and off by so many of a joint's widest steps does not join.
_OFF, _OFF_STEPS = 0.08, 1.2
#: Cosine between the motion before and after the seam, under which it turns round.
_REVERSAL = -0.6


@dataclass(frozen=True)
class Seam:
    """What happens where the last frame goes over into the first.

    Attributes:
        first: index of the first frame after which the body moves.
        last: index of the last frame that is not a copy of the one before it.
        gap: frames from there to ``first``, as far as the speed tells: 0 when the last frame is the first again,
            1 when the first follows the last; between them for cycles that were resampled.
        doubled: copies at the end (last frame repeated) while the body moves.
        doubled_start: the same at the beginning.
        missing: keyed frames that are missing between last and first.
        off: how far the poses are from joining, lengths of the leg.
        open: whether that is too far.
        reversed: whether the body turns round there.
    """

    first: int
    last: int
    gap: float
    doubled: int
    doubled_start: int
    missing: int
    off: float
    open: bool
    reversed: bool


def find_seam(points: Array, fps: float, leg: float) -> Seam:
    """The seam of a cycle in place.

    Args:
        points: feet and the tops of the legs (f, n, 3), metres, in place; at least 4 frames.
        fps: frames per second.
        leg: length of the legs, metres.
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    keyed = max(1.0, fps / KEYED_FPS)
    usual = float(np.median(steps.mean(axis=1)))
    moving = np.flatnonzero(steps.mean(axis=1) > _STILL * usual)
    if usual < 1e-9 * leg or len(moving) < 3:
        return Seam(0, len(points) - 1, 0.0, 0, 0, 0, 0.0, False, False)
    first, last = int(moving[0]), int(moving[-1]) + 1
    wrap = points[first] - points[last]
    before, after = points[last] - points[last - 1], points[first + 1] - points[first]
    mean = 0.5 * (before + after)
    gap = float(np.clip(np.sum(wrap * mean) / max(float(np.sum(mean**2)), 1e-18), 0.0, len(points)))
    leap = float(np.linalg.norm(wrap, axis=-1).mean()) / usual / keyed
    off = np.linalg.norm(wrap - gap * mean, axis=-1)
    widest = np.maximum(np.percentile(steps, 95, axis=0) * keyed, 1e-9)
    pause = leap > _MOVES
    doubled = len(points) - 1 - last if pause else 0
    doubled_start = first if pause else 0
    if doubled or doubled_start:
        # A still stretch is as long as one keyed frame: the pose should have gone on by one step, not by more.
        missing = int(leap > _LEAPS)
    else:
        missing = round(gap / keyed) - 1 if gap / keyed > _GAP and leap > _LEAPS else 0
    turned = float(np.sum(before * after)) / max(float(np.linalg.norm(before) * np.linalg.norm(after)), 1e-18)
    quick = min(np.linalg.norm(before, axis=-1).mean(), np.linalg.norm(after, axis=-1).mean()) > 0.4 * usual
    return Seam(
        first, last, gap, doubled, doubled_start, missing, float(off.max() / leg),
        bool(np.any((off > _OFF * leg) & (off > _OFF_STEPS * widest))), bool(turned < _REVERSAL and quick),
    )  # fmt: skip
