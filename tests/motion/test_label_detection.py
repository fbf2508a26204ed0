"""Detecting an action's labels: a walk, the same on a treadmill, one foot, no foot, too short; and what is doubtful."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from blender_addon.motion.animal import LEGS
from blender_addon.motion.clip import Clip
from blender_addon.motion.contact_labels import CONTACT_POINTS
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import Cancelled, ClipError
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.gait_model.perform import perform
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.label_detection import belt_velocity, detect
from blender_addon.motion.label_doubts import doubts, doubts_of_tracks
from blender_addon.motion.label_summary import summary
from blender_addon.motion.label_tracks import Span, blank, with_action, with_contact, with_gait, with_reliable
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.retarget import posed_rest
from blender_addon.motion.takes import Take, prepare
from tests.animals import animal
from tests.motion.gaits import plan_of
from tests.synthetic import walk


@cache
def steady(seconds: float = 6.0, speed: float = 1.0, fps: float = 30.0) -> Clip:
    """A made-up walk whose feet stand still."""
    made = walk(seconds, speed, 0.0, fps)
    return replace(plant_feet(replace(made, hips=made.hips - [0.0, 0.0, 0.06])).clip, name="Walk")


def on_the_spot(clip: Clip) -> Clip:
    """The same on a treadmill: the body stays, the ground runs."""
    way = np.concatenate([clip.root[:, :2], np.zeros((len(clip), 1))], axis=1)
    return replace(clip, hips=clip.hips - way, root=np.zeros((len(clip), 3)))


def test_a_walk_has_contacts_gait_and_a_phase_that_turns_with_its_strides() -> None:
    clip = steady()
    tracks = detect(clip, first=11)
    assert (tracks.first, len(tracks), tracks.fps, tracks.points) == (11, len(clip), 30.0, CONTACT_POINTS)
    assert {span.name for span in tracks.spans("gait")} == {"walk"} and not tracks.edited.any
    # The made-up walk takes 1.3 s a stride at 1 m/s.
    inner = tracks.phase.angle[45:135]
    assert (inner[-1] - inner[0]) / (2 * np.pi) == pytest.approx(89 / 30 / 1.3, abs=0.2)
    ours = tracks.feet
    assert np.mean(ours == clip.contacts) > 0.85


def test_a_walk_on_the_spot_is_labelled_as_on_a_treadmill_and_says_so() -> None:
    there, here = detect(steady()), detect(on_the_spot(steady()))
    assert any("treadmill of 1.0 m/s" in note for note in here.notes) and not there.notes
    assert np.mean(here.contacts == there.contacts) > 0.95 and np.mean(here.gaits == there.gaits) > 0.95


def test_marching_and_travelling_are_no_treadmill() -> None:
    assert belt_velocity(steady()) is None
    assert belt_velocity(walk(4.0, 0.0)) is None
    belt = belt_velocity(on_the_spot(steady()))
    assert np.allclose(belt, [0.0, 1.0], atol=0.1), "facing -Y, the ground runs to +Y"


def test_what_is_too_short_is_refused() -> None:
    with pytest.raises(ClipError, match=r"0\.30 s, too short"):
        detect(steady().cut(0, 10))


def test_a_giant_is_asked_for_its_scale() -> None:
    clip = steady()
    skeleton = replace(clip.skeleton, offsets=100.0 * clip.skeleton.offsets, tails=100.0 * clip.skeleton.tails)
    with pytest.raises(ClipError, match=r"84\.1 m long") as caught:
        detect(replace(clip, skeleton=skeleton, hips=100.0 * clip.hips))
    assert "0.01" in caught.value.remedy


def test_feet_that_never_stand_are_refused() -> None:
    clip = steady()
    fall = np.linspace(0.0, 60.0, len(clip))[:, None] * [0.0, 0.0, -1.0]
    with pytest.raises(ClipError, match="no contact was found") as caught:
        detect(replace(clip, hips=clip.hips + fall))
    assert caught.value.remedy


def one_legged(held_up: bool) -> Clip:
    """It hops on its left foot; the right one is held up, or dragged about on the ground."""
    from blender_addon.motion import rotations as rot

    clip = walk(4.0, 0.0)
    rotations = np.array(clip.rotations)
    skeleton, time = clip.skeleton, np.arange(len(clip)) / clip.fps
    across = np.array([1.0, 0.0, 0.0])
    angle = (0.9 if held_up else 0.0) + 0.25 * np.sin(2 * np.pi * 1.5 * time)
    rotations[:, skeleton.index("right_hip")] = rot.from_axis_angle(-across, angle)
    rotations[:, skeleton.index("right_knee")] = rot.from_axis_angle(across, 1.5 if held_up else 0.02)
    return replace(clip, rotations=rotations)


def test_a_hop_is_labelled_and_a_foot_that_only_drags_is_refused() -> None:
    tracks = detect(one_legged(held_up=True))
    assert any("It hops: the right foot" in note for note in tracks.notes)
    assert not tracks.spans("right_toe") and not tracks.spans("right_heel")
    with pytest.raises(ClipError, match="Only one foot.*right one is down but never still"):
        detect(one_legged(held_up=False))


def test_standing_still_has_no_phase_to_learn() -> None:
    tracks = detect(walk(3.0, 0.0))
    assert not tracks.reliable.any() and {span.name for span in tracks.spans("gait")} == {"stand"}
    assert np.all(np.diff(tracks.phase.angle) > 0.0), "it creeps on"
    assert not doubts_of_tracks(tracks)


def test_it_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        detect(steady(), progress=lambda share, _stage: share < 0.3)


def test_a_pose_to_rest_on_does_not_matter() -> None:
    clip = steady()
    other = replace(clip, skeleton=posed_rest(clip.skeleton, clip.rotations[3], clip.hips[3] + [3.0, 2.0, 0.5]))
    assert np.mean(detect(other).contacts == detect(clip).contacts) > 0.9


# Doubts -----------------------------------------------------------------------------------------


def test_what_is_doubtful_is_said_where_it_is() -> None:
    tracks = with_gait(blank(1, 120, 30.0, CONTACT_POINTS, BIPED_GAITS), "walk", 1, 120)
    for begin in range(1, 120, 30):
        tracks = with_contact(tracks, "left_toe", begin, begin + 17)
        tracks = with_contact(tracks, "right_toe", begin + 15, begin + 32)
    tracks = with_contact(tracks, "left_heel", 50, 50)
    tracks = with_contact(tracks, "right_toe", 46, 60, False)
    tracks = with_contact(tracks, "left_toe", 46, 60, False)
    said = {(d.first, d.last): d.words for d in doubts(
        tracks.contacts, tracks.reliable, tracks.gaits, tracks.gait_names, tracks.fps, tracks.points)}  # fmt: skip
    assert said[(49, 49)] == "the left heel touches for 0.03 s only"
    assert any("both feet are up" in words for words in said.values())
    again = doubts_of_tracks(tracks)
    assert not any(d.first == 50 and "heel" in d.words for d in again), "set by hand, it is not doubted"


def test_gaits_that_feet_contradict_are_doubtful() -> None:
    clip = steady()
    tracks = with_gait(detect(clip), "run", 1, len(clip))
    words = [d.words for d in doubts(
        tracks.contacts, tracks.reliable, tracks.gaits, tracks.gait_names, tracks.fps, tracks.points)]  # fmt: skip
    assert any("a run without a flight" in line for line in words)
    brief = with_gait(detect(clip), "jump", 60, 65)
    assert any("jump for 0.20 s only" in d.words for d in doubts(
        brief.contacts, brief.reliable, brief.gaits, brief.gait_names, brief.fps, brief.points))  # fmt: skip


# Into data sets ---------------------------------------------------------------------------------


def edited_take() -> Take:
    clip = steady()
    tracks = with_gait(detect(clip), "crouch", 61, 120)
    tracks = with_action(tracks, "limp", 101, 120)
    tracks = with_contact(tracks, "left_toe", 31, 50)
    tracks = with_reliable(tracks, 131, 140, False)
    return Take(clip, path="Walk", level="height", labels=tracks)


def test_a_data_set_takes_over_what_is_labelled_at_its_own_rate() -> None:
    dataset = prepare([edited_take()], fps=60.0)
    (clip,), (names,) = dataset.clips, dataset.actions
    called = [dataset.action_names[i] for i in names]
    # Frame 61 is row 60 at 30 fps: row 120 at 60 fps; row 119 lies halfway.
    assert called[117:123:2] == ["walk", "crouch", "crouch"] and called[118] == "walk" and called[205] == "limp"
    labelled = dataset.labelled[0]
    assert labelled.contacts[60:99, 1].all()
    assert np.all(labelled.contacts[:, [1, 3]] | ~clip.contacts), "the clip's own are among them"
    assert not labelled.reliable[262:278].any() and labelled.left_out[262:278].all()
    assert labelled.left_out.sum() == pytest.approx(20, abs=1)


def test_labels_follow_a_range_that_is_cut_from_a_take() -> None:
    whole = prepare([edited_take()])
    cut = prepare([replace(edited_take(), ranges=((50, 130),))])
    assert np.array_equal(cut.actions[0], whole.actions[0][100 : 100 + len(cut.actions[0])])
    assert np.array_equal(cut.labelled[0].contacts, whole.labelled[0].contacts[100 : 100 + len(cut.clips[0])])


def test_unlabelled_takes_beside_labelled_ones_get_their_gaits_found() -> None:
    plain = Take(replace(steady(), name="Other"), path="Other", level="height")
    dataset = prepare([edited_take(), plain])
    assert dataset.labelled[1] is None
    assert {dataset.action_names[i] for i in dataset.actions[1]} == {"walk"}
    assert prepare([plain]).action_names == (), "nothing labelled: all is left to the training"


def test_labels_survive_saving_a_data_set(tmp_path) -> None:
    plain = Take(replace(steady(), name="Other"), path="Other", level="height")
    dataset = prepare([edited_take(), plain])
    dataset.save(tmp_path / "set")
    back = Dataset.load(tmp_path / "set")
    assert back.labelled[1] is None
    for name in ("contacts", "reliable", "edited", "left_out"):
        assert np.array_equal(getattr(back.labelled[0], name), getattr(dataset.labelled[0], name))
    assert back.part(held_out=False).labelled[0] is not None


def test_the_summary_counts_minutes_contacts_and_doubts() -> None:
    dataset = prepare([edited_take()])
    found = summary(dataset, lambda _clip, row: 1 + row // 2)
    by_name = {row.name: row for row in found.gaits}
    # Limping covers the last 20 of the 60 frames that were set to crouch.
    assert by_name["crouch"].minutes * 60 == pytest.approx(40 / 30, abs=0.05)
    assert by_name["limp"].minutes * 60 == pytest.approx(20 / 30, abs=0.05)
    assert sum(row.minutes for row in found.gaits) == pytest.approx(found.minutes)
    # Each toe lands once a stride of 1.3 s.
    assert found.by_foot["right_toe"] == pytest.approx(1 / 1.3, rel=0.3)
    assert found.by_hand > 0.0 and found.left_out * 60 == pytest.approx(10 / 30, abs=0.02)
    lines = found.lines()
    assert lines[0].split()[0] == "gait" and all(len(line.split()) == 5 for line in lines[1 : 1 + len(found.gaits)])
    assert any(line.startswith("Contacts a second: left heel") for line in lines)


def test_one_cycle_of_an_animal_on_the_spot_is_labelled_whole() -> None:
    clip = perform(animal("fox"), plan_of(1.9, seconds=4.0, action="trot"), GaitSettings(seed=1, variation=0.0))
    landings = np.flatnonzero(np.diff(clip.contacts[:, 0].astype(int)) == 1)
    cycle = on_the_spot(clip).cut(landings[-3], landings[-2])
    tracks = detect(cycle)
    assert tracks.spans("gait") == (Span(1, len(cycle), "trot"),)
    assert any("one cycle of a trot" in note for note in tracks.notes)
    assert all(0.2 < share < 0.8 for share in tracks.contacts.mean(axis=0))


def test_animals_are_labelled_by_their_paws() -> None:
    clip = perform(animal("fox"), plan_of(1.9, seconds=4.0, action="trot"), GaitSettings(seed=1))
    tracks = detect(clip)
    assert tracks.points == LEGS and tracks.phase is None
    names = [tracks.gait_names[i] for i in tracks.gaits]
    assert max(set(names), key=names.count) == "trot"
    assert all(tracks.spans(leg) for leg in LEGS)
