"""How far along its way the root is at each time: caps on speed, limited ramps, stops, then smooth in acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Peaks of speed are judged at so many levels.
_LEVELS = 32
#: No peak is cut lower than this (m/s): a single step is not worth a crawl.
_SLOWEST_PEAK = 0.3


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
        return np.asarray(np.minimum(reached, self.distance[index + 1]))

    def arrival(self, node: int) -> float:
        """When the root reaches a grid node, seconds."""
        return float(self.time[np.searchsorted(self.node, node, side="left")])

    def departure(self, node: int) -> float:
        """When the root leaves a grid node, seconds."""
        return float(self.time[np.searchsorted(self.node, node, side="right") - 1])


def ramp(
    travelled: Array, cap: Array, stops: tuple[Stop, ...], acceleration: float, deceleration: float, hold: float = 0.0
) -> Timing:
    """The quickest way along that keeps every cap and both ramps, standing at the stops and at both ends.

    Args:
        travelled: (n,) metres, ascending.
        cap: (n,) greatest speed at each node, m/s, above 0.
        stops: in any order.
        acceleration, deceleration: m/s2.
        hold: a speed that could not be kept for so many seconds is not sped up to.
    """
    wait = np.zeros(len(cap))
    cap = cap.copy()
    for stop in stops:
        cap[stop.node] = 0.0
        wait[stop.node] = max(wait[stop.node], stop.seconds)
    cap[[0, -1]] = 0.0
    speed = _within_ramps(travelled, cap, acceleration, deceleration)
    if hold > 0.0:
        cap = np.minimum(cap, _without_peaks(travelled, speed, hold))
        speed = _within_ramps(travelled, cap, acceleration, deceleration)
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


def _within_ramps(travelled: Array, cap: Array, acceleration: float, deceleration: float) -> Array:
    """The greatest speed (n,) below ``cap`` (n,) that keeps the ramps."""
    # v^2 may grow by 2 a per metre: the greatest such function below the caps is a running minimum.
    square = np.minimum.accumulate(cap**2 - 2.0 * acceleration * travelled) + 2.0 * acceleration * travelled
    back = square + 2.0 * deceleration * travelled
    square = np.minimum.accumulate(back[::-1])[::-1] - 2.0 * deceleration * travelled
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _without_peaks(travelled: Array, speed: Array, hold: float) -> Array:
    """Caps (n,) that cut every peak of ``speed`` (n,) down to where it is ``hold`` seconds wide at its own speed."""
    cap = np.full(len(speed), np.inf)
    levels = np.linspace(0.0, float(speed.max()), _LEVELS + 1)[1:-1]
    for level in levels:
        above = np.concatenate([[False], speed > level, [False]])
        edges = np.flatnonzero(above[1:] != above[:-1])
        first, last = edges[0::2], np.minimum(edges[1::2], len(speed) - 1)
        for begin, end in zip(first, last, strict=True):
            if travelled[end] - travelled[begin] < level * hold:
                cap[begin : end + 1] = np.minimum(cap[begin : end + 1], max(level, _SLOWEST_PEAK))
    return cap


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
