"""Fewer keys: within the tolerance, few enough, corners kept, and the same curve as Blender's Bezier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.key_reduction import Curve, Moved, Tolerance, Track, reduce_keys


def sliders(values, planted=None):
    """Joints on rails: each track shifts one joint along x, y, z."""
    count = len(values)

    def pose(tracks):
        places = np.stack(list(tracks), axis=1)
        return places, np.tile(rot.IDENTITY, (*places.shape[:2], 1))

    standing = np.zeros((len(values[0]), count), bool) if planted is None else planted
    tracks = [Track(v, 1.0, 0.0, np.arange(count) == k, np.arange(count) == k) for k, v in enumerate(values)]
    return tracks, Moved(pose, np.ones(count, bool), standing)


def arm(angles, lengths):
    """A chain in a plane, each link turned by its own track: errors add up along it."""

    def pose(tracks):
        turn, place = np.tile(rot.IDENTITY, (len(tracks[0]), 1)), np.zeros((len(tracks[0]), 3))
        places, turns = [], []
        for values, length in zip(tracks, lengths, strict=True):
            turn = rot.mul(turn, rot.normalize(values))
            place = place + rot.rotate(turn, np.array([length, 0.0, 0.0]))
            places.append(place)
            turns.append(turn)
        return np.stack(places, 1), np.stack(turns, 1)

    count = len(angles)
    values = [rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), angle) for angle in angles]
    tracks = [
        Track(v, 2.0 * sum(lengths[k:]), 2.0, np.arange(count) >= k, np.arange(count) >= k)
        for k, v in enumerate(values)
    ]
    return tracks, Moved(pose, np.ones(count, bool), np.zeros((len(angles[0]), count), bool))


def wave(frames=600, seed=0, parts=4):
    random = np.random.default_rng(seed)
    t = np.arange(frames) / 60.0
    found = sum(
        random.normal(size=3) / k**2 * np.sin(2 * np.pi * k * t[:, None] + random.uniform(0, 6, 3))
        for k in range(1, parts)
    )
    return 0.2 * np.asarray(found)


def bezier(curve: Curve, component: int, frame: float) -> float:
    """By the textbook, from handles a third of the way out."""
    k = int(np.searchsorted(curve.frames, frame, side="right")) - 1
    k = min(k, len(curve.frames) - 2)
    x0, x1 = curve.frames[k], curve.frames[k + 1]
    span, t = (x1 - x0) / 3.0, (frame - x0) / (x1 - x0)
    y = [
        curve.values[k, component], curve.values[k, component] + span * curve.right[k, component],
        curve.values[k + 1, component] - span * curve.left[k + 1, component], curve.values[k + 1, component],
    ]  # fmt: skip
    return float(sum(c * b for c, b in zip(y, ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3),
                                           strict=True)))  # fmt: skip


def test_smooth_motion_needs_few_keys_and_keeps_the_tolerance() -> None:
    tracks, body = sliders([wave(seed=k) for k in range(5)])
    found = reduce_keys(tracks, body, tolerance=Tolerance(metres=0.002))
    away = [np.linalg.norm(c.dense() - t.values, axis=1).max() for c, t in zip(found.curves, tracks, strict=True)]
    assert max(away) <= 0.002 and found.metres == pytest.approx(max(away))
    assert found.share() < 0.17 and not found.notes


def test_the_curve_is_the_bezier_that_blender_draws() -> None:
    tracks, body = sliders([wave()])
    curve = reduce_keys(tracks, body).curves[0]
    dense = curve.dense()
    for frame in range(0, 600, 13):
        assert np.allclose([bezier(curve, c, frame) for c in range(3)], dense[frame], atol=1e-12)


def test_errors_that_add_up_along_a_chain_stay_within_the_tolerance() -> None:
    tracks, body = arm([wave(seed=k)[:, 0] * 3 for k in range(6)], [0.3] * 6)
    tolerance = Tolerance(degrees=0.5, metres=0.002)
    found = reduce_keys(tracks, body, tolerance=tolerance)
    places, turns = body.pose([curve.dense() for curve in found.curves])
    wanted = body.pose([track.values for track in tracks])
    assert np.linalg.norm(places - wanted[0], axis=-1).max() <= 0.002
    assert np.degrees(rot.angle_between(turns, wanted[1])).max() <= 0.5
    assert found.share() < 0.5 and not found.notes


def test_standing_joints_keep_to_their_own_tolerance_and_corners_keep_their_keys() -> None:
    values = wave()
    standing = np.zeros((600, 1), bool)
    standing[200:260] = True
    values[200:260] = values[200]
    values[260:] += values[200] - values[260]
    tracks, body = sliders([values], standing)
    found = reduce_keys(tracks, body, [200, 259], Tolerance(metres=0.02, planted=0.0005))
    assert {0, 200, 259, 599} <= set(found.curves[0].frames.tolist())
    off = np.linalg.norm(found.curves[0].dense() - values, axis=1)
    assert off[200:260].max() <= 0.0005 < off.max() <= 0.02
    assert found.planted == pytest.approx(off[200:260].max())


def test_slopes_break_at_corners() -> None:
    """A foot that stops dead needs no keys before and after it to do so."""
    t = np.arange(121.0)
    values = np.stack([np.abs(t - 60.0) * 0.01, 0 * t, 0 * t], axis=1)
    standing = np.ones((121, 1), bool)
    tracks, body = sliders([values], standing)
    found = reduce_keys(tracks, body, [60])
    assert len(found.curves[0].frames) <= 4
    assert found.metres < 1e-5


def test_what_stands_still_has_two_keys_and_one_frame_has_one() -> None:
    tracks, body = sliders([np.tile([1.0, 2.0, 3.0], (50, 1))])
    assert reduce_keys(tracks, body).curves[0].frames.tolist() == [0, 49]
    tracks, body = sliders([np.ones((1, 3))])
    assert reduce_keys(tracks, body).curves[0].frames.tolist() == [0]
    tracks, body = sliders([wave(2)])
    assert reduce_keys(tracks, body).curves[0].frames.tolist() == [0, 1]


@given(st.integers(0, 10**6), st.integers(3, 90), st.floats(1e-4, 0.05))
def test_any_motion_comes_out_within_the_tolerance(seed, frames, metres) -> None:
    values = np.cumsum(np.random.default_rng(seed).normal(size=(frames, 3)), axis=0) * 0.01
    tracks, body = sliders([values])
    found = reduce_keys(tracks, body, tolerance=Tolerance(metres=metres, planted=metres))
    assert np.linalg.norm(found.curves[0].dense() - values, axis=1).max() <= metres * (1 + 1e-9)
