"""Which of the schedule's marks lies under the mouse, and which action comes next; plain numbers, no Blender."""

from __future__ import annotations

from collections.abc import Sequence

#: A mark is grasped from this far of its knob, its label or its pole, pixels at scale 1.
REACH = 12.0

Point = tuple[float, float]


def mark_under(poles: Sequence[tuple[Point, Point] | None], mouse: Point, reach: float = REACH) -> int | None:
    """The mark whose knob or pole is nearest to the mouse; None if none is in reach.

    Args:
        poles: for each mark foot and head of its pole on the screen, pixels; None where it is not seen.
        mouse: where the mouse is.
        reach: how far it may be off. Knobs are preferred: marks may stand close together.
    """
    best: tuple[float, int] | None = None
    for index, pole in enumerate(poles):
        if pole is None:
            continue
        foot, head = pole
        away = min(distance(mouse, head, head), 0.5 * reach + distance(mouse, foot, head))
        if away <= reach and (best is None or away < best[0]):
            best = (away, index)
    return best[1] if best is not None else None


def distance(point: Point, start: Point, end: Point) -> float:
    """From a point to the line between two others, pixels."""
    along = (end[0] - start[0], end[1] - start[1])
    square = along[0] ** 2 + along[1] ** 2
    share = 0.0
    if square > 0.0:
        share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / square
        share = min(max(share, 0.0), 1.0)
    off = (point[0] - start[0] - share * along[0], point[1] - start[1] - share * along[1])
    return float((off[0] ** 2 + off[1] ** 2) ** 0.5)


def next_action(names: Sequence[str], now: str, step: int) -> str:
    """The action ``step`` places on in a menu, round and round; its first one when ``now`` is not in it."""
    if not names:
        return now
    return names[(names.index(now) + step) % len(names)] if now in names else names[0]
