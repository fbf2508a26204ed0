"""The search of a bank for ground that fits a cycle, and how it is bent to touch every stand (Holden et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_addon.motion.rotations import Array

from .bank import Bank, Floats, Indices
from .windows import Window

#: In a jump the ground is no more than this below the feet, metres (Holden et al. 2017).
JUMP_M = 0.30
#: Placements on each map that are looked at closely, after all were compared by their stands.
_CLOSER = 4
#: Grounds whose errors differ by less than this fit alike, metres.
_ALIKE = 0.002
#: Nor does ground fit as well as any that a foot passes through deeper than this, metres.
_DEEP = 0.03
#: Grounds that differ by this from the first, root of the mean square in metres, are different enough.
_UNLIKE = 0.06


@dataclass(frozen=True)
class Placed:
    """Maps of a bank laid under a window.

    Attributes:
        bank: the maps. maps: which (k,). turn: how the world is turned on each (k,), radians.
        flip: -1 where it is mirrored (k,). place: where the window's middle lies on each map (k, 2), metres.
    """

    bank: Bank
    maps: Indices
    turn: Floats
    flip: Floats
    place: Floats

    def sample(self, away: Array) -> Floats:
        """Heights (k, n), metres, at points (n, 2) seen from the window's middle."""
        x, y = (away[:, axis].astype(np.float32) for axis in range(2))
        cos, sin = np.cos(self.turn), np.sin(self.turn)
        at_x = cos[:, None] * x - (self.flip * sin)[:, None] * y + self.place[:, :1]
        at_y = sin[:, None] * x + (self.flip * cos)[:, None] * y + self.place[:, 1:]
        return self.bank.sample(self.maps, at_x, at_y)

    def take(self, rows: Indices) -> Placed:
        """Only some of them."""
        return Placed(self.bank, self.maps[rows], self.turn[rows], self.flip[rows], self.place[rows])


@dataclass(frozen=True)
class FittedGround:
    """The best few grounds for a cycle, bent so that every stand is on them.

    Attributes:
        placed: the maps (k). middle: the window's in the world (2,). lift: height added (k,), metres.
        errors: by the fit before bending, squared metres (k,).
        spots: where it was bent (s, 2), metres. bend: strength of the linear kernel at each, and a constant (s + 1, k).
    """

    placed: Placed
    middle: Array
    lift: Array
    errors: Array
    spots: Array
    bend: Array

    def __len__(self) -> int:
        return len(self.lift)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each ground is."""
        return tuple(self.placed.bank.kinds[number] for number in self.placed.maps)

    def heights(self, xy: Array, bent: bool = True) -> Array:
        """Heights (k, n) at points (n, 2) of the world, metres; without ``bent`` as they were found."""
        found = self.placed.sample(xy - self.middle) + self.lift[:, None]
        if bent:
            found = found + (_kernel(xy, self.spots) @ self.bend).T
        return np.asarray(found)


class Search:
    """Finds grounds for windows.

    The first ground is the one that fits best, the levellest where several do. Ground nearer to the feet than ``good``
    fits as well as any, once it is bent: among such those are preferred that differ from the first, else level motion
    would never meet a stair.

    Args:
        bank: the maps. placements: how many places and turns are tried on each map, for each window.
        fits: how many grounds are wanted, each on another map. good: root of the mean square error, metres.
    """

    def __init__(self, bank: Bank, placements: int, fits: int, good: float) -> None:
        self.bank, self.placements, self.fits, self.good = bank, placements, min(fits, len(bank)), good

    def fit(self, window: Window, random: np.random.Generator) -> FittedGround:
        """The best few grounds for a window."""
        tries = self._tries(window, random)
        bare = window.spots[:, :2] - window.middle
        error, _ = stand_errors(tries.sample(bare), window.spots[:, 2], window.weights)
        tries = tries.take(self._closer(error))
        found = tries.sample(window.points[:, :2] - window.middle)
        whole, lift = whole_errors(found, window)
        deep = np.max(np.where(window.down, 0.0, found + lift[:, None] - window.points[:, 2]), axis=1)
        felt = tries.sample(window.felt - window.middle) + lift[:, None]
        rms = np.sqrt(whole)
        first = int(np.argmin(np.where(rms <= rms.min() + _ALIKE, felt.std(axis=1), np.inf)))
        unlike = np.sqrt(np.mean(np.square(felt - felt[first]), axis=1))
        uneven = np.minimum(unlike, _UNLIKE) * (1.0 + 0.01 * random.random(len(rms)))
        rank = np.where((rms <= self.good) & (deep <= _DEEP), -uneven, rms)
        rank[first] = -np.inf
        count = len(rank) // len(self.bank)
        chosen = rank.reshape(-1, count).argmin(axis=1) + count * np.arange(len(self.bank))
        order = chosen[np.argsort(rank[chosen], kind="stable")][: self.fits]
        tries, lift = tries.take(order), lift[order]
        left = window.spots[:, 2] - tries.sample(bare) - lift[:, None]
        spots = window.spots[:, :2]
        return FittedGround(tries, window.middle, lift, whole[order], spots, bend(spots, left.T))

    def _closer(self, error: Array) -> Indices:
        """Which tries (n,) to look at with all points: of each map the best by its stands, and others as good.

        The stands' part of the error is a lower bound of the whole.
        """
        error = error.reshape(len(self.bank), -1)
        best = error.argmin(axis=1)
        alike = np.maximum(error, self.good**2)
        alike[np.arange(len(error)), best] = -1.0
        count = min(_CLOSER, self.placements)
        rows = np.argpartition(alike, count - 1, axis=1)[:, :count]
        return np.asarray(rows + self.placements * np.arange(len(self.bank))[:, None]).reshape(-1)

    def _tries(self, window: Window, random: np.random.Generator) -> Placed:
        """``placements`` places and turns on each map, the window inside the map where it can be."""
        count = len(self.bank) * self.placements
        drawn = random.random((4, count), dtype=np.float32)
        radius = float(np.linalg.norm(window.points[:, :2] - window.middle, axis=1).max())
        inner = max(self.bank.size - 2.0 * radius, 0.0)
        place = (0.5 * (self.bank.size - inner) + inner * drawn[:2]).T.astype(np.float32)
        flip = np.where(drawn[3] < 0.5, np.float32(-1.0), np.float32(1.0))
        maps = np.repeat(np.arange(len(self.bank)), self.placements)
        return Placed(self.bank, maps, np.float32(2.0 * np.pi) * drawn[2], flip, place)


def stand_errors(found: Floats, wanted: Array, weights: Array) -> tuple[Array, Array]:
    """Squared distance (k,) of ground (k, s) from stands (s,), and the lift (k,) that makes it least."""
    away = wanted - found
    total = max(float(weights.sum()), 1e-9)
    lift = away @ weights / total
    return np.asarray(((away - lift[:, None]) ** 2) @ weights / total), lift


def whole_errors(found: Floats, window: Window) -> tuple[Array, Array]:
    """The error (k,) of ground (k, n) under a window's points, and the lift (k,) it was measured with.

    Stands: squared distance from the ground. In the air: squared depth under it. In a jump: squared height over it
    beyond `JUMP_M`. All divided by the number of points.
    """
    down, height = window.down, window.points[:, 2]
    if down.any():
        lift = (height[down] - found[:, down]).mean(axis=1)
    else:
        lift = (height - found).min(axis=1)
    over = height - found - lift[:, None]
    error = np.square(over[:, down]).sum(axis=1)
    error += np.square(np.minimum(over[:, ~down], 0.0)).sum(axis=1)
    if window.over.any():
        error += np.square(np.maximum(over[:, window.over & ~down] - JUMP_M, 0.0)).sum(axis=1)
    return np.asarray(error / len(height)), np.asarray(lift)


def bend(spots: Array, left: Array) -> Array:
    """Strengths (s + 1, k) of linear kernels at spots (s, 2), and a constant, that interpolate residuals (s, k)."""
    count = len(spots)
    system = np.zeros((count + 1, count + 1))
    system[:count] = _kernel(spots, spots)
    system[count, :count] = 1.0
    return np.linalg.solve(system, np.concatenate([left, np.zeros((1, left.shape[1]))]))


def _kernel(xy: Array, spots: Array) -> Array:
    """Distances of points (n, 2) from spots (s, 2), and ones (n, s + 1)."""
    away = xy[:, None] - spots
    found = np.ones((len(xy), len(spots) + 1))
    np.sqrt(np.einsum("nsk,nsk->ns", away, away), out=found[:, :-1])
    return found
