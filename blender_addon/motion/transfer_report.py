"""The quality of retargeted motion: its feet on the ground, and its legs against those of the source."""

from __future__ import annotations

import numpy as np

from . import metrics as measure
from .clip import Clip
from .figures import Figure, QualityReport
from .metrics_basics import Ground
from .metrics_legs import knee_plane_difference, pop_ratio
from .rotations import Array

#: Limits: millimetres for each metre of leg, degrees, and of the source's.
SLIDE, PENETRATION, FLOAT, KNEE_PLANE, POPS = 3.0, 5.0, 10.0, 10.0, 1.2


def judge_transfer(
    clip: Clip, source: Clip, ground: Ground, lock_offset: Array | None = None, title: str = "",
    notes: tuple[str, ...] = (),
) -> QualityReport:  # fmt: skip
    """Measure retargeted motion.

    Args:
        clip: the motion on the character, as it was planted.
        source: what it was made from, frame by frame.
        ground: what it stands on.
        lock_offset: how far planting moved each foot (f, feet), metres; None where it was not planted.
        title: what is judged.
        notes: what a reader must know.
    """
    leg = clip.skeleton.leg_length
    slides = measure.slides(clip)
    slide, slide_frame = slides.worst()
    lowest = measure.sole_heights(clip, ground).min(axis=-1)
    lowest = np.where(clip.contacts, lowest, np.nan)
    plane = knee_plane_difference(clip, _turned_alike(source, clip))
    figures = [
        Figure.of("slide_leg", "Slide within a contact, greatest, for each metre of leg", 1e3 * slide / leg, "mm",
                  SLIDE, slide_frame),
        _p95("penetration_leg", "Sole under the ground in contact, for each metre of leg, 95th percentile",
             1e3 * np.maximum(-lowest, 0.0) / leg, "mm", PENETRATION),
        _p95("float_leg", "Sole over the ground in contact, for each metre of leg, 95th percentile",
             1e3 * np.maximum(lowest, 0.0) / leg, "mm", FLOAT),
        _p95("knee_plane", "Knee's plane against the source's, 95th percentile", plane, "deg", KNEE_PLANE),
        Figure.of("pop_source", "Pops: knee acceleration, 99th percentile, of the source's",
                  pop_ratio(clip, source), "", POPS),
    ]  # fmt: skip
    if lock_offset is not None:
        figures.append(Figure.of(
            "lock_offset", "Feet moved by planting, greatest", 100.0 * float(lock_offset.max(initial=0.0)), "cm", None,
            _worst(lock_offset),
        ))  # fmt: skip
    return QualityReport(tuple(figures), title, clip.fps, len(clip), notes)


def _turned_alike(source: Clip, clip: Clip) -> Clip:
    """The source facing as the motion made of it does."""
    delta = np.zeros((len(source), 3))
    delta[:, 2] = clip.root[0, 2] - source.root[0, 2]
    return source.moved(delta)


def _p95(key: str, name: str, values: Array, unit: str, wanted: float) -> Figure:
    finite = values[np.isfinite(values)]
    value = float(np.percentile(finite, 95.0)) if len(finite) else float("nan")
    return Figure.of(key, name, value, unit, wanted, _worst(values))


def _worst(values: Array) -> int | None:
    by_frame = np.where(np.isfinite(values), values, -np.inf).max(axis=1)
    return int(np.argmax(by_frame)) if np.any(by_frame > -np.inf) else None
