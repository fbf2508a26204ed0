"""Labels of long clips: gaits that change, halts, turns on the spot, with and without contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion.clip import Clip
from blender_addon.motion.gait_analysis.classify import GAIT_LABELS, classify, label_gaits, usual_length
from blender_addon.motion.gait_analysis.footfalls import analyse_clip, strides
from tests.animal_steps import stepping
from tests.animals import animal
from tests.motion.made_footfalls import BOOK, contacts_of

FPS = 60.0


def outing(parts: list[tuple[str, float]], turning: float = 0.0) -> tuple[Clip, list[str]]:
    """A clip of gaits (or "stand", "turn") one after another, each for some seconds, and its labels.

    Only root and contacts matter; the body keeps its rest pose.
    """
    skeleton = animal("fox")
    contacts, speeds, rates, names = [], [], [], []
    for name, seconds in parts:
        frames = round(seconds * FPS)
        if name in ("stand", "turn"):
            part = np.ones((frames, 4), dtype=bool)
            if name == "turn":
                part = contacts_of(np.arange(frames) / FPS / 0.8, np.array(BOOK["lateral walk"][0]), np.full(4, 0.7))
            speed = 0.0
        else:
            symmetric = name in ("lateral walk", "trot", "pace")
            speed = float(np.sqrt({True: 0.4, False: 3.0}[symmetric] * 9.81 * 0.6))
            duration = usual_length(speed, 0.6, symmetric) / speed
            part = contacts_of(0.3 + np.arange(frames) / FPS / duration, *map(np.array, BOOK[name]))
        contacts.append(part)
        speeds += [speed] * frames
        rates += [1.0 if name == "turn" else turning] * frames
        names += [{"lateral walk": "walk", "transverse gallop": "gallop", "turn": "stand"}.get(name, name)] * frames
    yaw = np.cumsum(rates) / FPS
    root = np.stack([np.cumsum(np.sin(yaw) * speeds), -np.cumsum(np.cos(yaw) * speeds), yaw * FPS], -1) / FPS
    count = len(root)
    clip = Clip(
        skeleton, FPS, np.tile(skeleton.offsets[0], (count, 1)), np.tile(skeleton.rest_rotations, (count, 1, 1)),
        np.zeros((count, 3)), np.concatenate(contacts),
    ).moved(root)  # fmt: skip
    return clip, names


@pytest.mark.parametrize("turning", [0.0, 0.8])
def test_every_part_of_an_outing_is_labelled(turning: float) -> None:
    clip, names = outing([
        ("stand", 2.0), ("lateral walk", 4.0), ("trot", 3.0), ("canter", 3.0), ("transverse gallop", 3.0),
        ("trot", 3.0), ("pace", 3.0), ("lateral walk", 3.0), ("stand", 2.0),
    ], turning)  # fmt: skip
    found = [GAIT_LABELS[label] for label in label_gaits(clip)]
    # Where one gait becomes the next neither is right or wrong.
    edges = np.flatnonzero([a != b for a, b in zip(names, names[1:], strict=False)])
    clear = np.abs(np.arange(len(names))[:, None] - edges).min(axis=1) > 0.5 * FPS
    wrong = np.array([a != b for a, b in zip(found, names, strict=True)])
    assert not np.any(wrong & clear)
    assert np.mean(wrong) < 0.1
    # Nothing flickers, and nothing is made up where one gait becomes another.
    assert np.sum(np.diff(label_gaits(clip)) != 0) == len(edges)


def test_strides_of_an_outing_are_named_one_by_one() -> None:
    clip, _ = outing([("lateral walk", 5.0), ("trot", 5.0)])
    names = [classify(stride, 0.6).label for stride in strides(clip)]
    assert set(names) <= {"walk", "trot", "none"}
    assert names.count("none") <= 1
    assert names == sorted(names, key=["walk", "none", "trot"].index)


def test_turning_on_the_spot_is_standing() -> None:
    clip, names = outing([("stand", 1.0), ("turn", 4.0), ("stand", 1.0)])
    assert {GAIT_LABELS[label] for label in label_gaits(clip)} == {"stand"}
    assert all(classify(stride, 0.6).notes for stride in strides(clip))


def test_a_clip_without_contacts_is_labelled_by_its_feet() -> None:
    for gait in ("walk", "trot", "pace"):
        clip = stepping("fox", 4.0, 1.3, 0.0, gait)
        bare = replace(clip, contacts=np.zeros_like(clip.contacts))
        assert {GAIT_LABELS[label] for label in label_gaits(bare)} == {gait}
        one, other = analyse_clip(clip), analyse_clip(bare)
        apart = (one.lags - other.lags + 0.5) % 1.0 - 0.5
        assert np.abs(apart).max() < 0.05
        assert other.frequency == pytest.approx(one.frequency, rel=0.03)
        assert other.speed == pytest.approx(1.3, rel=0.03)


def test_a_clip_on_a_treadmill_has_its_speed_by_the_feet() -> None:
    clip = stepping("fox", 4.0, 1.0)
    still = clip.moved(-clip.root)
    found = analyse_clip(replace(still, root=np.zeros_like(clip.root)))
    assert found.mean.in_place
    assert found.speed == pytest.approx(1.0, rel=0.03)
