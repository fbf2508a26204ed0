"""Legs whose joints are put where a pose wants them: two bones that reach between two joints, and turns that fit."""

from __future__ import annotations

import numpy as np

from ... import rotations as rot
from ...rotations import Array

#: From this share of their length together on two bones give way, never straighter than the second.
_GIVES, _STRAIGHT = 0.985, 0.9995
#: Angles between two bones: at the first they begin to give way to being folded, at the second they are folded.
GIVES_FOLDED, _FOLDED = np.radians(36.0), np.radians(24.0)



def unit(v: Array) -> Array:
    """Vectors (..., 3) of length 1."""
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def folded(lengths: tuple[float, float], angle: float) -> float:
    """How far the ends of two bones are apart with an angle (radians) between them."""
    a, b = lengths
    return float(np.sqrt(a * a + b * b - 2.0 * a * b * np.cos(angle)))


def between_two(
    top: Array, end: Array, lengths: tuple[float, float], normal: Array, own: Array | None = None
) -> tuple[Array, Array]:
    """The middle joint (f, 3) of two bones, and their end (f, 3), which gives way where it is out of reach.

    Args:
        top, end: (f, 3), metres.
        lengths: of the upper and the lower bone.
        normal: (f, 3): the middle lies to the side of ``normal`` x (end - top).
        own: distance (f,) from top to end to which they are stretched anyway, which is in reach.
    """
    line = end - top
    wished = np.linalg.norm(line, axis=-1)
    a, b = lengths
    most = _STRAIGHT * (a + b)
    begin = np.full(len(line), _GIVES * (a + b))
    begin = begin if own is None else np.minimum(np.maximum(begin, own), most - 1e-5)
    room = most - begin
    beyond = np.maximum(wished - begin, 0.0)
    far = np.where(beyond > 0.0, begin - room * np.expm1(-beyond / room), wished)
    near, least = folded(lengths, GIVES_FOLDED), folded(lengths, _FOLDED)
    inside = np.maximum(near - far, 0.0)
    distance = np.where(inside > 0.0, near + (near - least) * np.expm1(-inside / (near - least)), far)
    along = line / np.maximum(wished, 1e-12)[:, None]
    share = (a * a + distance**2 - b * b) / (2.0 * distance)
    height = np.sqrt(np.maximum(a * a - share**2, 0.0))
    side = unit(np.cross(normal, along))
    return top + share[:, None] * along + height[:, None] * side, top + distance[:, None] * along


def turned(before: Array, direction: Array, normal: Array, new_direction: Array, new_normal: Array) -> Array:
    """World turns (f, 4) of bones so that direction and normal (f, 3) become new ones, the rest of the turn kept."""
    return rot.mul(rot.mul(_frame(new_direction, new_normal), rot.inv(_frame(direction, normal))), before)


def swung(a: Array, b: Array, share: Array) -> Array:
    """Unit directions (f, 3) on the way from ``a`` to ``b`` (f, 3), by shares (f,)."""
    turn = rot.log(rot.between(unit(a), unit(b)))
    return rot.rotate(rot.exp(share[:, None] * turn), unit(a))


def _frame(direction: Array, normal: Array) -> Array:
    first = unit(direction)
    second = unit(normal - np.sum(normal * first, axis=-1, keepdims=True) * first)
    return rot.from_matrix(np.stack([first, second, np.cross(first, second)], axis=-1))
