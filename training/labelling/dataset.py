"""Labels of every clip of a data set: found automatically, kept where they were set by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels, label_clip
from blender_addon.motion.dataset import Dataset, Labelled
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.phases import global_phase

Indices = npt.NDArray[np.int64]


def label_dataset(
    dataset: Dataset, progress: Callable[[float], None] | None = None
) -> tuple[Dataset, list[ClipLabels]]:
    """A data set of two legs with contacts, phase and gaits of all its clips, and these labels.

    Frames that were set by hand keep what they were set to; frames that are labelled with other names than the gaits'
    keep those.

    Args:
        dataset: the motion; its clips' own contacts are not changed.
        progress: told the share that is done; may raise `Cancelled`.

    Raises:
        DatasetError: it is of four legs, or no foot stands in any of its clips.
    """
    if dataset.skeleton.four_legged:
        raise DatasetError(
            "This data set is of four legs, which have no common phase",
            "Label its actions in Blender, or train MANN, which needs no labels but actions",
        )
    names = tuple(dict.fromkeys((*BIPED_GAITS, *dataset.action_names)))
    found: list[ClipLabels] = []
    labelled: list[Labelled | None] = []
    for number, clip in enumerate(dataset.clips):
        own = dataset.labelled[number]
        labels = label_clip(clip, dataset.tags[number])
        if own is not None:
            labels = kept_by_hand(clip, labels, own)
        gaits = _gaits(dataset, number, labels.gaits, names)
        found.append(replace(labels, gaits=gaits, gait_names=names))
        edited = own.edited if own is not None else np.zeros(len(clip), dtype=np.bool_)
        left_out = own.left_out if own is not None else None
        labelled.append(Labelled(labels.contacts, labels.phase.reliable, edited, left_out))
        if progress:
            progress((number + 1) / len(dataset))
    if not any(label.contacts.any() for label in found):
        raise DatasetError(
            "No foot ever stands in this data set: no contact was found in any clip",
            "See that its scale and the map of its bones are right, and that it holds motion of legs",
        )
    return replace(dataset, action_names=names, actions=[one.gaits for one in found], labelled=labelled), found


def kept_by_hand(clip: Clip, labels: ClipLabels, own: Labelled) -> ClipLabels:
    """New labels of a clip, but for the frames set by hand, which stay as they are."""
    contacts = np.where(own.edited[:, None], own.contacts, labels.contacts)
    phase = global_phase(contacts.reshape(len(clip), 2, 2).any(axis=2), clip.fps)
    phase = replace(phase, reliable=np.where(own.edited, own.reliable, phase.reliable))
    return replace(labels, contacts=contacts, phase=phase)


def _gaits(dataset: Dataset, number: int, suggested: Indices, names: tuple[str, ...]) -> Indices:
    """Index into ``names`` of each frame of a clip."""
    if not dataset.action_names:
        return suggested
    track = dataset.actions[number]
    old = np.array([names.index(name) for name in dataset.action_names], dtype=np.int64)[track]
    other = np.array([name not in BIPED_GAITS for name in dataset.action_names])[track]
    own = dataset.labelled[number]
    kept = other if own is None else other | own.edited
    return np.where(kept, old, suggested)
