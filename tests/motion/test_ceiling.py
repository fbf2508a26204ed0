"""Ceilings over a path: where they are too low, how low they want a body, and the plans that come of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.abilities import Abilities, Crouch
from blender_addon.motion.ceiling import (
    LOWERED,
    MARGIN,
    Ceiling,
    Overhead,
    crouching_along,
    depth_for,
    low_spans,
    lowest_room,
)
from blender_addon.motion.crouching import CROUCH, Crouching, eased
from blender_addon.motion.crown import Crown
from blender_addon.motion.ducking import ROOM, ducked
from blender_addon.motion.gait_labels import top_of_depth
from blender_addon.motion.gait_names import action_weights
from blender_addon.motion.likeness import Likeness
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.proportions import sized_skeleton
from blender_addon.motion.report import judge
from blender_addon.motion.schedule import Mark, Schedule
from blender_addon.motion.terrain import FlatGround
from blender_addon.motion.way_ahead import way_ahead
from tests.synthetic import biped, walk

LINE = RootPath.from_points([[0.0, 0.0], [20.0, 0.0]])
ROUND = RootPath.from_points(
    4.0 * np.stack([np.cos(np.linspace(0, 2 * np.pi, 120, False)), np.sin(np.linspace(0, 2 * np.pi, 120, False))], 1),
    cyclic=True,
)
#: 1.80 m tall, the head's joint at 1.50 m.
TALL = Crown(0, np.array([0.0, 0.0, 0.15]), 0.15, 1.8, 1.5)
ABLE = Crouch(usual=0.7, deepest=0.9, fastest=0.8)
GAITS = ("stand", "walk", "run", "crouch")


def ceiling(*parts: tuple[float, float, float], path: RootPath = LINE) -> Ceiling:
    """Undersides (from, to, height) over a path, on both sides of a closed one's beginning where ``to`` is smaller."""
    arc = np.linspace(0.0, path.length, round(path.length / 0.1) + 1)
    height = np.full(len(arc), np.inf)
    for first, last, under in parts:
        inside = (arc >= first) & (arc <= last) if first <= last else (arc >= first) | (arc <= last)
        height[inside] = np.minimum(height[inside], under)
    return Ceiling(arc, height, path.cyclic)


def under(found: Ceiling, crouch: Crouch | None = ABLE, path: RootPath = LINE, **options) -> tuple[Crouching, str]:
    """How a tall man crouches under it, and what is said, joined."""
    four, start = options.get("four_legged", False), options.get("start", 0.0)
    crouching, notes = crouching_along(Overhead(path, found, TALL, four), FlatGround(0.0), crouch, start)
    return crouching, "\n".join(notes)


def planned(crouching: Crouching, schedule: Schedule, path: RootPath = LINE, **options) -> Plan:
    return make_plan(path, schedule, crouching=crouching, **options)


def test_low_parts_are_found_and_those_near_to_each_other_are_one():
    found = low_spans(ceiling((3, 5, 1.4), (6, 7, 1.2), (12, 13, 1.83), (16, 17, 2.2)), np.zeros(201), 1.8)
    assert [(round(span.first, 2), round(span.last, 2), span.room) for span in found] == [
        (3.0, 7.0, 1.2), (12.0, 13.0, 1.83),
    ]  # fmt: skip
    raised = low_spans(ceiling((3, 5, 1.4)), np.full(201, -0.6), 1.8)
    assert raised == (), "what counts is the height over the ground there"


def test_a_low_part_over_the_beginning_of_a_closed_path_is_whole():
    length = ROUND.length
    found = low_spans(ceiling((length - 1.0, 1.5, 1.3), path=ROUND), np.zeros(round(length / 0.1) + 1), 1.8)
    assert len(found) == 1
    assert found[0].first == pytest.approx(length - 1.0, abs=0.11)
    assert found[0].last == pytest.approx(length + 1.5, abs=0.11)
    all_round = low_spans(ceiling((0.0, length, 1.3), path=ROUND), np.zeros(round(length / 0.1) + 1), 1.8)
    assert [(span.first, round(span.last, 6)) for span in all_round] == [(0.0, round(length, 6))]


def test_the_depth_is_what_brings_the_head_under_the_ceiling():
    # The head keeps its 0.30 m; (1.34 - 0.04 - 0.30) / 1.5 is two thirds of the joints' height.
    assert depth_for(np.array([1.34]), TALL)[0] == pytest.approx((0.9 - 2 / 3) / 0.5)
    assert list(depth_for(np.array([1.83, 1.85, np.inf]), TALL)) == [0.1, 0.0, 0.0]


@given(room=st.floats(0.2, 1.83))
def test_a_body_so_deep_fits_under_the_ceiling_if_it_can(room):
    depth = float(depth_for(np.array([room]), TALL)[0])
    head = 0.30 + 1.5 * float(top_of_depth(np.array(depth)))
    assert 0.1 <= depth <= 1.0
    if room >= lowest_room(replace(ABLE, deepest=1.0), TALL) + MARGIN:
        assert head <= room - MARGIN + 1e-9
    if 0.1 < depth < 1.0:
        assert head == pytest.approx(room - MARGIN), "no lower than it must"


def test_one_is_down_before_the_ceiling_and_until_behind_it_but_no_further():
    crouching, said = under(ceiling((5, 7, 1.34)))
    plan = planned(crouching, Schedule.constant(0.8))
    share = action_weights(plan, GAITS)[:, 3]
    wanted = (0.9 - 2 / 3) / 0.5
    inside = (plan.distance > 4.6) & (plan.distance < 7.1)
    assert np.allclose(share[inside], wanted)
    assert np.all(share[(plan.distance < 3.6) | (plan.distance > 8.2)] == 0.0)
    assert "from 5.00 to 7.00 m" in said and "1.34 m high" in said


def test_weights_are_shared_between_crouching_and_walking_and_change_gradually():
    crouching, _ = under(ceiling((5, 7, 1.0)))
    plan = planned(crouching, Schedule.constant(1.2))
    weights = action_weights(plan, GAITS)
    assert np.allclose(weights.sum(axis=1), 1.0) and weights.min() >= 0.0
    assert weights[:, 3].max() == pytest.approx(0.9), "no deeper than is learned"
    assert np.abs(np.diff(weights[:, 3])).max() < 0.9 * 2.5 / 60
    assert np.allclose(action_weights(plan, ("stand", "walk"))[:, 1], plan.action != 0), "others just walk"


def test_the_animators_own_crouch_is_as_deep_as_usual_and_deeper_where_the_ceiling_wants_it():
    schedule = Schedule([Mark(0.0, 0.7), Mark(4.0, 0.7, CROUCH), Mark(14.0, 0.7)])
    plain = planned(Crouching(Crouch(0.6, 0.8, 0.9)), schedule)
    low = (plain.distance > 4.6) & (plain.distance < 13.4)
    assert np.allclose(action_weights(plain, GAITS)[low, 3], 0.6)
    assert np.all(plain.depth[plain.distance < 4.0] == 0.0)
    crouching, _ = under(ceiling((8, 9, 1.12)))
    both = planned(crouching, schedule)
    at = [int(np.argmax(both.distance > s)) for s in (6.0, 8.5, 12.0)]
    assert action_weights(both, GAITS)[at, 3] == pytest.approx([0.7, (0.9 - 0.78 / 1.5) / 0.5, 0.7])
    assert np.allclose(action_weights(planned(Crouching(), schedule), GAITS)[low, 3], 1.0), "packs that say no depth"
    bare = replace(plain, depth=np.zeros(0))
    assert action_weights(bare, GAITS)[:, 3].max() == pytest.approx(1.0)


def test_marks_stay_in_force_under_the_ceiling_but_for_what_is_done():
    marks = [Mark(0.0, 0.7), Mark(6.0, 0.4), Mark(7.0, action="stand", pause=2.0), Mark(9.0, 2.5, "run")]
    crouching, said = under(ceiling((4, 8, 1.3)))
    plan = planned(crouching, Schedule(marks))
    bare = make_plan(LINE, Schedule(marks))
    early = slice(0, int(np.argmax(plan.distance > 8.0)))
    assert np.allclose(plan.speed[early], bare.speed[early]), "speeds and pauses are as before"
    inside = (plan.distance > 4.0) & (plan.distance < 8.0)
    assert {plan.actions[k] for k in plan.action[inside]} == {CROUCH}, "standing and pausing too"
    after = plan.distance > 11.5
    assert np.median(plan.speed[after & (plan.speed > 0.5)]) == pytest.approx(2.5, abs=0.05)
    assert "run" in {plan.actions[k] for k in plan.action[after]}


def test_nobody_goes_faster_under_a_ceiling_than_he_crouches_and_that_is_said():
    crouching, _ = under(ceiling((8, 12, 1.3)))
    plan = planned(crouching, Schedule.constant(1.4))
    inside = (plan.distance > 7.6) & (plan.distance < 12.1)
    assert plan.speed[inside].max() < 0.81
    assert plan.speed[plan.distance < 6.0].max() == pytest.approx(1.4, abs=0.01)
    (note,) = plan.notes
    assert "0.80 m/s" in note and "1.40 m/s" in note
    own = planned(Crouching(ABLE), Schedule([Mark(0.0, 1.4, CROUCH)]))
    assert own.speed.max() < 0.81 and "0.80 m/s is used" in own.notes[0]
    slow = planned(crouching, Schedule.constant(0.8))
    assert slow.notes == ()


def test_the_deeper_a_crouch_the_slower_it_is():
    able = Crouch(usual=0.2, deepest=0.8, fastest=1.0, slow=0.4)
    assert [able.fastest_at(depth) for depth in (0.1, 0.2, 0.5, 0.8, 1.0)] == pytest.approx([1.0, 1.0, 0.7, 0.4, 0.4])
    assert able.sized(0.5) == Crouch(0.2, 0.8, 0.5, 0.2) and ABLE.fastest_at(0.9) == 0.8
    assert Abilities.from_json(Abilities(able).to_json()).crouch == able
    assert Abilities.from_json(Abilities(ABLE).to_json()).crouch == ABLE
    # Joints at (1.6 - 0.04 - 0.30) / 1.5 of their height are as deep as 0.12, at (1.19 - 0.34) / 1.5 as 0.667.
    crouching, _ = under(ceiling((5, 9, 1.6), (12, 15, 1.19)), able)
    plan = planned(crouching, Schedule.constant(1.4))
    first, second = ((plan.distance > low) & (plan.distance < low + 2.0) for low in (6.0, 12.5))
    assert plan.speed[first].max() == pytest.approx(1.0, abs=0.01)
    assert plan.speed[second].max() == pytest.approx(1.0 - (0.6667 - 0.2), abs=0.01)
    # Nor does he go down at more than that.
    down = (action_weights(plan, GAITS)[:, 3] > 0.05) & (plan.distance > 10.0)
    assert plan.speed[down & (plan.distance < 16.0)].max() < 0.54


def test_a_way_wholly_under_a_ceiling_blames_no_bends_for_its_slowness():
    crouching, _ = under(ceiling((0, 20, 1.3)))
    plan = planned(crouching, Schedule.constant(1.4))
    assert np.all(plan.depth > 0.0) and len(plan.notes) == 1 and "bends" not in plan.notes[0]


def test_laps_and_a_start_within_the_curve_meet_the_same_ceiling():
    length = ROUND.length
    crouching, said = under(ceiling((length - 1.0, 1.5, 1.3), path=ROUND), path=ROUND)
    assert f"from {length - 0.93:.1f}" in said and "m over the curve's beginning to 1.40 m" in said
    plan = planned(crouching, Schedule.constant(0.7), ROUND, laps=2, start=5.0)
    around = np.mod(plan.distance, length)
    low = (around > length - 1.0) | (around < 1.5)
    assert np.all(plan.depth[low] > 0.3)
    assert np.all(plan.depth[(around > 3.0) & (around < length - 3.0)] == 0.0)
    first = np.flatnonzero(np.diff((plan.depth > 0.0).astype(int)) == 1)
    assert len(first) == 2, "once a lap"


def test_a_ceiling_before_the_start_is_not_spoken_of():
    crouching, said = under(ceiling((1, 2, 1.3)), start=5.0)
    assert said == "" and not np.any(planned(crouching, Schedule.constant(0.8), start=5.0).depth)


def test_what_cannot_be_done_is_said_in_words():
    _, said = under(ceiling((5, 6, 0.7)))
    lowest = 0.30 + 1.5 * (0.9 - 0.9 * 0.5) - LOWERED * 1.8
    assert "0.70 m high" in said and f"{lowest:.2f} m" in said and "may go through" in said
    crouching, said = under(ceiling((5, 6, 1.3)), crouch=None)
    assert "does not crouch" in said and not np.any(planned(crouching, Schedule.constant(0.8)).depth)
    crouching, said = under(ceiling((5, 6, 1.3)), four_legged=True)
    assert "animals do not crouch" in said and crouching.depth is None
    assert under(ceiling((5, 6, 2.4)))[1] == ""
    assert crouching_along(None, FlatGround(0.0), ABLE)[1] == ()


def test_the_way_ahead_sizes_the_crouch_to_the_body():
    found = way_ahead(
        LINE, FlatGround(0.0), Schedule.constant(0.8), GAITS, Abilities(ABLE), 0.5,
        Overhead(LINE, ceiling((5, 6, 1.3)), TALL),
    )  # fmt: skip
    assert found.crouching.able == Crouch(0.7, 0.9, pytest.approx(0.4))
    assert "Crouches" in found.notes[0]


def test_nobody_jumps_under_a_low_ceiling():
    marks = [Mark(0.0, 1.0), Mark(3.0, action="jump"), Mark(5.5, action="jump")]
    overhead = Overhead(LINE, ceiling((5, 6, 1.3)), TALL)
    found = way_ahead(LINE, FlatGround(0.0), Schedule(marks), (*GAITS, "jump"), Abilities(ABLE), 1.0, overhead)
    assert [mark.at for mark in found.schedule.marks] == [0.0, 3.0]
    assert "The jump at 5.50 m is left out: the ceiling is low there" in found.notes


def test_another_body_keeps_the_plans_depth():
    plan = planned(under(ceiling((5, 7, 1.34)))[0], Schedule.constant(0.8))
    scaled = Likeness.of(biped(), sized_skeleton(biped(), 1.4)).plan(plan)
    assert np.array_equal(scaled.depth, plan.depth)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=80))
def test_easing_stays_between_what_it_eases(values):
    share = np.repeat(values, 7)
    found = eased(share, 60.0)
    assert len(found) == len(share)
    assert found.min() >= share.min() - 1e-12 and found.max() <= share.max() + 1e-12


def test_the_crown_is_guessed_above_the_head_and_follows_it():
    skeleton = biped()
    crown = Crown.of(skeleton)
    assert crown.joint == skeleton.index("head") and crown.standing == pytest.approx(1.5 / 0.87)
    clip = walk(1.0, 0.0)
    at_rest = crown.tops(clip)[0]
    assert at_rest[0, 2] == pytest.approx(crown.standing - 0.02), "the made-up walk has its hips 2 cm lower"
    turned = clip.rotations.copy()
    turned[:, crown.joint] = rot.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.pi / 2)
    bowed = crown.tops(replace(clip, rotations=turned))[0]
    assert bowed[0, 2] == pytest.approx(at_rest[0, 2] - crown.radius)
    assert abs(bowed[0, 1] - at_rest[0, 1]) == pytest.approx(crown.radius)
    assert Crown.of(skeleton, 1.9).standing == 1.9


def test_the_report_measures_the_room_under_the_ceiling():
    clip = walk(6.0, 1.0)
    path = RootPath.from_points([[0.0, 0.0], [0.0, -6.0]])
    speed = np.full(len(clip), 1.0)
    plan = Plan(60.0, clip.root[:, :2], clip.root[:, 2], speed, np.arange(len(clip)) / 60.0, ("stand", "walk"),
                np.ones(len(clip), np.int64), np.zeros(len(clip), bool))  # fmt: skip
    crown = Crown.of(clip.skeleton)
    top = crown.standing - 0.02
    for height, mark in ((top + 0.1, "good"), (top - 0.3, "bad")):
        overhead = Overhead(path, ceiling((2, 3, height), path=path), crown)
        figure = judge(clip, plan, overhead=overhead)["headroom"]
        assert figure.value == pytest.approx(100 * (height - top), abs=0.01) and figure.mark == mark
        assert figure.wish == "at least 0" and 1.9 <= (figure.worst_frame or 0) / 60.0 <= 3.1
    assert judge(clip, plan).get("headroom") is None
    far = Overhead(path, ceiling((5.9, 6.0, 2.0), path=path), crown)
    assert judge(clip.cut(0, 120), plan, overhead=far).get("headroom") is None


def test_hips_go_as_much_lower_as_the_head_would_go_through():
    clip = walk(speed=1.0, seconds=6.0)
    path = RootPath.from_points(clip.root[[0, -1], :2], False)
    crown = Crown.of(clip.skeleton)
    frames = np.arange(len(clip))
    plan = replace(
        make_plan(path, Schedule.constant(1.0)), fps=clip.fps, positions=clip.root[:, :2],
        distance=np.linspace(0.0, path.length, len(clip)), depth=np.where((frames > 120) & (frames < 240), 0.5, 0.0),
    )  # fmt: skip
    top = float(crown.tops(clip)[150:210, :, 2].max())
    first, last = plan.distance[[150, 210]]
    for through, lowered in ((0.06, 0.06 + ROOM), (1.0, 0.16 * clip.skeleton.leg_length)):
        over = Overhead(path, ceiling((first, last, top - through), path=path), crown)
        found = ducked(clip, over, plan)
        gone = clip.hips[:, 2] - found.hips[:, 2]
        assert gone[150:210].max() == pytest.approx(lowered, abs=0.02)
        assert np.all(gone >= 0.0)
        assert np.all(gone[[0, 30, -30, -1]] == 0.0)
        assert np.abs(np.diff(gone)).max() < 0.01, "nobody drops at once"
        if through < 0.1:
            assert over.room(found, plan)[125:235].min() > 0.0
    upright = replace(plan, depth=np.zeros(len(clip)))
    assert ducked(clip, over, upright) is clip
    assert ducked(clip, None, plan) is clip
