"""What the motion that a network learns from shows it besides going on level ground: crouching, leaps, slopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.abilities import Abilities, Crouch, Leap
from blender_addon.motion.clip import BoolArray, Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.filters import lowpass
from blender_addon.motion.gait_labels import body_top, crouch_depth, feet_bearing, jumps
from blender_addon.motion.labels import STAND_SPEED, root_speed
from blender_addon.motion.metrics_feet import ball_positions
from blender_addon.motion.rotations import Array
from blender_addon.motion.way_ahead import SPAN
from blender_addon.systems.trajectory import PAST, clip_trajectory

from .data import Take
from .starts import RARELY

#: Less crouching than this, seconds, or fewer leaps, teach nothing.
_LEAST_CROUCHING, _LEAST_LEAPS = 2.0, 3
#: Who asks for a crouch wants to see one: it is deeper than this share of what is labelled so.
_USUAL = 0.6
#: The walk before a leap is measured between these times before take-off, seconds.
_LONG_BEFORE, _BEFORE = 0.6, 0.3
#: Who takes off from one foot and lands on one has the other in the air so long before and after, seconds.
_ALONE = 0.1
#: Leaps that differ less than this, metres, do not tell how their speed grows with their length.
_ALIKE = 0.05


def measured(takes: Sequence[Take], labels: Sequence[ClipLabels]) -> Abilities:
    """What takes, not mirrored, show; ``labels`` are theirs."""
    pairs = list(zip(takes, labels, strict=True))
    return Abilities(_crouch(pairs), _leap(pairs), _steepest(takes))


def _shown(take: Take, label: ClipLabels, gait: str) -> BoolArray:
    """Frames (f,) of a gait that are to be learned."""
    if gait not in label.gait_names:
        return np.zeros(len(take.clip), dtype=np.bool_)
    return (label.gaits == label.gait_names.index(gait)) & _learned(take)


def _learned(take: Take) -> BoolArray:
    """Frames (f,) that are to be learned."""
    return np.ones(len(take.clip), dtype=np.bool_) if take.left_out is None else ~take.left_out


def _crouch(pairs: Sequence[tuple[Take, ClipLabels]]) -> Crouch | None:
    depths, speeds, seconds = [], [], 0.0
    for take, label in pairs:
        clip, low = take.clip, _shown(take, label, "crouch")
        if low.any():
            depths.append(crouch_depth(body_top(clip))[low])
            speeds.append(lowpass(root_speed(clip), clip.fps, 1.0)[low])
            seconds += np.count_nonzero(low) / clip.fps
    if seconds < _LEAST_CROUCHING:
        return None
    depth, speed = np.concatenate(depths), np.concatenate(speeds)
    usual, deepest = np.quantile(depth, [_USUAL, 0.95]).tolist()
    low = speed[depth >= 0.5 * (usual + deepest)]
    return Crouch(usual, deepest, float(np.quantile(speed, 0.95)), float(np.quantile(low, 0.95)))


def _leap(pairs: Sequence[tuple[Take, ClipLabels]]) -> Leap | None:
    found = np.array([one for take, label in pairs for one in _leaps(take, label)])
    if len(found) < _LEAST_LEAPS:
        return None
    speed, flight, flight_speed, behind, ahead = np.median(found[:, :5], axis=0).tolist()
    # A stride has two take-offs, half a turn apart.
    phase = 0.5 * float(np.angle(np.mean(np.exp(2j * found[:, 5])))) % np.pi
    reach = found[:, 3] + found[:, 1] * found[:, 2] + found[:, 4]
    nearest, furthest = float(reach.min()), float(reach.max())
    slow = fast = flight_speed
    if furthest - nearest > _ALIKE:
        slow, fast = np.polyval(np.polyfit(reach, found[:, 2], 1), [nearest, furthest]).tolist()
    return Leap(speed, flight, flight_speed, behind, ahead, phase, nearest, furthest, slow, fast)


def _leaps(take: Take, label: ClipLabels) -> Iterator[tuple[float, float, float, float, float, float]]:
    """Speed before, flight, speed in it, foot behind, foot ahead, and phase of each leap from foot to foot.

    A flight is counted from the last frame in contact to the first one that is so again.
    """
    clip, shown = take.clip, _shown(take, label, "jump")
    if not shown.any():
        return
    down, balls, speed = feet_bearing(clip), ball_positions(clip)[..., :2], root_speed(clip)
    early, late = round(_LONG_BEFORE * clip.fps), round(_BEFORE * clip.fps)
    for first, land in jumps(clip):
        off = first - 1
        feet = _feet(down, off, land, round(_ALONE * clip.fps))
        if feet is None or off < early or not shown[first:land].all():
            continue
        flight = (land - off) / clip.fps
        away = float(np.linalg.norm(clip.root[land, :2] - clip.root[off, :2]))
        behind = -_before_root(clip, off, balls[off, feet[0]])
        ahead = _before_root(clip, land, balls[land, feet[1]])
        before = float(speed[off - early : off - late].mean())
        yield before, flight, away / flight, behind, ahead, float(take.phase.angle[off])


def _feet(down: BoolArray, off: int, land: int, alone: int) -> tuple[int, int] | None:
    """The foot that takes off and the other, which lands; None if it is not so. ``down`` (f, 2)."""
    before, after = down[max(off - alone + 1, 0) : off + 1].any(axis=0), down[land : land + alone].any(axis=0)
    if before.sum() != 1 or after.sum() != 1 or before.argmax() == after.argmax():
        return None
    return int(before.argmax()), int(after.argmax())


def _before_root(clip: Clip, frame: int, point: Array) -> float:
    """How far before the root, along its facing, a point (2,) in the world is."""
    return float((point - clip.root[frame, :2]) @ rot.direction_of_yaw(clip.root[frame, 2]))


def _steepest(takes: Sequence[Take]) -> float | None:
    """What hardly a moving frame exceeds, own ground and fitted: most are level, so that the range felt is meant."""
    found = [steepness(take).reshape(-1) for take in takes]
    values = np.concatenate(found) if found else np.zeros(0)
    return float(np.quantile(values, 1.0 - RARELY)) if len(values) else None


def steepness(take: Take) -> Array:
    """Rise or fall, metres a metre, of each ground along the way around the frames that move (grounds, n)."""
    clip = take.clip
    positions, _, _ = clip_trajectory(clip)
    way = np.concatenate(
        [np.zeros((len(clip), 1)), np.cumsum(np.linalg.norm(np.diff(positions, axis=1), axis=-1), axis=1)], axis=1
    )
    ends = way[:, PAST, None] + 0.5 * SPAN * np.array([-1.0, 1.0])
    moving = (root_speed(clip) > STAND_SPEED) & (ends[:, 0] >= 0.0) & (ends[:, 1] <= way[:, -1]) & _learned(take)
    rows = np.nonzero(moving)[0]
    way, ends = way[rows], ends[rows]
    # Between which samples the ends of the way lie.
    low = np.minimum((way[:, None] <= ends[..., None]).sum(axis=-1) - 1, way.shape[1] - 2)
    start, stop = (np.take_along_axis(way, low + side, axis=1) for side in (0, 1))
    part = (ends - start) / np.maximum(stop - start, 1e-9)
    steep = []
    for felt in take.grounds:
        heights = felt.heights[rows, 0]
        before, after = (np.take_along_axis(heights, low + side, axis=1) for side in (0, 1))
        at = before + part * (after - before)
        steep.append(np.abs(at[:, 1] - at[:, 0]) / SPAN)
    return np.array(steep)
