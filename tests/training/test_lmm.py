import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from blender_addon.motion import rotations as rot  # noqa: E402
from blender_addon.motion.dataset import Dataset  # noqa: E402
from blender_addon.motion.errors import Cancelled, DatasetError  # noqa: E402
from blender_addon.systems.database import Database  # noqa: E402
from blender_addon.systems.packs import load_system, read_pack  # noqa: E402
from blender_addon.systems.poses import clip_poses, encode_poses  # noqa: E402
from blender_addon.systems.protocol import Wish  # noqa: E402
from tests.synthetic import biped, walk  # noqa: E402
from training import export  # noqa: E402
from training.kinematics import Kinematics  # noqa: E402
from training.lmm.data import Frames, check_enough  # noqa: E402
from training.lmm.neighbours import Neighbours  # noqa: E402
from training.lmm.networks import fold, projector, stepper  # noqa: E402
from training.lmm.run import LmmRun  # noqa: E402
from training.lmm.tasks import DecompressorTask, ProjectorTask, StepperTask  # noqa: E402
from training.optimizer import RAdam  # noqa: E402
from training.settings import LmmSettings, StageSettings, read_settings  # noqa: E402
from training.stages import Limits  # noqa: E402
from training.trainer import Budget, Trainer, Watch, balanced_weights  # noqa: E402

SMALL = dataclasses.replace(
    LmmSettings(),
    decompressor=StageSettings(1, 8, 2),
    stepper=StageSettings(1, 4, 6, noise=0.05),
    projector=StageSettings(1, 8, 1, noise=1.0),
)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    clips = [walk(5.0, speed, turning) for speed in (0.0, 0.4, 0.8, 1.2) for turning in (-0.5, 0.0, 0.5)]
    clips += [walk(8.0, 1.0, 0.2)]
    return Dataset(biped(), clips, [("walk",)] * len(clips), [False] * (len(clips) - 1) + [True], ("Nobody",))


@pytest.fixture(scope="module")
def frames(dataset) -> Frames:
    return Frames.of(Database.build(dataset.part(False).clips))


def test_kinematics_in_torch_agree_with_the_skeletons_own():
    clip = walk(2.0, 0.9, 0.4)
    rng = np.random.default_rng(3)
    shaken = rot.mul(clip.rotations, rot.exp(0.3 * rng.normal(size=(len(clip), len(clip.skeleton), 3))))
    clip = dataclasses.replace(clip, rotations=shaken)
    poses = clip_poses(clip)
    kinematics = Kinematics(clip.skeleton)
    found = kinematics(torch.from_numpy(encode_poses(poses, 60.0).astype(np.float32))).numpy()
    places, turns = clip.skeleton.fk(poses.hips, poses.rotations)
    positions = kinematics.layout.get(found, "positions").reshape(len(clip), -1, 3)
    axes = kinematics.layout.get(found, "rotations").reshape(len(clip), -1, 6)
    assert np.allclose(positions, places[:, kinematics.order], atol=2e-6)
    assert np.allclose(axes, rot.to_6d(turns[:, kinematics.order]), atol=2e-6)


def test_kinematic_velocities_are_those_of_the_positions():
    clip = walk(2.0, 0.9, 0.4)
    kinematics = Kinematics(clip.skeleton)
    poses = clip_poses(clip)
    found = kinematics(torch.from_numpy(encode_poses(poses, 60.0).astype(np.float32))).numpy()
    speed = kinematics.layout.get(found, "velocities").reshape(len(clip), -1, 3)[2:-2]
    places = clip.skeleton.fk(poses.hips, poses.rotations)[0][:, kinematics.order]
    by_difference = np.gradient(places, axis=0)[2:-2] * 60.0
    # The made-up walk kinks at each step, where differences smear.
    assert np.quantile(np.abs(speed - by_difference), 0.95) < 0.02


def test_fused_radam_steps_as_torchs_own():
    torch.manual_seed(0)
    start = [torch.randn(5, 3), torch.randn(7)]
    ours, theirs = ([torch.nn.Parameter(p.clone()) for p in start] for _ in range(2))
    one, two = RAdam(ours, 1e-2), torch.optim.RAdam(theirs, lr=1e-2)
    for step in range(40):
        for parameters, optimizer in ((ours, one), (theirs, two)):
            optimizer.zero_grad()
            loss = sum(((p - step * 0.01) ** 2).sum() for p in parameters)
            loss.backward()
            optimizer.step()
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_every_loss_term_is_as_large_as_its_share_at_first():
    weights = balanced_weights(torch.tensor([4.0, 0.5]), ("a", "b"), {"b": 0.1})
    assert torch.allclose(weights * torch.tensor([4.0, 0.5]), torch.tensor([1.0, 0.1]))


@pytest.mark.parametrize("stage", ["decompressor", "stepper", "projector"])
def test_losses_fall(frames, stage, tmp_path):
    torch.manual_seed(1)
    latents = frames.features @ torch.randn(frames.features.shape[1], 32) * 0.2
    task = {
        "decompressor": lambda: DecompressorTask(frames, 16),
        "stepper": lambda: StepperTask(frames, latents, 8, 8),
        "projector": lambda: ProjectorTask(frames, latents, 16),
    }[stage]()
    trainer = Trainer(task, StageSettings(1, 16, 2), Budget(iterations=200), 1, tmp_path / "c.pt", Watch())
    generator = torch.Generator().manual_seed(7)
    first = task.losses(generator).detach()
    trainer.run(resume=False)
    assert torch.isfinite(task.losses(generator)).all()
    named = dict(zip(task.terms, (task.losses(generator).detach() / first).tolist(), strict=True))
    # The latent's own terms may grow: it starts near zero.
    assert np.mean([ratio for name, ratio in named.items() if not name.startswith("latent_")]) < 0.85


def test_the_reconstruction_is_measured_in_metres(frames):
    task = DecompressorTask(frames, 8)
    with torch.no_grad():
        errors = task.joint_errors(frames, limit=64)
        rows = torch.linspace(0, len(frames) - 1, 64).long()
        poses = task.decompressor(torch.cat([frames.features[rows], task.compressor(frames.states[rows])], 1))
        poses = poses * frames.scaling.pose_scale + frames.scaling.mean[: frames.pose_size]
        truth = frames.states[rows, : frames.pose_size] * frames.scaling.scale[: frames.pose_size]
        truth += frames.scaling.mean[: frames.pose_size]
    decoded = [frames.kinematics(p)[:, :60].reshape(-1, 20, 3) for p in (poses, truth)]
    assert torch.allclose(errors, (decoded[0] - decoded[1]).norm(dim=-1), atol=1e-5)


def test_neighbours_are_the_nearest_of_a_full_scan():
    rng = np.random.default_rng(0)
    points = torch.from_numpy(rng.normal(size=(9000, 27)).astype(np.float32) + 5.0)
    queries = points[::97] + 0.3 * torch.from_numpy(rng.normal(size=(93, 27)).astype(np.float32))
    found = Neighbours(points).nearest(queries)
    exact = (queries.double()[:, None] - points.double()[None]).square().sum(-1).argmin(dim=1)
    assert torch.equal(found, exact)


def test_the_stepper_never_sees_a_window_across_two_clips(frames):
    starts = frames.windows(20).numpy()
    of = np.repeat(np.arange(len(frames.ranges)), frames.ranges[:, 1] - frames.ranges[:, 0])
    assert np.array_equal(of[starts], of[starts + 19])
    assert len(starts) == sum(last - first - 19 for first, last in frames.ranges)


def run_onnx(data: bytes, **inputs):
    return runtime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, inputs)[0]


def test_exported_networks_give_what_torch_gives():
    torch.manual_seed(0)
    network = projector(27)
    x = torch.randn(9, 27)
    assert np.abs(run_onnx(export.perceptron(network, "features", "state"), features=x.numpy())
                  - network(x).detach().numpy()).max() < 1e-5  # fmt: skip


def test_the_exported_stepper_steps_as_torch_does():
    torch.manual_seed(0)
    network = stepper(27)
    state = torch.randn(3, 59)
    expected = []
    now = state
    for _ in range(12):
        now = now + network(now)
        expected.append(now.detach().numpy())
    found = run_onnx(export.stepper(network), state=state.numpy(), frames=np.asarray(12, dtype=np.int64))
    assert found.shape == (12, 3, 59) and np.abs(found - np.stack(expected)).max() < 1e-5


def test_folding_moves_the_normalisation_into_the_layers():
    torch.manual_seed(0)
    network = projector(27)
    mean, scale = torch.randn(27), torch.rand(27) + 0.5
    out_mean, out_scale = torch.randn(59), torch.rand(59) + 0.5
    x = torch.randn(5, 27)
    expected = network((x - mean) / scale) * out_scale + out_mean
    assert torch.allclose(fold(network, (mean, scale), (out_mean, out_scale))(x), expected, atol=1e-5)


@pytest.fixture(scope="module")
def trained(dataset, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("lmm") / "pack ö"
    LmmRun(dataset, out, LmmSettings(), Limits(iterations=150), Watch(), title="Test").train()
    return out


def wish(system, count: int, speed: float) -> Wish:
    ahead = np.array(system.horizon)
    positions = np.zeros((count, len(ahead), 2))
    positions[..., 1] = -speed * ahead
    directions = np.zeros((count, len(ahead), 2))
    directions[..., 1] = -1.0
    return Wish(positions, directions, np.full(count, speed))


def test_a_trained_pack_says_what_it_is(trained, dataset):
    info = read_pack(trained).info
    assert info.title == "Test" and info.credits == ("Nobody",) and info.held_out == (dataset.clips[-1].name,)
    assert info.metrics["held_out_joint_error_cm_mean"] > 0.0
    assert sum(len(data) for data in read_pack(trained).files.values()) < 8e6


def test_a_trained_pack_rolls_out_and_characters_do_not_mix(trained):
    system = load_system(trained, stride=7)
    crowd = wish(system, 3, 0.8)
    crowd.positions[1] *= 0.0
    alone = Wish(crowd.positions[2:], crowd.directions[2:], crowd.speed[2:])
    state, single = system.start(crowd), system.start(alone)
    for _ in range(3):
        state, chunk = system.step(state, crowd)
        single, one = system.step(single, alone)
    assert chunk.poses.rotations.shape == (3, 7, 20, 4) and chunk.jump.hips.shape == (3, 2, 3)
    assert np.allclose(np.linalg.norm(chunk.poses.rotations, axis=-1), 1.0)
    assert np.allclose(chunk.poses.hips[2], one.poses.hips[0], atol=1e-4)


def test_without_a_switch_the_jump_is_the_motion_itself(trained):
    system = load_system(trained, gain=1.0)
    state = system.start(wish(system, 2, 1.0))
    state, before = system.step(state, wish(system, 2, 1.0))
    state, chunk = system.step(state, wish(system, 2, 0.0))
    assert not chunk.switched.any()
    assert np.array_equal(chunk.jump.hips, chunk.poses.hips[:, :2])


def test_a_projection_keeps_what_would_have_followed(trained):
    eager, lazy = load_system(trained, gain=0.0, least_gain=-1e9), load_system(trained, gain=1.0)
    asked = wish(eager, 2, 1.0)
    state = eager.start(asked)
    _, jumped = eager.step(state, asked)
    _, continued = lazy.step(state, asked)
    assert jumped.switched.all()
    assert np.allclose(jumped.jump.hips, continued.poses.hips[:, :2], atol=1e-6)


def test_a_network_of_another_shape_is_refused_by_name(trained, tmp_path):
    from blender_addon.motion.errors import PackError
    from blender_addon.systems.packs import write_pack

    pack = read_pack(trained)
    files = {**pack.files, "decompressor.onnx": export.perceptron(projector(27), "features", "state")}
    write_pack(tmp_path / "pack", pack.info, files)
    with pytest.raises(PackError, match=r"decompressor\.onnx"):
        load_system(tmp_path / "pack")
    files["decompressor.onnx"] = b"rubbish"
    write_pack(tmp_path / "pack", pack.info, files)
    with pytest.raises(PackError, match=r"decompressor\.onnx"):
        load_system(tmp_path / "pack")


def test_a_missing_runtime_is_explained(trained, monkeypatch):
    from blender_addon.systems.inference import RuntimeMissingError

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RuntimeMissingError, match="Motion Matching"):
        load_system(trained)


class StopAfter:
    """Cancels after some iterations."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_resumed_training_gives_what_an_uninterrupted_one_gives(dataset, tmp_path):
    LmmRun(dataset, tmp_path / "whole", SMALL, Limits(iterations=12), Watch()).train()
    for stop in (5, 10, 3, 5):
        with pytest.raises(Cancelled):
            watch = Watch(cancelled=StopAfter(stop))
            LmmRun(dataset, tmp_path / "parts", SMALL, Limits(iterations=12), watch, resume=True).train()
    assert not (tmp_path / "parts").exists()
    LmmRun(dataset, tmp_path / "parts", SMALL, Limits(iterations=12), Watch(), True).train()
    whole, parts = read_pack(tmp_path / "whole"), read_pack(tmp_path / "parts")
    for name in whole.files:
        if name.endswith(".onnx"):
            assert whole.files[name] == parts.files[name], name


def test_resuming_another_training_is_refused(dataset, tmp_path):
    with pytest.raises(Cancelled):
        LmmRun(dataset, tmp_path / "p", SMALL, Limits(iterations=12), Watch(cancelled=StopAfter(5))).train()
    with pytest.raises(DatasetError, match="other data or settings"):
        LmmRun(dataset, tmp_path / "p", SMALL, Limits(iterations=13), Watch(), resume=True).train()


def test_a_full_disk_is_reported_and_keeps_the_old_checkpoint(dataset, frames, tmp_path, monkeypatch):
    trainer = Trainer(
        DecompressorTask(frames, 8), StageSettings(1, 8, 2), Budget(iterations=2), 1, tmp_path / "c.pt", Watch()
    )
    trainer.run(False)
    before = (tmp_path / "c.pt").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DatasetError, match="No space"):
        trainer.run(False) if trainer.budget.iterations != 2 else trainer._save()
    assert (tmp_path / "c.pt").read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["c.pt"]


def test_a_small_data_set_is_refused_with_the_seconds_missing():
    with pytest.raises(DatasetError, match="50 s are missing"):
        check_enough(Database.build([walk(10.0, 1.0)]))


def test_settings_from_toml_are_checked(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("mirror = false\n[stepper]\nbatch = 16\n[stepper.shares]\nlatents = 2\n")
    settings = read_settings(path, LmmSettings)
    assert settings.stepper.batch == 16 and settings.stepper.shares["latents"] == 2.0 and not settings.mirror
    for text, message in (
        ("sead = 1", "Unknown setting sead"), ("seed = 'a'", "seed must be a int"), ("stepper = 1", "table"),
        ("[stepper]\nbatch = 0", "batch"), ("[stepper.shares]\nx = 'y'", "shares"), ("= 3", "cannot be read"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DatasetError, match=message):
            read_settings(path, LmmSettings)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-u", "-m", "training", *arguments]


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in io.StringIO(text)]


@pytest.fixture(scope="module")
def small_settings(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("settings") / "small.toml"
    path.write_text("[decompressor]\nbatch = 8\n[stepper]\nbatch = 4\nwindow = 6\n[projector]\nbatch = 8\n")
    return path


@pytest.fixture(scope="module")
def saved(dataset, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "data set"
    dataset.save(path)
    return path


def test_killed_at_any_moment_it_resumes_to_the_same_pack(saved, small_settings, tmp_path, repository):
    common = ["train", "lmm", str(saved), "--iterations", "60", "--settings", str(small_settings), "--json-lines",
              "--checkpoint-seconds", "0.02"]  # fmt: skip
    subprocess.run(command(*common, "--out", str(tmp_path / "whole")), cwd=repository, check=True, capture_output=True)
    out = tmp_path / "killed"
    again = command(*common, "--out", str(out), "--resume")
    for delay in (0.0, 0.15):
        child = subprocess.Popen(again, cwd=repository, stdout=subprocess.PIPE)
        while not list(tmp_path.glob(".killed.training/*.pt*")) and child.poll() is None:
            time.sleep(0.01)
        time.sleep(delay)
        child.kill()
        child.communicate()
    assert not out.exists()
    done = subprocess.run(again, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert events(done.stdout)[-1]["kind"] == "done"
    assert read_pack(out).files["projector.onnx"] == read_pack(tmp_path / "whole").files["projector.onnx"]
    assert read_pack(out).files["stepper.onnx"] == read_pack(tmp_path / "whole").files["stepper.onnx"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to catch")
def test_asked_to_end_it_leaves_a_checkpoint_and_no_pack(saved, tmp_path, repository):
    child = subprocess.Popen(
        command("train", "lmm", str(saved), "--minutes", "5", "--out", str(tmp_path / "p"), "--json-lines"),
        cwd=repository, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["kind"] == "progress":
            break
    child.send_signal(signal.SIGTERM)
    rest, _ = child.communicate(timeout=30)
    assert child.returncode == 130 and events(rest)[-1]["kind"] == "cancelled"
    assert (tmp_path / ".p.training" / "decompressor.pt").exists() and not (tmp_path / "p").exists()


def test_progress_lines_say_stage_fraction_loss_and_time_left(saved, tmp_path, repository):
    done = subprocess.run(
        command("train", "lmm", str(saved), "--minutes", "0.08", "--out", str(tmp_path / "p"), "--json-lines"),
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    progress = [event for event in events(done.stdout) if event["kind"] == "progress"]
    assert [event["fraction"] for event in progress] == sorted(event["fraction"] for event in progress)
    assert {event["stage"] for event in progress} == {"decompressor", "stepper", "projector"}
    assert progress[-1]["seconds_left"] == pytest.approx(0.0, abs=0.2) and progress[0]["loss"] > 0


def test_errors_are_one_line_with_a_remedy_and_status_2(tmp_path, repository):
    clip = walk(4.0, 1.0)
    Dataset(clip.skeleton, [clip]).save(tmp_path / "tiny")
    done = subprocess.run(
        command("train", "lmm", str(tmp_path / "tiny"), "--out", str(tmp_path / "p"), "--json-lines"),
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    last = events(done.stdout)[-1]
    assert done.returncode == 2 and last["kind"] == "error" and "56 s are missing" in last["message"] and last["remedy"]
    assert not (tmp_path / "p").exists()


def test_a_matching_pack_needs_no_training(saved, tmp_path, repository):
    done = subprocess.run(
        command("train", "mm", str(saved), "--out", str(tmp_path / "mm"), "--title", "Index"),
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert read_pack(tmp_path / "mm").info.title == "Index"
    assert len(load_system(tmp_path / "mm").database) > 1000
