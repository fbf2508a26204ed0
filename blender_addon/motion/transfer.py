"""An existing action on another character: made ready, carried over, put where it belongs, and planted again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from . import rotations as rot
from .clip import Clip
from .contacts import REFERENCE_LEG, foot_points, standing_heights, with_contacts
from .errors import RigError
from .filters import derivative
from .gait_analysis.body_feet import body_feet, loaded_feet
from .gait_analysis.footfalls import contacts_of
from .levelling import Floor, find_floors, levelled
from .planting import Planted, PlantSettings, plant_feet
from .proportions import sized
from .retarget import flat_footed_rest, grounded_rest, retarget, stance_heights
from .root_track import with_root
from .rotations import Array
from .skeleton import Skeleton
from .terrain import FlatGround, Terrain

LEVELS: tuple[str, ...] = ("tilt", "height", "none")
#: Legs of other lengths, metres, are taken for another unit's.
_PLAUSIBLE_LEG = (0.25, 2.5)
#: Those of animals: from a cat's to a giraffe's.
_PLAUSIBLE_ANIMAL_LEG = (0.1, 3.0)
#: A foot this low, metres, may stand; on the spot it then moves backwards faster than this, m/s. For `REFERENCE_LEG`.
_LOW, _SLOWEST_DRIFT = 0.035, 0.2
#: Motion is solved at this many frames a second at least.
_SOLVE_FPS = 50.0


@dataclass(frozen=True)
class Ready:
    """A source made ready: level, its soles at height 0, root and contacts known.

    Attributes:
        clip: the motion, on its own skeleton with feet that rest flat, at a multiple of the wished rate.
        stance: heights of the points of `contacts.foot_points` in a flat stance, metres; None for those of its
            skeleton.
        floor: height of its ground in its own world, metres.
        factor: metres of ``clip`` for each metre of its own world.
        drift: velocity (2,) that was added to a motion on the spot, m/s; 0 for one that travels.
        notes: what a reader must know.
    """

    clip: Clip
    stance: tuple[float, ...] | None
    floor: float
    factor: float
    drift: Array
    notes: tuple[str, ...] = ()

    @property
    def on_the_spot(self) -> bool:
        """Whether the source walks without travelling."""
        return bool(np.any(self.drift != 0.0))


@dataclass(frozen=True)
class Place:
    """Where a figure stands: origin (2,) on the ground in metres, and the yaw of its rest pose, radians."""

    origin: tuple[float, float]
    yaw: float


def make_ready(clip: Clip, fps: float, level: str = "tilt", planted: bool = True) -> Ready:
    """Level the ground of a raw motion, find its contacts and its root.

    Args:
        clip: as read from an action: in the world, root and contacts not looked at.
        fps: the rate at which keys are wanted.
        level: take ``tilt`` and height of its ground away, or only the ``height``; ``none``: its ground is at 0.
        planted: the feet will be planted: how they stand in the motion, not in the rest pose, is what flat means.

    Raises:
        RigError: its rest pose does not stand.
    """
    notes: list[str] = []
    factor = 1.0
    leg = clip.skeleton.leg_length
    low, high = _PLAUSIBLE_ANIMAL_LEG if clip.skeleton.four_legged else _PLAUSIBLE_LEG
    if not low <= leg <= high:
        centimetres = low <= 0.01 * leg <= high
        factor = 0.01 if centimetres else REFERENCE_LEG / max(leg, 1e-9)
        taken = "to be in centimetres" if centimetres else f"at {factor:.3g} of its size"
        notes.append(f"The source's legs are {leg:.3g} m long: its motion was taken {taken}")
        clip = sized(clip, factor)
    _check_standing(clip.skeleton)
    clip = replace(clip, skeleton=grounded_rest(clip.skeleton)).resampled(solving_rate(fps))
    drift = _drift(clip)
    if np.any(drift != 0.0):
        speed = float(np.linalg.norm(drift))
        notes.append(f"The source walks on the spot at about {speed:.1f} m/s: its feet are planted as if it travelled")
        clip = replace(clip, hips=clip.hips + _way(drift, clip))
    floor = _floor(clip, level)
    if not floor.contacts:
        notes.append("No foot was found to stand: the ground is taken to be where the feet are lowest")
    stand = float(standing_heights(clip.skeleton)[0])
    height = floor.height + float(floor.slope @ clip.hips[0, :2]) - stand
    clip = with_root(with_contacts(levelled(clip, floor)))
    if clip.skeleton.four_legged:
        # Keyed cycles slide: what feet do under the body tells when they stand.
        still = np.any(drift != 0.0)
        clip = replace(clip, contacts=loaded_feet(body_feet(clip), clip.fps) if still else contacts_of(clip))
    if not planted:
        return Ready(clip, None, height, factor, drift, tuple(notes))
    flat = replace(clip, skeleton=grounded_rest(flat_footed_rest(clip)))
    return Ready(flat, stance_heights(clip), height, factor, drift, tuple(notes))


def solving_rate(fps: float) -> float:
    """The multiple of ``fps`` at which motion is solved: planting wants small steps, keys want none in between."""
    return fps * float(np.ceil(_SOLVE_FPS / fps))


def way(ready: Ready, target: Skeleton, source_place: Place, target_place: Place | None) -> Array:
    """Where the root will go (f, 2), metres: what the ground must be known under."""
    scale = target.leg_length / ready.clip.skeleton.leg_length
    root = _placed(ready.clip.root * np.array([scale, scale, 1.0]), *_move(ready, scale, source_place, target_place))
    return np.asarray(root[:, :2])


def carry(ready: Ready, target: Skeleton, source_place: Place, target_place: Place | None) -> Clip:
    """The motion on another skeleton, on level ground at height 0.

    Args:
        ready: the source.
        target: the skeleton.
        source_place: where the source's armature stands.
        target_place: where the character stands, to begin there as the source does at its own place; None to keep
            the place and the facing at which the source begins.
    """
    clip = retarget(ready.clip, target, stance=ready.stance)
    scale = target.leg_length / ready.clip.skeleton.leg_length
    root = _placed(clip.root, *_move(ready, scale, source_place, target_place))
    return clip.moved(root - clip.root)


def plant(clip: Clip, ready: Ready, ground: Terrain, settings: PlantSettings | None = None) -> Planted:
    """Plant the feet of a carried motion; one on the spot on level ground, whatever lies around."""
    if ready.on_the_spot:
        ground = FlatGround(float(ground.height(clip.root[:1, :2])[0]))
    return plant_feet(clip, ground, settings)


def finished(clip: Clip, ready: Ready) -> Clip:
    """The clip with what was added to a motion on the spot taken away again."""
    if not ready.on_the_spot:
        return clip
    scale = clip.skeleton.leg_length / ready.clip.skeleton.leg_length
    turn = clip.root[0, 2] - ready.clip.root[0, 2]
    back = np.zeros((len(clip), 3))
    back[:, :2] = -rot.rotate_2d(np.full(len(clip), turn), scale * _way(ready.drift, clip)[:, :2])
    return clip.moved(back)


def _move(
    ready: Ready, scale: float, source: Place, target: Place | None
) -> tuple[Array, float, Array]:
    """Pivot (2,), turn and shift (2,) that bring the scaled root to its place."""
    if target is None:
        start = scale * ready.clip.root[0, :2]
        return start, 0.0, ready.clip.root[0, :2] / ready.factor - start
    pivot = scale * ready.factor * np.array(source.origin)
    return pivot, target.yaw - source.yaw, np.array(target.origin) - pivot


def _placed(root: Array, pivot: Array, turn: float, shift: Array) -> Array:
    moved = np.array(root)
    moved[:, :2] = rot.rotate_2d(np.full(len(root), turn), root[:, :2] - pivot) + pivot + shift
    moved[:, 2] += turn
    return moved


def _check_standing(skeleton: Skeleton) -> None:
    places = skeleton.rest_world[0]
    if skeleton.four_legged:
        up = np.mean([places[foot.hip] - places[foot.ankle] for foot in skeleton.feet], axis=0)
    else:
        up = places[0] - 0.5 * (places[skeleton.index("left_ankle")] + places[skeleton.index("right_ankle")])
    if up[2] < 0.5 * float(np.linalg.norm(up)):
        raise RigError(
            "The source does not stand upright in its rest pose: its feet are not below its hips",
            "Rotate the source until its rest pose stands, or keep a standing pose as its reference under Character",
        )


def _floor(clip: Clip, level: str) -> Floor:
    if level == "none":
        return Floor(np.zeros(2), float(standing_heights(clip.skeleton)[0]), 1, 0.0)
    floor = find_floors([clip], keep_slope=level == "height")[0]
    if floor.contacts:
        return floor
    return replace(floor, height=float(np.percentile(foot_points(clip)[..., 2], 5)))


def _way(drift: Array, clip: Clip) -> Array:
    """How far the drift has gone (f, 3), metres."""
    return np.asarray(np.arange(len(clip))[:, None] / clip.fps * np.array([drift[0], drift[1], 0.0]))


def _drift(clip: Clip) -> Array:
    """Velocity (2,) at which the ground runs backwards under a motion on the spot; 0 under one that travels."""
    scale = clip.skeleton.leg_length / REFERENCE_LEG
    toes = foot_points(clip)
    low = toes[..., 2] - np.percentile(toes[..., 2], 2) < _LOW * scale
    low &= toes[..., 2] <= toes[..., 2].min(axis=1, keepdims=True) + 1e-9
    moving = derivative(toes, clip.fps)[..., :2][low]
    nothing = np.zeros(2)
    if len(clip) < 8 or len(moving) < 4:
        return nothing
    usual = np.median(moving, axis=0)
    speed = float(np.linalg.norm(usual))
    spread = float(np.median(np.linalg.norm(moving - usual, axis=1)))
    travel = float(np.linalg.norm(clip.hips[-1, :2] - clip.hips[0, :2])) / max(clip.seconds, 1e-9)
    if speed < _SLOWEST_DRIFT * scale or spread > 0.5 * speed or travel > 0.25 * speed:
        return nothing
    return np.asarray(-usual)
