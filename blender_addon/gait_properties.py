"""The settings of the gait preview, which live in the scene beside the others."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from . import choices

#: Where the previewed animal goes.
PLACES = (
    ("PLACE", "In place", "On the spot where the character stands, as on a treadmill. No path is needed"),
    ("CURVE", "Along the path", "Along the path, from its beginning, again and again"),
)
#: What is baked in place.
LENGTHS = (
    ("CYCLE", "One cycle", "One stride whose end meets its beginning: it can be repeated for ever"),
    ("SECONDS", "Seconds", "A length of motion, each stride a little different from the last"),
)


def _redraw(_self: Any, context: bpy.types.Context) -> None:
    from .operators import common

    common.redraw(context, "VIEW_3D")


def _fit_speed(gaits: Any, context: bpy.types.Context) -> None:
    """Another gait was chosen: bring the speed into what it covers."""
    from .operators import animal

    low, high = animal.speed_range(context, gaits.gait)
    gaits.speed = min(max(gaits.speed, low), high)


def _elsewhere(_self: Any, _context: bpy.types.Context) -> None:
    from .operators import gait_state

    gait_state.scene_changed()


def _get_share(gaits: Any) -> float:
    from .operators import animal

    low, high = animal.speed_range(bpy.context, gaits.gait)
    return min(max((gaits.speed - low) / max(high - low, 1e-6), 0.0), 1.0)


def _set_share(gaits: Any, value: float) -> None:
    from .operators import animal

    low, high = animal.speed_range(bpy.context, gaits.gait)
    gaits.speed = low + value * (high - low)


class GAITSMITH_PG_gaits(bpy.types.PropertyGroup):
    """What the gait preview shows."""

    gait: EnumProperty(
        name="Gait", items=choices.GAIT_ITEMS, default="auto", update=_fit_speed,
        description="The gait to look at. By speed, the animal changes its gait by itself as it goes faster",
    )
    speed: FloatProperty(
        name="Speed (m/s)", default=1.2, min=0.0, soft_min=0.2, soft_max=8.0, max=25.0, precision=2, step=10,
        update=_redraw,
        description="How fast the animal goes, in metres a second. Change it while the preview plays",
    )
    share: FloatProperty(
        name="Slow to fast", min=0.0, max=1.0, subtype="FACTOR", get=_get_share, set=_set_share,
        description="Slide from the slowest to the fastest that the chosen gait has for an animal of this size. "
                    "By speed, it goes through all gaits",
    )
    where: EnumProperty(
        name="Where", items=PLACES, default="PLACE", update=_elsewhere,
        description="Where the animal goes in the preview",
    )
    length: EnumProperty(name="Bake", items=LENGTHS, default="CYCLE", description="How much motion is baked in place")
    seconds: FloatProperty(
        name="Seconds", default=5.0, min=0.2, soft_max=60.0, max=600.0, unit="TIME_ABSOLUTE", precision=1, step=50,
        description="How long the baked motion lasts",
    )
    show_diagram: BoolProperty(
        name="Gait diagram", default=True, update=_redraw,
        description="Draw when each foot stands, as bars over time that scroll past",
    )
    show_footfalls: BoolProperty(
        name="Footfalls", default=True, update=_redraw, description="Draw where the feet have stood on the ground",
    )


CLASSES = (GAITSMITH_PG_gaits,)
