"""What is drawn of the gait preview: where the animal is in the scene, its footfalls, and the bars of its diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .clip import BoolArray
from .gait_stream import Shown, Stance
from .picture import ring
from .rotations import Array


@dataclass(frozen=True)
class Stage:
    """Where the animal is drawn, in metres.

    Attributes:
        name: of the armature object.
        sides: side of the body of each bone: 0 left, 1 right, 2 neither.
        fastest: speed of each gait, m/s.
        unit: metres per unit of the scene.
        paw: radius of a drawn footfall.
        place: (3,) of the root on the ground, which moves below it; None where the animal travels.
        facing: yaw where it stays in its place.
        level: height of a flat ground that it travels on.
    """

    name: str
    sides: npt.NDArray[np.int64]
    fastest: Mapping[str, float]
    unit: float
    paw: float
    place: Array | None = None
    facing: float = 0.0
    level: float = 0.0

    @property
    def in_place(self) -> bool:
        """Whether the root stays, and the ground moves below it."""
        return self.place is not None

    def matrix(self, root: Array) -> Array:
        """From what is relative to the root's place to the scene (4, 4), in its units, for a root (3,): x, y, yaw."""
        turn = 0.0 if self.place is None else self.facing - root[2]
        found = np.eye(4)
        found[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        found[:3, 3] = [root[0], root[1], self.level] if self.place is None else self.place
        found[:3] /= self.unit
        return found


@dataclass(frozen=True, eq=False)
class Rings:
    """Rings where feet stand and have stood.

    Attributes:
        lines: pairs of points (n, 2 * corners, 3) from the root's place, metres.
        legs: leg of each ring.
        strength: (n,) 1 while the foot stands, then fading to 0.
        standing: (n,) whether it stands.
    """

    lines: Array
    legs: tuple[int, ...]
    strength: Array
    standing: BoolArray


def footfalls(stances: Sequence[Stance], shown: Shown, paw: float, fps: float, fade: float) -> Rings:
    """Where feet stand and have stood; rings of radius ``paw`` (metres) that fade away in ``fade`` seconds."""
    seen = [s for s in stances if s.first <= shown.frame and shown.frame - s.last <= fade * fps]
    places = np.array([stance.place for stance in seen]).reshape(-1, 1, 3) - [*shown.root[:2], 0.0]
    age = np.array([(shown.frame - stance.last) / fps for stance in seen])
    lines = np.repeat(ring(np.zeros(3), paw), 2, axis=0)[1:-1]
    strength = np.where(age <= 0.0, 1.0, 0.7 * (1.0 - age / fade))
    return Rings(places + lines, tuple(stance.leg for stance in seen), strength, age <= 0.0)


def bars(
    stances: Sequence[Stance], frame: float, fps: float, before: float, after: float
) -> list[tuple[int, float, float]]:
    """(leg, from, to) of each stance from ``before`` to ``after`` the present, all in seconds from it."""
    found = []
    for stance in stances:
        begin, end = (stance.first - frame) / fps, (stance.last + 1 - frame) / fps
        begin, end = max(begin, -before), min(end, after)
        if end > begin:
            found.append((stance.leg, begin, end))
    return found
