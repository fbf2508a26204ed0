"""Time the exact feature search: ``python -m tools.bench_search``; one thread, milliseconds a query.

The features are made up but wander as motion does. Beside the index stands a full scan by one
matrix-vector product, in the same run: compare by ratio, machines differ.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from blender_addon.systems.search import Float32, Index

SIZES = (53_000, 500_000)
LIMITS_MS = {53_000: 0.2, 500_000: 3.7}


def wandering(frames: int, size: int = 27, smooth: int = 8, seed: int = 0) -> Float32:
    """Unit-variance features (frames, size) whose neighbours are alike."""
    rng = np.random.default_rng(seed)
    kernel = np.exp(-0.5 * (np.arange(-4 * smooth, 4 * smooth + 1) / smooth) ** 2)
    columns = [np.convolve(rng.normal(size=frames), kernel, "same") for _ in range(size)]
    features = np.stack(columns, axis=1)
    return (features / features.std(axis=0)).astype(np.float32)


def milliseconds(work: Callable[[Float32], object], queries: Float32) -> float:
    """Median time of ``work`` over the queries."""
    times = []
    for query in queries:
        start = time.perf_counter()
        work(query)
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def main() -> int:
    """Print one line a size; the exit status is 1 when an answer was not exact."""
    rng = np.random.default_rng(1)
    wrong = 0
    for frames in SIZES:
        features = wandering(frames)
        index = Index(features)
        noise = 0.5 * rng.normal(size=(200, features.shape[1]))
        queries = (features[rng.integers(frames, size=200)] + noise).astype(np.float32)
        squares = np.sum(features**2, axis=1)
        columns = np.ascontiguousarray(features.T)

        def scan(query: Float32, columns: Float32 = columns, squares: Float32 = squares) -> object:
            return np.argmin(squares - 2.0 * (query @ columns))

        for query in queries[:50]:
            truth = np.sum((features.astype(np.float64) - query) ** 2, axis=1)
            wrong += abs(index.nearest(query)[1] - truth.min()) > 1e-3
        boxed, scanned = milliseconds(index.nearest, queries), milliseconds(scan, queries)
        print(
            f"search {frames} x {features.shape[1]}: {boxed:.3f} ms (wanted at most {LIMITS_MS[frames]}),"
            f" full scan {scanned:.3f} ms, ratio {boxed / scanned:.2f}"
        )
    print(f"search: {wrong} of {50 * len(SIZES)} answers not exact")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
