"""What a model of two legs can do besides going on level ground, as its training motion shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .errors import PackError


@dataclass(frozen=True)
class Crouch:
    """Going low.

    Attributes:
        usual: how deep, 0 to 1 (`gait_labels.crouch_depth`), where nothing says how deep.
        deepest: how deep at most.
        fastest: m/s; faster is not learned.
    """

    usual: float
    deepest: float
    fastest: float


@dataclass(frozen=True)
class Leap:
    """A leap from one foot onto the other, out of a walk.

    Attributes:
        speed: of the walk before and after, m/s.
        flight: seconds in the air. flight_speed: of the root meanwhile, m/s.
        behind: how far behind the root the foot is that takes off, metres.
        ahead: how far before the root the foot is that lands, metres.
        phase: of the stride at take-off, radians in 0 to pi; half a stride on, the other foot takes off.
    """

    speed: float
    flight: float
    flight_speed: float
    behind: float
    ahead: float
    phase: float

    @property
    def reach(self) -> float:
        """From the foot that takes off to the one that lands, metres."""
        return self.behind + self.flight * self.flight_speed + self.ahead


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
            return cls(
                Crouch(**{key: float(value) for key, value in crouch.items()}) if crouch else None,
                Leap(**{key: float(value) for key, value in leap.items()}) if leap else None,
                None if steepest is None else float(steepest),
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise PackError(f"What the pack says of its abilities is malformed ({error})", "Train it again") from error
