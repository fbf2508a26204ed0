"""What keeps motion from being learned by the phase of its steps, said before hours are spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from blender_addon.motion.clip import BoolArray, Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.gait_names import nearest_action
from blender_addon.motion.label_detection import belt_velocity
from blender_addon.motion.labels import STAND_SPEED, root_speed

from ..labelling.checks import clip_doubts

#: Less motion than this, seconds, with steps that go somewhere teaches nobody to walk.
LEAST_STEPS = 5.0
#: A gait is learned from so many seconds at least.
LEAST_GAIT = 1.0
#: So many doubtful clips are named.
_NAMED = 3


def check_learnable(dataset: Dataset, labels: Sequence[ClipLabels], window: int) -> str:
    """Refuse motion of which nothing can be learned by its phase; words about clips that are doubtful, empty if none.

    Args:
        dataset: of two legs. labels: of its clips. window: frames in the shortest stretch that is learned from.

    Raises:
        DatasetError: everything is kept for evaluation or left out, clips are too short, or no feet step along.
    """
    rows = [number for number, held in enumerate(dataset.held_out) if not held]
    if not rows:
        raise DatasetError("All clips are kept for evaluation", "Leave some to learn from")
    longest = max(len(dataset.clips[number]) for number in rows)
    if longest < window:
        raise DatasetError(f"The longest clip has {longest} frames; training needs stretches of {window}",
                           "Add longer clips")  # fmt: skip
    if not any(learned_frames(dataset, number).any() for number in rows):
        raise DatasetError("Everything is left out of learning", "Label some frames as to be learned")
    found = {number: clip_doubts(dataset.clips[number], labels[number]) for number in rows}
    doubts = {number: f"{dataset.clips[number].name}: {words[0]}" for number, words in found.items() if words}
    seconds = sum(
        np.count_nonzero(
            labels[number].phase.reliable & learned_frames(dataset, number) & labels[number].contacts.any(axis=1)
            & (root_speed(dataset.clips[number]) > STAND_SPEED)
        ) / dataset.fps
        for number in rows
    )  # fmt: skip
    if seconds < LEAST_STEPS:
        raise DatasetError(
            f"Only {seconds:.0f} s of this motion are steps that go somewhere, {LEAST_STEPS:.0f} s are needed"
            + (f" ({next(iter(doubts.values()))})" if doubts else ""),
            "Give it root motion and feet that stand while they bear the body, or set their contacts by hand",
        )
    # Who only stands takes no steps, as he should.
    odd = [words for number, words in doubts.items() if not _stands(dataset.clips[number], labels[number])]
    if not odd:
        return ""
    more = f"; and {len(odd) - _NAMED} more" if len(odd) > _NAMED else ""
    return f"{len(odd)} of {len(rows)} clips are doubtful: {'; '.join(odd[:_NAMED])}{more}"


def _stands(clip: Clip, label: ClipLabels) -> bool:
    """Whether a clip shows standing more than all else, not steps on a treadmill."""
    return bool(np.mean(np.array(label.gait_names)[label.gaits] == "stand") > 0.5) and belt_velocity(clip) is None


def learned_frames(dataset: Dataset, number: int) -> BoolArray:
    """Frames (f,) of a clip that are to be learned."""
    own = dataset.labelled[number]
    out = own.left_out if own is not None else None
    return np.ones(len(dataset.clips[number]), dtype=np.bool_) if out is None else ~out


def with_gaits_shown(dataset: Dataset, labels: Sequence[ClipLabels]) -> list[ClipLabels]:
    """The labels without the gaits that hardly a frame shows: a pack must not offer what it has not learned.

    Frames of such a gait count as what comes nearest (`gait_names.nearest_action`).
    """
    names = labels[0].gait_names
    seconds = np.zeros(len(names))
    for number, held in enumerate(dataset.held_out):
        if not held:
            shown = labels[number].gaits[learned_frames(dataset, number)]
            seconds += np.bincount(shown, minlength=len(names)) / dataset.fps
    kept = [name for name, long in zip(names, seconds, strict=True) if long >= LEAST_GAIT]
    kept = kept or [names[int(np.argmax(seconds))]]
    instead = np.array([kept.index(nearest_action(name, kept) or kept[0]) for name in names], dtype=np.int64)
    return [replace(label, gaits=instead[label.gaits], gait_names=tuple(kept)) for label in labels]
