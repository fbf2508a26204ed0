"""Print how fast the experts learn and how long one frame of them takes on one thread, at the paper's sizes.

``OMP_NUM_THREADS=1 python -m tools.bench_mann [--seconds 10] [--pack PACK]``
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from blender_addon.motion.errors import GaitsmithError
from blender_addon.systems.mann import Mann
from blender_addon.systems.packs import load_system
from blender_addon.systems.protocol import Wish
from training.mann import export
from training.mann.networks import MannNetwork
from training.optimizer import AdamW
from training.products import quick_products

#: The dog of the paper: 27 bones, 6 actions; without contacts.
INPUTS, OUTPUTS, GATING, EXPERTS, BATCH = 480, 363, 19, 8, 512
#: Samples a second at that batch; milliseconds a frame in 32 and in 8 bits.
WANTED_TRAINING, WANTED_MS, WANTED_SMALL_MS = 1800.0, 1.6, 0.45
_ROUNDS = 7


def fastest(work: Callable[[], object], seconds: float) -> float:
    """Seconds that ``work`` takes at its quickest."""
    best, until = np.inf, time.perf_counter() + seconds
    work()
    while time.perf_counter() < until:
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def turns_a_second(work: Callable[[], object], seconds: float) -> float:
    """How often ``work`` is done in a second of processor time: other programs on the machine must not count."""
    work()
    began, turns = time.process_time(), 0
    while time.process_time() - began < seconds:
        work()
        turns += 1
    return turns / (time.process_time() - began)


def training_speed(seconds: float) -> float:
    """Samples a second of processor time, forward, backward and optimiser."""
    torch.manual_seed(0)
    network = MannNetwork(np.arange(GATING), INPUTS, OUTPUTS, EXPERTS)
    optimizer = AdamW(network.parameters(), 1e-4, 2.5e-3)
    inputs, targets = torch.randn(BATCH, INPUTS), torch.randn(BATCH, OUTPUTS)

    def step() -> None:
        (network(inputs) - targets).square().mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return BATCH * turns_a_second(step, seconds)


def network_milliseconds(kept: str, characters: int, seconds: float) -> tuple[float, float]:
    """Milliseconds of one frame of one character, and the size of the file in MB."""
    torch.manual_seed(0)
    network = MannNetwork(np.arange(GATING), INPUTS, OUTPUTS, EXPERTS)
    plain = [(torch.zeros(size), torch.ones(size)) for size in (INPUTS, OUTPUTS)]
    data = export.mann(network, plain[0], plain[1], kept)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    inputs = {"inputs": np.random.default_rng(0).normal(size=(characters, INPUTS)).astype(np.float32)}
    return 1000.0 * fastest(lambda: session.run(None, inputs), seconds) / characters, len(data) / 1e6


def system_milliseconds(system: Mann, characters: int, frames: int = 120) -> float:
    """Milliseconds a frame and character of one `step` after another, the fastest of some rounds."""
    ahead = np.array(system.horizon)
    places = np.zeros((characters, len(ahead), 2))
    places[..., 1] = -ahead
    facing = np.zeros_like(places)
    facing[..., 1] = -1.0
    actions = np.zeros((characters, len(ahead), len(system.actions)))
    actions[..., 0] = 1.0
    wish = Wish(places, facing, np.ones(characters), np.ones((characters, len(ahead))), actions)
    state = system.start(wish)
    best = np.inf
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        for _ in range(frames // system.stride):
            state, _ = system.step(state, wish)
        best = min(best, time.perf_counter() - began)
    return 1000.0 * best / (frames // system.stride * system.stride * characters)


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_mann", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure")
    parser.add_argument("--pack", type=Path, help="a pack whose whole frames are timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{INPUTS}-512-512-{OUTPUTS}, {EXPERTS} experts, one thread")
    speeds = [("MKL", training_speed(options.seconds))]
    if quick_products():
        speeds.append(("oneDNN", training_speed(options.seconds)))
    for name, speed in speeds:
        print(f"training, batch {BATCH}, products by {name:<7} {speed:7.0f} samples/s (wanted {WANTED_TRAINING:.0f})")
    for kept, wanted in ((export.FULL, WANTED_MS), (export.COMPACT, WANTED_MS), (export.INTEGER, WANTED_SMALL_MS)):
        for characters in (1, 64):
            cost, size = network_milliseconds(kept, characters, options.seconds)
            aim = f" (wanted {wanted})" if characters == 1 else ""
            print(f"one frame, {kept:<8} {size:5.1f} MB, {characters:2d} at once: {cost:.3f} ms each{aim}")
    if options.pack is not None:
        try:
            system = load_system(options.pack)
        except GaitsmithError as error:
            print(error, file=sys.stderr)
            return 2
        for characters in (1, 30):
            cost = system_milliseconds(system, characters)
            print(f"{options.pack.name}, whole frames, {characters:2d} at once: {cost:.3f} ms a frame and character")
    return 0


if __name__ == "__main__":
    sys.exit(main())
