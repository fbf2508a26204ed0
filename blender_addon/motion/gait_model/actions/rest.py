"""Sitting and lying down and getting up: the standing animal of the gait model bent from key pose to key pose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import rotations as rot
from ...bridging import minimum_jerk
from ...plan import Plan
from ...rotations import Array
from ..body import Body
from ..followers import slow_noise
from ..settings import GaitSettings
from .body_pose import Bend, Frames, bent, middles, tail_on_ground
from .bones import swung
from .folded import LegMeasures, Lying, hip_height, lying, put, shoulder_height
from .postures import Posture, blend, drawn
from .windows import Clock, Rest, rests_of

BoolArray = npt.NDArray[np.bool_]
#: Shares of the way down, and of the way up, in which each part moves.
Keys = dict[str, tuple[tuple[float, float], tuple[float, float]]]
_Steps = tuple[tuple[float, float], tuple[float, float]]
_SIT: Keys = {
    "pelvis": ((0.12, 0.95), (0.10, 0.86)), "chest": ((0.05, 0.85), (0.0, 0.66)), "flex": ((0.08, 0.9), (0.05, 0.8)),
    "hind": ((0.25, 0.97), (0.04, 0.72)), "fore": ((0.1, 0.8), (0.1, 0.8)), "neck": ((0.05, 0.8), (0.0, 0.7)),
    "look": ((0.5, 1.0), (0.0, 0.45)), "roll": ((0.35, 1.0), (0.0, 0.6)), "tail": ((0.15, 0.95), (0.05, 0.85)),
    "chin": ((0.4, 1.0), (0.0, 0.5)),
}  # fmt: skip
_LIE: Keys = {
    "pelvis": ((0.30, 0.92), (0.34, 0.90)), "chest": ((0.06, 0.70), (0.06, 0.56)), "flex": ((0.1, 0.8), (0.2, 0.9)),
    "hind": ((0.38, 0.94), (0.30, 0.80)), "fore": ((0.12, 0.72), (0.04, 0.5)), "neck": ((0.05, 0.8), (0.05, 0.7)),
    "look": ((0.6, 1.0), (0.0, 0.4)), "roll": ((0.6, 1.0), (0.0, 0.4)), "tail": ((0.3, 0.95), (0.2, 0.85)),
    "chin": ((0.62, 1.0), (0.0, 0.32)),
}  # fmt: skip
#: When each foot steps to where it rests, and back, shares of the way down and up.
_STEPS = {
    "sit": (((0.06, 0.30), (0.26, 0.50), (0.30, 0.52), (0.08, 0.30)),
            ((0.52, 0.76), (0.74, 0.97), (0.30, 0.54), (0.10, 0.34))),
    "lie": (((0.34, 0.48), (0.46, 0.60), (0.03, 0.19), (0.17, 0.33)),
            ((0.62, 0.76), (0.76, 0.90), (0.44, 0.60), (0.28, 0.44))),
}  # fmt: skip
#: A foot that would move less than this (shoulder heights) stays; how high feet step; and how long they take to settle.
_NO_STEP, _NO_TURN, _LIFT, _SETTLES = 0.03, 0.1, 0.07, 0.3
#: A foot is well in the air after, and before the last, this share of its step.
_AIRBORNE = 0.22
#: No step on the way down ends later than this share of it.
_LATEST = 0.97
#: How far the tail's tip wags at rest, radians.
_WAG = np.radians(7.0)
#: Chins, and the tips of the head, keep this height over the ground, in shoulder heights.
_CHIN = 0.10
#: Stifles are no higher than this in lying and in sitting, in shoulder heights.
_LYING_KNEE, _SITTING_KNEE = 0.22, 0.40


@dataclass(frozen=True, eq=False)
class _End:
    """A pose on its skeleton: middles of hips and shoulders (3,), how each leg lies, and the neck's pitch."""

    pelvis: Array
    chest: Array
    legs: tuple[Lying | None, ...]
    neck: float


def settle(
    body: Body, plan: Plan, settings: GaitSettings, hips: Array, turns: Array, contact: BoolArray
) -> tuple[Array, Array, BoolArray]:
    """The gait model's motion along a plan with its rests in it.

    Args:
        body: the skeleton.
        plan: its actions say where the animal sits and lies.
        settings: the seed draws which pose it takes.
        hips: of joint 0 (f, 3), metres. turns: world turns away from rest (f, b, 4). contact: (f, 4).
    """
    found = rests_of(plan)
    if not found:
        return hips, turns, contact
    hips, turns, contact = np.array(hips), np.array(turns), np.array(contact)
    for number, rest in enumerate(found):
        rng = np.random.default_rng([settings.seed, 6, number])
        rows = slice(max(rest.first, 0), rest.last)
        root = plan.root[min(max(int(rest.first + rest.down), 0), rest.last - 1)]
        away = rot.from_yaw(-root[2])
        place = np.array([root[0], root[1], 0.0])
        local = Frames.of(body, rot.rotate(away, hips[rows] - place), rot.mul(away, turns[rows]))
        clock = Clock.of(rest, np.arange(rows.start, rows.stop, dtype=np.float64))
        posed, down = _rested(body, rest, rng, clock, local, contact[rows], plan.fps)
        hips[rows] = rot.rotate(rot.inv(away), posed.hips) + place
        turns[rows] = rot.mul(rot.inv(away), posed.turns)
        contact[rows] = down
    return hips, turns, contact


def _rested(
    body: Body, rest: Rest, rng: np.random.Generator, clock: Clock, before: Frames, contact: BoolArray, fps: float
) -> tuple[Frames, BoolArray]:
    """The frames of one rest, and which feet are down."""
    posture = drawn(rest.name, rng)
    keys = _SIT if rest.name == "sit" else _LIE
    share = {name: clock.ease(*spans) for name, spans in keys.items()}
    end = _end(body, posture, before.row(-1))
    pelvis, chest = middles(body, before.positions)
    bend = Bend(
        blend(pelvis, end.pelvis, share["pelvis"]), blend(chest, end.chest, share["chest"]), share["hind"],
        posture.flex * share["flex"], posture.roll[0] * share["roll"], posture.roll[1] * share["roll"],
        blend(share["neck"] * posture.neck, end.neck, share["chin"]) if posture.chin else share["neck"] * posture.neck,
        posture.head * share["chin" if posture.chin else "neck"], posture.look * share["look"],
        np.full(len(share["neck"]), posture.blade),
    )  # fmt: skip
    posed = bent(body, before, bend)
    wag = _WAG * slow_noise(len(contact), fps, 1, 3.0, rng)[:, 0]
    posed = tail_on_ground(body, posed, posture.curl + wag, share["tail"])
    turns = np.array(posed.turns)
    down = np.ones_like(contact)
    for leg in range(4):
        how = end.legs[leg]
        flat = share["hind" if leg < 2 else "fore"] if how is not None else np.zeros(len(pelvis))
        feet = _Foot.of(body, leg, before, contact[:, leg], clock, fps)
        below = feet.below
        if how is not None:
            below = np.stack([
                swung(below[:, at], np.broadcast_to(how.below[at], below[:, at].shape), flat)
                for at in range(below.shape[1])
            ], axis=1) if below.shape[1] else below  # fmt: skip
        spans = (_STEPS[rest.name][0][leg], _STEPS[rest.name][1][leg])
        reach = _Reach.of(body, leg, posed, below)
        places, yaws, down[:, leg], air = feet.walked(how, spans, clock, rest.rise < 0, body.height, reach)
        normal = np.broadcast_to(how.normal if how is not None else np.array([1.0, 0.0, 0.0]), pelvis.shape)
        for joint, turn in put(body, leg, posed, before, places, below, normal, flat, air).items():
            turns[:, joint] = turn
        toe = body.limbs[leg].end
        if toe >= 0:
            turns[:, toe] = rot.from_yaw(yaws)
    return Frames.of(body, posed.hips, turns), down


def _end(body: Body, posture: Posture, standing: Frames) -> _End:
    """The pose on its skeleton, from how it stands."""
    pelvis, chest = (middle[0] for middle in middles(body, standing.positions))
    hip = np.mean([hip_height(body, leg, posture.fold, posture.lean) for leg in (0, 1)])
    goal = np.array([chest[0], chest[1] + posture.back * body.height, chest[2] + posture.rise * body.height])
    one = np.ones(1)

    def posed(goal: Array, neck: float) -> Frames:
        rump = np.array([pelvis[0], pelvis[1], hip])
        return bent(body, standing, Bend(
            rump[None], goal[None], 0.0 * one, posture.flex * one, posture.roll[0] * one, posture.roll[1] * one,
            neck * one, posture.head * one, posture.look * one, posture.blade * one,
        ))  # fmt: skip

    if posture.elbows:
        wanted = shoulder_height(body, 2, posture.humerus)
        for _ in range(4):
            tops = posed(goal, 0.0).positions[0, [body.limbs[leg].foot.hip for leg in (2, 3)], 2]
            goal = goal + np.array([0.0, 0.0, wanted - float(np.mean(tops))])
    neck = _chin_down(body, posed, goal, posture) if posture.chin else posture.neck
    frame = posed(goal, neck)
    legs: list[Lying | None] = []
    for leg in range(4):
        top = frame.positions[0, body.limbs[leg].foot.hip]
        if leg < 2:
            yaw = posture.thighs[leg]
            legs.append(lying(body, leg, top, yaw=yaw, fold=posture.fold, lean=posture.lean, splay=yaw,
                               knee=_LYING_KNEE if posture.elbows else _SITTING_KNEE))  # fmt: skip
        elif posture.elbows:
            yaw = posture.arms[leg - 2]
            legs.append(lying(body, leg, top, yaw=yaw, fold=0.0, lean=posture.humerus, splay=0.0))
        else:
            legs.append(None)
    rump, shoulders = middles(body, frame.positions)
    del shoulders
    return _End(rump[0], goal, tuple(legs), neck)


def _chin_down(body: Body, posed: Callable[[Array, float], Frames], goal: Array, posture: Posture) -> float:
    """The neck's pitch with which the head comes down to the ground."""
    if body.head < 0:
        return posture.neck
    low, high = np.radians(-80.0), np.radians(20.0)
    for _ in range(12):
        middle = 0.5 * (low + high)
        frame = posed(goal, middle)
        turn = rot.mul(frame.turns[0, body.head], body.rotations[body.head])
        tip = frame.positions[0, body.head] + rot.rotate(turn, body.skeleton.tails[body.head])
        least = min(float(tip[2]), float(frame.positions[0, body.head, 2]) - 0.06 * body.height)
        low, high = (low, middle) if least > _CHIN * body.height else (middle, high)
    return 0.5 * (low + high)


@dataclass(frozen=True, eq=False)
class _Reach:
    """How far a leg reaches during a rest.

    Attributes:
        top: of the leg (f, 3). below: from its ankle to its end (f, 3).
        least, most: how near to its ankle the top may be, and how far from it, metres.
        end: height of the end.
        hind: a hind leg, which is not set down before it has room to fold.
    """

    top: Array
    below: Array
    least: float
    most: float
    end: float
    hind: bool

    @classmethod
    def of(cls, body: Body, leg: int, posed: Frames, below: Array) -> _Reach:
        own = LegMeasures.of(body, leg)
        under = sum((length * below[:, at] for at, length in enumerate(own.below)), np.zeros_like(posed.hips))
        return cls(posed.positions[:, own.joints[0]], np.asarray(under), *own.reach, own.end, leg < 2)

    def far(self, place: Array) -> Array:
        """How far the leg's top is from its ankle (f,), metres, with its end at a place (x, y, ...) on the ground."""
        ankle = np.array([place[0], place[1], self.end]) - self.below
        return np.asarray(np.linalg.norm(ankle - self.top, axis=1))

    def step(
        self, time: Array, span: tuple[float, float], here: Array, there: Array, latest: float
    ) -> tuple[float, float]:
        """When a foot is in the air, shares of ``time`` (f,): ``span``, or later and longer.

        It is set down when its leg reaches the new place, and leaves before its leg is stretched or folded too far.
        """
        going = (time > 0.0) & (time < latest)
        new = self.far(there)
        begins = going & ((new > self.most) | (self.hind & (new < self.least)))
        stop = max(span[1], float(np.max(time[begins], initial=0.0)))
        far = self.far(here)
        ends = going & ((far > self.most) | (far < self.least))
        start = min(span[0] + stop - span[1], float(np.min(time[ends], initial=1.0)))
        return start, max(stop, start + 0.5 * (span[1] - span[0]))


@dataclass(frozen=True, eq=False)
class _Foot:
    """One foot as it stands through a rest, had the animal only stood: steps it would still make are left out.

    Attributes:
        path: (f, 3) of its end. free: frames in which it is still in the air from the last step (f,).
        yaw: (f,). below: directions (f, n, 3) of the bones below the ankle.
        after, after_yaw: where it stands (3,) when all is over.
    """

    path: Array
    free: BoolArray
    yaw: Array
    below: Array
    after: Array
    after_yaw: float

    @classmethod
    def of(cls, body: Body, leg: int, before: Frames, contact: BoolArray, clock: Clock, fps: float) -> _Foot:
        own = LegMeasures.of(body, leg)
        points = own.points(body, leg, before)
        landed = int(np.argmax(contact)) if contact.any() else len(contact) - 1
        frames = np.arange(len(contact))
        toe = body.limbs[leg].end if body.limbs[leg].end >= 0 else own.joints[-1]
        ahead = rot.rotate(before.turns[:, toe], rot.FORWARD)
        yaw = rot.yaw_of_direction(ahead[:, :2])
        calm = minimum_jerk((frames - landed) / (_SETTLES * fps))
        back = minimum_jerk(clock.up)
        below = np.diff(points[:, 2:], axis=1)
        below = below / np.maximum(np.linalg.norm(below, axis=2, keepdims=True), 1e-9)
        held = np.where(frames < landed, frames, landed)
        settled = [
            swung(swung(below[held, at], np.broadcast_to(below[-1, at], below[:, at].shape), calm), below[:, at], back)
            for at in range(below.shape[1])
        ]
        return cls(
            points[held, -1], frames < landed, yaw[held],
            np.stack(settled, axis=1) if settled else below, points[-1, -1], float(yaw[-1]),
        )  # fmt: skip

    def walked(
        self, how: Lying | None, steps: _Steps, clock: Clock, stays: bool, height: float, reach: _Reach
    ) -> tuple[Array, Array, BoolArray, Array]:
        """Where its end is (f, 3), its yaw (f,), whether it is down (f,), and how far in the air (f,)."""
        path, yaw, down, high = np.array(self.path), np.array(self.yaw), ~self.free, np.zeros(len(self.yaw))
        first = np.array([*path[-1, :2], yaw[-1]])
        back = np.array([*self.after[:2], first[2] + rot.wrap_angle(self.after_yaw - first[2])])
        rest = back if how is None else np.array([*how.place, how.yaw])
        if float(np.linalg.norm((rest - first)[:2])) < _NO_STEP * height and abs(rest[2] - first[2]) < _NO_TURN:
            rest = first
        landed = float(clock.down[min(int(np.sum(self.free)), len(down) - 1)])
        # A foot that is still in the air lands first; one that rests from the beginning has stepped before.
        begin = max(steps[0][0], landed + 0.03) if self.free.any() else steps[0][0]
        spans = [(clock.down, (begin, max(begin + steps[0][1] - steps[0][0], steps[0][1])), first, rest)]
        if not stays:
            spans.append((clock.up, steps[1], rest, back))
        for time, (start, stop), here, there in spans:
            far = float(np.linalg.norm((there - here)[:2]))
            if far < 1e-6 and abs(there[2] - here[2]) < 1e-6:
                continue
            start, stop = reach.step(time, (start, stop), here, there, _LATEST if time is clock.down else 1.0)
            part = (time - start) / (stop - start)
            moved = minimum_jerk(part)
            going = part > 0.0
            place = here + moved[:, None] * (there - here)
            path[going, :2], yaw[going] = place[going, :2], place[going, 2]
            air = going & (part < 1.0)
            lift = _LIFT * height * min(1.0, 0.25 + 4.0 * far / height)
            path[air, 2] += lift * (minimum_jerk(part / 0.45) * minimum_jerk((1.0 - part) / 0.55))[air]
            high += minimum_jerk(part / _AIRBORNE) * minimum_jerk((1.0 - part) / _AIRBORNE)
            down[air] = False
        return path, yaw, down, high
