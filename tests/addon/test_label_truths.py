"""Labels of captured takes against their step labels and against lift-offs labelled by eye (tests/data)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blender_addon.motion.clip_labels import label_clip
from blender_addon.motion.contact_labels import feet_of
from blender_addon.motion.recipes import DataFolder, Family
from blender_addon.motion.takes import Take, prepare
from blender_addon.scene.importers import ImportOptions, import_clips
from tools import label_truths as truths

pytestmark = pytest.mark.blender

#: A take and how it is levelled: trimmed and not, at 24 and 30 frames a second, level and not, walking and running.
TAKES = {
    "ys2010_walk_normal_straight": "tilt", "ys2010_raw24_low_walk": "tilt", "ys2010_start_90d_left_36": "tilt",
    "tiling_run_straight": "tilt", "ys2010_walk_normal_slope_90_left_up": "slope",
}  # fmt: skip


@pytest.fixture(scope="module")
def data(shared_data: Path) -> DataFolder:
    return DataFolder(shared_data)


@pytest.fixture(scope="module")
def labelled(data: DataFolder, tmp_path_factory: pytest.TempPathFactory):
    """Data set of the takes and labels of its clips."""
    work = tmp_path_factory.mktemp("takes")
    options = ImportOptions(0.01, Family().forward, Family().up, None, 0.025)
    takes = []
    for name, level in TAKES.items():
        path = f"human/studio/{name}.bvh"
        clip = import_clips(data.fetch(path, work), options)[0]
        takes.append(Take(clip, path, level=level, tags=("slope",) if level == "slope" else ()))
    dataset = prepare(takes)
    return dataset, [label_clip(clip, tags) for clip, tags in zip(dataset.clips, dataset.tags, strict=True)], work


def test_landings_and_phase_follow_the_step_labels(labelled, data):
    dataset, labels, work = labelled
    seen = []
    for number, rate, landings in truths.labelled_clips(dataset, data, work):
        clip, source = dataset.clips[number], dataset.sources[number]
        feet, contacts = feet_of(labels[number].contacts), labels[number].contacts
        away, foot = [], []
        for landing in landings:
            at = truths.row_of(landing.frame, source, rate, clip.fps)
            points = contacts[:, 2 * landing.side : 2 * landing.side + 2].T
            if 4 <= at <= len(clip) - 5:
                foot.append(truths.nearest(truths.begins(feet[:, landing.side]), at))
                away.append(min((truths.nearest(truths.begins(point), at) for point in points), key=abs))
        # The labels are on their takes' own clock, whatever was cut away in front.
        assert abs(np.median(foot)) <= 2.0
        assert np.mean(np.abs(away) <= 2.0) > 0.85
        rows, wanted = truths.labelled_phase(landings, clip, source, rate)
        error = np.abs(np.angle(np.exp(1j * (labels[number].phase.angle[rows] - wanted))))
        assert error.mean() < 0.3 and np.all(np.diff(labels[number].phase.angle) >= 0.0)
        seen.append(clip.name)
    assert len(seen) == 3


def test_lift_offs_agree_with_those_labelled_by_eye(labelled, data):
    dataset, labels, _ = labelled
    index, known, away = truths.read_index(data), truths.read_lift_offs(), []
    for clip, source, label in zip(dataset.clips, dataset.sources, labels, strict=True):
        begin = source.first * clip.fps / index[source.path][0]
        for side, frame in known[clip.name]:
            away.append(truths.nearest(truths.ends(feet_of(label.contacts)[:, side]), frame - begin))
    assert len(away) >= 20 and np.mean(np.abs(away) <= 2.0) >= 0.9


def test_a_clip_says_at_which_frame_of_its_take_it_begins(labelled, data):
    dataset, _, work = labelled
    number = [clip.name for clip in dataset.clips].index("ys2010_walk_normal_straight")
    source, clip = dataset.sources[number], dataset.clips[number]
    assert source.first > 0 and source.last - source.first == pytest.approx(len(clip) / 2, abs=1)
    options = ImportOptions(0.01, Family().forward, Family().up, None, 0.025)
    raw = import_clips(data.fetch(source.path, work), options)[0]
    way = np.linalg.norm(np.diff(raw.hips[source.first : source.first + 200, :2], axis=0), axis=1)
    own = np.linalg.norm(np.diff(clip.hips[:400:2, :2], axis=0), axis=1)
    assert own == pytest.approx(way[: len(own)], abs=2e-3)
