"""The same motion at another size: bodies and grounds scaled, so that what is tuned for a person holds for all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .clip import Clip
from .rotations import Array
from .skeleton import Skeleton, Sole
from .terrain import BoolArray, Terrain


def sized_skeleton(skeleton: Skeleton, factor: float) -> Skeleton:
    """The skeleton, every length times ``factor``."""
    soles = {
        side: Sole(sole.heel * factor, sole.ball * factor, sole.tip * factor) for side, sole in skeleton.soles.items()
    }
    return replace(
        skeleton, offsets=skeleton.offsets * factor, tails=skeleton.tails * factor,
        ball_height=skeleton.ball_height * factor, soles=soles,
    )  # fmt: skip


def sized(clip: Clip, factor: float, skeleton: Skeleton | None = None) -> Clip:
    """The clip, every length times ``factor``, on ``skeleton`` where that is known."""
    return replace(
        clip, skeleton=skeleton or sized_skeleton(clip.skeleton, factor), hips=clip.hips * factor,
        root=clip.root * np.array([factor, factor, 1.0]),
    )  # fmt: skip


@dataclass(frozen=True)
class SizedGround:
    """A ground, every length times ``factor``."""

    ground: Terrain
    factor: float

    def height(self, xy: Array) -> Array:
        """Height (...) at points (..., 2)."""
        return np.asarray(self.factor * self.ground.height(np.asarray(xy) / self.factor))

    def normal(self, xy: Array) -> Array:
        """Upward unit normal (..., 3) at points (..., 2)."""
        return self.ground.normal(np.asarray(xy) / self.factor)

    def has_ground(self, xy: Array) -> BoolArray:
        """Whether there is ground (...) at points (..., 2)."""
        return self.ground.has_ground(np.asarray(xy) / self.factor)
