"""Print how fast the phase-functioned network learns and how long one frame takes on one thread.

``OMP_NUM_THREADS=1 python -m tools.bench_pfnn [--seconds 5] [--pack PACK]``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from blender_addon.motion.errors import GaitsmithError
from blender_addon.systems.onnx_weights import read_constants
from blender_addon.systems.packs import load_system
from blender_addon.systems.phase_function import spline_coefficients
from blender_addon.systems.phase_tables import PhaseTables
from tools.bench_mann import fastest, turns_a_second
from tools.bench_training import model_milliseconds
from training.optimizer import AdamW
from training.pfnn import export
from training.pfnn.networks import PfnnNetwork, phase_shares
from training.products import quick_products

#: The paper's character: 31 bones, 6 gaits.
INPUTS, OUTPUTS, BATCH = 342, 311, 512
#: Samples a second at that batch; milliseconds a frame, alone and each of 32.
WANTED_TRAINING, WANTED_MS, WANTED_HERD_MS = 2900.0, 0.30, 0.10


def training_speed(seconds: float, dropout: float) -> float:
    """Samples a second of processor time: phases to shares, forward, loss, backward and optimiser."""
    torch.manual_seed(0)
    network = PfnnNetwork(INPUTS, OUTPUTS, dropout=dropout)
    optimizer = AdamW(network.parameters(), 1e-3, 0.0)
    inputs, targets, phase = torch.randn(BATCH, INPUTS), torch.randn(BATCH, OUTPUTS), 6.28 * torch.rand(BATCH)

    def step() -> None:
        error = (network(inputs, phase_shares(phase)) - targets).square().mean()
        (error + 0.01 * network.size()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return BATCH * turns_a_second(step, seconds)


def network_file() -> bytes:
    """A network of that size as a pack holds it."""
    torch.manual_seed(0)
    plain = [(torch.zeros(size), torch.ones(size)) for size in (INPUTS, OUTPUTS)]
    return export.pfnn(PfnnNetwork(INPUTS, OUTPUTS), *plain)


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_pfnn", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure")
    parser.add_argument("--pack", type=Path, help="a pack whose whole frames are timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    quick_products()
    print(f"{INPUTS}-512-512-{OUTPUTS}, 4 control points, one thread")
    for dropout in (0.0, 0.3):
        speed = training_speed(options.seconds, dropout)
        print(f"training, batch {BATCH}, dropout {dropout}: {speed:7.0f} samples/s (wanted {WANTED_TRAINING:.0f})")
    _frames(options.seconds)
    if options.pack is not None:
        try:
            system = load_system(options.pack)
        except GaitsmithError as error:
            print(error, file=sys.stderr)
            return 2
        for characters in (1, 32):
            cost = model_milliseconds(system, characters)
            print(f"{options.pack.name}, whole frames, {characters:2d} at once: {cost:.3f} ms a frame and character")
    return 0


def _frames(seconds: float) -> None:
    """Print what one frame of the network costs by each phase function, in time, memory and exactness."""
    data = network_file()
    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = session.inter_op_num_threads = 1
    cubic = onnxruntime.InferenceSession(data, session, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs, phase = random.normal(size=(32, INPUTS)).astype(np.float32), random.uniform(0.0, 6.28, 32)
    shares = spline_coefficients(phase).astype(np.float32)
    true = cubic.run(None, {"inputs": inputs, "shares": shares})[0]
    for characters, wanted in ((1, WANTED_MS), (32, WANTED_HERD_MS)):
        asked = {"inputs": inputs[:characters], "shares": shares[:characters]}
        cost = 1000.0 * fastest(lambda: cubic.run(None, asked), seconds) / characters  # noqa: B023
        print(f"one frame, cubic    {len(data) / 1e6:6.1f} MB, {characters:2d} at once: {cost:.3f} ms each "
              f"(wanted {wanted})")  # fmt: skip
    constants = read_constants(data, "")
    for name, linear in (("linear", True), ("constant", False)):
        tables = PhaseTables(constants, linear)
        error = float(np.abs(tables(inputs, phase) - true).mean() / true.std())
        cost = 1000.0 * fastest(lambda: tables(inputs[:1], phase[:1]), seconds)  # noqa: B023
        print(f"one frame, {name:<8} {tables.bytes / 1e6:6.1f} MB,  1 at once: {cost:.3f} ms each, "
              f"off by {100.0 * error:.2f}% of the answers' deviation")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
