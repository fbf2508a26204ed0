"""How well labels are found automatically: landings, lift-offs, phase, gaits, against what is known of the takes.

``python -m tools.bench_labels [--data FOLDER] [--dataset FOLDER]``; the data set is made of the takes when it is not
there. See `tools.label_truths` for what is known.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from blender_addon.motion.clip_labels import ClipLabels, label_clip
from blender_addon.motion.contact_labels import feet_of
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.labels import root_speed
from blender_addon.motion.recipes import DataFolder
from tools import label_truths as truths

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "training" / "recipes" / "labels.toml"
#: Within so many frames of 1/60 s an event is found.
NEAR = 2
#: A body that travels slower than this, m/s, shuffles or turns on the spot.
TRAVELS = 0.4
#: Gaits of a take are those that hold for so much of it, as in the tags of index.tsv.
WALKS, RUNS = 0.33, 0.1


@dataclass
class Landings:
    """What was found of labelled landings.

    Attributes:
        start: frames from the label to the nearest begin of a heel's or toe's contact.
        foot: to the nearest begin of the whole foot's. grid: as ``start``, but from the time between the labelled frame
            of the take and the one before: a label says no more. speed: of the body then, m/s.
        found: landings that were found in all.
    """

    start: list[float] = field(default_factory=list)
    foot: list[float] = field(default_factory=list)
    grid: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    found: int = 0


def main() -> int:
    """Command line; 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--dataset", type=Path, default=ROOT / "build" / "labels-dataset")
    options = parser.parse_args()
    if not (options.dataset / "dataset.json").exists():
        from blender_addon.scene.ingest import ingest_recipe

        ingest_recipe(RECIPE, options.data).save(options.dataset)
    dataset, data = Dataset.load(options.dataset), DataFolder(options.data)
    labels = [label_clip(clip, tags) for clip, tags in zip(dataset.clips, dataset.tags, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        steps(dataset, labels, data, Path(folder))
    lift_offs(dataset, labels, data)
    gaits(dataset, labels, data)
    return 0


def steps(dataset: Dataset, labels: list[ClipLabels], data: DataFolder, work: Path) -> None:
    """Print landings and phase against the step labels, by take and in all."""
    every, errors, worst = Landings(), [], 0.0
    print(f"{'take':42}{'landings':>9}{'found':>7}{'median':>8}{'phase rad':>11}")
    for number, rate, landings in truths.labelled_clips(dataset, data, work):
        clip, source, label = dataset.clips[number], dataset.sources[number], labels[number]
        before = len(every.start)
        compare(every, dataset, number, label, rate, landings)
        rows, wanted = truths.labelled_phase(landings, clip, source, rate)
        error = np.abs(np.angle(np.exp(1j * (label.phase.angle[rows] - wanted))))
        errors.append(error)
        worst = min(worst, float(np.diff(label.phase.angle).min()))
        found, foot = np.abs(every.start[before:]) <= NEAR, np.median(every.foot[before:])
        print(f"{clip.name:42}{len(found):9}{found.mean():7.0%}{foot:8.1f}{error.mean():11.3f}")
    start, foot, grid = (np.abs(values) <= NEAR for values in (every.start, every.foot, every.grid))
    going = np.array(every.speed) >= TRAVELS
    print(f"landings: {len(start)} labelled, {every.found} found in these takes. Within {NEAR} frames a heel's or "
          f"toe's contact begins at {start.mean():.1%}: at {start[going].mean():.1%} of the {going.sum()} where the "
          f"body travels at {TRAVELS} m/s or more, at {start[~going].mean():.1%} of the others; at {grid.mean():.1%} "
          f"({grid[going].mean():.1%} of those that travel) if a label means the time since the take's frame before. "
          f"The foot's contact begins within {NEAR} frames of {foot.mean():.1%}")  # fmt: skip
    print(f"phase: mean circular error {np.concatenate(errors).mean():.3f} rad; "
          f"{'never falls' if worst >= 0.0 else 'falls'}")  # fmt: skip


def compare(
    into: Landings, dataset: Dataset, number: int, label: ClipLabels, rate: float, landings: list[truths.Landing]
) -> None:
    """Add a clip's labelled landings."""
    clip, source = dataset.clips[number], dataset.sources[number]
    feet, speed = feet_of(label.contacts), root_speed(clip)
    starts = [truths.begins(feet[:, side]) for side in range(2)]
    points = [np.concatenate([truths.begins(label.contacts[:, 2 * side + k]) for k in range(2)]) for side in range(2)]
    into.found += sum(len(start) for start in starts)
    step = clip.fps / rate
    for landing in landings:
        at = truths.row_of(landing.frame, source, rate, clip.fps)
        if not 4.0 <= at <= len(clip) - 5.0:
            continue
        foot = truths.nearest(starts[landing.side], at)
        start = min(truths.nearest(points[landing.side], at), foot, key=abs)
        into.start.append(start)
        into.foot.append(foot)
        into.grid.append(start + np.clip(-start, 0.0, step))
        around = slice(max(int(at) - 30, 0), int(at) + 30)
        into.speed.append(float(speed[around].mean()))


def lift_offs(dataset: Dataset, labels: list[ClipLabels], data: DataFolder) -> None:
    """Print lift-offs against those labelled by eye."""
    index, known = truths.read_index(data), truths.read_lift_offs()
    away = []
    for number, clip in enumerate(dataset.clips):
        source = dataset.sources[number]
        feet = feet_of(labels[number].contacts)
        begin = source.first * clip.fps / index[source.path][0]
        for side, frame in known.get(clip.name, []):
            away.append(truths.nearest(truths.ends(feet[:, side]), frame - begin))
    near = np.abs(away) <= NEAR
    print(f"lift-offs: {near.mean():.1%} of {len(near)} labelled by eye within {NEAR} frames, "
          f"{np.mean(np.abs(away) <= 2 * NEAR):.1%} within {2 * NEAR}; median {np.median(away):+.0f}")  # fmt: skip


def gaits(dataset: Dataset, labels: list[ClipLabels], data: DataFolder) -> None:
    """Print how often the gaits suggested for plain takes agree with their tags in index.tsv.

    Plain: tagged with nothing but walk, run, idle, and which way they go. A take agrees if it walks for over a third
    and runs for over a tenth exactly if tagged so, and stands more than anything else if tagged idle.
    """
    index = truths.read_index(data)
    frames: dict[str, list[np.ndarray]] = {}
    for label, source in zip(labels, dataset.sources, strict=True):
        frames.setdefault(source.path, []).append(label.gaits)
    agreed, wrong = 0, []
    for path, found in frames.items():
        tags = index[path][1]
        if not tags <= truths.PLAIN or not tags & {"walk", "run", "idle"}:
            continue
        share = np.bincount(np.concatenate(found), minlength=len(BIPED_GAITS)) / sum(len(part) for part in found)
        shares = dict(zip(BIPED_GAITS, share, strict=True))
        if "idle" in tags:
            good = max(shares, key=lambda name: shares[name]) == "stand"
        else:
            good = (shares["walk"] > WALKS) == ("walk" in tags) and (shares["run"] > RUNS) == ("run" in tags)
        agreed += good
        if not good:
            told = ", ".join(f"{name} {value:.0%}" for name, value in shares.items() if value > 0.02)
            wrong.append(f"  {Path(path).stem} ({', '.join(sorted(tags))}): {told}")
    total = agreed + len(wrong)
    print(f"gaits: {agreed} of {total} plain takes agree with their tags ({agreed / max(total, 1):.0%})")
    print("\n".join(wrong))


if __name__ == "__main__":
    sys.exit(main())
