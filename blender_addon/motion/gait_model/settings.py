"""What can be set of the gait model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ClipError

if TYPE_CHECKING:
    from .shape import PoseShape

BUILDS: tuple[str, ...] = ("auto", "carnivore", "ungulate")


@dataclass(frozen=True)
class GaitSettings:
    """How an animal moves beyond what its plan says.

    Attributes:
        seed: of all that varies; the same seed gives the same motion.
        variation: how much strides differ from each other, as a standard deviation (real dogs: 0.03 to 0.05).
        gait: a gait for all frames that ask for none by name; None takes the one that fits the speed.
        build: whose gallop: "carnivore" (rotary, supple back), "ungulate" (transverse) or "auto", by the size.
        lead: which fore foot lands last in canter and gallop: "left", "right", or "auto", the inner one in bends.
        start_phase: where in the stride a motion that begins on the move begins, 0..1; None draws it by the seed.
        shape: poses of an animator's own cycle to move by; None takes the table's.
        liveliness: factor on what the trunk does beyond what the legs need.
        fidget: factor on what has no period: breathing, glances, shifts of weight.
    """

    seed: int = 0
    variation: float = 0.04
    gait: str | None = None
    build: str = "auto"
    lead: str = "auto"
    start_phase: float | None = None
    shape: PoseShape | None = None
    liveliness: float = 1.0
    fidget: float = 1.0

    def __post_init__(self) -> None:
        if self.build not in BUILDS:
            raise ClipError(f"There is no build {self.build!r}", f"Choose one of: {', '.join(BUILDS)}")
        if self.lead not in ("auto", "left", "right"):
            raise ClipError(f"There is no lead {self.lead!r}", "Choose auto, left or right")
        if not 0.0 <= self.variation <= 0.2:
            raise ClipError(f"Strides cannot vary by {self.variation:g}", "Choose a variation of 0 to 0.2")
