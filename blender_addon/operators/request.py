"""The bridge from the panel's settings to the work: plan, preview, bake. No mathematics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy

from .. import baking, library
from ..bake_settings import BakeSettings
from ..choices import FIGURE_NAMES
from ..motion.errors import GaitsmithError, PackError
from ..motion.facing import Facing
from ..motion.figures import Figure, QualityReport
from ..motion.gait_model.settings import GaitSettings
from ..motion.gait_names import STAND_INS, absent_notes
from ..motion.gait_words import gait_words
from ..motion.key_reduction import Tolerance
from ..motion.path import RootPath
from ..motion.picture import Picture, lifted, picture
from ..motion.plan import Limits, Plan, make_plan
from ..motion.schedule import AUTO, RESTS, STAND, Mark, Schedule
from ..motion.skeleton import Skeleton
from ..systems.synthesis import SynthesisSettings
from . import animal, common
from .worker import Progress

if TYPE_CHECKING:
    from ..scene.layering import Layer

#: Frames a second at which the panel plans, to know how long the motion lasts.
LOOK_FPS = 15.0
ROOT_MOTIONS = {"BONE": "bone", "OBJECT": "object", "IN_PLACE": "in place", "HIPS": "hips"}
#: Where a bake has gone, in words.
WHERE = {"nla": "as an NLA strip", "replace": "over the action", "layer": "as a layer over the action"}
#: Share of the loading of a pack in a bake's progress.
LOADING = 0.05
#: Smaller figures are only said to be smaller.
LEAST_SHOWN = 0.001


@dataclass(frozen=True)
class Request:
    """A bake, read from the scene; names and numbers, nothing of Blender.

    Attributes:
        armature: name of the armature object.
        shot, settings: what to make.
        pack: what to make it with.
    """

    armature: str
    shot: Any
    settings: BakeSettings
    pack: library.Pack


@dataclass(frozen=True)
class FigureRow:
    """One figure for the panel Quality; ``frame`` in frames of the scene."""

    label: str
    full: str
    text: str
    wanted: str
    mark: str
    frame: int | None = None


@dataclass(frozen=True)
class Done:
    """What a bake says when it is done; ``words`` are of the motion, for the panel Quality."""

    message: str
    title: str
    figures: tuple[FigureRow, ...]
    words: tuple[str, ...] = ()


def read(context: bpy.types.Context, schedule: Schedule | None = None, pack_id: str = "") -> Request:
    """Read the scene for a bake.

    Args:
        context: Blender's.
        schedule: in place of the panel's.
        pack_id: in place of the pack in use.

    Raises:
        GaitsmithError: what is missing or broken.
    """
    from ..scene import shot

    chosen = common.settings(context)
    pack = usable_pack(pack_id or animal.pack_id(context))
    misfit = animal.misfit(context, pack)
    if misfit:
        raise PackError(misfit)
    armature = common.chosen_armature(context)
    schedule = schedule or schedule_of(chosen)
    if pack.actions:
        schedule.check_actions(pack.actions, STAND_INS)
    found = shot.read_shot(
        armature, common.chosen_curve(context), ground_of(chosen), reverse=chosen.reverse,
        root_motion=ROOT_MOTIONS[chosen.root_motion], deform=chosen.rig_bones == "DEFORM", scene=context.scene,
        controls=controls_of(chosen, armature),
    )  # fmt: skip
    settings = BakeSettings(
        schedule, limits_of(context), facing_of(chosen), start=chosen.start,
        synthesis=SynthesisSettings(chosen.follow, chosen.exact, chosen.plant_feet),
        frame_start=chosen.frame_start, output=chosen.output.lower(), name=f"{armature.name} {schedule_name(schedule)}",
        markers=chosen.markers, lifts=chosen.lifts, tolerance=tolerance_of(chosen), layer=layer_of(chosen),
        fit_scene=chosen.fit_scene and chosen.output != "LAYER", gaits=gaits_of(armature, found.rig.skeleton),
    )  # fmt: skip
    return Request(armature.name, found, settings, pack)


def solve(request: Request, progress: Progress | None = None, judged: bool = True) -> baking.Solved:
    """Make the motion; touches nothing of Blender, runs in any thread."""
    if progress is not None:
        progress(0.0, "Loading the pack")
    system, info = library.load(request.pack)

    def tell(share: float, stage: str) -> bool:
        return progress is None or progress(LOADING + (1.0 - LOADING) * share, stage)

    solved = baking.solve(
        request.shot, system, request.settings, speeds=info.speeds, reference=info.reference or None, progress=tell,
        judged=judged,
    )  # fmt: skip
    if solved.report is None or not solved.clip.skeleton.four_legged:
        return solved
    # The gait model has no capture that figures could be left out for.
    notes = () if request.pack.id == library.GAIT_MODEL else solved.report.notes
    return replace(solved, report=replace(solved.report, notes=(*notes, *gait_words(solved.clip))))


def write(context: bpy.types.Context, request: Request, solved: baking.Solved) -> Done:
    """Write the keys, in the main thread; raises `GaitsmithError`, and then nothing was changed."""
    armature = bpy.data.objects.get(request.armature)
    if armature is None:
        raise GaitsmithError(
            f"The armature {request.armature!r} was removed or renamed while it was baked", "Choose it, then bake again"
        )
    baked = baking.write(solved, armature)
    written = baked.written
    where = WHERE.get(written.mode, "as a new action")
    text = f"{armature.name}: frames {written.frame_start} to {written.frame_end} {where} {written.action!r}"
    seconds = sum(baked.seconds.values())
    lines = [f"{text}, in {seconds:.1f} s", *baked.notes]
    words = baked.report.notes if baked.report is not None else ()
    return Done("\n".join(lines), f"{written.action}, {solved.shot.title}", figure_rows(baked.report, solved), words)


def figure_rows(report: QualityReport | None, solved: baking.Solved) -> tuple[FigureRow, ...]:
    """A report's measured figures as rows; frames of the clip become frames of the scene."""
    return report_rows(report, solved.settings.frame_start, solved.shot.fps) if report is not None else ()


def report_rows(report: QualityReport, frame_start: int, fps: float) -> tuple[FigureRow, ...]:
    """A report's measured figures as rows, for motion that begins at a frame of a scene of so many frames a second."""
    rows = []
    for figure in report.figures:
        if not figure.measured:
            continue
        frame = None
        if figure.worst_frame is not None:
            frame = frame_start + round(figure.worst_frame / report.fps * fps)
        shown = _in_handy_units(figure)
        short = FIGURE_NAMES.get(figure.key, figure.name)
        rows.append(FigureRow(short, figure.name, reading(shown.value, shown.unit), shown.wish, figure.mark, frame))
    return tuple(rows)


def _in_handy_units(figure: Figure) -> Figure:
    """The same figure in millimetres where it was measured in metres."""
    if figure.unit != "m":
        return figure
    wanted, low = (None if limit is None else 1e3 * limit for limit in (figure.wanted, figure.low))
    return replace(figure, value=1e3 * figure.value, unit="mm", wanted=wanted, low=low)


def reading(value: float, unit: str = "") -> str:
    """A figure for reading: three digits, never an exponent; what is too small to matter is said to be so."""
    size = abs(value)
    if 0.0 < size < LEAST_SHOWN:
        text = f"< {LEAST_SHOWN:g}"
    else:
        text = f"{value:.0f}" if size >= 100.0 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def preview(context: bpy.types.Context) -> Callable[[Progress], Picture]:
    """Read the scene; returns the computation of the picture, for another thread."""
    from ..scene import curves

    request = read(context)
    unit = curves.metres_per_unit(context.scene)

    def work(progress: Progress) -> Picture:
        solved = solve(request, progress, judged=False)
        height = solved.shot.ground.height(solved.plan.positions)
        return picture(solved.clip, lifted(solved.plan.positions, height), unit)

    return work


def usable_pack(pack_id: str) -> library.Pack:
    """The chosen pack; raises `PackError` unless it can be used."""
    pack = library.find(pack_id)
    if pack is None:
        raise PackError(f"The pack {pack_id!r} is not installed", "Choose another under Motion, or import it")
    if pack.problem:
        raise PackError(pack.problem)
    return pack


def ground_of(chosen: Any) -> Any:
    """What the feet stand on: an object, a collection, or None for a level floor."""
    return {"OBJECT": chosen.ground_object, "COLLECTION": chosen.ground_collection}.get(chosen.ground)


def schedule_name(schedule: Schedule) -> str:
    """What an action is called: the actions asked for."""
    return " ".join("gaits" if name == AUTO else name for name in schedule.actions if name not in RESTS) or "walk"


def create_character(context: bpy.types.Context) -> bpy.types.Object:
    """The chosen pack's character at the beginning of the path; raises `GaitsmithError`."""
    from ..scene import character

    pack = usable_pack(animal.pack_id(context))
    return character.create_character(library.info_of(pack).skeleton, collection=context.collection)


def clear(armature: bpy.types.Object) -> str:
    """Take the bake off a character; what to tell the user."""
    from ..scene import actions, rigs

    rigs.check_writable(armature)
    return f"Took {actions.clear(armature)!r} off {armature.name}"


def unbake(armature: bpy.types.Object) -> str:
    """Put back what was there before the latest bake; what to tell the user."""
    from ..scene import rigs
    from ..scene import unbake as undo

    rigs.check_writable(armature)
    return f"Took {undo.unbake(armature)!r} back: {armature.name} is as it was before"


def can_unbake(armature: bpy.types.Object) -> bool:
    """Whether there is a bake to take back."""
    from ..scene import unbake as undo

    return undo.baked_action(armature) is not None


def controls_of(chosen: Any, armature: bpy.types.Object | None) -> Any:
    """Which controls of the limbs are keyed: the choice shows, and counts, on generated rigs alone."""
    from ..scene import rigify

    if armature is None or chosen.rig_bones == "DEFORM" or not rigify.has_controls(armature.data.bones):
        return "fk"
    return chosen.controls.lower()


def tolerance_of(chosen: Any) -> Tolerance | None:
    """How far fewer keys may be off; None for a key at every frame."""
    if chosen.keys == "ALL":
        return None
    metres = chosen.key_millimetres / 1000.0
    return Tolerance(chosen.key_degrees, metres, min(0.5 * metres, 0.001))


def layer_of(chosen: Any) -> Layer:
    """Which frames a layer goes over."""
    from ..scene.layering import Layer

    if chosen.layer_whole:
        return Layer(None, None, chosen.layer_in, chosen.layer_out)
    return Layer(chosen.layer_first, chosen.layer_last, chosen.layer_in, chosen.layer_out)


def push_to_nla(armature: bpy.types.Object) -> str:
    """Lay the action down as a strip; what to tell the user."""
    from ..scene import actions, rigs

    rigs.check_writable(armature)
    return f"{actions.push_to_nla(armature)!r} is now a strip in the NLA editor"


def schedule_of(chosen: Any) -> Schedule:
    """The panel's schedule: what holds from the start, then the marks; raises `PathError`."""
    marks = [Mark(0.0, chosen.speed, chosen.action_name)] if chosen.action_name != STAND else []
    for mark in chosen.marks:
        marks.append(Mark(mark.at, mark.speed, mark.action_name, mark.pause, mark.ease))
    return Schedule(marks)


def gaits_of(armature: bpy.types.Object, skeleton: Skeleton) -> GaitSettings:
    """How the gait model moves an animal: in the manner of its own cycle, if one is kept with it."""
    from ..scene import gait_shape

    return GaitSettings(shape=gait_shape.kept(armature, skeleton)) if skeleton.four_legged else GaitSettings()


def limits_of(context: bpy.types.Context) -> Limits:
    """What the character's body can do, as brisk as the panel says."""
    return Limits.responsive(common.settings(context).responsiveness, four_legged=animal.legs(context) == 4)


def facing_of(chosen: Any) -> Facing:
    """Where the body looks; raises `PathError`."""
    if chosen.facing == "OBJECT":
        from ..scene import shot

        return Facing("object", target=shot.check_facing_target(chosen.facing_object))
    return Facing("fixed", yaw=chosen.facing_angle) if chosen.facing == "FIXED" else Facing("path")


def plan_of(context: bpy.types.Context, path: RootPath, fps: float = LOOK_FPS) -> Plan:
    """The plan of the panel's settings along a path; raises `PathError`."""
    chosen = common.settings(context)
    pack = library.find(animal.pack_id(context))
    speeds = {"speeds": pack.speeds} if pack is not None and pack.speeds is not None else {}
    if pack is not None and pack.id == library.GAIT_MODEL:
        speeds = {"speeds": animal.speed_range(context, AUTO)}
    limits = limits_of(context)
    schedule, absent = schedule_of(chosen), ()
    if pack is not None and pack.actions:
        schedule.check_actions(pack.actions, STAND_INS)
        absent = absent_notes(schedule, pack.actions)
    plan = make_plan(
        path.reversed() if chosen.reverse else path, schedule, limits=limits, facing=facing_of(chosen), fps=fps,
        start=chosen.start, **speeds,
    )  # fmt: skip
    return replace(plan, notes=(*absent, *plan.notes))
