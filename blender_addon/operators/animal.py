"""What panels and operators ask about the character's legs and size; read once, kept until the armature changes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import bpy

from .. import gait_entry, library
from ..motion.animal import shoulder_height
from ..motion.errors import GaitsmithError
from ..motion.gait_model.table import gait_for_speed
from ..motion.schedule import DEFAULT_SPEEDS
from ..motion.skeleton import Skeleton
from . import character, common


@dataclass(frozen=True)
class Facts:
    """What is known of an animal.

    Attributes:
        name: of the armature object.
        skeleton: its joints in model space; None if there is a problem.
        height: of the withers, metres.
        problem: why it cannot be read, in words.
    """

    name: str
    skeleton: Skeleton | None
    height: float = 0.0
    problem: str = ""


#: The usual speeds of actions are those of an animal of this shoulder height, metres.
USUAL_HEIGHT = 0.6

_facts: dict[tuple[str, ...], Facts] = {}


def legs(context: bpy.types.Context) -> int:
    """On how many legs the chosen character goes: 2 or 4; 0 without a character whose legs are known."""
    ob = common.chosen_armature(context) if context.scene is not None else None
    return character.summary(ob).legs if ob is not None else 0


def facts(context: bpy.types.Context) -> Facts | None:
    """The chosen animal; None if the character is no animal, or is not read yet.

    Panels may not read it themselves (Blender forbids them to touch data): it is read in a moment.
    """
    if legs(context) != 4:
        return None
    if bpy.app.background:
        return facts_now(context)
    from ..scene import rigs

    found = _facts.get(rigs.state_of(common.chosen_armature(context)))
    if found is None:
        common.later(_read_later, 0.0)
    return found


def facts_now(context: bpy.types.Context) -> Facts | None:
    """The same, read at once if need be: for operators."""
    ob = common.chosen_armature(context) if legs(context) == 4 else None
    if ob is None:
        return None
    from ..scene import rigs

    key = rigs.state_of(ob)
    if key not in _facts:
        _facts.clear()
        _facts[key] = _read(ob)
    return _facts[key]


def pack_id(context: bpy.types.Context) -> str:
    """The pack in use: the chosen one; as long as none was chosen, the one that fits the character's legs."""
    chosen = common.settings(context)
    if chosen.is_property_set("pack_id"):
        return str(chosen.pack_id)
    return library.GAIT_MODEL if legs(context) == 4 else library.DEFAULT_PACK


def misfit(context: bpy.types.Context, pack: library.Pack | None = None) -> str:
    """Why a pack (the one in use) does not fit the character, and what to do, in words; empty if it does."""
    found, here = pack or library.find(pack_id(context)), legs(context)
    if found is None or found.problem or not here or not found.legs or found.legs == here:
        return ""
    if here == 4:
        return f'The pack "{found.title}" walks on two legs, the character has four: choose "{gait_entry.TITLE}"'
    return f'The pack "{found.title}" walks on four legs, the character has two: choose a pack for two legs'


def speed_range(context: bpy.types.Context, gait: str) -> tuple[float, float]:
    """Slowest and fastest speed, m/s, of a gait (``auto``: of all) for an animal of the character's size."""
    return gait_entry.speeds_of(gait, height_of(context))


def gait_at(context: bpy.types.Context, speed: float) -> str:
    """The gait an animal of the character's size takes by itself at a speed, m/s."""
    return gait_for_speed(speed, height_of(context))


def usual_speed(context: bpy.types.Context, action: str) -> float | None:
    """The speed an animal of the character's size has without haste in an action, m/s; None where it keeps its own."""
    speed = DEFAULT_SPEEDS.get(action)
    return None if speed is None else speed * math.sqrt(height_of(context) / USUAL_HEIGHT)


def height_of(context: bpy.types.Context) -> float:
    """Shoulder height of the character, metres; a fox's as long as it is not known."""
    found = facts(context)
    return found.height if found is not None and found.skeleton is not None else USUAL_HEIGHT


def _read(ob: bpy.types.Object) -> Facts:
    from ..scene import rigs

    try:
        skeleton = rigs.read_rig(ob).skeleton
    except GaitsmithError as error:
        return Facts(ob.name, None, problem=str(error))
    return Facts(ob.name, skeleton, shoulder_height(skeleton))


def _read_later() -> None:
    facts_now(bpy.context)
    common.redraw(bpy.context, "VIEW_3D")


def forget() -> None:
    """Have it read again (a file was opened, an undo)."""
    _facts.clear()


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """Forget."""
    common.never(_read_later)
    forget()


CLASSES = ()
