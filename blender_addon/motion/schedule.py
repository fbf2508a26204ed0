"""What the character shall do along its path: speeds, actions and pauses at distances; it knows nothing of geometry."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .errors import PathError

Array = npt.NDArray[np.float64]

STAND = "stand"
#: What is done in one place, with the seconds it takes to get down to it and up again.
RESTS: dict[str, tuple[float, float]] = {STAND: (0.0, 0.0), "sit": (1.4, 1.2), "lie": (2.2, 2.0)}
JUMP = "jump"
#: The gait that fits the speed.
AUTO = "auto"
#: Speeds (m/s) of marks that name an action but no speed.
DEFAULT_SPEEDS = {"walk": 1.2, "run": 2.8, "pace": 1.8, "trot": 2.0, "canter": 3.5, "gallop": 5.0}
FALLBACK_SPEED = 1.2
#: Nothing on legs runs faster (m/s): a cheetah in a hurry. What a character cannot do is clamped by the plan.
ABSURD_SPEED = 30.0
LONGEST_PAUSE = 3600.0
#: Speeds this little (m/s) beyond a pack's are not spoken of: they read the same.
_NOTED = 0.005
#: How long (s) a stand mark without a pause of its own stands.
SHORT_STAND = 1.0
#: And how long (s) one sits or lies, once down.
SHORT_REST = 3.0


@dataclass(frozen=True)
class Mark:
    """From ``at`` metres along the path on, this speed and action hold, until the next mark.

    Attributes:
        at: distance along the curve, metres.
        speed: m/s; None takes the action's usual speed, or keeps the speed where the action goes on.
        action: what to do; "stand", "sit" and "lie" stop at the mark for ``pause`` seconds and go on as before;
            "jump" leaps at the mark and goes on as before.
        pause: seconds to stand at the mark before going on; 0 passes through. Getting down and up is within it.
        ease: over how much the speed changes, beginning at the mark (never quicker than the limits allow).
        ease_in_seconds: ``ease`` is seconds instead of metres.
        reach: how far to leap at a "jump", from foot to foot, metres; None is as far as is usual. For two legs.
        set_at: where the animator set a "jump" that was moved to clear a gap, metres; None: at ``at``.
    """

    at: float
    speed: float | None = None
    action: str = "walk"
    pause: float = 0.0
    ease: float = 0.5
    ease_in_seconds: bool = False
    reach: float | None = None
    set_at: float | None = None


@dataclass(frozen=True)
class Schedule:
    """Marks in order of distance; before the first one the character walks at 1.2 m/s.

    Raises:
        PathError: a number that is not one, a negative distance, pause or ease, a speed or a leap of 0, a speed beyond
            `ABSURD_SPEED`.
    """

    marks: tuple[Mark, ...] = ()

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        checked = sorted((_checked(number, mark) for number, mark in enumerate(marks, 1)), key=lambda mark: mark.at)
        object.__setattr__(self, "marks", tuple(checked))

    @classmethod
    def constant(cls, speed: float, action: str = "walk") -> Schedule:
        """One speed (m/s) and action all along."""
        return cls([Mark(0.0, speed, action)])

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions asked for, each once, in the order of the path."""
        return tuple(dict.fromkeys(stretch.action for stretch in self.stretches()))

    def check_actions(self, vocabulary: Iterable[str], others: Iterable[str] = ()) -> None:
        """Refuse actions that nobody knows.

        Args:
            vocabulary: what a pack offers. others: words that something stands in for (`gait_names.STAND_INS`).

        Raises:
            PathError: naming the mark and the actions that the pack offers.
        """
        known = tuple(vocabulary)
        for mark in self.marks:
            if mark.action not in {STAND, AUTO, *known, *others}:
                raise PathError(
                    f'The mark at {mark.at:.2f} m asks for "{mark.action}", which this pack does not know',
                    f"Choose one of: {', '.join(known)}",
                )

    def stretches(self) -> tuple[Stretch, ...]:
        """The marks with every speed filled in and stand marks turned into pauses of the stretch they interrupt."""
        out: list[Stretch] = []
        if not self.marks or self.marks[0].at > 0.0:
            out.append(Stretch(0.0, FALLBACK_SPEED, "walk"))
        for mark in self.marks:
            before = out[-1] if out else Stretch(0.0, FALLBACK_SPEED, "walk")
            if mark.action in RESTS:
                down_up = sum(RESTS[mark.action])
                usual = SHORT_STAND if mark.action == STAND else down_up + SHORT_REST
                pause = max(mark.pause or usual, down_up)
                out.append(replace(before, at=mark.at, pause=pause, ease=0.0, rest=mark.action, jump=False))
                continue
            if mark.action == JUMP:
                set_at = mark.at if mark.set_at is None else mark.set_at
                out.append(replace(before, at=mark.at, pause=0.0, ease=0.0, rest=STAND, jump=True, reach=mark.reach,
                                   set_at=set_at))  # fmt: skip
                continue
            speed = mark.speed
            if speed is None:
                same = mark.action == before.action and out
                speed = before.speed if same else DEFAULT_SPEEDS.get(mark.action, before.speed)
            ease = mark.ease * 0.5 * (speed + before.speed) if mark.ease_in_seconds else mark.ease
            out.append(Stretch(mark.at, speed, mark.action, mark.pause, ease if out else 0.0))
        return tuple(out)


@dataclass(frozen=True)
class Stretch:
    """A mark with nothing left open: speed in m/s, pause in seconds, ease and a leap's reach in metres.

    ``rest`` is what to do in the pause; ``reach`` stays open where a leap shall be as wide as is usual; ``set_at`` is
    where on the curve the animator set a jump, metres, wherever it begins.
    """

    at: float
    speed: float
    action: str
    pause: float = 0.0
    ease: float = 0.0
    rest: str = STAND
    jump: bool = False
    reach: float | None = None
    set_at: float = 0.0


def speed_along(stretches: Iterable[Stretch], s: Array) -> Array:
    """The asked speed (n,), m/s, at arc lengths ``s`` (n,), eased from one stretch to the next by a smooth step."""
    speed = np.full(len(s), FALLBACK_SPEED)
    for stretch in stretches:
        part = (s >= stretch.at) * 1.0 if stretch.ease <= 0.0 else np.clip((s - stretch.at) / stretch.ease, 0.0, 1.0)
        speed = speed + (stretch.speed - speed) * part * part * (3.0 - 2.0 * part)
    return speed


def fitted(
    stretches: Iterable[Stretch], length: float, speeds: tuple[float, float]
) -> tuple[tuple[Stretch, ...], tuple[str, ...]]:
    """Bring stretches into a path's length (metres) and the speeds (lowest, highest, m/s) that a pack covers.

    Returns:
        the stretches that remain, and what was changed, in words.
    """
    kept: list[Stretch] = []
    notes: list[str] = []
    for stretch in stretches:
        if stretch.at > length + 1e-3:
            notes.append(f"The mark at {stretch.at:.2f} m lies beyond the curve's end ({length:.2f} m) and is left out")
            continue
        speed = min(max(stretch.speed, speeds[0]), speeds[1])
        if abs(speed - stretch.speed) > _NOTED and not stretch.jump:
            notes.append(
                f"{stretch.speed:.2f} m/s at {stretch.at:.2f} m is beyond the pack's speeds "
                f"({speeds[0]:.2f} to {speeds[1]:.2f} m/s): {speed:.2f} m/s is used"
            )
        kept.append(replace(stretch, speed=speed, at=min(stretch.at, length)))
    return tuple(kept), tuple(dict.fromkeys(notes))


def _checked(number: int, mark: Mark) -> Mark:
    where = f"Mark {number} of the schedule"
    for name, value in (("distance", mark.at), ("pause", mark.pause), ("ease", mark.ease)):
        if not math.isfinite(value) or value < 0.0:
            raise PathError(f"{where} has the {name} {value}", "Give a number that is 0 or more")
    if mark.pause > LONGEST_PAUSE:
        raise PathError(f"{where} pauses for {mark.pause:.0f} s", "Pause for an hour at most")
    if mark.reach is not None and not 0.0 < mark.reach < math.inf:
        raise PathError(f"{where} jumps {mark.reach} m", "Give a length above 0, or none for a jump as is usual")
    if not mark.action:
        raise PathError(f"{where} names no action", "Choose walk, run or stand")
    if mark.speed is not None and mark.action not in RESTS:
        if not math.isfinite(mark.speed) or mark.speed <= 0.0:
            raise PathError(f"{where} has the speed {mark.speed} m/s", 'Give a speed above 0; to stop, use "stand"')
        if mark.speed > ABSURD_SPEED:
            raise PathError(f"{where} has the speed {mark.speed:g} m/s", f"Nothing runs above {ABSURD_SPEED:g} m/s")
    return mark
