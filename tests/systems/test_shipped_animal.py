"""The shipped animal's pack does what it is asked: short ways, each gait, its rests and a leap."""

from pathlib import Path

import numpy as np
import pytest

import blender_addon
from blender_addon.motion.animal import shoulder_height
from blender_addon.motion.gait_analysis.classify import classify
from blender_addon.motion.gait_analysis.footfalls import strides
from blender_addon.motion.limits import Limits
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import make_plan
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.systems import packs
from blender_addon.systems.synthesis import synthesise

PACK = Path(blender_addon.__file__).parent / "packs" / "quadruped-mann"


@pytest.fixture(scope="module")
def system():
    return packs.load_system(PACK)


def made(system, *marks: Mark, length: float = 7.0):
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -length]]))
    limits = Limits.responsive(0.5, four_legged=True)
    plan = make_plan(path, Schedule(marks), limits=limits, fps=system.fps, speeds=packs.read_info(PACK).speeds)
    return plan, synthesise(system, [plan])[0]


def test_it_is_small_and_says_what_it_is_made_of():
    info = packs.read_info(PACK)
    assert sum(file.stat().st_size for file in PACK.iterdir()) < 12e6
    assert any("not captured" in line and "gait model" in line for line in info.credits)
    assert {"walk", "pace", "trot", "canter", "gallop", "sit", "lie", "jump", "stand"} <= set(info.actions)


@pytest.mark.parametrize(("gait", "speed"), [("walk", 0.8), ("pace", 1.6), ("trot", 1.8)])
def test_the_gait_asked_for_is_made_on_the_path(system, gait, speed):
    plan, motion = made(system, Mark(0.0, speed, gait))
    clip = motion.clip
    assert np.linalg.norm(clip.root[:, :2] - plan.positions, axis=1).mean() < 0.025
    steady = [stride for stride in strides(clip) if plan.speed[round(stride.first)] > 0.9 * speed]
    names = [classify(stride, shoulder_height(clip.skeleton)).label for stride in steady]
    assert len(names) >= 3 and np.mean([name == gait for name in names]) >= 0.95


def test_it_sits_down_gets_up_and_leaps(system):
    plan, motion = made(system, Mark(0.0, 1.2, "walk"), Mark(2.0, action="sit", pause=4.0), Mark(5.0, action="jump"))
    height = motion.clip.hips[:, 2]
    sitting = plan.action == plan.actions.index("sit")
    assert height[sitting].min() < 0.55 * height[:20].mean()
    assert height[-20:].mean() > 0.9 * height[:20].mean()
    leaping = plan.action == plan.actions.index("jump")
    assert np.any(~motion.clip.contacts[leaping].any(axis=1))
