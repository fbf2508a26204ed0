"""Colours of gaits and actions, the same wherever one is drawn; always beside its name."""

from __future__ import annotations

import colorsys
import zlib

Colour = tuple[float, float, float, float]

_GAITS: dict[str, tuple[float, float, float]] = {
    "stand": (0.55, 0.57, 0.60), "idle": (0.55, 0.57, 0.60), "walk": (0.30, 0.68, 0.40), "run": (0.93, 0.55, 0.18),
    "jog": (0.85, 0.68, 0.25), "crouch": (0.58, 0.42, 0.82), "jump": (0.20, 0.68, 0.85), "pace": (0.25, 0.50, 0.90),
    "trot": (0.16, 0.66, 0.60), "canter": (0.88, 0.78, 0.22), "gallop": (0.90, 0.32, 0.28), "bound": (0.90, 0.45, 0.70),
    "sit": (0.62, 0.48, 0.36), "lie": (0.48, 0.38, 0.32), "auto": (0.80, 0.85, 0.80),
}  # fmt: skip


def gait_colour(name: str, alpha: float = 1.0) -> Colour:
    """The colour of a gait or action; names of one's own get one from their letters."""
    known = _GAITS.get(name)
    if known is None:
        known = colorsys.hsv_to_rgb(zlib.crc32(name.encode()) % 360 / 360.0, 0.5, 0.85)
    return (*known, alpha)
