"""Distances along a drawn line, measured on the ground."""

from __future__ import annotations

import numpy as np

from blender_addon.motion.polyline import Polyline


def test_distances_are_those_on_the_ground_however_steep_the_line() -> None:
    # Two legs of 3 and 4 metres on the ground, the second of them up a stair of 5 metres.
    line = Polyline.of(np.array([[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [3.0, 4.0, 6.0]]))
    assert line.length == 7.0
    found = line.at(np.array([0.0, 1.5, 5.0, 7.0]))
    np.testing.assert_allclose(found, [[0, 0, 1], [1.5, 0, 1], [3, 2, 3.5], [3, 4, 6]])


def test_places_beyond_the_ends_are_the_ends() -> None:
    line = Polyline.of(np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 3.0]]))
    np.testing.assert_array_equal(line.at(np.array([-1.0, 9.0])), line.points)


def test_a_closed_line_comes_back_to_where_it_began() -> None:
    square = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])
    line = Polyline.of(square, cyclic=True)
    assert line.length == 8.0
    np.testing.assert_allclose(line.at(np.array([7.0, 8.0])), [[0, 1, 0], [0, 0, 0]])


def test_a_stretch_may_go_backwards() -> None:
    line = Polyline.of([(0.0, 0.0, 1.0), (0.0, 2.0, 3.0)])
    points, places = line.between(1.5, 0.5, 3)
    np.testing.assert_allclose(places, [1.5, 1.0, 0.5])
    np.testing.assert_allclose(points, [[0, 1.5, 2.5], [0, 1, 2], [0, 0.5, 1.5]])
