"""What an animal's motion is, in words: its gaits, how long each lasts, and how it steps in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .animal import shoulder_height
from .clip import Clip
from .gait_analysis.classify import GAIT_LABELS, classify, label_gaits
from .gait_analysis.footfalls import strides

#: A gait that lasts less, seconds, is not spoken of.
_LEAST_S = 0.25


def gait_words(clip: Clip) -> tuple[str, ...]:
    """One line a gait, in the order in which they come; standing is among them."""
    return tuple(_lines(clip))


def _lines(clip: Clip) -> Iterator[str]:
    labels, height = label_gaits(clip), shoulder_height(clip.skeleton)
    found = [(stride, classify(stride, height).label) for stride in strides(clip)]
    for label in dict.fromkeys(labels.tolist()):
        seconds, name = float(np.sum(labels == label)) / clip.fps, GAIT_LABELS[label]
        if seconds < _LEAST_S:
            continue
        own = [stride for stride, gait in found if gait == name]
        line = f"{name.capitalize()}, {seconds:.1f} s in all"
        if own and name != "stand":
            length = float(np.mean([stride.length for stride in own]))
            rate = float(np.mean([stride.frequency for stride in own]))
            duty = float(np.mean([stride.duty for stride in own]))
            line += f": strides of {length:.2f} m, {rate:.1f} a second, each foot down {duty:.0%} of the time"
        yield line
