"""Path correction: move the whole body, frame by frame, onto the planned root track."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .clip import Clip
from .errors import ClipError
from .filters import lowpass
from .root_track import FACING_CUTOFF, POSITION_CUTOFF
from .rotations import Array

#: Corrections faster than this would be seen as jitter; slower ones cost nothing once feet are planted again.
CUTOFF_HZ = 2.0
#: Sideways only what is slower than this is corrected: at a stride's frequency (0.5 to 1 Hz) the hips sway,
#: and a body without its sway goes as if on rails.
SIDEWAYS_HZ = 0.45
#: Between these bends (rad/m) the plan becomes too tight to tell sway from the bend: beyond, all is corrected.
BENDS = (0.55, 0.95)
#: Between these speeds (m/s) running begins: it sways little and quickly, and drifts far in the time of a stride.
RUNNING = (1.3, 2.2)
#: A standing body turns without going anywhere: bends are taken over at least this speed (m/s).
_LEAST_SPEED = 0.3


def correct_path(
    clip: Clip, plan_root: Array, strength: float = 1.0, exact: bool = False, cutoff: float = CUTOFF_HZ
) -> Clip:
    """Move the body onto the plan in place and heading.

    The difference between plan and clip is low-passed (zero phase) before it is applied, so that the body
    follows without added jitter; sideways still more, so that it keeps its sway. Feet slide by this; plant
    them afterwards.

    Args:
        clip: motion with its root track.
        plan_root: the plan (f, 3): x, y in metres, yaw in radians, one row per frame of the clip.
        strength: 0 leaves the clip as it is, 1 brings the body wholly onto the plan.
        exact: the root track (and so the root bone) becomes the plan itself; the body still follows by the
            low-passed correction at full strength, so the bone is exact and the hips keep their sway.
        cutoff: -3 dB frequency of the correction, Hz.

    Raises:
        ClipError: the plan does not fit the clip's frames, or holds values that are not numbers.
    """
    plan_root = np.asarray(plan_root, dtype=np.float64)
    if plan_root.shape != clip.root.shape:
        raise ClipError(f"The plan has shape {plan_root.shape}, the clip's root {clip.root.shape}")
    if not np.all(np.isfinite(plan_root)):
        raise ClipError("The plan holds values that are not numbers", "Repair the curve or the schedule")
    # The clip's track is its hips low-passed, which cuts bends short: the plan is held against it in the same way.
    wished = _as_track(plan_root, clip.fps)
    difference = wished - clip.root
    yaw = np.unwrap(difference[:, 2])
    difference[:, 2] = yaw - 2.0 * np.pi * np.round(yaw[0] / (2.0 * np.pi))
    strength = 1.0 if exact else float(np.clip(strength, 0.0, 1.0))
    if strength == 0.0:
        return clip
    moved = clip.moved(strength * _with_sway(difference, plan_root, clip.fps, cutoff))
    if not exact:
        return moved
    return replace(moved, root=plan_root)


def _as_track(plan_root: Array, fps: float) -> Array:
    """The plan as `root_track` would see a body that follows it."""
    place = lowpass(plan_root[:, :2], fps, POSITION_CUTOFF)
    return np.concatenate([place, lowpass(plan_root[:, 2:], fps, FACING_CUTOFF)], axis=1)


def _with_sway(difference: Array, plan_root: Array, fps: float, cutoff: float) -> Array:
    """The correction (f, 3): low-passed along the body's facing, and much more so across it."""
    full = lowpass(difference, fps, cutoff)
    if cutoff <= SIDEWAYS_HZ or len(plan_root) < 2:
        return full
    slow = lowpass(difference, fps, SIDEWAYS_HZ)
    yaw = plan_root[:, 2]
    rates = np.abs(np.gradient(plan_root, axis=0)) * fps
    speed = np.hypot(rates[:, 0], rates[:, 1])
    bend = rates[:, 2] / np.maximum(speed, _LEAST_SPEED)
    tight = np.maximum(_rise(bend, BENDS), _rise(speed, RUNNING))
    # Smooth, and wide enough to reach the steps before and after a corner.
    share = np.clip(lowpass(tight, fps, SIDEWAYS_HZ), 0.0, 1.0)
    across = np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)
    aside = np.sum((slow - full)[:, :2] * across, axis=-1) * (1.0 - share)
    full[:, :2] += aside[:, None] * across
    return full


def _rise(values: Array, between: tuple[float, float]) -> Array:
    """0 below the first of ``between``, 1 above the second, linear in the middle."""
    low, high = between
    return np.asarray(np.clip((values - low) / (high - low), 0.0, 1.0))
