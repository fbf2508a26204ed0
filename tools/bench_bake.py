"""Time a bake of 600 frames onto the generated Rigify human, the preview of the same, and the memory both take.

``python -m tools.bench_bake --pack PACK``; one thread. The check of the bake error is timed apart.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path

import bpy
import numpy as np

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import Solved, solve, write
from blender_addon.motion.schedule import Schedule
from blender_addon.scene import setup
from blender_addon.scene.shot import Shot, read_shot
from blender_addon.systems import packs
from tools import make_rigify

FRAMES, FPS, SPEED = 600, 60.0, 1.2
ROUNDS = 5
#: What is wanted, seconds, milliseconds a frame, gigabytes.
BAKE_S, MODEL_MS, PREVIEW_S, MEMORY_GB = 1.0, 0.15, 0.3, 1.0


def s_curve(length: float) -> bpy.types.Object:
    """A wavy poly curve of about so many metres."""
    along = np.linspace(0.0, length, 200)
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(along) - 1)
    flat = np.stack([0.8 * np.sin(0.6 * along), -along, 0.0 * along, 1.0 + 0.0 * along], axis=1)
    spline.points.foreach_set("co", flat.ravel())
    ob = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def peak_gigabytes() -> float:
    """The most memory this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def timed_bakes(shot_of: object, pack: packs.Pack, system: object, armature: bpy.types.Object) -> tuple[float, Solved]:
    """The fastest of some bakes, curve to keyframes, and the last one's parts."""
    best, solved = np.inf, None
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        shot: Shot = shot_of()  # type: ignore[operator]
        settings = BakeSettings(schedule=Schedule.constant(SPEED), output="replace")
        solved = solve(shot, system, settings, speeds=pack.speeds, reference=pack.info.reference)
        write(solved, armature, check=0)
        best = min(best, time.perf_counter() - begin)
    assert solved is not None
    return best, solved


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    options = parser.parse_args()
    setup.open_rig(make_rigify.cached())
    setup.set_fps(bpy.context.scene, FPS)
    armature = bpy.data.objects[make_rigify.RIG]
    before = peak_gigabytes()
    pack, system = packs.read_pack(options.pack), packs.load_system(options.pack)
    # Standing at both ends takes about 3.5 s of the 10.
    curve = s_curve(7.2)

    def shot_of() -> Shot:
        return read_shot(armature, curve)

    seconds, solved = timed_bakes(shot_of, pack, system, armature)
    frames = len(solved.keys)
    scaled = seconds * FRAMES / frames
    model = 1e3 * solved.seconds["motion"] / len(solved.clip)
    begin = time.perf_counter()
    baked = write(solved, armature)
    checked = time.perf_counter() - begin
    begin = time.perf_counter()
    settings = BakeSettings(schedule=Schedule.constant(SPEED))
    solve(shot_of(), system, settings, speeds=pack.speeds, judged=False)
    preview = time.perf_counter() - begin
    error = baked.report["bake_error"].value if baked.report else float("nan")
    print(f"bake: {frames} frames in {seconds:.3f} s, {FRAMES} in {scaled:.3f} s (wanted at most {BAKE_S})")
    print("bake, stages: " + ", ".join(f"{name} {value:.3f} s" for name, value in solved.seconds.items()))
    print(f"bake, model with roll-out: {model:.3f} ms a frame (wanted at most {MODEL_MS})")
    print(f"bake, keys written and checked through the depsgraph: {checked:.3f} s, error {error:.1e} m")
    print(f"preview: {preview:.3f} s from edited curve to motion (wanted at most {PREVIEW_S})")
    print(f"memory: {peak_gigabytes() - before:.2f} GB above Blender's own (wanted at most {MEMORY_GB})")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
