"""What an animator asks of a bake, whoever asks: the panel, a shot file, a tool."""

from __future__ import annotations

from dataclasses import dataclass, field

from .motion.facing import Facing
from .motion.gait_model.settings import GaitSettings
from .motion.key_reduction import Tolerance
from .motion.plan import Limits
from .motion.schedule import Schedule
from .scene.layering import Layer
from .systems.synthesis import SynthesisSettings


@dataclass(frozen=True)
class BakeSettings:
    """What the animator asked for.

    Attributes:
        schedule, limits, facing: of the plan.
        start: where on the curve to begin, metres.
        laps: how often to go round a closed curve.
        synthesis: the dials of the motion.
        frame_start: frame of the first key; may be negative.
        output: ``new``, ``replace``, ``nla`` or ``layer``.
        name: of a new action.
        markers: set a marker at each landing.
        lifts: set one also where a foot lifts.
        tolerance: how far fewer keys may be off; None for a key at every frame.
        layer: which frames of the action a layer goes over.
        fit_scene: set the scene's frame range to the motion.
        gaits: of the gait model, where no pack is used.
    """

    schedule: Schedule = field(default_factory=Schedule)
    limits: Limits = field(default_factory=Limits)
    facing: Facing = field(default_factory=Facing)
    start: float = 0.0
    laps: int = 1
    synthesis: SynthesisSettings = field(default_factory=SynthesisSettings)
    frame_start: int = 1
    output: str = "new"
    name: str = "Walk"
    markers: bool = False
    lifts: bool = False
    tolerance: Tolerance | None = None
    layer: Layer = field(default_factory=Layer)
    fit_scene: bool = False
    gaits: GaitSettings = field(default_factory=GaitSettings)
