"""Labels on an action: a line of text among its custom properties, so that saving, copying and appending keep it."""

from __future__ import annotations

import bpy

from ..motion.errors import ClipError, RigError
from ..motion.label_detection import gaits_of, points_of
from ..motion.label_store import from_text, to_text
from ..motion.label_tracks import LabelTracks, blank, fitted
from ..motion.skeleton import Skeleton
from . import read_actions, rigs
from .shot import scene_fps

PROPERTY = "gaitsmith_labels"


def text_of(action: bpy.types.Action) -> str:
    """What is kept on an action, as it is; empty without labels."""
    text = action.get(PROPERTY, "")
    return text if isinstance(text, str) else ""


def player_of(action: bpy.types.Action, armature: bpy.types.Object) -> str:
    """Whose labels of an action count for an armature: its slot in it; empty before 4.4, and without one."""
    slot = read_actions.slot_of(action, armature)
    return slot.identifier if slot is not None else ""


def read(action: bpy.types.Action, armature: bpy.types.Object) -> LabelTracks | None:
    """An armature's labels on an action, for the frames that the action has now; None without any.

    Raises:
        ClipError: what is kept there is damaged.
    """
    found = chosen(from_text(text_of(action)), player_of(action, armature)) if text_of(action) else None
    return fitted(found, *frames_of(action)) if found is not None else None


def chosen(kept: dict[str, LabelTracks], player: str) -> LabelTracks | None:
    """The labels of one who plays the action; the only ones there are, when slots were renamed or come from others."""
    if player in kept:
        return kept[player]
    return next(iter(kept.values())) if len(kept) == 1 else None


def write(action: bpy.types.Action, armature: bpy.types.Object, tracks: LabelTracks) -> None:
    """Put an armature's labels on an action; other slots' stay. Raises `ClipError` for an action of another file."""
    _own(action)
    kept = _kept(action)
    player = player_of(action, armature)
    if player not in kept and len(kept) == 1 and _slots(action) <= 1:
        kept = {}
    action[PROPERTY] = to_text({**kept, player: tracks})


def clear(action: bpy.types.Action, armature: bpy.types.Object) -> bool:
    """Take an armature's labels off an action, damaged ones too; False if there were none."""
    if PROPERTY not in action:
        return False
    _own(action)
    kept = _kept(action)
    player = player_of(action, armature)
    others = {key: tracks for key, tracks in kept.items() if key != player}
    if others and (player in kept or len(kept) > 1):
        action[PROPERTY] = to_text(others)
        return player in kept
    del action[PROPERTY]
    return True


def frames_of(action: bpy.types.Action) -> tuple[int, int]:
    """First and last frame of an action, as it is read."""
    first, last = (int(round(frame)) for frame in action.frame_range)
    return first, last


def action_of(armature: bpy.types.Object | None) -> bpy.types.Action:
    """The action that a character plays; raises `RigError` or `ClipError`."""
    if armature is None:
        raise RigError("There is no character", "Choose an armature under Character, or select it")
    action = armature.animation_data.action if armature.animation_data else None
    if action is None:
        raise ClipError(f"{armature.name!r} has no action", "Give it an action whose steps you want to label")
    return action


def skeleton_for(armature: bpy.types.Object) -> Skeleton:
    """The joints that an armature's actions are read with; raises `RigError`."""
    kept = rigs.kept_map(armature)
    return read_actions.skeleton_of(armature, kept.bones if kept is not None else None)


def unlabelled(action: bpy.types.Action, armature: bpy.types.Object) -> LabelTracks:
    """Labels with nothing labelled yet, for setting them by hand; raises `RigError`."""
    skeleton = skeleton_for(armature)
    first, last = frames_of(action)
    fps = scene_fps(bpy.context.scene)
    return blank(first, max(last - first + 1, 1), fps, points_of(skeleton), gaits_of(skeleton))


def _kept(action: bpy.types.Action) -> dict[str, LabelTracks]:
    """All labels on an action; none where they are damaged."""
    try:
        return from_text(text_of(action)) if text_of(action) else {}
    except ClipError:
        return {}


def _slots(action: bpy.types.Action) -> int:
    return len(getattr(action, "slots", ()))


def _own(action: bpy.types.Action) -> None:
    if action.library is not None:
        raise ClipError(
            f"The action {action.name!r} lies in another file", "Make it local (Object > Relations), then label it"
        )
