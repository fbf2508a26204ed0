"""Labels of takes on their way into a data set: each clip takes over what is labelled of the frames it is cut from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .clip import Clip
from .contact_labels import flat_contacts
from .dataset import Labelled
from .gait_analysis.classify import GAIT_LABELS, label_gaits
from .gait_labels import BIPED_GAITS, label_biped_gaits
from .label_tracks import LabelTracks
from .rotations import Array

#: Columns of the balls in the labelled contacts of two legs.
_BALLS = [1, 3]


@dataclass(frozen=True)
class Tracks:
    """What a data set says of its clips' labels: as in `Dataset`; empty where no take is labelled."""

    action_names: tuple[str, ...] = ()
    actions: list[npt.NDArray[np.int64]] = field(default_factory=list)
    labelled: list[Labelled | None] = field(default_factory=list)


def with_labels(
    clips: Sequence[Clip], labels: Sequence[LabelTracks | None], rows: Sequence[Array]
) -> tuple[list[Clip], Tracks]:
    """Clips with their labelled contacts, and the tracks of a data set of them.

    Clips that are not labelled have their gaits found where others are, so that every frame has one.

    Args:
        clips: of one skeleton.
        labels: of the take that each is cut from; None where nothing is labelled.
        rows: for each clip the rows of its take's labels that its frames are at, fractional (frames,).
    """
    if not any(own is not None for own in labels):
        return list(clips), Tracks()
    four = clips[0].skeleton.four_legged
    names: list[list[str]] = []
    found: list[Clip] = []
    labelled: list[Labelled | None] = []
    for clip, own, at in zip(clips, labels, rows, strict=True):
        if own is None:
            vocabulary, values = (GAIT_LABELS, label_gaits(clip)) if four else (BIPED_GAITS, label_biped_gaits(clip))
            names.append([vocabulary[value] for value in values])
            labelled.append(None)
            found.append(clip)
            continue
        learned = own.learned_names()
        names.append([learned[row] for row in np.clip(np.round(at).astype(int), 0, len(own) - 1)])
        labelled.append(own.sampled(at))
        contacts = own.sampled(at).contacts
        found.append(replace(clip, contacts=contacts if four else flat_contacts(clip, contacts)[:, _BALLS]))
    used = [name for track in names for name in track]
    known = tuple(dict.fromkeys((*(GAIT_LABELS if four else BIPED_GAITS), *used)))
    actions = [np.array([known.index(name) for name in track], dtype=np.int64) for track in names]
    return found, Tracks(known, actions, labelled)
