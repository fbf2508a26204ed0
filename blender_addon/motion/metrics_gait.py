"""Measures of gaits: whether the one asked for is made, how near its timing is to the table, how the trunk pitches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .animal import shoulder_height, trunk_ends
from .clip import Clip
from .gait_analysis.classify import classify
from .gait_analysis.footfalls import strides
from .gait_analysis.stride import Stride, circular_mean
from .gait_model.table import Gait, build_of, gaits_along, load_table
from .gait_names import GAITS
from .rotations import Array

#: An animal that is asked to move by itself may still be in its last gait, or already in the next, this near (share of
#: the speed) to a change.
_UNDECIDED = 0.12
#: Fewer strides of a gait tell nothing of its timing: between two frames lies a twentieth of a galloping stride.
LEAST = 3
#: Whose tables there are.
BUILDS = ("carnivore", "ungulate")
#: A plan slower than this share of the root of g h asks for no gait.
_SLOWEST = 0.04


@dataclass(frozen=True)
class MadeStride:
    """One stride and what was asked of it.

    Attributes:
        stride: what the feet did.
        asked: gaits that would do, the likeliest first.
        made: the gait its feet make; ``stand`` and ``none`` are none.
        pitch: span of the trunk's pitch, degrees.
    """

    stride: Stride
    asked: tuple[str, ...]
    made: str
    pitch: float

    @property
    def right(self) -> bool:
        """Whether a gait that would do is made."""
        return self.made in self.asked


@dataclass(frozen=True)
class GaitTiming:
    """How far the strides of one gait are, in the mean, from the table.

    Attributes:
        gait: its name. count: strides.
        lag: greatest of the legs' deviations of phase, shares of the stride.
        duty: greatest of the legs' deviations of duty.
        pitch: median span of the trunk's pitch, degrees.
        usual_pitch: the published range of it, degrees.
    """

    gait: str
    count: int
    lag: float
    duty: float
    pitch: float
    usual_pitch: tuple[float, float]


def asked_gaits(
    speed: Array, actions: Sequence[str], action: npt.NDArray[np.int64], height: float
) -> list[tuple[str, ...]]:
    """Gaits that would do at each frame, the likeliest first; none where a plan stands, sits, lies or jumps.

    A gait asked for outside its speeds is the one that animals take there.

    Args:
        speed: of the plan (f,), m/s.
        actions: vocabulary of ``action`` (f,).
        height: of the withers, metres.
    """
    table = load_table(build_of(height))
    tracks = [
        gaits_along(speed * factor, actions, action, height, table)
        for factor in (1.0, 1.0 - _UNDECIDED, 1.0 + _UNDECIDED)
    ]
    moving = [name in GAITS or name == "auto" for name in actions]
    asks = np.asarray(moving)[action] & (speed > _SLOWEST * np.sqrt(9.81 * height))
    return [
        tuple(dict.fromkeys(GAITS[track[frame]] for track in tracks)) if asks[frame] else ()
        for frame in range(len(speed))
    ]


def made_strides(clip: Clip, asked: Sequence[tuple[str, ...]]) -> list[MadeStride]:
    """The strides of a clip of four legs that can be held against what was asked, one entry a frame.

    Left out are strides that begin within a stride after a change of what is asked or end within half a stride before
    one: gaits change within a stride or two (Blaszczyk & Dobrzecka 1989).
    """
    height = shoulder_height(clip.skeleton)
    pitch = trunk_pitch(clip)
    found = []
    for stride in strides(clip):
        first, last = round(stride.first), round(stride.last)
        around = asked[max(2 * first - last, 0) : last + (last - first) // 2 + 1]
        wanted = {names[0] if names else "" for names in around}
        if len(wanted) != 1 or wanted == {""}:
            continue
        names = asked[(first + last) // 2]
        made = classify(stride, height).label
        found.append(MadeStride(stride, names, made, span(pitch[first : last + 1])))
    return found


def timing(made: Sequence[MadeStride], height: float) -> list[GaitTiming]:
    """The strides that are what was asked against the table, gait by gait; gaits of fewer than `LEAST` are left out.

    Strides that lead with the other foot are held against the table's mirror image. Whether an animal gallops as dogs
    do or as horses do is its own affair: the nearer table counts.

    Args:
        made: from `made_strides`.
        height: of the withers, metres.
    """
    own = build_of(height)
    builds = (own, *(build for build in BUILDS if build != own))
    tables = [[load_table(build)[name] for build in builds] for name in GAITS]
    by_gait: dict[str, list[MadeStride]] = {}
    for entry in made:
        if entry.right:
            # Near a change of gait one of two would do: the one that the stride is nearer to.
            name = min(entry.asked, key=lambda asked: min(
                float(np.abs(_away(entry.stride, gait)).max()) for gait in tables[GAITS.index(asked)]
            ))  # fmt: skip
            by_gait.setdefault(name, []).append(entry)
    found = []
    for name, gaits in zip(GAITS, tables, strict=True):
        chosen = by_gait.get(name, [])
        if len(chosen) >= LEAST:
            found.append(min((_held(chosen, gait, height) for gait in gaits), key=lambda held: held.lag))
    return found


def _held(chosen: Sequence[MadeStride], gait: Gait, height: float) -> GaitTiming:
    away = np.stack([_away(entry.stride, gait) for entry in chosen])
    speed = np.array([entry.stride.speed for entry in chosen])
    duty = np.stack([entry.stride.duty for entry in chosen]) - gait.duty_factor(speed, height)[:, None]
    lag = (np.array([circular_mean(column) for column in away.T]) + 0.5) % 1.0 - 0.5
    return GaitTiming(
        gait.name, len(chosen), float(np.abs(lag).max()), float(np.abs(duty.mean(axis=0)).max()),
        float(np.median([entry.pitch for entry in chosen])), gait.pitch_span,
    )  # fmt: skip


def trunk_pitch(clip: Clip) -> Array:
    """Pitch of the trunk (f,), degrees, nose up positive, against its rest pose: of the line from hips to chest."""
    hind, fore = trunk_ends(clip.skeleton, *clip.world)
    rest_hind, rest_fore = trunk_ends(clip.skeleton, *clip.skeleton.rest_world)
    line, rest = fore - hind, rest_fore - rest_hind
    angle = np.arctan2(line[:, 2], np.linalg.norm(line[:, :2], axis=1))
    return np.asarray(np.degrees(angle - np.arctan2(rest[2], np.linalg.norm(rest[:2]))))


def span(values: Array) -> float:
    """How far values (f,) range about the line from the first to the last: a hill's slope is no pitching."""
    line = np.linspace(values[0], values[-1], len(values))
    return float(np.ptp(values - line))


def _away(stride: Stride, gait: Gait) -> Array:
    """Deviations (4,) of a stride's phases from a gait's, in -0.5 to 0.5; from its mirror image if that is nearer."""
    other = (gait.lags[[1, 0, 3, 2]] - gait.lags[1]) % 1.0
    found = [(stride.lags - table + 0.5) % 1.0 - 0.5 for table in (gait.lags, other)]
    return min(found, key=lambda away: float(np.sum(away**2)))
