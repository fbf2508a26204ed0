"""The phase-functioned network's data, losses, training and pack."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from blender_addon.motion import courses  # noqa: E402
from blender_addon.motion.abilities import Abilities, Leap  # noqa: E402
from blender_addon.motion.dataset import Dataset  # noqa: E402
from blender_addon.motion.errors import Cancelled, DatasetError, PackError  # noqa: E402
from blender_addon.motion.planting import plant_feet  # noqa: E402
from blender_addon.motion.terrain import HeightField  # noqa: E402
from blender_addon.systems import pfnn as pfnn_system  # noqa: E402
from blender_addon.systems.onnx_weights import read_constants  # noqa: E402
from blender_addon.systems.packs import load_system, read_pack, write_pack  # noqa: E402
from blender_addon.systems.pfnn_features import RestBody, clip_frames, felt_along  # noqa: E402
from blender_addon.systems.phase_function import spline_coefficients  # noqa: E402
from blender_addon.systems.phase_tables import PhaseTables  # noqa: E402
from blender_addon.systems.protocol import Wish, abilities_of  # noqa: E402
from blender_addon.systems.starting_states import STARTS  # noqa: E402
from blender_addon.systems.trajectory import PAST  # noqa: E402
from tests.animal_motion import roam  # noqa: E402
from tests.synthetic import walk  # noqa: E402
from tests.wishes import wish  # noqa: E402
from training.pfnn import export, starts  # noqa: E402
from training.pfnn.data import BONE_SCALE, PfnnData, check_enough, labels_of, takes_of  # noqa: E402
from training.pfnn.networks import PfnnNetwork, PhaseLayer, phase_shares  # noqa: E402
from training.pfnn.run import PfnnRun  # noqa: E402
from training.pfnn.stance_ground import StanceGround  # noqa: E402
from training.pfnn.tasks import StepTask, Walked, WindowTask  # noqa: E402
from training.settings import PfnnTrainingSettings, StageSettings, read_settings  # noqa: E402
from training.stages import Limits  # noqa: E402
from training.terrain_fitting import FitSettings, fit_dataset  # noqa: E402
from training.trainer import Budget, Trainer, Watch  # noqa: E402

SMALL = dataclasses.replace(
    PfnnTrainingSettings(), hidden=24, ground=FitSettings(fits=2, placements=6, size=8.0, cell=0.1),
    steps=StageSettings(12, 16, 1, 1e-3, noise=0.05), windows=StageSettings(12, 4, 4, 1e-3, noise=0.05),
)  # fmt: skip
SHARES = torch.tensor([0.0, 0.45, 0.63, 0.77, 0.9, 1.0]).repeat(2, 1)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    clips = [walk(8.0, speed, turning) for speed in (0.7, 1.0, 1.4) for turning in (-0.3, 0.0, 0.3)]
    hill = HeightField.from_function(courses.slope(12.0), (-3.0, -14.0, 3.0, 2.0), 0.25)
    clips += [plant_feet(walk(8.0, 1.0), hill).clip, walk(6.0, 0.0), walk(5.0, 1.1, 0.1)]
    clips = [dataclasses.replace(clip, name=f"{number}") for number, clip in enumerate(clips)]
    tags = [()] * 9 + [("slope",), (), ()]
    return Dataset(clips[0].skeleton, clips, tags, [False] * (len(clips) - 1) + [True], ("Nobody",))


@pytest.fixture(scope="module")
def data(dataset) -> PfnnData:
    names, takes = takes_of(dataset)
    return PfnnData.of(takes[:6], names)


@pytest.fixture(scope="module")
def fitted(dataset) -> PfnnData:
    labels = labels_of(dataset)
    names, takes = takes_of(dataset, labels, fit_dataset(dataset, labels, SMALL.ground))
    return PfnnData.of(takes[7:11], names)


def network_for(data: PfnnData, hidden: int = 24, dropout: float = 0.0) -> PfnnNetwork:
    torch.manual_seed(2)
    return PfnnNetwork(data.inputs.size, data.outputs.size, hidden, dropout)


def test_shares_are_the_splines_and_cyclic():
    phase = np.linspace(-9.0, 20.0, 1000)
    assert np.abs(phase_shares(torch.from_numpy(phase)).numpy() - spline_coefficients(phase)).max() < 1e-12
    turn = phase_shares(torch.tensor([0.3, 0.3 + 2 * np.pi], dtype=torch.float64))
    assert torch.allclose(turn[0], turn[1])


def test_blending_answers_is_blending_weights():
    torch.manual_seed(0)
    layer = PhaseLayer(342, 512)
    torch.nn.init.normal_(layer.bias)
    shares, values = phase_shares(torch.rand(5) * 6.0), torch.randn(5, 342)
    weights = layer.weight.view(342, 4, 512)
    with torch.no_grad():
        for row in range(5):
            blended = torch.einsum("k,iko->io", shares[row], weights)
            expected = values[row] @ blended + shares[row] @ layer.bias
            assert torch.allclose(layer(values[row : row + 1], shares[row : row + 1])[0], expected, atol=1e-5)


def test_gradients_are_those_of_finite_differences_the_phases_too():
    torch.manual_seed(0)
    network = PfnnNetwork(5, 3, hidden=4).double()
    values = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    phase = torch.tensor([0.4, 2.0, 5.5], dtype=torch.float64, requires_grad=True)
    weight = network.layers[1].weight.detach().clone().requires_grad_()

    def loss(values, phase, weight):
        answer = torch.func.functional_call(network, {"layers.1.weight": weight}, (values, phase_shares(phase)))
        return answer.square().mean() + 0.01 * network.size()

    assert torch.autograd.gradcheck(loss, (values, phase, weight))


def test_the_weights_size_is_the_mean_of_their_absolute_values():
    network = PfnnNetwork(5, 3, hidden=4)
    everything = torch.cat([parameter.detach().flatten() for parameter in network.parameters()])
    assert float(network.size().detach()) == pytest.approx(float(everything.abs().mean()), rel=1e-5)


def true_frames(dataset, number: int, mirrored: bool = False):
    clip, label = dataset.clips[number], labels_of(dataset)[number]
    names, takes = takes_of(dataset)
    take = takes[number].mirrored() if mirrored else takes[number]
    return clip, label, clip_frames(take.clip, take.phase, take.gaits, take.grounds[0], take.contacts)


def test_frames_are_kept_with_their_mirror_images(dataset, data):
    _, _, plain = true_frames(dataset, 0)
    _, _, mirrored = true_frames(dataset, 0, mirrored=True)
    assert len(data) == 2 * sum(len(clip) for clip in dataset.clips[:6])
    for (first, last), true in zip(data.ranges[:2], (plain, mirrored), strict=True):
        rows = np.arange(first + 1, last)
        expected = np.concatenate([true.trajectory[1:], true.heights[1:], true.gaits[1:], true.pose[:-1]], axis=1)
        assert np.allclose(data.physical_inputs(rows), expected, atol=1e-4)
    away = mirrored.phase - plain.phase
    assert np.allclose(np.cos(away), -1.0, atol=1e-9)
    assert np.array_equal(mirrored.contacts, plain.contacts[:, [2, 3, 0, 1]])


def test_targets_are_this_frames_pose_and_the_next_frames_trajectory(dataset, data):
    _, _, true = true_frames(dataset, 0)
    rows = torch.tensor([40, 90])
    columns = data.output_columns
    answer = data.targets_of(rows, torch.zeros(2, dtype=torch.int64))
    found = (answer * data.scale[columns] + data.mean[columns]).numpy()
    course = true.trajectory.reshape(-1, 2, 12, 2)[rows + 1][:, :, PAST:].reshape(2, -1)
    expected = np.concatenate(
        [course, true.pose[rows], true.angles[rows], true.steps[rows], true.contacts[rows]], axis=1
    )
    assert np.allclose(found, expected, atol=1e-4)
    names = [block.name for block in data.outputs]
    assert names[:2] == ["trajectory_positions", "trajectory_directions"] and names[-1] == "contacts"


def test_bones_go_in_small(data):
    inputs = data.inputs_of(torch.arange(10, 400), torch.zeros(390, dtype=torch.int64))
    pose = inputs[:, -6 * len(data.skeleton) :]
    assert 0.3 * BONE_SCALE < float(pose.std()) < 2.0 * BONE_SCALE


def test_on_other_ground_the_pose_is_as_high_over_it_as_before(fitted):
    rows = torch.arange(60, 400)
    joints = len(fitted.skeleton)
    columns = fitted.output_columns
    height = fitted.outputs.slices["joint_positions"].start + 2

    def hips(variant: int):
        one = torch.full_like(rows, variant)
        found = fitted.targets_of(rows, one)[:, height] * fitted.scale[columns][height] + fitted.mean[columns][height]
        return found + fitted.offsets[variant, rows]

    assert len(fitted.heights) == 3
    assert torch.allclose(hips(0), hips(1), atol=1e-5) and torch.allclose(hips(0), hips(2), atol=1e-5)
    assert float(fitted.offsets[1:].abs().max()) > 0.005
    random = torch.Generator().manual_seed(1)
    drawn = torch.bincount(fitted.draw_variants(4000, random), minlength=3) / 4000
    assert torch.allclose(drawn, torch.tensor([0.4, 0.3, 0.3]), atol=0.04)
    assert joints == 20


def test_the_ground_of_a_slope_take_is_found_under_its_feet(dataset):
    clip = dataset.clips[9]
    ground = StanceGround.of(clip)
    felt = felt_along(clip.root[60:400], 60.0, ground)
    true = felt_along(clip.root[60:400], 60.0, courses.slope(12.0))
    assert np.abs(felt.reference - true.reference).max() < 0.03
    assert np.abs(felt.heights - true.heights)[:, :, 2:10].max() < 0.06
    _, takes = takes_of(dataset)
    assert np.abs(takes[9].grounds[0].heights).max() > 0.15 and np.abs(takes[0].grounds[0].heights).max() == 0.0


def test_rare_frames_are_drawn_more_often(dataset):
    names, takes = takes_of(dataset)
    data = PfnnData.of(takes, names)
    heights = data.heights[0] * data.height_scale + data.height_mean
    uneven = heights.abs().amax(dim=1) > 0.05
    assert float(data.weights[uneven].mean()) > 1.5 * float(data.weights[~uneven].mean())


class Truth(torch.nn.Module):
    """In place of a network: gives the true answers, and remembers what went in."""

    def __init__(self, data: PfnnData, rows: torch.Tensor, variant: torch.Tensor) -> None:
        super().__init__()
        self.data, self.rows, self.variant, self.seen = data, rows, variant, []

    def size(self):
        return torch.zeros(())

    def forward(self, inputs, shares):
        self.seen.append((inputs, shares))
        self.rows = self.rows + 1
        return self.data.targets_of(self.rows - 1, self.variant)


@pytest.mark.parametrize("variant", [0, 1])
def test_a_window_of_true_answers_has_no_error_and_goes_in_as_it_was_learned(fitted, variant):
    rows, ground = torch.tensor([70, 100, 1100]), torch.full((3,), variant)
    truth = Truth(fitted, rows, ground)
    task = WindowTask(fitted, truth, 4, 8, 0.0, SHARES)
    walked = Walked(fitted.pose(rows - 1, ground), torch.zeros(3, 3), torch.zeros(3))
    for frame in range(8):
        walked, errors = task._frame(fitted, rows + frame, ground, walked)
        assert all(error.abs().max() < 2e-3 for error in errors)
        inputs, shares = truth.seen[-1]
        assert (inputs - fitted.inputs_of(rows + frame, ground)).abs().max() < 5e-3
        assert torch.allclose(shares, phase_shares(fitted.phase[rows + frame]), atol=1e-4)
        assert walked.astray.abs().max() < 1e-4 and walked.ahead.abs().max() < 1e-4


def test_who_is_astray_in_place_or_phase_is_asked_to_come_back(data):
    rows, ground = torch.tensor([100]), torch.tensor([0])
    truth = Truth(data, rows, ground)
    task = WindowTask(data, truth, 4, 8, 0.0, SHARES, catch_up=0.1)
    step = torch.tensor([[0.0, -1.0, 0.0]])
    assert torch.allclose(task._wanted_step(step, torch.tensor([[0.02, 0.0, 0.0]]), 60.0),
                          torch.tensor([[-0.12, -1.0, 0.0]]), atol=1e-6)  # fmt: skip
    late = Walked(data.pose(rows - 1, ground), torch.zeros(1, 3), torch.tensor([-0.05]))
    _, (error, *_) = task._frame(data, rows, ground, late)
    place = data.outputs.slices["phase_change"]
    scale = data.scale[data.output_columns][place]
    # The truth is asked to be 0.1 * 0.05 * 60 rad/s quicker.
    assert float(-error[0, place] * scale) == pytest.approx(0.3, abs=1e-3)


def test_the_skeleton_in_torch_agrees_with_the_run_times(data):
    task = WindowTask(data, network_for(data), 4, 4, 0.0, SHARES)
    random = np.random.default_rng(3)
    outputs = torch.from_numpy(random.normal(size=(5, data.outputs.size))).float()
    found = task._clean(outputs)
    pose = data.blocks.slices["pose"]
    places = (found / BONE_SCALE * data.scale[pose] + data.mean[pose])[:, :60].view(5, 20, 3)
    get = data.outputs.get
    body = RestBody(data.skeleton)
    expected = body.positions(get(outputs.numpy(), "joint_positions")[:, :3],
                              get(outputs.numpy(), "joint_angles").reshape(5, 20, 3))  # fmt: skip
    assert np.allclose(places.numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("stage", ["steps", "windows"])
def test_a_small_set_is_learned_by_heart(data, stage, tmp_path):
    network = network_for(data, hidden=48)
    task = (StepTask(data, network, 32) if stage == "steps"
            else WindowTask(data, network, 8, 4, 0.0, SHARES))  # fmt: skip
    generator = torch.Generator().manual_seed(7)
    first = float(task.losses(generator).detach().sum())
    Trainer(task, StageSettings(1, 32, 1, 3e-3), Budget(iterations=300), 1, tmp_path / "c", Watch()).run(False)
    # Windows begin astray, which cannot be learned away.
    assert float(task.losses(generator).detach().sum()) < (0.5 if stage == "steps" else 0.75) * first


def run_onnx(data: bytes, inputs, phase) -> np.ndarray:
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"inputs": inputs.numpy(), "shares": phase_shares(phase).numpy()})[0]


@torch.no_grad()
def test_the_exported_network_gives_what_torch_gives(data):
    network = network_for(data, hidden=64)
    rows = torch.arange(10, 50)
    normal = data.inputs_of(rows, torch.zeros_like(rows))
    inputs, columns = data.input_scaling(), data.output_columns
    physical, phase = normal * inputs[1] + inputs[0], data.phase[rows]
    outputs = data.mean[columns], data.scale[columns]

    def error(half: bool) -> float:
        found = run_onnx(export.pfnn(network, inputs, outputs, half), physical, phase)
        expected = network(normal, phase_shares(phase)).numpy()
        return float(np.abs((found - outputs[0].numpy()) / outputs[1].numpy() - expected).max() / expected.std())

    # Small scales divide the rounding of the physical values.
    assert error(half=False) < 1e-5 * max(1.0, 0.1 * float((1.0 / data.scale).max()))
    assert error(half=True) < 5e-3


@torch.no_grad()
def test_the_published_size_is_exported_to_a_hundred_thousandth():
    torch.manual_seed(1)
    network = PfnnNetwork(342, 311)
    plain = [(torch.zeros(size), torch.ones(size)) for size in (342, 311)]
    inputs, phase = torch.randn(64, 342), torch.rand(64) * 6.28
    found = run_onnx(export.pfnn(network, *plain), inputs, phase)
    assert np.abs(found - network(inputs, phase_shares(phase)).numpy()).max() < 1e-5


def test_too_little_motion_and_other_legs_are_refused(dataset, data, tmp_path):
    with pytest.raises(DatasetError, match="s are missing"):
        check_enough(data, mirrored=True, least=1000.0)
    animals = Dataset(roam(1.0).skeleton, [roam(8.0, 1.0)])
    with pytest.raises(DatasetError, match="two feet"):
        PfnnRun(animals, tmp_path / "p", SMALL, Limits(iterations=2), Watch()).train()
    short = dataclasses.replace(SMALL, windows=StageSettings(1, 4, 900))
    with pytest.raises(DatasetError, match="The longest clip"):
        PfnnRun(dataset, tmp_path / "p", short, Limits(iterations=2), Watch()).train()


def test_settings_are_checked(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('hidden = 64\n[windows]\nwindow = 8\n[ground]\nfits = 2\ngrounds = ["hill.obj"]\n')
    settings = read_settings(path, PfnnTrainingSettings)
    assert settings.hidden == 64 and settings.windows.window == 8
    assert settings.ground.fits == 2 and settings.ground.grounds == ("hill.obj",)
    for text, message in (("hidden = 0", "hidden"), ("dropout = 1.5", "dropout"), ("sparse = -1.0", "sparse"),
                          ("[ground]\ngrounds = [3]", "grounds")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DatasetError, match=message):
            read_settings(path, PfnnTrainingSettings)


@pytest.fixture(scope="module")
def trained(dataset, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("pfnn") / "pack ö"
    PfnnRun(dataset, out, SMALL, Limits(iterations=100), Watch(), title="Test").train()
    return out


def test_a_trained_pack_says_what_it_is(trained, dataset):
    info = read_pack(trained).info
    assert info.title == "Test" and info.system == "pfnn"
    assert info.actions == ("stand", "walk"), "what no clip shows is not offered"
    assert info.held_out == (dataset.clips[-1].name,) and info.credits == ("Nobody",)
    assert info.metrics["held_out_joint_error_half_second_cm"] > 0.0
    assert info.training["settings"]["ground"]["fits"] == 2
    assert info.abilities.crouch is None and info.abilities.leap is None and 0.15 < info.abilities.steepest < 1.0
    assert abilities_of(load_system(trained)) == info.abilities


def test_a_trained_pack_rolls_out_and_characters_do_not_mix(trained):
    system = load_system(trained, stride=3)
    crowd = wish(system, 2, 0.9, "walk")
    crowd.positions[0] *= 0.0
    plain = {f.name: getattr(crowd, f.name) for f in dataclasses.fields(Wish) if f.name != "ground"}
    alone = Wish(**{name: value[1:] for name, value in plain.items()})
    state, single = system.start(crowd), system.start(alone)
    for _ in range(20):
        state, chunk = system.step(state, crowd)
        single, one = system.step(single, alone)
    poses = chunk.poses
    assert poses.rotations.shape == (2, 3, len(system.skeleton), 4) and poses.contacts.shape == (2, 3, 2)
    assert all(np.isfinite(part).all() for part in (poses.hips, poses.rotations, poses.root_step, poses.contacts))
    assert np.allclose(poses.hips[1], one.poses.hips[0], atol=1e-3)
    assert not chunk.switched.any() and (chunk.source == -1).all()


def test_the_start_stands_where_standing_is_wished(trained):
    system = load_system(trained)
    for action, speed, moving in (("stand", 0.0, False), ("walk", 1.0, True)):
        state = system.start(wish(system, 1, speed, action))
        fastest = np.abs(state.pose[0, -3 * len(system.skeleton) :]).max()
        assert (fastest > 0.3) == moving


def test_bad_packs_are_refused_by_what_is_wrong(trained, tmp_path):
    pack = read_pack(trained)
    path = tmp_path / "pack"

    def refused(match: str, files=None, **changes) -> None:
        write_pack(path, dataclasses.replace(pack.info, **changes), {**pack.files, **(files or {})})
        with pytest.raises(PackError, match=match):
            load_system(path)

    refused("names no gait", actions=())
    refused("block 'gaits'", actions=("walk", "run", "jump"))
    refused("outputs layout", layouts={**pack.info.layouts, "outputs": pack.info.layouts["inputs"]})
    refused("two feet", skeleton=roam(1.0).skeleton)
    refused(r"pfnn\.onnx", {pfnn_system.NETWORK: b"rubbish"})
    with np.load(trained / STARTS) as file:
        arrays = {name: file[name] for name in file.files}

    def starts_file(**changes) -> dict[str, bytes]:
        np.savez(tmp_path / "s.npz", **{**arrays, **changes})
        return {STARTS: (tmp_path / "s.npz").read_bytes()}

    refused("inputs in starts.npz", starts_file(inputs=arrays["inputs"][:, 1:]))
    refused("no state to begin from", starts_file(phases=arrays["phases"][1:]))
    refused("not numbers", starts_file(inputs=np.full_like(arrays["inputs"], np.nan)))
    small = PfnnNetwork(7, 5, 4)
    plain = [(torch.zeros(size), torch.ones(size)) for size in (7, 5)]
    refused(r"pfnn\.onnx.*shape", {pfnn_system.NETWORK: export.pfnn(small, *plain)})


def test_a_pack_knows_the_heights_it_has_learned_and_older_ones_do_without(trained, tmp_path):
    pack = read_pack(trained)
    learned = pack.arrays(STARTS, {"felt": (2, 36)})["felt"]
    assert np.all(learned[0] <= 0.0) and np.all(learned[1] >= 0.0) and np.ptp(learned) > 0.1
    hill = Wish(**{**vars(wish(load_system(trained), 1, 1.0, "walk")), "ground": lambda xy: -2.0 * xy[..., 1]})

    def felt(path: Path) -> np.ndarray:
        system, seen = load_system(path), []
        network = system._network
        system._network = lambda inputs, phase: (seen.append(inputs), network(inputs, phase))[1]
        system.step(system.start(hill), hill)
        return system._inputs.get(np.concatenate(seen), "trajectory_heights")

    assert np.all(felt(trained) >= learned[0] - 1e-6) and np.all(felt(trained) <= learned[1] + 1e-6)
    with np.load(trained / STARTS) as file:
        np.savez(tmp_path / "s.npz", **{name: file[name] for name in file.files if name != "felt"})
    write_pack(tmp_path / "old", pack.info, {**pack.files, STARTS: (tmp_path / "s.npz").read_bytes()})
    assert np.abs(felt(tmp_path / "old")).max() > 1.2 * np.abs(learned).max()


def test_learned_heights_are_those_of_all_grounds_and_a_fifth_beyond(fitted):
    heights = (fitted.heights * fitted.height_scale + fitted.height_mean).reshape(-1, 36).numpy()
    low, high = np.percentile(heights, [0.1, 99.9], axis=0)
    found = starts.felt_range(fitted)
    assert np.allclose(found, [low - 0.2 * (high - low), high + 0.2 * (high - low)], atol=1e-4)


class StopAfter:
    """Cancels after some questions."""

    def __init__(self, questions: int) -> None:
        self.left = questions

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_resumed_training_gives_what_an_uninterrupted_one_gives(dataset, tmp_path):
    flat = dataclasses.replace(SMALL, fit_ground=False)
    PfnnRun(dataset, tmp_path / "whole", flat, Limits(iterations=6), Watch()).train()
    for stop in (3, 6):
        with pytest.raises(Cancelled):
            watch = Watch(cancelled=StopAfter(stop))
            PfnnRun(dataset, tmp_path / "parts", flat, Limits(iterations=6), watch, resume=True).train()
    assert not (tmp_path / "parts").exists()
    PfnnRun(dataset, tmp_path / "parts", flat, Limits(iterations=6), Watch(), True).train()
    whole, parts = read_pack(tmp_path / "whole"), read_pack(tmp_path / "parts")
    assert whole.files[pfnn_system.NETWORK] == parts.files[pfnn_system.NETWORK]
    with pytest.raises(Cancelled):
        PfnnRun(dataset, tmp_path / "q", SMALL, Limits(iterations=6), Watch(cancelled=lambda: True)).train()


def test_the_trial_of_leaps_at_the_end_of_a_training_can_be_cancelled(trained, dataset, tmp_path):
    pack = read_pack(trained)
    leap = Leap(1.0, 0.3, 2.2, 0.3, 0.4, 1.6, 1.1, 1.8, 1.8, 2.6)
    info = dataclasses.replace(pack.info, abilities=Abilities(leap=leap))
    run = PfnnRun(dataset, tmp_path / "leaps", SMALL, Limits(iterations=1), Watch(cancelled=lambda: True))
    with pytest.raises(Cancelled):
        run._practised(info, pack.files)


def test_the_command_line_trains_and_tells_its_progress(dataset, tmp_path, repository):
    dataset.save(tmp_path / "data")
    settings = tmp_path / "s.toml"
    settings.write_text("hidden = 16\nfit_ground = false\n[steps]\nbatch = 16\n[windows]\nbatch = 4\nwindow = 4\n")
    done = subprocess.run(
        [sys.executable, "-m", "training", "train", "pfnn", str(tmp_path / "data"), "--out", str(tmp_path / "p"),
         "--minutes", "0.05", "--settings", str(settings), "--json-lines"],
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    progress = [event for event in events if event["kind"] == "progress"]
    assert {event["stage"] for event in progress} == {"steps", "windows"} and events[-1]["kind"] == "done"
    assert load_system(tmp_path / "p").actions[0] == "stand"


@pytest.fixture(scope="module")
def exported() -> bytes:
    torch.manual_seed(4)
    network = PfnnNetwork(30, 20, hidden=16)
    for layer in network.layers:
        torch.nn.init.normal_(layer.bias, std=0.1)
    scalings = [(torch.randn(size), 0.5 + torch.rand(size)) for size in (30, 20)]
    return export.pfnn(network, *scalings)


def test_constants_are_read_as_the_onnx_package_reads_them(exported):
    import onnx

    found = read_constants(exported, "x")
    graph = onnx.load_from_string(exported).graph
    assert set(found) == {tensor.name for tensor in graph.initializer}
    for tensor in graph.initializer:
        assert np.array_equal(found[tensor.name], onnx.numpy_helper.to_array(tensor))
    for broken in (exported[:-7], b"\xff" * 40, exported[:200] + b"\x00" * 50):
        with pytest.raises(PackError, match="damaged|beforehand"):
            PhaseTables(read_constants(broken, "x"), linear=True)


def test_a_phase_function_computed_beforehand_comes_near_the_cubic(exported):
    inputs, phase = torch.randn(40, 30), torch.linspace(-3.0, 12.0, 40)
    cubic = run_onnx(exported, inputs, phase)
    errors = []
    for linear, bins in ((True, 50), (True, 200), (False, 50), (False, 2000)):
        tables = PhaseTables(read_constants(exported, "x"), linear, bins)
        found = tables(inputs.numpy(), phase.numpy().astype(np.float64))
        errors.append(float(np.abs(found - cubic).max() / cubic.std()))
    linear, finer, constant, finest = errors
    # The error of a line falls with the square of its length, that of a step with its length.
    assert linear < 0.04 and finer < linear / 8 and linear < constant < 0.3 and finest < constant / 15
    at_entries = 2 * np.pi * np.arange(40) / 50
    exact = run_onnx(exported, inputs, torch.from_numpy(at_entries).float())
    assert np.allclose(PhaseTables(read_constants(exported, "x"), False)(inputs.numpy(), at_entries), exact, atol=1e-4)
    assert PhaseTables(read_constants(exported, "x"), True).bytes == 50 * 4 * (31 * 16 + 17 * 16 + 17 * 20)


def test_packs_are_played_with_either_phase_function(trained):
    made = []
    for function in ("cubic", "linear", "constant"):
        system = load_system(trained, phase_function=function)
        asked = wish(system, 1, 1.0, "walk")
        state = system.start(asked)
        state, chunk = system.step(state, asked)
        made.append(chunk.poses.hips[0])
    assert np.abs(made[1] - made[0]).max() < 0.01 and np.abs(made[2] - made[0]).max() < 0.1
