"""Lanes of labels over a timeline: where each is, what lies under the mouse, and what a drag makes of the labels.

Plain numbers, pixels from the region's lower left corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import ClipError
from .label_tracks import LabelTracks, Span, move_end, with_action, with_contact, with_gait, with_reliable
from .rotations import Array

#: Pixels at scale 1: height of a lane, the least one, room below (scroll bar) and above (frame numbers, markers).
LANE, LEAST_LANE, BELOW, ABOVE = 15.0, 5.0, 26.0, 28.0
#: A lane where there is hardly any room.
THIN_LANE = 2.0
#: An end is grasped from this far, pixels at scale 1.
REACH = 7.0


@dataclass(frozen=True)
class View:
    """How a region shows frames, and where the lanes lie in it.

    Attributes:
        zero: where frame 0 is, pixels. per_frame: pixels a frame.
        width: of the region. bottom: of the lowest lane. lane: height of each.
        lanes: their names, highest first. scale: of the interface.
    """

    zero: float
    per_frame: float
    width: float
    bottom: float
    lane: float
    lanes: tuple[str, ...]
    scale: float = 1.0

    @classmethod
    def of(
        cls, zero: float, per_frame: float, size: tuple[float, float], tracks: LabelTracks, scale: float = 1.0
    ) -> View:
        """The view of a region that shows frames.

        Args:
            zero, per_frame, scale: as above.
            size: width and height of the region, pixels.
            tracks: the labels whose lanes are shown.
        """
        (width, height), lanes = size, lanes_of(tracks)
        below, above, least = BELOW, ABOVE, LEAST_LANE
        if height < (BELOW + ABOVE + LEAST_LANE * len(lanes)) * scale:
            # A timeline of one row: thin lanes on its lower edge.
            below, above, least = 1.0, 0.6 * ABOVE, THIN_LANE
        room = (height - (below + above) * scale) / len(lanes)
        lane = float(np.clip(room, least * scale, LANE * scale))
        return cls(zero, max(per_frame, 1e-6), width, below * scale, lane, lanes, scale)

    def x(self, frame: float) -> float:
        """Where a frame is."""
        return self.zero + self.per_frame * frame

    def frame(self, x: float) -> float:
        """The frame (fractional) that is at a place."""
        return (x - self.zero) / self.per_frame

    def y(self, lane: str) -> float:
        """The lower edge of a lane."""
        return self.bottom + (len(self.lanes) - 1 - self.lanes.index(lane)) * self.lane

    def lane_at(self, y: float) -> str:
        """The lane at a height; empty between and beyond them."""
        row = int(np.floor((y - self.bottom) / self.lane))
        return self.lanes[len(self.lanes) - 1 - row] if 0 <= row < len(self.lanes) else ""

    @property
    def top(self) -> float:
        """Upper edge of the highest lane."""
        return self.bottom + self.lane * len(self.lanes)

    def edges(self, span: Span) -> tuple[float, float]:
        """Where a span begins and ends: half a frame around its first and last."""
        return self.x(span.first - 0.5), self.x(span.last + 0.5)


@dataclass(frozen=True)
class Hit:
    """What lies under the mouse.

    Attributes:
        lane: its name. frame: the nearest one.
        span: the contact, gait or action there; None where there is none.
        end: "first" or "last" where an end of the span is in reach; empty elsewhere.
    """

    lane: str
    frame: int
    span: Span | None = None
    end: str = ""


@dataclass(frozen=True)
class Brush:
    """What a drag sets: the gait, the action's name; or, erasing, feet up, no action, a phase not to learn."""

    gait: str = "walk"
    action: str = ""
    erase: bool = False


def lanes_of(tracks: LabelTracks) -> tuple[str, ...]:
    """The lanes of an action's labels, highest first."""
    return (*tracks.points, *(("phase",) if tracks.two_legged else ()), "gait", "action")


def hit(view: View, tracks: LabelTracks, x: float, y: float) -> Hit | None:
    """What lies at a place; None where no lane is."""
    lane = view.lane_at(y)
    if not lane:
        return None
    frame = int(np.clip(round(view.frame(x)), tracks.first, tracks.last))
    spans = tracks.spans(lane)
    reach = REACH * view.scale
    if lane != "phase" and lane != "action":
        ends = [(abs(x - at), span, end) for span in spans
                for end, at in zip(("first", "last"), view.edges(span), strict=True)]  # fmt: skip
        near = min(ends, key=lambda item: item[0], default=None)
        if near is not None and near[0] <= reach and _movable(tracks, lane, near[1], near[2]):
            return Hit(lane, frame, near[1], near[2])
    over = next((span for span in spans if span.first <= frame <= span.last), None)
    return Hit(lane, frame, over)


def _movable(tracks: LabelTracks, lane: str, span: Span, end: str) -> bool:
    """Whether an end can be dragged: of a gait only where another gait follows."""
    return lane != "gait" or (span.first > tracks.first if end == "first" else span.last < tracks.last)


def dragged(tracks: LabelTracks, grip: Hit, at: float, brush: Brush) -> LabelTracks:
    """The labels after a drag from ``grip`` to a frame (fractional); those before if it changes nothing.

    An end of a contact or of a gait moves with the mouse. From elsewhere the drag paints the frames it passes.
    """
    here = int(np.clip(round(at), tracks.first, tracks.last))
    try:
        if grip.end and grip.span is not None:
            return _end_dragged(tracks, grip, grip.span, at)
        if grip.lane in tracks.points:
            return with_contact(tracks, grip.lane, grip.frame, here, not brush.erase)
        if grip.lane == "phase":
            return with_reliable(tracks, min(grip.frame, here), max(grip.frame, here), not brush.erase)
        if grip.lane == "gait":
            return with_gait(tracks, brush.gait, grip.frame, here)
        return with_action(tracks, "" if brush.erase else brush.action, grip.frame, here)
    except ClipError:
        return tracks


def _end_dragged(tracks: LabelTracks, grip: Hit, span: Span, at: float) -> LabelTracks:
    first = int(np.clip(round(at + 0.5), tracks.first, tracks.last + 1))
    if grip.lane != "gait":
        return move_end(tracks, grip.lane, span, grip.end, first if grip.end == "first" else first - 1)[0]
    border = span.first if grip.end == "first" else span.last + 1
    before, after = (tracks.gait_names[tracks.gaits[row - tracks.first]] for row in (border - 1, border))
    if first == border:
        return tracks
    return with_gait(tracks, after, first, border - 1) if first < border else with_gait(
        tracks, before, border, first - 1)  # fmt: skip


def phase_lines(view: View, tracks: LabelTracks) -> list[tuple[Array, bool]]:
    """The phase as it rises from turn to turn, as far as it is seen.

    Returns:
        lines (n, 3) in pixels, each with whether it is learned from; none of four legs.
    """
    if tracks.phase is None:
        return []
    first = max(int(np.floor(view.frame(0.0))), tracks.first)
    last = min(int(np.ceil(view.frame(view.width))), tracks.last)
    step = max(1, int(1.0 / view.per_frame))
    rows = np.arange(first, last + 1, step) - tracks.first
    if len(rows) < 2:
        return []
    share, sure = tracks.phase.share(rows), tracks.phase.reliable[rows]
    x = view.zero + view.per_frame * (rows + tracks.first)
    y = view.y("phase") + view.lane * (0.12 + 0.76 * share)
    points = np.stack([x, y, np.zeros_like(x)], axis=1)
    # A new line where the phase begins a turn, and where it becomes one to learn from or none.
    breaks = np.flatnonzero((np.diff(share) < 0.0) | (np.diff(sure.astype(int)) != 0)) + 1
    parts = zip(np.split(points, breaks), np.split(sure, breaks), strict=True)
    return [(part, bool(known[0])) for part, known in parts if len(part) > 1]
