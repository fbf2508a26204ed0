"""Settings of a training run: dataclasses with checked values, read from TOML, never executed."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from blender_addon.motion.errors import DatasetError

from .terrain_fitting.settings import FitSettings


@dataclass(frozen=True)
class StageSettings:
    """How one network (or one pair) is trained.

    Attributes:
        iterations: steps of the optimiser, when no number of minutes is asked for.
        batch: windows in a batch.
        window: frames in a window.
        learning_rate: at the start; falls to nearly 0 along a half cosine.
        time_share: share of the minutes asked for that this stage gets.
        noise: deviation of the noise on the inputs, where the stage has any.
        shares: how large each loss term is at the first iteration, relative to 1, by name.
    """

    iterations: int
    batch: int
    window: int
    learning_rate: float = 1e-3
    time_share: float = 1.0
    noise: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("iterations", "batch", "window", "learning_rate", "time_share"):
            if not getattr(self, name) > 0:
                raise DatasetError(f"Setting {name!r} must be greater than 0, not {getattr(self, name)}")
        if self.noise < 0 or any(share < 0 for share in self.shares.values()):
            raise DatasetError("Settings 'noise' and 'shares' must not be negative")


@dataclass(frozen=True)
class LmmSettings:
    """A whole training of Learned Motion Matching.

    Attributes:
        seed: of weights and batches. mirror: also learn each clip's mirror image.
        decompressor, stepper, projector: the three stages.
    """

    seed: int = 1234
    mirror: bool = True
    decompressor: StageSettings = field(
        default_factory=lambda: StageSettings(30_000, 64, 2, time_share=0.3, shares=DECOMPRESSOR_SHARES)
    )
    stepper: StageSettings = field(
        default_factory=lambda: StageSettings(20_000, 32, 20, 2e-3, time_share=0.35, noise=0.02, shares=STEPPER_SHARES)
    )
    projector: StageSettings = field(
        default_factory=lambda: StageSettings(100_000, 64, 1, 2e-3, time_share=0.35, noise=1.0, shares=PROJECTOR_SHARES)
    )


#: With a share of 1 joints also move less: liveliness falls by 1 to 2% more.
WINDOW_SHARES: Mapping[str, float] = {"shake": 0.5}
WEIGHTS: tuple[str, ...] = ("integer", "compact", "full")


@dataclass(frozen=True)
class MannTrainingSettings:
    """A whole training of the Mode-Adaptive Neural Network.

    Attributes:
        seed: of weights and batches. mirror: also learn each clip's mirror image.
        experts: 4 or 8, or any number. hidden: units in each hidden layer. dropout: share of values left out.
        weight_decay: of AdamW. restart_epochs, restart_growth: T0 and Tmult of its warm restarts.
        catch_up: share of its distance from the plan that a character learns to take back each frame.
        weights: how the pack keeps them: "integer" (8 bits, multiplied so), "compact" (8 bits, unfolded when loaded) or
            "full" (32 bits).
        steps, windows: the two stages: single frames, and windows in which the network lives on its own answers.
    """

    seed: int = 1234
    mirror: bool = True
    experts: int = 8
    hidden: int = 512
    dropout: float = 0.0
    weight_decay: float = 2.5e-3
    restart_epochs: float = 10.0
    restart_growth: float = 2.0
    catch_up: float = 0.03
    weights: str = "integer"
    steps: StageSettings = field(
        default_factory=lambda: StageSettings(40_000, 128, 1, 1e-3, time_share=0.25, noise=0.05)
    )
    windows: StageSettings = field(
        default_factory=lambda: StageSettings(40_000, 32, 16, 5e-4, time_share=0.75, noise=0.05, shares=WINDOW_SHARES)
    )

    def __post_init__(self) -> None:
        for name in ("experts", "hidden", "restart_epochs"):
            if not getattr(self, name) > 0:
                raise DatasetError(f"Setting {name!r} must be greater than 0, not {getattr(self, name)}")
        if not (0.0 <= self.dropout < 1.0 and 0.0 <= self.catch_up <= 1.0):
            raise DatasetError("Settings 'dropout' and 'catch_up' must lie between 0 and 1")
        if self.weights not in WEIGHTS:
            raise DatasetError(f"Setting 'weights' must be one of: {', '.join(WEIGHTS)}")
        if self.weight_decay < 0 or self.restart_growth < 1:
            raise DatasetError("Setting 'weight_decay' must not be negative, 'restart_growth' not below 1")


@dataclass(frozen=True)
class PfnnTrainingSettings:
    """A whole training of the Phase-Functioned Neural Network.

    Attributes:
        seed: of weights and batches. mirror: also learn each clip's mirror image.
        hidden: units in each hidden layer.
        dropout: share of values left out, in the first stage only: a network that lives on its own answers trembles
            with it. With the paper's 0.3 the held-out error is 2.2 cm after 1500 steps, 1.4 cm without.
        sparse: factor of the mean absolute weight in the loss.
        catch_up: share of its distance from the plan that a character learns to take back each frame.
        half: keep the pack's weights in 16 bits (unfolded when loaded), not in 32.
        fit_ground: also learn from ground fitted under the motion. ground: how it is fitted.
        steps, windows: the two stages: single frames, and windows in which the network lives on its own answers.
    """

    seed: int = 1234
    mirror: bool = True
    hidden: int = 512
    dropout: float = 0.0
    sparse: float = 0.01
    catch_up: float = 0.03
    half: bool = False
    fit_ground: bool = True
    ground: FitSettings = field(default_factory=FitSettings)
    steps: StageSettings = field(
        default_factory=lambda: StageSettings(18_000, 512, 1, 1e-3, time_share=0.3, noise=0.05)
    )
    windows: StageSettings = field(
        default_factory=lambda: StageSettings(18_000, 64, 16, 3e-4, time_share=0.7, noise=0.05)
    )

    def __post_init__(self) -> None:
        if not self.hidden > 0:
            raise DatasetError(f"Setting 'hidden' must be greater than 0, not {self.hidden}")
        if not (0.0 <= self.dropout < 1.0 and 0.0 <= self.catch_up <= 1.0):
            raise DatasetError("Settings 'dropout' and 'catch_up' must lie between 0 and 1")
        if self.sparse < 0:
            raise DatasetError("Setting 'sparse' must not be negative")


#: Terms not named here have share 1. Joint positions in character space are what is looked at, velocities
#: are only asked for at jumps; the latent's own terms keep it small and smooth.
DECOMPRESSOR_SHARES: Mapping[str, float] = {
    "character_positions": 3.0,
    "angular_velocities": 0.3,
    "character_angular_velocities": 0.3,
    "character_velocities": 0.5,
    "latent_squared": 0.1,
    "latent_absolute": 0.1,
    "latent_rate": 0.1,
}

#: Found by roll-outs: with a share of 1 slow walks still lose 8% of their movement within 20 frames.
STEPPER_SHARES: Mapping[str, float] = {"features_pace": 2.0, "latents_pace": 2.0}

#: More of it wakes the arms further, and asks for manners of walking that nobody has.
PROJECTOR_SHARES: Mapping[str, float] = {"latents_size": 0.5}


Settings = TypeVar("Settings", LmmSettings, MannTrainingSettings, PfnnTrainingSettings)


def read_settings(path: Path | None, kind: type[Settings]) -> Settings:
    """The default settings of a ``kind`` of training with those of a TOML file put over them.

    Raises:
        DatasetError: no such file, not TOML, an unknown name or a value of the wrong kind.
    """
    if path is None:
        return kind()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"The settings {path} cannot be read ({error})", "Give a TOML file; its keys stand in training/settings.py"
        ) from error
    settings = _overlay(kind(), data, "")
    assert isinstance(settings, kind)
    return settings


def _overlay(settings: Any, data: Mapping[str, Any], where: str) -> Any:
    known = {item.name for item in dataclasses.fields(settings)}
    changes: dict[str, Any] = {}
    for name, value in data.items():
        if name not in known:
            raise DatasetError(f"Unknown setting {where}{name}", f"Known here: {', '.join(sorted(known))}")
        old = getattr(settings, name)
        if dataclasses.is_dataclass(old):
            if not isinstance(value, dict):
                raise DatasetError(f"Setting {where}{name} must be a table")
            changes[name] = _overlay(old, value, f"{where}{name}.")
        elif isinstance(old, Mapping):
            changes[name] = {**old, **_numbers(value, f"{where}{name}")}
        else:
            changes[name] = _same_kind(value, old, f"{where}{name}")
    return dataclasses.replace(settings, **changes)


def _numbers(value: Any, where: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise DatasetError(f"Setting {where} must be a table")
    return {str(key): _same_kind(item, 1.0, f"{where}.{key}") for key, item in value.items()}


def _same_kind(value: Any, old: Any, where: str) -> Any:
    if isinstance(old, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(old, tuple) and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if type(value) is not type(old):
        raise DatasetError(f"Setting {where} must be a {type(old).__name__}, not {value!r}")
    return value
