"""Motion to retarget: an armature's actions, checked and read piece by piece, and armatures that visit from files."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..motion import rotations as rot
from ..motion.bvh_check import check_bvh
from ..motion.clip import Clip
from ..motion.errors import ClipError, RigError, TerrainError
from ..motion.retarget import posed_rest
from ..motion.skeleton import Skeleton
from ..motion.transfer import Place
from . import importers, rigs
from .read_actions import actions_for, bones_moved, playing, read_action, skeleton_of
from .rest_pose import REFERENCE_PROPERTY, keep_reference, object_frame, reference_pose

#: Frames read in one go, before Blender gets its turn again.
PIECE = 60
#: An action of which the armature has fewer of the bones belongs to another.
_SHARE = 0.5


def check_source(source: bpy.types.Object | None, target: bpy.types.Object | None) -> None:
    """Refuse what is no source for a character; raises `RigError`."""
    if source is None:
        raise RigError("There is no source", "Pick the armature whose action you want")
    if source.type != "ARMATURE":
        raise RigError(f"{source.name!r} is no armature", "Pick the armature whose action you want")
    if source == target:
        raise RigError(
            f"Source and character are both {source.name!r}", "Pick another armature as the source, or as the character"
        )
    if source.mode == "EDIT":
        raise RigError(f"The armature {source.name!r} is in Edit Mode", "Leave it (Tab), then retarget")


def object_named(name: str) -> bpy.types.Object:
    """An object that was there a moment ago; raises `RigError` if it is no more."""
    found = bpy.data.objects.get(name)
    if found is None:
        raise RigError(f"{name!r} was removed or renamed meanwhile", "Choose it again, then retarget")
    return found


def action_named(name: str) -> bpy.types.Action:
    """An action that was there a moment ago; raises `RigError` if it is no more."""
    found = bpy.data.actions.get(name)
    if found is None:
        raise RigError(f"The action {name!r} was removed or renamed meanwhile", "Choose it again, then retarget")
    return found


@dataclass(frozen=True)
class NamedGround:
    """A ground of the scene by kind and name, or one of numbers."""

    kind: str = ""
    name: str = ""
    field: Any = None

    @classmethod
    def of(cls, ground: Any) -> NamedGround:
        """The name of an object, a collection or a list of objects; anything else as it is."""
        if ground is None or hasattr(ground, "height"):
            return cls(field=ground)
        if isinstance(ground, list):
            return cls("list", "\n".join(ob.name for ob in ground))
        return cls("collections" if hasattr(ground, "all_objects") else "objects", ground.name)

    def now(self) -> Any:
        """The ground as it is now; raises `TerrainError` if it is gone."""
        if not self.kind:
            return self.field
        kind = "objects" if self.kind == "list" else self.kind
        found = [getattr(bpy.data, kind).get(name) for name in self.name.split("\n")]
        if None in found:
            raise TerrainError("The ground was removed or renamed meanwhile", "Choose it again, then retarget")
        return found if self.kind == "list" else found[0]


def check_action(action: bpy.types.Action, source: bpy.types.Object) -> None:
    """Refuse an action that was made for another armature; raises `ClipError`."""
    known, strange = bones_moved(action, source)
    count = len(known) + len(strange)
    if not count:
        raise ClipError(
            f"The action {action.name!r} moves no bones of {source.name!r}", "Choose an action that moves its bones"
        )
    if len(known) < _SHARE * count:
        raise ClipError(
            f"The action {action.name!r} belongs to another rig: of the {count} bones it moves, "
            f"{source.name!r} has {len(known)}",
            "Choose the armature it was made for as the source",
        )


def fitting_actions(source: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions that were made for an armature; its own first."""
    found = []
    for action in actions_for(source):
        known, strange = bones_moved(action, source)
        if len(known) >= _SHARE * (len(known) + len(strange)):
            found.append(action)
    return found


def chosen_actions(source: bpy.types.Object, names: Sequence[str] = ()) -> list[bpy.types.Action]:
    """The actions of these names, or all that were made for an armature; raises `ClipError` where there are none."""
    fitting = fitting_actions(source)
    if not names and not fitting:
        raise ClipError(f"No action of the file moves {source.name!r}", "Choose a file with an animated character")
    found = []
    for name in names:
        action = next((one for one in fitting if one.name == name), None) or bpy.data.actions.get(name)
        if action is None:
            known = ", ".join(one.name for one in fitting) or "none"
            raise ClipError(f"There is no action {name!r}; there are: {known}", "Name one of them")
        found.append(action)
    return found or fitting


def source_skeleton(source: bpy.types.Object) -> tuple[Skeleton, Place]:
    """An armature's joints with the pose to align by as their rest pose, upright, and where the armature stands.

    Raises:
        RigError: it has no legs, or its rest pose tells nothing.
    """
    seen = rigs.rest_of(source)
    rotation, origin, _ = object_frame(source)
    place = Place((float(origin[0]), float(origin[1])), seen.facing)
    if seen.skeleton.four_legged:
        return seen.skeleton, place
    skeleton = skeleton_of(source, ball_height=seen.skeleton.ball_height)
    world = np.array(skeleton.rest_world[1])
    for bone, kept in reference_pose(source).items():
        if bone in skeleton.names:
            world[skeleton.names.index(bone)] = rot.mul(rotation, kept[:4])
    world = rot.mul(rot.mul(seen.standing, rot.inv(rotation)), world)
    tails, measured = np.array(skeleton.tails), seen.skeleton
    for name, tail in zip(measured.names, measured.tails, strict=True):
        tails[skeleton.names.index(name)] = tail
    posed = replace(posed_rest(skeleton, skeleton.local_rotations(world)), tails=tails, soles=measured.soles)
    return posed, place


@contextlib.contextmanager
def aligned_by(ob: bpy.types.Object, action: bpy.types.Action | None, frame: int | None) -> Iterator[None]:
    """Let a frame of an action stand for an armature's rest pose for as long as the context lasts.

    Args:
        ob: the armature.
        action: the action; None for the pose that the armature shows on that frame of the scene.
        frame: the frame; None to change nothing.

    Raises:
        ClipError: the frame lies outside the action.
    """
    if frame is None:
        yield
        return
    before, scene = ob.get(REFERENCE_PROPERTY), bpy.context.scene
    now = scene.frame_current
    if action is not None:
        first, last = (int(round(value)) for value in action.frame_range)
        if not first <= frame <= last:
            raise ClipError(
                f"The reference frame {frame} lies outside the action {action.name!r}: it goes from {first} to {last}",
                "Give a frame of the action that shows the pose",
            )
    with contextlib.nullcontext() if action is None else playing(ob, action):
        scene.frame_set(frame)
        keep_reference(ob)
    scene.frame_set(now)
    name = ob.name
    try:
        yield
    finally:
        kept = bpy.data.objects.get(name)
        if kept is not None and before is not None:
            kept[REFERENCE_PROPERTY] = before
        elif kept is not None and REFERENCE_PROPERTY in kept:
            del kept[REFERENCE_PROPERTY]


def read_in_pieces(
    source: str, name: str, skeleton: Skeleton, fps: float | None = None
) -> Generator[float, None, Clip]:
    """Read an action a few frames at a time, both looked up by name each time; yields the share done, returns the clip.

    Raises:
        ClipError: it is empty, holds a single frame or values that are no numbers.
        RigError: armature or action are gone.
    """
    action = action_named(name)
    first, last = (int(round(value)) for value in action.frame_range)
    pieces: list[Clip] = []
    begin = first
    while not pieces or begin <= last:
        # A single frame is never left over.
        end = last if last - begin < PIECE + 2 else begin + PIECE - 1
        pieces.append(read_action(
            object_named(source), action_named(name), skeleton=skeleton, frames=(begin, end), fps=fps
        ))  # fmt: skip
        begin = end + 1
        yield (begin - first) / max(last - first + 1, 1)
    hips, rotations, root, contacts = (
        np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ("hips", "rotations", "root", "contacts")
    )  # fmt: skip
    return replace(pieces[0], hips=hips, rotations=rot.unroll(rotations), root=root, contacts=contacts)


@contextlib.contextmanager
def visiting(path: Path, name: str = "", fps: float | None = None) -> Iterator[tuple[bpy.types.Object, float]]:
    """The source armature of a file and its frames a second, in the scene for as long as the context lasts.

    Args:
        path: .blend, .fbx, .glb, .gltf or .bvh.
        name: of the armature; the only one that walks when empty.
        fps: frames a second, overruling the file's.

    Raises:
        ClipError, RigError: it cannot be read, or holds no such armature.
    """
    if path.suffix.lower() not in importers.SUFFIXES:
        kinds = ", ".join(importers.SUFFIXES)
        raise ClipError(f"{path.name} is none of {kinds}", "Choose a file of one of these kinds")
    if not path.is_file():
        raise ClipError(f"{path} does not exist", "Check the path")
    rate = check_bvh(path).fps if path.suffix.lower() == ".bvh" else None
    scene = bpy.context.scene
    kept = [ob for ob in bpy.context.view_layer.objects if ob.select_get()]
    with importers.visit(path) as fresh:
        found = _walker([ob for ob in fresh("objects") if ob.type == "ARMATURE"], name, path)
        yield found, fps or rate or scene.render.fps / scene.render.fps_base
    for ob in kept:
        with contextlib.suppress(ReferenceError, RuntimeError):
            ob.select_set(True)


def _walker(armatures: Sequence[bpy.types.Object], name: str, path: Path) -> bpy.types.Object:
    names = ", ".join(sorted(ob.name for ob in armatures)) or "none"
    if name:
        for ob in armatures:
            # A name that the scene has already got a number when it came in.
            if ob.name == name or ob.name.rpartition(".")[0] == name:
                return ob
        raise RigError(f"{path.name} has no armature {name!r}; it has: {names}", "Name one of them")
    walking = [ob for ob in armatures if not rigs.map_of(ob).lacking]
    moving = [ob for ob in walking if fitting_actions(ob)]
    best = moving or walking or list(armatures)
    if not best:
        raise RigError(f"{path.name} holds no armature", "Choose a file with an animated character")
    if len(best) > 1:
        raise RigError(f"{path.name} holds several armatures: {names}", "Name the source with --source-armature")
    return best[0]
