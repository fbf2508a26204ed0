"""A line drawn in space, asked by the distance walked along it on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .rotations import Array


@dataclass(frozen=True)
class Polyline:
    """Points in space and how far each lies along the line as seen from above.

    Attributes:
        points: (n, 3) metres; at least one.
        arc: (n,) metres along the line on the ground, from 0.
    """

    points: Array
    arc: Array

    @classmethod
    def of(cls, points: npt.ArrayLike, cyclic: bool = False) -> Polyline:
        """A line through points (n, 3), metres; a cyclic one goes back to the first."""
        line = np.asarray(points, dtype=np.float64)
        if cyclic:
            line = np.concatenate([line, line[:1]])
        steps = np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1)
        return cls(line, np.concatenate([[0.0], np.cumsum(steps)]))

    @property
    def length(self) -> float:
        """Metres on the ground."""
        return float(self.arc[-1])

    def at(self, places: Sequence[float] | Array) -> Array:
        """Points (m, 3) at distances (m,) along the line, held at both ends."""
        return np.stack([np.interp(places, self.arc, self.points[:, axis]) for axis in range(3)], axis=-1)

    def between(self, begin: float, end: float, count: int) -> tuple[Array, Array]:
        """Points (count, 3) evenly from one distance to another, which may be the smaller; and their distances."""
        places = np.linspace(begin, end, count)
        return self.at(places), places
