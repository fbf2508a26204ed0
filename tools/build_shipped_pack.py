"""Rebuild the shipped pack from the raw takes: ingest the recipe, train, check, and put it in its place.

``make pack`` or ``python tools/build_shipped_pack.py --data FOLDER [--minutes 40] [--dataset DATASET]``.
Goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "training" / "recipes" / "biped.toml"
TARGET = ROOT / "blender_addon" / "packs" / "biped-lmm"
#: A pack must stay below this, megabytes.
LARGEST_MB = 8.0


def run(*arguments: str) -> None:
    """One step of ours as a child process; stops everything when it fails."""
    print("+", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, check=True)


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the raw takes")
    parser.add_argument("--dataset", type=Path, default=ROOT / "build" / "biped-dataset", help="made when missing")
    parser.add_argument("--minutes", type=float, default=40.0, help="training time of all stages together")
    options = parser.parse_args()
    made = ROOT / "build" / "biped-lmm"
    if not (options.dataset / "dataset.json").exists():
        recipe = ("--recipe", str(RECIPE), "--data", str(options.data))
        run("blender_addon", "ingest", *recipe, "--out", str(options.dataset))
    training = ("train", "lmm", str(options.dataset), "--out", str(made), "--minutes", str(options.minutes))
    run("training", *training, "--resume", "--title", "Biped")
    run("training", "evaluate", str(made), str(options.dataset))
    size = sum(file.stat().st_size for file in made.rglob("*") if file.is_file()) / 1e6
    if size > LARGEST_MB:
        print(f"the pack has {size:.1f} MB, more than {LARGEST_MB}", file=sys.stderr)
        return 1
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(made, TARGET)
    print(f"{TARGET.relative_to(ROOT)}: {size:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
