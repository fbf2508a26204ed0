"""The gait model as it stands in the list of packs: no files, any four-legged character, sized to whom it moves."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .motion.animal import shoulder_height
from .motion.errors import RigError
from .motion.gait_model.settings import GaitSettings
from .motion.gait_model.table import build_of, load_table
from .motion.gait_names import ANIMAL_ACTIONS
from .motion.schedule import AUTO
from .motion.skeleton import Skeleton
from .systems.packs import PackInfo

if TYPE_CHECKING:
    from .systems.gait_player import GaitModel

TITLE = "Gait model (no pack)"
FPS = 60.0
#: The slowest walk of an animal with its withers at 0.6 m, m/s.
_STROLL, _HEIGHT = 0.25, 0.6
_FOX = Path(__file__).parent / "animals" / "fox.json"


@dataclass(frozen=True)
class AnyAnimal:
    """The gait model before it is told whom it moves; `on` tells it.

    Attributes:
        actions: what a schedule can ask for.
        fps: its frame rate.
    """

    actions: tuple[str, ...] = ANIMAL_ACTIONS
    fps: float = FPS

    def on(self, skeleton: Skeleton, settings: GaitSettings | None = None) -> GaitModel:
        """The model of one animal; raises `RigError` for a body on two legs."""
        from .systems.gait_player import GaitModel

        if not skeleton.four_legged:
            raise RigError(
                "The gait model moves four-legged characters, and this one walks on two legs",
                "Choose a pack for two legs, or an animal as the character",
            )
        return GaitModel(skeleton, settings or GaitSettings(), self.fps)

    @staticmethod
    def speeds(skeleton: Skeleton) -> tuple[float, float]:
        """Slowest and fastest speed of an animal of this size, m/s."""
        return speeds_of(AUTO, shoulder_height(skeleton))


def speeds_of(gait: str, height: float) -> tuple[float, float]:
    """Slowest and fastest speed, m/s, of a gait (``auto``: of all) for an animal's shoulder height, metres."""
    table = load_table(build_of(height))
    found = [one.speeds(height) for one in (table.gaits.values() if gait == AUTO else (table[gait],))]
    stroll = _STROLL * math.sqrt(height / _HEIGHT)
    return max(min(low for low, _ in found), stroll), max(high for _, high in found)


def used_instead(gait: str, asked: float, used: float, height: float) -> tuple[str, ...]:
    """Words about a speed, m/s, that is used in place of one which the gait does not have; none where they agree."""
    if abs(used - asked) < 5e-3:
        return ()
    low, high = speeds_of(gait, height)
    what = "This animal goes" if gait == AUTO else f"{gait.capitalize()} is made"
    return (f"{what} at {low:.2f} to {high:.2f} m/s: {used:.2f} m/s is used, not {asked:.2f}",)


@cache
def fox() -> Skeleton:
    """The animal that is created where the gait model has no other: a fox, its withers at 0.6 m."""
    return Skeleton.from_json(json.loads(_FOX.read_text(encoding="utf-8")))


@cache
def info() -> PackInfo:
    """What a pack would say of itself."""
    return PackInfo(
        system="gait", title=TITLE, fps=FPS, skeleton=fox(), layouts={}, speeds=AnyAnimal.speeds(fox()),
        actions=ANIMAL_ACTIONS, licence="GPL-3.0-or-later",
        credits=("Gaits from published measurements; the fox's skeleton: Mesh2Motion (CC0)",),
    )  # fmt: skip
