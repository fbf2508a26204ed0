"""The capture's statistics: pooled by speed, over chosen frames, and carried in a pack."""

from __future__ import annotations

import json

import numpy as np
import pytest

from blender_addon.motion import metrics as measure
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.metrics_reference import KNEE_EDGES
from blender_addon.motion.terrain import FlatGround
from tests.synthetic import walk

FLAT = FlatGround()

CLIPS = [walk(6.0, 0.3), walk(6.0, 0.8), walk(6.0, 1.2)]


@pytest.fixture(scope="module")
def capture() -> measure.CaptureReference:
    return measure.capture_reference(CLIPS)


def test_each_range_of_speed_holds_the_clips_of_that_speed(capture: measure.CaptureReference) -> None:
    table = capture.table
    for clip, speed in zip(CLIPS, (0.3, 0.8, 1.2), strict=True):
        expected = measure.FrameStats.of(clip, rest=measure.measured_rest_heights(clip, FLAT)).baseline()
        found = table.at(np.full(10, speed))
        assert found.jerk == pytest.approx(expected.jerk, rel=0.05)
        assert found.update == pytest.approx(expected.update, rel=0.05)
        assert found.skate == pytest.approx(expected.skate, rel=0.05)


def test_empty_ranges_borrow_from_the_nearest_that_has_motion(capture: measure.CaptureReference) -> None:
    table = capture.table
    empty = int(table.ranges(np.array([2.5]))[0])
    assert table.seconds[empty] == 0.0
    assert table.at(np.array([2.5])).jerk == pytest.approx(table.at(np.array([1.2])).jerk)


def made_stats(speed: float, knee: np.ndarray) -> measure.FrameStats:
    flat = np.full(len(knee), speed)
    return measure.FrameStats(flat, flat, flat, knee, flat, flat, flat)


def test_percentiles_of_a_mixture_of_speeds_agree_with_pooling_the_frames() -> None:
    rng = np.random.default_rng(5)
    slow, fast = (rng.lognormal(np.log(median), 0.7, (20_000, 2)) for median in (600.0, 2500.0))
    table = measure.SpeedTable.of(measure.FrameStats.pooled([made_stats(0.3, slow), made_stats(1.2, fast)]))
    for speeds, pooled in (
        ([0.3], slow), ([1.2], fast), ([0.3, 1.2], np.concatenate([slow, fast])),
        ([0.3, 0.3, 0.3, 1.2], np.concatenate([slow, slow, slow, fast])),
    ):  # fmt: skip
        found = table.at(np.array(speeds))
        assert found.knee_p99 == pytest.approx(np.percentile(pooled, 99.0), rel=0.01)
        assert found.knee_p999 == pytest.approx(np.percentile(pooled, 99.9), rel=0.03)
        assert found.jerk == pytest.approx(np.mean(speeds))


def test_source_frames_are_pooled_as_often_as_they_were_used(capture: measure.CaptureReference) -> None:
    pairs = np.array([[1, 20], [1, 20], [2, 40]])
    jerk = [stats.jerk for stats in capture.clips]
    expected = (2 * jerk[1][20] + jerk[2][40]) / 3
    assert capture.source(pairs).jerk == pytest.approx(expected)
    flat = np.array([len(CLIPS[0]) + 20, -1, len(CLIPS[0]) + 20, len(CLIPS[0]) + len(CLIPS[1]) + 40])
    assert capture.source(flat).jerk == pytest.approx(expected)


@pytest.mark.parametrize("used", [np.array([[3, 0]]), np.array([[0, 10_000]]), np.array([-1, -1]), np.array([10**6])])
def test_source_frames_that_do_not_exist_are_refused(capture: measure.CaptureReference, used: np.ndarray) -> None:
    with pytest.raises(DatasetError):
        capture.source(used)


def test_capture_at_another_frame_rate_is_brought_to_sixty() -> None:
    found = measure.capture_reference([walk(6.0, 0.8, fps=30.0)])
    assert len(found.clips[0]) == pytest.approx(361, abs=2)


def test_the_table_travels_through_json(capture: measure.CaptureReference) -> None:
    text = json.dumps(capture.table.to_json())
    assert len(text) < 30_000
    back = measure.SpeedTable.from_json(json.loads(text))
    speeds = np.array([0.3, 0.9])
    assert back.at(speeds).knee_p99 == pytest.approx(capture.table.at(speeds).knee_p99)
    np.testing.assert_allclose(back.knee_p999(speeds), capture.table.knee_p999(speeds))


def test_a_malformed_table_is_refused(capture: measure.CaptureReference) -> None:
    good = capture.table.to_json()
    for broken in ({}, {**good, "jerk": good["jerk"][:-1]}, {**good, "edges": "no"}, {**good, "knee": [[1.0]]}):
        with pytest.raises(DatasetError):
            measure.SpeedTable.from_json(broken)


def test_too_little_capture_is_refused_with_what_is_missing() -> None:
    with pytest.raises(DatasetError, match="seconds"):
        measure.capture_reference([walk(1.0, 0.8)])
    with pytest.raises(DatasetError):
        measure.capture_reference([])


def test_knee_classes_rise_and_cover_everything_that_occurs() -> None:
    assert np.all(np.diff(KNEE_EDGES) > 0.0) and KNEE_EDGES[0] == 0.0 and KNEE_EDGES[-1] >= 1e6
