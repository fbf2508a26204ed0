"""Distance to capture: against the closed form, blind to place and heading, sensitive to what is unlike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from blender_addon.motion import rotations as rot
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.metrics_distance import CaptureSpace, frechet_distance, window_features
from tests.synthetic import walk


def test_frechet_distance_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(300, 5)), rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5)) + 0.5
    cov_a, cov_b = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    expected = np.sum((a.mean(0) - b.mean(0)) ** 2) + np.trace(cov_a + cov_b - 2 * np.real(sqrtm(cov_a @ cov_b)))
    assert frechet_distance(a, b) == pytest.approx(expected, rel=1e-6)
    assert frechet_distance(a, a) == pytest.approx(0.0, abs=1e-6)


def test_features_do_not_depend_on_place_or_heading() -> None:
    clip = walk(4.0, 0.8, 0.3)
    place = rot.rotate_2d(1.3, clip.root[:, :2]) + np.array([4.0, -7.0])
    moved = clip.moved(np.concatenate([place, clip.root[:, 2:] + 1.3], axis=-1) - clip.root)
    np.testing.assert_allclose(window_features(moved), window_features(clip), atol=1e-9)


def test_unlike_motion_is_farther_than_like_motion() -> None:
    capture = CaptureSpace.of([walk(20.0, 0.8, phase=p) for p in (0.0, 1.0, 2.0)])
    like, unlike = walk(15.0, 0.8, phase=0.5), walk(15.0, 1.4)
    assert capture.distance([like]) < 0.2 * capture.distance([unlike])


def test_too_little_motion_is_refused_or_unknown() -> None:
    with pytest.raises(DatasetError, match="seconds"):
        CaptureSpace.of([walk(2.0)])
    assert np.isnan(CaptureSpace.of([walk(20.0)]).distance([walk(0.5)]))
