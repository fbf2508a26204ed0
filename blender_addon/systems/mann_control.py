"""The Mode-Adaptive Neural Network's control: how the wish meets the own prediction.

Blended as by the Phase-Functioned Neural Network (the TrajectoryBlend of Holden et al. 2017). All arrays have a leading
axis of characters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion.rotations import Array
from .layout import Layout
from .trajectory import PAST, SAMPLES
from .trajectory_control import Trail, Trajectory, unit_facings, wish_share


@dataclass(frozen=True)
class Blend:
    """How much of the own prediction is kept: a0 (1 - t^tau) + a1 t^tau, t from 0 now to 1 at the last sample.

    Smaller tau obeys quicker, larger tau moves more naturally.

    Attributes:
        position, direction, velocity: tau of each part of the trajectory.
    """

    position: float = 0.5
    direction: float = 0.5
    velocity: float = 0.5

    @property
    def shares(self) -> Array:
        """Share of the wish in each part, at each future sample (3, 6, 1); none of it now."""
        return wish_share(np.array([self.position, self.direction, self.velocity])[:, None])[..., None]


def trail_of(inputs: Array, layout: Layout, fps: float) -> Trail:
    """The trail of characters in the midst of what ``inputs`` (c, size) say."""
    past = slice(0, PAST + 1)
    places, directions, speeds, actions = (
        layout.get(inputs, name).reshape(len(inputs), SAMPLES, -1)[:, past]
        for name in ("trajectory_positions", "trajectory_directions", "speeds", "actions")
    )
    return Trail.joined(places, directions, speeds[..., 0], actions, fps)


def blended(own: Trajectory, wish: Trajectory, shares: Array) -> Trajectory:
    """TrajectoryBlend of the own prediction and the wish at the future samples; ``shares`` (3, 6, 1) of the wish."""
    values = own.values + shares * (wish.values - own.values)
    values[:, 1] = unit_facings(values[:, 1], wish.directions)
    return Trajectory(values)
