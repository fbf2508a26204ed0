"""Make a .blend that holds Rigify's human metarig and the rig generated from it.

``python tools/make_rigify.py OUT.blend``. A process of its own, because Blender 4.5 hangs at exit after
generating: it ends by `os._exit`. `cached` runs it once and keeps the result.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
METARIG, RIG = "metarig", "rig"
_SECONDS = 300


def cached(folder: Path = REPOSITORY / ".cache") -> Path:
    """The file for this Python's Blender, made on the first call.

    Raises:
        RuntimeError: Rigify could not generate; the message holds its output.
    """
    ask = "import bpy, os, sys; sys.stdout.write('V' + bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    version = told.rpartition("V")[2].replace(" ", "-")
    path = folder / f"rigify-human-{version}.blend"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.stem}.{os.getpid()}.part.blend")
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), str(part)], capture_output=True, text=True, timeout=_SECONDS
        )
        if done.returncode or not part.is_file():
            raise RuntimeError(f"Rigify could not generate its human rig:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        part.replace(path)
    return path


def make(path: Path) -> None:
    """Generate and save, in this process."""
    import addon_utils
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    # As a user does it, with preferences: Rigify looks for its own.
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    metarig = bpy.context.object
    metarig.name = METARIG
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    rig.name = RIG
    metarig.hide_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


if __name__ == "__main__":
    import bpy  # noqa: F401 - must be loaded before addon_utils

    try:
        make(Path(sys.argv[1]).resolve())
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process may not hang
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)
