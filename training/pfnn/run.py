"""A whole training of the Phase-Functioned Neural Network: data, two stages, a pack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from blender_addon.motion.abilities import Abilities
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import Cancelled, DatasetError
from blender_addon.systems import pfnn as runtime
from blender_addon.systems.inference import RuntimeMissingError
from blender_addon.systems.packs import Pack, PackInfo, write_pack
from blender_addon.systems.starting_states import STARTS

from ..optimizer import AdamW
from ..products import quick_products
from ..settings import PfnnTrainingSettings
from ..stages import Limits, Stages, fingerprint, learned_info
from ..terrain_fitting import TerrainFits, fit_dataset
from ..trainer import Outcome, Watch
from . import abilities, export, starts
from .checks import check_learnable, with_gaits_shown
from .data import PfnnData, Take, check_enough, labels_of, takes_of
from .networks import PfnnNetwork
from .tasks import StepTask, WindowTask
from .trials import practised_crouch, practised_leap


@dataclass
class PfnnRun:
    """One training, from a data set to a pack.

    Attributes:
        dataset: what to learn. out: where the pack goes. settings, limits: how.
        watch: reporter and cancelling. resume: go on from the checkpoints of an earlier run.
        title: the pack's, for people.
        labels: of the data set's clips, once it was trained.
    """

    dataset: Dataset
    out: Path
    settings: PfnnTrainingSettings
    limits: Limits
    watch: Watch
    resume: bool = False
    title: str = ""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    labels: list[ClipLabels] = field(default_factory=list)

    def train(self) -> dict[str, Any]:
        """Train, write the pack and return its metrics.

        Raises:
            DatasetError: too little motion, four legs, or a checkpoint of another training. Cancelled: asked to
            stop; checkpoints are left for ``resume``.
        """
        quick_products()
        settings = self.settings
        data, held_out, able = self._prepare()
        stages = Stages(
            self.out.with_name(f".{self.out.name}.training"), {"steps": settings.steps, "windows": settings.windows},
            self.limits, self.watch, settings.seed, self.outcomes,
        )  # fmt: skip
        stages.claim(fingerprint(self.dataset, settings, self.limits), self.resume)
        torch.manual_seed(settings.seed)
        network = PfnnNetwork(data.inputs.size, data.outputs.size, settings.hidden, settings.dropout)
        steps, windows = settings.steps, settings.windows
        stages.run(
            StepTask(data, network, steps.batch, steps.noise, settings.sparse, held_out),
            AdamW(network.parameters(), steps.learning_rate, 0.0),
        )
        network.dropout = 0.0
        blend = runtime.PfnnSettings().blend
        shares = torch.stack([torch.from_numpy(blend.share(tau)) for tau in (blend.position, blend.direction)]).float()
        walking = WindowTask(
            data, network, windows.batch, windows.window, windows.noise, shares, settings.catch_up, settings.sparse,
            held_out,
        )  # fmt: skip
        stages.run(walking, AdamW(network.parameters(), windows.learning_rate, 0.0))
        metrics = stages.metrics()
        info = learned_info(
            self.dataset, "pfnn", self.title or self.out.stem, fps=data.fps, skeleton=data.skeleton,
            layouts={"inputs": data.inputs, "outputs": data.outputs}, actions=data.gaits, settings=settings,
            metrics=metrics, abilities=able,
        )  # fmt: skip
        files = pack_files(data, network, settings)
        write_pack(self.out, self._practised(info, files), files)
        stages.clear()
        return metrics

    def _practised(self, info: PackInfo, files: Mapping[str, bytes]) -> PackInfo:
        """The pack's description with what the network really does; as captured where that cannot be tried."""
        able = info.abilities
        if able.leap is None and able.crouch is None:
            return info
        self.watch.reporter.message("stage", stage="trials", message="trying how far it jumps and how low it crouches")
        try:
            system: Any = runtime.Pfnn.from_pack(Pack(info, files))
        except RuntimeMissingError:
            told = "How far it jumps and how low it crouches was not tried, for want of onnxruntime: as captured"
            self.watch.reporter.message("remark", message=told)
            return info

        def going_on(_: float) -> bool:
            return not self.watch.cancelled()

        leap = able.leap and practised_leap(system, able.leap, info.speeds, going_on)
        crouch = able.crouch and practised_crouch(system, able.crouch, info.speeds, going_on)
        for verb, shown, found in (("jump", able.leap, leap), ("crouch", able.crouch, crouch)):
            if shown is not None and found is None:
                told = f"It has not learned to {verb}: add clips of it, or train longer"
                self.watch.reporter.message("remark", message=told)
        return replace(info, abilities=replace(able, leap=leap, crouch=crouch))

    def _prepare(self) -> tuple[PfnnData, PfnnData | None, Abilities]:
        self.watch.reporter.message("stage", stage="data", message="labelling and assembling the data")
        if len(self.dataset.skeleton.feet) != 2:
            raise DatasetError(
                "A Phase-Functioned Neural Network has the phase of two feet, this data set has others",
                "Train a Mode-Adaptive Neural Network (mann) on animals",
            )
        held = np.array(self.dataset.held_out, dtype=np.bool_)
        labels = labels_of(self.dataset)
        doubtful = check_learnable(self.dataset, labels, self.settings.windows.window + 2)
        if doubtful:
            self.watch.reporter.message("remark", message=doubtful)
        self.labels = with_gaits_shown(self.dataset, labels)
        gaits, takes = takes_of(self.dataset, self.labels, self._fits(self.labels))

        def part(kept: bool) -> list[Take]:
            return [takes[i] for i in np.nonzero(held == kept)[0]]

        data = PfnnData.of(part(False), gaits, self.settings.mirror)
        check_enough(data, self.settings.mirror)
        try:
            held_out = PfnnData.of(part(True), gaits, False, data)
        except DatasetError:
            held_out = None  # nothing was kept back: train without validation
        rows = np.nonzero(~held)[0]
        return data, held_out, abilities.measured([takes[i] for i in rows], [self.labels[i] for i in rows])

    def _fits(self, labels: list[ClipLabels]) -> TerrainFits | None:
        """Ground fitted under the motion."""
        if not self.settings.fit_ground:
            return None
        self.watch.reporter.message("stage", stage="ground", message="fitting ground under the motion")

        def told(share: float) -> None:
            if self.watch.cancelled():
                raise Cancelled

        return fit_dataset(self.dataset, labels, self.settings.ground, told)


def pack_files(data: PfnnData, network: PfnnNetwork, settings: PfnnTrainingSettings) -> dict[str, bytes]:
    """The pack's network and starting states."""
    columns = data.output_columns
    file = export.pfnn(network, data.input_scaling(), (data.mean[columns], data.scale[columns]), settings.half)
    return {runtime.NETWORK: file, STARTS: starts.starts_file(data, settings.seed)}
