"""Ceilings over a path: where they are too low to walk upright, how low they want a body, and what cannot be done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .abilities import Crouch
from .clip import Clip
from .crouching import Crouching, sampled
from .crown import Crown
from .figures import Figure
from .gait_labels import LEAST_DEPTH, crouch_depth, top_of_depth
from .path import RootPath
from .plan import Plan
from .rotations import Array
from .runs import runs
from .terrain import Terrain

#: Room that is left between head and ceiling, metres.
MARGIN = 0.04
#: Hips go down by so much of the body's height besides (`ducking`), before head or back would go through.
LOWERED = 0.06
#: One is down so far before the ceiling begins (the head is ahead of the hips), and stays down so far behind its end.
BEFORE, BEHIND = 0.5, 0.2
#: Nobody gets up between ceilings nearer to each other than this, metres.
NEAR = 1.0


@dataclass(frozen=True, eq=False)
class Ceiling:
    """The underside of what is over a path.

    Attributes:
        arc: places along the path (n,), metres, evenly spaced, from its beginning to its end.
        height: lowest underside over the body there (n,), metres in the world; inf where it is open.
        cyclic: the path's end is its beginning.
    """

    arc: Array
    height: Array
    cyclic: bool = False

    @property
    def open(self) -> bool:
        """Whether there is nothing over the whole path."""
        return not bool(np.any(np.isfinite(self.height)))

    def over(self, distance: Array) -> Array:
        """The underside's height (m,) at distances along the path (m,), metres, lap after lap."""
        return np.asarray(sampled(self.arc, self.height, distance, self.cyclic).min(axis=0))


@dataclass(frozen=True)
class LowSpan:
    """A part of the path under a ceiling too low to walk upright.

    Attributes:
        first, last: of the part, metres along the path; ``last`` is beyond the path's length where it goes on behind
            the beginning of a closed one.
        room: least height of the ceiling over the ground in it, metres.
    """

    first: float
    last: float
    room: float


@dataclass(frozen=True, eq=False)
class Overhead:
    """A body and the ceiling over its path.

    Attributes:
        path: the way. ceiling: over it. crown: the body's top. four_legged: animals do not crouch.
    """

    path: RootPath
    ceiling: Ceiling
    crown: Crown
    four_legged: bool = False

    def room(self, clip: Clip, plan: Plan) -> Array:
        """The room over each frame's body (f,), metres; negative where it goes through, inf under the open sky.

        Args:
            clip: the body's motion. plan: its plan, from the same moment on.
        """
        tops = self.crown.tops(clip)
        rows = np.rint(np.arange(len(clip)) / clip.fps * plan.fps).astype(np.int64)
        rows = np.minimum(rows, len(plan.distance) - 1)
        distance = plan.distance[rows]
        away = tops[..., :2] - plan.positions[rows, None]
        ahead = np.sum(away * self.path.tangent(distance)[:, None], axis=-1)
        over = np.stack([self.ceiling.over(column) for column in (distance[:, None] + ahead).T], axis=-1)
        return np.asarray((over - tops[..., 2]).min(axis=1))

    def figures(self, clip: Clip, plan: Plan) -> list[Figure]:
        """The least `room` in cm; nothing under no ceiling."""
        room = 100.0 * self.room(clip, plan)
        if not np.any(np.isfinite(room)):
            return []
        worst = int(np.argmin(room))
        name = "Room between body and ceiling, least"
        return [Figure.of("headroom", name, float(room[worst]), "cm", low=0.0, frame=worst)]


def low_spans(ceiling: Ceiling, floor: Array, standing: float) -> tuple[LowSpan, ...]:
    """Where the ceiling is too low for a body.

    Args:
        ceiling: over the path.
        floor: height of the ground at the ceiling's places (n,), metres.
        standing: the body's height, metres.
    """
    room = ceiling.height - floor
    low = room < standing + MARGIN
    count, length = len(room), float(ceiling.arc[-1])
    step = length / (count - 1)
    if not ceiling.cyclic or low.all():
        return tuple(
            LowSpan(a * step, (b - 1) * step, float(room[a:b].min())) for a, b in _joined(runs(low), step)
        )
    # Twice round, beginning where one can stand: every part is whole once.
    start = int(np.argmin(low[:-1]))
    turned = np.roll(room[:-1], -start)
    return tuple(
        LowSpan((a + start) % (count - 1) * step, ((a + start) % (count - 1) + b - 1 - a) * step,
                float(turned[a:b].min()))
        for a, b in _joined(runs(turned < standing + MARGIN), step)
    )  # fmt: skip


def _joined(spans: list[tuple[int, int]], step: float) -> list[tuple[int, int]]:
    """Half-open ranges of places, those so near to each other that nobody gets up between them made one."""
    found: list[tuple[int, int]] = []
    for first, last in spans:
        if found and (first - found[-1][1] + 1) * step < BEFORE + BEHIND + NEAR:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def depth_for(room: Array, crown: Crown) -> Array:
    """How deep (n,), 0 to 1, a body must crouch under ceilings so far over the ground (n,), metres; 0 where it stands.

    Crouching lowers the joints and leaves the head as it is. What is asked of somebody who cannot get as low is 1.
    """
    head = crown.standing - crown.joint_height
    asked = np.maximum(crouch_depth((room - MARGIN - head) / crown.joint_height), LEAST_DEPTH)
    return np.where(room < crown.standing + MARGIN, asked, 0.0)


def lowest_room(crouch: Crouch, crown: Crown) -> float:
    """The lowest ceiling (metres over the ground) under which a body can go that crouches so deep."""
    reach = float(top_of_depth(np.array(crouch.deepest)))
    return crown.standing - crown.joint_height + reach * crown.joint_height


def crouching_along(
    overhead: Overhead | None, ground: Terrain, crouch: Crouch | None, start: float = 0.0
) -> tuple[Crouching, tuple[str, ...]]:
    """How a body crouches along a path, and what there is to say of it.

    Args:
        overhead: the ceiling over it; None under the open sky.
        ground: under the path.
        crouch: how the model crouches, its speed in the body's metres; None if it cannot.
        start: where on the path the walk begins, metres.
    """
    able = Crouching(crouch)
    if overhead is None:
        return able, ()
    ceiling, crown = overhead.ceiling, overhead.crown
    floor = np.asarray(ground.height(overhead.path.position(ceiling.arc)))
    spans = low_spans(ceiling, floor, crown.standing)
    spans = tuple(span for span in spans if ceiling.cyclic or span.last > start)
    if not spans:
        return able, ()
    if crouch is None or overhead.four_legged:
        return able, tuple(_too_tall(spans, overhead))
    depth = np.minimum(_around(ceiling, depth_for(ceiling.height - floor, crown)), crouch.deepest)
    found = replace(able, arc=ceiling.arc, depth=depth, cyclic=ceiling.cyclic)
    return found, tuple(_told(spans, lowest_room(crouch, crown) - LOWERED * crown.standing, overhead.path.length))


def _around(ceiling: Ceiling, depth: Array) -> Array:
    """Depths (n,) that begin before a ceiling and end behind it, and go on between ceilings near to each other."""
    step = float(ceiling.arc[-1]) / (len(depth) - 1)
    before, behind, near = (round(metres / step) for metres in (BEFORE, BEHIND, NEAR))
    count = len(depth) - 1
    if ceiling.cyclic:
        depth = np.concatenate([depth[:-1], depth[:-1], depth])
    padded = np.pad(depth, (behind, before))
    wide = np.lib.stride_tricks.sliding_window_view(padded, before + behind + 1).max(axis=-1)
    for first, last in runs(wide <= 0.0):
        if first > 0 and last < len(wide) and last - first < near:
            wide[first:last] = min(wide[first - 1], wide[last])
    return np.asarray(wide[count : 2 * count + 1] if ceiling.cyclic else wide)


def _told(spans: tuple[LowSpan, ...], lowest: float, length: float) -> Iterator[str]:
    for span in spans:
        if span.room >= lowest:
            yield f"Crouches {_where(span, length)}, where the ceiling is {span.room:.2f} m high"
        else:
            yield (
                f"The ceiling {_where(span, length)} is {span.room:.2f} m high, and this character cannot crouch lower "
                f"than {lowest:.2f} m: it crouches as low as it can, and may go through it"
            )


def _too_tall(spans: tuple[LowSpan, ...], overhead: Overhead) -> Iterator[str]:
    who = "animals do not crouch" if overhead.four_legged else "this pack does not crouch"
    for span in spans:
        yield (
            f"The ceiling {_where(span, overhead.path.length)} is {span.room:.2f} m high, the character "
            f"{overhead.crown.standing:.2f} m, and {who}: its head goes through"
        )


def _where(span: LowSpan, length: float) -> str:
    if span.last <= length + 1e-6:
        return f"from {span.first:.2f} to {span.last:.2f} m"
    return f"from {span.first:.2f} m over the curve's beginning to {span.last - length:.2f} m"
