"""Time writing and reducing keys, and measure IK controls and reduced keys against the motion, through Blender.

``python -m tools.bench_keys --pack PACK``; one thread. The motion is the demo's walk over hills and stairs, at 60
frames a second, on the generated Rigify human.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import Solved, solve
from blender_addon.motion.key_reduction import Tolerance
from blender_addon.motion.root_track import ground_under_root
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.scene import actions, setup, unbake
from blender_addon.scene.channels import Channel, channels_of
from blender_addon.scene.reduction import reduce_channels
from blender_addon.scene.rigify_ik import with_ik
from blender_addon.scene.rigs import read_rig
from blender_addon.scene.shot import read_shot
from blender_addon.systems import packs
from tools import make_rigify
from tools.demo import build_curve, build_ground

BONES, FRAMES, ROUNDS = 65, 1000, 5
#: What is wanted: seconds to write, share of keys, errors in metres and degrees.
WRITE_S, SHARE, METRES, DEGREES = 0.15, 0.15, 0.002, 0.5


def written_in() -> float:
    """Seconds to write 65 bones over 1000 frames, a key a frame; the fastest of some."""
    ob = bpy.data.objects[make_rigify.RIG]
    values = np.random.default_rng(0).normal(size=(FRAMES, 4))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    free = [bone.name for bone in ob.pose.bones if not any((*bone.lock_rotation, *bone.lock_location))]
    channels = [Channel(name, "rotation_quaternion", values) for name in free[:BONES]]
    rig = replace(read_rig(ob), controls=(), still=(), switches=())
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        actions.write(ob, rig, channels, name="Many")
        seconds.append(time.perf_counter() - begin)
        unbake.unbake(ob)
    return min(seconds)


def measured(solved: Solved, controls: str, reduced: bool) -> None:
    """Write the motion one way, look at every 13th frame through the depsgraph, take it back; one line."""
    ob, shot, clip = bpy.data.objects[make_rigify.RIG], solved.shot, solved.keys
    rig, ik = (shot.rig, None) if controls == "fk" else with_ik(ob, shot.rig, controls == "both")
    channels = channels_of(rig, clip, shot.root_motion, ground_under_root(clip, shot.ground), ik=ik)
    begin = time.process_time()
    told = "a key a frame"
    if reduced:
        channels, found = reduce_channels(rig, channels, clip.contacts, Tolerance(DEGREES, METRES), ik=ik)
        told = f"{100.0 * found.share():.1f}% of the keys (wanted at most {100.0 * SHARE:.0f}%), "
        told += f"found in {time.process_time() - begin:.2f} s of computing"
    actions.write(ob, rig, channels, name=controls)
    error = actions.measure(ob, rig, clip, 1, samples=len(clip) // 13, loose=ik.loose if ik else ())
    planted = 1000.0 * drift(ob, solved)
    unbake.unbake(ob)
    print(
        f"keys, {controls}: {told}; joints within {1000.0 * error.metres:.3f} mm and {error.degrees:.3f} degrees, "
        f"standing toes drift {planted:.3f} mm"
    )


def drift(ob: bpy.types.Object, solved: Solved) -> float:
    """How far standing toe joints are from where the motion has them, at most, metres; at every 7th frame."""
    clip, rig, worst = solved.keys, solved.shot.rig, 0.0
    toes = [foot.toe for foot in rig.skeleton.feet]
    for frame in range(0, len(clip), 7):
        bpy.context.scene.frame_set(1 + frame)
        places = actions.evaluated(ob, [rig.probes[toe] for toe in toes])[0]
        away = np.linalg.norm(places - clip.world[0][frame, toes], axis=1)
        worst = max([worst, *away[clip.contacts[frame]]])
    return float(worst)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    options = parser.parse_args()
    setup.open_rig(make_rigify.cached())
    setup.set_fps(bpy.context.scene, 60.0)
    seconds = written_in()
    print(f"keys: {BONES} bones x {FRAMES} frames written in {seconds:.3f} s (wanted at most {WRITE_S})")
    pack, system = packs.read_pack(options.pack), packs.load_system(options.pack)
    shot = read_shot(bpy.data.objects[make_rigify.RIG], build_curve(), build_ground())
    marks = [Mark(0.0, 1.1, "walk"), Mark(6.3, 0.7, "walk"), Mark(10.2, 1.2, "walk")]
    solved = solve(shot, system, BakeSettings(schedule=Schedule(marks)), speeds=pack.speeds, judged=False)
    for reduced in (False, True):
        for controls in ("fk", "ik", "both"):
            measured(solved, controls, reduced)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
