"""Four-legged skeletons of licensed rigs for tests: a fox (withers at 0.6 m), a horse, and a wolf without paws."""

import json
from pathlib import Path

from blender_addon.motion.skeleton import Skeleton

DATA = Path(__file__).parent / "data"
#: The fox ships: it is the gait model's own animal.
SHIPPED = Path(__file__).parents[1] / "blender_addon" / "animals"


def animal(name: str) -> Skeleton:
    """``fox``, ``horse`` or ``wolf_without_paws``."""
    folder = SHIPPED if name == "fox" else DATA
    return Skeleton.from_json(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
