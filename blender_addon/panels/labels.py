"""Panel Labels: contacts, phase, gaits and actions of the character's action; detect, edit, clear."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import common, label_detect, label_state
from .common import Sidebar, columns, message, words

#: So many doubtful spans are listed.
DOUBTS_SHOWN = 4


def draw_labels(layout: Any, context: bpy.types.Context) -> None:
    """The panel's content, for the 3D view and for the dope sheet."""
    now, chosen = common.state(context), common.settings(context).labels
    if now.labelling:
        layout.progress(factor=now.label_fraction, text=f"{now.label_stage} {now.label_fraction:.0%}")
        layout.operator("gaitsmith.labels_cancel", icon="CANCEL")
        return
    found, owner = label_state.shown(context), label_state.owner(context)
    if owner is None:
        words(layout, "Choose a character that has an action", "INFO")
    else:
        layout.label(text=owner[1].name, icon="ACTION")
    if label_state.problem(context):
        words(layout, label_state.problem(context), "ERROR")
    row = layout.row(align=True)
    row.operator("gaitsmith.labels_detect", text="Detect", icon="VIEWZOOM")
    row.operator("gaitsmith.labels_again", text="Where not edited", icon="FILE_REFRESH")
    if found is not None:
        _draw_found(layout, context, found)
    elif owner is not None and not label_state.problem(context):
        words(layout, "Nothing is labelled. Detect, or set contacts and gaits by hand below.", "INFO")
    if owner is not None:
        _draw_edit(layout, chosen)
    message(layout, context, "labels")


def _draw_found(layout: Any, context: bpy.types.Context, found: label_state.Shown) -> None:
    now, chosen = common.state(context), common.settings(context).labels
    words(layout, label_detect.outcome(found.tracks), "CHECKMARK")
    for note in found.tracks.notes:
        words(layout, note, "INFO")
    for doubt in found.doubts[:DOUBTS_SHOWN]:
        row = layout.row(align=True)
        words(row, f"{doubt.first}-{doubt.last}: {doubt.words}", "QUESTION")
        row.operator("gaitsmith.label_go", text="", icon="TIME").frame = doubt.first
    if len(found.doubts) > DOUBTS_SHOWN:
        layout.label(text=f"and {len(found.doubts) - DOUBTS_SHOWN} more doubtful spans")
    row = layout.row(align=True)
    row.operator("gaitsmith.labels_edit", text="Edit in the timeline", icon="GREASEPENCIL", depress=now.label_editing)
    row.operator("gaitsmith.labels_clear", text="", icon="TRASH")
    row = layout.row(align=True)
    row.prop(chosen, "show_bars")
    row.prop(chosen, "show_feet")
    words(layout, "Over the lanes: a white line is set by hand, an orange one with ? is doubtful")


def _draw_edit(layout: Any, chosen: Any) -> None:
    """Setting by hand, over a range."""
    column = columns(layout)
    column.prop(chosen, "first")
    column.prop(chosen, "last")
    row = layout.row(align=True)
    for end, name in (("FIRST", "From here"), ("LAST", "To here"), ("SPAN", "This gait"), ("ALL", "All")):
        row.operator("gaitsmith.label_range", text=name).end = end
    _line(layout, chosen, "gait", ("gaitsmith.label_gait", "Set"))
    _line(layout, chosen, "action", ("gaitsmith.label_action", "Set"))
    row = _line(layout, chosen, "point", ("gaitsmith.label_contact", "Stands"))
    row.operator("gaitsmith.label_contact", text="Is up").down = False
    layout.operator("gaitsmith.label_end", icon="TRACKING_FORWARDS_SINGLE")
    row = layout.row(align=True)
    row.operator("gaitsmith.label_phase", text="Leave out of learning")
    row.operator("gaitsmith.label_phase", text="Learn").reliable = True
    layout.operator("gaitsmith.label_release", icon="LOOP_BACK")


def _line(layout: Any, chosen: Any, name: str, button: tuple[str, str]) -> Any:
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(chosen, name, text="")
    row.operator(button[0], text=button[1])
    return row


class GAITSMITH_PT_labels(Sidebar, bpy.types.Panel):
    """Contacts, phase, gaits and actions of an action."""

    bl_idname = "GAITSMITH_PT_labels"
    bl_label = "Labels"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        draw_labels(self.layout, context)


class GAITSMITH_PT_labels_dopesheet(Sidebar, bpy.types.Panel):
    """The same beside the dope sheet, where labels are edited."""

    bl_idname = "GAITSMITH_PT_labels_dopesheet"
    bl_label = "Labels"
    bl_space_type = "DOPESHEET_EDITOR"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        draw_labels(self.layout, context)


CLASSES = (GAITSMITH_PT_labels, GAITSMITH_PT_labels_dopesheet)
