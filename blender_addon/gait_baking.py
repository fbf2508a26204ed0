"""The bake of an animal that goes on the spot: one cycle that closes, or some seconds; `baking.write` writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .bake_settings import BakeSettings
from .baking import Progress, Solved
from .gait_entry import speeds_of, used_instead
from .motion import rotations as rot
from .motion.animal import shoulder_height
from .motion.clip import Clip
from .motion.errors import Cancelled
from .motion.gait_model.cycle import cycle_clip
from .motion.gait_model.perform import perform
from .motion.gait_model.settings import GaitSettings
from .motion.plan import Plan
from .motion.skeleton import Skeleton
from .scene.in_place import channels, raised
from .scene.reduction import reduce_channels
from .scene.shot import Shot

#: Frames a second of the gait model.
FPS = 60.0


@dataclass(frozen=True)
class OnTheSpot:
    """What is to be baked.

    Attributes:
        gait: its name, or ``auto`` for the one that fits the speed.
        speed: of the ground under the animal, m/s.
        seconds: how long; None for one cycle.
        gaits: of the gait model.
    """

    gait: str
    speed: float
    seconds: float | None = None
    gaits: GaitSettings = GaitSettings()


def solve(shot: Shot, asked: OnTheSpot, settings: BakeSettings, progress: Progress | None = None) -> Solved:
    """Make the motion and its channels. Touches nothing of Blender.

    Args:
        shot: from `scene.in_place.standing`.
        asked: gait, speed and length.
        settings: where and how to write.
        progress: told how far it is; returns False to cancel.

    Raises:
        RigError, ClipError: what cannot be done.
        Cancelled: ``progress`` said so.
    """
    if progress is not None and not progress(0.0, "Walking on the spot"):
        raise Cancelled
    speed, notes = covered(asked, shot.rig.skeleton)
    if asked.seconds is None:
        cycle = cycle_clip(shot.rig.skeleton, asked.gait, speed, asked.gaits, shot.fps)
        clip, note = closed(cycle, shot.fps)
        notes = (*notes, note)
    else:
        clip = perform(shot.rig.skeleton, straight(asked.gait, speed, asked.seconds), asked.gaits)
        clip = clip.resampled(shot.fps)
    if progress is not None and not progress(0.7, "Making keys"):
        raise Cancelled
    keys = raised(shot.rig, clip)
    made, told = channels(shot.rig, keys), notes
    if settings.tolerance is not None:
        made, found = reduce_channels(shot.rig, made, keys.contacts, settings.tolerance)
        told = (*told, *found.notes)
    plan = straight(asked.gait, speed, max(clip.seconds, 1.0 / FPS))
    return Solved(
        shot, settings, plan, clip, clip, keys, None, tuple(made), None, {}, (*shot.notes, *told)
    )  # fmt: skip


def covered(asked: OnTheSpot, skeleton: Skeleton) -> tuple[float, tuple[str, ...]]:
    """The nearest speed, m/s, that an animal of this size has in the gait, and words where it is another."""
    height = shoulder_height(skeleton)
    low, high = speeds_of(asked.gait, height)
    speed = min(max(asked.speed, low), high)
    return speed, used_instead(asked.gait, asked.speed, speed, height)


def straight(gait: str, speed: float, seconds: float) -> Plan:
    """Straight on at one speed, m/s, for so many seconds."""
    count = int(round(seconds * FPS)) + 1
    way = speed / FPS * np.arange(count)
    positions = np.stack([np.zeros(count), -way], axis=-1)
    return Plan(
        FPS, positions, np.zeros(count), np.full(count, speed), way, ("stand", gait), np.ones(count, np.int64),
        np.zeros(count, np.bool_),
    )  # fmt: skip


def closed(cycle: Clip, fps: float) -> tuple[Clip, str]:
    """A cycle played at the scene's rate, with the first frame again at its end; and how long it is, in words.

    A stride seldom lasts a whole number of frames: it is played a little quicker or slower, so that it does.
    """
    again = np.append(np.arange(len(cycle)), 0)
    note = f"One stride takes {len(cycle)} frames; the frame after it is the first one again"
    percent = 100.0 * (fps / cycle.fps - 1.0)
    if abs(percent) >= 0.5:
        note += f". It plays {abs(percent):.1f}% {'faster' if percent > 0.0 else 'slower'}, to end on a whole frame"
    whole = replace(
        cycle, fps=fps, hips=cycle.hips[again], rotations=rot.unroll(cycle.rotations[again]), root=cycle.root[again],
        contacts=cycle.contacts[again],
    )  # fmt: skip
    return whole, note
