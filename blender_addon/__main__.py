"""The command line: ``python -m blender_addon ingest``, ``bake`` and ``retarget``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from .motion.errors import GaitsmithError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, or 2 for an error that the user can mend."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except GaitsmithError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"  {error.remedy}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("cancelled: nothing was written", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m blender_addon", description="Gaitsmith without a window.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ingest = commands.add_parser("ingest", help="make a data set of motion files", description=(
        "Reads motion through Blender's importers, levels the floor, finds contacts and root, and writes a data set."
    ))  # fmt: skip
    ingest.add_argument("files", nargs="*", metavar="FILE", help="BVH, FBX, glTF or .blend")
    ingest.add_argument("--out", required=True, type=Path, metavar="DATASET", help="folder to write")
    ingest.add_argument("--recipe", type=Path, metavar="TOML", help="take the files a recipe names")
    ingest.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder the recipe's paths start at")
    ingest.add_argument("--scale", type=float, help="metres per unit of the files (default: found out)")
    ingest.add_argument("--axis", default="-Z,Y", help="forward and up axis of BVH and FBX files (default: -Z,Y)")
    ingest.add_argument("--source-fps", type=float, help="frames per second of the files, overruling them")
    ingest.add_argument("--fps", type=float, default=60.0, help="frames per second of the data set (default: 60)")
    ingest.add_argument("--level", choices=("tilt", "height", "slope", "none"), default="tilt",
                        help="what to take away of the captured floor (default: its tilt and height)")  # fmt: skip
    ingest.add_argument("--licence", default="", help="licence of the files")
    ingest.add_argument("--credit", default="", help="whom to name")
    ingest.set_defaults(run=_ingest)
    bake = commands.add_parser("bake", help="bake a shot file", description="Bakes a shot without a window.")
    bake.add_argument("shot", type=Path, metavar="SHOT.toml")
    bake.add_argument("--out", required=True, type=Path, metavar="OUT.blend", help="file to write")
    bake.add_argument("--report", type=Path, metavar="OUT.json", help="quality report to write")
    bake.set_defaults(run=_bake)
    _add_retarget(commands)
    return parser


def _add_retarget(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    retarget = commands.add_parser("retarget", help="carry actions over to another character", description=(
        "Carries actions of one file over to the character of another, feet planted again. "
        "Files are .blend, .fbx, .glb, .gltf or .bvh."
    ))  # fmt: skip
    retarget.add_argument("source", type=Path, metavar="SOURCE", help="file with the actions")
    retarget.add_argument("target", type=Path, metavar="TARGET", help="file with the character")
    retarget.add_argument("--out", required=True, type=Path, metavar="OUT.blend", help="file to write")
    retarget.add_argument("--report", type=Path, metavar="OUT.json", help="quality report to write")
    retarget.add_argument("--action", nargs="+", default=[], metavar="NAME", help="which (default: all of the source)")
    retarget.add_argument("--source-armature", default="", metavar="NAME", help="the source, where there are several")
    retarget.add_argument("--armature", default="", metavar="NAME", help="the character, where there are several")
    retarget.add_argument("--ground", default="", metavar="NAME",
                          help="object or collection of TARGET to stand on (default: level ground)")  # fmt: skip
    retarget.add_argument("--no-plant", action="store_true", help="leave the feet as they come")
    retarget.add_argument("--at-source", action="store_true", help="begin where the source begins")
    retarget.add_argument("--root-motion", choices=("bone", "object", "hips", "in place"), default="bone",
                          help="what carries the travel (default: the root bone)")  # fmt: skip
    retarget.add_argument("--fps", type=float, help="frames per second of the result (default: of TARGET's scene)")
    retarget.add_argument("--source-fps", type=float, help="frames per second of the source, overruling the file's")
    retarget.add_argument("--reference-frame", type=int, metavar="N", help=(
        "frame of the source's first action whose pose, upright with flat feet, stands for its rest pose"
    ))  # fmt: skip
    retarget.add_argument("--target-reference", type=int, metavar="N",
                          help="frame of TARGET on which the character's pose stands for its rest pose")  # fmt: skip
    retarget.set_defaults(run=_retarget)


def _ingest(options: argparse.Namespace) -> None:
    _need_bpy()
    from .motion.takes import describe
    from .scene.importers import ImportOptions
    from .scene.ingest import ingest_files, ingest_recipe

    if bool(options.files) == (options.recipe is not None):
        raise GaitsmithError("Give files or a recipe, one of them", "See: python -m blender_addon ingest --help")
    if not 1.0 <= options.fps <= 1000.0:
        raise GaitsmithError(f"A data set of {options.fps:g} frames per second makes no sense", "Give 1 to 1000")
    if options.recipe is not None:
        dataset = ingest_recipe(options.recipe, options.data, progress=_show)
    else:
        forward, _, up = options.axis.partition(",")
        reading = ImportOptions(options.scale, forward.strip().upper(), up.strip().upper(), options.source_fps)
        dataset = ingest_files(
            options.files, reading, fps=options.fps, level=options.level, licence=options.licence,
            credit=options.credit, progress=_show,
        )  # fmt: skip
    dataset.save(options.out)
    print(describe(dataset))
    print(f"\nwritten: {options.out}")


def _bake(options: argparse.Namespace) -> None:
    _need_bpy()
    from .batch import run

    run(options.shot, options.out, options.report)


def _retarget(options: argparse.Namespace) -> None:
    _need_bpy()
    from .retarget_files import Files, run
    from .retargeting import RetargetSettings

    settings = RetargetSettings(
        plant=not options.no_plant, at_source=options.at_source, level="height" if options.no_plant else "tilt",
        source_fps=options.source_fps, root_motion=options.root_motion, fit_scene=True,
    )  # fmt: skip
    run(Files(
        options.source, options.target, options.out, options.report, tuple(options.action), options.fps,
        options.source_armature, options.armature, options.ground, settings, options.reference_frame,
        options.target_reference,
    ))  # fmt: skip


def _show(done: int, count: int, name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{done + 1}/{count} {name}", end="\n" if done + 1 == count else "", file=sys.stderr, flush=True)


def _need_bpy() -> None:
    try:
        import bpy  # noqa: F401
    except ImportError as error:
        raise GaitsmithError(
            f"Blender's module bpy cannot be loaded ({error})",
            "Run this in an environment with the bpy wheel, or with Blender's own Python",
        ) from error
    if __name__ == "__main__":
        # A farm that takes a job back must find no half-written file. (During the import above it would get lost.)
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _leave(code: int) -> None:
    """End the process without C++'s destructors: after some imports Blender's wait for ever for a thread of its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
