"""The bake from curve to keyframes: `read_shot`, then `solve` (no Blender, any thread), then `write` (main thread)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .bake_settings import BakeSettings
from .gait_entry import AnyAnimal
from .motion import animal
from .motion.clip import Clip
from .motion.ducking import ducked
from .motion.errors import Cancelled, PackError
from .motion.figures import Figure, QualityReport
from .motion.gait_model.table import range_notes
from .motion.key_reduction import Tolerance
from .motion.likeness import Likeness
from .motion.metrics_reference import Reference, SpeedTable
from .motion.plan import Plan
from .motion.planting import Planted, plant_feet
from .motion.proportions import SizedGround
from .motion.report import Asked, judge
from .motion.retarget import retarget
from .motion.root_track import ground_under_root
from .motion.runs import runs
from .motion.skeleton import SIDES
from .motion.terrain import Terrain
from .planning import plan_shot
from .scene.actions import BakeError
from .scene.channels import Channel, channels_of
from .scene.layering import Reduce
from .scene.reduction import reduce_channels
from .scene.shot import Shot
from .systems.protocol import feels_ground
from .systems.synthesis import synthesise

#: Told the share done (0..1) and the stage; returns False to cancel.
Progress = Callable[[float, str], bool]
#: Response above this acceleration (m/s2) is called brisk.
_BRISK = 1.8


@dataclass(frozen=True)
class Solved:
    """Finished motion, not yet written.

    Attributes:
        shot: what it was made for.
        settings: what was asked.
        plan: in the world, at the model's rate.
        followed: the model's motion on its own skeleton, what the rest was made from; on level ground at height 0 if
            the model feels no ground.
        clip: on the rig's skeleton, at the model's rate, feet planted.
        keys: the same at the scene's rate.
        planted: what planting did; None if it was not asked for.
        channels: what to write.
        report: the quality; None if it was not judged.
        seconds: by stage.
        notes: what could not be done as asked.
    """

    shot: Shot
    settings: BakeSettings
    plan: Plan
    followed: Clip
    clip: Clip
    keys: Clip
    planted: Planted | None
    channels: tuple[Channel, ...]
    report: QualityReport | None
    seconds: Mapping[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Baked:
    """A bake that was written.

    Attributes:
        solved: the motion.
        written: where (`scene.actions.Written`).
        report: the quality with the bake error; None if it was not judged.
        seconds: by stage.
    """

    solved: Solved
    written: Any
    report: QualityReport | None
    seconds: Mapping[str, float]

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be done or written as asked, and how."""
        return (*self.solved.notes, *self.written.notes)


class _Watch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def solve(
    shot: Shot,
    system: Any,
    settings: BakeSettings | None = None,
    *,
    speeds: tuple[float, float] = (0.3, 3.0),
    reference: Mapping[str, Any] | Reference | None = None,
    progress: Progress | None = None,
    judged: bool = True,
) -> Solved:
    """Plan, motion, retarget, planting, channels and report. Touches nothing of Blender.

    Args:
        shot: from `scene.shot.read_shot`.
        system: from `systems.packs.load_system`, or `gait_entry.AnyAnimal`: the gait model moves the rig itself.
        settings: what is asked.
        speeds: slowest and fastest speed the pack covers, m/s.
        reference: the pack's measures of its capture (its ``reference``), to judge by.
        progress: told how far it is; returns False to cancel.
        judged: measure the quality.

    Raises:
        PathError, TerrainError, RigError, ClipError: what cannot be done.
        PackError: the pack walks on another number of legs than the character.
        Cancelled: ``progress`` said so.
    """
    settings, watch, tell = settings or BakeSettings(), _Watch(), _teller(progress)
    system, speeds = _fitting(system, shot, settings, speeds)
    # Somebody with shorter legs takes shorter steps: the model walks the way scaled to its own legs.
    like = Likeness.of(system.skeleton, shot.rig.skeleton)
    tell(0.0, "Planning")
    with watch.stage("plan"):
        plan, ahead = plan_shot(shot, system, settings, speeds, like)
    tell(0.05, "Walking")
    with watch.stage("motion"):
        dials = replace(settings.synthesis, plant=False)
        grounds = [SizedGround(ahead.ground, like.length)]
        made = synthesise(system, [like.plan(plan)], grounds, dials, lambda d: tell(0.05 + 0.5 * d, "Walking"))[0]
        followed = like.clip(made.followed, len(plan))
    tell(0.6, "Fitting to the character")
    with watch.stage("retarget"):
        clip = ducked(retarget(followed, shot.rig.skeleton), shot.overhead, plan)
    tell(0.7, "Planting feet")
    with watch.stage("plant"):
        planted = _planted(clip, ahead.ground, settings, feels_ground(system))
        clip = planted.clip if planted is not None else clip
    tell(0.85, "Making keys")
    with watch.stage("keys"):
        keys = clip.resampled(shot.fps)
        channels, fewer = _channels(shot, settings, keys, ahead.ground)
    tell(0.9, "Measuring" if judged else "Done")
    with watch.stage("report"):
        report = _judged(shot, settings, plan, clip, planted, reference, ahead.ground) if judged else None
    tell(1.0, "Done")
    motion, told = (followed, clip, keys), (*shot.notes, *ahead.notes, *plan.notes, *_other_gaits(plan, shot), *fewer)
    return Solved(shot, settings, plan, *motion, planted, tuple(channels), report, watch.seconds, told)


def _planted(clip: Clip, ground: Terrain, settings: BakeSettings, on_terrain: bool) -> Planted | None:
    """The clip with its feet planted, if that is asked for; ``on_terrain``: the model has felt the ground already."""
    if not settings.synthesis.plant:
        return None
    return plant_feet(clip, ground, settings.synthesis.planting, ground if on_terrain else None)


def write(solved: Solved, armature: Any, *, check: int = 12) -> Baked:
    """Write the keys; the only step that changes anything, and it changes all or nothing.

    Args:
        solved: from `solve`.
        armature: the armature object the shot was read from.
        check: compare Blender's own evaluation on so many frames; 0 for none.

    Raises:
        RigError: it cannot be written.
    """
    from .scene import actions, rigs, setup

    shot, settings = solved.shot, solved.settings
    watch = _Watch()
    watch.seconds.update(solved.seconds)
    marks = landings(solved.keys, settings.lifts) if settings.markers else ()
    with watch.stage("write"):
        actions_mode: Any = settings.output
        written = actions.write(
            armature, shot.rig, solved.channels, name=settings.name, frame_start=settings.frame_start,
            mode=actions_mode, contacts=marks, layer=settings.layer, reduce=_reducer(solved),
            fitted=settings.fit_scene,
        )  # fmt: skip
        if settings.fit_scene:
            setup.fit_frame_range(written.frame_start, written.frame_end)
    report = solved.report
    if check and rigs.shown(armature):
        with watch.stage("check"):
            error = actions.measure(
                armature, shot.rig, solved.keys, settings.frame_start, motion=shot.root_motion, samples=check,
                loose=shot.ik.loose if shot.ik else (), span=_whole(solved, written),
            )  # fmt: skip
        if report is not None:
            errors = bake_errors(error, solved.keys, shot.ik is not None, settings.tolerance)
            report = replace(report, figures=(*report.figures, *errors))
    return Baked(solved, written, report, watch.seconds)


def bake_errors(error: BakeError, keys: Clip, by_ik: bool, tolerance: Tolerance | None) -> tuple[Figure, Figure]:
    """What Blender shows against what was asked for, judged by what this way to write can hold."""
    bounds = (_finest(keys), 1e-3)
    if by_ik:
        # Blender's solver of limbs stops within a four-thousandth of a radian of its goal, hundredths of a millimetre.
        share = 2e-4 if keys.skeleton.four_legged else 1e-4
        bounds = (max(bounds[0], share * max(keys.skeleton.leg_length, 1.0)), 0.05)
    if tolerance is not None:
        bounds = (bounds[0] + tolerance.metres, bounds[1] + tolerance.degrees)
    return (
        Figure.of("bake_error", "bake error, greatest distance", error.metres, "m", bounds[0]),
        Figure.of("bake_error_angle", "bake error, greatest angle", error.degrees, "degrees", bounds[1]),
    )


def _fitting(
    system: Any, shot: Shot, settings: BakeSettings, speeds: tuple[float, float]
) -> tuple[Any, tuple[float, float]]:
    """The system and its speeds for this character; raises `PackError` where their legs differ."""
    skeleton = shot.rig.skeleton
    if isinstance(system, AnyAnimal):
        return system.on(skeleton, settings.gaits), system.speeds(skeleton)
    if system.skeleton.four_legged != skeleton.four_legged:
        mine, theirs = ("four", "two") if skeleton.four_legged else ("two", "four")
        instead = ' or "Gait model"' if skeleton.four_legged else ""
        raise PackError(
            f"This pack walks on {theirs} legs, and {shot.rig.name!r} has {mine}",
            f"Choose a pack for {mine} legs{instead}, or another character",
        )
    return system, speeds


def _other_gaits(plan: Plan, shot: Shot) -> tuple[str, ...]:
    """Words about gaits that an animal of this size does not go in at the speeds asked for."""
    if not shot.rig.skeleton.four_legged:
        return ()
    return range_notes(plan.speed, plan.actions, plan.action, animal.shoulder_height(shot.rig.skeleton))


def _whole(solved: Solved, written: Any) -> tuple[int, int]:
    """The first and last of the motion's frames that were written unblended."""
    settings = solved.settings
    first, last = written.frame_start - settings.frame_start, written.frame_end - settings.frame_start
    if settings.output != "layer":
        return first, last
    first, last = first + settings.layer.blend_in, last - settings.layer.blend_out
    return (first, last) if first <= last else ((first + last) // 2,) * 2


def _channels(
    shot: Shot, settings: BakeSettings, keys: Clip, ground: Terrain
) -> tuple[list[Channel], tuple[str, ...]]:
    """What to key; where fewer keys are asked for, how many and how near they are. Layers blend first."""
    height = ground_under_root(keys, ground)
    channels = channels_of(shot.rig, keys, shot.root_motion, height, shot.base, shot.ik)
    if settings.tolerance is None or settings.output == "layer":
        return channels, ()
    channels, found = reduce_channels(shot.rig, channels, keys.contacts, settings.tolerance, shot.base, shot.ik)
    told = (f"{100.0 * found.share():.0f}% of the keys kept: joints within {1000.0 * found.metres:.1f} mm and "
            f"{found.degrees:.2f} degrees, standing feet within {1000.0 * found.planted:.1f} mm")  # fmt: skip
    return channels, (told, *found.notes)


def _reducer(solved: Solved) -> Reduce | None:
    """Makes fewer keys of what a layer has blended; None if every frame gets its key."""
    tolerance, shot = solved.settings.tolerance, solved.shot
    if tolerance is None or solved.settings.output != "layer":
        return None

    def reduce(channels: Sequence[Channel], first: int, end: int) -> list[Channel]:
        planted = solved.keys.contacts[first:end]
        return reduce_channels(shot.rig, channels, planted, tolerance, shot.base, shot.ik)[0]

    return reduce


def _finest(clip: Clip) -> float:
    """The bake error that Blender's single precision leaves, metres: 1e-5 near the world's origin, more far from it."""
    return float(np.clip(4.0 * np.spacing(np.float32(np.abs(clip.hips).max(initial=0.0))), 1e-5, 1e-4))


def stands(clip: Clip, first: int = 0) -> dict[str, list[list[int]]]:
    """``left`` and ``right``, or the legs of `animal.LEGS`: [first, last] frame of each contact, from ``first`` on."""
    sides = animal.LEGS if clip.skeleton.four_legged else SIDES
    return {
        side: [[a + first, b - 1 + first] for a, b in runs(clip.contacts[:, column])]
        for column, side in enumerate(sides)
    }


def landings(clip: Clip, lifts: bool = False) -> tuple[tuple[str, int], ...]:
    """(text, frame) of each foot's landings, and of where it lifts, in order; animals' feet are LH, RH, LF and RF."""
    found = [(begin, _marker(side)) for side, spans in stands(clip).items() for begin, _ in spans]
    if lifts:
        found += [
            (last + 1, _marker(side, lifts=True)) for side, spans in stands(clip).items() for _, last in spans
            if last + 1 < len(clip)
        ]  # fmt: skip
    return tuple((text, frame) for frame, text in sorted(found))


def _marker(side: str, lifts: bool = False) -> str:
    """``L foot``, ``L lifts``; of animals ``LH``, ``LH lifts``."""
    short = "".join(word[0].upper() for word in side.split("_"))
    return f"{short} lifts" if lifts else short if len(short) > 1 else f"{short} foot"


def _teller(progress: Progress | None) -> Callable[[float, str], bool]:
    def tell(share: float, stage: str) -> bool:
        if progress is not None and not progress(share, stage):
            raise Cancelled
        return True

    return tell


def _judged(
    shot: Shot, settings: BakeSettings, plan: Plan, clip: Clip, planted: Planted | None,
    reference: Mapping[str, Any] | Reference | None, bridged: Terrain,
) -> QualityReport:  # fmt: skip
    if reference is not None and not isinstance(reference, Reference):
        reference = Reference(SpeedTable.from_json(reference)) if reference else None
    asked = Asked(settings.synthesis.exact, settings.limits.acceleration >= _BRISK, shot.title)
    return judge(
        clip, plan, shot.ground, reference, planted, curve=shot.points, cyclic=shot.cyclic, asked=asked,
        overhead=shot.overhead, bridged=bridged,
    )  # fmt: skip
