"""The gait model as a system: a performer that moves any four-legged skeleton along whole plans, without a pack."""

from __future__ import annotations

from ..motion.clip import Clip
from ..motion.gait_model.body import Body
from ..motion.gait_model.perform import perform_body
from ..motion.gait_model.settings import GaitSettings
from ..motion.gait_names import ANIMAL_ACTIONS
from ..motion.plan import Plan
from ..motion.skeleton import Skeleton


class GaitModel:
    """Fulfils `protocol.Performer`.

    Raises:
        RigError: the skeleton is not four-legged or lacks a leg.
    """

    def __init__(self, skeleton: Skeleton, settings: GaitSettings | None = None, fps: float = 60.0) -> None:
        self.skeleton = skeleton
        self.settings = settings or GaitSettings()
        self.fps = fps
        self.actions: tuple[str, ...] = ANIMAL_ACTIONS
        self._body = Body.of(skeleton)

    def perform(self, plan: Plan) -> Clip:
        """The motion along the plan, as many frames, on level ground at height 0, with its root and contacts."""
        return perform_body(self._body, plan, self.settings)
