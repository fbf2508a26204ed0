"""Footholds: where exactly on the terrain a foot can stand, and how its sole lies there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .rotations import Array
from .terrain import Terrain

#: The surface may leave the sole's plane by this before a spot is found uneven, metres.
_UNEVEN = 0.012
#: Room left before the toes and behind the heel, metres.
_MARGIN = 0.015
#: A sole that sticks in a riser costs as much as a shift of so many metres, more than all else: where it would stick
#: wherever it may be moved to it is moved so many metres further.
_STUCK, _FURTHER = 0.7, 0.08
#: The ball stands at least about this far from an edge, metres.
_NEAR = 0.02
#: Half the width of a sole, metres.
_HALF_WIDTH = 0.035


@dataclass(frozen=True)
class Foothold:
    """Spots (n, 2), ground heights under them (n,) and normals of the plane the sole lies in (n, 3)."""

    spots: Array
    heights: Array
    normals: Array


def find_footholds(
    terrain: Terrain, spots: Array, yaws: Array, heel_length: float, tip_length: float, search: float = 0.1
) -> Foothold:
    """Shift each spot along the foot as little as possible until the sole lies on one surface.

    On smooth ground nothing is shifted. A sole across a stair's edge is: toes or heel that would stick in a
    riser weigh most, a ball or toes over an edge less, a heel over an edge little.

    Args:
        spots: ball positions (n, 2), metres.
        yaws: headings (n,), radians.
        heel_length, tip_length: distance from the ball back to the heel and ahead to the tip, metres.
        search: greatest shift, metres; a little more where the sole would stick in a riser otherwise.
    """
    if len(spots) == 0:
        return Foothold(spots, np.zeros(0), np.zeros((0, 3)))
    ahead = rot.direction_of_yaw(yaws)
    further = search + _FURTHER if search > 0.0 else 0.0
    shifts = np.linspace(-further, further, 2 * round(further / 0.01) + 1)
    candidates = spots[:, None] + shifts[None, :, None] * ahead[:, None]
    cost = np.abs(shifts) + _unevenness(terrain, candidates, ahead, heel_length, tip_length)
    near = np.abs(shifts) < search + 1e-9
    stuck = np.min(np.where(near, cost, np.inf), axis=1, keepdims=True) > _STUCK
    cost = np.where(near | stuck, cost, np.inf)
    best = np.take_along_axis(candidates, np.argmin(cost, axis=1)[:, None, None], axis=1)[:, 0]
    return Foothold(best, terrain.height(best), _sole_normals(terrain, best, ahead, heel_length))


def _unevenness(terrain: Terrain, at: Array, ahead: Array, heel_length: float, tip_length: float) -> Array:
    """Cost (n, candidates), in metres of shift, of what sticks out of or falls away from the sole's plane."""
    before = np.linspace(0.0, tip_length + _MARGIN, 6)[1:]
    along = np.concatenate([[-heel_length - _MARGIN], np.linspace(-heel_length, 0.0, 8), before])
    points = at[:, :, None] + along[:, None] * ahead[:, None, None]
    heights = terrain.height(points)
    middle = int(np.flatnonzero(along == 0.0)[0])
    near = terrain.height(np.stack([at + _NEAR * ahead[:, None], at - _NEAR * ahead[:, None]]))
    slope = np.clip((near[0] - near[1]) / (2.0 * _NEAR), -0.7, 0.7)
    residual = heights - heights[..., middle : middle + 1] - slope[..., None] * along
    stuck = np.maximum(residual.max(axis=-1) - _UNEVEN, 0.0)
    front = np.maximum(-residual[..., along > -0.045].min(axis=-1) - _UNEVEN, 0.0)
    # Paws may be too short to have a heel.
    heel = np.maximum(-residual[..., along <= -0.045].min(axis=-1, initial=0.0) - 2.0 * _UNEVEN, 0.0)
    steep = np.maximum(np.abs(near[0] - near[1]) - 2.0 * _NEAR, 0.0)
    into = np.clip((residual[..., 1 : middle + 1].max(axis=-1) - _UNEVEN) / _UNEVEN, 0.0, 1.0)
    return np.asarray(
        4.0 * np.minimum(stuck, 0.1) + 1.5 * np.minimum(front, 0.1) + 0.3 * np.minimum(heel, 0.1) + 4.0 * steep
        + _STUCK * into
    )


def _sole_normals(terrain: Terrain, spots: Array, ahead: Array, heel_length: float) -> Array:
    """Normals (n, 3): along the foot through ball and heel, unless the heel is over an edge; across by the sides."""
    left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=-1)
    middle = terrain.height(spots)
    share = np.linspace(0.125, 1.0, 8)
    under = middle - terrain.height(spots - heel_length * share[:, None, None] * ahead)
    behind = under[-1] / heel_length
    half = under[3] / (0.5 * heel_length)
    close = (terrain.height(spots + _NEAR * ahead) - terrain.height(spots - _NEAR * ahead)) / (2.0 * _NEAR)
    even = np.abs(under - share[:, None] * under[-1]).max(axis=0) < 0.015
    near = np.abs(under[:4] - 2.0 * share[:4, None] * under[3]).max(axis=0) < 0.0075
    along = np.where(even, behind, np.where(near, half, close))
    across = (terrain.height(spots + _HALF_WIDTH * left) - terrain.height(spots - _HALF_WIDTH * left)) / (
        2.0 * _HALF_WIDTH
    )
    along, across = np.clip(along, -0.7, 0.7), np.clip(across, -0.5, 0.5)
    slope = along[:, None] * ahead + across[:, None] * left
    normals = np.concatenate([-slope, np.ones((len(spots), 1))], axis=1)
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))
