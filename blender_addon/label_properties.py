"""The settings of the panel Labels: over which frames what is set by hand, and what is drawn."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import choices


def _redraw(_self: Any, context: bpy.types.Context) -> None:
    from .operators import common

    common.redraw(context, "VIEW_3D", "DOPESHEET_EDITOR")


class GAITSMITH_PG_labels(bpy.types.PropertyGroup):
    """What is labelled next, and what is shown of the labels."""

    show_bars: BoolProperty(
        name="In the timeline", default=True, update=_redraw,
        description="Draw contacts, phase, gaits and actions over the timeline and the dope sheet",
    )
    show_feet: BoolProperty(
        name="On the feet", default=True, update=_redraw,
        description="Draw a ring around every heel, toe or paw that is labelled as standing on the current frame",
    )
    first: IntProperty(
        name="From", default=1, update=_redraw, description="First frame of the range that is labelled by hand",
    )
    last: IntProperty(
        name="To", default=30, update=_redraw, description="Last frame of the range that is labelled by hand",
    )
    gait: EnumProperty(
        name="Gait", items=choices.label_gait_items, default=choices.ACTIONS["walk"][2], update=_redraw,
        description="The gait to set over the range",
    )
    point: EnumProperty(
        name="Foot", items=choices.label_point_items, update=_redraw,
        description="The heel, toe or paw whose contact is set or moved",
    )
    action: StringProperty(
        name="Action", default="", update=_redraw,
        description="What is done over the range beside its gait, or in what style, in your own word: limp, wave. "
                    "A pack that learns it offers it in the schedule. Empty takes the name away",
    )


CLASSES = (GAITSMITH_PG_labels,)
