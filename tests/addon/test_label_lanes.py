"""Lanes over the timeline without a window: places, what lies under the mouse, drags, and the shapes that are drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from blender_addon.motion.animal import LEGS
from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.gait_analysis.classify import GAIT_LABELS
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.label_doubts import Doubt
from blender_addon.motion.label_tracks import (
    LabelTracks,
    Span,
    blank,
    released,
    with_action,
    with_contact,
    with_gait,
    with_reliable,
)
from blender_addon.operators.label_lanes import Brush, Hit, View, dragged, hit, lanes_of, view_of
from blender_addon.operators.mark_picking import distance, mark_under, next_action
from blender_addon.overlays.label_shapes import DOUBT, HAND, HOT, LEFT, RAMP, RIGHT, UNSURE, shapes

pytestmark = pytest.mark.blender

TOE = "left_toe"


def tracks() -> LabelTracks:
    made = blank(1, 100, 30.0, CONTACT_POINTS, BIPED_GAITS)
    for begin in (10, 40, 70):
        made = with_contact(made, TOE, begin, begin + 19)
        made = with_contact(made, "right_heel", begin + 15, begin + 30)
    return released(with_gait(with_gait(made, "walk", 1, 60), "run", 61, 100), 1, 100)


def region(left: float = -20.0, per_frame: float = 8.0, width: int = 700, height: int = 300) -> SimpleNamespace:
    """A region that shows frames as Blender's does, whole pixels and all."""
    view2d = SimpleNamespace(view_to_region=lambda x, y, clip=True: (round(left + per_frame * x), round(y)))
    return SimpleNamespace(view2d=view2d, width=width, height=height)


@pytest.fixture
def view() -> View:
    return view_of(region(), tracks())


def test_lanes_lie_above_each_other_in_their_order(view: View) -> None:
    assert view.lanes == (*CONTACT_POINTS, "phase", "gait", "action")
    heights = [view.y(lane) for lane in view.lanes]
    assert np.all(np.diff(heights) == -view.lane) and heights[-1] == view.bottom
    for lane in view.lanes:
        assert view.lane_at(view.y(lane) + 0.5 * view.lane) == lane
    assert view.lane_at(view.top + 1.0) == "" == view.lane_at(view.bottom - 1.0)
    assert lanes_of(blank(1, 9, 24.0, LEGS, GAIT_LABELS)) == (*LEGS, "gait", "action")


def test_frames_are_where_blender_draws_them(view: View) -> None:
    assert view.per_frame == pytest.approx(8.0, abs=1e-3) and view.x(30) == pytest.approx(220.0, abs=0.1)
    assert view.frame(view.x(12.25)) == pytest.approx(12.25)


@pytest.mark.parametrize(("height", "low", "high"), [(40, 2.0, 5.0), (140, 5.0, 15.0), (1000, 15.0, 15.0)])
def test_lanes_fit_low_regions_and_stay_small_in_high_ones(height: int, low: float, high: float) -> None:
    for scale in (1.0, 1.5):
        found = view_of(region(height=int(height * scale)), tracks(), scale)
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


# Shapes -----------------------------------------------------------------------------------------


def test_every_contact_has_a_bar_on_its_lane_and_in_its_sides_colour(view: View) -> None:
    boxes = shapes(view, tracks()).boxes
    for lane, side in ((TOE, LEFT), ("right_heel", RIGHT)):
        inside = [b for b in boxes if view.y(lane) < b[1] < view.y(lane) + view.lane and b[4][:3] == side[:3]]
        # The frames are 8 pixels wide; what lies beyond the region is cut.
        wanted = [(max(view.edges(s)[0], 0.0), min(view.edges(s)[1], 700.0)) for s in tracks().spans(lane)]
        assert np.allclose([(b[0], b[0] + b[2] + 1.0) for b in inside], [e for e in wanted if e[1] > e[0]])


def test_gaits_are_named_beside_their_colours(view: View) -> None:
    made = shapes(view, with_action(tracks(), "limp", 20, 40))
    words = [word[2] for word in made.words]
    for name in ("walk", "run", "limp", "phase", "left heel", "right toe", "gait", "action"):
        assert name in words
    narrow = shapes(view, with_gait(tracks(), "jump", 50, 51))
    assert "jump" not in [word[2] for word in narrow.words], "no room for it"


def test_the_phase_is_a_ramp_that_rises_and_is_faint_where_it_is_not_learned(view: View) -> None:
    lines = shapes(view, with_reliable(tracks(), 30, 50, False)).lines
    assert {colour for _, colour, _ in lines} == {RAMP, UNSURE}
    for points, _, _ in lines:
        assert np.all(np.diff(points[:, 0]) > 0.0) and np.all(np.diff(points[:, 1]) >= 0.0)
        assert np.all((points[:, 1] > view.y("phase")) & (points[:, 1] < view.y("phase") + view.lane))


def test_what_is_set_by_hand_doubtful_or_grasped_is_marked(view: View) -> None:
    plain = shapes(view, tracks())
    assert not [b for b in plain.boxes if b[4] in (HAND, DOUBT, HOT)]
    grip = Hit(TOE, 40, Span(40, 59), "first")
    made = shapes(view, with_gait(tracks(), "walk", 20, 30), (Doubt(40, 44, "odd"),), grip)
    (hand,), (doubt,), (hot,) = ([b for b in made.boxes if b[4] == colour] for colour in (HAND, DOUBT, HOT))
    assert (hand[0], hand[2]) == pytest.approx((view.x(19.5), 88.0), abs=0.1)
    assert doubt[1] == view.top and "?" in [word[2] for word in made.words]
    assert hot[0] + 0.5 * hot[2] == pytest.approx(view.x(39.5))


def test_hours_of_frames_are_drawn_in_few_shapes() -> None:
    long = blank(1, 200_000, 60.0, CONTACT_POINTS, BIPED_GAITS)
    made = shapes(view_of(region(0.0, 0.0035), long), long)
    assert sum(len(points) for points, _, _ in made.lines) < 1000 and len(made.boxes) < 100


@pytest.mark.parametrize("left", [-5000.0, 5000.0])
def test_nothing_but_names_is_drawn_where_the_action_is_not_seen(left: float) -> None:
    made = shapes(view_of(region(left), tracks()), tracks())
    assert len(made.boxes) == 1 and not made.lines


# Marks ------------------------------------------------------------------------------------------


def test_the_nearest_knob_is_taken_and_poles_serve_too() -> None:
    poles = [((0.0, 0.0), (0.0, 50.0)), ((20.0, 0.0), (20.0, 50.0)), None]
    assert mark_under(poles, (8.0, 50.0)) == 0 and mark_under(poles, (14.0, 50.0)) == 1
    assert mark_under(poles, (22.0, 20.0)) == 1
    assert mark_under(poles, (0.0, 70.0)) is None and mark_under([], (0.0, 0.0)) is None


def test_distances_to_a_line_end_at_its_ends() -> None:
    assert distance((3.0, 5.0), (0.0, 0.0), (0.0, 10.0)) == 3.0
    assert distance((3.0, 14.0), (0.0, 0.0), (0.0, 10.0)) == 5.0
    assert distance((3.0, 4.0), (0.0, 0.0), (0.0, 0.0)) == 5.0


def test_actions_go_round() -> None:
    names = ("stand", "walk", "run")
    assert [next_action(names, now, 1) for now in names] == ["walk", "run", "stand"]
    assert next_action(names, "stand", -1) == "run" and next_action(names, "moonwalk", 1) == "stand"
    assert next_action((), "walk", 1) == "walk"
