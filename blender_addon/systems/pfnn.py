"""The Phase-Functioned Neural Network at run time: one network, one call a frame (Holden et al. 2017).

The phase weighs four control points; the network's layers give the answers of all of them in one product, blended
before each activation. It feels the ground under its trajectory, and its poses stand on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.abilities import Abilities
from ..motion.errors import PackError
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .inference import Network
from .onnx_weights import read_constants
from .packs import Pack
from .pfnn_control import PfnnBlend, blended_gaits, blended_trajectory, in_step, meant_gaits
from .pfnn_features import (
    Felt,
    RestBody,
    felt_points,
    input_layout,
    output_layout,
    pose_columns,
    rotations_of,
)
from .phase_function import CONTROL_POINTS, spline_coefficients
from .phase_tables import PhaseTables
from .poses import Poses, relative_root
from .protocol import Chunk, Wish
from .starting_states import check_answer, nearest, read_starts
from .trajectory import FUTURE, HORIZON_SECONDS, PAST, SAMPLE_SECONDS, SAMPLES
from .trajectory_control import Trail, Trajectory, Wanted

Float32 = npt.NDArray[np.float32]
#: Inputs (n, in), not normalised, and phases (n,) -> outputs (n, out), not normalised.
Answer = Callable[[Float32, Array], Float32]

#: Name of the network's file in a pack.
NETWORK = "pfnn.onnx"
#: What the network moves faster than this is its own error from frame to frame.
NOISE_HZ = 12.0
#: The fastest walk, m/s, where the motion that was learned shows none.
FASTEST_WALK = 2.0


@dataclass(frozen=True)
class PfnnSettings:
    """The dials of the run time.

    Attributes:
        stride: frames made between two looks at the plan.
        blend: how the wish meets the own prediction.
        phase_function: ``cubic``, or computed beforehand ``linear`` or ``constant``: see `phase_tables`.
    """

    stride: int = 2
    blend: PfnnBlend = field(default_factory=PfnnBlend)
    phase_function: str = "cubic"


@dataclass(frozen=True)
class PfnnState:
    """Characters before the frame to be made next.

    Attributes:
        pose: joint positions and velocities of the last frame in its root space (c, 6 b).
        positions, directions: the own prediction of the trajectory from this frame on (c, 6, 2).
        gaits: of the future samples, as blended last (c, 6, gaits).
        phase: (c,), radians; never falls.
        trail: where they came from, and the gaits they had.
    """

    pose: Array
    positions: Array
    directions: Array
    gaits: Array
    phase: Array
    trail: Trail


class Pfnn:
    """The Phase-Functioned Neural Network; fulfils `protocol.System`.

    Args:
        skeleton: what it moves. fps: frame rate. gaits: what a wish can ask for by name.
        network: inputs and phases to outputs.
        starts: inputs of real frames (k, size) to begin from, standing ones among them. phases: theirs (k,).
        fastest_walk: who shall walk faster runs, m/s. settings: the dials.
        abilities: what it can do besides.
        felt: lowest and highest height that it has learned to feel at each point (2, 36), metres: what lies beyond is
            felt as these. None: as it is.
    """

    def __init__(
        self, skeleton: Skeleton, fps: float, gaits: tuple[str, ...], network: Answer, starts: Float32,
        phases: Float32, fastest_walk: float = FASTEST_WALK, settings: PfnnSettings | None = None,
        abilities: Abilities | None = None, felt: Array | None = None,
    ) -> None:  # fmt: skip
        self.skeleton, self.fps, self.actions, self.horizon = skeleton, fps, gaits, HORIZON_SECONDS
        self.settings = settings or PfnnSettings()
        self.stride = int(np.clip(self.settings.stride, 1, int(SAMPLE_SECONDS * fps)))
        self.noise_hz: float | None = NOISE_HZ
        self.on_terrain = True
        self.fastest_walk, self.abilities = fastest_walk, abilities or Abilities()
        self._felt = np.array([[-np.inf], [np.inf]]) if felt is None else felt.astype(np.float64)
        self._network = network
        self._starts, self._phases = starts.astype(np.float64), phases.astype(np.float64)
        self._inputs, self._outputs = input_layout(len(skeleton), len(gaits)), output_layout(len(skeleton))
        self._body = RestBody(skeleton)

    @classmethod
    def from_pack(cls, pack: Pack, **options: Any) -> Pfnn:
        """The system of a checked pack; ``options`` are `PfnnSettings`.

        Raises:
            PackError: the network or the starts are missing, damaged, or of another layout.
            RuntimeMissingError: there is no ONNX Runtime.
        """
        info = pack.info
        if not info.actions:
            raise PackError("The pack names no gait", "Import or train the pack again")
        if len(info.skeleton.feet) != 2:
            raise PackError("The pack's phase is that of two feet, its skeleton has others", "Use a two-legged pack")
        inputs, outputs = input_layout(len(info.skeleton), len(info.actions)), output_layout(len(info.skeleton))
        starts = read_starts(
            pack, inputs, outputs, {"phases": (None,), "fastest_walk": ()}, {"felt": (2, 3 * SAMPLES)}
        )
        settings = replace(PfnnSettings(), **options)
        network = _network(pack, inputs.size, outputs.size, settings.phase_function)
        states, phases = starts["inputs"].astype(np.float32), starts["phases"].astype(np.float32)
        check_answer(NETWORK, network(states[:1], phases[:1].astype(np.float64)))
        return cls(
            info.skeleton, info.fps, info.actions, network, states, phases, float(starts["fastest_walk"]), settings,
            info.abilities, starts.get("felt"),
        )  # fmt: skip

    def start(self, wish: Wish) -> PfnnState:
        """About to do what is wished: the nearest of the pack's starting states."""
        wanted = Wanted.of(wish).after(0.0)
        count = len(wish.speed)
        gaits = meant_gaits(wanted.actions, wanted.speeds, self.actions, self.fastest_walk)
        parts = (wanted.trajectory.positions, wanted.trajectory.directions, gaits)
        query = np.concatenate([part.reshape(count, -1) for part in parts], axis=1)
        known = np.concatenate(
            [self._samples(self._starts, name)[:, PAST:].reshape(len(self._starts), -1)
             for name in ("trajectory_positions", "trajectory_directions", "gaits")], axis=1,
        )  # fmt: skip
        return self._begin(nearest(known, query))

    def start_anywhere(self, count: int, seed: int) -> PfnnState:
        """Random ones of the pack's starting states, most of them in the middle of a movement: for tests."""
        return self._begin(np.random.default_rng(seed).integers(len(self._starts), size=count))

    def step(self, state: PfnnState, wish: Wish) -> tuple[PfnnState, Chunk]:
        """The next ``stride`` frames, the network called once for each."""
        wanted = Wanted.of(wish)
        origin = state.trail.roots[:, -1]
        made: list[_Frame] = []
        for frame in range(self.stride):
            here = relative_root(origin, state.trail.roots[:, -1])
            until = wish.until_leap - frame / self.fps
            state, found = self._frame(state, wanted.after(frame / self.fps), here, wish.ground, until)
            made.append(found)
        poses = self._poses(made)
        count = len(origin)
        none = np.zeros(count, dtype=np.bool_)
        return state, Chunk(poses, poses.first_two(), none, np.full((count, self.stride), -1, dtype=np.int64))

    def _begin(self, chosen: npt.NDArray[np.int64]) -> PfnnState:
        inputs = self._starts[chosen]
        places, facings, gaits = (
            self._samples(inputs, name) for name in ("trajectory_positions", "trajectory_directions", "gaits")
        )
        past = slice(0, PAST + 1)
        trail = Trail.joined(places[:, past], facings[:, past], np.zeros((len(inputs), PAST + 1)), gaits[:, past],
                             self.fps)  # fmt: skip
        return PfnnState(
            inputs[:, pose_columns(self._inputs)], places[:, PAST:], facings[:, PAST:], gaits[:, PAST:],
            self._phases[chosen], trail,
        )  # fmt: skip

    def _samples(self, inputs: Array, name: str) -> Array:
        """A block of inputs (k, size) by sample (k, 12, ...)."""
        return self._inputs.get(inputs, name).reshape(len(inputs), SAMPLES, -1)

    def _frame(
        self, state: PfnnState, wanted: Wanted, here: Array, ground: Callable[[Array], Array], until: Array
    ) -> tuple[PfnnState, _Frame]:
        """This frame's pose, and the state before the next.

        Args:
            here: the root in the space of the ground (c, 3). until: seconds until a leap takes off (c,).
        """
        count = len(here)
        wish = wanted.trajectory.seen_from(here).within_reach()
        asked = meant_gaits(wanted.actions, wanted.speeds, self.actions, self.fastest_walk)
        own = Trajectory.of(state.positions, state.directions, np.zeros_like(state.positions))
        places, facings = blended_trajectory(own, wish, self.settings.blend)
        gaits = blended_gaits(state.gaits, asked, self.settings.blend)
        trail = state.trail.wishing(np.zeros(count), gaits[:, 0])
        past, _, before = trail.past(self.fps)
        places = np.concatenate([past.positions, places], axis=1)
        facings = np.concatenate([past.directions, facings], axis=1)
        felt = Felt.of(ground(_onto(felt_points(places, facings), here)))
        inputs = np.concatenate(
            [places.reshape(count, -1), facings.reshape(count, -1),
             np.clip(felt.heights.reshape(count, -1), *self._felt),
             np.concatenate([before, gaits], axis=1).reshape(count, -1), state.pose], axis=1,
        )  # fmt: skip
        outputs = self._network(inputs.astype(np.float32), state.phase).astype(np.float64)
        get = self._outputs.get
        step = np.concatenate([get(outputs, "root_velocity"), get(outputs, "root_turning")], axis=1) / self.fps
        pace = np.maximum(get(outputs, "phase_change")[:, 0], 0.0)
        if self.abilities.leap is not None:
            pace = in_step(pace, state.phase, until, self.abilities.leap.phase)
        angles = get(outputs, "joint_angles").reshape(count, -1, 3)
        body = self._body.positions(get(outputs, "joint_positions")[:, :3], angles)
        # One frame on, the gaits of the future are a frame nearer.
        nearer = 1.0 / (SAMPLE_SECONDS * self.fps)
        later = np.concatenate([gaits[:, 1:], gaits[:, -1:]], axis=1)
        after = PfnnState(
            pose=np.concatenate([body.reshape(count, -1), get(outputs, "joint_velocities")], axis=1),
            positions=get(outputs, "trajectory_positions").reshape(count, FUTURE, 2),
            directions=get(outputs, "trajectory_directions").reshape(count, FUTURE, 2),
            gaits=gaits + nearer * (later - gaits),
            phase=state.phase + pace / self.fps,
            trail=trail.moved(step),
        )
        hips = body[:, 0] + felt.reference[:, None] * [0.0, 0.0, 1.0]
        return after, _Frame(hips, angles, step, get(outputs, "contacts"))

    def _poses(self, made: list[_Frame]) -> Poses:
        """Poses (c, frames, ...) of the frames made; a foot is down with its heel or its toes."""
        angles = np.stack([frame.angles for frame in made], axis=1)
        contacts = np.stack([frame.contacts for frame in made], axis=1)
        contacts = contacts.reshape(*contacts.shape[:-1], 2, 2).max(axis=-1)
        return Poses(
            np.stack([frame.hips for frame in made], axis=1),
            self.skeleton.local_rotations(rotations_of(self.skeleton, angles)),
            np.stack([frame.step for frame in made], axis=1),
            np.clip(contacts, 0.0, 1.0),
        )


def _network(pack: Pack, inputs: int, outputs: int, phase_function: str) -> Answer:
    """The pack's network with its phase function."""
    data = pack.file(NETWORK)
    session = Network(
        data, NETWORK, {"inputs": (None, inputs), "shares": (None, CONTROL_POINTS)}, {"outputs": (None, outputs)}
    )
    if phase_function != "cubic":
        return PhaseTables(read_constants(data, NETWORK), linear=phase_function == "linear")

    def network(values: Float32, phase: Array) -> Float32:
        return session(inputs=values, shares=spline_coefficients(phase).astype(np.float32))

    return network


@dataclass(frozen=True)
class _Frame:
    """One frame: hips (c, 3) at their height in the world, angles (c, b, 3), root's step (c, 3), contacts (c, 4)."""

    hips: Array
    angles: Array
    step: Array
    contacts: Array


def _onto(points: Array, root: Array) -> Array:
    """Points (c, n, 2) as seen from ``root`` (c, 3), in the space in which that is given."""
    return rot.rotate_2d(root[:, None, 2], points) + root[:, None, :2]
