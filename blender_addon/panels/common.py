"""What the panels share: where they live, and how they say what is wrong."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

from ..operators import common


class Sidebar:
    """A panel in the tab Gaitsmith of the 3D view's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Gaitsmith"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A scene must be there."""
        return context.scene is not None


def columns(layout: Any) -> Any:
    """A column whose properties stand behind their names."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout.column()


#: Mean width of a letter in the interface's font at scale 1, and what icon and margins take, pixels.
LETTER_PIXELS, MARGIN_PIXELS = 6.4, 75.0
#: Letters a line where there is no region to measure.
USUAL_LETTERS = 34
#: What the frame and the button of a message take.
BOX_LETTERS = 7


def letters() -> int:
    """How many letters fit a line of the sidebar as wide as it is now."""
    region = bpy.context.region
    if region is None or region.type != "UI":
        return USUAL_LETTERS
    scale = bpy.context.preferences.system.ui_scale
    return max(16, int((region.width / scale - MARGIN_PIXELS) / LETTER_PIXELS))


def words(layout: Any, text: str, icon: str = "NONE", width: int = 0) -> None:
    """Text of any length, each of its lines broken into lines of ``width`` letters (0: as many as fit)."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    lines = [line for whole in text.split("\n") for line in textwrap.wrap(whole, width or letters()) or [""]]
    for index, line in enumerate(lines):
        column.label(text=line, icon=icon if index == 0 else ("BLANK1" if icon != "NONE" else "NONE"))


def message(layout: Any, context: bpy.types.Context, where: str) -> None:
    """The last thing that happened in this panel, if anything."""
    now = common.state(context)
    if not now.message or now.message_where != where:
        return
    box = layout.box()
    row = box.row()
    words(row, now.message, "ERROR" if now.message_is_error else "INFO", letters() - BOX_LETTERS)
    row.operator("gaitsmith.dismiss", text="", icon="X", emboss=False)


def metres(length: float) -> str:
    """A length for reading."""
    return f"{length:.1f} m"
