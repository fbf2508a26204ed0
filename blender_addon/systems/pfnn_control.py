"""The Phase-Functioned Neural Network's control: how the wish meets the own prediction, and which gait is meant.

Own prediction a0 and wish a1 become (1 - t^tau) a0 + t^tau a1, t from 0 now to 1 at the last sample (the
TrajectoryBlend of Holden et al. 2017). All arrays have a leading axis of characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..motion.labels import STAND_SPEED
from ..motion.rotations import Array
from .trajectory_control import Trajectory, unit_facings, wish_share

#: Half the width, m/s, over which standing goes over into walking.
_STAND_EDGE = 0.08
#: Steps are hurried or held back by this share at most, from so many seconds before a leap until so shortly before it.
_HURRY, _RUN_UP, _TOO_LATE = 0.25, 2.2, 0.05
#: A trajectory that goes less far than this from sample to sample leads nowhere, metres.
_LEAST_WAY = 0.02


@dataclass(frozen=True)
class PfnnBlend:
    """How much of the own prediction is kept: a0 (1 - t^tau) + a1 t^tau, t from 0 now to 1 at the last sample.

    Smaller tau obeys quicker, larger tau moves more naturally.

    Attributes:
        position: tau of the path: how quickly the body comes back onto it, sideways.
        speed: tau along the path: how quickly it takes up another speed.
        direction: tau of the facing. gait: tau of the gaits.
    """

    position: float = 0.5
    speed: float = 0.5
    direction: float = 0.5
    gait: float = 0.25

    def share(self, tau: float) -> Array:
        """Share of the wish at each future sample (6,); none of it now."""
        return wish_share(tau)


def blended_trajectory(own: Trajectory, wish: Trajectory, blend: PfnnBlend) -> tuple[Array, Array]:
    """Positions and directions (c, 6, 2) of the own prediction and the wish at the future samples."""
    away = wish.positions - own.positions
    along = _tangents(wish)
    forward = np.sum(away * along, axis=-1, keepdims=True) * along
    position, speed, facing = (
        blend.share(tau)[:, None] for tau in (blend.position, blend.speed, blend.direction)
    )
    positions = own.positions + speed * forward + position * (away - forward)
    directions = (1.0 - facing) * own.directions + facing * wish.directions
    return positions, unit_facings(directions, wish.directions)


def blended_gaits(own: Array, wish: Array, blend: PfnnBlend) -> Array:
    """Gaits (c, 6, gaits) of what went on so far and the wish at the future samples."""
    share = blend.share(blend.gait)[:, None]
    return np.asarray((1.0 - share) * own + share * wish)


def meant_gaits(actions: Array, speeds: Array, names: Sequence[str], fastest_walk: float) -> Array:
    """Wished actions (..., gaits) as they were labelled in training: by speed (...), m/s, where that decides.

    Who goes slower than `labels.STAND_SPEED` stands, even if he turns, and who goes faster does not; who shall walk
    faster than anybody walks runs.
    """
    gaits = np.array(actions)
    index = {name: number for number, name in enumerate(names)}
    still = np.clip((STAND_SPEED + _STAND_EDGE - speeds) / (2.0 * _STAND_EDGE), 0.0, 1.0)
    if "stand" in index and "walk" in index:
        part = (1.0 - still) * gaits[..., index["stand"]]
        gaits[..., index["stand"]] -= part
        gaits[..., index["walk"]] += part
    if "walk" in index and "run" in index:
        # Half a metre a second between the two, as people change over.
        run = np.clip((speeds - fastest_walk) / 0.5 + 0.5, 0.0, 1.0) * gaits[..., index["walk"]]
        gaits[..., index["walk"]] -= run
        gaits[..., index["run"]] += run
    if "stand" in index:
        for name in ("walk", "run"):
            if name in index:
                part = still * gaits[..., index[name]]
                gaits[..., index[name]] -= part
                gaits[..., index["stand"]] += part
    return gaits


def in_step(pace: Array, phase: Array, until: Array, take_off: float) -> Array:
    """How fast the phase goes on (c,), rad/s, so that a leap finds the body on the foot that takes off.

    Args:
        pace: how fast it goes by itself (c,). phase: now (c,), radians. until: seconds until a leap takes off (c,).
        take_off: the phase there, of either foot: half a stride on it is the other's.
    """
    near = (until > _TOO_LATE) & (until < _RUN_UP)
    left = np.where(near, until, 1.0)
    ahead = phase + pace * left - take_off
    missing = np.round(ahead / np.pi) * np.pi - ahead
    steered = pace + np.clip(missing / left, -_HURRY * pace, _HURRY * pace)
    return np.asarray(np.where(near, steered, pace))


def _tangents(trajectory: Trajectory) -> Array:
    """The way's direction (c, 6, 2) at each sample, unit; where it leads nowhere, the facing."""
    step = np.empty_like(trajectory.positions)
    step[:, 1:-1] = 0.5 * (trajectory.positions[:, 2:] - trajectory.positions[:, :-2])
    step[:, 0] = trajectory.positions[:, 1] - trajectory.positions[:, 0]
    step[:, -1] = trajectory.positions[:, -1] - trajectory.positions[:, -2]
    length = np.linalg.norm(step, axis=-1, keepdims=True)
    return np.where(length > _LEAST_WAY, step / np.maximum(length, _LEAST_WAY), trajectory.directions)
