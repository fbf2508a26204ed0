"""The root curve: cleaned, measured along its arc length, and searched for the nearest place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blender_addon.motion.errors import PathError
from blender_addon.motion.path import RootPath

L_SHAPE = [[0.0, 0.0], [0.0, -3.0], [4.0, -3.0]]
polylines = arrays(np.float64, st.tuples(st.integers(2, 30), st.just(2)), elements=st.floats(-20, 20, width=32)).filter(
    lambda p: np.linalg.norm(np.diff(p, axis=0), axis=1).sum() > 0.05
)


def test_position_and_tangent_follow_the_legs():
    path = RootPath.from_points(L_SHAPE)
    assert path.length == 7.0
    np.testing.assert_allclose(path.position([0.0, 1.5, 3.0, 5.0, 7.0]), [[0, 0], [0, -1.5], [0, -3], [2, -3], [4, -3]])
    np.testing.assert_allclose(path.tangent([1.0, 3.0, 7.0]), [[0, -1], [1, 0], [1, 0]])
    np.testing.assert_allclose(path.yaw([1.0, 4.0]), [0.0, np.pi / 2])  # yaw 0 faces -Y, +90 degrees faces +X


def test_an_open_path_stands_at_its_ends_and_a_cyclic_one_goes_round():
    square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    path = RootPath.from_points(square)
    np.testing.assert_allclose(path.position([-1.0, 99.0]), [[0, 0], [0, 2]])
    ring = RootPath.from_points(square, cyclic=True)
    assert ring.length == 8.0
    np.testing.assert_allclose(ring.position([-1.0, 8.5, 7.0]), [[0, 1], [0.5, 0], [0, 1]])


def test_doubled_points_heights_and_a_repeated_closing_point_change_nothing():
    clean = RootPath.from_points(L_SHAPE, cyclic=True)
    doubled = np.repeat(np.array(L_SHAPE), 3, axis=0)
    doubled = np.column_stack([doubled, np.random.default_rng(0).normal(size=len(doubled))])
    dirty = RootPath.from_points(np.concatenate([doubled, doubled[:1]]), cyclic=True)
    np.testing.assert_array_equal(dirty.points, clean.points)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [[1.0, 2.0]],
        [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 5.0]],
        [[0.0, 0.0], [np.nan, 1.0], [2.0, 2.0]],
        [[0.0, 0.0], [np.inf, 1.0]],
        [[0.0], [1.0]],
        [[0.0, 0.0], [1e7, 0.0]],
    ],
    ids=["empty", "one point", "no length", "upright", "nan", "inf", "shape", "absurdly long"],
)
def test_what_cannot_be_walked_is_refused_with_a_remedy(points):
    with pytest.raises(PathError) as caught:
        RootPath.from_points(points)
    assert caught.value.message and caught.value.remedy


@given(polylines, st.booleans(), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_no_shortcut_is_longer_than_the_arc(points, cyclic, a, b):
    path = RootPath.from_points(points, cyclic)
    s = np.sort([a, b]) * path.length
    chord = np.linalg.norm(np.diff(path.position(s), axis=0))
    assert chord <= s[1] - s[0] + 1e-9


@given(polylines, st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_arc_length_is_that_of_a_fine_ruler(points, cyclic):
    path = RootPath.from_points(points, cyclic)
    fine = np.union1d(np.linspace(0.0, path.length, 400), path.arc)
    fine = fine[fine < path.length - 1e-9]
    ruler = np.linalg.norm(np.diff(np.concatenate([path.position(fine), path.points[-1:]]), axis=0), axis=1).sum()
    assert ruler == pytest.approx(path.length, rel=1e-9)
    np.testing.assert_allclose(np.linalg.norm(path.tangent(fine), axis=1), 1.0, atol=1e-9)


@given(polylines, st.booleans(), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_reversed_is_the_same_place_from_the_other_end(points, cyclic, part):
    path = RootPath.from_points(points, cyclic)
    s = part * path.length
    np.testing.assert_allclose(path.reversed().position([path.length - s]), path.position([s]), atol=1e-9)


@given(polylines, arrays(np.float64, (5, 2), elements=st.floats(-30, 30, width=32)))
@settings(max_examples=60, deadline=None)
def test_the_nearest_place_is_none_that_a_search_by_hand_betters(points, xy):
    path = RootPath.from_points(points)
    s, distance = path.closest(xy)
    np.testing.assert_allclose(np.linalg.norm(path.position(s) - xy, axis=1), distance, atol=1e-6)
    searched = np.linalg.norm(path.position(np.linspace(0, path.length, 2000))[None] - xy[:, None], axis=-1).min(axis=1)
    assert np.all(distance <= searched + 1e-9)
    assert np.all(searched <= distance + path.length / 1000)


def test_the_search_by_blocks_finds_what_the_plain_one_finds():
    rng = np.random.default_rng(3)
    path = RootPath.from_points(np.cumsum(rng.normal(size=(700, 2)), axis=0))
    xy = path.position(rng.uniform(0, path.length, 900)) + rng.normal(size=(900, 2))
    s, distance = path.closest(xy)  # 630,000 pairs: by blocks
    plain_s, plain = np.concatenate([np.stack(path.closest(part)) for part in np.split(xy, 9)], axis=1)
    np.testing.assert_allclose(distance, plain, atol=1e-12)
    np.testing.assert_allclose(s, plain_s, atol=1e-9)


def test_unrolled_starts_where_told_and_goes_round_as_often_as_told():
    ring = RootPath.from_points([[0, 0], [2, 0], [2, 2], [0, 2]], cyclic=True)
    way = ring.unrolled(start=3.0, laps=2)
    assert not way.cyclic
    assert way.length == pytest.approx(16.0)
    s = np.linspace(0.0, 15.99, 50)
    np.testing.assert_allclose(way.position(s), ring.position(s + 3.0), atol=1e-9)
    np.testing.assert_allclose(RootPath.from_points(L_SHAPE).unrolled(2.0).points, [[0, -2], [0, -3], [4, -3]])
