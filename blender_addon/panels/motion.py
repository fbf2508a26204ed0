"""Panel Motion: which pack moves the character, and how firmly it is held to path and ground."""

from __future__ import annotations

import bpy

from .. import library
from ..motion.schedule import AUTO
from ..operators import animal, common
from .common import Sidebar, columns, message, words


class GAITSMITH_PT_motion(Sidebar, bpy.types.Panel):
    """Choose pack and system."""

    bl_idname = "GAITSMITH_PT_motion"
    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        chosen = common.settings(context)
        column = columns(self.layout)
        column.prop(chosen, "pack")
        pack = library.find(animal.pack_id(context))
        misfit = animal.misfit(context)
        if misfit:
            words(column, misfit, "ERROR")
        elif pack is None:
            words(column, "The chosen pack is not installed. Choose another, or import it below under Packs.", "ERROR")
        elif pack.problem:
            words(column, pack.problem, "ERROR")
        elif pack.id == library.GAIT_MODEL:
            low, high = animal.speed_range(context, AUTO)
            words(column, f"Any four-legged character. This one goes {low:.1f} to {high:.1f} m/s", "INFO")
        elif pack.summary:
            words(column, pack.summary, "INFO")
        if pack is not None and len(pack.systems) > 1:
            column.prop(chosen, "system")
        column.prop(chosen, "responsiveness", slider=True)
        column.prop(chosen, "follow", slider=True)
        column.prop(chosen, "exact")
        column.prop(chosen, "plant_feet")
        message(column, context, "motion")


CLASSES = (GAITSMITH_PT_motion,)
