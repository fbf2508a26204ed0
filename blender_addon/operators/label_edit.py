"""Edit labels with the mouse over the timeline: drag ends of contacts, paint gaits; every drag one step of undo."""

from __future__ import annotations

from typing import Any

import bpy

from ..motion.errors import GaitsmithError
from ..motion.label_lanes import Brush, Hit, View, dragged, hit
from ..motion.label_tracks import LabelTracks, words_of
from . import common, label_state

HELP = (
    "Drag ends of contacts and gaits. Drag over a lane to set it; with Ctrl, to erase.  "
    "Wheel or 1-9: gait ({gait}).  Esc or right click: done"
)
_NUMBERS = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")

_hovered: Hit | None = None


def hovered() -> Hit | None:
    """What lies under the mouse while labels are edited, for drawing."""
    return _hovered


class GAITSMITH_OT_labels_edit(bpy.types.Operator):
    """Edit labels over the timeline or dope sheet: drag ends of contacts, paint gaits. Esc or right click ends it"""

    bl_idname = "gaitsmith.labels_edit"
    bl_label = "Edit Labels"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs labels."""
        if context.scene is not None and label_state.shown(context) is not None:
            return True
        cls.poll_message_set("Nothing is labelled yet: detect the labels first")
        return False

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begin; some timeline or dope sheet must be open."""
        if not any(area.type == "DOPESHEET_EDITOR" for area in context.window.screen.areas):
            self.report({"ERROR"}, "Open a timeline or a dope sheet: labels are edited there")
            return {"CANCELLED"}
        common.settings(context).labels.show_bars = True
        self._grip: Hit | None = None
        self._before: LabelTracks | None = None
        self._gait = common.settings(context).labels.gait or "walk"
        common.state(context).label_editing = True
        context.window_manager.modal_handler_add(self)
        self._say(context)
        return {"RUNNING_MODAL"}

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Without a window there is nothing to edit on."""
        self.report({"ERROR"}, "Labels are edited with the mouse; scripts use Set Gait, Set Contact and Move End")
        return {"CANCELLED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the mouse."""
        found = label_state.shown(context)
        if found is None:
            return self._finish(context)
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            if self._grip is None:
                return self._finish(context)
            self._drop(context)
            return {"RUNNING_MODAL"}
        region = region_under(context, event)
        if self._grip is not None:
            return self._drag(context, event, region)
        if region is None:
            return {"PASS_THROUGH"}
        view = label_state.view_of(region, found.tracks, context.preferences.system.ui_scale)
        x, y = event.mouse_x - region.x, event.mouse_y - region.y
        return self._hover(context, event, found.tracks, view, hit(view, found.tracks, x, y))

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator (a file is opened, the window closes)."""
        self._finish(context)

    def _hover(
        self, context: bpy.types.Context, event: bpy.types.Event, tracks: LabelTracks, view: View, under: Hit | None
    ) -> set[str]:
        global _hovered
        if event.type == "MOUSEMOVE" and under != _hovered:
            _hovered = under
            self._say(context)
        if under is None:
            return {"PASS_THROUGH"}
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            self._grip, self._before = under, tracks
            self._drag(context, event, None)
            return {"RUNNING_MODAL"}
        step = {"WHEELUPMOUSE": 1, "WHEELDOWNMOUSE": -1}.get(event.type, 0)
        if step and under.lane == "gait":
            names = tracks.gait_names
            now = names.index(self._gait) if self._gait in names else 0
            self._choose(context, tracks, (now + step) % len(names))
            return {"RUNNING_MODAL"}
        if event.type in _NUMBERS and event.value == "PRESS" and _NUMBERS.index(event.type) < len(tracks.gait_names):
            self._choose(context, tracks, _NUMBERS.index(event.type))
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def _drag(self, context: bpy.types.Context, event: bpy.types.Event, region: Any) -> set[str]:
        assert self._grip is not None and self._before is not None
        region = region or region_under(context, event)
        if region is not None:
            view = label_state.view_of(region, self._before, context.preferences.system.ui_scale)
            brush = Brush(self._gait, common.settings(context).labels.action, event.ctrl)
            at = view.frame(event.mouse_x - region.x)
            label_state.draft(dragged(self._before, self._grip, at, brush))
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._keep(context)
        common.redraw(context, "DOPESHEET_EDITOR", "VIEW_3D")
        return {"RUNNING_MODAL"}

    def _keep(self, context: bpy.types.Context) -> None:
        """Write what was dragged."""
        from ..scene import labels

        found, grip, before = label_state.shown(context), self._grip, self._before
        self._drop(context)
        owner = label_state.owner(context)
        if found is None or owner is None or grip is None or found.tracks is before:
            return
        try:
            labels.write(owner[1], owner[0], found.tracks)
        except GaitsmithError as error:
            self.report({"ERROR"}, str(error))
            return
        said = f"Edit {words_of(grip.lane)}"
        common.tell(context, said, "labels")
        if bpy.ops.ed.undo_push.poll():
            bpy.ops.ed.undo_push(message=said)

    def _drop(self, context: bpy.types.Context) -> None:
        self._grip = self._before = None
        label_state.draft(None)
        common.redraw(context, "DOPESHEET_EDITOR", "VIEW_3D")

    def _choose(self, context: bpy.types.Context, tracks: LabelTracks, number: int) -> None:
        self._gait = tracks.gait_names[number]
        common.settings(context).labels.gait = self._gait
        self._say(context)

    def _say(self, context: bpy.types.Context) -> None:
        context.workspace.status_text_set(HELP.format(gait=self._gait))
        common.redraw(context, "DOPESHEET_EDITOR", "VIEW_3D")

    def _finish(self, context: bpy.types.Context) -> set[str]:
        global _hovered
        _hovered = None
        self._drop(context)
        common.state(context).label_editing = False
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return {"FINISHED"}


def region_under(context: bpy.types.Context, event: bpy.types.Event) -> Any:
    """The timeline's or dope sheet's region under the mouse; None elsewhere."""
    for area in context.window.screen.areas if context.window is not None else ():
        if area.type != "DOPESHEET_EDITOR":
            continue
        for region in area.regions:
            inside = 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
            if region.type == "WINDOW" and inside:
                return region
    return None


CLASSES = (GAITSMITH_OT_labels_edit,)
