"""The table of gaits: timing, stride and the body's motion by speed, from `gaits.toml`, and which gait fits a speed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..gait_names import GAITS
from ..rotations import Array

GRAVITY = 9.81
#: What a gait's body motion is described by, in the order of `Gait.body`; pairs are hind, fore.
BODY: tuple[str, ...] = (
    "bounce_hind", "bounce_fore", "bob_hind", "bob_fore", "roll_hind", "roll_fore", "yaw_hind", "yaw_fore",
    "lift_hind", "lift_fore", "fold_hind", "fold_fore",
    "sway", "flex", "hold", "neck", "tail", "width", "crouch",
)  # fmt: skip
#: Animals of this shoulder height (metres) and more gallop as horses do.
UNGULATE_FROM = 1.0
#: Gaits that "auto" chooses among, slowest first, and the Froude numbers at which it goes over to the next.
AUTO: tuple[str, ...] = ("walk", "trot", "canter", "gallop")
CHANGES: tuple[float, ...] = (0.5, 2.0, 3.2)
#: A change is made this share (in Fr) beyond its number, on the way up and on the way down.
HYSTERESIS = 0.12
#: Below this Froude number stride and duty stay as they are there.
_SLOWEST = 0.01
_PAIRS = ("bounce", "bob", "roll", "yaw", "lift", "fold")


@dataclass(frozen=True, eq=False)
class Gait:
    """One gait of one build of animal.

    Attributes:
        name: as in `gait_names.GAITS`.
        froude: lowest and highest Froude number.
        stride: (a, b) of stride length / h = a Fr^b.
        duty: (a, b, lowest, highest) of duty = a Fr^b.
        lags: touchdowns after the left hind's, of `animal.LEGS` (4,), 0..1; of gallop and canter those of one lead.
        pitch_span: published span of the trunk's pitch, degrees.
        body: values of `BODY`.
    """

    name: str
    froude: tuple[float, float]
    stride: tuple[float, float]
    duty: tuple[float, float, float, float]
    lags: Array
    pitch_span: tuple[float, float]
    body: Array

    @property
    def symmetrical(self) -> bool:
        """Whether left and right do the same half a stride apart."""
        return self.name not in ("canter", "gallop")

    def stride_length(self, speed: Array, height: float) -> Array:
        """Metres (...) at speeds (...), m/s, for a shoulder height in metres."""
        return np.asarray(self.stride[0] * _froude(speed, height) ** self.stride[1] * height)

    def frequency(self, speed: Array, height: float) -> Array:
        """Strides a second (...) at speeds (...), m/s."""
        return np.sqrt(_froude(speed, height) * GRAVITY * height) / self.stride_length(speed, height)

    def duty_factor(self, speed: Array, height: float) -> Array:
        """Share of the stride that each foot is down (...) at speeds (...), m/s."""
        a, b, low, high = self.duty
        return np.clip(a * _froude(speed, height) ** b, low, high)

    def speeds(self, height: float) -> tuple[float, float]:
        """Lowest and highest speed of the gait, m/s, for a shoulder height in metres."""
        low, high = (float(np.sqrt(fr * GRAVITY * height)) for fr in self.froude)
        return low, high


@dataclass(frozen=True, eq=False)
class GaitTable:
    """All gaits of one build of animal, in the order of `GAITS`.

    Attributes:
        gaits: by name.
    """

    gaits: Mapping[str, Gait]

    def __getitem__(self, name: str) -> Gait:
        return self.gaits[name]


@cache
def load_table(build: str = "carnivore") -> GaitTable:
    """The table for "carnivore" (dogs, foxes, cats) or "ungulate" (horses, cattle, deer)."""
    data = tomllib.loads(Path(__file__).with_name("gaits.toml").read_text(encoding="utf-8"))
    gaits = {}
    for name in GAITS:
        entry = dict(data[name])
        variant = entry.pop("ungulate", {})
        gaits[name] = _gait(name, {**entry, **(variant if build == "ungulate" else {})})
    return GaitTable(gaits)


def build_of(height: float) -> str:
    """Whose gallop a shoulder height (metres) suggests: "carnivore" or "ungulate"."""
    return "ungulate" if height >= UNGULATE_FROM else "carnivore"


def gait_for_speed(speed: float, shoulder_height: float, before: str | None = None) -> str:
    """The gait an animal takes by itself at a speed (m/s).

    Args:
        speed: m/s.
        shoulder_height: metres.
        before: the gait it is in, which it keeps while the speed is near a change; None has no memory.
    """
    fr = float(speed) ** 2 / (GRAVITY * shoulder_height)
    limits = CHANGES
    if before in AUTO:
        now = AUTO.index(str(before))
        limits = tuple(
            change * (1.0 + HYSTERESIS if number >= now else 1.0 - HYSTERESIS) for number, change in enumerate(CHANGES)
        )
    return AUTO[int(np.searchsorted(limits, fr))]


def gaits_along(
    speed: Array, asked: Sequence[str], asking: npt.NDArray[np.int64], shoulder_height: float, table: GaitTable
) -> npt.NDArray[np.int64]:
    """Which gait (index into `GAITS`) is made at each frame (f,).

    What is asked for is made within its speeds; outside them the gait that fits the speed, as animals cannot gallop
    at a stroll. Anything that is no gait counts as "auto".

    Args:
        speed: (f,) m/s.
        asked: vocabulary of ``asking``.
        asking: (f,) index into ``asked``.
    """
    fr = speed**2 / (GRAVITY * shoulder_height)
    numbers = [GAITS.index(name) for name in AUTO]
    # The automatic gait has a memory: walk through its changes only.
    up = np.searchsorted(np.array(CHANGES) * (1.0 + HYSTERESIS), fr)
    down = np.searchsorted(np.array(CHANGES) * (1.0 - HYSTERESIS), fr)
    auto = np.array(_between(up.tolist(), down.tolist()), dtype=np.int64)
    found = np.array(numbers, dtype=np.int64)[auto]
    for index, name in enumerate(asked):
        if name not in GAITS:
            continue
        low, high = table[name].froude
        fits = (asking == index) & (fr >= low) & (fr <= high)
        found[fits] = GAITS.index(name)
        beyond = (asking == index) & (fr > high)
        found[beyond] = np.maximum(found[beyond], GAITS.index(name))
    return found


def range_notes(
    speed: Array, asked: Sequence[str], asking: npt.NDArray[np.int64], shoulder_height: float
) -> tuple[str, ...]:
    """Words about gaits asked for at speeds (f,), m/s, that they are not made at, ramps left out."""
    table = load_table(build_of(shoulder_height))
    notes = []
    for index, name in enumerate(asked):
        there = speed[asking == index]
        if name not in GAITS or len(there) == 0:
            continue
        low, high = table[name].speeds(shoulder_height)
        usual = float(np.median(there))
        if not low <= usual <= high:
            notes.append(
                f"{name.capitalize()} is made at {low:.2f} to {high:.2f} m/s by an animal of {shoulder_height:.2f} m; "
                f"at {usual:.2f} m/s it goes in {gait_for_speed(usual, shoulder_height)}"
            )
    return tuple(notes)


def _between(up: list[int], down: list[int]) -> list[int]:
    """The state that rises to ``up`` and falls to ``down`` only (up <= down at every frame)."""
    state = up[0]
    out = []
    for low, high in zip(up, down, strict=True):
        state = min(max(state, low), high)
        out.append(state)
    return out


def _froude(speed: Array, height: float) -> Array:
    return np.maximum(np.asarray(speed, dtype=np.float64) ** 2 / (GRAVITY * height), _SLOWEST)


def _gait(name: str, entry: Mapping[str, Any]) -> Gait:
    return Gait(
        name=name, froude=tuple(entry["froude"]), stride=tuple(entry["stride"]), duty=tuple(entry["duty"]),
        lags=np.array(entry["lags"]), pitch_span=tuple(entry["pitch_span"]), body=_body(entry),
    )  # fmt: skip


def _body(entry: Mapping[str, Any]) -> Array:
    values = {}
    for key, value in entry.items():
        if key in _PAIRS:
            values[f"{key}_hind"], values[f"{key}_fore"] = value
        else:
            values[key] = value
    return np.array([float(values.get(name, 0.0)) for name in BODY])
