"""Plans and motion between bodies of other sizes: legs measure ways, and animals' legs measure time as well."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .clip import Clip
from .plan import Plan
from .rotations import Array
from .skeleton import Skeleton


@dataclass(frozen=True)
class Likeness:
    """How a model's body is like the character that shall move as it does.

    People of all sizes keep the model's time: they differ little. A horse that stepped as quickly as a fox would look
    like a toy: animals move alike at equal Froude numbers (Alexander & Jayes 1983), so that time goes with the root of
    the size, and so do the speeds at which gaits change.

    Attributes:
        length: metres of the model for each metre of the character.
        time: seconds of the model for each second of the character.
    """

    length: float
    time: float = 1.0

    @classmethod
    def of(cls, model: Skeleton, character: Skeleton) -> Likeness:
        """By the lengths of the legs."""
        length = model.leg_length / character.leg_length
        return cls(length, float(np.sqrt(length)) if model.four_legged and character.four_legged else 1.0)

    @property
    def speed(self) -> float:
        """Metres a second of the model for each of the character's."""
        return self.length / self.time

    def plan(self, plan: Plan) -> Plan:
        """The character's plan as the model follows it, at the same frame rate."""
        at = np.arange(self._frames(len(plan))) / self.time
        nearest = np.clip(np.round(at).astype(np.int64), 0, len(plan) - 1)
        return replace(
            plan, positions=_sampled(plan.positions, at) * self.length, yaw=_sampled(plan.yaw, at),
            speed=_sampled(plan.speed, at) * self.speed, distance=_sampled(plan.distance, at) * self.length,
            action=plan.action[nearest], turning=plan.turning[nearest], deviation=plan.deviation * self.length,
            depth=plan.depth[nearest] if len(plan.depth) else plan.depth,
            leaps=tuple(self.time * moment for moment in plan.leaps),
        )  # fmt: skip

    def clip(self, clip: Clip, frames: int) -> Clip:
        """The model's motion in the character's time, ``frames`` long; still on the model's skeleton."""
        if self.time == 1.0:
            return clip
        slowed = replace(clip, fps=clip.fps * self.time).resampled(clip.fps)
        if len(slowed) >= frames:
            return slowed.cut(0, frames)
        held = np.minimum(np.arange(frames), len(slowed) - 1)
        return replace(
            slowed, hips=slowed.hips[held], rotations=slowed.rotations[held], root=slowed.root[held],
            contacts=slowed.contacts[held],
        )  # fmt: skip

    def _frames(self, frames: int) -> int:
        return frames if self.time == 1.0 else int(np.ceil((frames - 1) * self.time)) + 1


def _sampled(track: Array, at: Array) -> Array:
    """Values of ``track`` (n, ...) at fractional frames (m,), linear, the last one held."""
    columns = np.asarray(track, dtype=np.float64).reshape(len(track), -1)
    frame = np.arange(len(track))
    found = np.stack([np.interp(at, frame, column) for column in columns.T], axis=1)
    return found.reshape(len(at), *np.shape(track)[1:])
