"""The gait preview that plays: a stream of motion, its pieces made in a thread.

Names and plain arrays only: nothing of Blender's is kept from one tick to the next.
"""

from __future__ import annotations

import time
from typing import Any

import bpy

from ..motion.errors import GaitsmithError
from ..motion.gait_picture import Stage
from ..motion.gait_stream import Piece, Stream
from . import common, gait_stage
from .worker import Worker

#: When nothing was drawn for longer (Blender was busy), time does not jump, seconds.
LONGEST_TICK_S = 0.1
#: The scene is read again this long after the last change of it, seconds: a drag is many changes.
SETTLE_S = 0.15

_stream: Stream | None = None
_stage: Stage | None = None
_worker: Worker[tuple[Piece, float]] | None = None


def begin(context: bpy.types.Context) -> None:
    """Read the scene and start; raises `GaitsmithError` that says what is missing or broken."""
    global _stream, _stage
    end(context)
    _stage, _stream = gait_stage.read(context)
    common.state(context).gaits_playing = True


def scene_changed() -> None:
    """Something the preview depends on has changed: read it again, soon."""
    if _stream is None:
        return
    if bpy.app.background:
        read_again()
    else:
        common.never(read_again)
        common.later(read_again, SETTLE_S)


def read_again() -> None:
    """Go on with what the scene says now: from the same place, if it is the same animal on the same kind of way."""
    global _stream, _stage, _worker
    context = bpy.context
    if _stream is None or _stage is None:
        return
    try:
        stage, stream = gait_stage.read(context)
    except GaitsmithError as error:
        common.tell(context, str(error), "gaits", error=True)
        end(context)
        return
    if (stage.name, stage.in_place) == (_stage.name, _stage.in_place):
        _stream.turn_to(stream)
    else:
        _stream, _worker = stream, None
    _stage = stage


def tick(context: bpy.types.Context, seconds: float) -> bool:
    """Go on by some seconds; False when it is over. Errors are told in the panel."""
    global _worker
    stream, stage = _stream, _stage
    if stream is None or stage is None or not common.state(context).gaits_playing:
        return False
    if stage.name not in bpy.data.objects:
        common.tell(context, f"{stage.name} was removed or renamed: choose an animal, then play again", "gaits", True)
        return False
    stream.ask(gait_stage.asked(common.settings(context), stage))
    if _worker is not None and not _worker.running:
        done, _worker = _worker, None
        if done.error:
            print(done.detail)  # noqa: T201 - Blender's console is where users look
            common.tell(context, done.error, "gaits", error=True)
            return False
        if done.result is not None:
            stream.take(*done.result)
    stream.advance(min(seconds, LONGEST_TICK_S))
    if _worker is None:
        _worker = _next(stream)
    return True


def _next(stream: Stream) -> Worker[tuple[Piece, float]] | None:
    job = stream.job()
    if job is None:
        return None

    def work(_progress: Any) -> tuple[Piece, float]:
        begun = time.perf_counter()
        return job.make(), time.perf_counter() - begun

    return Worker(work)


def wait() -> None:
    """Until what is being made is made: without a window there are no ticks."""
    if _worker is not None:
        _worker.wait()


def end(context: bpy.types.Context) -> None:
    """Stop, and draw nothing any more."""
    clear()
    now = getattr(context.window_manager, "gaitsmith", None)
    if now is not None:
        now.gaits_playing = False


def clear() -> None:
    """Forget everything."""
    common.never(read_again)
    global _stream, _stage, _worker
    if _worker is not None:
        _worker.cancel()
    _stream = _stage = _worker = None


def playing() -> tuple[Stream, Stage] | None:
    """What is to be drawn; None when nothing plays."""
    return None if _stream is None or _stage is None else (_stream, _stage)
