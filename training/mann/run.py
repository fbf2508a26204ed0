"""A whole training of the Mode-Adaptive Neural Network: data, two stages, a pack."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.systems import mann as runtime
from blender_addon.systems.mann_features import gating_columns
from blender_addon.systems.packs import write_pack
from blender_addon.systems.starting_states import STARTS

from .. import checkpoints
from ..optimizer import AdamW, WarmRestarts
from ..products import quick_products
from ..settings import MannTrainingSettings, StageSettings
from ..stages import Limits, Stages, fingerprint, learned_info
from ..trainer import Outcome, Watch
from . import export, starts
from .data import MannData, action_labels, check_enough
from .networks import MannNetwork
from .tasks import StepTask, WindowTask

#: What a training leaves beside its pack, in 32 bits, for another that goes on from there.
NETWORK = "network.pt"


@dataclass
class MannRun:
    """One training, from a data set to a pack.

    Attributes:
        dataset: what to learn. out: where the pack goes. settings, limits: how.
        watch: reporter and cancelling. resume: go on from the checkpoints of an earlier run.
        title: the pack's, for people.
        begin: what an earlier training left (`NETWORK`); then only windows are learned.
    """

    dataset: Dataset
    out: Path
    settings: MannTrainingSettings
    limits: Limits
    watch: Watch
    resume: bool = False
    title: str = ""
    begin: Path | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the checkpoints lie, beside the pack."""
        return self.out.with_name(f".{self.out.name}.training")

    def train(self) -> dict[str, Any]:
        """Train, write the pack and return its metrics.

        Raises:
            DatasetError: too little motion, two legs, or a checkpoint of another training. Cancelled: asked to
            stop; checkpoints are left for ``resume``.
        """
        quick_products()
        before = None if self.begin is None else _left_by(self.begin)
        data, held_out = self._prepare(None if before is None else (before["mean"], before["scale"]))
        stages = self._stages()
        settings = self.settings
        torch.manual_seed(settings.seed)
        network = MannNetwork(
            gating_columns(data.skeleton, len(data.actions)), data.inputs.size, data.outputs.size, settings.experts,
            settings.hidden, settings.dropout,
        )  # fmt: skip
        if before is not None:
            _continue(network, data, before)
        else:
            steps = StepTask(data, network, settings.steps.batch, settings.steps.noise, held_out)
            self._stage(stages, steps, settings.steps)
        walking = WindowTask(
            data, network, settings.windows.batch, settings.windows.window, settings.windows.noise,
            runtime.MannSettings().blend, settings.catch_up, runtime.MannSettings().pull, held_out,
        )  # fmt: skip
        self._stage(stages, walking, settings.windows)
        metrics = stages.metrics()
        info = learned_info(
            self.dataset, "mann", self.title or self.out.stem, fps=data.fps, skeleton=data.skeleton,
            layouts={"inputs": data.inputs, "outputs": data.outputs}, actions=data.actions, settings=settings,
            metrics=metrics,
        )  # fmt: skip
        write_pack(self.out, info, pack_files(data, network, settings))
        checkpoints.save(self.folder / NETWORK, {
            "network": network.state_dict(), "mean": data.mean, "scale": data.scale, "actions": list(data.actions),
        })  # fmt: skip
        stages.clear()
        return metrics

    def _prepare(self, scaling: tuple[Tensor, Tensor] | None) -> tuple[MannData, MannData | None]:
        self.watch.reporter.message("stage", stage="data", message="assembling the data")
        if not self.dataset.skeleton.four_legged:
            raise DatasetError(
                "A Mode-Adaptive Neural Network is for the gaits of four legs, this data set is of two",
                "Train a Phase-Functioned Neural Network (pfnn) or Learned Motion Matching (lmm) on people",
            )
        actions, labels = action_labels(self.dataset)
        held = np.array(self.dataset.held_out, dtype=np.bool_)
        longest = max((len(c) for c, kept in zip(self.dataset.clips, held, strict=True) if not kept), default=0)
        need = self.settings.windows.window + 2
        if longest < need:
            raise DatasetError(
                f"The longest clip has {longest} frames; training needs stretches of {need}", "Add longer clips"
            )

        def part(kept: bool, scaling: tuple[Tensor, Tensor] | None) -> MannData:
            rows = np.nonzero(held == kept)[0]
            clips, tracks = [self.dataset.clips[i] for i in rows], [labels[i] for i in rows]
            return MannData.of(clips, tracks, actions, self.settings.mirror and not kept, scaling)

        data = part(False, scaling)
        check_enough(data, self.settings.mirror)
        try:
            held_out = part(True, (data.mean, data.scale))
        except DatasetError:
            held_out = None  # nothing was kept back: train without validation
        return data, held_out

    def _stages(self) -> Stages:
        """The stages, their folder claimed; going on from an earlier network leaves the first one out."""
        settings = self.settings
        stages = {"steps": settings.steps, "windows": settings.windows}
        if self.begin is not None:
            del stages["steps"]
        # Windows draw the same batches whether or not single frames came before.
        seed = settings.seed + 2 - len(stages)
        found = Stages(self.folder, stages, self.limits, self.watch, seed, self.outcomes)
        mark = fingerprint(self.dataset, settings, self.limits)
        if self.begin is not None:
            mark += hashlib.sha256(self.begin.read_bytes()).hexdigest()
        found.claim(mark, self.resume, self.begin)
        return found

    def _stage(self, stages: Stages, task: StepTask | WindowTask, settings: StageSettings) -> None:
        epoch = len(task.data) / (settings.batch * settings.window)
        schedule = WarmRestarts(max(1, round(self.settings.restart_epochs * epoch)), self.settings.restart_growth)
        optimizer = AdamW(task.network.parameters(), settings.learning_rate, self.settings.weight_decay)
        stages.run(task, optimizer, schedule)


def _left_by(path: Path) -> dict[str, Any]:
    """What an earlier training left at ``path``."""
    try:
        found = checkpoints.load(path)
    except DatasetError:
        found = None
    if found is None or not {"network", "mean", "scale", "actions"} <= set(found):
        raise DatasetError(
            f"{path} is not the network of an earlier training",
            f"Name the {NETWORK} in the folder that the training left beside its pack",
        )
    return found


def _continue(network: MannNetwork, data: MannData, before: dict[str, Any]) -> None:
    """Give ``network`` the weights of an earlier one."""
    try:
        network.load_state_dict(before["network"])
    except RuntimeError as error:
        raise DatasetError("The earlier network has other sizes", "Train without it") from error
    if tuple(before["actions"]) != data.actions:
        raise DatasetError(
            f"The earlier network knows other actions: {', '.join(before['actions'])}", "Train without it"
        )


def pack_files(data: MannData, network: MannNetwork, settings: MannTrainingSettings) -> dict[str, bytes]:
    """The pack's network and starting states."""
    size, columns = data.inputs.size, data.target_columns
    file = export.mann(
        network, (data.mean[:size], data.scale[:size]), (data.mean[columns], data.scale[columns]),
        settings.weights, data.limits(),
    )  # fmt: skip
    return {runtime.NETWORK: file, STARTS: starts.starts_file(data, settings.seed)}
