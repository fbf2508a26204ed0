"""Learned Motion Matching trains on four legs and rolls out with four contacts."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from blender_addon.motion import rotations as rot  # noqa: E402
from blender_addon.motion.dataset import Dataset  # noqa: E402
from blender_addon.motion.path import RootPath  # noqa: E402
from blender_addon.motion.plan import make_plan  # noqa: E402
from blender_addon.motion.schedule import Schedule  # noqa: E402
from blender_addon.systems.packs import load_system, read_pack  # noqa: E402
from blender_addon.systems.poses import clip_poses, encode_poses  # noqa: E402
from blender_addon.systems.rollout import rollout  # noqa: E402
from tests.animal_steps import stepping  # noqa: E402
from tests.animals import animal  # noqa: E402
from training.kinematics import Kinematics  # noqa: E402
from training.lmm.reconstruction import held_out_errors  # noqa: E402
from training.lmm.run import LmmRun  # noqa: E402
from training.settings import LmmSettings, StageSettings  # noqa: E402
from training.stages import Limits  # noqa: E402
from training.trainer import Watch  # noqa: E402

SMALL = dataclasses.replace(
    LmmSettings(), decompressor=StageSettings(1, 8, 2), stepper=StageSettings(1, 4, 6, noise=0.05),
    projector=StageSettings(1, 8, 1, noise=1.0),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    clips = [stepping("fox", 6.0, speed, turning) for speed in (0.0, 0.4, 0.8, 1.2) for turning in (-0.5, 0.0, 0.5)]
    clips += [stepping("fox", 4.0, 1.0, 0.2)]
    tags = [("walk",)] * len(clips)
    return Dataset(animal("fox"), clips, tags, [False] * (len(clips) - 1) + [True], ("Nobody",))


def test_kinematics_in_torch_agree_with_an_animals_own():
    clip = stepping("horse", 1.0, 1.2, 0.4)
    poses = clip_poses(clip)
    kinematics = Kinematics(clip.skeleton, 4)
    found = kinematics(torch.from_numpy(encode_poses(poses, 60.0).astype(np.float32))).numpy()
    places, turns = clip.skeleton.fk(poses.hips, poses.rotations)
    positions = kinematics.layout.get(found, "positions").reshape(len(clip), -1, 3)
    axes = kinematics.layout.get(found, "rotations").reshape(len(clip), -1, 6)
    assert np.allclose(positions, places[:, kinematics.order], atol=4e-6)
    assert np.allclose(axes, rot.to_6d(turns[:, kinematics.order]), atol=4e-6)


def test_a_tiny_training_on_an_animal_makes_a_pack_that_rolls_out(dataset, tmp_path):
    out = tmp_path / "pack"
    LmmRun(dataset, out, SMALL, Limits(iterations=30), Watch(), title="Fox").train()
    pack = read_pack(out)
    assert pack.info.actions == ("walk",)
    assert pack.info.metrics["held_out_joint_error_cm_mean"] > 0.0
    errors = held_out_errors(out, dataset, pack)
    assert errors is not None and errors.shape[1] == 31 and np.isfinite(errors).all()
    plan = make_plan(RootPath.from_points(np.array([[0.0, 0.0], [0.0, -2.0]])), Schedule.constant(0.8))
    clip = rollout(load_system(out), [plan])[0].clip
    assert clip.contacts.shape == (len(plan), 4) and clip.skeleton.four_legged
    assert np.isfinite(clip.world[0]).all()
