"""The keyed animal clips are found to be what they are by their feet, not by their names."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tools.bench_gaits import rows, table
from tools.gait_truths import TRUTHS

pytestmark = pytest.mark.blender


@pytest.fixture(scope="module")
def found(shared_data: Path) -> dict:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return {(row.truth.file, row.truth.clip): row for row in rows(shared_data)}


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: f"{truth.file} {truth.clip}")
def test_a_clip_is_what_its_feet_do(truth, found: dict) -> None:
    if (truth.file, truth.clip) not in found:
        pytest.skip(f"{truth.file} is not in the data folder")
    row = found[truth.file, truth.clip]
    assert not row.faults, table([row])


def test_the_four_canids_share_one_walk(found: dict) -> None:
    walks = [row.cycle.footfalls.lags for (file, clip), row in found.items()
             if clip == "Walk" and file.startswith("quaternius") and "deer" not in file]  # fmt: skip
    if len(walks) < 4:
        pytest.skip("the clips are not in the data folder")
    assert np.ptp(walks, axis=0).max() < 0.01


def test_no_cycle_stands_still_in_its_stances(found: dict) -> None:
    slides = {key: row.cycle.slide for key, row in found.items() if row.cycle.usable}
    if not slides:
        pytest.skip("the clips are not in the data folder")
    assert all(0.05 < slide < 0.35 for slide in slides.values()), slides
