"""Figures with what is wanted of them, gathered into a report that travels as data and reads as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import GaitsmithError

#: Marks in order of concern; ``info`` has nothing to be held against.
MARKS: tuple[str, ...] = ("info", "good", "look", "bad")
#: Past what is wanted by this factor a figure is bad, not merely worth a look.
LOOK_FACTOR = 1.5


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        key: short name for machines, such as ``slide_max``.
        name: what it is, for people.
        value: the figure; NaN when it cannot be measured on this clip.
        unit: its unit, empty for ratios.
        wanted: the limit, or the upper limit of a range; None when nothing is asked.
        comparison: ``at most``, ``at least`` (``low`` alone), ``between`` (``low`` and ``wanted``) or ``none``.
        mark: ``good``, ``look`` (up to 1.5 times what is wanted), ``bad`` or ``info`` (nothing asked).
        worst_frame: frame of the clip, counted from 0, where it is worst; None when no one frame is.
        low: lower limit of a range, or the only one.
    """

    key: str
    name: str
    value: float
    unit: str = ""
    wanted: float | None = None
    comparison: str = "none"
    mark: str = "info"
    worst_frame: int | None = None
    low: float | None = None

    @classmethod
    def of(
        cls, key: str, name: str, value: float, unit: str = "", wanted: float | None = None,
        frame: int | None = None, low: float | None = None,
    ) -> Figure:  # fmt: skip
        """A figure with its comparison and mark found from the limits."""
        one_sided = "none" if low is None else "at least"
        comparison = one_sided if wanted is None else "at most" if low is None else "between"
        return cls(key, name, float(value), unit, wanted, comparison, mark_of(value, wanted, low), frame, low)

    @property
    def measured(self) -> bool:
        """Whether the clip allowed this figure to be measured."""
        return not math.isnan(self.value)

    @property
    def wish(self) -> str:
        """What is wanted, in words: ``at most 3``, ``at least 0``, ``0.85 to 1.15`` or nothing."""
        if self.wanted is None:
            return "" if self.low is None else f"at least {self.low:.3g}"
        return f"at most {self.wanted:.3g}" if self.low is None else f"{self.low:.3g} to {self.wanted:.3g}"


@dataclass(frozen=True)
class QualityReport:
    """All figures of one clip.

    Attributes:
        figures: in the order they are shown.
        title: what was judged.
        fps: frame rate of the clip.
        frames: its length.
        notes: anything a reader must know of how it was measured.
    """

    figures: tuple[Figure, ...]
    title: str = ""
    fps: float = 60.0
    frames: int = 0
    notes: tuple[str, ...] = field(default=())

    def get(self, key: str) -> Figure | None:
        """The figure with that key; None when the report lacks it."""
        return next((figure for figure in self.figures if figure.key == key), None)

    def __getitem__(self, key: str) -> Figure:
        figure = self.get(key)
        if figure is None:
            raise KeyError(key)
        return figure

    def marked(self, mark: str) -> tuple[Figure, ...]:
        """The figures with this mark."""
        return tuple(figure for figure in self.figures if figure.mark == mark)

    @property
    def mark(self) -> str:
        """The most concerning mark of any figure."""
        return max((figure.mark for figure in self.figures), key=MARKS.index, default="info")

    def to_json(self) -> dict[str, Any]:
        """A plain description for files; what was not measured is null."""
        rows = []
        for figure in self.figures:
            row = {name: getattr(figure, name) for name in Figure.__dataclass_fields__}
            row["value"] = figure.value if math.isfinite(figure.value) else None
            rows.append(row)
        return {
            "title": self.title, "fps": self.fps, "frames": self.frames, "notes": list(self.notes), "figures": rows,
        }  # fmt: skip

    def dumps(self) -> str:
        """`to_json` as text, for an object's custom property or a file."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> QualityReport:
        """The inverse of `to_json` and of `dumps`; raises `GaitsmithError` for anything malformed."""
        try:
            found = json.loads(data) if isinstance(data, str) else data
            figures = []
            for row in found["figures"]:
                fields = {name: row[name] for name in Figure.__dataclass_fields__}
                fields["value"] = math.nan if fields["value"] is None else float(fields["value"])
                if fields["mark"] not in MARKS:
                    raise ValueError(f"mark {fields['mark']!r}")
                figures.append(Figure(**fields))
            return cls(
                tuple(figures), str(found["title"]), float(found["fps"]), int(found["frames"]),
                tuple(str(note) for note in found["notes"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise GaitsmithError(f"The quality report is malformed ({error})", "Bake again") from error

    def table(self) -> str:
        """The report as lines of text, one figure each."""
        rows = [("figure", "value", "unit", "wanted", "", "worst frame")]
        for figure in self.figures:
            value = f"{figure.value:.3g}" if figure.measured else "-"
            mark = "" if figure.mark == "info" else figure.mark
            frame = "" if figure.worst_frame is None or not figure.measured else str(figure.worst_frame)
            rows.append((figure.name, value, figure.unit, figure.wish, mark, frame))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.rjust(width) if k in (1, 5) else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        head = [f"{self.title}: {self.frames} frames at {self.fps:g} fps"] if self.title else []
        return "\n".join([*head, lines[0], "-" * len(lines[0]), *lines[1:], *self.notes])


def mark_of(value: float, wanted: float | None, low: float | None = None) -> str:
    """``good`` within the limits, ``look`` up to half as much again, else ``bad``; ``info`` when NaN or unlimited.

    A range is widened by half its width on both sides for ``look``; less than a lower limit alone is ``bad``.
    """
    if math.isnan(value) or (wanted is None and low is None):
        return "info"
    if wanted is None:
        assert low is not None
        return "good" if value >= low else "bad"
    if low is None:
        return "good" if value <= wanted else "look" if value <= LOOK_FACTOR * wanted else "bad"
    slack = 0.5 * (wanted - low)
    if low <= value <= wanted:
        return "good"
    return "look" if low - slack <= value <= wanted + slack else "bad"
