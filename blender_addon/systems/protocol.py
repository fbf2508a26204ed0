"""The one protocol that all systems fulfil, and what passes through it.

Every array carries a leading axis of characters: a herd is one roll-out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..motion.abilities import Abilities
from ..motion.clip import Clip
from ..motion.plan import Plan
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .poses import Poses


def level_ground(points: Array) -> Array:
    """Heights (c, n) of a floor at height 0 under points (c, n, 2)."""
    return np.zeros(points.shape[:-1])


@dataclass(frozen=True)
class Wish:
    """What a character should do next, in its own root space.

    Attributes:
        positions: wished root positions at the system's samples (characters, samples, 2), metres.
        directions: wished facing at the samples (characters, samples, 2), unit.
        speed: wished speed now (characters,), metres a second.
        speeds: wished speed at the samples (characters, samples), metres a second.
        actions: how much of each of the system's actions is wished at the samples (characters, samples, actions);
            without actions if the system knows none.
        ground: heights in the world (characters, n), metres, under points in root space (characters, n, 2).
        until_leap: seconds until a leap takes off (characters,), infinite where none is near.
    """

    positions: Array
    directions: Array
    speed: Array
    speeds: Array = field(default_factory=lambda: np.zeros((0, 0)))
    actions: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    ground: Callable[[Array], Array] = level_ground
    until_leap: Array = field(default_factory=lambda: np.full(1, np.inf))


@dataclass(frozen=True)
class Chunk:
    """The frames one step produced (characters, frames, ...), oldest first.

    Attributes:
        poses: in root space; ``root_step`` leads from each frame to the next.
        jump: what the pose would have been, had the motion before this chunk gone on: the same
            arrays for the chunk's first two frames (characters, 2, ...). Inertialization needs it.
        switched: whether the motion jumped at the chunk's beginning (characters,).
        source: where each frame comes from (characters, frames): an index into the system's data,
            -1 where it has none.
    """

    poses: Poses
    jump: Poses
    switched: npt.NDArray[np.bool_]
    source: npt.NDArray[np.int64]


class System(Protocol):
    """A locomotion system: pose after pose from a wish. Knows nothing of curves or Blender.

    Attributes:
        skeleton: the skeleton it moves.
        fps: its own frame rate.
        horizon: the samples of a `Wish`, seconds ahead.
        actions: what a `Wish` can ask for by name; empty when the system tells walk from run by speed alone.
        stride: frames one `step` produces.
        noise_hz: above this frequency its poses hold nothing but the networks' trembling, which the roll-out
            takes away; None where poses are captured ones.
        on_terrain: whether its poses stand on the wish's ground, hips at their height in the world; others are made
            for level ground at height 0.
        abilities: what it can do besides going on level ground.
    """

    skeleton: Skeleton
    fps: float
    horizon: tuple[float, ...]
    stride: int
    actions: tuple[str, ...]
    noise_hz: float | None
    on_terrain: bool
    abilities: Abilities

    def start(self, wish: Wish) -> object:
        """The state (opaque to the caller) of characters about to do what ``wish`` says."""
        ...

    def step(self, state: object, wish: Wish) -> tuple[object, Chunk]:
        """The next ``stride`` frames of all characters."""
        ...


@runtime_checkable
class Performer(Protocol):
    """What makes a whole motion from a whole plan, as a gait model does, instead of going on step by step.

    Attributes:
        skeleton: the skeleton it moves.
        fps: its frame rate.
        actions: what a plan can ask of it by name.
    """

    skeleton: Skeleton
    fps: float
    actions: tuple[str, ...]

    def perform(self, plan: Plan) -> Clip:
        """The motion along the plan, as many frames, on level ground at height 0, with its root and contacts."""
        ...


def feels_ground(system: System | Performer) -> bool:
    """Whether a system's motion stands on the terrain that it was given; else on level ground at height 0."""
    return not isinstance(system, Performer) and system.on_terrain


def abilities_of(system: System | Performer) -> Abilities:
    """What a system can do besides going on level ground; a performer nothing, it does what a plan says."""
    return Abilities() if isinstance(system, Performer) else system.abilities
