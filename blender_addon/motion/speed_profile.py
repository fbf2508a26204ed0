"""How far along its way the root is at each time: caps on speed, limited ramps, stops, then smooth in acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stop:
    """A place to stand still.

    Attributes:
        node: index into the profile's grid.
        seconds: how long.
    """

    node: int
    seconds: float


@dataclass(frozen=True)
class Timing:
    """Distance over time with constant acceleration between nodes (not yet smooth).

    Attributes:
        distance: (n,) metres, ascending, a node twice where the root stands.
        time: (n,) seconds from the first movement.
        speed: (n,) m/s.
        node: (n,) the grid node of each.
    """

    distance: Array
    time: Array
    speed: Array
    node: npt.NDArray[np.int64]

    @property
    def seconds(self) -> float:
        """Time from the first movement to the last."""
        return float(self.time[-1])

    def at(self, time: Array) -> Array:
        """Distance (m,) at times (m,), seconds; clamped to the ends."""
        time = np.clip(time, 0.0, self.time[-1])
        index = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, len(self.time) - 2)
        lasts = np.maximum(self.time[index + 1] - self.time[index], 1e-12)
        since = time - self.time[index]
        gain = (self.speed[index + 1] - self.speed[index]) / lasts
        reached = self.distance[index] + self.speed[index] * since + 0.5 * gain * since**2
        return np.minimum(reached, self.distance[index + 1])

    def arrival(self, node: int) -> float:
        """When the root reaches a grid node, seconds."""
        return float(self.time[np.searchsorted(self.node, node, side="left")])

    def departure(self, node: int) -> float:
        """When the root leaves a grid node, seconds."""
        return float(self.time[np.searchsorted(self.node, node, side="right") - 1])


def ramp(travelled: Array, cap: Array, stops: tuple[Stop, ...], acceleration: float, deceleration: float) -> Timing:
    """The quickest way along that keeps every cap and both ramps, standing at the stops and at both ends.

    Args:
        travelled: (n,) metres, ascending.
        cap: (n,) greatest speed at each node, m/s, above 0.
        stops: in any order.
        acceleration, deceleration: m/s2.
    """
    square = cap**2
    wait = np.zeros(len(cap))
    for stop in stops:
        square[stop.node] = 0.0
        wait[stop.node] = max(wait[stop.node], stop.seconds)
    square[[0, -1]] = 0.0
    # v^2 may grow by 2 a per metre: the greatest such function below the caps is a running minimum.
    square = np.minimum.accumulate(square - 2.0 * acceleration * travelled) + 2.0 * acceleration * travelled
    back = square + 2.0 * deceleration * travelled
    square = np.minimum.accumulate(back[::-1])[::-1] - 2.0 * deceleration * travelled
    speed = np.sqrt(np.maximum(square, 0.0))
    step = np.diff(travelled)
    # Between two neighbouring stops there is no speed at any node: half up, half down.
    slowest = np.sqrt(2.0 * min(acceleration, deceleration) * step)
    lasts = 2.0 * step / np.maximum(speed[1:] + speed[:-1], np.maximum(slowest, 1e-9))
    waits = np.flatnonzero(wait > 0.0)
    node = np.sort(np.concatenate([np.arange(len(cap)), waits]))
    gaps = np.zeros(len(node) - 1)
    second = np.diff(node) == 0
    gaps[~second] = lasts
    gaps[second] = wait[waits]
    time = np.concatenate([[0.0], np.cumsum(gaps)])
    return Timing(travelled[node], time, speed[node], node)


def bell(half: float, rate: float) -> Array:
    """A smooth averaging kernel (raised cosine, sum 1) that reaches ``half`` seconds to each side at ``rate`` Hz."""
    reach = max(int(round(half * rate)), 1)
    kernel = 1.0 + np.cos(np.pi * np.arange(-reach, reach + 1) / (reach + 0.5))
    return np.asarray(kernel / kernel.sum())


def smoothed(signal: Array, half: float, rate: float) -> Array:
    """A signal (m,) passed through :func:`bell`; its first and last values are taken to go on for ever."""
    kernel = bell(half, rate)
    reach = len(kernel) // 2
    padded = np.concatenate([np.full(reach, signal[0]), signal, np.full(reach, signal[-1])])
    return np.convolve(padded, kernel, mode="valid")
