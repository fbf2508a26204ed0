"""Feet: skate, slide, foot yaw, penetration and float of figures that glide, turn, sink and hover by known amounts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import metrics as measure
from blender_addon.motion import rotations as rot
from blender_addon.motion.terrain import FlatGround, HeightField
from tests.motion.made_motion import glide, with_joint
from tests.synthetic import walk

FLOOR = FlatGround()


def forward(speed: float, seconds: float = 1.0, fps: float = 60.0) -> np.ndarray:
    t = np.arange(round(seconds * fps) + 1) / fps
    return np.stack([0.0 * t, -speed * t], axis=-1)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_skate_is_in_cm_per_sixtieth_of_a_second_at_any_frame_rate(fps: float) -> None:
    clip = glide(forward(0.6, fps=fps), fps=fps)
    skate = measure.foot_skate(clip, FLOOR)
    np.testing.assert_allclose(skate, 1.0, rtol=1e-9)
    assert measure.mean_skate(skate, clip, contacts_only=True) == pytest.approx(1.0)


@pytest.mark.parametrize(("height", "weight"), [(-0.01, 1.0), (0.0, 1.0), (0.0125, 2 - 2**0.5), (0.025, 0.0), (0.1, 0)])
def test_skate_fades_with_height_as_in_mann(height: float, weight: float) -> None:
    clip = glide(forward(0.6), height=height)
    np.testing.assert_allclose(measure.foot_skate(clip, FLOOR), weight, atol=1e-6)


def test_skate_is_measured_over_the_terrain_not_over_zero() -> None:
    slope = HeightField.from_function(lambda p: -0.2 * p[..., 1], (-2, -3, 2, 2), 0.5)
    track = forward(0.6)
    clip = glide(track, height=-0.2 * track[:, 1])
    # The balls stand ahead of the hips, so the slope is higher under them: lift by that.
    ahead = measure.ball_positions(clip)[0, 0, 1]
    clip = replace(clip, hips=clip.hips + np.array([0.0, 0.0, -0.2 * ahead]))
    np.testing.assert_allclose(measure.foot_skate(clip, slope), 1.0, rtol=1e-6)


def test_frames_of_landing_and_lifting_are_no_contact_skate() -> None:
    track = np.concatenate([np.zeros((30, 2)), forward(3.0, 0.5), np.tile([[0.0, -1.5]], (30, 1))])
    clip = glide(track)
    contacts = np.zeros_like(clip.contacts)
    contacts[:30] = contacts[61:] = True
    clip = replace(clip, contacts=contacts)
    skate = measure.foot_skate(clip, FLOOR)
    assert measure.mean_skate(skate, clip, contacts_only=True) == 0.0
    assert measure.mean_skate(skate, clip, contacts_only=False) > 1.0
    assert np.isnan(measure.mean_skate(skate, replace(clip, contacts=np.zeros_like(contacts)), True))


def test_skate_ratio_counts_low_fast_toes_whatever_is_marked() -> None:
    still, fast = np.zeros((60, 2)), forward(0.5, 1.0)[1:]
    clip = glide(np.concatenate([still, fast]))
    clip = replace(clip, contacts=~clip.contacts)
    assert measure.low_and_fast(clip, FLOOR).mean() == pytest.approx(0.5)
    assert measure.low_and_fast(glide(forward(0.15)), FLOOR).mean() == 0.0
    assert measure.low_and_fast(glide(forward(0.5), height=0.06), FLOOR).mean() == 0.0


def test_slide_is_the_greatest_distance_between_two_places_in_one_contact() -> None:
    rng = np.random.default_rng(3)
    clip = glide(rng.normal(scale=0.01, size=(40, 2)))
    contacts = np.zeros_like(clip.contacts)
    contacts[5:15, 0] = contacts[20:38, 0] = contacts[10:30, 1] = True
    clip = replace(clip, contacts=contacts)
    found = measure.slides(clip)
    assert found.foot.tolist() == [0, 0, 1]
    assert found.span.tolist() == [[5, 15], [20, 38], [10, 30]]
    ball = measure.ball_positions(clip)[..., :2]
    for foot, (a, b), value in zip(found.foot, found.span, found.value, strict=True):
        places = ball[a:b, foot]
        exact = np.max(np.linalg.norm(places[:, None] - places[None], axis=-1))
        assert exact * 0.9996 <= value <= exact + 1e-12
    assert found.worst()[1] in (5, 20, 10)


def test_without_contacts_there_is_nothing_to_slide() -> None:
    clip = glide(forward(1.0))
    found = measure.slides(replace(clip, contacts=np.zeros_like(clip.contacts)))
    assert np.isnan(found.worst()[0]) and np.isnan(found.percentile(95.0))


def test_foot_yaw_sees_a_spin_on_the_ball_and_not_a_roll_over_the_toes() -> None:
    frames = 61
    turn = np.radians(np.linspace(0.0, 40.0, frames))
    spun = with_joint(glide(np.zeros((frames, 2))), "left_hip", rot.from_axis_angle(rot.UP, turn))
    found = measure.foot_yaws(spun)
    np.testing.assert_allclose(np.degrees(found.value), [40.0, 0.0], atol=1e-6)
    pitch = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(np.linspace(0.0, 70.0, frames)))
    rolled = with_joint(glide(np.zeros((frames, 2))), "left_ankle", pitch)
    np.testing.assert_allclose(measure.foot_yaws(rolled).value, 0.0, atol=1e-9)


def test_foot_yaw_does_not_jump_where_the_angle_wraps() -> None:
    yaw = np.linspace(3.0, 3.4, 30)
    clip = glide(np.zeros((30, 2)), yaw)
    np.testing.assert_allclose(measure.foot_yaws(clip).value, 0.4, atol=1e-9)


@pytest.mark.parametrize("offset_mm", [-12.0, 0.0, 7.0])
def test_a_flat_foot_sinks_or_hovers_by_what_it_was_moved(offset_mm: float) -> None:
    clip = glide(np.zeros((5, 2)), height=offset_mm * 1e-3)
    np.testing.assert_allclose(measure.penetration(clip, FLOOR) * 1e3, max(-offset_mm, 0.0), atol=1e-6)
    np.testing.assert_allclose(measure.floating(clip, FLOOR) * 1e3, max(offset_mm, 0.0), atol=1e-6)


def test_a_foot_on_its_toes_does_not_float_but_a_sunk_heel_penetrates() -> None:
    clip = glide(np.zeros((2, 2)))
    foot = clip.skeleton.feet[0]
    for degrees, sinks in ((30.0, False), (-10.0, True)):
        about_x = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.full(2, np.radians(degrees)))
        tilted = with_joint(clip, "left_ankle", about_x)
        # Keep the ball where it was: only the heel rises or sinks.
        drop = clip.world[0][:, foot.toe] - tilted.world[0][:, foot.toe]
        tilted = replace(tilted, hips=tilted.hips + drop)
        if sinks:
            assert measure.penetration(tilted, FLOOR)[0, 0] > 0.01
        else:
            assert measure.floating(tilted, FLOOR)[0, 0] == 0.0


def test_soles_in_the_air_are_not_judged() -> None:
    clip = glide(np.zeros((4, 2)), height=0.3)
    clip = replace(clip, contacts=np.zeros_like(clip.contacts))
    assert np.all(np.isnan(measure.floating(clip, FLOOR)))


def test_resting_heights_are_found_from_the_contacts() -> None:
    clip = glide(np.zeros((50, 2)), height=0.02)
    expected = measure.rest_heights(clip) + 0.02
    np.testing.assert_allclose(measure.measured_rest_heights(clip, FLOOR), expected, atol=1e-9)
    nothing = replace(clip, contacts=np.zeros_like(clip.contacts))
    np.testing.assert_allclose(measure.measured_rest_heights(nothing, FLOOR), measure.rest_heights(clip))


def test_measures_do_not_depend_on_where_and_which_way_the_figure_walks() -> None:
    clip = walk(3.0, 1.0)
    place = rot.rotate_2d(2.0, clip.root[:, :2]) + np.array([5.0, -3.0])
    moved = clip.moved(np.concatenate([place, clip.root[:, 2:] + 2.0], axis=-1) - clip.root)
    for a, b in ((clip, moved), (clip, clip.mirrored())):
        ours, theirs = (measure.mean_skate(measure.foot_skate(c, FLOOR), c, False) for c in (a, b))
        assert ours == pytest.approx(theirs, rel=1e-6)
        assert measure.slides(a).worst()[0] == pytest.approx(measure.slides(b).worst()[0], rel=1e-3)
