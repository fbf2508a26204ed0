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

from blender_addon.motion import rotations as rot  # noqa: E402
from blender_addon.motion.dataset import Dataset  # noqa: E402
from blender_addon.motion.errors import Cancelled, DatasetError, PackError  # noqa: E402
from blender_addon.systems import mann as mann_system  # noqa: E402
from blender_addon.systems.mann_features import clip_frames, gating_columns  # noqa: E402
from blender_addon.systems.packs import load_system, read_pack, write_pack  # noqa: E402
from blender_addon.systems.protocol import Wish  # noqa: E402
from blender_addon.systems.starting_states import STARTS  # noqa: E402
from blender_addon.systems.trajectory import PAST  # noqa: E402
from tests.animal_motion import roam  # noqa: E402
from tests.synthetic import walk  # noqa: E402
from tests.wishes import wish  # noqa: E402
from training.mann import export  # noqa: E402
from training.mann.body import TorchBody  # noqa: E402
from training.mann.data import Draws, MannData, action_labels, check_enough  # noqa: E402
from training.mann.networks import Experts, MannNetwork  # noqa: E402
from training.mann.run import MannRun  # noqa: E402
from training.mann.tasks import StepTask, WindowTask  # noqa: E402
from training.optimizer import WarmRestarts, cosine  # noqa: E402
from training.products import quick_products  # noqa: E402
from training.settings import MannTrainingSettings, StageSettings, read_settings  # noqa: E402
from training.stages import Limits  # noqa: E402
from training.trainer import Budget, Trainer, Watch  # noqa: E402

SMALL = dataclasses.replace(
    MannTrainingSettings(), experts=4, hidden=24,
    steps=StageSettings(12, 16, 1, 1e-3, noise=0.05), windows=StageSettings(12, 4, 4, 1e-3, noise=0.05),
)  # fmt: skip
NAMES = ("walk", "trot", "jump", "stand")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    clips = [roam(6.0, speed, turning, gait) for speed in (0.6, 1.2) for turning in (-0.4, 0.0, 0.4)
             for gait in ("walk", "trot")]  # fmt: skip
    clips += [roam(5.0, 0.0), roam(5.0, 1.0, 0.1, "trot")]
    actions = [np.full(len(clip), NAMES.index(clip.name.split()[0])) for clip in clips]
    actions[-2][:] = NAMES.index("stand")
    held = [False] * (len(clips) - 1) + [True]
    return Dataset(clips[0].skeleton, clips, [()] * len(clips), held, ("Nobody",), [], NAMES, actions)


@pytest.fixture(scope="module")
def data(dataset) -> MannData:
    names, labels = action_labels(dataset)
    return MannData.of(dataset.clips[:6], labels[:6], names)


def network_for(data: MannData, experts: int = 4, hidden: int = 24) -> MannNetwork:
    torch.manual_seed(2)
    gating = gating_columns(data.skeleton, len(data.actions))
    return MannNetwork(gating, data.inputs.size, data.outputs.size, experts, hidden)


def test_blending_answers_is_blending_weights():
    torch.manual_seed(0)
    layer = Experts(8, 480, 512)
    torch.nn.init.normal_(layer.bias)
    shares = torch.softmax(torch.randn(5, 8), dim=1)
    values = torch.randn(5, 480)
    weights = layer.weight.view(480, 8, 512)
    with torch.no_grad():
        for row in range(5):
            blended = torch.einsum("k,iko->io", shares[row], weights)
            expected = values[row] @ blended + shares[row] @ layer.bias
            assert torch.allclose(layer(values[row : row + 1], shares[row : row + 1])[0], expected, atol=1e-5)


def test_the_shares_of_the_experts_sum_to_one(data):
    shares = network_for(data).shares(data.frames[:50, : data.inputs.size])
    assert shares.shape == (50, 4) and torch.allclose(shares.sum(dim=1), torch.ones(50)) and (shares >= 0).all()


def test_gradients_are_those_of_finite_differences():
    torch.manual_seed(0)
    network = MannNetwork(np.array([0, 2]), 5, 3, experts=2, hidden=4).double()
    for parameter in network.parameters():
        assert parameter.requires_grad
    values = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    weight = network.layers[1].weight.detach().clone().requires_grad_()

    def answer(values, weight):
        return torch.func.functional_call(network, {"layers.1.weight": weight}, (values,))

    assert torch.autograd.gradcheck(answer, (values, weight))


def test_frames_are_inputs_steps_and_contacts_with_mirror_images(dataset, data):
    names, labels = action_labels(dataset)
    assert names == ("walk", "trot", "stand")  # nobody jumps
    assert len(data) == 2 * sum(len(clip) for clip in dataset.clips[:6])
    first, last = data.ranges[1]  # the first clip's mirror image
    frames = clip_frames(dataset.clips[0].mirrored(), labels[0], 3)
    assert np.allclose(data.physical_inputs(np.arange(first, last)), frames.inputs, atol=1e-4)
    assert np.allclose(data.physical_contacts(np.arange(first, last)), frames.contacts, atol=1e-5)


def test_targets_are_the_next_frame_and_the_step_to_it(dataset, data):
    _, labels = action_labels(dataset)
    task = StepTask(data, network_for(data), 8)
    rows = torch.tensor([40, 90])
    columns = data.target_columns
    found = (task.targets(data, rows) * data.scale[columns] + data.mean[columns]).numpy()
    truth = clip_frames(dataset.clips[0], labels[0], 3)
    get, inputs = data.outputs.get, data.inputs
    course = inputs.get(truth.inputs[rows + 1], "trajectory_positions").reshape(2, -1, 2)[:, PAST:]
    assert np.allclose(get(found, "trajectory_positions"), course.reshape(2, -1), atol=1e-5)
    for name in ("joint_positions", "joint_rotations", "joint_velocities"):
        assert np.allclose(get(found, name), inputs.get(truth.inputs[rows + 1], name), atol=1e-4)
    steps = np.concatenate([get(found, "root_velocity"), get(found, "root_turning")], axis=1)
    assert np.allclose(steps, truth.steps[rows], atol=1e-4)
    assert np.allclose(get(found, "contacts"), truth.contacts[rows + 1], atol=1e-5)


def test_the_skeleton_in_torch_agrees_with_the_run_times():
    clip = roam(1.0, 1.1, 0.3)
    skeleton, (places, turns) = clip.skeleton, clip.world
    body = TorchBody(skeleton)
    axes = body.axes(torch.from_numpy(rot.to_6d(turns).reshape(len(clip), -1)).float() * 1.3)
    found = body.positions(torch.from_numpy(clip.hips).float(), axes)
    assert np.allclose(found.numpy(), places, atol=1e-5)
    balls = [places[:, foot.ankle] + rot.rotate(turns[:, foot.ankle], foot.ball) for foot in skeleton.feet]
    assert np.allclose(body.balls(found, axes).numpy(), np.stack(balls, axis=1), atol=1e-5)


def test_changes_and_rare_actions_are_drawn_more_often(dataset):
    clip = roam(8.0, 1.0)
    track = np.where(np.arange(len(clip)) < 60, 1, 0)
    data = MannData.of([clip], [track], ("walk", "trot"), mirror=False)
    weights = data.importance()
    assert weights[50] == weights[20] > weights[80] > weights[300]
    assert float(weights[80] / weights[300]) == pytest.approx(3.0)
    draw = Draws(torch.arange(3), torch.tensor([1.0, 3.0, 6.0]))
    found = torch.bincount(draw(20_000, torch.Generator().manual_seed(1)), minlength=3) / 20_000
    assert torch.allclose(found, torch.tensor([0.1, 0.3, 0.6]), atol=0.02)


class Truth(torch.nn.Module):
    """In place of a network: gives the true answers, and remembers what went in."""

    def __init__(self, task: StepTask, rows: torch.Tensor) -> None:
        super().__init__()
        self.task, self.rows, self.seen = task, rows, []

    def forward(self, inputs):
        self.seen.append(inputs)
        self.rows = self.rows + 1
        return self.task.targets(self.task.data, self.rows - 1)


def test_a_window_of_true_answers_has_no_error_and_goes_in_as_it_was_learned(data):
    rows = torch.tensor([70, 100, 500])
    truth = Truth(StepTask(data, network_for(data), 8), rows)
    task = WindowTask(data, truth, 4, 8)
    inputs = data.frames[rows, : data.inputs.size]
    walked = task._begin(inputs, torch.zeros(3, 3))
    for frame in range(8):
        walked, terms, error = task._frame(data, rows + frame, walked)
        assert error.abs().max() < 2e-3 and terms.max() < 1e-3
        assert (walked.inputs - data.frames[rows + frame + 1, : data.inputs.size]).abs().max() < 5e-3
        assert walked.astray.abs().max() < 1e-4 and walked.off.abs().max() < 1e-4


def test_who_is_astray_is_asked_to_come_back(data):
    rows = torch.tensor([100])
    task = WindowTask(data, Truth(StepTask(data, network_for(data), 8), rows), 4, 8, catch_up=0.1)
    truth = torch.tensor([[0.0, -1.0, 0.0]])
    assert torch.allclose(task._wanted_step(truth, torch.tensor([[0.02, 0.0, 0.0]]), 60.0),
                          torch.tensor([[-0.12, -1.0, 0.0]]), atol=1e-6)  # fmt: skip
    # Facing left of the true way, the true step leads to the right.
    turned = task._wanted_step(truth, torch.tensor([[0.0, 0.0, np.pi / 2]]), 60.0)
    assert turned[0, 0] == pytest.approx(-1.0, abs=1e-5) and turned[0, 2] < 0.0


@pytest.mark.parametrize("stage", ["steps", "windows"])
def test_a_small_set_is_learned_by_heart(data, stage, tmp_path):
    network = network_for(data, hidden=48)
    task = StepTask(data, network, 32) if stage == "steps" else WindowTask(data, network, 8, 4)
    generator = torch.Generator().manual_seed(7)
    first = float(task.losses(generator).detach()[0])
    how = StageSettings(1, 32, 1, 3e-3, shares={"root": 0.2})
    Trainer(task, how, Budget(iterations=300), 1, tmp_path / "c", Watch()).run(False)
    # Windows begin astray and with noise on the pose, which cannot be learned away.
    assert float(task.losses(generator).detach()[0]) < (0.2 if stage == "steps" else 0.5) * first


def test_warm_restarts_double_and_end_with_the_run():
    schedule = WarmRestarts(first=10, growth=2.0)
    assert schedule.cycles(75) == pytest.approx((1 / 7, 3 / 7, 1.0))
    assert schedule.cycles(9) == (1.0,)
    assert schedule(0.0, 70) == schedule(1 / 7, 70) == schedule(3 / 7, 70) == 1.0
    assert schedule(3 / 7 - 1e-6, 70) == pytest.approx(0.01, abs=1e-4)
    assert schedule(5 / 7, 70) == pytest.approx(cosine(0.5)) and schedule(1.0, 70) == pytest.approx(0.01)


def test_quick_products_are_exact():
    quick_products()
    a, b = torch.randn(300, 500), torch.randn(500, 700)
    assert (a @ b - a.double() @ b.double()).abs().max() < 1e-3


def run_onnx(data: bytes, inputs: torch.Tensor) -> np.ndarray:
    return runtime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"inputs": inputs.numpy()})[0]


@torch.no_grad()
def test_the_exported_network_gives_what_torch_gives(data):
    network = network_for(data, experts=8, hidden=64)
    size, columns = data.inputs.size, data.target_columns
    inputs, outputs = (data.mean[:size], data.scale[:size]), (data.mean[columns], data.scale[columns])
    physical = data.frames[:40, :size] * inputs[1] + inputs[0]
    expected = network(data.frames[:40, :size]).numpy()

    def error(kept: str) -> float:
        found = run_onnx(export.mann(network, inputs, outputs, kept), physical)
        return float(np.abs((found - outputs[0].numpy()) / outputs[1].numpy() - expected).max() / expected.std())

    # Small scales divide the rounding of the physical values.
    assert error(export.FULL) < 1e-5 * float((1.0 / data.scale).max())
    assert error(export.COMPACT) < 0.05 and error(export.INTEGER) < 0.05
    for layer in network.layers:
        small, rate = export.quantised(layer.weight.numpy())
        layer.weight.copy_(torch.from_numpy(small.astype(np.float32) * rate))
    expected = network(data.frames[:40, :size]).numpy()
    assert error(export.COMPACT) < 1e-5 * float((1.0 / data.scale).max()) and error(export.INTEGER) < 3e-3


def test_frames_without_labels_move_or_do_what_their_clips_tags_say():
    clips = [roam(2.0, 1.0), roam(2.0, 0.0), roam(2.0, 0.0), roam(2.0, 0.0, 1.0), roam(2.0, 1.0)]
    names, tracks = action_labels(
        Dataset(clips[0].skeleton, clips, [("walk",), ("sit",), (), (), ("jump",)])
    )  # fmt: skip
    assert names == ("move", "stand", "sit", "jump")
    assert [names[track[60]] for track in tracks] == ["move", "sit", "stand", "move", "jump"]


def test_a_small_data_set_is_refused_with_the_seconds_missing(data):
    with pytest.raises(DatasetError, match="24 s are missing"):
        check_enough(data, mirrored=True)


def test_two_legs_are_refused_with_what_is_for_them(tmp_path):
    people = walk(8.0)
    with pytest.raises(DatasetError, match="four legs") as caught:
        MannRun(Dataset(people.skeleton, [people]), tmp_path / "p", SMALL, Limits(iterations=2), Watch()).train()
    assert "pfnn" in caught.value.remedy and "lmm" in caught.value.remedy
    assert not (tmp_path / "p").exists()


def test_settings_are_checked(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("experts = 4\n[windows]\nwindow = 8\n")
    settings = read_settings(path, MannTrainingSettings)
    assert settings.experts == 4 and settings.windows.window == 8
    for text, message in (
        ("experts = 0", "experts"), ("dropout = 1.5", "dropout"), ("weights = 'half'", "weights"),
        ("stepper = 1", "Unknown"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DatasetError, match=message):
            read_settings(path, MannTrainingSettings)


@pytest.fixture(scope="module")
def trained(dataset, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("mann") / "pack ö"
    MannRun(dataset, out, SMALL, Limits(iterations=120), Watch(), title="Test").train()
    return out


def test_a_trained_pack_says_what_it_is(trained, dataset):
    info = read_pack(trained).info
    assert info.title == "Test" and info.system == "mann" and info.actions == ("walk", "trot", "stand")
    assert info.held_out == (dataset.clips[-1].name,) and info.credits == ("Nobody",)
    assert info.metrics["held_out_joint_error_half_second_cm"] > 0.0
    assert info.training["settings"]["experts"] == 4


def test_a_trained_pack_rolls_out_and_characters_do_not_mix(trained):
    system = load_system(trained, stride=3)
    crowd = wish(system, 2, 0.9, "trot")
    crowd.positions[0] *= 0.0
    parts = ("positions", "directions", "speed", "speeds", "actions")
    alone = Wish(*(getattr(crowd, name)[1:] for name in parts))
    state, single = system.start(crowd), system.start(alone)
    for _ in range(20):
        state, chunk = system.step(state, crowd)
        single, one = system.step(single, alone)
    poses = chunk.poses
    assert poses.rotations.shape == (2, 3, len(system.skeleton), 4) and poses.contacts.shape == (2, 3, 4)
    assert all(np.isfinite(part).all() for part in (poses.hips, poses.rotations, poses.root_step, poses.contacts))
    assert np.allclose(np.linalg.norm(poses.rotations, axis=-1), 1.0)
    assert np.allclose(poses.hips[1], one.poses.hips[0], atol=1e-3)
    assert not chunk.switched.any() and (chunk.source == -1).all()


def test_the_start_stands_where_standing_is_wished(trained):
    system = load_system(trained)
    for action, speed, moving in (("stand", 0.0, False), ("walk", 1.2, True)):
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

    refused("names no action", actions=())
    refused("block 'actions'", actions=("walk", "trot"))
    refused("outputs layout", layouts={**pack.info.layouts, "outputs": pack.info.layouts["inputs"]})
    refused(r"mann\.onnx", {mann_system.NETWORK: b"rubbish"})
    with np.load(trained / STARTS) as file:
        starts = {name: file[name] for name in file.files}

    def starts_file(**changes) -> dict[str, bytes]:
        np.savez(tmp_path / "s.npz", **{**starts, **changes})
        return {STARTS: (tmp_path / "s.npz").read_bytes()}

    refused("inputs in starts.npz", starts_file(inputs=starts["inputs"][:, 1:]))
    refused("no state to begin from", starts_file(contacts=starts["contacts"][1:]))
    refused("not numbers", starts_file(inputs=np.full_like(starts["inputs"], np.nan)))
    small = network_for(MannData.of([roam(1.0)], [np.zeros(61, np.int64)], ("walk",)))
    plain = [(torch.zeros(size), torch.ones(size)) for size in (small.layers[0].inputs, small.layers[2].outputs)]
    file = export.mann(small, *plain, export.FULL)
    refused(r"mann\.onnx.*shape", {mann_system.NETWORK: file})
    broken = {name: data for name, data in pack.files.items() if name != STARTS}
    write_pack(path, pack.info, broken)
    with pytest.raises(PackError, match=r"lacks starts\.npz"):
        load_system(path)


class StopAfter:
    """Cancels after some iterations."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_resumed_training_gives_what_an_uninterrupted_one_gives(dataset, tmp_path):
    MannRun(dataset, tmp_path / "whole", SMALL, Limits(iterations=8), Watch()).train()
    for stop in (3, 7, 2):
        with pytest.raises(Cancelled):
            watch = Watch(cancelled=StopAfter(stop))
            MannRun(dataset, tmp_path / "parts", SMALL, Limits(iterations=8), watch, resume=True).train()
    assert not (tmp_path / "parts").exists()
    MannRun(dataset, tmp_path / "parts", SMALL, Limits(iterations=8), Watch(), True).train()
    whole, parts = read_pack(tmp_path / "whole"), read_pack(tmp_path / "parts")
    assert whole.files[mann_system.NETWORK] == parts.files[mann_system.NETWORK]
    with pytest.raises(DatasetError, match="The longest clip"):
        short = dataclasses.replace(SMALL, windows=StageSettings(1, 4, 900))
        MannRun(dataset, tmp_path / "p", short, Limits(iterations=8), Watch()).train()


def test_a_training_can_go_on_from_what_an_earlier_one_left(dataset, trained, tmp_path):
    left = trained.with_name(f".{trained.name}.training") / "network.pt"
    before = left.read_bytes()
    again = MannRun(dataset, tmp_path / "p", SMALL, Limits(iterations=4), Watch(), begin=left)
    assert "steps_iterations" not in again.train() and left.read_bytes() == before
    # A few iterations change the answers a little.
    first, second = (load_system(path)._network for path in (trained, tmp_path / "p"))
    inputs = load_system(trained)._starts[:5].astype(np.float32)
    gap = np.abs(first(inputs=inputs) - second(inputs=inputs)).mean()
    assert 0.0 < gap < 0.5 * np.abs(first(inputs=inputs) - first(inputs=inputs[::-1].copy())).mean()
    with pytest.raises(DatasetError, match="other sizes"):
        MannRun(dataset, tmp_path / "q", dataclasses.replace(SMALL, hidden=8), Limits(4), Watch(), begin=left).train()
    with pytest.raises(DatasetError, match="is not the network"):
        MannRun(dataset, tmp_path / "q", SMALL, Limits(4), Watch(), begin=tmp_path / "nothing.pt").train()
    (tmp_path / "other.pt").write_text("no network")
    with pytest.raises(DatasetError, match="is not the network") as caught:
        MannRun(dataset, tmp_path / "q", SMALL, Limits(4), Watch(), begin=tmp_path / "other.pt").train()
    assert "elete" not in str(caught.value.remedy), "what is no checkpoint of ours is not ours to throw away"


def test_the_command_line_trains_and_tells_its_progress(dataset, tmp_path, repository):
    dataset.save(tmp_path / "data")
    settings = tmp_path / "s.toml"
    settings.write_text("experts = 4\nhidden = 16\n[steps]\nbatch = 16\n[windows]\nbatch = 4\nwindow = 4\n")
    done = subprocess.run(
        [sys.executable, "-m", "training", "train", "mann", str(tmp_path / "data"), "--out", str(tmp_path / "p"),
         "--minutes", "0.05", "--settings", str(settings), "--json-lines"],
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    progress = [event for event in events if event["kind"] == "progress"]
    assert {event["stage"] for event in progress} == {"steps", "windows"} and events[-1]["kind"] == "done"
    assert [event["fraction"] for event in progress] == sorted(event["fraction"] for event in progress)
    assert load_system(tmp_path / "p").actions == ("walk", "trot", "stand")
