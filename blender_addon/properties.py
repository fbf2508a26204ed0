"""The settings that live in the scene, and the state of the moment that lives in the window manager (never saved)."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import choices, gait_properties, label_properties, library


def _is_armature(_self: Any, ob: bpy.types.Object) -> bool:
    return ob.type == "ARMATURE"


def _is_curve(_self: Any, ob: bpy.types.Object) -> bool:
    return ob.type == "CURVE"


def _is_ground(_self: Any, ob: bpy.types.Object) -> bool:
    return ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"}


def _changed(_self: Any, context: bpy.types.Context) -> None:
    """A setting that the motion depends on was changed: the preview must be made anew."""
    from .operators import preview_state

    preview_state.settings_changed(context)


def _redraw(_self: Any, context: bpy.types.Context) -> None:
    from .operators import common

    common.redraw(context, "VIEW_3D")


class GAITSMITH_PG_mark(bpy.types.PropertyGroup):
    """One place along the curve from which speed and action change."""

    at: FloatProperty(
        name="At (m)", min=0.0, soft_max=100.0, precision=2, step=10, update=_changed,
        description="Distance along the curve, in metres, where this mark takes effect",
    )
    action_name: StringProperty(default="walk", options={"HIDDEN"})
    action: EnumProperty(
        name="Action", items=choices.action_items, get=choices.get_action, set=choices.set_action, update=_changed,
        description="What the character does from this mark on",
    )
    speed: FloatProperty(
        name="Speed (m/s)", default=1.2, min=0.0, soft_min=0.3, soft_max=4.0, max=12.0, precision=2,
        step=10, update=_changed, description="How fast the character travels from this mark on, in metres a second",
    )
    pause: FloatProperty(
        name="Pause", default=0.0, min=0.0, soft_max=10.0, max=600.0, unit="TIME_ABSOLUTE", precision=2, step=10,
        update=_changed, description="Stop here and stand for so long before going on",
    )
    ease: FloatProperty(
        name="Ease (m)", default=0.5, min=0.0, soft_max=5.0, max=50.0, precision=2, step=10,
        update=_changed, description="Distance over which the speed changes to this mark's: short is abrupt",
    )


class GAITSMITH_PG_bone(bpy.types.PropertyGroup):
    """One row of the bone map: which bone of the rig plays which part."""

    role: StringProperty(name="Part", description="The part of the body")
    bone: StringProperty(
        name="Bone", description="The bone of your rig that moves this part; empty leaves the part alone",
    )
    required: BoolProperty(name="Required", description="The character cannot walk without this part")
    reason: StringProperty(name="Why", description="Why this bone was taken")
    sure: BoolProperty(name="Sure", default=True, description="The bone was recognised without doubt")


class GAITSMITH_PG_figure(bpy.types.PropertyGroup):
    """One figure of the quality report after a bake."""

    label: StringProperty(name="Figure")
    full: StringProperty(name="Full name", description="What was measured")
    text: StringProperty(name="Value", description="What was measured, with its unit")
    wanted: StringProperty(name="Wanted", description="What counts as good")
    verdict: EnumProperty(
        name="Verdict", items=choices.VERDICTS, description="Good, worth a look, or bad",
    )
    frame: IntProperty(name="Frame", default=choices.NO_FRAME, description="The frame where it is worst")


class GAITSMITH_PG_scene(bpy.types.PropertyGroup):
    """Everything an animator sets for a scene."""

    # Character
    armature: PointerProperty(
        name="Character", type=bpy.types.Object, poll=_is_armature, update=_changed,
        description="The armature that will walk. Left empty, the selected armature is taken",
    )
    bones: CollectionProperty(type=GAITSMITH_PG_bone)
    active_bone: IntProperty(name="Part", description="The part of the body whose bone you look at")
    # Path
    curve: PointerProperty(
        name="Path", type=bpy.types.Object, poll=_is_curve, update=_changed,
        description="The curve the character's root follows. Left empty, the selected curve is taken",
    )
    start: FloatProperty(
        name="Start (m)", default=0.0, min=0.0, soft_max=50.0, precision=2, step=10, update=_changed,
        description="Distance along the curve, in metres, at which the character begins",
    )
    reverse: BoolProperty(
        name="Reverse", default=False, update=_changed, description="Travel the curve from its end to its beginning",
    )
    facing: EnumProperty(
        name="Facing", items=choices.FACINGS, default="PATH", update=_changed,
        description="Where the body looks while it travels: sideways and backward steps follow from it",
    )
    facing_object: PointerProperty(
        name="Towards", type=bpy.types.Object, update=_changed, description="The body keeps facing this object",
    )
    facing_angle: FloatProperty(
        name="Direction", default=0.0, subtype="ANGLE", update=_changed,
        description="The direction the body keeps facing, seen from above, counter-clockwise; zero faces along -Y",
    )
    # Schedule
    action_name: StringProperty(default="walk", options={"HIDDEN"})
    action: EnumProperty(
        name="Action", items=choices.action_items, get=choices.get_action, set=choices.set_action, update=_changed,
        description="What the character does from the beginning, until a mark says otherwise",
    )
    speed: FloatProperty(
        name="Speed (m/s)", default=1.2, min=0.0, soft_min=0.3, soft_max=4.0, max=12.0, precision=2,
        step=10, update=_changed,
        description="How fast the character travels from the start until a mark says otherwise. An easy walk is 1.2",
    )
    marks: CollectionProperty(type=GAITSMITH_PG_mark)
    active_mark: IntProperty(
        name="Mark", update=_redraw, description="The mark whose settings are shown below the list",
    )
    # Terrain
    ground: EnumProperty(
        name="Ground", items=choices.GROUNDS, default="NONE", update=_changed,
        description="What the feet stand on",
    )
    ground_object: PointerProperty(
        name="Ground object", type=bpy.types.Object, poll=_is_ground, update=_changed,
        description="The feet are planted on this object, as its modifiers shape it",
    )
    ground_collection: PointerProperty(
        name="Ground collection", type=bpy.types.Collection, update=_changed,
        description="The feet are planted on every mesh in this collection, as its modifiers shape it",
    )
    # Motion
    pack_id: StringProperty(default=library.DEFAULT_PACK, options={"HIDDEN"})
    pack: EnumProperty(
        name="Pack", items=choices.pack_items, get=choices.get_pack, set=choices.set_pack, update=_changed,
        description="The trained motion: how the character moves, and what it can do",
    )
    system: EnumProperty(
        name="System", items=choices.system_items, get=choices.get_system, set=choices.set_system, update=_changed,
        description="The method that makes the motion from the pack",
    )
    system_name: StringProperty(default="", options={"HIDDEN"})
    responsiveness: FloatProperty(
        name="Responsiveness", default=0.5, min=0.0, max=1.0, subtype="FACTOR", update=_changed,
        description="How quickly the body answers to changes of speed and direction: low is calm, high is brisk",
    )
    follow: FloatProperty(
        name="Follow the path", default=1.0, min=0.0, max=1.0, subtype="FACTOR", update=_changed,
        description="How firmly the body is held to the curve: 1 stays on it, less lets it cut corners and drift",
    )
    exact: BoolProperty(
        name="Exactly", default=False, update=_changed,
        description="The root stays on the curve to the millimetre. The body still sways about it",
    )
    plant_feet: BoolProperty(
        name="Plant feet", default=True, update=_changed,
        description="Hold each foot still while it stands, and keep it on the ground",
    )
    # Preview
    show_skeleton: BoolProperty(
        name="Skeleton", default=True, update=_redraw, description="Draw the moving body as lines",
    )
    show_footprints: BoolProperty(
        name="Footprints", default=True, update=_redraw, description="Draw where each foot stands",
    )
    show_path: BoolProperty(
        name="Root path", default=True, update=_redraw, description="Draw the planned path of the root on the ground",
    )
    show_gait: BoolProperty(
        name="Gait diagram", default=False, update=_redraw,
        description="Draw when each foot stands, as bars over time around the current frame",
    )
    show_marks: BoolProperty(
        name="Marks", default=True, update=_redraw, description="Draw the schedule's marks along the curve",
    )
    gaits: PointerProperty(
        name="Gaits", type=gait_properties.GAITSMITH_PG_gaits, description="What the gait preview shows",
    )
    labels: PointerProperty(
        name="Labels", type=label_properties.GAITSMITH_PG_labels, description="What is labelled of actions, and shown",
    )
    # Output
    output: EnumProperty(
        name="Output", items=choices.OUTPUTS, default="NEW", description="Where the keyframes go",
    )
    root_motion: EnumProperty(
        name="Root motion", items=choices.ROOT_MOTIONS, default="BONE", description="What carries the travel",
    )
    rig_bones: EnumProperty(
        name="Keys on", items=choices.RIG_BONES, default="CONTROLS",
        description="Which bones of a generated Rigify rig get the keys",
    )
    controls: EnumProperty(
        name="Limbs by", items=choices.CONTROLS, default="FK",
        description="Which controls of a generated Rigify rig's arms and legs get the keys",
    )
    keys: EnumProperty(
        name="Keys", items=choices.KEYS, default="ALL", description="How many keys the motion gets",
    )
    key_degrees: FloatProperty(
        name="Angle", default=0.5, min=0.01, soft_max=5.0, max=45.0, precision=2, step=10,
        description="How far any joint may turn away from the motion, in degrees. More gives fewer keys",
    )
    key_millimetres: FloatProperty(
        name="Distance (mm)", default=2.0, min=0.01, soft_max=20.0, max=1000.0, precision=1, step=50,
        description="How far any joint may stray from the motion, in millimetres. Feet that stand keep to half of it "
                    "at least, and to 1 mm",
    )
    layer_whole: BoolProperty(
        name="All its frames", default=True, description="Lay the whole motion over the action",
    )
    layer_first: IntProperty(
        name="From", default=1, description="First frame of the action that the new motion goes over",
    )
    layer_last: IntProperty(
        name="To", default=100, description="Last frame of the action that the new motion goes over",
    )
    layer_in: IntProperty(
        name="Blend in", default=10, min=0, soft_max=50,
        description="Frames over which the action turns into the new motion",
    )
    layer_out: IntProperty(
        name="Blend out", default=10, min=0, soft_max=50,
        description="Frames over which the new motion turns back into the action",
    )
    frame_start: IntProperty(
        name="Start frame", default=1, update=_redraw, description="The frame at which the motion begins",
    )
    markers: BoolProperty(
        name="Landing markers", default=False, description="Set a marker in the action at each landing of a foot",
    )
    lifts: BoolProperty(
        name="Lift markers", default=False, description="Set a marker also where a foot leaves the ground",
    )
    fit_scene: BoolProperty(
        name="Fit frame range", default=True, description="Set the scene's start and end frame to the motion's",
    )
    # Retarget
    retarget_source: PointerProperty(
        name="Source", type=bpy.types.Object, poll=_is_armature,
        description="The armature whose motion the character takes over",
    )
    retarget_all: BoolProperty(
        name="All its actions", default=False,
        description="Take over every action in the file that moves the source; each becomes a new action",
    )
    retarget_action: PointerProperty(
        name="Action", type=bpy.types.Action,
        description="The action to take over. Left empty, the one that the source plays now",
    )
    retarget_plant: BoolProperty(
        name="Plant feet", default=True,
        description="Hold each foot still while it stands, on the ground chosen under Terrain",
    )
    retarget_at_source: BoolProperty(
        name="Where the source is", default=False,
        description="Begin at the place where the source begins. Otherwise the character begins from where it stands",
    )
    retarget_fps: FloatProperty(
        name="Source rate", default=0.0, min=0.0, soft_max=120.0, max=1000.0, precision=3,
        description="Frames a second at which the source was made, if it plays too slow or fast; 0 is the scene's rate",
    )
    # Report of the last bake
    report: CollectionProperty(type=GAITSMITH_PG_figure)
    report_title: StringProperty(name="Last bake")
    report_words: StringProperty(options={"HIDDEN"})
    report_all: BoolProperty(
        name="All figures", default=False, description="Show also figures that are good or have no limit",
    )
    # Training
    train_name: StringProperty(
        name="Name", default="My motion", description="Name of the pack that the training makes",
    )
    train_system: EnumProperty(
        name="System", items=choices.TRAINED_SYSTEMS, default="lmm", description="The method to train",
    )
    train_source: EnumProperty(
        name="From", items=choices.SOURCES, default="ACTIVE", description="Which actions the pack learns from",
    )
    train_minutes: FloatProperty(
        name="Minutes", default=10.0, min=0.5, soft_max=120.0, max=6000.0, precision=1,
        description="How long the training may take; longer moves better. It can be resumed later",
    )
    train_mirror: BoolProperty(
        name="Mirror", default=True,
        description="Learn every motion also with left and right swapped: twice the material",
    )


class GAITSMITH_PG_state(bpy.types.PropertyGroup):
    """What is going on now; never saved."""

    preview: BoolProperty(default=False)
    gaits_playing: BoolProperty(default=False)
    baking: BoolProperty(default=False)
    bake_cancel: BoolProperty(default=False)
    bake_fraction: FloatProperty(default=0.0, min=0.0, max=1.0)
    bake_stage: StringProperty()
    message: StringProperty()
    message_is_error: BoolProperty(default=False)
    message_where: StringProperty()
    retargeting: BoolProperty(default=False)
    retarget_cancel: BoolProperty(default=False)
    retarget_fraction: FloatProperty(default=0.0, min=0.0, max=1.0)
    retarget_stage: StringProperty()
    labelling: BoolProperty(default=False)
    label_cancel: BoolProperty(default=False)
    label_fraction: FloatProperty(default=0.0, min=0.0, max=1.0)
    label_stage: StringProperty()
    label_editing: BoolProperty(default=False)
    marks_editing: BoolProperty(default=False)
    training: BoolProperty(default=False)
    train_fraction: FloatProperty(default=0.0, min=0.0, max=1.0)
    train_stage: StringProperty()
    train_left: StringProperty()
    train_loss: StringProperty()
    check_text: StringProperty()


CLASSES = (
    GAITSMITH_PG_mark,
    GAITSMITH_PG_bone,
    GAITSMITH_PG_figure,
    GAITSMITH_PG_scene,
    GAITSMITH_PG_state,
)


def register() -> None:
    """Hang the settings on scenes and the state on the window manager."""
    bpy.types.Scene.gaitsmith = PointerProperty(type=GAITSMITH_PG_scene)
    bpy.types.WindowManager.gaitsmith = PointerProperty(type=GAITSMITH_PG_state)


def unregister() -> None:
    """Take them away again; what is saved in files stays there for the next time."""
    del bpy.types.Scene.gaitsmith
    del bpy.types.WindowManager.gaitsmith
