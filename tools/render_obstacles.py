"""One picture of a Rigify human over a gap, under a beam, and up and down a slope, a row each: docs/obstacles.png.

``python -m tools.render_obstacles [--pack PACK] [--out docs/obstacles.png] [--blend COURSE.blend]``

Only a gap needs a mark in the schedule. Crouching and slopes are the model's own answer to the ground.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from PIL import Image

from blender_addon import library
from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import Baked, solve, write
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.scene import setup
from blender_addon.scene.character import add_body
from blender_addon.scene.rigs import read_rig
from blender_addon.scene.shot import read_shot
from tools import make_rigify
from tools import render_sheet as sheets
from tools.make_rigify import REPOSITORY

#: Rims of the gap, ends of the beam, foot, top, edge and end of the slope: metres along the path.
GAP, BEAM, SLOPE = (4.0, 5.0), (8.2, 9.4), (11.5, 14.5, 16.0, 19.0)
#: Height of the beam's underside over the floor, metres; the slope's rise, metres a metre (15 degrees).
UNDERSIDE, RISE = 1.65, 0.268
SPEED, END = 1.1, 21.0
#: Stretches of the path shown, metres, a row each.
ROWS = ((3.0, 6.2), (7.2, 10.2), (11.6, 14.4), (16.1, 18.9))
#: Pictures in a row, and the size of each, pixels.
TILES, TILE = 11, (150, 190)
#: Half of the course's width, metres.
_HALF = 0.8
#: Of a block, by its corners as `_block` numbers them.
_FACES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def main(arguments: list[str] | None = None) -> None:
    """Bake and render."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", default=str(REPOSITORY / "blender_addon" / "packs" / "biped-pfnn"))
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "obstacles.png")
    parser.add_argument("--blend", type=Path, help="write the course as well")
    options = parser.parse_args(arguments)
    system, pack = library.load_named(options.pack, Path.cwd())
    with sheets.quiet():
        setup.open_rig(make_rigify.cached(kind="human"))
        ob = bpy.data.objects[make_rigify.RIG]
        bpy.data.objects.remove(bpy.data.objects[make_rigify.METARIG])
        add_body(ob, read_rig(ob))
        setup.set_fps(bpy.context.scene, 60.0)
        baked = bake(ob, system, pack)
        if options.blend is not None:
            setup.save_blend(options.blend.resolve())
        rows = np.concatenate([pictures(ob, first, last) for first, last in ROWS])
    shades = (255.0 * np.clip(rows[..., :3], 0.0, 1.0)).round().astype(np.uint8)
    Image.fromarray(shades).quantize(256).save(options.out, optimize=True)
    if baked.report is not None:
        sys.stdout.write(baked.report.table() + "\n")
    sys.stdout.write("".join(f"{note}\n" for note in baked.notes))
    sys.stdout.write(f"written to {options.out}\n")


def bake(ob: Any, system: Any, pack: Any) -> Baked:
    """Send a character over the course."""
    ground = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(ground)
    for part in course():
        ground.objects.link(part)
    curve = setup.curve_from_points([(0.0, 0.0, 0.0), (0.0, -END, 0.0)])
    schedule = Schedule([Mark(0.0, SPEED), Mark(0.5 * sum(GAP), action="jump")])
    settings = BakeSettings(schedule=schedule, fit_scene=True)
    solved = solve(read_shot(ob, curve, ground), system, settings, speeds=pack.speeds, reference=pack.reference)
    return write(solved, ob, check=0)


def course() -> list[Any]:
    """The parts of the course."""
    foot, top, edge, end = SLOPE
    high = RISE * (top - foot)
    level, stone, wood = (0.42, 0.50, 0.36), (0.62, 0.58, 0.52), (0.55, 0.42, 0.30)
    return [
        _block("Floor", -2.0, GAP[0], (0.0, 0.0), -1.5, level),
        _block("Ditch", GAP[0], GAP[1], (-1.2, -1.2), -1.5, stone),
        _block("Floor beyond", GAP[1], foot, (0.0, 0.0), -1.5, level),
        _block("Way up", foot, top, (0.0, high), -1.5, stone),
        _block("Height", top, edge, (high, high), -1.5, level),
        _block("Way down", edge, end, (high, high - RISE * (end - edge)), -1.5, stone),
        _block("Floor at the end", end, END + 2.0, (0.0, 0.0), -1.5, level),
        _block("Beam", *BEAM, (UNDERSIDE + 0.25, UNDERSIDE + 0.25), UNDERSIDE, wood),
    ]  # fmt: skip


def _block(name: str, first: float, last: float, tops: tuple[float, float], bottom: float, colour: Any) -> Any:
    """A block across the path from ``first`` to ``last`` metres along it; its top may be inclined."""
    corners = [
        (x, y, z) for which in range(2) for y, z in zip((-last, -first), _ends(tops, bottom)[which], strict=True)
        for x in (-_HALF, _HALF)
    ]  # fmt: skip
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], _FACES)
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    mesh.materials.append(material)
    return bpy.data.objects.new(name, mesh)


def _ends(tops: tuple[float, float], bottom: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Heights below and above, each at the far end and at the near one."""
    return (bottom, bottom), (tops[1], tops[0])


def pictures(ob: Any, first: float, last: float) -> np.ndarray:
    """A row of pictures (height, width, 4), 0 to 1, from the left side, evenly spread over a stretch of the path."""
    scene = bpy.context.scene
    there = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        if first <= -sheets.place_of(ob)[0][1] <= last:
            there.append(frame)
    frames = np.linspace(there[0], there[-1], TILES).round().astype(int).tolist()
    return sheets.row_from_the_left(ob, frames, TILE, 2.6, 0.85)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Blender 4.5 may hang at exit where Rigify was at work.
    os._exit(0)
