"""Labels of an action: ranges set by hand, ends moved, what detecting anew leaves alone, and how they are kept."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.animal import LEGS
from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.errors import ClipError
from blender_addon.motion.gait_analysis.classify import GAIT_LABELS
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.label_store import from_text, to_text
from blender_addon.motion.label_tracks import (
    LabelTracks,
    Span,
    blank,
    fitted,
    merged,
    move_end,
    nearest_end,
    released,
    with_action,
    with_contact,
    with_gait,
    with_reliable,
)

TOE = "left_toe"


def steps(first: int = 10, frames: int = 120, shift: int = 0) -> LabelTracks:
    """A walk at 30 fps: each foot 20 frames down, 10 up, half a stride apart; heel before toe."""
    tracks = blank(first, frames, 30.0, CONTACT_POINTS, BIPED_GAITS)
    for column, late in enumerate((0, 3, 15, 18)):
        for begin in range(first - 30 + late + shift, first + frames, 30):
            end = begin + (17 if column % 2 == 0 else 20)
            if end >= first:
                tracks = with_contact(tracks, CONTACT_POINTS[column], begin, end)
    tracks = with_gait(tracks, "walk", first, first + frames)
    return released(tracks, first, first + frames)


def test_ranges_include_both_their_ends_and_may_be_given_backwards() -> None:
    tracks = with_contact(blank(5, 20, 24.0, CONTACT_POINTS, BIPED_GAITS), TOE, 12, 8)
    assert tracks.spans(TOE) == (Span(8, 12),)
    assert tracks.edited_spans(TOE) == (Span(8, 12),) and not tracks.edited_spans("left_heel")
    assert with_contact(tracks, TOE, 10, 10, False).spans(TOE) == (Span(8, 9), Span(11, 12))


def test_a_range_over_an_end_is_cut_and_one_beside_the_action_refused() -> None:
    tracks = blank(5, 20, 24.0, CONTACT_POINTS, BIPED_GAITS)
    assert with_gait(tracks, "run", -100, 6).spans("gait") == (Span(5, 6, "run"), Span(7, 24, "stand"))
    for wrong in ((-3, 4), (25, 30)):
        with pytest.raises(ClipError, match="5 to 24"):
            with_gait(tracks, "run", *wrong)


@pytest.mark.parametrize("edit", [
    lambda t: with_gait(t, "gallop", 5, 6), lambda t: with_contact(t, "tail", 5, 6),
    lambda t: with_action(t, "x" * 99, 5, 6), lambda t: move_end(t, TOE, Span(5, 6), "first", 4),
    lambda t: nearest_end(t, TOE, 5),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_a_remedy(edit) -> None:
    with pytest.raises(ClipError) as caught:
        edit(blank(5, 20, 24.0, CONTACT_POINTS, BIPED_GAITS))
    assert caught.value.remedy


def test_an_animal_has_no_common_phase() -> None:
    tracks = blank(1, 20, 24.0, LEGS, GAIT_LABELS)
    assert tracks.phase is None and tracks.feet.shape == (20, 4)
    with pytest.raises(ClipError, match="no common phase"):
        with_reliable(tracks, 1, 5, True)


def test_actions_are_named_freely_and_taken_away_again() -> None:
    tracks = with_action(steps(), " Limp ", 20, 40)
    assert tracks.spans("action") == (Span(20, 40, "limp"),)
    assert tracks.learned_names()[9:12] == ["walk", "limp", "limp"]
    assert with_action(tracks, "", 30, 40).spans("action") == (Span(20, 29, "limp"),)


def test_an_end_moves_and_never_beyond_the_other() -> None:
    tracks = steps()
    span = tracks.spans(TOE)[1]
    moved, now = move_end(tracks, TOE, span, "first", span.first + 4)
    assert now == Span(span.first + 4, span.last) and now in moved.spans(TOE)
    _, tiny = move_end(tracks, TOE, span, "first", span.last + 50)
    assert tiny == Span(span.last, span.last)
    _, tiny = move_end(tracks, TOE, span, "last", span.first - 50)
    assert tiny == Span(span.first, span.first)


def test_an_end_that_reaches_the_next_contact_joins_it() -> None:
    tracks = steps()
    one, two = tracks.spans(TOE)[1:3]
    joined, now = move_end(tracks, TOE, one, "last", two.first)
    assert now == Span(one.first, two.last) and len(joined.spans(TOE)) == len(tracks.spans(TOE)) - 1


def test_the_nearest_end_is_found() -> None:
    tracks = steps()
    span = tracks.spans(TOE)[1]
    assert nearest_end(tracks, TOE, span.first - 2) == (span, "first")
    assert nearest_end(tracks, TOE, span.last + 2) == (span, "last")


def test_phase_follows_the_contacts_one_turn_a_stride() -> None:
    phase = steps().phase
    assert phase is not None and np.all(np.diff(phase.angle) > 0.0)
    inner = phase.angle[30:90]
    assert inner[-1] - inner[0] == pytest.approx(2.0 * np.pi * 59 / 30, abs=0.1)
    assert phase.reliable[30:90].all()


def test_a_reliable_span_set_by_hand_outlives_edits_of_contacts() -> None:
    tracks = with_reliable(steps(), 40, 60, False)
    again = with_contact(tracks, TOE, 45, 50, False)
    assert not again.reliable[30:51].any() and again.reliable[51]


def test_detecting_anew_changes_only_what_was_not_edited() -> None:
    span = steps().spans(TOE)[1]
    kept, now = move_end(steps(), TOE, span, "first", span.first + 5)
    kept = with_action(with_gait(kept, "run", 60, 80), "limp", 70, 75)
    found = steps(shift=2)
    again = merged(found, kept)
    assert Span(now.first, now.last + 2) in again.spans(TOE), "its other end is found anew"
    assert Span(60, 80, "run") in again.spans("gait") and again.spans("action") == (Span(70, 75, "limp"),)
    free = ~again.edited.contacts
    assert np.all((again.contacts == found.contacts)[free])
    assert np.array_equal(again.edited.contacts, kept.edited.contacts)


def test_no_sliver_is_left_before_a_contact_that_was_set_to_begin_later() -> None:
    # Found two frames earlier than the bar that was moved by hand: those two would be a contact of their own.
    span = steps().spans(TOE)[1]
    kept, now = move_end(steps(), TOE, span, "first", span.first + 5)
    again = merged(steps(shift=-2), kept)
    assert all(s.last - s.first >= 3 for s in again.spans(TOE)[1:-1])
    assert again.spans(TOE)[1] == Span(now.first, now.last - 2)


@given(st.lists(st.tuples(st.sampled_from(CONTACT_POINTS), st.integers(10, 129), st.integers(0, 30), st.booleans()),
                max_size=8), st.integers(-6, 6))  # fmt: skip
def test_whatever_was_set_by_hand_survives_detection(edits, shift) -> None:
    kept = steps()
    for point, first, length, down in edits:
        kept = with_contact(kept, point, first, first + length, down)
    again = merged(steps(shift=shift), kept)
    by_hand = kept.edited.contacts
    assert np.array_equal(again.contacts[by_hand], kept.contacts[by_hand])
    assert merged(steps(shift=shift), again).spans(TOE) == again.spans(TOE)


def test_nothing_edited_gives_what_was_found() -> None:
    found = steps(shift=3)
    again = merged(found, steps())
    assert np.array_equal(again.contacts, found.contacts) and np.array_equal(again.gaits, found.gaits)


def test_labels_of_another_body_are_not_merged() -> None:
    with pytest.raises(ClipError, match="another kind"):
        merged(steps(), blank(10, 120, 30.0, LEGS, GAIT_LABELS))


def test_labels_move_with_keys_and_are_cut_with_them() -> None:
    tracks = with_contact(steps(), TOE, 30, 35)
    moved = fitted(tracks, 100, 219)
    assert moved.first == 100 and moved.edited_spans(TOE) == (Span(120, 125),)
    cut = fitted(tracks, 32, 129)
    assert len(cut) == 98 and cut.edited_spans(TOE) == (Span(32, 35),)
    longer = fitted(tracks, 10, 150)
    assert not longer.contacts[120:].any() and not longer.edited.contacts[120:].any()
    assert longer.spans("gait") == (Span(10, 150, "walk"),)


def test_samples_are_the_nearest_frames() -> None:
    tracks = steps()
    fine = tracks.sampled(np.arange(0, 119.5, 0.5))
    assert np.array_equal(fine.contacts[::2], tracks.contacts)
    assert np.array_equal(tracks.sampled(np.array([-5.0, 500.0])).contacts, tracks.contacts[[0, -1]])


# As text ----------------------------------------------------------------------------------------


@given(st.integers(-50, 50), st.integers(2, 90), st.integers(0, 2**16))
def test_text_gives_back_the_same_labels(first, frames, seed) -> None:
    random = np.random.default_rng(seed)
    tracks = blank(first, frames, 23.976, CONTACT_POINTS, BIPED_GAITS)
    for point in CONTACT_POINTS:
        tracks = with_contact(tracks, point, *(first + random.integers(0, frames, 2)))
    tracks = with_gait(tracks, "crouch", *(first + random.integers(0, frames, 2)))
    tracks = with_reliable(with_action(tracks, "schleichen ä", first, first), first, first + 1, True)
    tracks = replace(tracks, notes=("It goes on the spot",))
    back = from_text(to_text({"OBHero": tracks}))["OBHero"]
    assert (back.first, back.fps, back.points, back.gait_names) == (first, 23.976, CONTACT_POINTS, BIPED_GAITS)
    for name in ("contacts", "reliable", "gaits", "actions"):
        assert np.array_equal(getattr(back, name), getattr(tracks, name))
        assert np.array_equal(getattr(back.edited, name), getattr(tracks.edited, name))
    assert back.action_names == ("", "schleichen ä") and back.notes == tracks.notes


def test_ten_minutes_stay_short() -> None:
    text = to_text({"": steps(frames=18000)})
    assert len(text) < 60_000


@pytest.mark.parametrize("wound", [
    lambda d: d.update(schema=9), lambda d: d.pop("labels"), lambda d: d["labels"][""].update(frames=-1),
    lambda d: d["labels"][""]["contacts"].update(left_toe=[5, 3]), lambda d: d["labels"][""].update(gaits=[[0, 77]]),
    lambda d: d["labels"][""]["contacts"].pop("left_toe"), lambda d: d["labels"][""].update(frames=10**12),
    lambda d: d["labels"][""].update(gaits="walk"), lambda d: d["labels"][""]["edited"].update(gaits=[0, 10**9]),
])  # fmt: skip
def test_damaged_text_is_refused_in_words(wound) -> None:
    data = json.loads(to_text({"": steps()}))
    wound(data)
    with pytest.raises(ClipError) as caught:
        from_text(json.dumps(data))
    assert caught.value.remedy
    with pytest.raises(ClipError):
        from_text(json.dumps(data)[:-20])
