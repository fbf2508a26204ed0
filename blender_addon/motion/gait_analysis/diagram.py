"""Gait diagrams of one stride after Hildebrand: when each foot stands, as data and as shapes in the unit square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..animal import LEGS
from ..rotations import Array
from .stride import Stride

#: Short names of the legs, in the order of `animal.LEGS`; the left hind is the topmost row, as in Hildebrand's.
LABELS: tuple[str, ...] = ("LH", "RH", "LF", "RF")
#: Where rows and time lie in the unit square: left, right, bottom, top of the field that bars lie in.
FIELD = (0.09, 0.86, 0.16, 0.88)
#: Height of a bar as a share of its row's.
_BAR = 0.62
#: Marks on the axis of time, shares of the stride.
_MARKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, eq=False)
class Diagram:
    """When each foot stands in one stride, in phases.

    Attributes:
        spans: per leg, in the order of `animal.LEGS`, (start, end) of each stance within [0, 1].
        duty: share of the stride that each foot stands (4,).
        suspensions: (start, end) of the times without a foot on the ground.
        title: what stands over it, such as the gait.
    """

    spans: tuple[tuple[tuple[float, float], ...], ...]
    duty: Array
    suspensions: tuple[tuple[float, float], ...]
    title: str = ""


@dataclass(frozen=True)
class Text:
    """A word in the unit square: its text, its place and which share of its width lies left of that."""

    text: str
    x: float
    y: float
    anchor: float = 0.0


@dataclass(frozen=True, eq=False)
class Shapes:
    """A diagram as shapes in the unit square, x to the right and y up, to draw at any size.

    Attributes:
        bars: stances as rectangles (n, 4): left, bottom, right, top.
        legs: leg of each bar (n,), an index into `animal.LEGS`.
        gaps: suspensions as rectangles (m, 4), behind the bars.
        lines: the marks of time and the frame (k, 2, 2).
        texts: labels, duties, seconds, title.
    """

    bars: Array
    legs: npt.NDArray[np.int64]
    gaps: Array
    lines: Array
    texts: tuple[Text, ...]


def diagram_of_stride(stride: Stride, title: str = "", at: float = 0.0) -> Diagram:
    """The diagram of one stride, from phase ``at`` of it on; what goes over the end comes in again."""
    spans = tuple(_wrapped(start - at, end - at) for start, end in stride.stances)
    gaps = tuple(part for start, end in stride.suspensions for part in _wrapped(start - at, end - at))
    return Diagram(spans, stride.duty, gaps, title)


def shapes(diagram: Diagram) -> Shapes:
    """Bars, lines and words of a diagram in the unit square."""
    left, right, bottom, top = FIELD
    row = (top - bottom) / len(LEGS)
    width = right - left
    bars, legs = [], []
    for leg, spans in enumerate(diagram.spans):
        middle = top - (leg + 0.5) * row
        for start, end in spans:
            bars.append((left + start * width, middle - 0.5 * _BAR * row, left + end * width,
                         middle + 0.5 * _BAR * row))  # fmt: skip
            legs.append(leg)
    gaps = [(left + start * width, bottom, left + end * width, top) for start, end in diagram.suspensions]
    lines = [((left, bottom), (right, bottom)), ((left, bottom), (left, top))]
    lines += [((left + at * width, bottom), (left + at * width, top)) for at in _MARKS[1:]]
    texts = [Text(diagram.title, left, top + 0.04)] if diagram.title else []
    for leg, (label, duty) in enumerate(zip(LABELS, diagram.duty, strict=True)):
        y = top - (leg + 0.5) * row
        texts += [Text(label, left - 0.02, y, 1.0), Text(f"{duty:.0%}", right + 0.02, y)]
    texts += [Text(f"{at:g}", left + at * width, bottom - 0.07, 0.5) for at in _MARKS]
    texts.append(Text("stride", right + 0.02, bottom - 0.07))
    return Shapes(
        np.array(bars).reshape(-1, 4), np.array(legs, dtype=np.int64), np.array(gaps).reshape(-1, 4),
        np.array(lines), tuple(texts),
    )  # fmt: skip


def _wrapped(start: float, end: float) -> tuple[tuple[float, float], ...]:
    """A span of phases as its parts within [0, 1]."""
    first = start % 1.0
    last = first + end - start
    if last <= 1.0 + 1e-9:
        return ((first, min(last, 1.0)),)
    return ((first, 1.0), (0.0, min(last - 1.0, first)))
