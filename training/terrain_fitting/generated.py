"""Generated ground: slopes, hills, rough ground, stairs, kerbs, boxes, planks, and things to jump over; seeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from blender_addon.motion.rotations import Array

from .bank import Bank

Random = np.random.Generator
#: x and y (n, n), metres, and a generator -> heights (n, n), metres.
Maker = Callable[[Array, Array, Random], Array]

#: How many maps of each kind a bank has.
MAPS: Mapping[str, int] = {
    "level": 1, "slope": 16, "hills": 10, "rough": 12, "stairs": 12, "kerb": 6, "boxes": 10, "planks": 6, "bars": 7,
}  # fmt: skip


def generated_bank(seed: int, size: float = 16.0, cell: float = 0.05, maps: Mapping[str, int] = MAPS) -> Bank:
    """A bank of ground of every kind.

    Args:
        seed: the same seed gives the same ground. size: length of a map's side, metres. cell: its grid, metres.
        maps: how many of each kind of `MAKERS`.
    """
    line = np.arange(round(size / cell) + 1) * cell
    x, y = np.meshgrid(line, line, indexing="ij")
    found, kinds = [], []
    for number, (kind, count) in enumerate(maps.items()):
        random = np.random.default_rng([seed, number])
        for _ in range(count):
            found.append(MAKERS[kind](x, y, random).astype(np.float32))
            kinds.append(kind)
    return Bank(np.stack(found), cell, tuple(kinds))


def _level(x: Array, y: Array, random: Random) -> Array:
    return np.zeros_like(x)


def _slope(x: Array, y: Array, random: Random) -> Array:
    """A plane of up to 19 degrees; or folds with level stretches between ramps."""
    gradient = random.uniform(0.03, 0.35)
    if random.random() < 0.6:
        return gradient * x
    ramp, level = random.uniform(2.5, 6.0), random.uniform(1.0, 3.0)
    at = np.mod(x + random.uniform(0.0, 2.0 * (ramp + level)), 2.0 * (ramp + level))
    return gradient * (np.clip(at, 0.0, ramp) - np.clip(at - ramp - level, 0.0, ramp))


def _hills(x: Array, y: Array, random: Random) -> Array:
    return random.uniform(0.1, 0.6) * _noise(x, y, random.uniform(2.0, 5.0), random)


def _rough(x: Array, y: Array, random: Random) -> Array:
    height, length = random.uniform(0.04, 0.3), random.uniform(0.8, 2.5)
    octaves = [0.5**k * _noise(x, y, length * 0.5**k, random) for k in range(3)]
    return height * np.sum(octaves, axis=0)


def _stairs(x: Array, y: Array, random: Random) -> Array:
    """Flights up and down with landings between."""
    rise, tread = random.uniform(0.10, 0.20), random.uniform(0.26, 0.40)
    height, at, level = np.zeros_like(x), 0.0, 0.0
    direction = random.choice([-1.0, 1.0])
    while at < x.max():
        at += random.uniform(0.6, 2.5)
        for _ in range(random.integers(2, 11)):
            level += direction * rise
            height[x >= at] = level
            at += tread
        direction = -direction if random.random() < 0.7 else direction
    return height


def _kerb(x: Array, y: Array, random: Random) -> Array:
    """Pavements of one height between roads."""
    height, at, up = random.uniform(0.08, 0.22), random.uniform(0.5, 3.0), True
    found = np.zeros_like(x)
    while at < x.max():
        found[x >= at] = height if up else 0.0
        at += random.uniform(0.8, 4.0)
        up = not up
    return found


def _boxes(x: Array, y: Array, random: Random) -> Array:
    """Boxes that lie about, turned anyhow, one on another."""
    found = np.zeros_like(x)
    tall = random.uniform(0.08, 0.4)
    for _ in range(random.integers(40, 160)):
        inside = _rectangle(x, y, random, random.uniform(0.3, 1.5), random.uniform(0.3, 1.5))
        found[inside] = np.maximum(found[inside], random.uniform(0.3, 1.0) * tall)
    return found


def _planks(x: Array, y: Array, random: Random) -> Array:
    found = np.zeros_like(x)
    tall = random.uniform(0.06, 0.4)
    for _ in range(random.integers(15, 50)):
        inside = _rectangle(x, y, random, random.uniform(2.0, 6.0), random.uniform(0.2, 0.5))
        found[inside] = np.maximum(found[inside], random.uniform(0.7, 1.0) * tall)
    return found


def _bars(x: Array, y: Array, random: Random) -> Array:
    """Narrow walls and ditches across, metres apart: to be jumped over."""
    found, at = np.zeros_like(x), random.uniform(0.5, 3.0)
    tall = random.uniform(0.15, 0.9)
    while at < x.max():
        wide = random.uniform(0.15, 0.8)
        found[(x >= at) & (x < at + wide)] = random.uniform(0.5, 1.0) * tall * random.choice([-0.4, 1.0])
        at += wide + random.uniform(1.5, 4.0)
    return found


def _rectangle(x: Array, y: Array, random: Random, length: float, width: float) -> Array:
    """Which points (n, n) lie in a rectangle somewhere, turned anyhow."""
    middle, turn = random.uniform(0.0, x.max(), 2), random.uniform(0.0, np.pi)
    along = np.cos(turn) * (x - middle[0]) + np.sin(turn) * (y - middle[1])
    across = np.cos(turn) * (y - middle[1]) - np.sin(turn) * (x - middle[0])
    return np.asarray((np.abs(along) < 0.5 * length) & (np.abs(across) < 0.5 * width))


def _noise(x: Array, y: Array, length: float, random: Random) -> Array:
    """Values 0 to 1, about ``length`` metres from crest to crest: random on a grid, joined smoothly (quintic)."""
    count = int(np.ceil(2.0 * x.max() / length)) + 3
    lattice = random.uniform(0.0, 1.0, (count, count))
    u, v = (2.0 * axis / length + shift for axis, shift in zip((x, y), random.uniform(0.0, 1.0, 2), strict=True))
    i, j = u.astype(np.int64), v.astype(np.int64)
    u, v = (t * t * t * (t * (6.0 * t - 15.0) + 10.0) for t in (u - i, v - j))
    near = lattice[i, j] * (1.0 - u) + lattice[i + 1, j] * u
    far = lattice[i, j + 1] * (1.0 - u) + lattice[i + 1, j + 1] * u
    return np.asarray(near * (1.0 - v) + far * v)


MAKERS: Mapping[str, Maker] = {
    "level": _level, "slope": _slope, "hills": _hills, "rough": _rough, "stairs": _stairs, "kerb": _kerb,
    "boxes": _boxes, "planks": _planks, "bars": _bars,
}  # fmt: skip
