"""Constraints that fight with the keys: which, on which bone, and what of it they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import bpy

from .controls import Control

#: So many are named; the rest is counted.
_NAMED = 4
_TURNS = frozenset({
    "COPY_ROTATION", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "LIMIT_ROTATION", "IK", "SPLINE_IK", "STRETCH_TO",
})  # fmt: skip
_MOVES = frozenset({"COPY_LOCATION", "LIMIT_LOCATION", "LIMIT_DISTANCE", "FLOOR", "SHRINKWRAP", "PIVOT"})
_SCALES = frozenset({"COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"})


def fighting_constraints(
    ob: bpy.types.Object, controls: Sequence[Control], keyed_off: Collection[str]
) -> tuple[str, ...]:
    """A note for each constraint that works on a bone that gets keys; those of IK work on the bones above, too.

    Args:
        ob: the armature.
        controls: what gets keys.
        keyed_off: data paths of influences that the bake keys to 0.
    """
    keyed = {control.bone for control in controls}
    notes = []
    for owner, constraint in _active(ob, keyed_off):
        held = [name for name in _bones_held(owner, constraint) if name in keyed]
        what = _held(constraint)
        if held and what:
            mine = f"on {owner.name}" + ("" if held == [owner.name] else f" (it holds {', '.join(held)})")
            notes.append(
                f"The constraint {constraint.name!r} ({_kind(constraint)}{_goal(constraint)}) {mine} may overrule the "
                f"keys of its {what}: mute it, or map the bone that controls it"
            )
    more = len(notes) - _NAMED
    return (*notes[:_NAMED], *([f"{more} more constraints may overrule the keys of other bones"] if more > 0 else []))


def _active(
    ob: bpy.types.Object, keyed_off: Collection[str]
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Bones with their constraints that work, and are not switched off by keys."""
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            path = f'pose.bones["{bone.name}"].constraints["{constraint.name}"].influence'
            if not constraint.mute and constraint.influence > 0.0 and path not in keyed_off:
                yield bone, constraint


def _bones_held(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[str]:
    """The bones that a constraint poses: its own, and of IK as many as its chain is long (0: all above)."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return [owner.name]
    chain = [owner, *owner.parent_recursive]
    if constraint.type == "IK" and not constraint.use_tail:
        chain = chain[1:]
    return [bone.name for bone in (chain[: constraint.chain_count] if constraint.chain_count else chain)]


def _held(constraint: bpy.types.Constraint) -> str:
    """What of a bone a constraint holds; nothing that gets keys where it only scales."""
    if constraint.type in _SCALES:
        return ""
    if constraint.type in _TURNS:
        return "rotation"
    return "location" if constraint.type in _MOVES else "rotation and location"


def _kind(constraint: bpy.types.Constraint) -> str:
    """The constraint's type as Blender's menus name it."""
    return str(constraint.bl_rna.properties["type"].enum_items[constraint.type].name)


def _goal(constraint: bpy.types.Constraint) -> str:
    """What it follows."""
    target = getattr(constraint, "target", None)
    if target is None:
        return ""
    bone = getattr(constraint, "subtarget", "")
    return f" to {bone or target.name}"
