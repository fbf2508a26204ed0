"""A clip as plain arrays ready to be drawn at any frame: bones, footprints, planned path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from . import rotations as rot
from .animal import contact_points
from .clip import Clip
from .runs import runs
from .skeleton import Skeleton

Points = npt.NDArray[np.float32]

#: Half the width of a drawn footprint as a share of its length.
FOOTPRINT_SLIMNESS = 0.19
#: Radius of an animal's footprint as a share of the leg's length.
PAW_SHARE = 0.06
#: Footprints lie this much above the ground, so that they are not hidden by it, metres.
LIFT_M = 0.02
#: Sides of the body, as roles name them; what belongs to neither has the number behind the last.
SIDES = ("left_", "right_")


@dataclass(frozen=True)
class Footprint:
    """One stance of one foot.

    Attributes:
        side: column of the clip's contacts: 0 left, 1 right, or the leg of `animal.LEGS`.
        first, last: frames of the clip, both included.
        outline: closed outline (n, 3), metres, in the world.
    """

    side: int
    first: int
    last: int
    outline: Points


@dataclass(frozen=True)
class Picture:
    """A clip ready to be drawn at any frame of the scene.

    Attributes:
        fps: frames a second of the arrays.
        segments: the bones as pairs of points (frames, 2 * bones, 3), in the world, in the scene's units.
        footprints: all stances.
        path: planned root on the ground (n, 3).
        contacts: foot on the ground (frames, feet).
        sides: side of each bone (bones,): 0 left, 1 right, 2 neither.
    """

    fps: float
    segments: Points
    footprints: tuple[Footprint, ...]
    path: Points
    contacts: npt.NDArray[np.bool_]
    sides: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.segments)

    def place(self, frame: float, frame_start: int, scene_fps: float) -> float:
        """The fractional index for a frame of the scene, held at both ends."""
        return float(np.clip((frame - frame_start) / scene_fps * self.fps, 0.0, len(self) - 1))

    def body(self, place: float) -> Points:
        """The bones (2 * bones, 3) at a fractional index."""
        low = int(place)
        high = min(low + 1, len(self) - 1)
        share = np.float32(place - low)
        body: Points = self.segments[low] * (1 - share) + self.segments[high] * share
        return body


def bone_segments(clip: Clip) -> Points:
    """Lines from each joint to its parent, and out to the tails of the last joints (frames, 2 * lines, 3)."""
    positions, rotations = clip.world
    parents = np.array(clip.skeleton.parents)
    joints, ends = np.arange(1, len(parents)), _ends(clip.skeleton)
    tails = positions[:, ends] + rot.rotate(rotations[:, ends], clip.skeleton.tails[ends])
    starts = np.concatenate([positions[:, parents[1:]], positions[:, ends]], axis=1)
    stops = np.concatenate([positions[:, joints], tails], axis=1)
    lines = np.stack([starts, stops], axis=2)
    return lines.reshape(len(clip), -1, 3).astype(np.float32)


def bone_sides(skeleton: Skeleton) -> npt.NDArray[np.int64]:
    """Side of the body of each line of `bone_segments` (lines,): 0 left, 1 right, 2 neither.

    A joint without a role belongs to its parent's side.
    """
    role = {name: role for role, name in skeleton.roles.items()}
    sides: list[int] = []
    for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
        above = sides[parent] if parent >= 0 else len(SIDES)
        sides.append(next((k for k, side in enumerate(SIDES) if role.get(name, "").startswith(side)), above))
    return np.array(sides[1:] + [sides[j] for j in _ends(skeleton)])


def _ends(skeleton: Skeleton) -> list[int]:
    """Joints that nothing hangs on and whose bone has a length."""
    inner = set(skeleton.parents)
    return [j for j in range(len(skeleton)) if j not in inner and np.linalg.norm(skeleton.tails[j]) > 1e-4]


def footprints(clip: Clip) -> tuple[Footprint, ...]:
    """One outline for each contact of each foot, where the foot stands in the middle of it; an animal's are round."""
    positions, rotations = clip.world
    paws = contact_points(clip.skeleton, positions, rotations) if clip.skeleton.four_legged else None
    found = []
    for side, foot in enumerate(clip.skeleton.feet):
        for first, end in runs(clip.contacts[:, side]):
            last = end - 1
            middle = (first + last) // 2
            if paws is not None:
                shape = ring(paws[middle, side], PAW_SHARE * clip.skeleton.leg_length)
            else:
                heel = positions[middle, foot.ankle] + rot.rotate(rotations[middle, foot.ankle], foot.heel)
                tip = positions[middle, foot.toe] + rot.rotate(rotations[middle, foot.toe], foot.tip)
                shape = outline(heel, tip)
            found.append(Footprint(side, first, last, shape))
    return tuple(found)


def ring(middle: npt.ArrayLike, radius: float, corners: int = 16) -> Points:
    """A closed circle on the ground (corners + 1, 3) around a point (3,)."""
    angle = np.linspace(0.0, 2 * np.pi, corners + 1)
    around = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full_like(angle, LIFT_M)], axis=-1)
    return (np.asarray(middle) + around).astype(np.float32)


def outline(heel: npt.NDArray[np.float64], tip: npt.NDArray[np.float64], corners: int = 16) -> Points:
    """A closed, slim ellipse from heel to tip (corners + 1, 3)."""
    along = (tip - heel) / 2
    across = np.array([-along[1], along[0], 0.0])
    across *= 2 * FOOTPRINT_SLIMNESS * np.linalg.norm(along) / max(float(np.linalg.norm(across)), 1e-9)
    angle = np.linspace(0.0, 2 * np.pi, corners + 1)[:, None]
    ring = (heel + tip) / 2 + np.cos(angle) * along + np.sin(angle) * across + [0.0, 0.0, LIFT_M]
    return ring.astype(np.float32)


def logarithmic(values: Sequence[float], left: float, bottom: float, width: float, height: float) -> Points:
    """A curve (n, 3) of two or more positive values on a logarithmic scale, from its lowest to its highest value."""
    level = np.log10(np.maximum(np.asarray(values, dtype=np.float64), 1e-9))
    line = np.zeros((len(level), 3), np.float32)
    line[:, 0] = np.linspace(left, left + width, len(level))
    line[:, 1] = bottom + (level - level.min()) / max(float(np.ptp(level)), 1e-6) * height
    return line


def lifted(positions: npt.NDArray[np.float64], height: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Points (n, 3) just above the ground, metres: ``positions`` (n, 2) at ``height`` (n,) or one for all."""
    return np.concatenate([positions, np.broadcast_to(height, len(positions))[:, None] + LIFT_M], axis=1)


def picture(clip: Clip, path: npt.NDArray[np.float64], metres_per_unit: float = 1.0) -> Picture:
    """All that is drawn of a clip, in the scene's units; ``path`` is the planned root on the ground (n, 3), metres."""
    scale = np.float32(1.0 / metres_per_unit)
    prints = tuple(replace(step, outline=step.outline * scale) for step in footprints(clip))
    return Picture(
        clip.fps, bone_segments(clip) * scale, prints, path.astype(np.float32) * scale, clip.contacts,
        bone_sides(clip.skeleton),
    )  # fmt: skip
