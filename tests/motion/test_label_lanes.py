"""Lanes of labels over a timeline: places, what lies under the mouse, drags, and the phase that is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.motion.animal import LEGS
from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.gait_analysis.classify import GAIT_LABELS
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.label_lanes import Brush, Hit, View, dragged, hit, lanes_of, phase_lines
from blender_addon.motion.label_tracks import (
    LabelTracks,
    Span,
    blank,
    released,
    with_contact,
    with_gait,
    with_reliable,
)

TOE = "left_toe"


def tracks() -> LabelTracks:
    made = blank(1, 100, 30.0, CONTACT_POINTS, BIPED_GAITS)
    for begin in (10, 40, 70):
        made = with_contact(made, TOE, begin, begin + 19)
        made = with_contact(made, "right_heel", begin + 15, begin + 30)
    return released(with_gait(with_gait(made, "walk", 1, 60), "run", 61, 100), 1, 100)


@pytest.fixture
def view() -> View:
    return View.of(-20.0, 8.0, (700.0, 300.0), tracks())


def test_lanes_lie_above_each_other_in_their_order(view: View) -> None:
    assert view.lanes == (*CONTACT_POINTS, "phase", "gait", "action")
    heights = [view.y(lane) for lane in view.lanes]
    assert np.all(np.diff(heights) == -view.lane) and heights[-1] == view.bottom
    for lane in view.lanes:
        assert view.lane_at(view.y(lane) + 0.5 * view.lane) == lane
    assert view.lane_at(view.top + 1.0) == "" == view.lane_at(view.bottom - 1.0)
    assert lanes_of(blank(1, 9, 24.0, LEGS, GAIT_LABELS)) == (*LEGS, "gait", "action")


@pytest.mark.parametrize(("height", "low", "high"), [(40, 2.0, 5.0), (140, 5.0, 15.0), (1000, 15.0, 15.0)])
def test_lanes_fit_low_regions_and_stay_small_in_high_ones(height: int, low: float, high: float) -> None:
    for scale in (1.0, 1.5):
        found = View.of(-20.0, 8.0, (700.0, height * scale), tracks(), scale)
        assert low * scale <= found.lane <= high * scale and found.top <= height * scale


def at(view: View, lane: str, frame: float) -> tuple[float, float]:
    return view.x(frame), view.y(lane) + 0.5 * view.lane


def test_ends_are_grasped_within_reach_and_bars_elsewhere(view: View) -> None:
    made = tracks()
    span = Span(40, 59)
    assert hit(view, made, *at(view, TOE, 39.5)) == Hit(TOE, 40, span, "first")
    assert hit(view, made, *at(view, TOE, 60.0)).end == "last"
    middle = hit(view, made, *at(view, TOE, 50))
    assert (middle.span, middle.end) == (span, "")
    assert hit(view, made, *at(view, TOE, 64)).span is None
    assert hit(view, made, 100.0, view.top + 5.0) is None


def test_the_ends_of_the_action_are_no_borders_of_gaits(view: View) -> None:
    made = tracks()
    assert hit(view, made, *at(view, "gait", 0.6)).end == ""
    assert hit(view, made, *at(view, "gait", 60.5)).end in ("first", "last")
    assert hit(view, made, *at(view, "phase", 0.6)).end == ""


@pytest.mark.parametrize(("end", "to", "wanted"), [
    ("first", 43.4, Span(44, 59)), ("first", 30.6, Span(31, 59)), ("last", 65.4, Span(40, 65)),
    ("last", 20.0, Span(40, 40)),
])  # fmt: skip
def test_a_dragged_end_lands_on_the_frame_under_the_mouse(end: str, to: float, wanted: Span) -> None:
    made = dragged(tracks(), Hit(TOE, 40, Span(40, 59), end), to, Brush())
    assert wanted in made.spans(TOE) and made.edited_spans(TOE)


@pytest.mark.parametrize(("to", "wanted"), [(80.5, 80), (50.5, 50), (400.0, 100), (-50.0, None)])
def test_the_border_of_two_gaits_is_dragged_either_way(to: float, wanted: int | None) -> None:
    grip = Hit("gait", 60, Span(1, 60, "walk"), "last")
    spans = dragged(tracks(), grip, to, Brush("jump")).spans("gait")
    if wanted is None:
        assert spans == (Span(1, 100, "run"),)
    else:
        assert spans[0] == Span(1, wanted, "walk")


def test_a_drag_over_a_lane_paints_what_the_brush_holds() -> None:
    made = tracks()
    assert Span(20, 30, "jump") in dragged(made, Hit("gait", 30), 20.2, Brush("jump")).spans("gait")
    assert dragged(made, Hit("action", 20), 30.0, Brush(action="limp")).spans("action") == (Span(20, 30, "limp"),)
    assert Span(1, 4) in dragged(made, Hit(TOE, 1), 4.0, Brush()).spans(TOE)
    assert dragged(made, Hit(TOE, 1), 500.0, Brush(erase=True)).spans(TOE) == ()
    assert not dragged(made, Hit("phase", 20), 30.0, Brush(erase=True)).reliable[19:30].any()
    limp = dragged(made, Hit("action", 20), 30.0, Brush(action="limp"))
    assert dragged(limp, Hit("action", 25), 100.0, Brush(erase=True)).spans("action") == (Span(20, 24, "limp"),)


def test_a_drag_that_cannot_be_changes_nothing() -> None:
    made = tracks()
    assert dragged(made, Hit("gait", 20), 30.0, Brush("gallop")) is made
    assert dragged(made, Hit(TOE, 20, Span(1, 2), "first"), 30.0, Brush()) is made


def test_the_phase_rises_and_is_told_apart_where_it_is_not_learned(view: View) -> None:
    lines = phase_lines(view, with_reliable(tracks(), 30, 50, False))
    assert {sure for _, sure in lines} == {True, False}
    for points, sure in lines:
        frames = view.frame(points[:, 0])
        assert np.all(np.diff(points[:, 0]) > 0.0) and np.all(np.diff(points[:, 1]) >= 0.0)
        assert np.all((points[:, 1] > view.y("phase")) & (points[:, 1] < view.y("phase") + view.lane))
        assert sure or frames.min() > 28.0
        assert not sure or np.all((frames < 29.5) | (frames > 50.5))


def test_four_legs_have_no_phase_to_draw(view: View) -> None:
    assert phase_lines(view, blank(1, 90, 24.0, LEGS, GAIT_LABELS)) == []
