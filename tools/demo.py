"""The demo: a Rigify human walks and runs an S curve over hills with stairs, as files to look at.

``python tools/demo.py [--pack PACK] [--out demo]`` writes walk.blend, walk.png (contact sheet, side and front),
walk.mp4 and report.json. ``--rig wolf --pack gait-model`` sends a wolf.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import bpy
import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))

from blender_addon import library
from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve, write
from blender_addon.batch import report_of
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.key_reduction import Tolerance
from blender_addon.motion.limits import Limits
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.scene import setup
from blender_addon.scene.character import add_body
from blender_addon.scene.rigs import read_rig
from blender_addon.scene.shot import read_shot
from tools import make_rigify
from tools.render_sheet import render_film, render_sheet

#: Steps of the stairs: count, rise and tread in metres, and where they begin along y.
STEPS, RISE, TREAD, FOOT = 6, 0.16, 0.32, -7.0
_WIDTH = 2.4


def main(arguments: list[str] | None = None) -> None:
    """Build, bake, render."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", default="biped-pfnn", help="path or name of the pack")
    parser.add_argument("--rig", default="human", choices=make_rigify.KINDS, help="of Rigify's; animals need a pack")
    parser.add_argument("--gait", default="walk", help="the action asked for, at the speed that suits it")
    parser.add_argument("--speed", type=float, default=1.1, help="m/s on even ground")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "demo")
    parser.add_argument("--no-film", action="store_true", help="leave the film out")
    parser.add_argument("--controls", default="fk", choices=("fk", "ik", "both"), help="what of the limbs gets keys")
    parser.add_argument("--reduced", action="store_true", help="only the keys that are needed")
    options = parser.parse_args(arguments)
    begin = time.perf_counter()
    system, pack = library.load_named(options.pack, Path.cwd())
    setup.open_rig(make_rigify.cached(kind=options.rig))
    setup.set_fps(bpy.context.scene, 60.0)
    ob = bpy.data.objects[make_rigify.RIG]
    bpy.data.objects.remove(bpy.data.objects[make_rigify.METARIG])
    add_body(ob, read_rig(ob))
    ground, curve = build_ground(), build_curve()
    reading = time.perf_counter()
    shot = read_shot(ob, curve, ground, controls=options.controls)
    read_seconds = time.perf_counter() - reading
    slow, quick = 0.64 * options.speed, 1.09 * options.speed
    marks = [Mark(0.0, options.speed, options.gait), Mark(6.3, slow, "walk"), Mark(10.2, quick, "walk")]
    tolerance = Tolerance() if options.reduced else None
    settings = BakeSettings(
        schedule=Schedule(marks), limits=Limits.responsive(0.5, shot.rig.skeleton.four_legged), name="Demo walk",
        fit_scene=True, tolerance=tolerance,
    )  # fmt: skip
    solved = solve(shot, system, settings, speeds=pack.speeds, reference=pack.reference)
    baked = write(solved, ob)
    report = report_of(baked, ob, pack)
    report["seconds"] = {"read": round(read_seconds, 4), **{k: round(v, 4) for k, v in baked.seconds.items()}}
    options.out.mkdir(parents=True, exist_ok=True)
    setup.save_blend((options.out / "walk.blend").resolve())
    (options.out / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if baked.report is not None:
        sys.stdout.write(baked.report.table() + "\n")
    stages = ", ".join(f"{name} {value:.3f}" for name, value in report["seconds"].items())
    sys.stdout.write("".join(f"{note}\n" for note in baked.notes))
    sys.stdout.write(f"{len(solved.keys)} frames, {baked.written.keys} keys; seconds: {stages}\nrendering ...\n")
    sys.stdout.flush()
    render_sheet(ob, (options.out / "walk.png").resolve())
    if not options.no_film:
        render_film(ob, (options.out / "walk.mp4").resolve())
    sys.stdout.write(f"written to {options.out} in {time.perf_counter() - begin:.0f} s\n")


def build_curve() -> bpy.types.Object:
    """A smooth S that ends on top of the stairs."""
    places = [(0, 0, 0), (1.6, -2.0, 0), (-1.2, -4.4, 0), (0, -6.6, 0), (0, -10.8, 0)]
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(places) - 1)
    for point, place in zip(spline.bezier_points, places, strict=True):
        point.co = place
        point.handle_left_type = point.handle_right_type = "AUTO"
    last = spline.bezier_points[-2]
    last.handle_left_type = last.handle_right_type = "FREE"
    last.handle_left, last.handle_right = (0, -5.9, 0), (0, -8.0, 0)
    ob = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def hill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the hills in metres; level where the stairs stand."""
    fade = np.clip((y - (FOOT + 0.2)) / 1.0, 0.0, 1.0)
    fade = fade * fade * (3.0 - 2.0 * fade)
    return 0.16 * fade * (np.sin(1.3 * x + 0.4) * np.cos(1.1 * y) + 0.5 * np.sin(0.6 * y))


def build_ground() -> bpy.types.Collection:
    """Hills, and stairs with a landing, in a collection of their own."""
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    x, y = np.meshgrid(np.linspace(-5, 5, 126), np.linspace(-15, 4, 238), indexing="ij")
    vertices = np.stack([x, y, hill(x, y)], axis=-1).reshape(-1, 3)
    k = (np.arange(x.shape[0] - 1)[:, None] * x.shape[1] + np.arange(x.shape[1] - 1)).ravel()
    faces = np.stack([k, k + x.shape[1], k + x.shape[1] + 1, k + 1], axis=-1)
    _mesh("Hills", vertices.tolist(), faces.tolist(), (0.42, 0.50, 0.36), collection, smooth=True)
    for step in range(STEPS):
        front = FOOT - step * TREAD
        back = front - TREAD if step < STEPS - 1 else FOOT - STEPS * TREAD - 4.0
        _box(f"Step {step + 1}", front, back, RISE * (step + 1), collection)
    return collection


def _box(name: str, front: float, back: float, top: float, collection: bpy.types.Collection) -> None:
    half = 0.5 * _WIDTH
    vertices = [(x, y, z) for z in (-0.2, top) for y in (back, front) for x in (-half, half)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    _mesh(name, vertices, faces, (0.62, 0.58, 0.52), collection)


def _mesh(name, vertices, faces, colour, collection, smooth=False) -> None:  # type: ignore[no-untyped-def]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    material = bpy.data.materials.get(f"Demo {colour}") or bpy.data.materials.new(f"Demo {colour}")
    material.diffuse_color = (*colour, 1.0)
    mesh.materials.append(material)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(mesh.polygons))
    collection.objects.link(bpy.data.objects.new(name, mesh))


if __name__ == "__main__":
    code = 0
    try:
        main()
    except GaitsmithError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 2
    sys.stdout.flush()
    # Blender 4.5 may hang at exit where Rigify was at work.
    os._exit(code)
