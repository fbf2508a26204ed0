"""``python -m blender_addon retarget SOURCE TARGET``: actions from one file onto the character of another."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy

from . import retargeting
from .baking import stands
from .batch import save
from .motion.errors import GaitsmithError
from .retargeting import RetargetSettings
from .scene import setup, sources
from .scene.shot import scene_fps


@dataclass(frozen=True)
class Files:
    """What the command line asks for.

    Attributes:
        source, target: .blend, .fbx, .glb, .gltf or .bvh.
        out: the .blend to write.
        report: the report (JSON) to write.
        actions: names of the source's actions; all when empty.
        fps: frames a second of the result; the target's own, or the source's for other files than .blend.
        source_armature, armature: names, where a file holds several.
        ground: object or collection of the target to stand on; level ground when empty.
        settings: how it is done.
        reference_frame: frame of the source's first action whose pose stands for its rest pose; None for the rest pose.
        target_reference: the same of the character, as its file shows it on that frame.
    """

    source: Path
    target: Path
    out: Path
    report: Path | None = None
    actions: tuple[str, ...] = ()
    fps: float | None = None
    source_armature: str = ""
    armature: str = ""
    ground: str = ""
    settings: RetargetSettings = field(default_factory=RetargetSettings)
    reference_frame: int | None = None
    target_reference: int | None = None


def run(asked: Files) -> dict[str, Any]:
    """Retarget; writes the .blend and the report, or neither; returns the report.

    Raises:
        GaitsmithError: anything the user can mend.
    """
    begin = time.perf_counter()
    _check(asked)
    source_fps = asked.settings.source_fps
    if asked.source.suffix.lower() == ".blend" and source_fps is None:
        setup.open_rig(asked.source)
        source_fps = scene_fps(bpy.context.scene)
    setup.open_rig(asked.target)
    target = setup.find_armature(asked.armature)
    notes = []
    if asked.target.suffix.lower() != ".blend":
        notes += filter(None, [setup.plausible_size(target)])
    name = target.name
    own_fps = scene_fps(bpy.context.scene) if asked.target.suffix.lower() == ".blend" else None
    seconds = {"open": time.perf_counter() - begin}
    begin_read = time.perf_counter()
    visit = _resident(asked) if _same(asked) else sources.visiting(asked.source, asked.source_armature, source_fps)
    with visit as (source, rate):
        fps = asked.fps or own_fps or rate
        character, chosen = sources.object_named(name), sources.chosen_actions(source, asked.actions)
        with (
            sources.aligned_by(source, chosen[0], asked.reference_frame),
            sources.aligned_by(character, None, asked.target_reference),
        ):
            ground = setup.find_ground(asked.ground) if asked.ground else None
            settings = replace(asked.settings, source_fps=rate)
            found = retargeting.read(source, character, chosen, ground, settings, fps=fps)
    if asked.fps or own_fps is None:
        setup.set_fps(bpy.context.scene, fps)
    target = sources.object_named(name)
    seconds["read"] = time.perf_counter() - begin_read
    begin_solve = time.perf_counter()
    done = retargeting.write(found, retargeting.solve(found), target)
    seconds["retarget"] = time.perf_counter() - begin_solve
    report = report_of(found, done, target, [*notes, *found.rig.notes])
    report["seconds"] = {key: round(value, 4) for key, value in seconds.items()}
    save(asked.out, asked.report, report, begin)
    return report


def report_of(
    found: retargeting.Reading, done: Sequence[retargeting.Done], target: Any, notes: Sequence[str]
) -> dict[str, Any]:
    """What was done, as plain data."""
    return {
        "source": found.source, "armature": target.name, "fps": found.fps,
        "bones": dict(found.rig.bone_map.bones),
        "units": {"length": "m", "time": "s", "contacts": "frames of the scene, both ends included"},
        "actions": [_row(one, found.fps) for one in done],
        "notes": list(dict.fromkeys(notes)),
    }  # fmt: skip


def _row(one: retargeting.Done, fps: float) -> Mapping[str, Any]:
    quality, first = one.report.to_json(), one.written.frame_start
    figures = []
    for row in quality["figures"]:
        worst = row["worst_frame"]
        frame = None if worst is None else first + round(worst * fps / quality["fps"])
        figures.append({**row, "scene_frame": frame})
    return {
        "source_action": one.solved.source.action, "action": one.written.action,
        "frame_start": first, "frame_end": one.written.frame_end,
        "contacts": {f"{side}_foot": spans for side, spans in stands(one.solved.keys, first).items()},
        "figures_fps": quality["fps"], "figures": figures, "notes": quality["notes"],
    }  # fmt: skip


def _check(asked: Files) -> None:
    if asked.out.suffix.lower() != ".blend":
        raise GaitsmithError(f"{asked.out.name} is no .blend", "Give --out a name that ends with .blend")
    if not asked.target.is_file():
        raise GaitsmithError(f"{asked.target} does not exist", "Check the path of the target")
    others = [path.resolve() for path in (asked.out, asked.source, asked.target)]
    if asked.report is not None and asked.report.resolve() in others:
        raise GaitsmithError(f"The report would overwrite {asked.report}", "Give --report a name of its own")
    if asked.out.resolve() == asked.source.resolve():
        raise GaitsmithError(f"The result would overwrite the source {asked.source}", "Give --out another name")
    for path in filter(None, (asked.out, asked.report)):
        if path.is_dir():
            raise GaitsmithError(f"{path} is a folder", "Give the name of a file")
    for fps in (asked.fps, asked.settings.source_fps):
        if fps is not None and not 1.0 <= fps <= 1000.0:
            raise GaitsmithError(f"{fps:g} frames a second make no sense", "Give 1 to 1000")


def _same(asked: Files) -> bool:
    return asked.source.resolve() == asked.target.resolve()


@contextlib.contextmanager
def _resident(asked: Files) -> Iterator[tuple[Any, float]]:
    """The source armature of a file that holds the character, too."""
    if not asked.source_armature or not asked.armature:
        raise GaitsmithError(
            f"Source and target are both {asked.source.name}", "Name both: --source-armature NAME --armature NAME"
        )
    if asked.source.suffix.lower() != ".blend":
        raise GaitsmithError(f"Source and target are both {asked.source.name}", "Give two files, or a .blend with both")
    source = setup.find_armature(asked.source_armature)
    bpy.context.view_layer.update()
    yield source, asked.settings.source_fps or scene_fps(bpy.context.scene)
