"""From raw takes to clips worth learning from: cleaned, levelled, labelled, on one skeleton, cut to what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .clip import Clip
from .contacts import UNEVEN_CONTACTS, with_contacts
from .dataset import Dataset, Source, merged_credits
from .errors import DatasetError
from .label_tracks import LabelTracks
from .labels import find_glitches, label_actions, measured_tags, root_speed, t_pose_frames, vocabulary
from .levelling import find_floors, levelled
from .metrics_feet import sole_heights
from .reference_pose import without_reference_pose
from .repair import mended
from .retarget import flat_footed_rest, grounded_rest, retarget, stance_heights
from .root_track import with_root
from .rotations import Array
from .runs import runs
from .skeleton import Skeleton
from .take_labels import with_labels
from .terrain import FlatGround

LEVELS: tuple[str, ...] = ("tilt", "height", "slope", "none")
#: Between their 10th and 90th percentile the lower foot's soles rise by so much over level ground at most, metres.
#: Captured walks and runs: 0.10.
LEVEL_RISE_M = 0.15


@dataclass(frozen=True)
class Take:
    """A raw clip and what shall become of it.

    Attributes:
        clip: as read: any frame rate, any floor; root and contacts are not looked at.
        path: the file or action it was read from.
        group: takes of one group share a floor.
        level: ``tilt`` and height of the floor are taken away, or only its ``height``; ``slope``: the same for
            ground that was not flat; ``none``: the floor is right as it is.
        ranges: frames of the take to keep, half open, in its own rate; empty for all.
        tags: tags to add to the measured ones.
        held_out: keep it for evaluation.
        licence, credit: as in `Source`.
        labels: what is labelled of the clip, a row for each of its frames; None if nothing is.
    """

    clip: Clip
    path: str = ""
    group: str = ""
    level: str = "tilt"
    ranges: tuple[tuple[int, int], ...] = ()
    tags: tuple[str, ...] = ()
    held_out: bool = False
    licence: str = ""
    credit: str = ""
    labels: LabelTracks | None = None


def prepare(
    takes: Sequence[Take], *, skeleton: Skeleton | None = None, fps: float = 60.0, shortest: float = 0.5
) -> Dataset:
    """A data set of the takes.

    Args:
        takes: raw takes.
        skeleton: what the clips shall be on; the first take's, set on the ground, when not given.
        fps: frame rate of the data set.
        shortest: clips under this many seconds are left out.

    Raises:
        DatasetError: nothing is left, or an option is unknown.
    """
    if not takes:
        raise DatasetError("There is no motion to ingest", "Choose files or actions that hold motion")
    unknown = sorted({take.level for take in takes} - set(LEVELS))
    if unknown:
        raise DatasetError(f"Unknown levelling {', '.join(unknown)}", f"Use one of: {', '.join(LEVELS)}")
    skeleton = skeleton or grounded_rest(takes[0].clip.skeleton)
    clips: list[Clip] = []
    origins: list[tuple[Take, Source]] = []
    rows: list[Array] = []
    for group in _groups(takes):
        for take, (clip, source) in zip(group, _prepare_group(group, skeleton, fps), strict=True):
            for part, origin, start in _parts(take, clip, source, shortest):
                clips.append(part)
                origins.append((take, origin))
                rows.append(source.first + (start + np.arange(len(part))) * take.clip.fps / fps)
    if not clips:
        raise DatasetError(
            f"None of the {len(takes)} takes has {shortest:g} s of motion left", "Choose longer takes or ranges"
        )
    clips, tracks = with_labels(clips, [take.labels for take, _ in origins], rows)
    pairs = zip(clips, origins, strict=True)
    return Dataset(
        skeleton, clips, [tuple(dict.fromkeys((*measured_tags(clip), *take.tags))) for clip, (take, _) in pairs],
        [take.held_out for take, _ in origins], merged_credits([take.credit for take, _ in origins]),
        [source for _, source in origins], tracks.action_names, tracks.actions, tracks.labelled,
    )  # fmt: skip


def describe(dataset: Dataset) -> str:
    """A table of what a data set holds: minutes, speeds and contacts by action, then tags and defects."""
    labels = [label_actions(clip) for clip in dataset.clips]
    speeds = [root_speed(clip) for clip in dataset.clips]
    label, speed = np.concatenate(labels), np.concatenate(speeds)
    fps = dataset.fps
    kept_back = sum(dataset.held_out)
    lines = [f"{len(dataset)} clip{'s' * (len(dataset) != 1)}, {dataset.seconds / 60:.1f} min at {fps:g} fps"
             + (f", {kept_back} held out" if kept_back else "")]  # fmt: skip
    lines.append(f"\n{'action':8}{'minutes':>9}{'speed m/s: p5':>15}{'median':>8}{'p95':>7}{'feet down':>11}")
    down = np.concatenate([clip.contacts.mean(axis=-1) for clip in dataset.clips])
    for index, name in enumerate(vocabulary(dataset.skeleton)):
        chosen = label == index
        if chosen.any():
            low, middle, high = np.percentile(speed[chosen], [5, 50, 95])
            minutes_of = chosen.sum() / fps / 60
            lines.append(f"{name:8}{minutes_of:9.2f}{low:15.2f}{middle:8.2f}{high:7.2f}{down[chosen].mean():11.2f}")
    steps = sum(len(runs(clip.contacts[:, side])) for clip in dataset.clips for side in range(clip.contacts.shape[1]))
    lines += ["", f"{steps} contacts, {steps / max(dataset.seconds, 1e-9):.2f} a second"]
    minutes: dict[str, float] = {}
    for clip, tags in zip(dataset.clips, dataset.tags, strict=True):
        for tag in tags:
            minutes[tag] = minutes.get(tag, 0.0) + len(clip) / fps / 60
    lines.append("tags (minutes of clips that have them): " + ", ".join(f"{t} {m:.1f}" for t, m in minutes.items()))
    return "\n".join([*lines, *remarks(dataset)])


def remarks(dataset: Dataset) -> list[str]:
    """What was found wrong or mended, a line each."""
    pairs = zip(dataset.clips, dataset.sources, strict=True)
    return [f"{clip.name}: {defect}" for clip, source in pairs for defect in source.defects]


def _groups(takes: Sequence[Take]) -> list[list[Take]]:
    groups: dict[tuple[str, str, int], list[Take]] = {}
    for number, take in enumerate(takes):
        # A take without a group has a floor of its own.
        key = (take.group, take.level, -1 if take.group else number)
        groups.setdefault(key, []).append(take)
    return list(groups.values())


def _prepare_group(group: Sequence[Take], skeleton: Skeleton, fps: float) -> list[tuple[Clip, Source]]:
    raw, sources = [], []
    for take in group:
        first = t_pose_frames(take.clip)
        if first == len(take.clip):
            raise DatasetError(f"{take.clip.name!r} holds nothing but its T-pose", "Leave it out")
        defects = (f"{first} frames of T-pose dropped",) if first else ()
        clip, words = mended(take.clip.cut(first, len(take.clip)))
        defects = (*defects, *words)
        clip = replace(clip, skeleton=grounded_rest(take.clip.skeleton))
        raw.append(clip.resampled(fps))
        sources.append(Source(take.path, first, len(take.clip), take.licence, take.credit, defects))
    level = group[0].level
    if level != "none":
        floors = find_floors(raw, keep_slope=level != "tilt", lowest=level == "slope")
        raw = [levelled(clip, floor) for clip, floor in zip(raw, floors, strict=True)]
    if level != "slope":
        sources = [replace(s, defects=(*s.defects, *_uneven(c))) for c, s in zip(raw, sources, strict=True)]
    found = UNEVEN_CONTACTS if level == "slope" else None
    pairs = zip(raw, sources, strict=True)
    return [(_onto(with_root(with_contacts(c, found)), skeleton, level == "slope"), source) for c, source in pairs]


def _uneven(clip: Clip) -> tuple[str, ...]:
    """A remark where the lower foot rises and sinks more than it would on the level floor that is assumed."""
    low = sole_heights(clip, FlatGround()).min(axis=(1, 2))
    rise = float(np.subtract(*np.percentile(low, [90, 10])))
    if rise <= LEVEL_RISE_M:
        return ()
    return (f"the feet rise by {rise:.2f} m: learn from motion on level ground, steps are not found on this",)


def _onto(clip: Clip, skeleton: Skeleton, uneven: bool = False) -> Clip:
    """The clip on ``skeleton``; merely handed over where bones and offsets are the same.

    ``uneven``: its ground is not level, so that its feet stand wherever they are slow.
    """
    own = clip.skeleton
    if own.names == skeleton.names and np.allclose(own.offsets[1:], skeleton.offsets[1:], atol=2e-4) and np.allclose(
        own.rest_rotations, skeleton.rest_rotations, atol=1e-3
    ):
        return replace(clip, skeleton=skeleton)
    flat = replace(clip, skeleton=grounded_rest(flat_footed_rest(clip)))
    if uneven:
        return with_root(with_contacts(retarget(flat, skeleton), UNEVEN_CONTACTS))
    return with_root(with_contacts(retarget(flat, skeleton, stance=stance_heights(clip), above_ground=True)))


def _on_frame(frame: int, fps: float, rate: float) -> int:
    """The first frame from ``frame`` on that is one of the take's own, at ``rate``, too; itself if none is near."""
    for later in range(frame, frame + round(fps)):
        if abs(later * rate / fps - round(later * rate / fps)) < 1e-6:
            return later
    return frame


def _parts(take: Take, clip: Clip, source: Source, shortest: float) -> list[tuple[Clip, Source, int]]:
    """What is kept of a take: clips, where they come from, and the row of ``clip`` that each begins at."""
    fps, rate = clip.fps, take.clip.fps
    glitches = find_glitches(take.clip)
    begin, end = without_reference_pose(clip)
    if begin or end < len(clip):
        dropped = f"{begin} and {len(clip) - end} frames with the arms held out dropped at its ends"
        source = replace(source, defects=(*source.defects, dropped))
    found = []
    for first, last in take.ranges or ((source.first, source.last),):
        first, last = max(first, source.first), min(last, source.last)
        name = clip.name if not take.ranges else f"{clip.name} {first}-{last}"
        start, stop = (round((frame - source.first) * fps / rate) for frame in (first, last))
        if begin > start:
            start = _on_frame(begin, fps, rate)
            first = source.first + round(start * rate / fps)
        if end < stop:
            stop = end
            last = min(source.first + int(np.ceil(stop * rate / fps)), last)
        if stop - start < shortest * fps:
            continue
        near = [f"possible glitch near frame {frame} ({joint})" for frame, joint in glitches if first <= frame < last]
        origin = replace(source, first=first, last=last, defects=(*source.defects, *near[:5]))
        found.append((replace(clip.cut(start, stop), name=name), origin, start))
    return found
