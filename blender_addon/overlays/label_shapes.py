"""What is drawn of labels over a timeline, as plain shapes: boxes, lines and words with their places and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..motion.label_doubts import Doubt
from ..motion.label_lanes import Hit, View, phase_lines
from ..motion.label_tracks import LabelTracks, Span, words_of
from ..motion.rotations import Array
from .colours import Colour, gait_colour

LEFT: Colour = (0.35, 0.65, 1.0, 1.0)
RIGHT: Colour = (1.0, 0.45, 0.4, 1.0)
GROUND: Colour = (0.06, 0.06, 0.06, 0.8)
RULE: Colour = (1.0, 1.0, 1.0, 0.12)
HAND: Colour = (1.0, 1.0, 1.0, 0.95)
DOUBT: Colour = (1.0, 0.62, 0.1, 1.0)
RAMP: Colour = (0.75, 0.9, 0.55, 1.0)
UNSURE: Colour = (0.6, 0.6, 0.6, 0.45)
WORDS: Colour = (1.0, 1.0, 1.0, 1.0)
HOT: Colour = (1.0, 0.85, 0.3, 1.0)
DARK: Colour = (0.03, 0.03, 0.03, 1.0)
#: Mean width of a letter, pixels at scale 1, at the size of words.
LETTER = 6.2
WORD_SIZE = 10

Box = tuple[float, float, float, float, Colour]
Word = tuple[float, float, str, Colour]


@dataclass
class Shapes:
    """Boxes (left, bottom, width, height, colour), lines (points, colour, width), words (x, y, text, colour)."""

    boxes: list[Box] = field(default_factory=list)
    lines: list[tuple[Array, Colour, float]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)


def shapes(view: View, tracks: LabelTracks, doubts: Sequence[Doubt] = (), hot: Hit | None = None) -> Shapes:
    """All that is drawn of an action's labels in a view; what lies beside it is left out."""
    made = Shapes()
    _ground(made, view, tracks)
    for point in tracks.points:
        colour = LEFT if point.startswith("left") else RIGHT
        for span in tracks.spans(point):
            # The heel fainter than the toe of its foot.
            _band(made, view, point, span, (*colour[:3], 0.6 if point.endswith("heel") else 0.9), "")
    # Faint where the phase is not learned.
    made.lines += [(points, RAMP if sure else UNSURE, 1.5) for points, sure in phase_lines(view, tracks)]
    for lane in ("gait", "action"):
        for span in tracks.spans(lane):
            _band(made, view, lane, span, gait_colour(span.name, 0.9), span.name)
    for lane in view.lanes:
        for span in tracks.edited_spans(lane):
            _underline(made, view, lane, span)
    for doubt in doubts:
        _doubted(made, view, Span(doubt.first, doubt.last))
    if hot is not None and hot.span is not None and hot.end:
        _grip(made, view, hot)
    _names(made, view)
    return made


def _ground(made: Shapes, view: View, tracks: LabelTracks) -> None:
    left, right = max(view.x(tracks.first - 0.5), 0.0), min(view.x(tracks.last + 0.5), view.width)
    if right > left:
        made.boxes.append((left, view.bottom, right - left, view.top - view.bottom, GROUND))
        for lane in view.lanes:
            made.boxes.append((left, view.y(lane), right - left, 1.0, RULE))


def _clipped(view: View, span: Span) -> tuple[float, float] | None:
    left, right = view.edges(span)
    left, right = max(left, 0.0), min(right, view.width)
    return (left, right) if right > left else None


def _band(made: Shapes, view: View, lane: str, span: Span, colour: Colour, name: str) -> None:
    edges = _clipped(view, span)
    if edges is None:
        return
    left, right = edges
    gap = 0.12 * view.lane
    # A bar as thin as a pixel is still seen.
    made.boxes.append((left, view.y(lane) + gap, max(right - left - 1.0, 1.0), view.lane - 2 * gap, colour))
    if name and view.lane >= 11.0 * view.scale and right - left > (len(name) * LETTER + 8.0) * view.scale:
        begin = max(left, _names_width(view))
        if right - begin > (len(name) * LETTER + 8.0) * view.scale:
            made.words.append((begin + 4.0 * view.scale, view.y(lane) + 0.3 * view.lane, name, DARK))


def _underline(made: Shapes, view: View, lane: str, span: Span) -> None:
    edges = _clipped(view, span)
    if edges is not None:
        made.boxes.append((edges[0], view.y(lane), max(edges[1] - edges[0], 1.0), max(2.0 * view.scale, 1.0), HAND))


def _doubted(made: Shapes, view: View, span: Span) -> None:
    edges = _clipped(view, span)
    if edges is None:
        return
    height = 4.0 * view.scale
    made.boxes.append((edges[0], view.top, max(edges[1] - edges[0], 3.0 * view.scale), height, DOUBT))
    made.words.append((edges[0], view.top + height + 2.0 * view.scale, "?", DOUBT))


def _grip(made: Shapes, view: View, hot: Hit) -> None:
    """The end that a click would grasp."""
    assert hot.span is not None
    at = view.edges(hot.span)[0 if hot.end == "first" else 1]
    made.boxes.append((at - 2.0 * view.scale, view.y(hot.lane), 4.0 * view.scale, view.lane, HOT))


def _names_width(view: View) -> float:
    longest = max(len(words_of(lane)) for lane in view.lanes)
    return (longest * LETTER + 12.0) * view.scale


def _names(made: Shapes, view: View) -> None:
    """The lanes' names at the left; none where lanes are too thin to write on."""
    if view.lane < 9.0 * view.scale:
        return
    made.boxes.append((0.0, view.bottom, _names_width(view), view.top - view.bottom, GROUND))
    for lane in view.lanes:
        colour = LEFT if lane.startswith("left") else RIGHT if lane.startswith("right") else WORDS
        made.words.append((6.0 * view.scale, view.y(lane) + 0.28 * view.lane, words_of(lane), colour))
