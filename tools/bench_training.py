"""Print how fast the stages train on one thread, how well held-out motion is reconstructed, and what a pack costs.

``OMP_NUM_THREADS=1 python -m tools.bench_training DATASET [--seconds 10] [--minutes 0] [--pack PACK]``
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.gait_names import nearest_action
from blender_addon.systems.database import Database
from blender_addon.systems.mann_features import gating_columns
from blender_addon.systems.packs import load_system
from blender_addon.systems.protocol import System, Wish
from training.lmm.data import Frames
from training.lmm.run import normalized_latents
from training.lmm.tasks import DecompressorTask, ProjectorTask, StepperTask
from training.mann.data import MannData, action_labels
from training.mann.networks import MannNetwork
from training.mann.tasks import StepTask, WindowTask
from training.products import quick_products
from training.settings import LmmSettings, MannTrainingSettings, StageSettings
from training.trainer import Budget, Task, Trainer, Watch

#: Wanted at batch 32 on one thread: frames/s, frames/s, samples/s.
WANTED = {"decompressor": 2200.0, "stepper": 11000.0, "projector": 1300.0}
BATCH = 32


def speed(task: Task, each: int, seconds: float) -> float:
    """Frames or samples a second of processor time, optimiser included; ``each`` are in one batch."""
    with tempfile.TemporaryDirectory() as folder:
        settings = StageSettings(1, BATCH, 2)
        Trainer(task, settings, Budget(iterations=5), 1, Path(folder) / "c", Watch()).run(resume=False)
        trainer = Trainer(task, settings, Budget(seconds=seconds), 1, Path(folder) / "c", Watch(validate_seconds=1e9))
        # Processor time: other programs on the machine must not count.
        began = time.process_time()
        outcome = trainer.run(resume=False)
        return outcome.iterations * each / (time.process_time() - began)


def model_milliseconds(system: System, characters: int, chunks: int = 40) -> float:
    """Milliseconds a frame and character of one `step` after another, the fastest of five rounds."""
    ahead = np.array(system.horizon)
    positions = np.zeros((characters, len(ahead), 2))
    positions[..., 1] = -1.2 * ahead
    directions = np.zeros_like(positions)
    directions[..., 1] = -1.0
    actions = np.zeros((characters, len(ahead), len(system.actions)))
    walk = nearest_action("walk", system.actions)
    if walk is not None:
        actions[..., system.actions.index(walk)] = 1.0
    wish = Wish(positions, directions, np.full(characters, 1.2), np.full((characters, len(ahead)), 1.2), actions)
    state = system.start(wish)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(chunks):
            state, _chunk = system.step(state, wish)
        best = min(best, time.perf_counter() - began)
    return 1000.0 * best / (chunks * system.stride * characters)


def bench(dataset: Dataset, seconds: float, minutes: float) -> None:
    """Print the training figures."""
    frames = Frames.of(Database.build(dataset.part(held_out=False).clips))
    kept = dataset.part(held_out=True)
    held_out = Frames.of(Database.build(kept.clips, mirror=False), frames) if kept.clips else None
    torch.manual_seed(0)
    coding = DecompressorTask(frames, BATCH, 2)
    latents, _, _ = normalized_latents(coding, frames)
    window = LmmSettings().stepper.window
    print(f"{len(frames)} frames, mirror images included; batch {BATCH}, one thread")
    for task, each, unit in (
        (coding, 2 * BATCH, "frames/s"),
        (StepperTask(frames, latents, BATCH, window, short_share=0.0), window * BATCH, "frames/s"),
        (ProjectorTask(frames, latents, BATCH), BATCH, "samples/s"),
    ):
        print(f"{task.name:<13} {speed(task, each, seconds):9.0f} {unit} (wanted {WANTED[task.name]:.0f})")
    if minutes > 0.0 and held_out is not None:
        settings = LmmSettings().decompressor
        torch.manual_seed(0)
        task = DecompressorTask(frames, settings.batch, settings.window, held_out)
        with tempfile.TemporaryDirectory() as folder:
            watch = Watch(validate_seconds=60.0 * minutes / 8)
            outcome = Trainer(task, settings, Budget(seconds=60.0 * minutes), 1, Path(folder) / "c", watch).run(False)
        for iteration, at, _, error in outcome.history:
            print(f"held-out joint error after {at:6.0f} s, {iteration:6.0f} iterations: {error:.3f} cm (wanted 0.7)")


def bench_experts(dataset: Dataset, seconds: float) -> None:
    """Print how fast the experts learn the data set, windows included."""
    actions, labels = action_labels(dataset)
    kept = [i for i, held in enumerate(dataset.held_out) if not held]
    data = MannData.of([dataset.clips[i] for i in kept], [labels[i] for i in kept], actions, mirror=False)
    torch.manual_seed(0)
    network = MannNetwork(gating_columns(data.skeleton, len(actions)), data.inputs.size, data.outputs.size)
    window = MannTrainingSettings().windows.window
    quick_products()
    for task, each in ((StepTask(data, network, 512), 512), (WindowTask(data, network, BATCH, window), BATCH * window)):
        print(f"experts, {task.name:<7} {speed(task, each, seconds):9.0f} frames/s (wanted 1800)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_training", description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each speed")
    parser.add_argument("--minutes", type=float, default=0.0, help="train the decompressor so long and print its error")
    parser.add_argument("--pack", type=Path, help="a pack whose model is timed")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        dataset = Dataset.load(options.dataset)
        bench(dataset, options.seconds, options.minutes)
        if dataset.skeleton.four_legged:
            bench_experts(dataset, options.seconds)
        if options.pack is not None:
            system = load_system(options.pack)
            for characters in (1, 30):
                cost = model_milliseconds(system, characters)
                print(f"model, {characters:2d} at once: {cost:.3f} ms a frame and character (wanted 0.15)")
    except GaitsmithError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
