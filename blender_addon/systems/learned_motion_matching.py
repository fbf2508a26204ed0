"""Learned Motion Matching at run time: three small networks instead of the databases (Holden et al. 2020).

A character's state is the matching features x and the latent z of the frame to be shown next. A
chunk is: project if that is a clear gain, step, and decompress all frames of all characters at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.abilities import Abilities
from ..motion.errors import PackError
from ..motion.skeleton import Skeleton
from .features import HORIZON_SECONDS, Normalizer, feature_layout, layouts
from .inference import Network
from .layout import Layout
from .packs import Pack
from .poses import Poses, decode_poses
from .protocol import Chunk, Wish

Float32 = npt.NDArray[np.float32]

#: Size of z.
LATENT = 32
#: What the decompressor does faster than this is its own error from frame to frame. Taken away, jitter falls from
#: 1.4 to 0.9 of the capture's on the courses, and liveliness by 2%.
NOISE_HZ = 9.0
#: Names of the files in a pack.
DECOMPRESSOR, STEPPER, PROJECTOR, STARTS = "decompressor.onnx", "stepper.onnx", "projector.onnx", "starts.npz"


@dataclass(frozen=True)
class LearnedSettings:
    """The dials of the run time.

    Attributes:
        stride: frames between projections.
        gain: a projection must lower the squared distance to the wish by this share to be taken.
        least_gain: and by this much.
        weights: feature group -> weight; groups not named keep the weight the pack was trained with.
            A trajectory group's weight scales how much of the wished change is asked for.
    """

    stride: int = 12
    gain: float = 0.2
    least_gain: float = 1.5
    weights: Mapping[str, float] | None = None


@dataclass(frozen=True)
class LearnedState:
    """Normalised features and latent of the next frame (characters, 27 + 32), float32."""

    values: Float32


@dataclass(frozen=True)
class Networks:
    """The pack's networks, as functions on float32 arrays; states are [x, z], normalised.

    Attributes:
        decompressor: state (n, 59) -> pose vector (n, y).
        stepper: state (n, 59), frames () -> states after 1, 2, ... frames (frames, n, 59).
        projector: features (n, 27) -> state (n, 59).
    """

    decompressor: Network
    stepper: Network
    projector: Network


class LearnedMotionMatching:
    """Learned Motion Matching; fulfils `protocol.System`.

    Args:
        skeleton: what it moves. fps: frame rate. networks: of the pack.
        normalizer: of the features.
        starts: states of real frames (k, 59) to begin from; standing ones are among them.
        calm: the features (27,) of standing, not normalised.
        trained_weights: feature weights in the normalizer. settings: the dials.
    """

    def __init__(
        self, skeleton: Skeleton, fps: float, networks: Networks, normalizer: Normalizer, starts: Float32,
        calm: Float32, trained_weights: Mapping[str, float] | None = None, settings: LearnedSettings | None = None,
    ) -> None:  # fmt: skip
        self.skeleton, self.fps, self.horizon = skeleton, fps, HORIZON_SECONDS
        self.settings = settings or LearnedSettings()
        self.stride = self.settings.stride
        self.actions: tuple[str, ...] = ()
        self.noise_hz: float | None = NOISE_HZ
        self.on_terrain, self.abilities = False, Abilities()
        self._networks, self._normalizer, self._starts, self._calm = networks, normalizer, starts, calm
        self._layout = feature_layout(len(skeleton.feet))
        self._feet = len(skeleton.feet)
        self._set_weights(trained_weights or {})

    @classmethod
    def from_pack(cls, pack: Pack, **options: Any) -> LearnedMotionMatching:
        """The system of a checked pack; ``options`` are `LearnedSettings`.

        Raises:
            PackError: a network or array is missing, damaged, or of another layout.
            RuntimeMissingError: there is no ONNX Runtime.
        """
        info = pack.info
        features, poses = layouts(info.skeleton)
        features.check_same(info.layouts.get("features", Layout(())), "features")
        poses.check_same(info.layouts.get("poses", Layout(())), "poses")
        size = features.size + LATENT
        arrays = pack.arrays(
            STARTS,
            {"states": (None, size), "mean": (features.size,), "scale": (features.size,), "calm": (features.size,)},
        )
        networks = Networks(
            Network(pack.file(DECOMPRESSOR), DECOMPRESSOR, {"state": (None, size)}, {"pose": (None, poses.size)}),
            Network(pack.file(STEPPER), STEPPER, {"state": (None, size), "frames": ()}, {"states": (None, None, size)}),
            Network(pack.file(PROJECTOR), PROJECTOR, {"features": (None, features.size)}, {"state": (None, size)}),
        )
        plain = {name: values.astype(np.float32) for name, values in arrays.items()}
        if len(plain["states"]) == 0:
            raise PackError(f"{STARTS} in the pack holds no state to begin from", "Import or train the pack again")
        check_answers(networks, plain["states"][:1], features.size)
        return cls(
            info.skeleton, info.fps, networks, Normalizer(plain["mean"], plain["scale"]), plain["states"],
            plain["calm"], info.weights, replace(LearnedSettings(), **options),
        )  # fmt: skip

    def start(self, wish: Wish) -> LearnedState:
        """Standing, about to do what is wished: the nearest of the pack's starting states."""
        size = self._layout.size
        query = np.repeat(self._calm[None], len(wish.speed), axis=0)
        self._write_wish(query, wish)
        away = self._starts[None, :, :size] - self._normalizer.apply(query)[:, None]
        nearest = np.argmin(np.einsum("ckf,ckf->ck", away, away), axis=1)
        return LearnedState(self._starts[nearest])

    def start_anywhere(self, count: int, seed: int) -> LearnedState:
        """Random ones of the pack's starting states, most of them in the middle of a movement: for tests."""
        chosen = np.random.default_rng(seed).integers(len(self._starts), size=count)
        return LearnedState(self._starts[chosen])

    def step(self, state: LearnedState, wish: Wish) -> tuple[LearnedState, Chunk]:
        """Project once, then step ``stride`` frames and decompress them."""
        now, count = state.values, len(state.values)
        first, switched = self._project(now, wish)
        ahead = self._networks.stepper(state=first, frames=np.asarray(self.stride, dtype=np.int64))
        shown = np.concatenate([first[None], ahead[:-1]])
        rows = [shown.reshape(-1, shown.shape[-1])]
        if np.any(switched):
            went_on = self._networks.stepper(state=now, frames=np.asarray(1, dtype=np.int64))
            rows.append(np.concatenate([now, went_on[0]]))
        vectors = self._networks.decompressor(state=np.concatenate(rows))
        poses = decode_poses(vectors, len(self.skeleton), self.fps, self._feet)
        frames = count * self.stride
        chunk = _by_character(poses, 0, self.stride, count)
        jump = _by_character(poses, frames, 2, count) if len(rows) > 1 else _first(chunk, 2)
        source = np.full((count, self.stride), -1, dtype=np.int64)
        return LearnedState(ahead[-1]), Chunk(chunk, jump, switched, source)

    def _project(self, now: Float32, wish: Wish) -> tuple[Float32, npt.NDArray[np.bool_]]:
        """The states to go on from (characters, 59) and where they were jumped to."""
        size = self._layout.size
        query = self._normalizer.undo(now[:, :size])
        self._write_wish(query, wish)
        wished = self._normalizer.apply(query)
        asked = now[:, :size] + self._pull * (wished - now[:, :size])
        found = self._networks.projector(features=asked)
        here = np.sum(self._importance * (wished - now[:, :size]) ** 2, axis=1)
        there = np.sum(self._importance * (wished - found[:, :size]) ** 2, axis=1)
        switched = there < (1.0 - self.settings.gain) * here - self.settings.least_gain
        return np.where(switched[:, None], found, now), switched

    def _write_wish(self, features: Float32, wish: Wish) -> None:
        places = self._layout.slices
        features[:, places["trajectory_position"]] = wish.positions.reshape(len(features), -1)
        features[:, places["trajectory_direction"]] = wish.directions.reshape(len(features), -1)

    def _set_weights(self, trained: Mapping[str, float]) -> None:
        """Spread the animator's weights, relative to the trained ones, over the features."""
        ratio = np.ones(self._layout.size, dtype=np.float32)
        for name, weight in (self.settings.weights or {}).items():
            ratio[self._layout.slices[name]] = weight / max(trained.get(name, 1.0), 1e-6)
        self._importance = ratio**2
        # The projector was trained with fixed weights: asking for less or more of a change is the
        # nearest that can be done to weighing its group otherwise.
        pull = np.ones_like(ratio)
        for name in ("trajectory_position", "trajectory_direction"):
            place = self._layout.slices[name]
            pull[place] = np.clip(ratio[place], 0.0, 1.5)
        self._pull = pull


def check_answers(networks: Networks, state: Float32, features: int) -> None:
    """Run each network once; raises `PackError` when one answers with what is no number."""
    answers = {
        DECOMPRESSOR: networks.decompressor(state=state),
        STEPPER: networks.stepper(state=state, frames=np.asarray(1, dtype=np.int64)),
        PROJECTOR: networks.projector(features=state[:, :features]),
    }
    for name, values in answers.items():
        if not np.all(np.isfinite(values)):
            raise PackError(f"{name} in the pack answers with values that are no numbers", "Train the pack again")


def _by_character(poses: Poses, start: int, frames: int, characters: int) -> Poses:
    """Rows ``start`` on, which run frame by frame, as (characters, frames, ...)."""

    def pick(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        part = values[start : start + frames * characters]
        return np.swapaxes(part.reshape(frames, characters, *part.shape[1:]), 0, 1)

    return Poses(pick(poses.hips), pick(poses.rotations), pick(poses.root_step), pick(poses.contacts))


def _first(poses: Poses, frames: int) -> Poses:
    return Poses(
        poses.hips[:, :frames], poses.rotations[:, :frames], poses.root_step[:, :frames], poses.contacts[:, :frames]
    )
