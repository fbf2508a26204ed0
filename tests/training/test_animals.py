"""The generator of the shipped animal's data set: all gaits, rests and leaps, labelled, the same for the same seed."""

import json

import numpy as np
import pytest

from blender_addon.library import SHIPPED
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError, RigError
from blender_addon.motion.gait_model.labels import ACTIONS
from blender_addon.motion.gait_model.table import load_table
from blender_addon.motion.skeleton import Skeleton
from tests.animals import animal
from tests.synthetic import walk
from training.animal_scenes import SCENES, Draw
from training.animals import SOURCE, AnimalSettings, generate, minutes_of, read_skeleton
from training.cli import main


@pytest.fixture(scope="module")
def made() -> Dataset:
    """One clip of each kind at least."""
    return generate(read_skeleton(), AnimalSettings(minutes=0.1, seed=3))


def speeds(clip) -> np.ndarray:
    return np.linalg.norm(np.gradient(clip.root[:, :2], axis=0), axis=1) * clip.fps


def test_it_holds_every_action_and_labels_every_frame(made):
    assert made.action_names == ACTIONS
    assert set(minutes_of(made)) == set(ACTIONS)
    assert all(len(track) == len(clip) for clip, track in zip(made.clips, made.actions, strict=True))
    assert sum(minutes_of(made).values()) == pytest.approx(made.frames / made.fps / 60.0, abs=0.1)
    assert {kind.name for kind in SCENES} <= {tag for tags in made.tags for tag in tags}


def test_gaits_are_labelled_at_their_speeds(made):
    table = load_table()
    pace = np.concatenate([speeds(clip) for clip in made.clips])
    labels = np.concatenate(made.actions)
    for name in ("walk", "pace", "trot", "canter", "gallop"):
        low, high = table[name].speeds(0.6)
        there = pace[labels == ACTIONS.index(name)]
        assert np.mean((there > 0.9 * low) & (there < 1.1 * high)) > 0.9, name
    for name in ("stand", "sit", "lie"):
        assert pace[labels == ACTIONS.index(name)].max() < 0.05


def test_feet_stand_still_and_the_motion_is_sourced_as_generated(made):
    for clip in made.clips:
        feet = clip.world[0][:, [foot.toe for foot in clip.skeleton.feet]]
        both = clip.contacts[1:] & clip.contacts[:-1]
        assert (np.linalg.norm(np.diff(feet, axis=0), axis=-1) * both).max() < 1.5e-3
    assert set(made.sources) == {SOURCE} and "Generated" in made.credits[0] and SOURCE.licence


def test_one_clip_in_twelve_is_held_out(made):
    assert sum(made.held_out) == pytest.approx(len(made) / 12.0, abs=1.0)


def test_the_same_seed_gives_the_same_motion_and_another_one_another():
    def first(seed: int) -> tuple:
        plan = SCENES[3].make(Draw(np.random.default_rng([seed, 3]), 0.6))
        return plan.positions.tobytes(), plan.actions

    assert first(1) == first(1) != first(2)


@pytest.mark.parametrize("kind", SCENES, ids=lambda kind: kind.name)
def test_ways_of_large_animals_are_larger(kind):
    small, large = (kind.make(Draw(np.random.default_rng(5), height)) for height in (0.6, 1.6))
    assert 3.0 < small.seconds < 120.0 and 3.0 < large.seconds < 200.0
    assert large.speed.max() > 1.2 * small.speed.max()


def test_bends_are_as_narrow_as_half_a_metre():
    draw = Draw(np.random.default_rng(0), 0.6)
    bends = next(kind for kind in SCENES if kind.name == "bend")
    narrowest = np.inf
    for _ in range(12):
        plan = bends.make(draw)
        turning = np.abs(plan.yaw_rate)
        narrowest = min(narrowest, float(np.min((plan.speed / np.maximum(turning, 1e-6))[turning > 0.5])))
    assert narrowest < 0.65


def test_the_command_writes_a_data_set(tmp_path, capsys):
    skeleton = tmp_path / "fox.json"
    skeleton.write_text(json.dumps(animal("fox").to_json()))
    out = tmp_path / "set"
    assert main(["gaits", "--out", str(out), "--minutes", "0.1", "--fps", "30", "--skeleton", str(skeleton),
                 "--json-lines"]) == 0  # fmt: skip
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["kind"] == "done" and last["minutes"]["sit"] > 0.0
    assert Dataset.load(out).fps == 30.0 and Dataset.load(out).action_names == ACTIONS


def test_bad_wishes_are_refused_with_a_remedy(tmp_path):
    with pytest.raises(DatasetError, match="minutes"):
        AnimalSettings(minutes=0.0)
    with pytest.raises(DatasetError, match="frames a second"):
        AnimalSettings(fps=2.0)
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(DatasetError, match="does not describe a skeleton"):
        read_skeleton(tmp_path / "no.json")
    with pytest.raises(RigError, match="two legs"):
        generate(walk(1.0).skeleton)
    for factor in (0.0, 1e6):
        fox = read_skeleton().to_json()
        with pytest.raises(RigError, match="shoulders stand") as caught:
            generate(Skeleton.from_json({**fox, **{key: (factor * np.array(fox[key])).tolist()
                                                   for key in ("offsets", "tails")}}))  # fmt: skip
        assert "metres" in caught.value.remedy
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(RigError, match="malformed") as caught:
        read_skeleton(tmp_path / "no.json")
    assert caught.value.remedy


def test_a_data_set_that_is_none_is_refused_before_a_pack_is_measured(tmp_path, capsys):
    assert main(["evaluate", str(SHIPPED / "quadruped-mann"), str(tmp_path / "none")]) == 2
    assert "is not a data set" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["gaits"], ["train", "mann", "nothing"], ["train", "mm", "nothing"]])
def test_a_place_that_must_not_be_replaced_is_refused_before_the_work(command, tmp_path, capsys):
    kept = tmp_path / "photos" / "dog.txt"
    kept.parent.mkdir()
    kept.write_text("dear")
    assert main([*command, "--out", str(kept.parent)]) == 2
    assert "photos exists and is not a" in capsys.readouterr().err and kept.read_text() == "dear"
