import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.systems.search import Index


def wandering(frames: int, seed: int, size: int = 27) -> np.ndarray:
    """Features as motion has them: neighbours alike."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=(frames, size)), axis=0).astype(np.float32) * 0.1


def by_full_scan(features, query, allowed):
    distance = np.sum((features.astype(np.float64) - query) ** 2, axis=1)
    distance[~allowed] = np.inf
    return distance


@settings(max_examples=60, deadline=None)
@given(frames=st.integers(1, 700), seed=st.integers(0, 9999), noise=st.floats(0.0, 5.0))
def test_the_nearest_frame_is_the_one_a_full_scan_finds(frames, seed, noise):
    features = wandering(frames, seed)
    rng = np.random.default_rng(seed + 1)
    query = (features[rng.integers(frames)] + noise * rng.normal(size=27)).astype(np.float32)
    found, distance = Index(features).nearest(query)
    truth = by_full_scan(features, query, np.ones(frames, bool))
    assert truth[found] == pytest.approx(truth.min(), rel=1e-4, abs=1e-6)
    assert distance == pytest.approx(truth.min(), rel=1e-4, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(frames=st.integers(40, 500), seed=st.integers(0, 9999), first=st.integers(0, 400), length=st.integers(1, 200))
def test_frames_that_are_masked_or_forbidden_are_never_found(frames, seed, first, length):
    features = wandering(frames, seed)
    searchable = np.random.default_rng(seed).random(frames) < 0.7
    searchable[0] = True
    allowed = searchable.copy()
    allowed[first : first + length] = False
    query = features[frames // 2]
    found, _ = Index(features, searchable).nearest(query, (first, first + length))
    if not allowed.any():
        assert found == -1
    else:
        truth = by_full_scan(features, query, allowed)
        assert truth[found] == pytest.approx(truth.min(), rel=1e-4, abs=1e-6)


def test_an_index_of_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        Index(np.zeros((3, 27), np.float32), np.zeros(3, bool))
