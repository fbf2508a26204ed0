"""The global phase of a two-legged motion: where in its stride a body is, from the landings of its feet.

Right landing 0, left landing pi, the next right one 2 pi, linear in between (Holden et al. 2017, section 4.1).
A body that stands has no stride: the phase creeps on, and is marked unreliable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .clip import BoolArray
from .rotations import Array
from .runs import runs

#: Half a stride lasts at most this long, seconds; a longer time between two landings is a stand.
LONGEST_STEP = 1.1
#: And at least this long: what is shorter is a foot set down twice, or both at once.
SHORTEST_STEP = 0.12
#: The phase of a body that stands, radians a second.
STANDING_RATE = 0.6
#: A foot leaves the ground so much phase before it lands, in a steady walk.
SWING = 0.8 * np.pi


@dataclass(frozen=True)
class Phase:
    """The global phase over time.

    Attributes:
        angle: (f,) radians, unwrapped and never falling; right landings at whole turns.
        reliable: (f,) where it comes from steps.
    """

    angle: Array
    reliable: BoolArray

    def share(self, rows: npt.NDArray[np.int64] | int) -> Array:
        """Share of the stride at some frames, 0 to 1."""
        return np.asarray(self.angle[rows] / (2.0 * np.pi) % 1.0)


def global_phase(contacts: BoolArray, fps: float) -> Phase:
    """The phase from contacts (f, 2), columns left and right, at ``fps`` frames a second.

    Two landings of one foot in a row are a whole stride; both feet at once count as one step. From a stand the phase
    of a steady walk is taken up where the foot lifts that lands next. After the last landing it goes on as before if
    the other foot lifts.
    """
    frames = len(contacts)
    steps = _steps(contacts, fps)
    if not steps:
        creep = STANDING_RATE / fps * np.arange(frames)
        return Phase(creep, np.zeros(frames, dtype=np.bool_))
    at, angle, sure = _going_on(*_knots(steps, fps), contacts, steps[-1][1])
    # Before the first knot and after the last the body stands.
    before, after = at[0], frames - 1 - at[-1]
    at = np.concatenate([[at[0] - max(before, 1.0)], at, [at[-1] + max(after, 1.0)]])
    ends = STANDING_RATE / fps * np.array([max(before, 1.0), max(after, 1.0)])
    angle = np.concatenate([[angle[0] - ends[0]], angle, [angle[-1] + ends[1]]])
    sure = np.concatenate([[False], sure, [False]])
    frame = np.arange(frames, dtype=np.float64)
    span = np.clip(np.searchsorted(at, frame, side="right") - 1, 0, len(sure) - 1)
    found = np.interp(frame, at, angle)
    return Phase(found - 2.0 * np.pi * np.floor(found[0] / (2.0 * np.pi)), sure[span])


def _going_on(
    at: Array, angle: Array, sure: BoolArray, contacts: BoolArray, side: int
) -> tuple[Array, Array, BoolArray]:
    """The knots with another where the clip ends in a step, the last landing being of ``side``."""
    last = len(contacts)
    if not len(sure) or not sure[-1] or contacts[int(at[-1]) :, 1 - side].all():
        return at, angle, sure
    rate = (angle[-1] - angle[-2]) / (at[-1] - at[-2])
    end = min(float(last), at[-1] + np.pi / rate)
    return np.append(at, end), np.append(angle, angle[-1] + rate * (end - at[-1])), np.append(sure, True)


def _steps(contacts: BoolArray, fps: float) -> list[tuple[int, int, int]]:
    """(landing frame, side, frame it lifted) of the steps in order, feet that are set down twice left out."""
    found = []
    for side in range(2):
        spans = runs(contacts[:, side])
        for number, (first, _) in enumerate(spans):
            if first > 0:
                found.append((first, side, spans[number - 1][1] if number else 0))
    found.sort()
    kept: list[tuple[int, int, int]] = []
    for step in found:
        if kept and step[0] - kept[-1][0] < SHORTEST_STEP * fps:
            continue
        kept.append(step)
    return kept


def _knots(steps: list[tuple[int, int, int]], fps: float) -> tuple[Array, Array, BoolArray]:
    """Frames (n,), phases (n,) and whether the spans (n - 1,) between them are steps."""
    side_phase = (np.pi, 0.0)
    first, side, lift = steps[0]
    start = max(lift, first - round(LONGEST_STEP * fps), 0)
    at, angle, sure = [float(first)], [side_phase[side]], []
    if start < first:
        at.insert(0, float(start))
        angle.insert(0, angle[0] - SWING * min(1.0, (first - start) / (0.5 * fps)))
        sure.append(True)
    before = side
    for landing, side, lift in steps[1:]:
        now = side_phase[side]
        turns = np.ceil((angle[-1] - now) / (2.0 * np.pi) + 1e-9)
        now += 2.0 * np.pi * turns
        usual = LONGEST_STEP * fps * (2.0 if side == before else 1.0)
        if landing - at[-1] > usual:
            begin = float(np.clip(lift, at[-1] + 1.0, landing - 1.0))
            begin = max(begin, landing - 0.5 * usual)
            idle = STANDING_RATE / fps * (begin - at[-1])
            # The nearest turn at which this foot's swing may begin, so that nothing runs backwards.
            now += 2.0 * np.pi * max(np.round((angle[-1] + idle - (now - SWING)) / (2.0 * np.pi)), 0.0)
            at.append(begin)
            angle.append(max(now - SWING, angle[-1] + 1e-3))
            now = max(now, angle[-1] + 1e-3)
            sure.append(False)
        at.append(float(landing))
        angle.append(now)
        sure.append(True)
        before = side
    return np.array(at), np.array(angle), np.array(sure, dtype=np.bool_)
