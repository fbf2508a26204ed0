"""Panel Train: make a pack from your own actions, in the background."""

from __future__ import annotations

import bpy

from .. import preferences
from ..operators import common, training_session
from .common import Sidebar, columns, message, words


class GAITSMITH_PT_train(Sidebar, bpy.types.Panel):
    """Train a pack from actions."""

    bl_idname = "GAITSMITH_PT_train"
    bl_label = "Train"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen, now = common.settings(context), common.state(context)
        layout = self.layout
        if now.training:
            layout.progress(factor=now.train_fraction, text=f"{now.train_stage} {now.train_fraction:.0%}")
            if now.train_left:
                layout.label(text=now.train_left, icon="TIME")
            if now.train_loss:
                layout.label(text=now.train_loss, icon="GRAPH")
            words(layout, "The loss curve is drawn in the viewport's corner", "INFO")
            layout.operator("gaitsmith.train_cancel", icon="CANCEL")
            message(layout, context, "train")
            return
        column = columns(layout)
        column.prop(chosen, "train_name")
        column.prop(chosen, "train_source")
        column.label(text=training_session.source_summary(context), icon="ACTION")
        column.prop(chosen, "train_system")
        if chosen.train_system != "mm":
            column.prop(chosen, "train_minutes")
            if not preferences.python_path():
                words(layout, "Training needs a Python with torch: choose one in the preferences.", "INFO")
                layout.operator("gaitsmith.preferences", icon="PREFERENCES")
        column.prop(chosen, "train_mirror")
        row = layout.row(align=True)
        row.operator("gaitsmith.data_check", icon="VIEWZOOM")
        row.operator("gaitsmith.train", icon="PLAY")
        if training_session.unfinished(context):
            layout.operator("gaitsmith.train_resume", icon="FILE_REFRESH")
        message(layout, context, "train")


CLASSES = (GAITSMITH_PT_train,)
