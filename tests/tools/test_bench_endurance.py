from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import courses
from blender_addon.motion.plan import Plan
from blender_addon.motion.terrain import FlatGround, HeightField
from tests.synthetic import walk
from tools.bench_endurance import lasting, plan_of


@pytest.mark.parametrize("name", ["straight", "s", "circle", "star"])
def test_every_course_lasts_as_long_as_asked(name):
    plan = plan_of(courses.course(name), 1.2, (0.3, 2.0), 40.0, 60.0)
    assert 40.0 <= plan.seconds < 110.0
    assert np.linalg.norm(np.diff(plan.positions, axis=0), axis=1).max() < 1.4 / 60


def planned(clip) -> Plan:
    speed = np.full(len(clip), 1.0)
    return Plan(60.0, clip.root[:, :2], clip.root[:, 2], speed, np.cumsum(speed) / 60, ("walk",),
                np.zeros(len(clip), np.int64), np.zeros(len(clip), bool))  # fmt: skip


def test_who_strays_sinks_or_dies_out_is_lost():
    clip = walk(12.0, 1.0)
    plan = planned(clip)

    def found(made):
        return lasting("x", made, plan, FlatGround(0.2), over_ground=True)

    assert found(clip).alive and found(clip).mean == 0.0
    strayed = np.array(clip.root)
    strayed[600:, 0] += 0.7
    assert not found(replace(clip, root=strayed)).alive
    sunk = np.array(clip.hips)
    sunk[600:, 2] -= 0.25
    assert not found(replace(clip, hips=sunk)).alive
    stiff = np.array(clip.rotations)
    stiff[480:] = stiff[480]
    frozen = found(replace(clip, rotations=stiff))
    assert frozen.lively < 0.01 and not frozen.alive


def test_who_climbs_stairs_smoothly_has_not_sunk():
    clip = walk(12.0, 0.8)
    stairs = HeightField.from_function(lambda p: 0.18 * np.floor(np.maximum(-p[..., 1], 0.0) / 0.3), (-1, -11, 1, 1))
    climbed = np.array(clip.hips)
    climbed[:, 2] += 0.6 * np.maximum(-clip.root[:, 1] - 0.15, 0.0)
    found = lasting("x", replace(clip, hips=climbed), planned(clip), stairs, over_ground=True)
    assert found.lowest > 0.85
    assert found.highest < 1.15
