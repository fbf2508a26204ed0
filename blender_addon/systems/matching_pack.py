"""Motion Matching packs: clips stored compactly, indexed anew when loaded."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import ClipError, DatasetError, PackError
from .database import Database
from .features import DEFAULT_WEIGHTS, layouts
from .layout import Layout
from .motion_matching import MatchingSettings, MotionMatching
from .packs import Pack

CLIPS = "clips.npz"
#: Quaternion components as 16-bit integers: errors of 2e-5 radians, far below what is seen.
_UNIT = 32767.0


def clips_file(clips: Sequence[Clip]) -> bytes:
    """The contents of ``clips.npz``: 16-bit quaternions, single precision positions."""
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        rotations=np.round(np.concatenate([clip.rotations for clip in clips]) * _UNIT).astype(np.int16),
        hips=np.concatenate([clip.hips for clip in clips]).astype(np.float32),
        root=np.concatenate([clip.root for clip in clips]).astype(np.float32),
        contacts=np.concatenate([clip.contacts for clip in clips]).astype(np.uint8),
        lengths=np.array([len(clip) for clip in clips], dtype=np.int64),
    )
    return stream.getvalue()


def read_clips(pack: Pack) -> list[Clip]:
    """The clips of a matching pack; raises `PackError` when they do not fit its skeleton."""
    skeleton = pack.info.skeleton
    arrays = pack.arrays(
        CLIPS,
        {
            "rotations": (None, len(skeleton), 4), "hips": (None, 3), "root": (None, 3),
            "contacts": (None, len(skeleton.feet)), "lengths": (None,),
        },
    )  # fmt: skip
    lengths = arrays["lengths"]
    if lengths.dtype.kind != "i" or np.any(lengths < 1) or any(
        len(arrays[name]) != int(lengths.sum()) for name in ("rotations", "hips", "root", "contacts")
    ):
        raise PackError(f"{CLIPS} in the pack does not hold as many frames as it says", "Train the pack again")
    clips, first = [], 0
    for length in lengths.tolist():
        part = slice(first, first + length)
        first += length
        try:
            clips.append(
                Clip(
                    skeleton, pack.info.fps, arrays["hips"][part].astype(np.float64),
                    rot.normalize(arrays["rotations"][part].astype(np.float64)),
                    arrays["root"][part].astype(np.float64), arrays["contacts"][part] > 0,
                )
            )  # fmt: skip
        except ClipError as error:
            raise PackError(f"A clip in the pack is broken: {error.message}", "Train the pack again") from error
    return clips


def motion_matching_from_pack(pack: Pack, weights: Mapping[str, float] | None = None, **options: Any) -> MotionMatching:
    """The system of a checked ``mm`` pack; ``options`` are `MatchingSettings`."""
    for wanted, name in zip(layouts(pack.info.skeleton), ("features", "poses"), strict=True):
        wanted.check_same(pack.info.layouts.get(name, Layout(())), name)
    mirror = bool(pack.info.training.get("mirrored", True))
    try:
        database = Database.build(
            read_clips(pack), {**DEFAULT_WEIGHTS, **pack.info.weights, **(weights or {})}, mirror=mirror
        )
    except DatasetError as error:
        raise PackError(f"The pack cannot be searched: {error.message}", "Train it again") from error
    return MotionMatching(database, MatchingSettings(**options))
