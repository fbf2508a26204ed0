"""Footfalls with known answers for tests: contacts and sliding feet of any gait."""

from __future__ import annotations

import numpy as np

from blender_addon.motion.gait_analysis.body_feet import BodyFeet, feet_under

#: Phase lags (mid-stance, against the left hind) and duty factors of gaits as books give them.
BOOK: dict[str, tuple[tuple[float, float, float, float], float]] = {
    "lateral walk": ((0.0, 0.5, 0.22, 0.72), 0.65),
    "diagonal walk": ((0.0, 0.5, 0.7, 0.2), 0.62),
    "pace": ((0.0, 0.5, 0.02, 0.52), 0.42),
    "trot": ((0.0, 0.5, 0.51, 0.01), 0.42),
    "canter": ((0.0, 0.3, 0.3, 0.58), 0.35),
    "transverse gallop": ((0.0, 0.15, 0.42, 0.58), 0.25),
    "rotary gallop": ((0.0, 0.12, 0.6, 0.47), 0.2),
    "half bound": ((0.0, 0.01, 0.38, 0.54), 0.25),
    "bound": ((0.0, 0.0, 0.5, 0.49), 0.25),
    "pronk": ((0.0, 0.01, 0.0, 0.01), 0.3),
}


def mirrored_lags(lags: np.ndarray) -> np.ndarray:
    """Lags of the same gait with left and right swapped."""
    swapped = np.asarray(lags)[[1, 0, 3, 2]]
    return (swapped - swapped[0]) % 1.0


def contacts_of(phase: np.ndarray, lags: np.ndarray, duty: np.ndarray) -> np.ndarray:
    """Contacts (f, 4) at stride phases (f,), 0 at the left hind's mid-stance."""
    away = (phase[:, None] - np.asarray(lags) + 0.5) % 1.0 - 0.5
    return np.abs(away) < 0.5 * np.asarray(duty)


def sliding_feet(
    phase: np.ndarray, lags: np.ndarray, duty: np.ndarray, length: float, lift: float = 0.1, leg: float = 0.5
) -> BodyFeet:
    """Feet that go back under the body at constant speed in stance, as on a treadmill, and up and ahead in swing.

    Args:
        phase: stride phase (f,).
        lags, duty: of the legs (4,).
        length: stride length, metres.
        lift: of the feet in swing, metres.
        leg: length of the legs, metres.
    """
    duty = np.asarray(duty, dtype=float)
    away = (phase[:, None] - np.asarray(lags) + 0.5) % 1.0 - 0.5
    stance = np.abs(away) <= 0.5 * duty
    swing = ((away - 0.5 * duty) % 1.0) / (1.0 - duty)
    reach = 0.5 * length * duty
    ahead = np.where(stance, -length * away, reach * -np.cos(np.pi * swing))
    height = np.where(stance, 0.0, lift * np.sin(np.pi * swing) ** 2)
    feet = np.stack([np.broadcast_to([0.1, -0.1, 0.1, -0.1], ahead.shape), -ahead, height], axis=-1)
    return feet_under(feet, np.zeros((len(phase), 3)), leg)
