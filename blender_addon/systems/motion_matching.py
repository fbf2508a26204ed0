"""Motion Matching: play captured motion, and jump to where it fits better.

The three stages, as Holden et al. 2020 take them apart, are the three methods: `_project` finds, `_step_indices` goes
on, the data base looks the pose up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..motion.abilities import Abilities
from .database import Database
from .features import HORIZON_SECONDS
from .protocol import Chunk, Wish

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MatchingSettings:
    """The dials of the search.

    Attributes:
        stride: frames between searches.
        gain: a jump must lower the squared distance by this share to be taken; smaller gains are
            not worth the blend.
        least_gain: and by this much.
        loop_seconds: the stretch before the present frame that may not be found: slow starts would
            loop in it for ever.
    """

    stride: int = 12
    gain: float = 0.2
    least_gain: float = 1.5
    loop_seconds: float = 1.0


@dataclass(frozen=True)
class MatchingState:
    """Where each character is in the data base (characters,)."""

    frame: IntArray


class MotionMatching:
    """Motion Matching over a `Database`; fulfils `protocol.System`."""

    def __init__(self, database: Database, settings: MatchingSettings | None = None) -> None:
        self.database = database
        self.settings = settings or MatchingSettings()
        self.skeleton = database.skeleton
        self.fps = database.fps
        self.horizon = HORIZON_SECONDS
        self.stride = self.settings.stride
        self.actions: tuple[str, ...] = ()
        self.noise_hz: float | None = None
        self.on_terrain, self.abilities = False, Abilities()

    def start(self, wish: Wish) -> MatchingState:
        """Standing, about to do what is wished: the calmest frames count as standing."""
        layout = self.database.layout
        query = np.zeros((len(wish.speed), layout.size))
        calm = self._calm_pose()
        query[:] = calm
        self._set_wish(query, wish)
        normalized = self.database.normalizer.apply(query)
        return MatchingState(np.array([self.database.index.nearest(row)[0] for row in normalized]))

    def step(self, state: MatchingState, wish: Wish) -> tuple[MatchingState, Chunk]:
        """Search once, then play ``stride`` frames."""
        frames = np.stack([self._project(frame, i, wish) for i, frame in enumerate(state.frame)])
        first, switched = frames[:, 0], frames[:, 1].astype(np.bool_)
        played = first[:, None] + np.arange(self.stride)
        continued = np.minimum(
            state.frame[:, None] + np.arange(2),
            self.database.ranges[self.database.range_of[state.frame], 1][:, None] - 1,
        )
        chunk = Chunk(self.database.poses(played), self.database.poses(continued), switched, played)
        return MatchingState(first + self.stride), chunk

    def _project(self, frame: int, character: int, wish: Wish) -> tuple[int, bool]:
        database, settings = self.database, self.settings
        query = database.raw[frame].astype(np.float64)[None]
        self._set_wish(query, wish, character)
        normalized = database.normalizer.apply(query)[0]
        ended = database.remaining(frame) < self.stride + 1
        here = np.inf if ended else float(np.sum((database.features[frame] - normalized) ** 2))
        forbidden = (frame - round(settings.loop_seconds * self.fps), frame + 1)
        found, distance = database.index.nearest(normalized, forbidden)
        if found >= 0 and (ended or distance < (1.0 - settings.gain) * here - settings.least_gain):
            return found, True
        return (found, True) if ended else (frame, False)

    def _set_wish(self, query: npt.NDArray[np.float64], wish: Wish, character: int | None = None) -> None:
        pick = slice(None) if character is None else slice(character, character + 1)
        slices = self.database.layout.slices
        query[:, slices["trajectory_position"]] = wish.positions[pick].reshape(len(query), -1)
        query[:, slices["trajectory_direction"]] = wish.directions[pick].reshape(len(query), -1)

    def _calm_pose(self) -> npt.NDArray[np.float64]:
        """The mean pose features of the calmest frames: what standing looks like here."""
        database = self.database
        slices = database.layout.slices
        moving = np.sum(database.raw[:, slices["foot_velocity"]] ** 2, axis=1) + np.sum(
            database.raw[:, slices["hip_velocity"]] ** 2, axis=1
        )
        moving = np.where(database.searchable, moving, np.inf)
        calm = np.argsort(moving)[: max(1, min(60, len(database) // 20))]
        mean: npt.NDArray[np.float64] = database.raw[calm].astype(np.float64).mean(axis=0)
        return mean
