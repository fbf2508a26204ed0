"""Fewer keys: curves through some of the frames, as few as keep every joint within a tolerance of the motion.

A track's keys lie on the motion; between two keys it is a cubic with the slopes that fit best (least squares), which
is what a Bezier curve with handles of a third is. Keys are added where the error is greatest and taken away where
it stays within bounds; then the whole body is posed by the reduced tracks, and where a joint is too far off,
the tracks that move it are held tighter, until none is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .rotations import Array

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Poses a body by the values of all tracks: joint places (frames, j, 3), metres, and rotations (frames, j, 4).
Pose = Callable[[Sequence[Array]], tuple[Array, Array]]

#: Keys to begin with are so many frames apart.
_FIRST_SPACING = 10
_MOST_ROUNDS = 40
#: Share of the tolerance that each track may use up before the joints are looked at.
_FIRST_SHARE = 0.6
#: How often joints are looked at and their tracks held tighter.
_MOST_CHECKS = 14
#: In the first of these only tracks that move a joint by themselves are held tighter, then all that reach it.
_NEAR_CHECKS = 4
#: A piece is divided at least this share of its length away from its ends.
_RIM = 0.35
#: Slopes are drawn to those of the motion by this much, so that short pieces have one.
_RIDGE = 1e-3


@dataclass(frozen=True)
class Tolerance:
    """How far a joint may be from the motion.

    Attributes:
        degrees: its rotation.
        metres: its place.
        planted: the place of a foot's joint while it stands, metres.
    """

    degrees: float = 0.5
    metres: float = 0.002
    planted: float = 0.001


@dataclass(frozen=True, eq=False)
class Track:
    """One channel to be reduced.

    Attributes:
        values: (frames, components).
        metres, radians: how far an error of 1 in the values moves and turns any joint.
        moves: (joints,) the joints that it moves by itself: those on ahead make up for it, see `Moved.wanted`.
        reaches: (joints,) the joints that would move if nothing made up for it.
        fixed: its keys, where they are already chosen.
    """

    values: Array
    metres: float
    radians: float
    moves: Bools
    reaches: Bools
    fixed: Curve | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """Keys with slopes.

    Attributes:
        frames: (k,) indices of the keys, ascending; the first is 0, the last the motion's last.
        values: (k, components).
        left, right: slopes (k, components) before and after each key, per frame.
    """

    frames: Ints
    values: Array
    left: Array
    right: Array

    def dense(self) -> Array:
        """The values at every frame (frames, components)."""
        return _hermite(self.frames, self.values, self.left, self.right)


@dataclass(frozen=True, eq=False)
class Moved:
    """What the tracks move.

    Attributes:
        pose: poses it.
        turns: (joints,) whose rotation counts.
        planted: (frames, joints) which stand.
        wanted: the values (frames, components) that a track (by its number) should have when the tracks before it are
            as given: each makes up for the errors of those that carry it, so that errors do not add up along limbs.
    """

    pose: Pose
    turns: Bools
    planted: Bools
    wanted: Callable[[int, Sequence[Array]], Array] | None = None


@dataclass(frozen=True, eq=False)
class Reduced:
    """What came out.

    Attributes:
        curves: one a track.
        metres, degrees, planted: greatest errors of any joint, and of joints while they stand (metres).
        notes: what could not be held.
    """

    curves: tuple[Curve, ...]
    metres: float
    degrees: float
    planted: float
    notes: tuple[str, ...] = field(default=())

    def share(self) -> float:
        """Keys left of those of every frame, 0..1."""
        kept = sum(curve.values.size for curve in self.curves)
        return kept / max(sum((curve.frames[-1] + 1) * curve.values.shape[1] for curve in self.curves), 1)


def reduce_keys(
    tracks: Sequence[Track], body: Moved, corners: Sequence[int] = (), tolerance: Tolerance | None = None
) -> Reduced:
    """The fewest keys that this method finds within a tolerance.

    Args:
        tracks: what is keyed; all of the same number of frames.
        body: how they pose the joints.
        corners: frames that keep their keys in every track that moves a joint which ever stands: first and last frame
            of contacts. Slopes may break there.
        tolerance: how far joints may be off.
    """
    tolerance = tolerance or Tolerance()
    frames = len(tracks[0].values)
    wanted = body.pose([track.values for track in tracks])
    stands = body.planted.any(axis=0)
    fits = [_Fit(track, frames, _corners(track, frames, corners, stands), tolerance) for track in tracks]
    _make(fits, body)
    found = _errors(body, wanted, fits, tolerance)
    for check in range(_MOST_CHECKS):
        if found.ratio.max() <= 1.0:
            break
        for fit in fits:
            fit.tighten(found.ratio, widely=check >= _NEAR_CHECKS)
        _make(fits, body)
        found = _errors(body, wanted, fits, tolerance)
    notes = () if found.ratio.max() <= 1.0 else ("Some joints are beyond the tolerance of the key reduction",)
    curves = tuple(fit.curve for fit in fits if fit.curve is not None)
    return Reduced(curves, found.metres, found.degrees, found.planted, notes)


def _make(fits: Sequence[_Fit], body: Moved) -> None:
    """Keys for all tracks, in order: those that carry before those that are carried."""
    done: list[Array] = []
    for number, fit in enumerate(fits):
        fit.make(fit.track.values if body.wanted is None else body.wanted(number, done))
        done.append(fit.dense)


def _corners(track: Track, frames: int, corners: Sequence[int], stands: Bools) -> Ints:
    kept = [0, frames - 1]
    if (track.moves & stands).any():
        kept += [frame for frame in corners if 0 <= frame < frames]
    return np.unique(np.array(kept, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Errors:
    """Error over tolerance (frames, joints), and the greatest errors."""

    ratio: Array
    metres: float
    degrees: float
    planted: float


def _errors(body: Moved, wanted: tuple[Array, Array], fits: Sequence[_Fit], tolerance: Tolerance) -> _Errors:
    places, turns = body.pose([fit.dense for fit in fits])
    away = np.linalg.norm(places - wanted[0], axis=-1)
    # The chord between unit quaternions, up to sign: much quicker than the angle and as good for small ones.
    dot = np.abs(np.sum(turns * wanted[1], axis=-1))
    angle = 2.0 * np.sqrt(np.maximum(2.0 - 2.0 * dot, 0.0)) * body.turns
    bound = np.where(body.planted, min(tolerance.planted, tolerance.metres), tolerance.metres)
    ratio = np.maximum(away / bound, np.degrees(angle) / tolerance.degrees)
    planted = float(away[body.planted].max()) if body.planted.any() else 0.0
    return _Errors(ratio, float(away.max()), float(np.degrees(angle.max())), planted)


class _Fit:
    """A track on its way to fewer keys."""

    def __init__(self, track: Track, frames: int, corners: Ints, tolerance: Tolerance) -> None:
        self.track, self.corners = track, corners
        bound = min(
            np.radians(tolerance.degrees) / max(track.radians, 1e-9), tolerance.metres / max(track.metres, 1e-9)
        )
        #: Error allowed at each frame, in the values' own unit.
        self.limit = np.full(frames, _FIRST_SHARE * bound)
        self.values = track.values
        self.curve: Curve | None = None
        self.dense: Array
        self.error: Array

    def make(self, values: Array) -> None:
        """Keys for these values and the limits as they are; once made, keys only become more."""
        self.values = values
        frames = len(values)
        if self.track.fixed is not None:
            self.curve, self.dense, self.error = self.track.fixed, self.track.fixed.dense(), np.zeros(frames)
            return
        if frames == 1 or float(np.ptp(values, axis=0).max()) <= 1e-7:
            self._take(np.unique(np.array([0, frames - 1])))
            return
        if self.curve is not None:
            self._take(np.union1d(self.curve.frames, self.corners))
            self._split()
            return
        self._take(np.union1d(self.corners, np.arange(0, frames, _FIRST_SPACING)))
        self._split()
        for offset in (1, 2, 1, 2):
            self._thin(offset)
            self._split()

    def tighten(self, ratio: Array, widely: bool) -> None:
        """Hold it tighter where joints that it moves are too far off and it has a part in that."""
        joints = self.track.reaches if widely else self.track.moves
        if self.track.fixed is not None or not joints.any():
            return
        worst = ratio[:, joints].max(axis=1)
        bad = (worst > 1.0) & (self.error > (0.03 if widely else 0.15) * self.limit)
        if not bad.any():
            return
        # Half a step towards what would do if all tracks erred in the same direction.
        factor = np.where(bad, np.maximum(0.9 / np.sqrt(np.maximum(worst, 1.0)), 0.3), 1.0)
        factor = np.minimum(factor, np.minimum(np.roll(factor, 1), np.roll(factor, -1)))
        self.limit = np.minimum(self.limit, np.where(bad, np.maximum(self.error, 1e-12), self.limit)) * factor

    def _take(self, keys: Ints) -> None:
        self.curve = _fit(self.values, keys, self.corners)
        self.dense = self.curve.dense()
        self.error = np.sqrt(np.sum((self.dense - self.values) ** 2, axis=1))

    def _split(self) -> None:
        """Add keys where the error is beyond the limit, the worst frame of each piece at a time."""
        for _ in range(_MOST_ROUNDS):
            assert self.curve is not None
            over, keys = self.error / self.limit, self.curve.frames
            worst = np.maximum.reduceat(over, keys[:-1]) if len(keys) > 1 else np.zeros(0)
            if not np.any(worst > 1.0):
                return
            piece = np.repeat(np.arange(len(keys) - 1), np.diff(keys))
            top = np.flatnonzero((over[: keys[-1]] >= worst[piece]) & (worst[piece] > 1.0))
            added = top[np.unique(piece[top], return_index=True)[1]]
            # Not too near to a key that is there: pieces of like length hold best.
            rim = (np.diff(keys)[piece[added]] * _RIM).astype(int)
            added = np.clip(added, keys[piece[added]] + rim, keys[piece[added] + 1] - rim)
            self._take(np.union1d(keys, added))

    def _thin(self, offset: int) -> None:
        """Take every other key away where the piece without it stays within the limit."""
        assert self.curve is not None
        keys = self.curve.frames
        doomed = np.zeros(len(keys), dtype=bool)
        doomed[offset:-1:2] = True
        doomed &= ~np.isin(keys, self.corners)
        if not doomed.any():
            return
        kept = ~doomed
        without = _fit(self.values, keys[kept], self.corners)
        error = np.sqrt(np.sum((without.dense() - self.values) ** 2, axis=1))
        worst = np.maximum.reduceat(error / self.limit, without.frames[:-1])
        at = np.searchsorted(without.frames, keys[doomed], side="right") - 1
        gone = keys[doomed][worst[at] <= 1.0]
        if len(gone):
            self._take(np.setdiff1d(keys, gone))


def _basis(keys: Ints) -> tuple[Ints, Array, Array, Array, Array, Array]:
    """For every frame: its piece, and the four Hermite functions; and the pieces' lengths."""
    span = np.diff(keys)
    piece = np.append(np.repeat(np.arange(len(span)), span), len(span) - 1)
    length = span[piece].astype(np.float64)
    t = (np.arange(keys[-1] + 1) - keys[piece]) / length
    t2, t3 = t * t, t * t * t
    up = 3.0 * t2 - 2.0 * t3
    return piece, 1.0 - up, up, length * (t3 - 2.0 * t2 + t), length * (t3 - t2), span


def _hermite(keys: Ints, values: Array, left: Array, right: Array) -> Array:
    if len(keys) == 1:
        return values
    piece, a, b, c, d, _ = _basis(keys)
    nxt = piece + 1
    return np.asarray(
        a[:, None] * values[piece] + b[:, None] * values[nxt] + c[:, None] * right[piece] + d[:, None] * left[nxt]
    )


def _fit(values: Array, keys: Ints, corners: Ints) -> Curve:
    """The curve with keys on the motion and the slopes that fit best; slopes may break at ``corners``."""
    count = len(keys)
    if count == 1:
        flat = np.zeros_like(values[keys])
        return Curve(keys, values[keys], flat, flat)
    piece, a, b, c, d, span = _basis(keys)
    at = values[keys]
    rest = values - a[:, None] * at[piece] - b[:, None] * at[piece + 1]
    # Unknown slopes: one a key, two where it may break.
    broken = np.isin(keys, corners)
    right_of = np.arange(count) + np.concatenate([[0], np.cumsum(broken[:-1])]) + broken
    left_of = right_of - broken
    size = int(right_of[-1]) + 1
    first, second = right_of[:-1], left_of[1:]
    sums = [np.add.reduceat(product[:-1], keys[:-1]) for product in (c * c, c * d, d * d)]
    sides = [np.add.reduceat((weight[:, None] * rest)[:-1], keys[:-1], axis=0) for weight in (c, d)]
    near_right, near_left = values[keys[:-1] + 1] - at[:-1], at[1:] - values[keys[1:] - 1]
    ridge = _RIDGE * span.astype(np.float64) ** 2 + 1e-9
    diagonal, beside = np.zeros(size), np.zeros(size)
    side = np.zeros((size, values.shape[1]))
    # Each unknown is the first of one piece at most, and the second of one.
    diagonal[first] += sums[0] + ridge
    diagonal[second] += sums[2] + ridge
    beside[first] = sums[1]
    side[first] += sides[0] + ridge[:, None] * near_right
    side[second] += sides[1] + ridge[:, None] * near_left
    diagonal[diagonal == 0.0] = 1.0
    slopes = _solve(diagonal, beside, side)
    left, right = slopes[left_of], slopes[right_of]
    left[0], right[-1] = right[0], left[-1]
    return Curve(keys, at, left, right)


def _solve(diagonal: Array, beside: Array, side: Array) -> Array:
    """Solve a symmetric tridiagonal system (n,), (n,) above the diagonal, by (n, c): parallel cyclic reduction."""
    size = len(diagonal)
    main, side = np.array(diagonal), np.array(side)
    above = np.array(beside)
    above[-1] = 0.0
    below = np.concatenate([[0.0], above[:-1]])
    step = 1
    while step < size:
        up, down = np.zeros(size), np.zeros(size)
        up[step:] = -below[step:] / main[:-step]
        down[:-step] = -above[:-step] / main[step:]
        fresh, rows = np.array(main), np.array(side)
        fresh[step:] += up[step:] * above[:-step]
        fresh[:-step] += down[:-step] * below[step:]
        rows[step:] += up[step:, None] * side[:-step]
        rows[:-step] += down[:-step, None] * side[step:]
        lower, upper = np.zeros(size), np.zeros(size)
        lower[step:] = up[step:] * below[:-step]
        upper[:-step] = down[:-step] * above[step:]
        main, side, below, above = fresh, rows, lower, upper
        step *= 2
    return np.asarray(side / main[:, None])

