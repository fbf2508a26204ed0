"""The shipped pack of any ground: over slopes, stairs and gaps, and low."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from blender_addon.motion import courses
from blender_addon.motion.gait_labels import body_top, jumps
from blender_addon.motion.metrics_feet import ball_positions
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.report import judge
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import FlatGround, HeightField, Terrain
from blender_addon.motion.way_ahead import way_ahead
from blender_addon.systems.packs import Pack, load_system, read_pack
from blender_addon.systems.synthesis import Synthesis, synthesise

PACK = Path(__file__).resolve().parents[2] / "blender_addon" / "packs" / "biped-pfnn"
LINE = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -10.0]]), False)


@pytest.fixture(scope="module")
def pack() -> Pack:
    return read_pack(PACK)


@pytest.fixture(scope="module")
def system():
    return load_system(PACK)


def walked(system, pack: Pack, ground: Terrain, *marks: Mark) -> tuple[Synthesis, tuple[str, ...]]:
    """A straight way of 10 m over a ground."""
    ahead = way_ahead(LINE, ground, Schedule(marks), system.actions, system.abilities, 1.0)
    plan = make_plan(
        LINE, ahead.schedule, fps=system.fps, speeds=pack.speeds, leap=ahead.leap, crouching=ahead.crouching
    )
    return synthesise(system, [plan], [ahead.ground])[0], (*ahead.notes, *plan.notes)


def test_the_pack_is_small_and_says_what_it_can(system, pack):
    assert sum(len(data) for data in pack.files.values()) < 12e6
    assert system.actions == ("stand", "walk", "run", "crouch", "jump")
    assert system.abilities.leap.furthest > 1.3
    assert system.abilities.crouch.deepest > 0.25
    assert np.degrees(np.arctan(system.abilities.steepest)) > 14.0
    assert pack.info.credits


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.2])
@pytest.mark.parametrize("name", ["slope_up", "slope_down", "slope_across", "stairs", "noise", "kerb"])
def test_feet_stand_on_every_ground(system, pack, name, speed):
    course = courses.course("straight")
    ground = courses.ground(name).field(course)
    path = RootPath.from_points(course.points, False)
    plan = make_plan(path, Schedule.constant(speed), fps=system.fps, speeds=pack.speeds)
    made = synthesise(system, [plan], [ground])[0]
    report = judge(made.clip, plan, ground, None, made.planted, curve=course.points)
    for key in ("path_hips_mean", "path_hips_max", "slide_max", "penetration_p95", "float_p95"):
        assert report[key].mark == "good", (key, report[key].value)


def test_hips_are_carried_as_high_uphill_as_on_the_level_and_the_trunk_leans(system, pack):
    course = courses.course("straight")
    leans = {}
    for name in ("slope_up", "flat"):
        plan = make_plan(RootPath.from_points(course.points, False), Schedule.constant(0.8), fps=system.fps,
                         speeds=pack.speeds)  # fmt: skip
        clip = synthesise(system, [plan], [courses.ground(name).field(course)])[0].clip
        head, hips = clip.world[0][:, clip.skeleton.names.index("Head")], clip.hips
        middle = slice(len(clip) // 3, 2 * len(clip) // 3)
        forward = -(head - hips)[middle, 1]
        leans[name] = float(np.degrees(np.arctan2(forward, (head - hips)[middle, 2])).mean())
    assert leans["slope_up"] > leans["flat"] + 4.0


@pytest.mark.parametrize("speed", [0.8, 1.2, 2.0])
@pytest.mark.parametrize("width", [0.5, 0.9, 1.2])
def test_no_foot_stands_in_a_gap_that_is_leapt_over(system, pack, speed, width):
    first, last = 4.2, 4.2 + width
    ground = HeightField.from_function(
        lambda xy: np.where((-xy[..., 1] > first) & (-xy[..., 1] < last), -1.0, 0.0), (-1.5, -11.5, 1.5, 1.5)
    )
    made, _ = walked(system, pack, ground, Mark(0.0, speed), Mark(4.0, action="jump"))
    balls, down = -ball_positions(made.clip)[..., 1], made.clip.contacts
    assert not np.any(down & (balls > first) & (balls < last))
    (take_off,) = made.plan.leaps
    assert any(abs(begin - take_off * system.fps) < 6 for begin, _ in jumps(made.clip))


def test_a_crouch_is_low_and_over_when_it_shall_be(system, pack):
    made, notes = walked(system, pack, FlatGround(), Mark(0.0, 0.8), Mark(3.0, 0.8, "crouch"), Mark(7.0, 0.8))
    top, way = body_top(made.clip), -made.clip.root[:, 1]
    assert notes == ()
    assert top[(way > 4.0) & (way < 6.0)].max() < 0.87
    assert top[(way > 8.5) & (way < 9.5)].min() > 0.92
