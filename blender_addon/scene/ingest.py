"""From files, recipes or actions in the scene to data sets: one way in for all motion."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.dataset import Dataset
from ..motion.errors import ClipError, DatasetError
from ..motion.recipes import DataFolder, Family, load_recipe
from ..motion.retarget import grounded_rest, posed_rest
from ..motion.skeleton import Skeleton
from ..motion.takes import Take, prepare
from .importers import ImportOptions, import_clips

#: Called with (files done, files in all, name of the next file).
Progress = Callable[[int, int, str], None]


def ingest_files(
    files: Sequence[str | Path],
    options: ImportOptions | None = None,
    *,
    fps: float = 60.0,
    level: str = "tilt",
    licence: str = "",
    credit: str = "",
    progress: Progress | None = None,
) -> Dataset:
    """A data set of all the motion in some files; the first one's skeleton is everyone's.

    Args:
        files: BVH, FBX, glTF or .blend.
        options: how they are read.
        fps: frame rate of the data set.
        level: as in `Take`.
        licence, credit: for all files.
        progress: called before each file.

    Raises:
        GaitsmithError: a file cannot be read, or nothing is left of all of them.
    """
    if not files:
        raise DatasetError("No files are given", "Name files of motion, or a recipe")
    takes: list[Take] = []
    for number, file in enumerate(files):
        if progress:
            progress(number, len(files), Path(file).name)
        for clip in import_clips(file, options):
            takes.append(Take(clip, str(file), level=level, licence=licence, credit=credit))
    return prepare(takes, fps=fps)


def ingest_recipe(recipe: str | Path, data: str | Path, *, progress: Progress | None = None) -> Dataset:
    """The data set that a recipe describes, from the takes below ``data``; raises `GaitsmithError`."""
    folder = DataFolder(data)
    plan = load_recipe(recipe, folder)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)

        def read(name: str, family: Family) -> Clip:
            options = ImportOptions(family.scale, family.forward, family.up, family.fps, plan.ball_height)
            return import_clips(folder.fetch(name, work), options)[0]

        rests = {f: read(f.rest, f) for f in dict.fromkeys(take.family for take in plan.takes) if f.rest}
        takes = []
        for number, spec in enumerate(plan.takes):
            if progress:
                progress(number, len(plan.takes), Path(spec.path).name)
            clip = read(spec.path, spec.family)
            if spec.family in rests:
                clip = replace(clip, skeleton=_with_reference(clip.skeleton, rests[spec.family]))
            takes.append(Take(
                clip, spec.path, spec.group, spec.level, spec.ranges, spec.tags, spec.held_out,
                spec.family.licence, spec.family.credit,
            ))  # fmt: skip
        skeleton = None
        if plan.skeleton:
            family = next((take.family for take in plan.takes if take.path == plan.skeleton), Family())
            skeleton = grounded_rest(read(plan.skeleton, family).skeleton)
    return prepare(takes, skeleton=skeleton, fps=plan.fps, shortest=plan.shortest)


def _with_reference(skeleton: Skeleton, reference: Clip) -> Skeleton:
    """``skeleton`` resting as ``reference`` stands in its first frame; joints are the same, bone axes may differ."""
    other = reference.skeleton
    if other.names != skeleton.names:
        raise ClipError(f"{reference.name!r} has other joints than the takes it is the rest of", "Correct the recipe")
    away = rot.mul(reference.world[1][0], rot.inv(other.rest_world[1]))
    world = rot.mul(away, skeleton.rest_world[1])
    return posed_rest(skeleton, skeleton.local_rotations(world), reference.hips[0])
