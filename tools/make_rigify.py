"""Make a .blend that holds one of Rigify's metarigs and the rig generated from it.

``python tools/make_rigify.py OUT.blend [KIND]``. A process of its own, because Blender 4.5 hangs at exit after
generating: it ends by `os._exit`. `cached` runs it once and keeps the result.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
METARIG, RIG = "metarig", "rig"
#: The metarigs that can walk.
KINDS = ("human", "basic_human", "wolf", "cat", "horse")
_SECONDS = 300


def cached(folder: Path = REPOSITORY / ".cache", kind: str = "human") -> Path:
    """The file for this Python's Blender, made on the first call.

    Args:
        folder: where it is kept.
        kind: one of `KINDS`.

    Raises:
        RuntimeError: Rigify could not generate; the message holds its output.
    """
    ask = "import bpy, os, sys; sys.stdout.write('V' + bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    version = told.rpartition("V")[2].replace(" ", "-")
    path = folder / f"rigify-{kind}-{version}.blend"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.stem}.{os.getpid()}.part.blend")
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), str(part), kind],
            capture_output=True, text=True, timeout=_SECONDS,
        )  # fmt: skip
        if done.returncode or not part.is_file():
            raise RuntimeError(f"Rigify could not generate its {kind} rig:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        part.replace(path)
    return path


def make(path: Path, kind: str = "human") -> None:
    """Generate and save, in this process."""
    import addon_utils
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    # As a user does it, with preferences: Rigify looks for its own.
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
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
        make(Path(sys.argv[1]).resolve(), *sys.argv[2:3])
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process may not hang
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)
