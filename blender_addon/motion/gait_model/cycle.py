"""One stride of a gait as a clip that loops in place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..clip import Clip
from ..errors import ClipError
from ..gait_names import GAITS
from ..plan import Plan
from ..rotations import Array
from ..skeleton import Skeleton
from .body import Body
from .perform import perform_body, table_for
from .settings import GaitSettings
from .table import gait_for_speed

#: Seconds (0.6 m) on each side of the stride in which springs settle, and strides in which gaits do.
_SETTLE, _STRIDES = 1.1, 2.2
#: A stride is shown by so many frames a second about.
_FPS = 60.0


def cycle_clip(
    skeleton: Skeleton, gait: str, speed: float, settings: GaitSettings | None = None, fps: float = _FPS
) -> Clip:
    """One stride in place, on the spot: the frame after the last is the first again.

    The frame rate is near ``fps`` and such that the stride has a whole number of frames: at that rate, and with the
    ground moving back at ``speed``, feet on the ground do not slide. It begins as the left hind foot lands.

    Args:
        skeleton: four-legged.
        gait: a name of `GAITS`, or "auto" for the one that fits the speed.
        speed: m/s, clamped to the gait's own speeds.
        settings: build, lead, shape; nothing varies.
        fps: frames per second wished.

    Raises:
        RigError: the skeleton is not four-legged or lacks a leg.
        ClipError: there is no such gait, or the speed is no number above 0.
    """
    return cycle_of(Body.of(skeleton), gait, speed, settings, fps)


def cycle_of(body: Body, gait: str, speed: float, settings: GaitSettings | None = None, fps: float = _FPS) -> Clip:
    """`cycle_clip` for a skeleton read before."""
    if not (np.isfinite(speed) and speed > 0.0):
        raise ClipError(f"A gait has no speed of {speed} m/s", "Give a speed above 0")
    if gait not in (*GAITS, "auto"):
        raise ClipError(f"There is no gait {gait!r}", f"Choose auto or one of: {', '.join(GAITS)}")
    settings = replace(settings or GaitSettings(), variation=0.0, fidget=0.0, start_phase=0.0, gait=None)
    name = gait_for_speed(speed, body.height) if gait == "auto" else gait
    table = table_for(body, settings)
    low, high = table[name].speeds(body.height)
    speed = float(np.clip(speed, max(low, 0.05), high))
    rate = float(table[name].frequency(np.array(speed), body.height))
    frames = max(int(round(fps / rate)), 4)
    fps = frames * rate
    way = -speed / fps * np.arange(frames + 1)
    plan = Plan(
        fps, np.stack([np.zeros(frames + 1), way], axis=1), np.zeros(frames + 1), np.full(frames + 1, speed), -way,
        ("stand", name), np.ones(frames + 1, dtype=np.int64), np.zeros(frames + 1, dtype=np.bool_),
    )  # fmt: skip
    pad = int(np.ceil(max(_SETTLE * np.sqrt(body.height / 0.6), _STRIDES / rate) * fps))
    clip = perform_body(body, plan, settings, pad).cut(0, frames)
    back: Array = np.concatenate([-clip.root[:, :2], np.zeros((frames, 1))], axis=1)
    return replace(clip.moved(back), name=name)
