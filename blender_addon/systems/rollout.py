"""The loop that rolls any system out along plans: one for all systems, any number of characters.

It owns the wish (the plan seen from where the character really is), inertialization at jumps, the
roots' integration, progress and cancelling. It knows nothing of networks, curves or Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..motion import rotations as rot
from ..motion.clip import Clip
from ..motion.errors import Cancelled, PackError
from ..motion.filters import lowpass
from ..motion.gait_model.labels import frame_actions
from ..motion.gait_names import action_weights
from ..motion.inertialize import spring_decay
from ..motion.plan import Plan
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from ..motion.terrain import Terrain
from .poses import Poses, relative_trajectory
from .protocol import Chunk, Performer, System, Wish, level_ground

#: Called with the share done (0..1); returns False to cancel.
Progress = Callable[[float], bool]


#: Hips farther than this from the root, in lengths of the leg, belong to no body.
_APART = 10.0


@dataclass(frozen=True)
class RolloutSettings:
    """How a roll-out responds.

    Attributes:
        halflife: of the pose's offsets after a jump, seconds.
        root_halflife: of the offset of the root's velocity after a jump, seconds; longer is smoother
            and strays further from the plan.
        lead: the wish is read this much ahead in the plan, seconds; makes up for reaction time.
        catch_up: share of the character's distance from its plan that each wish makes up for, 0..1.
    """

    halflife: float = 0.2
    root_halflife: float = 0.08
    lead: float = 0.0
    catch_up: float = 1.0


@dataclass(frozen=True)
class Rollout:
    """What a roll-out gives for one character.

    Attributes:
        clip: the motion, root as the system moved it.
        source: index into the system's data of each frame (frames,), -1 where it has none.
        jumps: frames at which the motion jumped.
    """

    clip: Clip
    source: npt.NDArray[np.int64]
    jumps: npt.NDArray[np.int64]


def rollout(
    system: System | Performer,
    plans: Sequence[Plan],
    settings: RolloutSettings | None = None,
    progress: Progress | None = None,
    terrains: Sequence[Terrain] | None = None,
) -> list[Rollout]:
    """Roll ``system`` out along one plan a character.

    The plans must have the system's frame rate. Shorter plans stand at their end while the longest
    one runs; each clip is as long as its plan.

    Args:
        system: what moves. plans: one a character. settings: how it responds. progress: told the share done.
        terrains: one a character, for systems that feel the ground (``on_terrain``); level at height 0 without.

    Raises:
        Cancelled: ``progress`` returned False.
    """
    if isinstance(system, Performer):
        return [_performed(system, plan, number / len(plans), progress) for number, plan in enumerate(plans)]
    settings = settings or RolloutSettings()
    tracks = [_Track.of(_named(plan, system.skeleton), system.actions) for plan in plans]
    frames = max(len(track) for track in tracks)
    roots = np.stack([track.root[0] for track in tracks])
    grounds = terrains if system.on_terrain else None
    state = system.start(_wish(system, tracks, 0, roots, settings, grounds))
    blend = Inertializer(len(plans), len(system.skeleton), settings)
    recorder = _Recorder()
    for frame in range(0, frames, system.stride):
        if progress is not None and not progress(frame / frames):
            raise Cancelled
        state, chunk = system.step(state, _wish(system, tracks, frame, roots, settings, grounds))
        first = frame == 0
        poses = blend.apply(chunk, system.fps, np.zeros(len(plans), np.bool_) if first else chunk.switched)
        track, roots = _integrate(roots, poses.root_step)
        recorder.add(poses, track, chunk, frame)
    return recorder.clips(system, [len(track) for track in tracks])


@dataclass(frozen=True)
class _Track:
    """A plan as wishes are read from it: root (f, 3), speed (f,), weights of the system's actions (f, actions).

    ``leaps`` are the frames at which leaps take off, fractional.
    """

    root: Array
    speed: Array
    actions: Array
    leaps: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.root)

    @classmethod
    def of(cls, plan: Plan, actions: Sequence[str]) -> _Track:
        return cls(plan.root, plan.speed, action_weights(plan, actions), tuple(t * plan.fps for t in plan.leaps))

    def until_leap(self, frame: int) -> float:
        """Frames from ``frame`` until the next leap takes off; infinite without."""
        return min((leap - frame for leap in self.leaps if leap >= frame), default=np.inf)


def _named(plan: Plan, skeleton: Skeleton) -> Plan:
    """The plan with the gaits by name that four legs make at its speeds; of two legs as it is."""
    if not skeleton.four_legged:
        return plan
    actions, action = frame_actions(plan, skeleton)
    return replace(plan, actions=actions, action=action)


def _wish(
    system: System, tracks: Sequence[_Track], frame: int, roots: Array, settings: RolloutSettings,
    grounds: Sequence[Terrain] | None,
) -> Wish:  # fmt: skip
    """The plans at the system's samples, as seen from the characters' own roots."""
    ahead = np.round((np.array(system.horizon) + settings.lead) * system.fps).astype(int)
    at = [np.minimum(frame + ahead, len(track) - 1) for track in tracks]
    future = np.stack([track.root[rows] for track, rows in zip(tracks, at, strict=True)])
    now = np.stack([track.root[min(frame, len(track) - 1)] for track in tracks])
    future = future - (1.0 - settings.catch_up) * (now - roots)[:, None]
    positions, directions = relative_trajectory(roots, future)
    last = np.stack([track.root[max(min(frame, len(track) - 1) - 1, 0)] for track in tracks])
    return Wish(
        positions=positions,
        directions=directions,
        speed=np.linalg.norm(now[:, :2] - last[:, :2], axis=-1) * system.fps,
        speeds=np.stack([track.speed[rows] for track, rows in zip(tracks, at, strict=True)]),
        actions=np.stack([track.actions[rows] for track, rows in zip(tracks, at, strict=True)]),
        ground=level_ground if grounds is None else _Underfoot(grounds, roots),
        until_leap=np.array([track.until_leap(frame) for track in tracks]) / system.fps,
    )


@dataclass(frozen=True)
class _Underfoot:
    """The grounds as characters feel them, from their own root spaces; roots (characters, 3)."""

    grounds: Sequence[Terrain]
    roots: Array

    def __call__(self, points: Array) -> Array:
        """Heights (characters, n), metres, under points (characters, n, 2) in root space."""
        there = rot.rotate_2d(self.roots[:, None, 2], points) + self.roots[:, None, :2]
        first = self.grounds[0]
        if all(ground is first for ground in self.grounds):
            return np.asarray(first.height(there))
        return np.stack([ground.height(row) for ground, row in zip(self.grounds, there, strict=True)])


def _performed(system: Performer, plan: Plan, share: float, progress: Progress | None) -> Rollout:
    if progress is not None and not progress(share):
        raise Cancelled
    clip = system.perform(plan)
    return Rollout(clip, np.full(len(clip), -1, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _integrate(roots: Array, steps: Array) -> tuple[Array, Array]:
    """World roots (characters, frames, 3) along a chunk, and the root after its last frame."""
    yaw = roots[:, None, 2] + np.concatenate([0.0 * steps[:, :1, 2], np.cumsum(steps[..., 2], axis=1)], axis=1)
    moved = rot.rotate_2d(yaw[:, :-1], steps[..., :2])
    place = roots[:, None, :2] + np.concatenate([0.0 * moved[:, :1], np.cumsum(moved, axis=1)], axis=1)
    track = np.concatenate([place, yaw[..., None]], axis=-1)
    return track[:, :-1], track[:, -1]


class Inertializer:
    """Offsets that carry the old motion into the new one at a jump and die away."""

    def __init__(self, characters: int, joints: int, settings: RolloutSettings) -> None:
        # Row 0: the root's step; row 1: the hips' translation; the others: joints' rotation vectors.
        self._offset = np.zeros((characters, 2 + joints, 3))
        self._velocity = np.zeros_like(self._offset)
        self._root_halflife, self._pose_halflife = settings.root_halflife, settings.halflife

    def apply(self, chunk: Chunk, fps: float, switched: npt.NDArray[np.bool_]) -> Poses:
        """The chunk's poses with offsets added; new offsets begin where ``switched``."""
        poses = chunk.poses
        if np.any(switched):
            jump, speed = _difference(chunk.jump, poses, fps)
            self._offset[switched] = _compose(self._offset, jump)[switched]
            self._velocity[switched] += speed[switched]
        offset, velocity = self._decay(np.arange(poses.hips.shape[1] + 1) / fps)
        self._offset, self._velocity = offset[:, -1], velocity[:, -1]
        return Poses(
            poses.hips + offset[:, :-1, 1],
            rot.mul(rot.exp(offset[:, :-1, 2:]), poses.rotations),
            poses.root_step + offset[:, :-1, 0],
            poses.contacts,
        )

    def _decay(self, times: Array) -> tuple[Array, Array]:
        """Offsets and their velocities (characters, times, rows, 3)."""
        seconds = times[None, :, None]
        parts = [
            spring_decay(self._offset[:, None, rows], self._velocity[:, None, rows], seconds, halflife)
            for rows, halflife in ((slice(0, 1), self._root_halflife), (slice(1, None), self._pose_halflife))
        ]
        offset, velocity = (np.concatenate(pair, axis=2) for pair in zip(*parts, strict=True))
        return offset, velocity


def _compose(first: Array, second: Array) -> Array:
    """Offset rows of ``first`` after ``second``: translations add, rotation vectors compose."""
    turned = rot.log(rot.mul(rot.exp(first[:, 2:]), rot.exp(second[:, 2:])))
    return np.concatenate([first[:, :2] + second[:, :2], turned], axis=1)


def _difference(old: Poses, new: Poses, fps: float) -> tuple[Array, Array]:
    """Old minus new (characters, 2 + b, 3) at the first frame, and its rate of change per second."""

    def gap(k: int) -> Array:
        turned = rot.log(rot.mul(old.rotations[:, k], rot.inv(new.rotations[:, k])))
        moved = np.stack([old.root_step[:, k] - new.root_step[:, k], old.hips[:, k] - new.hips[:, k]], axis=1)
        return np.concatenate([moved, turned], axis=1)

    now = gap(0)
    return now, (gap(1) - now) * fps


class _Recorder:
    """Collects chunks and makes clips of them."""

    def __init__(self) -> None:
        self._parts: list[tuple[Poses, Array, Chunk]] = []
        self._starts: list[int] = []

    def add(self, poses: Poses, track: Array, chunk: Chunk, frame: int) -> None:
        self._parts.append((poses, track, chunk))
        self._starts.append(frame)

    def clips(self, system: System, lengths: Sequence[int]) -> list[Rollout]:
        hips = np.concatenate([poses.hips for poses, _, _ in self._parts], axis=1)
        rotations = np.concatenate([poses.rotations for poses, _, _ in self._parts], axis=1)
        contacts = np.concatenate([poses.contacts for poses, _, _ in self._parts], axis=1) > 0.5
        track = np.concatenate([track for _, track, _ in self._parts], axis=1)
        source = np.concatenate([chunk.source for _, _, chunk in self._parts], axis=1)
        switched = np.stack([chunk.switched for _, _, chunk in self._parts])
        if not all(np.all(np.isfinite(part)) for part in (hips, rotations, track)):
            raise PackError("The pack gives motion that is not numbers", "Import or train the pack again")
        if np.abs(hips[..., :2]).max() > _APART * system.skeleton.leg_length:
            raise PackError("The pack gives motion that flies apart", "Import or train the pack again")
        turn = rot.from_yaw(track[..., 2])
        hips = rot.rotate(turn, hips)
        hips[..., :2] += track[..., :2]
        rotations[:, :, 0] = rot.mul(turn, rotations[:, :, 0])
        rotations = rot.unroll(rotations, axis=1)
        if system.noise_hz is not None:
            hips = lowpass(hips, system.fps, system.noise_hz, axis=1)
            rotations = rot.normalize(lowpass(rotations, system.fps, system.noise_hz, axis=1))
        found = []
        for i, length in enumerate(lengths):
            clip = Clip(
                system.skeleton, system.fps, hips[i, :length], rotations[i, :length],
                track[i, :length], contacts[i, :length], name="roll-out",
            )  # fmt: skip
            jumps = np.array(self._starts)[switched[:, i]]
            found.append(Rollout(clip, source[i, :length], jumps[jumps < length]))
        return found
