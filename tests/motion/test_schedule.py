"""The schedule: marks checked, sorted and filled in, and fitted to a path and a pack."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion.errors import PathError
from blender_addon.motion.gait_names import STAND_INS, absent_notes, nearest_action
from blender_addon.motion.schedule import Mark, Schedule, fitted, speed_along


def test_marks_are_sorted_and_the_start_is_implied():
    stretches = Schedule([Mark(6.0, 3.0, "run"), Mark(2.0, 0.8)]).stretches()
    assert [(x.at, x.speed, x.action) for x in stretches] == [(0.0, 1.2, "walk"), (2.0, 0.8, "walk"), (6.0, 3.0, "run")]
    assert [x.speed for x in Schedule().stretches()] == [1.2]


def test_a_missing_speed_is_kept_or_the_usual_one_of_a_new_action():
    stretches = Schedule([Mark(0.0, 0.7), Mark(1.0), Mark(2.0, action="run"), Mark(3.0, action="hop")]).stretches()
    assert [x.speed for x in stretches] == [0.7, 0.7, 2.8, 2.8]


def test_a_stand_mark_interrupts_what_goes_on():
    schedule = Schedule([Mark(0.0, 0.9), Mark(3.0, action="stand", pause=2.5), Mark(5.0, action="stand")])
    assert [(x.speed, x.action, x.pause) for x in schedule.stretches()[1:]] == [(0.9, "walk", 2.5), (0.9, "walk", 1.0)]
    assert schedule.actions == ("walk",)


@pytest.mark.parametrize(
    "mark",
    [
        Mark(0.0, 0.0),
        Mark(0.0, -1.0),
        Mark(0.0, float("nan")),
        Mark(0.0, 99.0),
        Mark(-1.0, 1.0),
        Mark(float("nan"), 1.0),
        Mark(0.0, 1.0, pause=-1.0),
        Mark(0.0, 1.0, pause=1e6),
        Mark(0.0, 1.0, ease=float("inf")),
        Mark(0.0, 1.0, action=""),
        Mark(0.0, action="jump", reach=0.0),
        Mark(0.0, action="jump", reach=float("nan")),
    ],
)
def test_numbers_that_make_no_sense_are_refused_with_a_remedy(mark):
    with pytest.raises(PathError) as caught:
        Schedule([mark])
    assert caught.value.remedy


def test_an_action_that_the_pack_does_not_know_is_named_with_those_it_knows():
    schedule = Schedule([Mark(0.0, 1.0), Mark(2.0, 1.0, "moonwalk"), Mark(4.0, action="stand")])
    schedule.check_actions(("walk", "moonwalk"))
    with pytest.raises(PathError, match="moonwalk.*walk, run"):
        schedule.check_actions(("walk", "run"))


def test_a_word_that_something_stands_in_for_passes():
    asked = Schedule([Mark(2.0, action="crouch"), Mark(4.0, action="stand")])
    asked.check_actions(("walk", "run"), STAND_INS)
    (note,) = absent_notes(asked, ("stand", "walk", "run"))
    assert '"crouch"' in note and '"walk" is shown' in note
    assert absent_notes(asked, ("walk", "crouch")) == ()
    assert nearest_action("stand", ("walk", "limp")) == "walk", "who has learned nothing but walking walks on the spot"


def test_speeds_ease_over_metres_or_seconds():
    s = np.array([0.0, 2.0, 2.5, 3.0, 9.0])
    metres = Schedule([Mark(0.0, 1.0), Mark(2.0, 2.0, ease=1.0)]).stretches()
    np.testing.assert_allclose(speed_along(metres, s), [1.0, 1.0, 1.5, 2.0, 2.0])
    # 2 s at a mean of 1.5 m/s are 3 m: at 2.5 m a sixth of the smooth step, 1/36 * (3 - 1/3), is done.
    seconds = Schedule([Mark(0.0, 1.0), Mark(2.0, 2.0, ease=2.0, ease_in_seconds=True)]).stretches()
    np.testing.assert_allclose(speed_along(seconds, s)[2], 1.0 + (3.0 - 1.0 / 3.0) / 36.0)


def test_what_a_path_or_pack_cannot_do_is_changed_and_said():
    schedule = Schedule([Mark(0.0, 0.1), Mark(4.0, 5.0, "run"), Mark(20.0, 1.0)])
    stretches, notes = fitted(schedule.stretches(), 10.0, (0.3, 3.0))
    assert [x.speed for x in stretches] == [0.3, 3.0]
    assert len(notes) == 3
    assert any("20.00 m" in note and "10.00 m" in note for note in notes)
    assert any("5.00 m/s" in note and "3.00 m/s is used" in note for note in notes)


def test_a_speed_that_is_a_hair_beyond_the_packs_is_used_at_its_end_without_a_word():
    kept, notes = fitted(Schedule.constant(2.7).stretches(), 8.0, (0.3, 2.6999))
    assert kept[0].speed == 2.6999 and notes == ()
