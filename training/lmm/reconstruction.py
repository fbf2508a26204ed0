"""Held-out reconstruction measured again from a finished pack, its decompressor run by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.systems import learned_motion_matching as runtime
from blender_addon.systems.database import Database
from blender_addon.systems.features import Normalizer, layouts
from blender_addon.systems.inference import Network
from blender_addon.systems.packs import Pack
from blender_addon.systems.poses import decode_poses, encode_poses

from .. import checkpoints
from ..kinematics import Kinematics
from .networks import compressor


@torch.no_grad()
def held_out_errors(path: Path, dataset: Dataset, pack: Pack) -> npt.NDArray[np.float64] | None:
    """Distance of every joint (n, b) on held-out takes, metres; None without held-out takes or compressor."""
    state = checkpoints.load(compressor_path(path))
    held = dataset.part(held_out=True)
    if state is None or not held.clips:
        return None
    skeleton, fps = pack.info.skeleton, pack.info.fps
    if not (skeleton.names == dataset.skeleton.names and np.allclose(
        [skeleton.offsets, skeleton.rest_rotations[:, 1:]],
        [dataset.skeleton.offsets, dataset.skeleton.rest_rotations[:, 1:]], atol=1e-5,
    )):  # fmt: skip
        raise DatasetError("The data set is on another skeleton than the pack", "Use the data it was made from")
    database = Database.build(held.clips, mirror=False)
    kinematics = Kinematics(skeleton, len(skeleton.feet))
    network = compressor(len(state["states_mean"]))
    network.load_state_dict(state["compressor"])
    features, poses = layouts(skeleton)
    size = features.size + runtime.LATENT
    decompressor = Network(
        pack.file(runtime.DECOMPRESSOR), runtime.DECOMPRESSOR, {"state": (None, size)}, {"pose": (None, poses.size)}
    )
    normalizer = Normalizer(state["features_mean"].numpy(), state["features_scale"].numpy())
    errors = []
    for first, last in database.ranges:
        rows = np.arange(first, last)
        truth = database.poses(rows)
        vectors = torch.from_numpy(encode_poses(truth, fps).astype(np.float32))
        states = torch.cat([vectors, kinematics(vectors)], dim=1)
        latents = network((states - state["states_mean"]) / state["states_scale"])
        latents = (latents - state["latent_mean"]) / state["latent_scale"]
        values = np.concatenate([normalizer.apply(database.raw[rows]), latents.numpy()], axis=1)
        found = decode_poses(decompressor(state=values), len(skeleton), fps, len(skeleton.feet))
        made, real = (skeleton.fk(p.hips, p.rotations)[0] for p in (found, truth))
        errors.append(np.linalg.norm(made - real, axis=-1))
    return np.concatenate(errors)


def compressor_path(pack: Path) -> Path:
    """Where training leaves the compressor of a pack."""
    return pack.with_name(f".{pack.name}.training") / "compressor.pt"
