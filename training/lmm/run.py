"""A whole training of Learned Motion Matching: data, three stages, a pack."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.systems import learned_motion_matching as runtime
from blender_addon.systems.database import Database
from blender_addon.systems.features import DEFAULT_WEIGHTS, layouts
from blender_addon.systems.packs import PackInfo, write_pack

from .. import checkpoints, export
from ..coverage import covered_speeds, describe
from ..settings import LmmSettings
from ..stages import Limits, Stages, fingerprint
from ..trainer import Outcome, Watch
from . import starts
from .data import Frames, check_enough
from .networks import fold
from .reconstruction import compressor_path
from .tasks import DecompressorTask, ProjectorTask, StepperTask

#: In this order: the stepper learns to go on from the projector's answers.
_STAGES = ("decompressor", "projector", "stepper")


@dataclass
class LmmRun:
    """One training, from a data set to a pack.

    Attributes:
        dataset: what to learn. out: where the pack goes. settings, limits: how.
        watch: reporter and cancelling. resume: go on from the checkpoints of an earlier run.
        title: the pack's, for people.
    """

    dataset: Dataset
    out: Path
    settings: LmmSettings
    limits: Limits
    watch: Watch
    resume: bool = False
    title: str = ""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the checkpoints lie, beside the pack."""
        return self.out.with_name(f".{self.out.name}.training")

    def train(self) -> dict[str, Any]:
        """Train, write the pack and return its metrics.

        Raises:
            DatasetError: too little motion, or a checkpoint of another training. Cancelled: asked to
            stop; checkpoints are left for ``resume``.
        """
        database, frames, held_out = self._prepare()
        settings = self.settings
        stages = Stages(
            self.folder, {name: getattr(settings, name) for name in _STAGES}, self.limits, self.watch, settings.seed,
            self.outcomes,
        )  # fmt: skip
        stages.claim(fingerprint(self.dataset, settings, self.limits), self.resume)
        self._seed("decompressor")
        coding = DecompressorTask(
            frames, self.settings.decompressor.batch, self.settings.decompressor.window, held_out
        )
        stages.run(coding)
        latents, mean, scale = normalized_latents(coding, frames)
        checked = None if held_out is None else (held_out, (coding.latents(held_out) - mean) / scale)
        self._seed("projector")
        projecting = ProjectorTask(frames, latents, self.settings.projector.batch, self.settings.projector.noise)
        stages.run(projecting)
        self._seed("stepper")
        stepping = StepperTask(
            frames, latents, self.settings.stepper.batch, self.settings.stepper.window, self.settings.stepper.noise,
            checked, projecting.network,
        )  # fmt: skip
        stages.run(stepping)
        metrics = self._metrics(coding, held_out)
        files = network_files(coding, stepping, projecting, (mean, scale))
        chosen = torch.from_numpy(starts.choose(database, self.settings.seed))
        states = torch.cat([frames.features[chosen], latents[chosen]], dim=1)
        files[runtime.STARTS] = starts.starts_file(database, states.numpy())
        write_pack(self.out, self._info(database, metrics), files)
        checkpoints.save(compressor_path(self.out), compressor_state(coding, frames, mean, scale))
        stages.clear()
        return metrics

    def _prepare(self) -> tuple[Database, Frames, Frames | None]:
        learned, kept = self.dataset.part(held_out=False), self.dataset.part(held_out=True)
        self.watch.reporter.message("stage", stage="data", message="assembling the data")
        self._check_lengths(learned)
        database = Database.build(learned.clips, mirror=self.settings.mirror)
        check_enough(database)
        frames = Frames.of(database)
        try:
            held_out = Frames.of(Database.build(kept.clips, mirror=False), frames)
        except DatasetError:
            held_out = None  # nothing was kept back: train without validation
        return database, frames, held_out

    def _check_lengths(self, learned: Dataset) -> None:
        """Raise `DatasetError` unless some clip is as long as the stepper's window."""
        need = max(self.settings.stepper.window, self.settings.decompressor.window)
        longest = max((len(clip) for clip in learned.clips), default=0)
        if longest < need + 1:
            raise DatasetError(
                f"The longest clip has {longest} frames; training needs stretches of {need + 1}",
                "Add longer clips",
            )

    def _seed(self, stage: str) -> None:
        # Each stage has its own first weights, whether or not the stages before it ran in this process.
        torch.manual_seed(self.settings.seed + _STAGES.index(stage))

    def _metrics(self, coding: DecompressorTask, held_out: Frames | None) -> dict[str, Any]:
        metrics: dict[str, Any] = {"training_seconds": round(sum(o.seconds for o in self.outcomes.values()), 1)}
        if held_out is not None:
            errors = 100.0 * coding.joint_errors(held_out)
            metrics["held_out_joint_error_cm_mean"] = round(float(errors.mean()), 4)
            metrics["held_out_joint_error_cm_p95"] = round(float(errors.flatten().quantile(0.95)), 4)
        for name, outcome in self.outcomes.items():
            metrics[f"{name}_iterations"] = outcome.iterations
            if outcome.validation is not None and name != "decompressor":
                metrics[f"{name}_validation"] = round(outcome.validation, 5)
        return metrics

    def _info(self, database: Database, metrics: dict[str, Any]) -> PackInfo:
        features, poses = layouts(database.skeleton)
        about = describe(self.dataset)
        return PackInfo(
            system="lmm", title=self.title or self.out.stem, fps=database.fps, skeleton=database.skeleton,
            layouts={"features": features, "poses": poses}, speeds=covered_speeds(database),
            actions=about.actions, licence=about.licence, credits=about.credits,
            training={**about.training, "mirrored": self.settings.mirror, "settings": asdict(self.settings)},
            held_out=about.held_out, metrics=metrics, weights=dict(DEFAULT_WEIGHTS),
            reference=about.reference,
        )  # fmt: skip


def normalized_latents(coding: DecompressorTask, frames: Frames) -> tuple[Tensor, Tensor, Tensor]:
    """Frozen z of all frames (n, 32), normalised; with the mean (32,) and the common scale ()."""
    latents = coding.latents(frames)
    mean, scale = latents.mean(dim=0), latents.std(dim=0).mean().clamp_min(1e-6)
    return (latents - mean) / scale, mean, scale


def network_files(
    coding: DecompressorTask, stepping: StepperTask, projecting: ProjectorTask, latent: tuple[Tensor, Tensor]
) -> dict[str, bytes]:
    """The pack's ONNX files; normalisations are folded into the layers."""
    features = coding.frames.features.shape[1]
    mean = torch.cat([torch.zeros(features), -latent[0] / latent[1]])
    scale = torch.cat([torch.ones(features), (1.0 / latent[1]).expand(len(latent[0]))])
    pose_size = coding.frames.pose_size
    decompressor = fold(
        coding.decompressor, (mean, scale), (coding.frames.scaling.mean[:pose_size], coding.frames.scaling.pose_scale)
    )
    step = fold(stepping.network, None, (torch.zeros_like(stepping.scale), stepping.scale))
    return {
        runtime.DECOMPRESSOR: export.perceptron(decompressor, "state", "pose"),
        runtime.STEPPER: export.stepper(step),
        runtime.PROJECTOR: export.perceptron(projecting.network, "features", "state"),
    }


def compressor_state(coding: DecompressorTask, frames: Frames, mean: Tensor, scale: Tensor) -> dict[str, Any]:
    """What `training.evaluate` needs to measure the reconstruction again; not part of a pack."""
    return {
        "compressor": coding.compressor.state_dict(), "decompressor": coding.decompressor.state_dict(),
        "latent_mean": mean, "latent_scale": scale,
        "states_mean": frames.scaling.mean, "states_scale": frames.scaling.scale,
        "pose_scale": frames.scaling.pose_scale,
        "features_mean": torch.from_numpy(frames.normalizer.mean),
        "features_scale": torch.from_numpy(frames.normalizer.scale),
    }  # fmt: skip
