"""The gait preview as it is drawn: where the animal is, footfalls, and the bars of the diagram."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from blender_addon.motion.gait_picture import Stage, bars, footfalls

SIDES = np.array([0, 1, 2])
#: Somewhere on the way: x, y, yaw.
ROOT = np.array([2.0, -3.0, 0.7])


def test_in_place_it_faces_as_it_stands_wherever_the_motion_has_gone() -> None:
    stage = Stage("Fox", SIDES, {}, 0.01, 0.02, np.array([1.0, 2.0, 0.5]), 1.2)
    # Ahead of a root that faces yaw is (sin yaw, -cos yaw).
    ahead = np.array([np.sin(0.7), -np.cos(0.7), 0.0, 1.0])
    nose = stage.matrix(ROOT) @ ahead
    assert nose[:3] == pytest.approx([100.0 * (1.0 + np.sin(1.2)), 100.0 * (2.0 - np.cos(1.2)), 50.0])
    assert stage.in_place


def test_on_its_way_it_is_where_its_root_is() -> None:
    stage = Stage("Fox", SIDES, {}, 1.0, 0.02, level=0.4)
    assert stage.matrix(ROOT) @ [0.0, 0.1, 0.3, 1.0] == pytest.approx([2.0, -2.9, 0.7, 1.0]) and not stage.in_place


def test_the_diagram_shows_the_stances_around_the_present() -> None:
    stances = [SimpleNamespace(leg=1, first=60, last=89), SimpleNamespace(leg=0, first=400, last=410)]
    assert bars(stances, 90.0, 60.0, 2.5, 0.8) == [(1, -0.5, 0.0)]
    assert bars(stances, 390.0, 60.0, 2.5, 0.8) == [(0, pytest.approx(10 / 60), pytest.approx(21 / 60))]


def test_footfalls_are_rings_that_fade_behind_the_animal() -> None:
    def stance(leg: int, first: int, last: int, y: float) -> SimpleNamespace:
        return SimpleNamespace(leg=leg, first=first, last=last, place=np.array([0.1, y, 0.0]))

    now = SimpleNamespace(frame=100.0, root=np.array([0.0, -3.0, 0.0]))
    stances = [stance(0, 90, 110, -3.2), stance(1, 60, 70, -2.5), stance(2, 120, 130, -4.0)]
    rings = footfalls(stances, now, 0.02, 60.0, 2.5)
    points = rings.lines
    assert rings.standing.tolist() == [True, False] and rings.legs == (0, 1)
    assert points.mean(axis=1)[:, 1] == pytest.approx([-0.2, 0.5], abs=1e-6)
    assert np.linalg.norm(points[0] - [0.1, -0.2, points[0, 0, 2]], axis=-1) == pytest.approx(0.02, abs=1e-6)
    assert rings.strength[0] == 1.0 > rings.strength[1] > 0.0
    # Each pair is one side of the ring.
    assert points[0, 1::2][:-1] == pytest.approx(points[0, 2::2])
