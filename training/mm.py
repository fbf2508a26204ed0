"""Motion Matching packs: nothing is learned, the clips are stored and indexed when loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blender_addon.motion.dataset import Dataset
from blender_addon.systems.database import Database
from blender_addon.systems.features import DEFAULT_WEIGHTS, layouts
from blender_addon.systems.matching_pack import CLIPS, clips_file
from blender_addon.systems.packs import PackInfo, write_pack

from .coverage import covered_speeds, describe


def make_pack(dataset: Dataset, out: Path, title: str = "", mirror: bool = True) -> dict[str, Any]:
    """Write the matching pack of a data set and return its metrics.

    Raises:
        DatasetError: there is no clip long enough to match. PackError: it cannot be written.
    """
    learned = dataset.part(held_out=False)
    database = Database.build(learned.clips, mirror=mirror)
    features, poses = layouts(dataset.skeleton)
    about = describe(dataset)
    metrics = {"searchable_frames": int(database.searchable.sum())}
    info = PackInfo(
        system="mm", title=title or out.stem, fps=database.fps, skeleton=dataset.skeleton,
        layouts={"features": features, "poses": poses}, speeds=covered_speeds(database),
        actions=about.actions, licence=about.licence, credits=about.credits,
        training={**about.training, "mirrored": mirror}, held_out=about.held_out, metrics=metrics,
        weights=dict(DEFAULT_WEIGHTS), reference=about.reference,
    )  # fmt: skip
    write_pack(out, info, {CLIPS: clips_file(learned.clips)})
    return metrics
