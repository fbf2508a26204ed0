"""A small pack of made-up walking, for tests of whole bakes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from blender_addon.motion.dataset import Dataset
from blender_addon.systems.packs import load_system, read_pack
from tests.synthetic import walk


def make_pack(folder: Path) -> Path:
    """Write a matching pack of made-up walks."""
    from training.mm import make_pack as make

    clips = [walk(6.0, speed, turning) for speed in (0.0, 0.5, 0.8, 1.1) for turning in (-0.5, 0.0, 0.5)]
    tags = [("stand",) if clip.root[-1, 1] == 0.0 else ("walk",) for clip in clips]
    out = folder / "made-up"
    make(Dataset(clips[0].skeleton, clips, tags=tags), out)
    return out


@functools.cache
def system_of(pack: Path) -> tuple[Any, Any]:
    """The pack's description and its system, loaded once."""
    return read_pack(pack), load_system(pack)
