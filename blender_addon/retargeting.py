"""Retargeting from action to keyframes: `read` the source, then `solve` (no Blender, any thread), then `write`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from .baking import bake_errors, landings
from .motion.clip import Clip
from .motion.errors import Cancelled, ClipError, RigError
from .motion.figures import QualityReport
from .motion.key_reduction import Tolerance
from .motion.planting import Planted, PlantSettings
from .motion.root_track import ground_under_root
from .motion.terrain import FlatGround, Terrain, require_ground
from .motion.transfer import Place, Ready, carry, finished, make_ready, plant, way
from .motion.transfer_report import judge_transfer
from .scene import actions as writer
from .scene import compat, rigs, setup, sources, terrain
from .scene.channels import Channel, ObjectBase, RootMotion, channels_of
from .scene.ik_channels import IkRig
from .scene.in_place import floor_of
from .scene.reduction import reduce_channels
from .scene.rigify_ik import with_ik
from .scene.rigs import Rig
from .scene.shot import Controls, scene_fps

#: Told the share done (0..1) and the stage; returns False to cancel.
Progress = Callable[[float, str], bool]
#: A motion on the spot needs ground this far around, metres.
_SPOT = 0.6


@dataclass(frozen=True)
class RetargetSettings:
    """What the animator asked for.

    Attributes:
        plant: plant the feet again, on the ground.
        at_source: begin where the source begins; else the character begins, from where it stands, as the source does.
        level: what to take away of the source's ground: its ``tilt`` and height, its ``height``, or ``none``.
        controls: which controls of a generated Rigify rig's limbs are keyed: ``fk``, ``ik`` or ``both``.
        tolerance: how far fewer keys may be off; None for a key at every frame.
        source_fps: frames a second of the source, overruling the scene's.
        root_motion: what carries the travel.
        frame_start: frame of the first key; the source's own when None.
        output: ``new``, ``replace`` or ``nla``; several actions are always new ones.
        name: of a new action; the source's with the character's when empty.
        markers: set a marker at each landing.
        lifts: set one also where a foot lifts.
        fit_scene: set the scene's frame range to the motion.
        planting: how feet are planted.
    """

    plant: bool = True
    at_source: bool = False
    level: str = "tilt"
    controls: Controls = "fk"
    tolerance: Tolerance | None = None
    source_fps: float | None = None
    root_motion: RootMotion = "bone"
    frame_start: int | None = None
    output: str = "new"
    name: str = ""
    markers: bool = False
    lifts: bool = False
    fit_scene: bool = False
    planting: PlantSettings = field(default_factory=PlantSettings)


@dataclass(frozen=True)
class Source:
    """One action, read.

    Attributes:
        action: its name.
        ready: its motion, made ready.
        first: frame of its first key.
        place: where its armature stands.
        ground: what the character will stand on.
    """

    action: str
    ready: Ready
    first: int
    place: Place
    ground: Terrain


@dataclass(frozen=True)
class Reading:
    """Everything that is read of Blender; after this nothing of it is held.

    Attributes:
        rig: the character.
        sources: the actions.
        fps: the scene's frame rate.
        base: the armature object's own frame, where the object carries the travel.
        ik: limbs that are keyed by their IK controls.
        settings: what was asked.
        source: name of the source's armature.
    """

    rig: Rig
    sources: tuple[Source, ...]
    fps: float
    base: ObjectBase | None
    ik: IkRig | None
    settings: RetargetSettings
    source: str


@dataclass(frozen=True)
class Solved:
    """One finished action, not yet written.

    Attributes:
        source: what it was made from.
        name: of the new action.
        clip: on the character's skeleton, at the solver's rate.
        keys: the same at the scene's rate.
        planted: what planting did; None if it was not asked for.
        channels: what to write.
        frame_start: frame of the first key.
        report: the quality.
    """

    source: Source
    name: str
    clip: Clip
    keys: Clip
    planted: Planted | None
    channels: tuple[Channel, ...]
    frame_start: int
    report: QualityReport


@dataclass(frozen=True)
class Done:
    """One action that was written, with its quality; the bake error among the figures."""

    solved: Solved
    written: Any
    report: QualityReport


def reading(
    source: Any, target: Any, actions: Sequence[Any] = (), ground: Any = None,
    settings: RetargetSettings | None = None, *, bones: Any = None, deform: bool = False, fps: float | None = None,
) -> Generator[tuple[float, str], None, Reading]:  # fmt: skip
    """Read source, character and ground bit by bit, in the main thread; yields the share done and the stage.

    Args:
        source: the source's armature object.
        target: the character's.
        actions: what to carry over; the source's own action when empty.
        ground: an object, a collection, a `Terrain`, or None for level ground under the character.
        settings: what is asked.
        bones: the character's bone map; the kept or guessed one when not given.
        deform: key a generated Rigify rig's deform bones.
        fps: the rate at which keys are wanted; the scene's when not given.

    Raises:
        RigError, ClipError, TerrainError: what cannot be done, before anything was changed.
    """
    settings = settings or RetargetSettings()
    sources.check_source(source, target)
    rig = rigs.read_rig(target, bones, deform=deform)
    rig, ik = (rig, None) if settings.controls == "fk" else with_ik(target, rig, settings.controls == "both")
    base = writer.object_base(target) if settings.root_motion == "object" else None
    own = source.animation_data.action if source.animation_data else None
    chosen = list(actions) or ([own] if own is not None else [])
    if not chosen:
        raise ClipError(f"The source {source.name!r} has no action", "Choose an action, or give it one")
    for action in chosen:
        sources.check_action(action, source)
    skeleton, place = sources.source_skeleton(source)
    fps = fps or scene_fps(bpy.context.scene)
    # Only names are kept from here on: while Blender has its turn, things may be removed or undone.
    names, whose, whom = [action.name for action in chosen], source.name, target.name
    firsts = [int(round(action.frame_range[0])) for action in chosen]
    on = sources.NamedGround.of(ground)
    found: list[Source] = []
    for number, (name, first) in enumerate(zip(names, firsts, strict=True)):
        pieces = sources.read_in_pieces(whose, name, skeleton, settings.source_fps)
        while True:
            try:
                share = next(pieces)
            except StopIteration as stop:
                clip: Clip = stop.value
                break
            yield (number + share) / len(chosen), f"Reading {name}"
        ready = make_ready(clip, fps, settings.level, settings.plant)
        field_ = _ground(on.now(), ready, rig, place, settings, sources.object_named(whom))
        found.append(Source(name, ready, first, place, field_))
    return Reading(rig, tuple(found), fps, base, ik, settings, whose)


def read(*arguments: Any, **options: Any) -> Reading:
    """`reading` in one go."""
    pieces = reading(*arguments, **options)
    while True:
        try:
            next(pieces)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


def solve(found: Reading, progress: Progress | None = None) -> tuple[Solved, ...]:
    """Carry over, plant, make channels and measure, action by action. Touches nothing of Blender.

    Raises:
        RigError, ClipError: what cannot be done.
        Cancelled: ``progress`` said so.
    """
    done = []
    for number, source in enumerate(found.sources):

        def tell(share: float, stage: str, at: int = number) -> None:
            if progress is not None and not progress((at + share) / len(found.sources), stage):
                raise Cancelled

        done.append(_solve(found, source, tell))
    if progress is not None and not progress(1.0, "Done"):
        raise Cancelled
    return tuple(done)


def write(found: Reading, solved: Sequence[Solved], target: Any, *, check: int = 12) -> tuple[Done, ...]:
    """Write all actions, or none; the first is the one that plays afterwards.

    Args:
        found: from `read`.
        solved: from `solve`.
        target: the character's armature object.
        check: compare Blender's own evaluation on so many frames; 0 for none.

    Raises:
        RigError: it cannot be written.
    """
    data = target.animation_data
    before = data.action if data else None
    settings = found.settings if len(solved) == 1 else replace(found.settings, output="new")
    done: list[Done] = []
    try:
        for one in reversed(solved):
            done.append(_write(found, one, target, settings, check))
    except BaseException:
        setup.discard_actions(one.written.action for one in done)
        if done:
            compat.bind_action(target, before)
        raise
    setup.keep_actions(one.written.action for one in done[:-1])
    if settings.fit_scene:
        setup.fit_frame_range(done[-1].written.frame_start, _end(done))
    return tuple(reversed(done))


def retarget_actions(
    source: Any, target: Any, actions: Sequence[Any] = (), ground: Any = None, settings: RetargetSettings | None = None,
    **options: Any,
) -> tuple[Done, ...]:  # fmt: skip
    """Read, solve and write in one go, for scripts."""
    found = read(source, target, actions, ground, settings, **options)
    return write(found, solve(found), target)


def _end(done: Sequence[Done]) -> int:
    return int(done[-1].written.frame_end)


def _solve(found: Reading, source: Source, tell: Callable[[float, str], None]) -> Solved:
    settings, rig = found.settings, found.rig
    tell(0.0, f"Carrying over {source.action}")
    clip = carry(source.ready, rig.skeleton, source.place, _target_place(rig, settings))
    tell(0.3, "Planting feet")
    planted = None
    if settings.plant:
        planted = plant(clip, source.ready, source.ground, settings.planting)
        clip = planted.clip
    else:
        level = float(source.ground.height(clip.root[:1, :2])[0])
        clip = replace(clip, hips=clip.hips + np.array([0.0, 0.0, level]))
    tell(0.7, "Measuring")
    ground: Terrain = source.ground
    if source.ready.on_the_spot or not settings.plant:
        ground = FlatGround(float(ground.height(clip.root[:1, :2])[0]))
    report = judge_transfer(
        clip, source.ready.clip, ground, planted.lock_offset if planted else None, f"{source.action} on {rig.name}",
        source.ready.notes,
    )  # fmt: skip
    tell(0.9, "Making keys")
    clip = finished(clip, source.ready)
    keys = clip.resampled(found.fps)
    channels = channels_of(rig, keys, settings.root_motion, ground_under_root(keys, ground), found.base, found.ik)
    if settings.tolerance is not None:
        channels, fewer = reduce_channels(rig, channels, keys.contacts, settings.tolerance, found.base, found.ik)
        report = replace(report, notes=(*report.notes, *fewer.notes))
    name = settings.name or f"{source.action} {rig.name}"
    first = source.first if settings.frame_start is None else settings.frame_start
    return Solved(source, name, clip, keys, planted, tuple(channels), first, report)


def _write(found: Reading, one: Solved, target: Any, settings: RetargetSettings, check: int) -> Done:
    mode: Any = settings.output
    written = writer.write(
        target, found.rig, one.channels, name=one.name, frame_start=one.frame_start, mode=mode,
        fitted=settings.fit_scene, contacts=landings(one.keys, settings.lifts) if settings.markers else (),
    )  # fmt: skip
    report = one.report
    if check and rigs.shown(target):
        error = writer.measure(
            target, found.rig, one.keys, one.frame_start, motion=settings.root_motion, samples=check,
            loose=found.ik.loose if found.ik else (),
        )  # fmt: skip
        errors = bake_errors(error, one.keys, found.ik is not None, settings.tolerance)
        report = replace(report, figures=(*report.figures, *errors))
    return Done(one, written, replace(report, notes=(*report.notes, *written.notes)))


def _target_place(rig: Rig, settings: RetargetSettings) -> Place | None:
    return None if settings.at_source else Place((float(rig.place[0]), float(rig.place[1])), rig.facing)


def _ground(
    ground: Any, ready: Ready, rig: Rig, place: Place, settings: RetargetSettings, target: Any
) -> Terrain:
    """What the character will stand on."""
    level = ready.floor / ready.factor if settings.at_source else floor_of(rig)
    if ground is None or not settings.plant:
        return FlatGround(level)
    track = way(ready, rig.skeleton, place, _target_place(rig, settings))
    if ready.on_the_spot:
        track = track[0] + _SPOT * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    points = np.concatenate([track, np.full((len(track), 1), level)], axis=1)
    # A figure that stands has no way: the ground is read around it all the same.
    if float(np.ptp(points[:, :2], axis=0).max()) < 0.1:
        points = points[:1] + np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]])
    if hasattr(ground, "height"):
        field_: Terrain = ground
    else:
        field_ = terrain.read_ground(ground, points, target)
    require_ground(field_, points[:, :2])
    return field_


__all__ = [
    "Cancelled", "Done", "Reading", "RetargetSettings", "RigError", "Solved", "Source", "read", "reading",
    "retarget_actions", "solve", "write",
]  # fmt: skip
