"""Child processes that report by JSON lines; knows nothing of Blender, and its reader threads never touch bpy."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from .motion.errors import GaitsmithError

State = Literal["running", "done", "failed", "cancelled"]
Event = dict[str, Any]

#: Lines kept of what a child said that is not an event: for the message after a crash.
LOG_LINES = 200
#: A line longer than this is cut: a child gone mad must not fill Blender's memory.
LINE_LIMIT = 1 << 20
#: Events kept until the next `Job.poll`; older ones are dropped.
EVENT_LIMIT = 10_000
#: How a Python says that it lacks what training needs.
_LACKING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
#: Set by a shell or by a host program, these would make another Python load the wrong library.
FOREIGN_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONSTARTUP")


class JobError(GaitsmithError):
    """A child process could not be started."""


class Job:
    """One child process, watched without ever waiting for it.

    The child writes one JSON object a line to its standard output; every other line, and all of its
    standard error, is kept as a log. Two threads read the pipes; `poll` hands over what has come.

    Args:
        command: program and arguments; no shell takes part, so that any path is safe.
        cwd: folder the child runs in.
        env: variables added to this process's own.

    Raises:
        JobError: the program is missing or may not be run.
    """

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.command = tuple(str(part) for part in command)
        self.last: Event = {}
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._cancelled = False
        try:
            self._process = subprocess.Popen(
                self.command, cwd=cwd, env=child_environment(env), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_own_group(),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise JobError(
                f"Could not start {self.command[0]} ({error})",
                "Check the path of Python in the add-on's preferences",
            ) from error
        assert self._process.stdout is not None and self._process.stderr is not None
        self._threads = (
            self._reader(self._process.stdout, self._take_line),
            self._reader(self._process.stderr, self._take_log),
        )

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @property
    def state(self) -> State:
        """``running`` until the child has ended and all that it wrote has been read."""
        if self._process.poll() is None or any(thread.is_alive() for thread in self._threads):
            return "running"
        if self._cancelled:
            return "cancelled"
        return "done" if self._process.returncode == 0 else "failed"

    @property
    def returncode(self) -> int | None:
        """The child's exit status; None while it runs."""
        return self._process.poll()

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines the child wrote that were no events."""
        return tuple(self._log)

    def poll(self) -> list[Event]:
        """The events that came since the last call; never waits."""
        events: list[Event] = []
        while True:
            try:
                events.append(self._events.get_nowait())
            except queue.Empty:
                break
        if events:
            self.last = events[-1]
        return events

    def failure(self) -> str:
        """What to tell the user after ``failed``: the child's own error, else the end of its log."""
        if self.last.get("event") == "error" and self.last.get("message"):
            remedy = str(self.last.get("remedy") or "")
            return f"{self.last['message']}. {remedy}".rstrip(". ") if remedy else str(self.last["message"])
        code = self._process.returncode
        said = next((line for line in reversed(self._log) if line.strip()), "")
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in {s.value for s in signal.Signals} else str(-code)
            return f"The job was ended by the system ({name}; often: out of memory). {said}".rstrip()
        lacking = _LACKING.search(said)
        if lacking:
            remedy = "Choose a Python with torch, onnx and numpy in the preferences"
            return f"{self.command[0]} has no {lacking[1]}. {remedy}"
        return (
            f"The job ended with an error: {(said or f'exit status {code}').rstrip('.')}. "
            f"See that {self.command[0]} is a working Python (preferences, Check)"
        )

    def cancel(self, patience: float = 3.0) -> None:
        """End the child and its own children: ask first, then insist. Waits at most ``patience`` seconds and a bit."""
        if self._process.poll() is None:
            self._cancelled = True
            self._signal(insist=False)
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._signal(insist=True)
                self._process.wait(patience)
        self._join()

    def ask_to_end(self) -> None:
        """The first half of `cancel`, for a user interface that must not wait: returns at once."""
        if self._process.poll() is None:
            self._cancelled = True
            self._signal(insist=False)

    def insist(self) -> None:
        """The second half of `cancel`: kills what did not end when asked; returns at once."""
        if self._process.poll() is None:
            self._signal(insist=True)

    def wait(self, timeout: float | None = None) -> State:
        """Wait for the end (tests, command line); raises `subprocess.TimeoutExpired`."""
        self._process.wait(timeout)
        self._join()
        return self.state

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(1.0)

    def _signal(self, insist: bool) -> None:
        try:
            if sys.platform == "win32":
                self._process.kill() if insist else self._process.terminate()
            else:
                # The child leads its own session: its workers end with it.
                os.killpg(self._process.pid, signal.SIGKILL if insist else signal.SIGTERM)
        except (ProcessLookupError, PermissionError):
            pass  # it ended by itself between the question and the signal

    def _reader(self, stream: IO[bytes], take: Any) -> threading.Thread:
        def read() -> None:
            with stream:
                while chunk := stream.readline(LINE_LIMIT):
                    take(chunk.decode("utf-8", "replace").rstrip("\r\n"))

        thread = threading.Thread(target=read, daemon=True, name="gaitsmith job reader")
        thread.start()
        return thread

    def _take_line(self, line: str) -> None:
        event = parse_event(line)
        if event is None:
            self._take_log(line)
            return
        if self._events.qsize() >= EVENT_LIMIT:
            with contextlib.suppress(queue.Empty):
                self._events.get_nowait()
        self._events.put(event)

    def _take_log(self, line: str) -> None:
        # A progress bar redraws its line with carriage returns: keep its last state only.
        self._log.append(line.rsplit("\r", 1)[-1])


def parse_event(line: str) -> Event | None:
    """The event that a line holds; None for anything that is not one JSON object."""
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables for a child Python: UTF-8 whatever the locale, nothing of the host's Python, no
    byte code beside the add-on's files."""
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN_VARIABLES}
    env.update({"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"})
    env.update(extra or {})
    return env


def package_root() -> Path:
    """The folder that holds ``blender_addon`` and ``training``: where the children run."""
    return Path(__file__).resolve().parent.parent


def training_command(python: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs ``python -m training``; the same in a checkout and in the installed extension."""
    return (python, "-u", "-m", "training", *arguments)


def remaining_seconds(elapsed: float, fraction: float) -> float | None:
    """Time left if the work goes on at its mean pace; None while too little is known."""
    if elapsed < 1.0 or not 0.005 < fraction <= 1.0:
        return None
    return elapsed * (1.0 - fraction) / fraction


def _own_group() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
