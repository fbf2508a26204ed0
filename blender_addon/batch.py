"""``python -m blender_addon bake SHOT.toml``: a bake without a window, for pipelines and farms."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from . import library
from .bake_settings import BakeSettings
from .baking import Baked, solve, stands, write
from .motion.errors import GaitsmithError, PackError
from .motion.facing import Facing
from .motion.gait_names import STAND_INS
from .motion.key_reduction import Tolerance
from .motion.limits import Limits
from .scene import setup
from .scene.bone_map import BoneMap
from .scene.character import create_character
from .scene.layering import Layer
from .scene.shot import check_facing_target, read_shot
from .shot_file import DEFAULT_FPS, FacingAsked, ShotError, ShotFile, TerrainAsked, read_shot_file
from .systems import packs
from .systems.synthesis import SynthesisSettings

#: What a report calls the bones it names, by role.
BONE_KEYS: dict[str, str] = {
    "root": "root", "hips": "hips", "spine_1": "spine_1", "spine_2": "spine_2", "spine_3": "spine_3",
    "spine_4": "spine_4", "neck": "neck", "head": "head",
    **{f"{side}_{role}": f"{side}_{key}" for side in ("left", "right") for role, key in (
        ("clavicle", "shoulder"), ("shoulder", "upper_arm"), ("elbow", "forearm"), ("wrist", "hand"),
        ("hip", "thigh"), ("knee", "shin"), ("ankle", "foot"), ("toe", "toe"),
    )},
}  # fmt: skip


def run(shot: Path, out: Path, report: Path | None = None) -> dict[str, Any]:
    """Bake a shot file; writes the .blend and the report, or neither.

    Args:
        shot: the shot file (TOML).
        out: the .blend to write.
        report: the report (JSON) to write.

    Returns:
        The report.

    Raises:
        GaitsmithError: anything the user can mend.
    """
    begin = time.perf_counter()
    asked = read_shot_file(Path(shot))
    out, report = Path(out), Path(report) if report is not None else None
    if out.suffix.lower() != ".blend":
        raise ShotError(f"{out.name} is no .blend", "Give --out a name that ends with .blend")
    if report is not None and report.resolve() in (out.resolve(), Path(shot).resolve()):
        raise ShotError(f"The report would overwrite {report}", "Give --report a name of its own")
    for path in filter(None, (out, report)):
        if path.is_dir():
            raise ShotError(f"{path} is a folder", "Give the name of a file")
    info, system = _system(asked)
    seconds = {"pack": time.perf_counter() - begin}
    baked, armature = _bake(asked, info, system, seconds)
    found = report_of(baked, armature, info)
    found["seconds"] = {name: round(value, 4) for name, value in {**seconds, **baked.seconds}.items()}
    save(out, report, found, begin)
    return found


def _system(asked: ShotFile) -> tuple[packs.PackInfo, Any]:
    system, info = library.load_named(asked.pack, asked.folder)
    if asked.system and asked.system != info.system:
        raise PackError(
            f"The pack {asked.pack} is made for {info.system}, not {asked.system}",
            "Leave system out, or choose another pack",
        )
    return info, system


def _bake(asked: ShotFile, info: packs.PackInfo, system: Any, seconds: dict[str, float]) -> tuple[Baked, Any]:
    begin = time.perf_counter()
    notes: list[str] = []
    bones = BoneMap.load(asked.bones) if asked.bones else None
    if asked.rig is None:
        setup.empty_scene()
        armature = create_character(info.skeleton)
    else:
        setup.open_rig(asked.rig)
        armature = setup.find_armature(asked.armature)
        if asked.rig.suffix.lower() != ".blend":
            notes += filter(None, [setup.plausible_size(armature, bones)])
    if asked.fps is not None or asked.rig is None or asked.rig.suffix.lower() != ".blend":
        setup.set_fps(bpy.context.scene, asked.fps or DEFAULT_FPS)
    curve = setup.find_object(asked.curve.object) if asked.curve.object else setup.curve_from_points(
        asked.curve.points, asked.curve.cyclic
    )  # fmt: skip
    ground = _ground(asked.terrain)
    seconds["open"] = time.perf_counter() - begin
    begin = time.perf_counter()
    root_motion: Any = asked.root_motion
    controls: Any = asked.output.controls
    shot = read_shot(
        armature, curve, ground, reverse=asked.curve.reverse, root_motion=root_motion, bones=bones, deform=asked.deform,
        controls=controls,
    )  # fmt: skip
    output = asked.output
    settings = BakeSettings(
        schedule=asked.schedule, limits=Limits.responsive(0.5, shot.rig.skeleton.four_legged),
        facing=_facing(asked.facing), start=asked.curve.start, laps=asked.curve.laps,
        synthesis=SynthesisSettings(follow=asked.strength, exact=asked.exact, plant=asked.plant),
        frame_start=asked.frame_start, name=asked.name, fit_scene=output.mode != "layer", output=output.mode,
        markers=output.markers, lifts=output.markers,
        tolerance=Tolerance(output.degrees, output.millimetres / 1e3, output.planted / 1e3) if output.reduced else None,
        layer=Layer(output.first, output.last, output.blend_in, output.blend_out),
    )  # fmt: skip
    asked.schedule.check_actions(info.actions, STAND_INS)
    seconds["read"] = time.perf_counter() - begin
    solved = solve(shot, system, settings, speeds=info.speeds, reference=info.reference)
    baked = write(solved, armature)
    return baked, armature


def _ground(asked: TerrainAsked) -> Any:
    if asked.object:
        return setup.find_object(asked.object)
    if asked.collection:
        return setup.find_collection(asked.collection)
    if asked.heightfield is None:
        return None
    field = setup.field_of(
        setup.read_heights(asked.heightfield, asked.axes, asked.height), asked.size, asked.centre
    )
    setup.ground_mesh(field)
    return field


def _facing(asked: FacingAsked) -> Facing:
    if asked.kind == "object":
        target = asked.target or check_facing_target(setup.find_object(asked.object))
        return Facing("object", target=target)
    if asked.kind == "fixed":
        return Facing("fixed", yaw=float(np.radians(asked.yaw)))
    return Facing("path")


def report_of(baked: Baked, armature: Any, info: packs.PackInfo) -> dict[str, Any]:
    """Everything others need to measure the result for themselves, and the figures as measured here."""
    solved, rig = baked.solved, baked.solved.shot.rig
    fps = solved.shot.fps
    quality = baked.report.to_json() if baked.report is not None else {"figures": []}
    known = rig.bone_map.roles if rig.skeleton.four_legged else BONE_KEYS
    bones = {_key(rig, role): bone for role, bone in rig.bone_map.bones.items() if role in known}
    controls: dict[str, list[str]] = {}
    names = {len(rig.skeleton): "root"} | {
        rig.skeleton.names.index(bone): _key(rig, role) for role, bone in rig.skeleton.roles.items()
    }
    for control in rig.controls:
        controls.setdefault(names.get(control.joint, "other"), []).append(control.bone)
    contacts = stands(solved.keys, baked.written.frame_start)
    return {
        "armature": armature.name, "action": baked.written.action, "fps": fps,
        "frame_start": baked.written.frame_start, "frame_end": baked.written.frame_end, "keys": baked.written.keys,
        "bones": bones, "controls": controls,
        "contacts": {f"{side}_foot": runs for side, runs in contacts.items()},
        "pack": {"title": info.title, "system": info.system, "speeds": list(info.speeds)},
        "units": {"length": "m", "time": "s", "contacts": "frames of the scene, both ends included"},
        "figures_fps": quality.get("fps"), "figures": [_on_scene(row, quality, baked) for row in quality["figures"]],
        "notes": [*baked.notes, *quality.get("notes", [])],
    }  # fmt: skip


def _key(rig: Any, role: str) -> str:
    """What a report calls a bone: people's by the usual names, animals' by their parts."""
    return role if rig.skeleton.four_legged else BONE_KEYS[role]


def _on_scene(row: Mapping[str, Any], quality: Mapping[str, Any], baked: Baked) -> dict[str, Any]:
    """A figure with the frame of the scene where it is worst."""
    worst = row["worst_frame"]
    if worst is None:
        return {**row, "scene_frame": None}
    return {**row, "scene_frame": baked.written.frame_start + round(worst * baked.solved.shot.fps / quality["fps"])}


def save(out: Path, report: Path | None, found: Mapping[str, Any], begin: float) -> None:
    """Save the open file and the report about it, both or neither; ``begin`` is when the work began."""
    part = report.with_name(f".{report.name}.{os.getpid()}.part") if report is not None else None

    def write_report() -> None:
        """Before the .blend takes its place: a report that cannot be written leaves the old .blend."""
        if report is None or part is None:
            return
        now = time.perf_counter()
        seconds = {**found["seconds"], "save": round(now - saving, 4), "total": round(now - begin, 4)}
        text = json.dumps({**found, "seconds": seconds}, indent=1, ensure_ascii=False, allow_nan=False)
        try:
            report.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise GaitsmithError(
                f"The report {report} cannot be written ({error.strerror})", "Check the folder and the space left"
            ) from error

    try:
        saving = time.perf_counter()
        setup.save_blend(out, write_report)
        if report is not None and part is not None:
            part.replace(report)
    except OSError as error:
        raise GaitsmithError(f"The report {report} cannot be written ({error.strerror})", "Check the folder") from error
    finally:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()
