"""A pack or a data set made ready to walk courses, for the benches: curve and speed in, finished motion out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.metrics_reference import CaptureReference, Reference, capture_reference
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Limits, Plan, make_plan
from blender_addon.motion.planting import Planted
from blender_addon.motion.rotations import Array
from blender_addon.motion.schedule import Schedule
from blender_addon.motion.terrain import Terrain
from blender_addon.systems.database import Database
from blender_addon.systems.features import clip_features
from blender_addon.systems.motion_matching import MotionMatching
from blender_addon.systems.protocol import System
from blender_addon.systems.synthesis import SynthesisSettings, synthesise


@dataclass(frozen=True)
class Walked:
    """One finished course, with what it is judged by."""

    clip: Clip
    plan: Plan
    planted: Planted
    reference: Reference | None


@dataclass
class Walker:
    """A system with its speeds and the capture it is compared with.

    Attributes:
        system: what walks.
        speeds: lowest and highest speed it covers, m/s.
        capture: the measured source frames, or only their table by speed, or neither.
        database: the capture's features; where the system has no source frames, those nearest to what
            it made count as its source.
        settings, limits: the dials.
    """

    system: System
    speeds: tuple[float, float]
    capture: CaptureReference | Reference | None = None
    database: Database | None = None
    settings: SynthesisSettings = field(default_factory=SynthesisSettings)
    limits: Limits = field(default_factory=Limits)

    @property
    def top_speed(self) -> float:
        """The highest speed covered, m/s."""
        return self.speeds[1]

    def synthesise(self, points: Array, cyclic: bool, speed: float, terrain: Terrain) -> Walked:
        """Curve points (n, 2), speed in m/s and terrain to the finished motion."""
        path = RootPath.from_points(points, cyclic)
        plan = make_plan(path, Schedule.constant(speed), limits=self.limits, fps=self.system.fps, speeds=self.speeds)
        made = synthesise(self.system, [plan], [terrain], self.settings)[0]
        if made.planted is None:
            raise ValueError("the benches judge planted motion")
        reference = self.capture
        if isinstance(reference, CaptureReference):
            reference = reference.reference(made.source if made.source.max() >= 0 else self._nearest(made.followed))
        return Walked(made.clip, plan, made.planted, reference)

    def _nearest(self, clip: Clip) -> npt.NDArray[np.int64] | None:
        """The capture's frames that are most like each frame of the clip."""
        if self.database is None:
            return None
        features = self.database.normalizer.apply(clip_features(clip))
        return np.array([self.database.index.nearest(row)[0] for row in features])


def load_walker(pack: Path | None, database: Path | None, speeds: tuple[float, float] = (0.3, 2.0)) -> Walker:
    """A walker from a trained pack, or by motion matching from a data set; a data set also lends its measures."""
    clips: Sequence[Clip] = ()
    built: Database | None = None
    if database is not None:
        data = Dataset.load(database)
        kept = [clip for clip, held_out in zip(data.clips, data.held_out, strict=True) if not held_out]
        built = Database.build(kept)
        clips = [image for clip in kept for image in (clip, clip.mirrored())]
        by_name = {clip.name: clip for clip in clips}
        clips = [by_name[name] for name in built.names]
    capture = capture_reference(clips) if clips else None
    if pack is not None:
        from blender_addon.systems.packs import load_system, read_pack

        return Walker(load_system(pack), read_pack(pack).speeds, capture, built)
    assert built is not None
    return Walker(MotionMatching(built), speeds, capture, built)
