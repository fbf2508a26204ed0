"""All labels of a two-legged clip: contacts of heels and toes, phase, gaits; found automatically, or edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .clip import BoolArray, Clip
from .contact_labels import feet_of, label_contacts
from .contacts import on_uneven_ground
from .dataset import Labelled
from .gait_labels import BIPED_GAITS, label_biped_gaits
from .phases import Phase, global_phase

#: Tags that say that the ground was not level.
UNEVEN_TAGS: tuple[str, ...] = ("slope", "uneven")


@dataclass(frozen=True)
class ClipLabels:
    """What is labelled of one clip.

    Attributes:
        contacts: (f, 4), columns as `contact_labels.CONTACT_POINTS`.
        phase: its global phase.
        gaits: index into ``gait_names`` of every frame (f,).
        gait_names: the vocabulary.
        uneven: whether its ground is not level.
    """

    contacts: BoolArray
    phase: Phase
    gaits: npt.NDArray[np.int64]
    gait_names: tuple[str, ...] = BIPED_GAITS
    uneven: bool = False


def label_clip(clip: Clip, tags: Sequence[str] = (), labelled: Labelled | None = None) -> ClipLabels:
    """All labels of a clip as they are found from its feet, its speed and its height.

    Args:
        clip: two-legged motion. tags: as in a data set.
        labelled: its contacts and where its phase is reliable, where that is labelled already.
    """
    uneven = uneven_ground(clip, tags)
    contacts = label_contacts(clip, uneven) if labelled is None else labelled.contacts
    phase = global_phase(feet_of(contacts), clip.fps)
    if labelled is not None:
        phase = replace(phase, reliable=labelled.reliable)
    return ClipLabels(contacts, phase, label_biped_gaits(clip), uneven=uneven)


def uneven_ground(clip: Clip, tags: Sequence[str] = ()) -> bool:
    """Whether a clip's ground is not level: its tags say so, or the heights at which its feet stand.

    A foot that swings high in one place, as in a jump, stands on nothing.
    """
    return bool(set(UNEVEN_TAGS) & set(tags)) or ("jump" not in tags and on_uneven_ground(clip))
