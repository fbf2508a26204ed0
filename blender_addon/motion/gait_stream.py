"""An animal that goes on while speed and gait are changed: motion performed piece by piece, joined without a jump.

The gait model performs whole plans. A stream asks it for a piece of a few seconds at a time: a little of what is past,
so that feet that stand go on standing, and some seconds ahead. Each piece takes the stride's phase over from the one
before. What is shown is always at hand; pieces may be made in another thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .animal import contact_points
from .clip import Clip
from .gait_model.body import Body
from .gait_model.padded_root import PaddedRoot
from .gait_model.perform import perform_body, table_for
from .gait_model.settings import GaitSettings
from .gait_model.table import gait_for_speed
from .gait_model.timing import timing_of
from .gait_way import Way
from .picture import bone_segments
from .plan import Plan
from .planting import plant_feet
from .rotations import Array
from .runs import runs
from .schedule import STAND
from .skeleton import Skeleton
from .terrain import Terrain

Points = npt.NDArray[np.float32]
#: Motion along a plan whose stride begins at a phase (0..1); returns the clip and the phase (f,) of each frame.
Perform = Callable[[Plan, float], tuple[Clip, Array]]
#: The gait in effect for a wished gait, a speed (m/s) and the gait before.
Choose = Callable[[str, float, str], str]

#: Seconds of the past a piece begins with, and of the future it reaches to.
PAST_S, AHEAD_S = 2.5, 7.0
#: A new piece is made when less than this is left, seconds.
REFILL_S = 1.5
#: A wish takes effect so far ahead of what is shown, at least and at most, seconds; more while pieces take longer.
SOONEST_S, LATEST_S = 0.05, 1.0
#: Differences where pieces meet die away in this time, seconds.
BLEND_S = 0.6
#: An animal that has come to the end stands so long before it begins again, seconds.
REST_S = 1.2
#: Footfalls are forgotten after so many frames.
REMEMBERED = 480
#: Slower than this (m/s) it stands.
_STANDING = 0.03


@dataclass(frozen=True)
class Asked:
    """What the animator asks for now.

    Attributes:
        gait: ``auto`` or a gait's name.
        speed: m/s.
    """

    gait: str
    speed: float


@dataclass(frozen=True, eq=False)
class Stance:
    """One foot on the ground once.

    Attributes:
        leg: column of the contacts.
        first, last: frames of the stream, both included.
        place: where it stands (3,), metres, in the world.
    """

    leg: int
    first: int
    last: int
    place: Array


@dataclass(frozen=True)
class Piece:
    """Some seconds of the stream.

    Attributes:
        first: number of its first frame.
        speed: (f,) m/s. distance: (f,) metres travelled. phase: (f,) of the stride, unwrapped.
        gaits, gait: names, and the index (f,) into them.
        root: (f, 3) x, y, yaw.
        segments: bones as pairs of points (f, 2 * bones, 3), metres, from the root's place; not turned with it.
        stances: of the feet, in order of landing.
        from_frame: the first frame that follows the wish it was made for.
        ends: frame from which it stands at the end of the way; -1 if it does not get there.
    """

    first: int
    speed: Array
    distance: Array
    phase: Array
    gaits: tuple[str, ...]
    gait: npt.NDArray[np.int64]
    root: Array
    segments: Points
    stances: tuple[Stance, ...]
    from_frame: int
    ends: int = -1

    @property
    def last(self) -> int:
        """Number of its last frame."""
        return self.first + len(self.speed) - 1


@dataclass(frozen=True)
class Shown:
    """The moment that is shown.

    Attributes:
        frame: number of the stream's frame, with its fraction.
        body: bones as pairs of points (2 * bones, 3), metres, from the root's place; not turned with it.
        root: x, y, yaw.
        gait: its name. speed: m/s. stride: seconds a stride takes now, 0 while standing.
    """

    frame: float
    body: Points
    root: Array
    gait: str
    speed: float
    stride: float


@dataclass
class Stream:
    """What is shown, and what is to be made next. One thread uses it; `Job`s may run in another.

    Attributes:
        perform, choose: the gait model.
        way: where it goes.
        asked: what is asked for.
        fps: frames a second.
        acceleration: how quickly it gathers and loses speed, m/s2.
        frame: the moment shown.
    """

    perform: Perform
    choose: Choose
    way: Way
    asked: Asked
    fps: float = 60.0
    acceleration: float = 2.5
    frame: float = 0.0
    stances: tuple[Stance, ...] = ()
    _piece: Piece | None = None
    _stale: bool = True
    _took: float = 0.2
    _offset: Points = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    _offset_from: float = 0.0

    def ask(self, asked: Asked) -> None:
        """Change the wish; it takes effect with the next piece."""
        self._stale = self._stale or asked != self.asked
        self.asked = asked

    def turn_to(self, other: Stream) -> None:
        """Go on from where it is, on another's way and in its manner."""
        self.perform, self.choose, self.way = other.perform, other.choose, other.way
        self.acceleration, self._stale = other.acceleration, True

    def advance(self, seconds: float) -> None:
        """Let time go by; where nothing is made yet, it waits."""
        if self._piece is not None:
            self.frame = min(self.frame + seconds * self.fps, float(self._piece.last))

    def job(self) -> Job | None:
        """What to make now: the wish has changed, or what is at hand runs out; None if there is nothing to do."""
        piece = self._piece
        if piece is None:
            self._stale = False
            return Job(self, None, 0)
        if piece.ends >= 0 and self.frame >= piece.ends + REST_S * self.fps:
            return Job(self, None, int(self.frame) + 1)
        if not self._stale and (piece.last - self.frame > REFILL_S * self.fps or piece.ends >= 0):
            return None
        self._stale = False
        soon = float(np.clip(1.5 * self._took, SOONEST_S, LATEST_S))
        return Job(self, piece, min(int(np.ceil(self.frame + soon * self.fps)), piece.last))

    def take(self, made: Piece, seconds: float = 0.0) -> None:
        """Go on with a piece that was made, in so many seconds."""
        self._took = 0.5 * (self._took + seconds) if seconds else self._took
        old, before = self._piece, self.shown()
        self._piece = made
        if old is None or before is None or made.from_frame == made.first:
            self.frame, self.stances = float(made.first), made.stances
            self._offset = np.zeros_like(made.segments[0])
            return
        self.stances = _joined(self.stances, made)
        self._offset, self._offset_from = np.zeros_like(made.segments[0]), self.frame
        now = self.shown()
        assert now is not None
        self._offset = before.body - now.body

    def shown(self) -> Shown | None:
        """The moment to draw; None as long as nothing is made."""
        piece = self._piece
        if piece is None:
            return None
        place = min(max(self.frame - piece.first, 0.0), len(piece.speed) - 1.0)
        low = int(place)
        high, share = min(low + 1, len(piece.speed) - 1), place - low
        body = piece.segments[low] * np.float32(1.0 - share) + piece.segments[high] * np.float32(share)
        left = 1.0 - (self.frame - self._offset_from) / (BLEND_S * self.fps)
        if left > 0.0 and len(self._offset) == len(body):
            body = body + self._offset * np.float32(left * left * (3.0 - 2.0 * left))
        root = piece.root[low] + share * (piece.root[high] - piece.root[low])
        rate = (piece.phase[high] - piece.phase[low]) * self.fps
        stride = 1.0 / rate if rate > 1e-3 else 0.0
        return Shown(self.frame, body, root, piece.gaits[piece.gait[low]], float(piece.speed[low]), stride)


class Job:
    """One piece to be made; holds all it needs, so that it may run in another thread."""

    def __init__(self, stream: Stream, piece: Piece | None, from_frame: int) -> None:
        self._perform, self._choose, self._way = stream.perform, stream.choose, stream.way
        self._asked, self._fps, self._acceleration = stream.asked, stream.fps, stream.acceleration
        self._piece, self._from = piece, from_frame

    def make(self) -> Piece:
        """Perform it."""
        first, speed, distance, gait, phase = self._past()
        speeds, distances, ends = self._ahead(speed[-1], distance[-1], first + len(speed))
        gaits = self._gaits(gait, speeds)
        speed, distance = np.concatenate([speed, speeds]), np.concatenate([distance, distances])
        vocabulary = (STAND, *(name for name in dict.fromkeys(gaits) if name != STAND))
        index = np.array([vocabulary.index(name) for name in gaits])
        root = self._way.root(distance)
        plan = Plan(
            self._fps, root[:, :2], root[:, 2], speed, distance, vocabulary, index, np.zeros(len(speed), np.bool_)
        )
        clip, phases = self._perform(plan, phase)
        segments = bone_segments(clip)
        segments[..., :2] -= root[:, None, :2].astype(np.float32)
        stances = stances_of(clip, first)
        return Piece(
            first, speed, distance, phases, vocabulary, index, root, segments, stances, self._from, ends
        )  # fmt: skip

    def _past(self) -> tuple[int, Array, Array, list[str], float]:
        """First frame, speeds and distances so far, their gaits, and the phase of the first."""
        piece = self._piece
        if piece is None:
            speed = min(self._asked.speed, self._way.greatest(0.0))
            gait = self._choose(self._asked.gait, speed, "")
            return self._from, np.array([speed]), np.zeros(1), [gait], 0.0
        stop = self._from - piece.first + 1
        start = max(stop - round(PAST_S * self._fps), 0)
        names = [piece.gaits[index] for index in piece.gait[start:stop]]
        past = slice(start, stop)
        return piece.first + start, piece.speed[past], piece.distance[past], names, float(piece.phase[start])

    def _ahead(self, speed: float, distance: float, number: int) -> tuple[Array, Array, int]:
        """Speeds and distances from the last frame on, and the frame at which the way has ended (-1: it does not)."""
        count, most = round(AHEAD_S * self._fps), self._acceleration / self._fps
        speeds, distances, ends = np.empty(count), np.empty(count), -1
        for frame in range(count):
            wished = min(self._asked.speed, self._way.greatest(distance))
            speed = speed + min(max(wished - speed, -most), most)
            if wished == 0.0:
                speed, ends = 0.0, ends if ends >= 0 else number + frame
            distance += speed / self._fps
            speeds[frame], distances[frame] = speed, distance
        return speeds, distances, ends

    def _gaits(self, past: list[str], speeds: Array) -> list[str]:
        names = list(past)
        for speed in speeds.tolist():
            names.append(STAND if speed < _STANDING else self._choose(self._asked.gait, speed, names[-1]))
        return names


def performer(
    skeleton: Skeleton, settings: GaitSettings | None = None, ground: Terrain | None = None
) -> tuple[Perform, Choose]:
    """The gait model as a stream uses it: nothing varies, for each piece must repeat what is past.

    Args:
        skeleton: four-legged.
        settings: of the gait model.
        ground: to plant the feet on; level ground at height 0 needs no planting.

    Raises:
        RigError: the skeleton is not four-legged or lacks a leg.
    """
    body = Body.of(skeleton)
    settings = replace(settings or GaitSettings(), variation=0.0, fidget=0.0)
    table = table_for(body, settings)

    def perform(plan: Plan, phase: float) -> tuple[Clip, Array]:
        course = PaddedRoot.of(plan, body)
        asking = np.pad(plan.action, course.pad, mode="edge")
        inner = slice(course.pad, course.pad + len(plan))
        zero = replace(settings, start_phase=0.0)
        strides = timing_of(course, plan.actions, asking, body.height, table, zero).phase[inner, 0]
        begin = replace(settings, start_phase=float((phase - strides[0]) % 1.0))
        clip = perform_body(body, plan, begin)
        return clip if ground is None else plant_feet(clip, ground).clip, strides - strides[0] + phase

    def choose(asked: str, speed: float, before: str) -> str:
        if asked in table.gaits:
            low, high = table[asked].speeds(body.height)
            if low <= speed <= high:
                return asked
        return gait_for_speed(speed, body.height, before)

    return perform, choose


def _joined(stances: tuple[Stance, ...], made: Piece) -> tuple[Stance, ...]:
    """What stood before a new piece, and what it tells; feet that stand where it begins have stood before."""
    standing = {stance.leg: stance for stance in stances if stance.first < made.first <= stance.last + 1}
    told, whole = [], set()
    for stance in made.stances:
        before = standing.get(stance.leg) if stance.first == made.first else None
        if before is not None:
            whole.add(before)
        told.append(stance if before is None else replace(stance, first=before.first))
    oldest = made.first - REMEMBERED
    kept = [s for s in stances if oldest < s.first < made.first and s not in whole]
    return (*(replace(s, last=min(s.last, made.first)) for s in kept), *told)


def stances_of(clip: Clip, first: int) -> tuple[Stance, ...]:
    """Each contact of each foot, in order of landing; frames counted from ``first``."""
    points = contact_points(clip.skeleton, *clip.world)
    found = [
        Stance(leg, first + begin, first + end - 1, points[(begin + end - 1) // 2, leg].astype(np.float32))
        for leg in range(clip.contacts.shape[1]) for begin, end in runs(clip.contacts[:, leg])
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda stance: stance.first))
