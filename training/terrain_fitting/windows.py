"""What a piece of ground is fitted to: a clip's cycles, each with where its feet stood and where they went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import BoolArray, Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.contact_labels import feet_of, flat_contacts, sole_points
from blender_addon.motion.phases import SHORTEST_STEP
from blender_addon.motion.rotations import Array
from blender_addon.motion.runs import runs
from blender_addon.systems.pfnn_features import sample_points

#: Ground reaches so far before a cycle and after it, seconds: as far as the trajectory's samples.
BEFORE, AFTER = 1.0, 5.0 / 6.0
#: Cycles last between these, seconds: a stand is cut into pieces, a rest at a clip's end goes with its neighbour.
_SHORTEST, _LONGEST = 0.3, 2.0
#: Stands nearer to each other than this are one, metres: two heights cannot be there.
_SAME_SPOT = 0.06
#: Points a second at which feet are compared with the ground.
_RATE = 15.0


@dataclass(frozen=True)
class Window:
    """One cycle and the time around it that its ground has to fit.

    Attributes:
        first, last: the cycle's frames, half open.
        middle: a place in it on the ground (2,), metres.
        spots: where feet stood (s, 3), metres; z is the ground's height there. weights: frames they stood (s,).
        felt: where ground is felt at moments (m, 2), metres.
        points: soles at moments (n, 3), metres. down: which stand (n,). over: which belong to a jump (n,).
    """

    first: int
    last: int
    middle: Array
    spots: Array
    weights: Array
    felt: Array
    points: Array
    down: BoolArray
    over: BoolArray


def cycles(contacts: BoolArray, fps: float, steps: int = 2) -> list[tuple[int, int]]:
    """A clip of contacts (f, 4) cut at its footsteps: frames, half open, of ``steps`` steps each, without gaps."""
    feet = feet_of(contacts)
    landings = sorted(first for side in range(2) for first, _ in runs(feet[:, side]) if first > 0)
    kept: list[int] = []
    for frame in landings:
        if not kept or frame - kept[-1] >= SHORTEST_STEP * fps:
            kept.append(frame)
    cuts = [0]
    for frame in [*kept[::steps], len(feet)]:
        if frame - cuts[-1] < _SHORTEST * fps and len(cuts) > 1:
            if frame == len(feet):
                cuts[-1] = frame
            continue
        pieces = int(np.ceil((frame - cuts[-1]) / (_LONGEST * fps)))
        begin = cuts[-1]
        cuts += [begin + round((frame - begin) * k / pieces) for k in range(1, pieces + 1)]
    return [(first, last) for first, last in zip(cuts[:-1], cuts[1:], strict=True) if last > first]


class Footing:
    """A clip's soles, stands and jumps, from which windows are cut.

    Args:
        clip: two-legged motion. labels: its contacts and gaits.
    """

    def __init__(self, clip: Clip, labels: ClipLabels) -> None:
        self.clip = clip
        self.points = sole_points(clip)
        facing = rot.direction_of_yaw(clip.root[:, 2])
        self._felt = sample_points(clip.root[:, None, :2], facing[:, None])[..., 0, :]
        jump = labels.gait_names.index("jump") if "jump" in labels.gait_names else -1
        self.over: BoolArray = labels.gaits == jump
        self.down = flat_contacts(clip, labels.contacts)
        spans, places = [], []
        for column in range(self.points.shape[1]):
            for first, last in runs(self.down[:, column]):
                spans.append((first, last))
                places.append(np.median(self.points[first:last, column], axis=0))
        self.spans: npt.NDArray[np.int64] = np.array(spans, dtype=np.int64).reshape(-1, 2)
        self.places: Array = np.array(places).reshape(-1, 3)

    def window(self, first: int, last: int) -> Window:
        """The window of the cycle of frames ``first`` to ``last``, half open."""
        fps, count = self.clip.fps, len(self.clip)
        begin, end = max(first - round(BEFORE * fps), 0), min(last + round(AFTER * fps), count)
        stood = np.minimum(self.spans[:, 1], end) - np.maximum(self.spans[:, 0], begin)
        chosen = stood > 0
        spots, weights = merged(self.places[chosen], stood[chosen].astype(np.float64))
        frames = np.arange(begin, end, max(1, round(fps / _RATE)))
        points, down = self.points[frames], self.down[frames]
        if not len(spots):
            # In the air all the time, or nothing found: as if the lowest points stood.
            lowest = int(np.argmin(points[..., 2].min(axis=1)))
            spots, weights = merged(points[lowest], np.ones(points.shape[1]))
        over = np.broadcast_to(self.over[frames][:, None], down.shape)
        middle = 0.5 * (points[..., :2].min(axis=(0, 1)) + points[..., :2].max(axis=(0, 1)))
        return Window(
            first, last, middle, spots, weights, self._felt[frames].reshape(-1, 2), points.reshape(-1, 3),
            down.reshape(-1), over.reshape(-1),
        )  # fmt: skip


def merged(places: Array, weights: Array) -> tuple[Array, Array]:
    """Stands (n, 3) with those of nearly the same place made one, and how long they lasted (n,), longest first."""
    order = np.argsort(-weights, kind="stable")
    spots: list[Array] = []
    totals: list[float] = []
    for place, weight in zip(places[order], weights[order], strict=True):
        if spots:
            away = np.linalg.norm(np.array(spots)[:, :2] - place[:2], axis=1)
            near = int(np.argmin(away))
            if away[near] < _SAME_SPOT:
                share = weight / (totals[near] + weight)
                spots[near] = (1.0 - share) * spots[near] + share * place
                totals[near] += weight
                continue
        spots.append(place)
        totals.append(float(weight))
    return np.array(spots).reshape(-1, 3), np.array(totals)
