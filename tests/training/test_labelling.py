"""Labels of whole data sets: found, kept where they were set by hand, doubted where there is reason to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset, Labelled
from blender_addon.motion.errors import DatasetError
from tests.animals import animal
from tests.motion.test_contact_labels import grounded, hops
from tests.synthetic import walk
from training.cli import main
from training.labelling import label_dataset, write_report
from training.labelling.checks import clip_doubts


def standing() -> Clip:
    return grounded(walk(4.0, speed=0.0))


def dataset(*clips: Clip) -> Dataset:
    return Dataset(clips[0].skeleton, list(clips))


def doubts(clip: Clip) -> str:
    found, labels = label_dataset(dataset(clip, standing()))
    return " | ".join(clip_doubts(found.clips[0], labels[0]))


def test_every_frame_gets_contacts_phase_and_gait_and_clips_keep_their_own_contacts(tmp_path):
    given = dataset(hops(4)[0], standing())
    found, labels = label_dataset(given)
    assert found.action_names[:3] == ("stand", "walk", "run")
    for clip, one, label, own in zip(found.clips, found.labelled, labels, given.clips, strict=True):
        assert one is not None and one.contacts.shape == (len(clip), 4) and not one.edited.any()
        assert np.array_equal(one.contacts, label.contacts) and np.array_equal(clip.contacts, own.contacts)
    found.save(tmp_path / "set")
    again = Dataset.load(tmp_path / "set")
    assert all(np.array_equal(a.contacts, b.contacts) and np.array_equal(a.reliable, b.reliable)
               for a, b in zip(found.labelled, again.labelled, strict=True))  # fmt: skip


def test_what_was_set_by_hand_stays():
    clip = hops(4)[0]
    by_hand = np.zeros(len(clip), dtype=bool)
    by_hand[40:60] = True
    own = Labelled(np.ones((len(clip), 4), dtype=bool), np.ones(len(clip), dtype=bool), by_hand)
    names = ("walk", "sneak")
    track = np.where(by_hand, 0, 1)
    given = Dataset(clip.skeleton, [clip], action_names=names, actions=[track], labelled=[own])
    found, labels = label_dataset(given)
    fresh = label_dataset(dataset(clip))[1][0]
    assert labels[0].contacts[40:60].all() and labels[0].phase.reliable[40:60].all()
    assert np.array_equal(labels[0].contacts[~by_hand], fresh.contacts[~by_hand])
    named = np.array(found.action_names)[found.actions[0]]
    assert set(named[40:60]) == {"walk"} and set(named[~by_hand]) == {"sneak"}
    assert np.array_equal(found.labelled[0].edited, by_hand)


def test_clips_without_steps_are_told():
    assert "0 steps" in doubts(standing())
    flying = replace(standing(), hips=standing().hips + np.linspace(1.0, 9.0, 241)[:, None])
    assert "no contact was found" in doubts(flying)
    assert "on a treadmill" in doubts(replace(walk(6.0), hips=walk(6.0).hips * [0.0, 0.0, 1.0]))
    sunk = standing()
    assert "5 cm under the ground" in doubts(replace(sunk, hips=sunk.hips - [0.0, 0.0, 0.05]))


def test_one_foot_only_is_told():
    clip = standing()
    found, labels = label_dataset(dataset(clip))
    contacts = labels[0].contacts.copy()
    contacts[:, :2] = False
    assert "only one foot ever stands: the left" in " ".join(clip_doubts(clip, replace(labels[0], contacts=contacts)))


def test_a_set_without_any_contact_and_one_of_four_legs_are_refused():
    clip = standing()
    rising = replace(clip, hips=clip.hips + np.linspace(1.0, 9.0, len(clip))[:, None])
    with pytest.raises(DatasetError, match="no contact"):
        label_dataset(dataset(rising))
    fox = animal("fox")
    rotations = np.tile(fox.rest_rotations, (9, 1, 1))
    still = Clip(fox, 60.0, np.tile(fox.offsets[0], (9, 1)), rotations, np.zeros((9, 3)), np.ones((9, 4), bool))
    with pytest.raises(DatasetError, match="four legs"):
        label_dataset(dataset(still))


def test_the_report_tells_and_shows(tmp_path):
    pytest.importorskip("matplotlib")
    found, labels = label_dataset(dataset(hops(5)[0], standing()))
    files = write_report(found, labels, tmp_path / "report", ground=False)
    text = files[0].read_text(encoding="utf-8")
    assert "2 clips" in text and "Clips to look at: 2" not in text and "its phase creeps on" in text
    assert {path.suffix for path in files[1:]} == {".png"} and len(files) == 3
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError):
        write_report(found, labels, tmp_path / "file", ground=False)


def test_the_command_labels_in_place_or_elsewhere(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    dataset(hops(4)[0], standing()).save(tmp_path / "set")
    command = ["label", str(tmp_path / "set"), "--out", str(tmp_path / "new"), "--report", str(tmp_path / "report"),
               "--no-ground"]  # fmt: skip
    assert main(command) == 0 and (tmp_path / "report" / "labels.txt").is_file()
    assert Dataset.load(tmp_path / "set").labelled == [None, None]
    assert all(one is not None for one in Dataset.load(tmp_path / "new").labelled)
    assert main(["label", str(tmp_path / "set")]) == 0
    assert all(one is not None for one in Dataset.load(tmp_path / "set").labelled)
    assert main(["label", str(tmp_path / "nothing")]) == 2
    assert "nothing" in capsys.readouterr().err
