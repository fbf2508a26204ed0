"""The preview's motion: made in a thread, kept as plain arrays, made anew when something changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..motion.errors import GaitsmithError
from ..motion.picture import Picture
from . import common, flow, gait_state
from .worker import Worker

#: The preview begins to be made this long after the last change, seconds: a drag is many changes.
SETTLE_SECONDS = 0.03
TICK_SECONDS = 0.03

_pictures: dict[str, Picture] = {}
_worker: Worker[Picture] | None = None
_scene_name = ""
_again = False


def picture(context: bpy.types.Context) -> Picture | None:
    """What to draw now; None without a preview."""
    return _pictures.get(context.scene.name_full) if common.state(context).preview else None


def settings_changed(context: bpy.types.Context) -> None:
    """A setting was changed in the panel."""
    flow.forget_plan()
    scene_changed()
    common.redraw(context, "VIEW_3D")


def scene_changed() -> None:
    """Something the motion depends on has changed: make it anew, soon."""
    global _again
    gait_state.scene_changed()
    manager = bpy.context.window_manager
    if manager is None or not manager.gaitsmith.preview:
        return
    _again = True
    if _worker is not None:
        _worker.cancel()
    if not bpy.app.background:
        common.later(tick, SETTLE_SECONDS)


def start(context: bpy.types.Context) -> None:
    """Switch the preview on; raises `GaitsmithError` when there is nothing to show."""
    global _again
    wanted = common.missing(context)
    if wanted:
        raise GaitsmithError(wanted)
    common.state(context).preview = True
    _again = True
    if bpy.app.background:
        make_now(context)
    else:
        common.later(tick, 0.0)


def stop(context: bpy.types.Context) -> None:
    """Switch it off."""
    common.state(context).preview = False
    clear()


def clear() -> None:
    """Forget everything (a file was opened, the add-on goes)."""
    global _worker, _again
    if _worker is not None:
        _worker.cancel()
    _worker, _again = None, False
    _pictures.clear()
    common.never(tick)


def make_now(context: bpy.types.Context) -> None:
    """Make it and wait: without a window there are no timers."""
    global _again
    _begin(context)
    while _worker is not None:
        _worker.wait()
        _take(context)
    _again = False


def tick() -> float | None:
    """One look from Blender's loop; None when there is nothing left to do."""
    context = bpy.context
    if not context.window_manager.gaitsmith.preview:
        return None
    if _worker is not None:
        if _worker.running:
            return TICK_SECONDS
        _take(context)
    if _again:
        _begin(context)
        return TICK_SECONDS if _worker is not None else None
    return None


def _begin(context: bpy.types.Context) -> None:
    """Read the scene here, in the main thread, and compute in another."""
    global _worker, _again, _scene_name
    _again = False
    try:
        work = _work(context)
    except GaitsmithError as error:
        _pictures.pop(context.scene.name_full, None)
        common.tell(context, str(error), "preview", error=True)
        return
    _scene_name = context.scene.name_full
    _worker = Worker(work)


def _work(context: bpy.types.Context) -> Callable[[Any], Picture]:
    from . import request

    return request.preview(context)


def _take(context: bpy.types.Context) -> None:
    """Take over what the thread has made."""
    global _worker
    done, _worker = _worker, None
    if done is None or done.cancelled:
        return
    if done.error:
        print(done.detail)  # noqa: T201 - Blender's console is where users look
        common.tell(context, done.error, "preview", error=True)
        return
    assert done.result is not None
    _pictures[_scene_name] = done.result
    if common.state(context).message_where == "preview":
        common.state(context).message = ""
    common.redraw(context, "VIEW_3D")
