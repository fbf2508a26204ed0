"""Key poses of rests: sitting straight, on one hip, looking aside; lying upright, with the chin down, on one hip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...rotations import Array

_DEGREE = float(np.pi / 180.0)


@dataclass(frozen=True)
class Posture:
    """A pose at rest; angles in radians, lengths in shoulder heights.

    Attributes:
        flex: rounding of the back, pelvis against chest.
        back: how far the shoulders go back from where they are in standing.
        rise: of the shoulders while the fore legs stand; not used when the elbows are down.
        elbows: the elbows are on the ground.
        humerus: slope of the upper arms then.
        fold: angle within the folded stifles.
        lean: slope of the line from hock to hip.
        thighs: yaw of the left and right thigh, and of the feet with them, to the left positive.
        arms: the same of the forearms.
        roll: of pelvis and chest, left side up.
        neck, head: pitch against that in standing, nose up.
        chin: the head is let down to the ground.
        look: yaw of the head, to the left positive.
        curl: yaw of the tail's tip, to the left positive.
        blade: share of the chest's pitch that the shoulder blades take back.
    """

    flex: float
    back: float
    rise: float
    elbows: bool
    humerus: float
    fold: float
    lean: float
    thighs: tuple[float, float]
    arms: tuple[float, float]
    roll: tuple[float, float]
    neck: float
    head: float
    chin: bool
    look: float
    curl: float
    blade: float


def drawn(name: str, rng: np.random.Generator) -> Posture:
    """One of the poses of ``sit`` or ``lie``, a little different each time, to the left or to the right."""
    variants = _VARIANTS[name]
    posture = variants[int(rng.integers(len(variants)))]
    vary = rng.uniform(-1.0, 1.0, 6)
    posture = replace(
        posture, flex=posture.flex * (1.0 + 0.12 * float(vary[0])), fold=posture.fold * (1.0 + 0.06 * float(vary[1])),
        neck=posture.neck + 4.0 * _DEGREE * float(vary[2]), head=posture.head + 3.0 * _DEGREE * float(vary[3]),
        look=posture.look + 6.0 * _DEGREE * float(vary[4]), curl=posture.curl * (1.0 + 0.3 * float(vary[5])),
    )  # fmt: skip
    return mirrored(posture) if rng.uniform() < 0.5 else posture


def mirrored(posture: Posture) -> Posture:
    """Left and right changed about."""
    return replace(
        posture, thighs=(-posture.thighs[1], -posture.thighs[0]), arms=(-posture.arms[1], -posture.arms[0]),
        roll=(-posture.roll[0], -posture.roll[1]), look=-posture.look, curl=-posture.curl,
    )  # fmt: skip


def _angles(**degrees: float | tuple[float, float]) -> dict[str, Any]:
    """Angles in degrees as fields in radians."""
    return {
        name: tuple(np.radians(value).tolist()) if isinstance(value, tuple) else float(np.radians(value))
        for name, value in degrees.items()
    }


_SIT = Posture(
    back=0.06, rise=0.08, elbows=False, chin=False, blade=0.5,
    **_angles(flex=34.0, humerus=0.0, fold=42.0, lean=82.0, thighs=(20.0, -20.0), arms=(0.0, 0.0), roll=(0.0, 0.0),
              neck=24.0, head=3.0, look=0.0, curl=35.0),
)  # fmt: skip
_LIE = Posture(
    back=0.13, rise=0.0, elbows=True, chin=False, blade=0.2,
    **_angles(flex=8.0, humerus=52.0, fold=40.0, lean=66.0, thighs=(16.0, -16.0), arms=(3.0, -3.0), roll=(0.0, 0.0),
              neck=6.0, head=0.0, look=0.0, curl=40.0),
)  # fmt: skip
_VARIANTS: dict[str, tuple[Posture, ...]] = {
    "sit": (
        _SIT,
        replace(_SIT, **_angles(thighs=(52.0, 2.0), roll=(12.0, 4.0), look=-10.0, curl=-60.0)),
        replace(_SIT, **_angles(look=42.0, neck=28.0, head=4.0, flex=28.0)),
    ),
    "lie": (
        _LIE,
        replace(_LIE, chin=True, **_angles(humerus=38.0, neck=-20.0, head=-8.0, curl=70.0)),
        replace(_LIE, **_angles(thighs=(58.0, 22.0), roll=(11.0, 4.0), look=-18.0, curl=80.0)),
    ),
}


def variants(name: str) -> int:
    """How many poses there are of ``sit`` or ``lie``."""
    return len(_VARIANTS[name])


def blend(a: Array, b: Array | float, share: Array) -> Array:
    """``a`` (f, ...) on its way to ``b`` by shares (f,)."""
    return np.asarray(a + share.reshape(-1, *[1] * (np.ndim(a) - 1)) * (b - a))
