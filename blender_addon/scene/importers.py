"""Files of motion (BVH, FBX, glTF, .blend) read through Blender's own importers, leaving the session as it was."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..motion import animal
from ..motion.bvh_check import check_bvh
from ..motion.clip import Clip
from ..motion.errors import ClipError
from ..motion.proportions import sized_skeleton
from . import rigs
from .read_actions import actions_for, read_action, skeleton_of

SUFFIXES: tuple[str, ...] = (".bvh", ".fbx", ".glb", ".gltf", ".blend")
AXES: tuple[str, ...] = ("X", "Y", "Z", "-X", "-Y", "-Z")
#: Leg lengths in metres that a figure may have before its unit is doubted.
_PLAUSIBLE_LEG = (0.25, 2.5)
_KEPT = ("objects", "armatures", "actions", "meshes", "materials", "images", "collections", "cameras", "lights",
         "textures", "node_groups", "curves", "worlds", "texts")  # fmt: skip


@dataclass(frozen=True)
class ImportOptions:
    """How files are read.

    Attributes:
        scale: metres per unit of the file; None: 1, or 0.01 where the figure would be a giant.
        forward, up: the file's axes (BVH and FBX).
        fps: frames per second, overruling the file's.
        ball_height: height of the toe joints over the ground in a flat stance, metres; None: from the legs.
    """

    scale: float | None = None
    forward: str = "-Z"
    up: str = "Y"
    fps: float | None = None
    ball_height: float | None = None

    def __post_init__(self) -> None:
        if self.forward not in AXES or self.up not in AXES or self.forward[-1] == self.up[-1]:
            raise ClipError(f"The axes {self.forward!r} forward and {self.up!r} up do not go together",
                            "Give two different ones of X, Y, Z, -X, -Y, -Z, such as -Z,Y")  # fmt: skip
        for name in ("scale", "fps"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise ClipError(f"A {name} of {value} makes no sense", "Give a number over 0")


def import_clips(path: str | Path, options: ImportOptions | None = None) -> list[Clip]:
    """Every action of every figure in a file as a clip, in metres, Z up; root and contacts still to be found.

    Raises:
        ClipError: the file is missing, of an unknown kind, damaged, or holds no motion of a figure with legs.
    """
    path, options = Path(path), options or ImportOptions()
    if path.suffix.lower() not in SUFFIXES:
        raise ClipError(f"{path.name} is none of {', '.join(SUFFIXES)}", "Choose a file of one of these kinds")
    if not path.is_file():
        raise ClipError(f"{path} does not exist", "Check the path")
    fps = options.fps
    if path.suffix.lower() == ".bvh":
        fps = fps or check_bvh(path).fps
    with _visiting() as fresh:
        _import(path, options)
        armatures = [thing for thing in fresh("objects") if thing.type == "ARMATURE"]
        clips = [clip for armature in armatures for clip in _clips_of(armature, fresh("actions"), options, fps)]
    if not clips:
        raise ClipError(f"{path.name} holds no motion of an armature", "Choose a file with an animated armature")
    return [_named(clip, path, len(clips)) for clip in clips]


def import_file(path: Path, options: ImportOptions | None = None) -> None:
    """Bring a file's contents into the scene, to stay; raises `ClipError` when Blender cannot read it."""
    if path.suffix.lower() == ".bvh":
        check_bvh(path)
    _import(path, options or ImportOptions())


@contextlib.contextmanager
def visit(path: Path, options: ImportOptions | None = None) -> Iterator[Any]:
    """A file's contents in the scene for as long as the context lasts; yields a function that lists them by kind.

    A .bvh whose figures lie on their backs has Z up, as Blender's own exporter writes it: it is read so.
    """
    upright = options or ImportOptions()
    if path.suffix.lower() == ".bvh" and options is None:
        with _visiting() as fresh:
            _import(path, upright)
            bpy.context.view_layer.update()
            if any(lies_down(ob) for ob in fresh("objects")):
                upright = ImportOptions(forward="-Y", up="Z")
    with _visiting() as fresh:
        _import(path, upright)
        bpy.context.view_layer.update()
        yield fresh


def lies_down(ob: bpy.types.Object) -> bool:
    """Whether an armature's rest pose has its feet beside its hips or over them."""
    if ob.type != "ARMATURE" or (guessed := rigs.guess_map(ob)).lacking:
        return False
    found = guessed.bones
    low = ("left_hock", "right_hock") if guessed.kind == "quadruped" else ("left_ankle", "right_ankle")
    hips, *feet = (
        np.array(ob.matrix_world @ ob.data.bones[found[role]].head_local)
        for role in (*(("left_hip",) if guessed.kind == "quadruped" else ("hips",)), *low)
    )
    down = hips - np.mean(feet, axis=0)
    return bool(down[2] < 0.5 * np.linalg.norm(down))


def scaled(clip: Clip, factor: float) -> Clip:
    """The clip and its skeleton in another unit: every length but the ball's height times ``factor``."""
    bigger = replace(sized_skeleton(clip.skeleton, factor), ball_height=clip.skeleton.ball_height)
    return replace(clip, skeleton=bigger, hips=clip.hips * factor)


def _clips_of(armature: Any, actions: list[Any], options: ImportOptions, fps: float | None) -> list[Clip]:
    skeleton = skeleton_of(armature, ball_height=options.ball_height)
    factor = options.scale or 1.0
    low, high = animal.PLAUSIBLE_LEG if skeleton.four_legged else _PLAUSIBLE_LEG
    if options.scale is None:
        leg = skeleton.leg_length
        factor = 0.01 if not low <= leg <= high else 1.0
    leg = skeleton.leg_length * factor
    if not low <= leg <= high:
        raise ClipError(f"The figure's legs would be {leg:.3g} m long", "Give --scale, in metres per unit of the file")
    height = options.ball_height
    clips = []
    for action in actions_for(armature):
        if action in actions:
            clip = scaled(read_action(armature, action, skeleton=skeleton, fps=fps), factor)
            ball = height if height is not None else skeleton.ball_height * factor
            clips.append(replace(clip, skeleton=replace(clip.skeleton, ball_height=ball)))
    _check_upright(clips)
    return clips


def _check_upright(clips: Sequence[Clip]) -> None:
    """Refuse a figure that lies or hangs upside down through most of all its motions: its axes are wrong."""
    for clip in clips:
        places = clip.world[0]
        feet = [foot.ankle for foot in clip.skeleton.feet]
        middle = places[:, [foot.hip for foot in clip.skeleton.feet]].mean(axis=1)
        up = (middle if clip.skeleton.four_legged else places[:, 0]) - places[:, feet].mean(axis=1)
        if np.median(up[:, 2] / np.linalg.norm(up, axis=-1)) >= 0.5:
            return
    if clips:
        raise ClipError(f"The figure in {clips[0].name!r} does not stand upright", "Give --axis, such as -Y,Z for Z up")


def _named(clip: Clip, path: Path, count: int) -> Clip:
    return replace(clip, name=path.stem if count == 1 else f"{path.stem} {clip.name}")


def _import(path: Path, options: ImportOptions) -> None:
    suffix, name = path.suffix.lower(), str(path)
    try:
        # The importers report their progress on the standard output.
        with contextlib.redirect_stdout(io.StringIO()):
            if suffix == ".bvh":
                bpy.ops.import_anim.bvh(
                    filepath=name, axis_forward=options.forward, axis_up=options.up, rotate_mode="QUATERNION",
                    frame_start=0, use_fps_scale=False, update_scene_fps=False, update_scene_duration=False,
                )  # fmt: skip
            elif suffix == ".fbx":
                bpy.ops.import_scene.fbx(
                    filepath=name, use_manual_orientation=(options.forward, options.up) != ("-Z", "Y"),
                    axis_forward=options.forward, axis_up=options.up,
                )  # fmt: skip
            elif suffix in (".glb", ".gltf"):
                # Its keys are in seconds: a fine scene rate keeps them.
                bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = round(options.fps or 60), 1.0
                bpy.ops.import_scene.gltf(filepath=name)
            else:
                _append(name)
    except (RuntimeError, OSError, ValueError, AttributeError, KeyError, IndexError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise ClipError(f"Blender cannot read {path.name} ({reason})", "Export the file again") from error


def _append(name: str) -> None:
    with bpy.data.libraries.load(name, link=False) as (source, target):
        target.objects = list(source.objects)
        target.actions = list(source.actions)
    for thing in target.objects:
        if thing is not None:
            bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.update()


@contextlib.contextmanager
def _visiting() -> Iterator[Any]:
    """Yields a function that lists what came into ``bpy.data`` since; removes it all in the end."""
    before = {kind: {thing.as_pointer() for thing in getattr(bpy.data, kind)} for kind in _KEPT}
    scene = bpy.context.scene
    settings = (scene.render.fps, scene.render.fps_base, scene.frame_start, scene.frame_end, scene.frame_current)

    def fresh(kind: str) -> list[Any]:
        return [thing for thing in getattr(bpy.data, kind) if thing.as_pointer() not in before[kind]]

    try:
        yield fresh
    finally:
        bpy.data.batch_remove([thing for kind in _KEPT for thing in fresh(kind)])
        scene.render.fps, scene.render.fps_base, scene.frame_start, scene.frame_end = settings[:4]
        scene.frame_set(settings[4])
