"""What a model of two legs can do besides going on level ground, as its training motion shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from .errors import PackError


@dataclass(frozen=True)
class Crouch:
    """Going low.

    Attributes:
        usual: how deep, 0 to 1 (`gait_labels.crouch_depth`), where nothing says how deep.
        deepest: how deep at most.
        fastest: m/s; faster is not learned.
        slow: m/s; faster is not learned at the deepest; None: as ``fastest``.
    """

    usual: float
    deepest: float
    fastest: float
    slow: float | None = None

    def fastest_at(self, depth: float) -> float:
        """The fastest, m/s, of a crouch so deep."""
        if self.slow is None:
            return self.fastest
        share = (depth - self.usual) / max(self.deepest - self.usual, 1e-9)
        return self.fastest + min(max(share, 0.0), 1.0) * (self.slow - self.fastest)

    def sized(self, factor: float) -> Crouch:
        """The crouch of a body ``factor`` times as long."""
        slow = None if self.slow is None else self.slow * factor
        return replace(self, fastest=self.fastest * factor, slow=slow)


@dataclass(frozen=True)
class Leap:
    """A leap from one foot onto the other, out of a walk.

    Attributes:
        speed: of the walk before and after, m/s.
        flight: seconds in the air. flight_speed: of the root meanwhile, m/s.
        behind: how far behind the root the foot is that takes off, metres.
        ahead: how far before the root the foot is that lands, metres.
        phase: of the stride at take-off, radians in 0 to pi; half a stride on, the other foot takes off.
        nearest, furthest: the shortest and the longest leap that it has learned, from foot to foot, metres.
        slow, fast: of the root in the air in these, m/s.
    """

    speed: float
    flight: float
    flight_speed: float
    behind: float
    ahead: float
    phase: float
    nearest: float
    furthest: float
    slow: float
    fast: float

    def speed_for(self, reach: float) -> float:
        """The root's speed in the air, m/s, that carries it so far from foot to foot, metres, if it can."""
        span = max(self.furthest - self.nearest, 1e-9)
        share = min(max((reach - self.nearest) / span, 0.0), 1.0)
        return self.slow + share * (self.fast - self.slow)

    def sized(self, factor: float) -> Leap:
        """The leap of a body ``factor`` times as long, in the same time."""
        return replace(
            self, speed=self.speed * factor, flight_speed=self.flight_speed * factor, behind=self.behind * factor,
            ahead=self.ahead * factor, nearest=self.nearest * factor, furthest=self.furthest * factor,
            slow=self.slow * factor, fast=self.fast * factor,
        )  # fmt: skip


@dataclass(frozen=True)
class Abilities:
    """What a model can do; lengths and speeds are those of its own skeleton.

    Attributes:
        crouch, leap: None where it cannot.
        steepest: the steepest way up or down that it has learned, metres a metre; None: it feels no ground.
    """

    crouch: Crouch | None = None
    leap: Leap | None = None
    steepest: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, without what it cannot do."""
        found = {name: asdict(part) for name, part in (("crouch", self.crouch), ("leap", self.leap)) if part}
        return found | ({} if self.steepest is None else {"steepest": self.steepest})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Abilities:
        """The inverse of `to_json`; raises `PackError` for what makes no sense."""
        try:
            crouch, leap, steepest = (data.get(name) for name in ("crouch", "leap", "steepest"))
            found = cls(
                Crouch(**_numbers(crouch)) if crouch else None,
                Leap(**_numbers(leap)) if leap else None,
                None if steepest is None else float(steepest),
            )
            found._check()
            return found
        except (TypeError, ValueError, AttributeError) as error:
            raise PackError(f"What the pack says of its abilities is malformed ({error})", "Train it again") from error

    def _check(self) -> None:
        """Raise `ValueError` for what nobody can do."""
        crouch, leap = self.crouch, self.leap
        if not 0.0 <= (self.steepest or 0.0) < math.inf or (leap is not None and leap.flight <= 0.0):
            raise ValueError("a slope or a flight that is none")
        if leap is not None and leap.furthest < leap.nearest:
            raise ValueError("the shortest leap is longer than the longest")
        if crouch is not None and crouch.deepest < crouch.usual:
            raise ValueError("the usual crouch is deeper than the deepest")


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """Those of plain data; raises `ValueError` for what is no number."""
    found = {key: float(value) for key, value in data.items() if value is not None}
    if not all(map(math.isfinite, found.values())):
        raise ValueError("values that are no numbers")
    below = [key for key, value in found.items() if value < 0.0 and key not in ("behind", "ahead")]
    if below:
        raise ValueError(f"{below[0]} is below 0")
    return found
