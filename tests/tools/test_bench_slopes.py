from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion import courses
from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.terrain import HeightField
from tests.synthetic import walk
from tools.bench_slopes import Cell, captured, carriage, table

LEAN = 7.0


def on_slope(degrees: float, speed: float = 0.8) -> Clip:
    """A walk along -Y up a plane, hips 0.91 m over it, the body leaning forward by `LEAN`."""
    clip = walk(8.0, speed)
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.mul(rotations[:, 0], rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(LEAN)))
    hips = np.array(clip.hips)
    hips[:, 2] += np.tan(np.radians(degrees)) * -hips[:, 1]
    return replace(clip, hips=hips, rotations=rotations)


@pytest.mark.parametrize("degrees", [-15.0, 0.0, 10.0])
def test_gradient_height_and_lean_are_those_of_the_made_up_walk(degrees):
    found = carriage(on_slope(degrees), courses.slope(degrees))
    assert found.straight.sum() > 6 * 60
    assert found.gradient[found.straight] == pytest.approx(degrees, abs=0.01)
    assert found.speed[found.straight] == pytest.approx(0.8, abs=0.01)
    assert found.mean(found.straight) == pytest.approx((0.91, LEAN), abs=1e-3)


def test_who_turns_goes_sideways_or_leaves_the_slope_is_not_counted():
    assert not carriage(walk(8.0, 1.0, 1.0), courses.flat).straight.any()
    aside = on_slope(0.0)
    assert not carriage(replace(aside, root=aside.root + [0.0, 0.0, np.pi / 2]), courses.flat).straight.any()
    found = carriage(on_slope(0.0), lambda xy: np.maximum(0.0, 0.2 * (-xy[..., 1] - 3.0)))
    there = np.abs(-found.gradient) < 8.0
    edge = np.abs(-on_slope(0.0).root[:, 1] - 3.0) < 0.3
    assert not (found.straight & edge).any() and (found.straight & there & ~edge).any()


def test_slope_takes_are_measured_over_the_ground_of_their_own_feet():
    clips = []
    for degrees in (15.0, 0.0):
        hill = HeightField.from_function(courses.slope(degrees), (-3.0, -10.0, 3.0, 2.0), 0.25)
        clips.append(replace(plant_feet(walk(8.0, 0.8), hill).clip, name=f"{degrees}"))
    cells = captured(Dataset(clips[0].skeleton, clips, [("slope",), ("walk",)]))
    assert {gradient for gradient, _ in cells} == {15.0}
    true = carriage(clips[0], courses.slope(15.0))
    cell = cells[15.0, 0.8]
    assert (cell.hips, cell.lean) == pytest.approx(true.mean(true.straight), abs=0.02)
    assert 5.0 < cell.seconds < 8.0


def test_the_table_tells_differences_from_the_takes_where_there_are_any():
    one, other = Cell(3.0, 0.95, 4.0), Cell(9.0, 0.93, 6.5)
    text = table(0.8, {(5.0, 0.8): one}, {"p": ({(5.0, 0.8): other, (10.0, 0.8): other}, {})})
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert "93.0 (-2.0)" in lines["+5"] and "6.5 (+2.5)" in lines["+5"] and "95.0" in lines["+5"]
    assert lines["+10"].split() == ["+10", "0.0", "-", "-", "93.0", "6.5", "-", "-"]
