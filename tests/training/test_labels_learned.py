"""Labels set by hand reach the phase-functioned network's training: contacts, phase, gaits, what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from blender_addon.motion.gait_labels import LEAST_DEPTH
from blender_addon.motion.label_detection import detect
from blender_addon.motion.label_tracks import with_action, with_contact, with_gait, with_reliable
from blender_addon.motion.planting import plant_feet
from blender_addon.motion.takes import Take, prepare
from tests.synthetic import walk
from training.pfnn.data import PfnnData, labels_of, takes_of

_MADE = walk(6.0, 1.0)
#: With feet that stand still while they stand.
WALK = replace(plant_feet(replace(_MADE, hips=_MADE.hips - [0.0, 0.0, 0.06])).clip, name="Walk")


def dataset(**edits):
    tracks = detect(WALK)
    tracks = with_action(with_gait(tracks, "crouch", 61, 120), "sneak", 121, 180)
    tracks = with_reliable(tracks, 201, 240, False)
    tracks = with_contact(tracks, "right_toe", 1, 361, False)
    return prepare([Take(WALK, path="Walk", level="height", labels=with_contact(tracks, "right_heel", 1, 361, False))])


def test_gaits_and_actions_are_learned_by_the_names_they_were_given() -> None:
    names, takes = takes_of(dataset())
    assert names == ("stand", "walk", "run", "crouch", "jump", "sneak")
    for row, name in ((30, "walk"), (150, "sneak")):
        assert names[int(np.argmax(takes[0].gaits[row]))] == name
    # A crouch says how deep it is: this walk was called one, and is upright.
    crouch = takes[0].gaits[:, names.index("crouch")]
    assert crouch[90] == pytest.approx(LEAST_DEPTH, abs=0.01)
    assert crouch[[30, 150]].max() < 1e-3


def test_contacts_set_by_hand_make_the_phase() -> None:
    (labels,) = labels_of(dataset())
    assert not labels.contacts[:, 2:].any()
    # Only the left foot lands: a whole turn from landing to landing, at half turns.
    down = labels.contacts[:, :2].any(axis=1)
    landings = np.flatnonzero(np.diff(down.astype(int)) == 1) + 1
    assert len(landings) > 2
    share = labels.phase.angle[landings] / (2.0 * np.pi) % 1.0
    assert np.allclose(share, 0.5, atol=1e-6)


def test_what_is_left_out_is_never_drawn_its_mirror_image_neither() -> None:
    names, takes = takes_of(dataset())
    weights = PfnnData.of(takes, names, mirror=True).weights.numpy().reshape(2, -1)
    for half in weights:
        assert np.all(half[200:240] == 0.0)
        assert np.all(np.delete(half, np.arange(200, 240)) > 0.0)


def test_nothing_set_by_hand_learns_what_is_found() -> None:
    plain = prepare([Take(WALK, path="Walk", level="height")])
    labelled = prepare([Take(WALK, path="Walk", level="height", labels=detect(WALK))])
    (ours,), (theirs,) = labels_of(labelled), labels_of(plain)
    assert np.mean(ours.contacts == theirs.contacts) > 0.98
    assert np.mean(ours.gaits == theirs.gaits) > 0.98
