"""Measures of four legs: feet, joints, gaits against what was asked and against the table, limits by size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import metrics as measure
from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import trunk_ends
from blender_addon.motion.clip import Clip
from blender_addon.motion.gait_model.table import load_table
from blender_addon.motion.metrics_gait import MadeStride, asked_gaits, made_strides, span, timing, trunk_pitch
from blender_addon.motion.metrics_smoothness import knee_joints
from blender_addon.motion.plan import Plan
from blender_addon.motion.proportions import sized
from blender_addon.motion.report import judge
from blender_addon.motion.report_limits import Limits
from tests.animal_steps import stepping
from tests.animals import animal


class Level:
    def height(self, xy: np.ndarray) -> np.ndarray:
        return np.zeros(np.shape(xy)[:-1])


def plan_of(clip: Clip, action: str) -> Plan:
    """A plan that the clip's root follows exactly and that asks for one action."""
    speed = np.linalg.norm(np.gradient(clip.root[:, :2], axis=0), axis=-1) * clip.fps
    return Plan(
        clip.fps, clip.root[:, :2], clip.root[:, 2], speed, np.cumsum(speed) / clip.fps, ("stand", action),
        np.ones(len(clip), dtype=np.int64), np.zeros(len(clip), dtype=bool),
    )  # fmt: skip


def glided(name: str, track: np.ndarray, lift: float = 0.0) -> Clip:
    """An animal in rest pose, all feet marked as standing, carried along ``track`` (f, 2)."""
    skeleton = animal(name)
    hips = skeleton.offsets[0] + np.concatenate([track, np.full((len(track), 1), lift)], axis=1)
    return Clip(
        skeleton, 60.0, hips, np.tile(skeleton.rest_rotations, (len(track), 1, 1)),
        np.concatenate([track, np.zeros((len(track), 1))], axis=1), np.ones((len(track), 4), dtype=bool),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_gliding_feet_slide_as_far_as_they_are_carried(name: str) -> None:
    track = np.zeros((30, 2))
    track[:, 0] = np.linspace(0.0, 0.29, 30)
    clip = glided(name, track)
    assert measure.slides(clip).value == pytest.approx([0.29] * 4, rel=1e-3)
    # 1 cm a frame, at rest height: counted in full.
    assert measure.foot_skate(clip, Level()) == pytest.approx(np.ones((30, 4)), rel=1e-3)
    assert measure.pelvis(clip)[:, 0] == pytest.approx(track[:, 0], abs=1e-6)


@pytest.mark.parametrize("name", ["fox", "horse", "wolf_without_paws"])
def test_feet_carried_over_or_under_the_ground_float_or_sink(name: str) -> None:
    over, under = (glided(name, np.zeros((4, 2)), lift) for lift in (0.02, -0.02))
    assert measure.floating(over, Level()) == pytest.approx(np.full((4, 4), 0.02), abs=1e-3)
    assert np.nanmax(measure.penetration(over, Level())) == 0.0
    assert measure.penetration(under, Level()) == pytest.approx(np.full((4, 4), 0.02), abs=1e-3)


def test_bending_the_foot_over_toes_that_stand_is_no_sliding() -> None:
    clip = stepping("fox", 3.0, 0.8)
    assert measure.slides(clip).worst()[0] < 5e-4
    assert np.nanmax(np.abs(measure.foot_yaws(clip).value)) < 1e-6


def test_knees_are_stifle_hock_elbow_and_wrist() -> None:
    fox = animal("fox")
    roles = {name: role for role, name in fox.roles.items()}
    assert [roles[fox.names[joint]] for joint in knee_joints(fox)] == [
        "left_knee", "left_hock", "right_knee", "right_hock", "left_elbow", "left_wrist", "right_elbow", "right_wrist",
    ]  # fmt: skip
    assert len(knee_joints(animal("wolf_without_paws"))) == 6
    for name in ("fox", "wolf_without_paws"):
        clip = stepping(name, 1.0, 0.8)
        assert measure.knee_angles(clip).shape == measure.knee_acceleration(clip).shape


def test_a_hock_that_swings_as_a_sine_is_accelerated_as_one() -> None:
    clip = glided("fox", np.zeros((120, 2)))
    amplitude, frequency = np.radians(20.0), 2.0
    turn = amplitude * np.sin(2.0 * np.pi * frequency * np.arange(120) / 60.0)
    joint = clip.skeleton.index("left_hock")
    local = np.array(clip.rotations)
    local[:, joint] = rot.mul(rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), turn), local[:, joint])
    found = measure.knee_acceleration(replace(clip, rotations=local))
    wanted = np.degrees(amplitude) * (2.0 * np.pi * frequency) ** 2
    assert np.nanmax(found[:, 1]) == pytest.approx(wanted, rel=0.01)
    assert np.nanmax(found[:, 0]) == pytest.approx(0.0, abs=1e-3)


def test_bodies_face_from_hips_to_shoulders() -> None:
    clip = stepping("fox", 3.0, 0.8, 0.5)
    inner = slice(45, -45)
    assert measure.heading_error(measure.body_facing(clip), clip.root[:, 2])[inner].max() < np.radians(1.0)


@pytest.mark.parametrize(("gait", "speed"), [("walk", 0.9), ("trot", 2.0), ("pace", 1.6)])
def test_the_gait_that_is_asked_and_made_is_right(gait: str, speed: float) -> None:
    clip = stepping("fox", 6.0, speed, 0.0, gait, frequency=2.5)
    plan = plan_of(clip, gait)
    made = made_strides(clip, asked_gaits(plan.speed, plan.actions, plan.action, 0.6))
    assert len(made) > 8 and all(entry.right for entry in made)
    report = judge(clip, plan)
    assert report["gait_wrong"].value == 0.0 and report["gait_wrong"].mark == "good"


def test_another_gait_than_asked_is_counted() -> None:
    clip = stepping("fox", 6.0, 1.5, 0.0, "pace", frequency=2.5)
    report = judge(clip, plan_of(clip, "trot"))
    assert report["gait_wrong"].value == 100.0 and report["gait_wrong"].mark == "bad"
    assert report.get("gait_lag") is None


def test_by_itself_a_gait_may_be_late_at_a_change_of_speed_but_not_wrong_far_from_it() -> None:
    def asked(speed: float, action: str) -> tuple[str, ...]:
        return asked_gaits(np.full(2, speed), ("stand", action), np.ones(2, dtype=np.int64), 0.6)[0]

    change = float(np.sqrt(0.5 * 9.81 * 0.6))
    assert asked(0.8, "auto") == ("walk",)
    assert set(asked(change, "auto")) == {"walk", "trot"}
    assert asked(2.5, "auto") == ("trot",)
    assert asked(1.5, "pace") == ("pace",)
    assert asked(0.01, "auto") == asked(0.5, "sit") == ()


def test_timing_is_held_against_the_table() -> None:
    clip = stepping("fox", 6.0, 0.9)
    plan = plan_of(clip, "walk")
    made = made_strides(clip, asked_gaits(plan.speed, plan.actions, plan.action, 0.6))
    (found,) = timing(made, 0.6)
    walk = load_table()["walk"]
    assert found.gait == "walk" and found.count == len(made)
    # The made-up walk puts its fore feet down a quarter of a stride after the hind ones.
    assert found.lag == pytest.approx(0.25 - walk.lags[2], abs=0.01)
    assert found.duty == pytest.approx(abs(0.65 - float(walk.duty_factor(np.array(0.9), 0.6))), abs=0.02)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-0.03, 0.03), min_size=3, max_size=3), st.sampled_from(["walk", "trot", "canter", "gallop"]),
       st.booleans())  # fmt: skip
def test_deviations_from_the_table_are_found_for_either_lead(off: list[float], gait: str, swapped: bool) -> None:
    clip = stepping("fox", 3.0, 0.9)
    stride = made_strides(clip, [("walk",)] * len(clip))[0].stride
    table = load_table()[gait]
    lags = (table.lags + np.array([0.0, *off])) % 1.0
    if swapped:
        lags = (lags[[1, 0, 3, 2]] - lags[1]) % 1.0
    made = [MadeStride(replace(stride, lags=lags), (gait,), gait, 3.0)] * 3
    (found,) = timing(made, 0.6)
    wanted = np.array([0.0, *off])
    if swapped:
        wanted = (wanted - wanted[0])[[1, 0, 3, 2]] - wanted[1]
    own = np.abs(wanted).max()
    # A symmetrical gait may be nearer to its mirror image.
    assert found.lag <= own + 1e-6 and (gait in ("walk", "trot") or found.lag == pytest.approx(own, abs=1e-6))


def test_the_trunks_pitch_is_that_of_the_line_along_it() -> None:
    clip = glided("fox", np.zeros((121, 2)))
    nod = 0.1 * np.sin(2.0 * np.pi * np.arange(121) / 60.0)
    local = np.array(clip.rotations)
    # About the left a positive turn takes what is ahead (-Y) downwards.
    local[:, 0] = rot.mul(rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), nod), local[:, 0])
    pitch = trunk_pitch(replace(clip, rotations=local))
    assert pitch == pytest.approx(-np.degrees(nod), abs=0.05)
    assert span(pitch[:61]) == pytest.approx(np.degrees(0.2), rel=0.01)
    assert span(np.linspace(3.0, 9.0, 20)) == pytest.approx(0.0)
    hind, fore = trunk_ends(clip.skeleton, *clip.world)
    assert (fore[:, 1] < hind[:, 1]).all()


def test_limits_grow_with_the_animal_and_people_keep_theirs() -> None:
    fox, horse = Limits.of(animal("fox")), Limits.of(animal("horse"))
    assert fox.slide == pytest.approx(3.0) and fox.skate == pytest.approx(0.02) and fox.path_mean == pytest.approx(2.5)
    assert horse.penetration == pytest.approx(5.0 * 1.6 / 0.6)
    clip = stepping("fox", 4.0, 0.8)
    twice = sized(clip, 2.0)
    one, two = judge(clip, plan_of(clip, "walk")), judge(twice, plan_of(twice, "walk"))
    assert two["slide_max"].wanted == pytest.approx(2.0 * one["slide_max"].wanted)
    assert two["hinges_walk"].value == pytest.approx(one["hinges_walk"].value, rel=1e-6)
    assert two["hinges_walk"].wanted == pytest.approx(0.5 * one["hinges_walk"].wanted)


def test_all_feet_down_replaces_double_support() -> None:
    clip = stepping("fox", 4.0, 0.8)
    report = judge(clip, plan_of(clip, "walk"))
    assert report.get("double_support") is None
    assert report["all_down"].value == 0.0
    assert report["airborne"].value == 0.0
    glide = glided("fox", np.stack([np.zeros(120), -np.arange(120) / 60.0], axis=1))
    assert judge(glide, plan_of(glide, "walk"))["all_down"].value == pytest.approx(2.0)


def test_bases_of_four_legs_are_pooled_by_speed() -> None:
    clips = [stepping("fox", 6.0, speed) for speed in (0.0, 0.5, 1.0)]
    reference = measure.capture_reference(clips).reference()
    report = judge(clips[2], plan_of(clips[2], "walk"), None, reference)
    assert report["liveliness"].value == pytest.approx(1.0, rel=0.02)
    assert (report["liveliness"].low, report["liveliness"].wanted) == (0.9, 1.1)
    assert report["pop_p99"].value == pytest.approx(1.0, rel=0.1)
