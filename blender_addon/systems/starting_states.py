"""What the packs of networks that live on their own answers share: their layouts and the frames they begin from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.errors import PackError
from ..motion.rotations import Array
from .layout import Layout
from .packs import Pack

#: The file of a pack with the inputs of real frames, standing ones among them, and what else belongs to them.
STARTS = "starts.npz"


def read_starts(
    pack: Pack, inputs: Layout, outputs: Layout, shapes: Mapping[str, tuple[int | None, ...]],
    optional: Mapping[str, tuple[int | None, ...]] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of `STARTS`: ``inputs`` (k, size), those of ``shapes``, and those of ``optional`` that are there.

    Raises:
        PackError: the pack's network is of other layouts, or the starts are missing, damaged or none.
    """
    inputs.check_same(pack.info.layouts.get("inputs", Layout(())), "inputs")
    outputs.check_same(pack.info.layouts.get("outputs", Layout(())), "outputs")
    wanted = {"inputs": (None, inputs.size), **shapes}
    found = pack.arrays(STARTS, wanted, optional)
    counts = {len(found[name]) for name, shape in wanted.items() if shape[:1] == (None,)}
    if len(counts) != 1 or 0 in counts:
        raise PackError(f"{STARTS} in the pack holds no state to begin from", "Import or train the pack again")
    return found


def check_answer(name: str, answer: npt.NDArray[np.float32]) -> None:
    """Raise `PackError` where the network in the file ``name`` gives values that are no numbers."""
    if not np.all(np.isfinite(answer)):
        raise PackError(f"{name} in the pack answers with values that are no numbers", "Train the pack again")


def nearest(known: Array, wanted: Array) -> npt.NDArray[np.int64]:
    """Which of the rows ``known`` (k, n) is nearest to each of ``wanted`` (c, n): (c,)."""
    away = known[None] - wanted[:, None]
    return np.argmin(np.einsum("ckf,ckf->ck", away, away), axis=1)
