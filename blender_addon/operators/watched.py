"""What operators share that watch long work: modal with a timer in a window, waiting without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import bpy

from . import common


class Watched:
    """Mixed into an operator whose work is a run with ``begin``, ``look``, ``wait`` and ``cancel``.

    Attributes:
        run_class: makes a run; it has ``failed``, ``cancelled`` and ``message`` when it is over.
        where: the panel's place for messages.
        busy, wish_to_cancel: names of the state's flags.
        tick_seconds: how often the run is looked after.
    """

    run_class: ClassVar[type[Any]]
    where: ClassVar[str]
    busy: ClassVar[str]
    wish_to_cancel: ClassVar[str]
    tick_seconds: ClassVar[float] = 0.05

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it and wait (scripts, background)."""
        if not self._begin(context):
            return {"CANCELLED"}
        self._run.wait(context)
        return self._end(context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Do it while Blender stays responsive."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if not self._begin(context):
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(self.tick_seconds, window=context.window)
        manager.modal_handler_add(self)
        self._undone = self._stopper()
        bpy.app.handlers.undo_pre.append(self._undone)
        return {"RUNNING_MODAL"}

    def _stopper(self) -> Callable[..., None]:
        """What Blender calls before it undoes; it holds no data of Blender's."""
        wish = self.wish_to_cancel

        def undone(*_: object) -> None:
            setattr(common.state(bpy.context), wish, True)

        return undone

    def _let_go(self, context: bpy.types.Context) -> None:
        """End timer and handler."""
        context.window_manager.event_timer_remove(self._timer)
        if self._undone in bpy.app.handlers.undo_pre:
            bpy.app.handlers.undo_pre.remove(self._undone)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Look after it; everything else goes through to Blender.

        Who undoes while it runs wants it gone: what it would write belongs to the scene from before. The keys for it
        stop the work alone; by the menu both happen.
        """
        undoes = event.type == "Z" and (event.ctrl or event.oskey)
        if event.value == "PRESS" and (event.type == "ESC" or undoes):
            setattr(common.state(context), self.wish_to_cancel, True)
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        over = self._run.look(context)
        common.redraw(context, "VIEW_3D")
        if not over:
            return {"RUNNING_MODAL"}
        self._let_go(context)
        return self._end(context)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator (a file is opened, the window closes)."""
        self._run.cancel()
        self._let_go(context)
        setattr(common.state(context), self.busy, False)

    def _begin(self, context: bpy.types.Context) -> bool:
        self._run = self.run_class()
        with common.telling_errors(self, context, self.where) as failed:
            common.object_mode(context)
            self._run.begin(context)
        return not failed

    def _end(self, context: bpy.types.Context) -> set[str]:
        wrong = self._run.failed and not self._run.cancelled
        common.tell(context, self._run.message, self.where, error=wrong)
        self.report({"ERROR" if wrong else "INFO"}, self._run.message.replace("\n", ". "))  # type: ignore[attr-defined]
        return {"CANCELLED"} if self._run.failed else {"FINISHED"}
