"""Lanes over the timeline as they are drawn: where Blender shows frames, the shapes, and the schedule's marks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.label_doubts import Doubt
from blender_addon.motion.label_lanes import Hit, View
from blender_addon.motion.label_tracks import Span, blank, with_action, with_gait, with_reliable
from blender_addon.operators.label_state import view_of
from blender_addon.operators.mark_picking import distance, mark_under, next_action
from blender_addon.overlays.label_shapes import DOUBT, HAND, HOT, LEFT, RAMP, RIGHT, UNSURE, shapes
from tests.motion.test_label_lanes import TOE, tracks

pytestmark = pytest.mark.blender


def region(left: float = -20.0, per_frame: float = 8.0, width: int = 700, height: int = 300) -> SimpleNamespace:
    """A region that shows frames as Blender's does, whole pixels and all."""
    view2d = SimpleNamespace(view_to_region=lambda x, y, clip=True: (round(left + per_frame * x), round(y)))
    return SimpleNamespace(view2d=view2d, width=width, height=height)


@pytest.fixture
def view() -> View:
    return view_of(region(), tracks())


def test_frames_are_where_blender_draws_them(view: View) -> None:
    assert view.per_frame == pytest.approx(8.0, abs=1e-3) and view.x(30) == pytest.approx(220.0, abs=0.1)
    assert view.frame(view.x(12.25)) == pytest.approx(12.25)


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


def test_the_phase_is_drawn_fainter_where_it_is_not_learned(view: View) -> None:
    assert {colour for _, colour, _ in shapes(view, with_reliable(tracks(), 30, 50, False)).lines} == {RAMP, UNSURE}


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
