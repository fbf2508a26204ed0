"""Print the figures of docs/figures.md: search, courses and terrains, the bake, the model, gaits, training.

``make bench``. What needs the raw takes (motion matching on them, training speed) or a pack that is not there is left
out, and said so: ``--dataset`` or ``--data`` name the takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACK = ROOT / "blender_addon" / "packs" / "biped-lmm"
PHASED = PACK.with_name("biped-pfnn")
RECIPE = ROOT / "training" / "recipes" / "biped.toml"
#: One thread everywhere: figures of several threads cannot be compared between machines.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def section(title: str, *arguments: str) -> bool:
    """Run one bench as a child process; returns whether it succeeded."""
    print(f"\n## {title}\n", flush=True)
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, env={**os.environ, **ONE_THREAD})
    return done.returncode == 0


def find_dataset(dataset: Path, data: Path) -> Path | None:
    """The ingested data set, made from the raw takes when only those are there."""
    if (dataset / "dataset.json").exists():
        return dataset
    if not data.exists():
        return None
    recipe = ("--recipe", str(RECIPE), "--data", str(data), "--out", str(dataset))
    return dataset if section("Ingest", "blender_addon", "ingest", *recipe) else None


def phased() -> list[bool]:
    """The benches of the phase-functioned network; what walks only where its pack is there. Whether each succeeded."""
    pack = ("--pack", str(PHASED))
    speed = ("Phase-functioned network: training and one frame", "tools.bench_pfnn")
    if not (PHASED / "pack.json").is_file():
        print(f"\nNo pack {PHASED.name}: its courses, its endurance and its way up and down slopes are left out.")
        return [section(*speed)]
    return [
        section(*speed, *pack),
        section("Courses, Phase-Functioned Neural Network", "tools.bench_courses", *pack),
        section("A minute on every course", "tools.bench_endurance", *pack, "--grounds", "flat,stairs,noise"),
        section("Jumps over gaps", "tools.bench_gaps", *pack),
        section("Carriage on slopes", "tools.bench_slopes", *pack, "--pack", str(PACK)),
    ]


def main() -> int:
    """Command line; returns the number of benches that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, default=ROOT / "build" / "biped-dataset")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    dataset = find_dataset(options.dataset, options.data)
    pack = ("--pack", str(PACK))
    capture = ("--database", str(dataset)) if dataset else ()
    results = [
        section("Search", "tools.bench_search"),
        section("Courses, Learned Motion Matching", "tools.bench_courses", *pack, *capture),
        section("Courses, four legs: the gait model on a fox", "tools.bench_animals"),
        section("Bake onto a generated Rigify human", "tools.bench_bake", *pack),
        section("Bakes over all rigs", "tools.bench_rigs", *pack, "--data", str(options.data)),
        section("Keys: written, reduced, by IK controls", "tools.bench_keys", *pack),
    ]
    if (options.data / "quadruped").is_dir():
        results.append(section("Gaits of keyed clips, by their feet", "tools.bench_gaits", "--data", str(options.data)))
    else:
        print("\nNo animals' clips: what their gaits are is left out.")
    results.append(section("Experts for four legs: training and one frame", "tools.bench_mann"))
    results += phased()
    if (options.data / "index.tsv").is_file():
        results.append(section("Labels, against steps and tags", "tools.bench_labels", "--data", str(options.data)))
    else:
        print("\nNo raw takes: how well labels are found is left out.")
    if dataset is None:
        print("\nNo raw takes: motion matching on them and the speed of training are left out.")
    else:
        results.append(section("Courses, Motion Matching", "tools.bench_courses", *capture))
        results.append(section("Training and roll-outs", "tools.bench_training", str(dataset), *pack))
    return results.count(False)


if __name__ == "__main__":
    sys.exit(main())
