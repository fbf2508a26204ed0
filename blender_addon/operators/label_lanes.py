"""Lanes of labels over a timeline: where each is, what lies under the mouse, and what a drag makes of the labels.

Plain numbers, pixels from the region's lower left corner; nothing of Blender's is kept or needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..motion.errors import ClipError
from ..motion.label_tracks import (
    LabelTracks,
    Span,
    move_end,
    with_action,
    with_contact,
    with_gait,
    with_reliable,
)

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


def view_of(region: Any, tracks: LabelTracks, scale: float = 1.0) -> View:
    """The view of a region that shows frames (it has ``view2d``, width and height); ``scale``: of the interface."""
    zero, far = (float(region.view2d.view_to_region(frame, 0.0, clip=False)[0]) for frame in (0.0, 10000.0))
    lanes = lanes_of(tracks)
    below, above, least = BELOW, ABOVE, LEAST_LANE
    if region.height < (BELOW + ABOVE + LEAST_LANE * len(lanes)) * scale:
        # A timeline of one row: thin lanes on its lower edge.
        below, above, least = 1.0, 0.6 * ABOVE, THIN_LANE
    room = (region.height - (below + above) * scale) / len(lanes)
    lane = float(np.clip(room, least * scale, LANE * scale))
    return View(zero, max((far - zero) / 10000.0, 1e-6), float(region.width), below * scale, lane, lanes, scale)


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
            return with_reliable(tracks, *sorted((grip.frame, here)), not brush.erase)
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
