"""The Mode-Adaptive Neural Network at run time: one network, one call a frame (Zhang et al. 2018).

The gating network weighs the experts by feet, actions and speed; the experts' weights are blended, so that one
product does for all of them. The network's own pose is its next input, after its rotations are made orthonormal
and its joints set on the skeleton.
"""

from __future__ import annotations

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
from .mann_control import Blend, blended, trail_of
from .mann_features import (
    POSE_BLOCKS,
    TRAJECTORY_BLOCKS,
    ForwardKinematics,
    input_layout,
    output_layout,
    pose_columns,
    rotations_of,
)
from .packs import Pack
from .poses import Poses, relative_root
from .protocol import Chunk, Wish
from .starting_states import check_answer, nearest, read_starts
from .trajectory import FUTURE, HORIZON_SECONDS, PAST, SAMPLE_SECONDS, SAMPLES
from .trajectory_control import Trail, Trajectory, Wanted

Float32 = npt.NDArray[np.float32]

#: Name of the network's file in a pack.
NETWORK = "mann.onnx"
#: A foot in contact moves at most so fast, metres a second for legs of a metre; grows with the root of their length.
FASTEST_FOOT = 0.7


@dataclass(frozen=True)
class MannSettings:
    """The dials of the run time.

    Attributes:
        stride: frames made between two looks at the plan.
        blend: how the wish meets the own prediction.
        pull: share of its distance from the plan that a character is moved back each frame, whatever the network says.
    """

    stride: int = 4
    blend: Blend = field(default_factory=Blend)
    pull: float = 0.03


@dataclass(frozen=True)
class MannState:
    """Characters at the frame to be shown next.

    Attributes:
        pose: joint positions, axes and velocities in root space (c, 12 b). contacts: (c, feet).
        future: the own prediction of the trajectory (c, 6, 2).
        trail: where they came from and what was wished.
    """

    pose: Array
    contacts: Array
    future: Trajectory
    trail: Trail


class Mann:
    """The Mode-Adaptive Neural Network; fulfils `protocol.System`.

    Args:
        skeleton: what it moves. fps: frame rate. actions: what a wish can ask for by name.
        network: inputs (n, size) -> outputs (n, size), not normalised.
        starts: inputs of real frames (k, size) to begin from, standing ones among them. contacts: theirs (k, feet).
        settings: the dials.
    """

    def __init__(
        self, skeleton: Skeleton, fps: float, actions: tuple[str, ...], network: Network, starts: Float32,
        contacts: Float32, settings: MannSettings | None = None,
    ) -> None:  # fmt: skip
        self.skeleton, self.fps, self.actions, self.horizon = skeleton, fps, actions, HORIZON_SECONDS
        self.settings = settings or MannSettings()
        self.stride = int(np.clip(self.settings.stride, 1, int(SAMPLE_SECONDS * fps)))
        # Windows in training teach it calm: its jitter is 0.95 of the clips'. A low-pass, even at 25 Hz, makes standing
        # feet slide half as much again.
        self.noise_hz: float | None = None
        self.on_terrain, self.abilities = False, Abilities()
        self._network = network
        self._starts, self._contacts = starts.astype(np.float64), contacts.astype(np.float64)
        self._inputs = input_layout(len(skeleton), len(actions))
        self._outputs = output_layout(len(skeleton), len(skeleton.feet))
        self._body = ForwardKinematics(skeleton)
        self._fastest_foot = FASTEST_FOOT * float(np.sqrt(skeleton.leg_length))
        self._shares = self.settings.blend.shares

    @classmethod
    def from_pack(cls, pack: Pack, **options: Any) -> Mann:
        """The system of a checked pack; ``options`` are `MannSettings`.

        Raises:
            PackError: the network or the starts are missing, damaged, or of another layout.
            RuntimeMissingError: there is no ONNX Runtime.
        """
        info = pack.info
        if not info.actions:
            raise PackError("The pack names no action", "Import or train the pack again")
        feet = len(info.skeleton.feet)
        inputs = input_layout(len(info.skeleton), len(info.actions))
        outputs = output_layout(len(info.skeleton), feet)
        starts = read_starts(pack, inputs, outputs, {"contacts": (None, feet)})
        network = Network(
            pack.file(NETWORK), NETWORK, {"inputs": (None, inputs.size)}, {"outputs": (None, outputs.size)}
        )
        states = starts["inputs"].astype(np.float32)
        check_answer(NETWORK, network(inputs=states[:1]))
        settings = replace(MannSettings(), **options)
        return cls(info.skeleton, info.fps, info.actions, network, states, starts["contacts"], settings)

    def start(self, wish: Wish) -> MannState:
        """About to do what is wished: the nearest of the pack's starting states."""
        wanted = Wanted.of(wish).after(0.0)
        query = np.concatenate(
            [
                wanted.trajectory.positions.reshape(len(wish.speed), -1),
                wanted.trajectory.directions.reshape(len(wish.speed), -1),
                wanted.speeds, wanted.actions.reshape(len(wish.speed), -1),
            ], axis=1,
        )  # fmt: skip
        known = np.concatenate([self._future(self._starts, name) for name in (
            "trajectory_positions", "trajectory_directions", "speeds", "actions")], axis=1)  # fmt: skip
        return self._begin(nearest(known, query))

    def start_anywhere(self, count: int, seed: int) -> MannState:
        """Random ones of the pack's starting states, most of them in the middle of a movement: for tests."""
        return self._begin(np.random.default_rng(seed).integers(len(self._starts), size=count))

    def step(self, state: MannState, wish: Wish) -> tuple[MannState, Chunk]:
        """The next ``stride`` frames, the network called once for each."""
        wanted = Wanted.of(wish)
        origin = state.trail.roots[:, -1]
        back = self.settings.pull * wanted.trajectory.here
        shown: list[MannState] = []
        steps: list[Array] = []
        for frame in range(self.stride):
            shown.append(state)
            here = relative_root(origin, state.trail.roots[:, -1])
            state, step = self._frame(state, wanted.after(frame / self.fps), here, back)
            steps.append(step)
        poses = self._poses([*shown, state], np.stack(steps, axis=1))
        count = len(origin)
        none = np.zeros(count, dtype=np.bool_)
        return state, Chunk(poses, poses.first_two(), none, np.full((count, self.stride), -1, dtype=np.int64))

    def _begin(self, chosen: npt.NDArray[np.int64]) -> MannState:
        inputs = self._starts[chosen]
        count = len(inputs)
        future = Trajectory.of(*(self._future(inputs, name).reshape(count, FUTURE, 2) for name in TRAJECTORY_BLOCKS))
        trail = trail_of(inputs, self._inputs, self.fps)
        return MannState(inputs[:, pose_columns(self._inputs)], self._contacts[chosen], future, trail)

    def _future(self, inputs: Array, name: str) -> Array:
        """The future half of a block of inputs (k, size)."""
        block = self._inputs.get(inputs, name)
        return block[:, block.shape[1] * PAST // SAMPLES :]

    def _frame(self, state: MannState, wanted: Wanted, here: Array, back: Array) -> tuple[MannState, Array]:
        """The state one frame on, and the root's step to it (c, 3), of which ``back`` leads to the plan."""
        count = len(here)
        trail = state.trail.wishing(wanted.speeds[:, 0], wanted.actions[:, 0])
        past, speeds, actions = trail.past(self.fps)
        wish = wanted.trajectory.seen_from(here).within_reach()
        future = blended(state.future, wish, self._shares)
        trajectory = np.concatenate([past.values, future.values], axis=2).reshape(count, -1)
        speeds = np.concatenate([speeds, wanted.speeds], axis=1)
        actions = np.concatenate([actions, wanted.actions], axis=1).reshape(count, -1)
        inputs = np.concatenate([trajectory, speeds, actions, state.pose], axis=1)
        outputs = self._network(inputs=inputs.astype(np.float32)).astype(np.float64)
        get = self._outputs.get
        step = np.concatenate([get(outputs, "root_velocity"), get(outputs, "root_turning")], axis=1) / self.fps
        own = Trajectory(outputs[:, : 6 * FUTURE].reshape(count, 3, FUTURE, 2))
        step = step + back
        return MannState(self._pose(outputs), get(outputs, "contacts"), own, trail.moved(step)), step

    def _pose(self, outputs: Array) -> Array:
        """The predicted pose (c, 12 b) set on the skeleton: orthonormal axes, joints where the bones end."""
        positions, rotations, velocities = (self._outputs.get(outputs, name) for name in POSE_BLOCKS)
        axes = self._body.axes(rotations)
        places = self._body.positions(positions[:, :3], axes)
        count = len(outputs)
        return np.concatenate([places.reshape(count, -1), axes[..., :2, :].reshape(count, -1), velocities], axis=1)

    def _poses(self, states: list[MannState], steps: Array) -> Poses:
        """Poses (c, frames, ...) of all states but the last, which the feet of the one before move to.

        A foot that moves is in the air, whatever the network says of its contact: at starts, where any foot may be the
        first, it says so late.
        """
        joints = len(self.skeleton)
        pose = np.stack([state.pose for state in states], axis=1)
        axes = self._body.axes(pose[..., 3 * joints : 9 * joints])
        balls = self._body.balls(pose[..., : 3 * joints].reshape(*pose.shape[:2], joints, 3), axes)[..., :2]
        ahead = rot.rotate_2d(steps[..., None, 2], balls[:, 1:]) + steps[..., None, :2]
        speed = np.linalg.norm(ahead - balls[:, :-1], axis=-1) * self.fps
        contacts = np.clip(np.stack([state.contacts for state in states[:-1]], axis=1), 0.0, 1.0)
        rotations = self.skeleton.local_rotations(rotations_of(axes[:, :-1]))
        return Poses(pose[:, :-1, :3], rotations, steps, np.where(speed < self._fastest_foot, contacts, 0.0))
