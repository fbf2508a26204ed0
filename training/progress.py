"""Where a training's progress goes: a bar for people, JSON lines for the add-on."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, Protocol, TextIO


@dataclass(frozen=True)
class Progress:
    """How far a stage is.

    Attributes:
        stage: its name. iteration, total: steps done, and to do (estimated when time is the limit).
        fraction: share of the whole run that is done, 0..1.
        loss: weighted sum, mean of late. validation: on held-out data, in ``unit``; None without any.
        seconds_left: of the whole run; None while unknown.
    """

    stage: str
    iteration: int
    total: int
    fraction: float
    loss: float
    validation: float | None = None
    unit: str = ""
    seconds_left: float | None = None


class Reporter(Protocol):
    """Takes progress and messages."""

    def progress(self, progress: Progress) -> None:
        """A stage moved on."""
        ...

    def message(self, kind: str, **values: Any) -> None:
        """Something else happened: ``kind`` is ``stage``, ``remark``, ``done``, ``error`` or ``cancelled``."""
        ...


class Silent:
    """Says nothing."""

    def progress(self, progress: Progress) -> None:
        """Ignored."""

    def message(self, kind: str, **values: Any) -> None:
        """Ignored."""


class JsonLines:
    """One JSON object a line, for `blender_addon.jobs`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout

    def progress(self, progress: Progress) -> None:
        """An event of kind ``progress``."""
        self.message("progress", **{key: _rounded(value) for key, value in vars(progress).items()})

    def message(self, kind: str, **values: Any) -> None:
        """An event of any kind."""
        # The add-on's jobs read "event"; "kind" is the name in the documents.
        self._stream.write(json.dumps({"event": kind, "kind": kind, **values}, ensure_ascii=False) + "\n")
        self._stream.flush()


class Bar:
    """A tqdm bar for each stage."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def progress(self, progress: Progress) -> None:
        """Moves the stage's bar."""
        from tqdm import tqdm

        if progress.stage != self._stage:
            self._close()
            self._stage = progress.stage
            self._bar = tqdm(total=progress.total, desc=progress.stage, unit="it")
        self._bar.total = progress.total
        self._bar.n = progress.iteration
        validation = {} if progress.validation is None else {"held-out": f"{progress.validation:.4g} {progress.unit}"}
        self._bar.set_postfix({"loss": f"{progress.loss:.4g}", **validation})

    def message(self, kind: str, **values: Any) -> None:
        """A line of its own."""
        self._close()
        text = values.pop("message", "")
        details = ", ".join(f"{key} {value}" for key, value in values.items() if value not in ("", None))
        sys.stderr.write(f"{kind}: {' '.join(part for part in (text, details) if part)}\n")

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            self._stage = ""


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value
