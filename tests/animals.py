"""Four-legged skeletons of licensed rigs for tests: a fox (withers at 0.6 m), a horse, and a wolf without paws."""

import json
from pathlib import Path

from blender_addon.motion.skeleton import Skeleton

DATA = Path(__file__).parent / "data"


def animal(name: str) -> Skeleton:
    """``fox``, ``horse`` or ``wolf_without_paws``."""
    return Skeleton.from_json(json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")))
