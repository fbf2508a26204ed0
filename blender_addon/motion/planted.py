"""What planting may do, and what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .bridging import BoolArray
from .clip import Clip
from .footfalls import StepLimits
from .rotations import Array


@dataclass(frozen=True)
class PlantSettings:
    """What planting may do; lengths for legs of `planting.USUAL_LEG`.

    Attributes:
        steps: when locks are broken by inserted steps.
        step_height: lift of an inserted step, metres.
        clearance: height asked for in the middle of a swing, metres.
        least_clearance: of the whole sole, asked for in the middle of every swing, metres; people clear 1 to 2 cm.
        max_twist: a locked foot turns along with the body beyond this angle, radians.
        knee_follow: share of a foot's turn that the knee follows, 0 to 1.
        reach: a leg may be stretched to this share of its length, or as far as the source's was.
        pelvis_cutoff: the body follows the ground's height below this frequency, Hz.
        foothold_search: greatest shift of a foot along itself to find even ground, metres.
    """

    steps: StepLimits = field(default_factory=StepLimits)
    step_height: float = 0.05
    clearance: float = 0.015
    least_clearance: float = 0.013
    max_twist: float = np.radians(30.0)
    knee_follow: float = 0.5
    reach: float = 0.975
    pelvis_cutoff: float = 1.0
    foothold_search: float = 0.11


@dataclass(frozen=True)
class Planted:
    """A planted clip and what planting did.

    Attributes:
        clip: the motion, its contacts the final ones.
        contacts: final contacts (f, feet): inserted steps are swings.
        lock_offset: how far the lock moved each ball horizontally (f, feet), metres; 0 in swings.
        pelvis_drop: how far the pelvis was lowered for the legs' reach (f,), metres, terrain not counted.
        shortfall: how far each ankle stayed from its target (f, feet), metres.
        inserted_steps: number of steps put in where a lock was broken.
    """

    clip: Clip
    contacts: BoolArray
    lock_offset: Array
    pelvis_drop: Array
    shortfall: Array
    inserted_steps: int
