"""One computation in a thread, watched from Blender's loop; the computation touches no Blender data."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Generic, TypeVar

from ..motion.errors import Cancelled, GaitsmithError

T = TypeVar("T")
#: Called by the computation with the share done (0..1) and what it is doing; False asks it to stop.
Progress = Callable[[float, str], bool]


class Worker(Generic[T]):
    """Runs ``work(progress)`` in a thread of its own.

    Attributes:
        fraction, stage: how far it is.
        result: what the computation returned; None until it is done.
        error: why it failed, in words; empty otherwise.
        detail: the traceback of an error that was not foreseen; empty otherwise.
        cancelled: it was asked to stop, and did.
    """

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self.fraction, self.stage = 0.0, ""
        self.result: T | None = None
        self.error = self.detail = ""
        self.cancelled = False
        self._stop = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True, name="gaitsmith worker")
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the computation still goes on."""
        return self._thread.is_alive()

    def cancel(self) -> None:
        """Ask it to stop at its next report; returns at once."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it takes longer than ``seconds``."""
        self._thread.join(seconds)
        return not self.running

    def _progress(self, fraction: float, stage: str = "") -> bool:
        self.fraction = min(max(fraction, 0.0), 1.0)
        self.stage = stage or self.stage
        return not self._stop.is_set()

    def _run(self) -> None:
        try:
            result = self._work(self._progress)
            if self._stop.is_set():
                self.cancelled = True
            else:
                self.result = result
        except Cancelled:
            self.cancelled = True
        except GaitsmithError as error:
            self.error = str(error)
        except MemoryError:
            self.error = "Not enough memory. Shorten the path, or close other programs"
        except Exception as error:  # noqa: BLE001 - anything else is a mistake of ours: the user hears of it, the console has it all
            self.error = f"Something went wrong inside Gaitsmith: {error!r}. Please report it with the console's text"
            self.detail = traceback.format_exc()
