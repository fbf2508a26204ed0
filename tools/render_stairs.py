"""One picture of five rigs up and down stairs, a row each: docs/stairs.png.

``python -m tools.render_stairs [--out docs/stairs.png] [--data FOLDER]``

Speed, way and stairs are scaled with the legs. The stairs are drawn beyond the feet, so that these are seen whole.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from PIL import Image

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve, write
from blender_addon.motion.schedule import Schedule
from blender_addon.scene import setup
from blender_addon.scene.character import add_body
from blender_addon.scene.rigs import read_rig
from blender_addon.scene.shot import read_shot
from blender_addon.systems import packs
from tools import make_rigify, rig_truths
from tools import render_sheet as sheets
from tools.bench_rigs import LEG, at_rest
from tools.make_rigify import REPOSITORY

#: Steps up and down: count, rise and tread; where the first is, the landing's length, metres for legs of `LEG`.
STEPS, RISE, TREAD, FIRST, LANDING = 5, 0.17, 0.3, 1.2, 1.3
SPEED = 0.8
#: Pictures of each rig; pixels of each.
TILES, TILE = 11, (150, 190)
#: Rig -> (file or Rigify's kind, which controls are keyed).
RIGS: dict[str, tuple[str, str]] = {
    "Rigify human, IK controls": ("human", "ik"),
    "Mixamo names": ("rigs/human_kenney_mixamo_names.glb", "fk"),
    "KayKit knight": ("rigs/kaykit_knight.glb", "fk"),
    "Mesh2Motion human": ("rigs/human-male.glb", "fk"),
    "Rigify basic human": ("basic_human", "fk"),
}
#: Height of a person, metres.
_PERSON = 1.75
#: Parts of a file that hide the legs.
_HIDING = ("Sword", "Shield", "Cape", "Icosphere")


def main(arguments: list[str] | None = None) -> None:
    """Bake and render all rigs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "stairs.png")
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    options = parser.parse_args(arguments)
    path = REPOSITORY / "blender_addon" / "packs" / "biped-lmm"
    pack, system = packs.read_pack(path), packs.load_system(path)
    rows = []
    for name, (file, controls) in RIGS.items():
        sys.stderr.write(f"{name} ...\n")
        with sheets.quiet():
            ob = _opened(file, options.data)
            size = read_rig(ob).skeleton.leg_length / LEG
            bake(ob, size, pack, system, controls)
            rows.append(pictures(ob, size))
    shades = (255.0 * np.clip(np.concatenate(rows)[..., :3], 0.0, 1.0)).round().astype(np.uint8)
    Image.fromarray(shades).quantize(256).save(options.out, optimize=True)
    sys.stdout.write(f"written to {options.out}\n")


def _opened(file: str, data: Path) -> Any:
    if file in make_rigify.KINDS:
        setup.open_rig(make_rigify.cached(kind=file))
        ob = bpy.data.objects[make_rigify.RIG]
        bpy.data.objects.remove(bpy.data.objects[make_rigify.METARIG])
        add_body(ob, read_rig(ob))
    else:
        ob = rig_truths.open_file(data / file)
        at_rest(ob)
    setup.set_fps(bpy.context.scene, 60.0)
    return ob


def bake(ob: Any, size: float, pack: Any, system: Any, controls: Any) -> None:
    """Walk a rig whose legs are ``size`` times as long as usual over the stairs."""
    ground = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(ground)
    for name, function in (("Ground", lambda x: x), ("Shown", lambda x: 0.6 * x - 0.9 * size)):
        for part in _stairs(name, size, function):
            (ground if name == "Ground" else bpy.context.scene.collection).objects.link(part)
            part.hide_render = name == "Ground"
    curve = setup.curve_from_points([(0.0, 0.0, 0.0), (0.0, -size * (_end() + 1.0), 0.0)])
    shot = read_shot(ob, curve, ground, controls=controls)
    settings = BakeSettings(schedule=Schedule.constant(SPEED * size), fit_scene=True)
    write(solve(shot, system, settings, speeds=pack.speeds, judged=False), ob, check=0)


def _end() -> float:
    return FIRST + (2 * STEPS - 1) * TREAD + LANDING


def _stairs(name: str, size: float, across: Callable[[float], float]) -> list[Any]:
    """Floor and steps as boxes, each from where it rises to where it falls; ``across`` places their sides."""
    colours = ((0.42, 0.50, 0.36), (0.62, 0.58, 0.52), (0.55, 0.51, 0.46))
    found = []
    for step in range(STEPS + 1):
        front, back = FIRST + (step - 1) * TREAD, _end() - step * TREAD
        if step == 0:
            front, back = -3.0, _end() + 3.0
        x, y, z = (across(-0.7 * size), across(0.7 * size)), (-size * back, -size * front), (-size, size * RISE * step)
        corners = [(i, j, k) for k in z for j in y for i in x]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(corners, [], [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2),
                                       (1, 3, 7, 5)])  # fmt: skip
        material = bpy.data.materials.new(name)
        material.diffuse_color = (*colours[0 if step == 0 else 1 + step % 2], 1.0)
        mesh.materials.append(material)
        found.append(bpy.data.objects.new(f"{name} {step}", mesh))
    return found


def pictures(ob: Any, size: float) -> np.ndarray:
    """A row of pictures from the left side, evenly spread over the stairs."""
    scene = bpy.context.scene
    for part in bpy.data.objects:
        part.hide_render |= part.type != "MESH" or any(word in part.name for word in _HIDING)
    ob.hide_render = False
    height = _PERSON * sheets.size_of(ob)
    ways = {}
    for frame in range(scene.frame_start, scene.frame_end + 1, 4):
        scene.frame_set(frame)
        ways[frame] = -sheets.place_of(ob)[0][1] / size
    on_stairs = [frame for frame, way in ways.items() if FIRST - 0.5 < way < _end() + 0.3]
    frames = np.linspace(on_stairs[0], on_stairs[-1], TILES).round().astype(int).tolist()
    return sheets.row_from_the_left(ob, frames, TILE, 1.3 * height, 0.47 * height)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Blender 4.5 may hang at exit where Rigify was at work.
    os._exit(0)
