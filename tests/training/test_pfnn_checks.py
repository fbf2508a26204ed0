"""What is refused or told before a phase-functioned network is trained on motion without steps to learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset, Labelled
from blender_addon.motion.errors import DatasetError
from tests.synthetic import walk
from training.pfnn.checks import check_learnable, with_gaits_shown
from training.pfnn.data import PfnnData, check_enough, labels_of, takes_of
from training.pfnn.run import PfnnRun
from training.settings import PfnnTrainingSettings, StageSettings
from training.stages import Limits
from training.trainer import Watch

SMALL = replace(
    PfnnTrainingSettings(), hidden=8, fit_ground=False, steps=StageSettings(2, 8, 1), windows=StageSettings(2, 4, 4)
)


def steps(seconds: float = 70.0) -> Clip:
    """A walk whose feet stand for some of the time."""
    return replace(walk(seconds, 0.6), name="steps")


def on_the_spot(clip: Clip) -> Clip:
    return replace(clip, hips=clip.hips - np.pad(clip.root[:, :2], ((0, 0), (0, 1))), root=0.0 * clip.root, name="belt")


def left_out(clip: Clip, frames: int) -> Labelled:
    out = np.arange(len(clip)) < frames
    return Labelled(np.ones((len(clip), 4), bool), np.ones(len(clip), bool), np.zeros(len(clip), bool), out)


def refused(tmp_path, match: str, *clips: Clip, **more) -> str:
    dataset = Dataset(clips[0].skeleton, list(clips), **more)
    with pytest.raises(DatasetError, match=match) as caught:
        PfnnRun(dataset, tmp_path / "pack", SMALL, Limits(iterations=2), Watch()).train()
    assert not (tmp_path / "pack").exists()
    return str(caught.value)


def test_motion_that_goes_nowhere_is_refused_before_it_is_trained_on(tmp_path):
    told = refused(tmp_path, "Only 0 s of this motion are steps", on_the_spot(walk(70.0, 1.0)))
    assert "treadmill" in told and "root motion" in told
    assert "it stands" in refused(tmp_path, "Only 0 s", walk(70.0, 0.0))
    floating = replace(steps(), hips=steps().hips + np.sin(np.arange(len(steps())) / 7.0)[:, None] * [0.0, 0.0, 3.0])
    assert "no contact was found" in refused(tmp_path, "Only 0 s", floating)


def test_motion_of_which_nothing_is_left_to_learn_is_refused_by_what_took_it_away(tmp_path):
    refused(tmp_path, "kept for evaluation", steps(), held_out=[True])
    refused(tmp_path, "left out of learning", steps(), labelled=[left_out(steps(), len(steps()))])
    most = left_out(steps(), len(steps()) - 600)
    assert "10 s of motion" in refused(tmp_path, "too small", steps(), labelled=[most])


def test_frames_that_are_left_out_do_not_count_as_motion_to_train_on():
    dataset = Dataset(steps().skeleton, [steps()], labelled=[left_out(steps(), 1800)])
    names, takes = takes_of(dataset)
    with pytest.raises(DatasetError, match="40 s of motion"):
        check_enough(PfnnData.of(takes, names), mirrored=True)


def test_doubtful_clips_are_told_and_the_rest_is_learned():
    dataset = Dataset(steps().skeleton, [steps(), on_the_spot(walk(30.0, 1.0)), steps(40.0)])
    told = check_learnable(dataset, labels_of(dataset), 6)
    assert told.startswith("1 of 3 clips are doubtful: belt: it goes on the spot")
    good = Dataset(steps().skeleton, [steps(), walk(10.0, 0.0)])
    assert check_learnable(good, labels_of(good), 6) == ""


def test_gaits_that_hardly_a_frame_shows_are_not_among_those_of_the_pack():
    dataset = Dataset(steps().skeleton, [steps(), walk(10.0, 0.0), walk(10.0, 0.0)], held_out=[False, False, True])
    labels = labels_of(dataset)
    few = np.where(np.arange(len(labels[0].gaits)) < 20, labels[0].gait_names.index("run"), labels[0].gaits)
    held = np.full_like(labels[2].gaits, labels[2].gait_names.index("crouch"))
    found = with_gaits_shown(dataset, [replace(labels[0], gaits=few), labels[1], replace(labels[2], gaits=held)])
    assert all(label.gait_names == ("stand", "walk") for label in found)
    assert np.all(found[0].gaits == 1) and np.all(found[1].gaits == 0), "a run that is left shows a walk"
    assert np.all(found[2].gaits == 1), "as does what is kept for evaluation"
