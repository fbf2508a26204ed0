"""Check the Python that trains, and create one with torch when the user asks and allows online access."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import bpy

from .. import ADDON_ID, jobs, preferences
from . import common

#: Runs in the other Python: says what it has, as one event.
PROBE = """
import importlib, json, sys
found = {"python": sys.version.split()[0]}
for name in ("torch", "onnx", "numpy"):
    try:
        found[name] = str(importlib.import_module(name).__version__)
    except Exception as error:
        found[name] = ""
        found.setdefault("why", "%s: %s" % (name, error))
print(json.dumps({"event": "probe", "found": found}), flush=True)
"""
NEEDED = ("torch", "onnx", "numpy")
TICK_SECONDS = 0.2


def start_probe(python: str) -> jobs.Job:
    """Ask a Python what it has; raises `jobs.JobError`."""
    if not python:
        raise jobs.JobError("No Python is chosen", "Choose the Python program of an environment with torch")
    return jobs.Job([python, "-c", PROBE], cwd=jobs.package_root())


def verdict(job: jobs.Job) -> tuple[bool, str]:
    """Whether the probed Python can train, and a sentence for the user."""
    event = next((e for e in [*job.poll(), job.last] if e.get("event") == "probe"), None)
    if event is None:
        return False, f"This is no working Python. {job.failure()}"
    found = event["found"]
    lacking = [name for name in NEEDED if not found.get(name)]
    if lacking:
        return False, (
            f"Python {found['python']} lacks {', '.join(lacking)}. Install with: "
            f"python -m pip install {' '.join(lacking)}"
        )
    return True, f"Ready: Python {found['python']}, torch {found['torch']}, onnx {found['onnx']}"


class Watcher:
    """Polls a job from Blender's loop and calls ``finish`` once at its end. Without a window: `wait`."""

    current: Watcher | None = None

    def __init__(self, job: jobs.Job, finish: Callable[[jobs.Job], None]) -> None:
        self.job, self.finish = job, finish

    def watch(self) -> None:
        """Begin to poll."""
        Watcher.current = self
        bpy.app.timers.register(self.tick, first_interval=TICK_SECONDS, persistent=True)

    def tick(self) -> float | None:
        """One look; None ends the timer."""
        if self.job.state == "running":
            return TICK_SECONDS
        Watcher.current = None
        self.finish(self.job)
        return None

    def wait(self, seconds: float = 300.0) -> None:
        """Wait for the end instead of polling."""
        self.job.wait(seconds)
        self.tick()


def _say(text: str) -> None:
    bpy.context.window_manager.gaitsmith.check_text = text
    common.redraw(bpy.context, "PREFERENCES", "VIEW_3D")


class GAITSMITH_OT_check_python(bpy.types.Operator):
    """See whether the chosen Python has what training needs: torch, onnx and numpy"""

    bl_idname = "gaitsmith.check_python"
    bl_label = "Check Python"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """One job at a time."""
        if Watcher.current is not None:
            cls.poll_message_set("Still busy with the last request")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it, in the background."""
        try:
            job = start_probe(preferences.python_path())
        except jobs.JobError as error:
            _say(str(error))
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _say("Asking Python...")
        watcher = Watcher(job, lambda ended: _say(verdict(ended)[1]))
        watcher.wait() if bpy.app.background else watcher.watch()
        return {"FINISHED"}


class GAITSMITH_OT_create_python(bpy.types.Operator):
    """Create a Python environment with torch in the add-on's folder. Downloads about 300 MB; asks first"""

    bl_idname = "gaitsmith.create_python"
    bl_label = "Create a Python with torch"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Only with the user's leave to go online."""
        if not preferences.online_access():
            cls.poll_message_set("Allow online access first: Preferences, System, Network")
            return False
        if Watcher.current is not None:
            cls.poll_message_set("Still busy with the last request")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask before downloading."""
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run the environment script as a child process."""
        folder = preferences.user_folder() / "python"
        try:
            job = jobs.Job(
                [sys.executable, "-u", "-m", "blender_addon.environment", str(folder)], cwd=jobs.package_root()
            )
        except jobs.JobError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _say("Creating a Python with torch: this takes some minutes...")
        Watcher(job, _created).watch()
        return {"FINISHED"}


def _created(job: jobs.Job) -> None:
    events: list[dict[str, Any]] = job.poll()
    path = next((str(e["python"]) for e in events if e.get("event") == "done"), "")
    if job.state != "done" or not path:
        _say(job.failure())
        return
    addon = bpy.context.preferences.addons.get(ADDON_ID)
    if addon is not None:
        addon.preferences.python_path = path
    _say(f"Created {path}. Press Check to see that it works.")


def unregister() -> None:
    """End what still runs."""
    if Watcher.current is not None:
        Watcher.current.job.cancel()
        Watcher.current = None


def register() -> None:
    """Nothing to prepare."""


CLASSES = (GAITSMITH_OT_check_python, GAITSMITH_OT_create_python)
