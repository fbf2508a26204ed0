"""The items of the menus: fixed ones as constants, those that depend on the installed packs as callbacks."""

from __future__ import annotations

import zlib
from typing import Any

import bpy

from . import library
from .motion.animal import LEGS
from .motion.gait_analysis.classify import GAIT_LABELS
from .motion.gait_labels import BIPED_GAITS
from .motion.gait_names import ANIMAL_ACTIONS, GAITS
from .motion.schedule import DEFAULT_SPEEDS, STAND
from .operators import animal

Item = tuple[str, str, str, str, int]

#: A report's figure that belongs to no frame.
NO_FRAME = -(2**31)

FACINGS = (
    ("PATH", "Along path", "Look where it goes"),
    ("OBJECT", "Towards object", "Keep looking at an object"),
    ("FIXED", "Fixed", "Keep one direction"),
)
GROUNDS = (
    ("NONE", "Flat", "A flat floor at the height of the curve's start"),
    ("OBJECT", "Object", "Stand on one object"),
    ("COLLECTION", "Collection", "Stand on all meshes of a collection"),
)
OUTPUTS = (
    ("NEW", "New action", "Write a new action; the one in use stays in the file"),
    ("REPLACE", "Replace", "Write over the action in use"),
    ("LAYER", "Layer", "Go over some frames of the action in use, blended in and out; its other frames stay"),
    ("NLA", "NLA strip", "Write a new action and lay it down as a strip in the NLA editor"),
)
ROOT_MOTIONS = (
    ("BONE", "Root bone", "The rig's root bone travels. Without one the hips do"),
    ("OBJECT", "Object", "The armature object travels, the root bone stays"),
    ("IN_PLACE", "In place", "Nothing travels: the character walks on the spot"),
    ("HIPS", "Hips", "The hips carry the travel, the root bone stays"),
)
RIG_BONES = (
    ("CONTROLS", "Controls", "Keys on the rig's controls: what an animator works on"),
    ("DEFORM", "Deform bones", "Keys on the deform bones, their constraints switched off: for export"),
)
CONTROLS = (
    ("FK", "FK", "Key arms and legs bone by bone: the exact motion, twist included"),
    ("IK", "IK", "Key feet, paws, hands and poles: edit the walk by moving a foot. Standing feet have still keys"),
    ("BOTH", "Both", "Key both, switched to IK: turn the rig's IK/FK switch whenever you like, nothing jumps"),
)
KEYS = (
    ("ALL", "Every frame", "A key at every frame: exact, for export and for the last word"),
    ("REDUCED", "Reduced", "Only the keys that are needed, with handles: edit the motion as if made by hand"),
)
#: Short names of the report's figures for the sidebar; the full ones stand in their tooltips.
FIGURE_NAMES = {
    "path_hips_mean": "Hips off path, mean", "path_hips_max": "Hips off path",
    "path_root_mean": "Root off path, mean", "path_root_max": "Root off path", "plan_root_max": "Root off plan",
    "heading_root_mean": "Heading, root, mean", "heading_root_max": "Heading, root",
    "heading_body_mean": "Heading, body, mean", "heading_body_max": "Heading, body",
    "speed_steady": "Speed off, steady", "speed_corner": "Speed off, corners",
    "speed_changing": "Speed off, changing", "slide_max": "Foot slide", "slide_p95": "Foot slide, usual",
    "headroom": "Room over the head", "skate_contact": "Skating, planted", "skate_all": "Skating, all frames",
    "skate_ratio": "Toes skimming", "airborne": "In the air", "foot_yaw_p90": "Foot twist, usual",
    "foot_yaw_max": "Foot twist", "double_support": "Both feet down", "lock_offset": "Feet moved",
    "pelvis_drop": "Hips lowered",
    "penetration_p95": "Sole in ground, usual", "penetration_max": "Sole in ground",
    "float_p95": "Sole off ground, usual", "float_max": "Sole off ground", "pop_p99": "Knee pops, usual",
    "pop_max": "Knee pops", "jitter": "Jitter", "liveliness": "Liveliness", "sway": "Hip sway",
    "pop_p99_capture": "Knee pops, capture", "jitter_capture": "Jitter, capture",
    "liveliness_capture": "Liveliness, capture", "response": "Response", "rest": "Rest", "bake_error": "Bake error",
    "slide_leg": "Foot slide per m of leg", "penetration_leg": "Sole in ground per m of leg",
    "float_leg": "Sole off ground per m of leg", "knee_plane": "Knees off source", "pop_source": "Knee pops, source",
    "bake_error_angle": "Bake angle error", "all_down": "All four feet down",
    "hinges_walk": "Joint pops, walk", "hinges_trot": "Joint pops, trot", "hinges_gallop": "Joint pops, gallop",
    "gait_wrong": "Other gait than asked", "gait_strides": "Strides judged", "gait_lag": "Footfalls off table",
    "gait_duty": "Stances off table", "pitch_walk": "Trunk pitch, walk", "pitch_pace": "Trunk pitch, pace",
    "pitch_trot": "Trunk pitch, trot", "pitch_canter": "Trunk pitch, canter", "pitch_gallop": "Trunk pitch, gallop",
}  # fmt: skip
VERDICTS = (
    ("GOOD", "good", "As good as wanted", "CHECKMARK", 0),
    ("LOOK", "look", "A little beyond what is wanted: have a look", "ERROR", 1),
    ("BAD", "bad", "Far beyond what is wanted", "CANCEL", 2),
    ("NONE", "", "Nothing to compare with", "DOT", 3),
)
SOURCES = (
    ("ACTIVE", "Character's action", "The action of the chosen armature"),
    ("SELECTED", "Selected armatures", "The actions and NLA strips of all selected armatures"),
    ("ALL", "All matching actions", "Every action in the file whose bones the armature has"),
)
TRAINED_SYSTEMS = (
    ("lmm", "Learned Motion Matching", "Small and quick; needs a Python with torch and some minutes"),
    ("mm", "Motion Matching", "Plays back pieces of your motion; ready in seconds, no training, larger packs"),
    ("pfnn", "Phase-Functioned Network", "Two legs on any ground, by the phase of the stride; needs labels and hours"),
    ("mann", "Mode-Adaptive Network", "Four legs, by the gaits the actions are labelled with"),
)
SYSTEM_NAMES = {
    "mm": "Motion Matching", "lmm": "Learned Motion Matching", "gait": "Gait model",
    "pfnn": "Phase-Functioned Network", "mann": "Mode-Adaptive Network",
}

#: What an action of a pack is called in the menu, its tooltip and its number. Numbers are stable:
#: a file keeps its meaning when another pack offers other actions.
ACTIONS: dict[str, tuple[str, str, int]] = {
    "stand": ("Stand", "Stand still and breathe", 1),
    "walk": ("Walk", "Walk", 2),
    "run": ("Run", "Run", 3),
    "jog": ("Jog", "Run at an easy pace", 4),
    "crouch": ("Crouch", "Go with bent knees", 5),
    "jump": ("Jump", "Leap at the mark, and go on as before", 6),
    "auto": ("By speed", "The gait that an animal of this size takes at that speed, with the changes between them", 7),
    "pace": ("Pace", "Both legs of one side swing together: the body sways. Camels pace, and some dogs and horses", 8),
    "trot": ("Trot", "Diagonal legs swing together, in two even beats", 9),
    "canter": ("Canter", "Three beats and a short leap: an easy gallop", 10),
    "gallop": ("Gallop", "The fastest gait: four quick beats, then all feet off the ground", 11),
    "sit": ("Sit", "Stop at the mark, sit down, and get up before going on", 12),
    "lie": ("Lie down", "Stop at the mark, lie down, and get up before going on", 13),
    "idle": ("Idle", "Stand, and look about", 14),
    "bound": ("Bound", "Both hind feet together, then both fore feet", 15),
}
#: Tooltips that differ for four legs.
ANIMAL_TIPS = {"walk": "Four even beats, two or three feet on the ground at any time"}
#: Gaits of the gait preview.
GAIT_ITEMS = tuple(
    (name, ACTIONS[name][0], ANIMAL_TIPS.get(name, ACTIONS[name][1]), ACTIONS[name][2]) for name in ("auto", *GAITS)
)
#: Contacts that are labelled: of two legs, of four.
BIPED_POINTS = tuple(
    (f"{side}_{part}", f"{side.capitalize()} {part}", f"The {side} {part}", "NONE", number)
    for number, (side, part) in enumerate((s, p) for s in ("left", "right") for p in ("heel", "toe"))
)
ANIMAL_POINTS = tuple(
    (leg, leg.replace("_", " ").capitalize(), f"The {leg.replace('_', ' ')} paw", "NONE", number)
    for number, leg in enumerate(LEGS)
)
DEFAULT_ACTIONS = ("stand", "walk", "run")
#: A mark at which to stand pauses for so long until told otherwise, seconds.
USUAL_PAUSE_S = 1.0

#: Blender does not keep the strings of a callback's items alive, and goes on reading them: all lists ever
#: handed out are kept, each once.
_alive: dict[tuple[Item, ...], list[Item]] = {}


def _kept(items: list[Item]) -> list[Item]:
    return _alive.setdefault(tuple(items), items)


def action_item(name: str, missing: bool = False, legs: int = 2) -> Item:
    """The menu's item for one action; ``missing`` when the chosen pack lacks it."""
    title, tip, number = ACTIONS.get(name, (name.replace("_", " ").capitalize(), "", zlib.crc32(name.encode()) >> 2))
    if legs == 4:
        tip = ANIMAL_TIPS.get(name, tip)
    if missing:
        title, tip = f"{title} (not in this pack)", "The chosen pack has no such action: choose another"
    return (name, title, tip, "NONE", number)


def action_items(owner: Any, context: Any) -> list[Item]:
    """The actions of the chosen pack, and the owner's own if the pack lacks it."""
    names = offered_actions(context)
    legs = _legs(context)
    items = [action_item(name, legs=legs) for name in names]
    if owner is not None and owner.action_name not in names:
        items.append(action_item(owner.action_name, missing=True))
    return _kept(items)


def offered_actions(context: Any) -> tuple[str, ...]:
    """Names of the actions the pack in use offers; without a pack, what the character's legs can do."""
    if getattr(context, "scene", None) is None:
        return DEFAULT_ACTIONS
    pack = library.find(animal.pack_id(context))
    if pack is None or not pack.actions:
        return ANIMAL_ACTIONS if _legs(context) == 4 else DEFAULT_ACTIONS
    # Whatever can go can be asked for the gait that fits its speed.
    return ("auto", *pack.actions) if pack.legs == 4 and "auto" not in pack.actions else pack.actions


def _legs(context: Any) -> int:
    return animal.legs(context) if getattr(context, "scene", None) is not None else 0


def get_action(owner: Any) -> int:
    """Number of the owner's action."""
    return action_item(owner.action_name)[4]


def set_action(owner: Any, number: int) -> None:
    """Keep the action of that number by its name; another one begins at its usual speed, or with a usual pause."""
    name = next((item[0] for item in action_items(owner, bpy.context) if item[4] == number), owner.action_name)
    if name == owner.action_name:
        return
    owner.action_name = name
    speed = usual_speed(bpy.context, name)
    if speed is not None:
        owner.speed = speed
    elif name == STAND and getattr(owner, "pause", None) == 0.0:
        owner.pause = USUAL_PAUSE_S


def usual_speed(context: Any, action: str) -> float | None:
    """The speed an action begins at, m/s: an animal's by its size; None where the speed stays as it is."""
    if _legs(context) == 4:
        return animal.usual_speed(context, action)
    return DEFAULT_SPEEDS.get(action)


def label_gait_items(_owner: Any, context: Any) -> list[Item]:
    """The gaits that frames of the character can be labelled with."""
    legs = _legs(context)
    return _kept([action_item(name, legs=legs) for name in (GAIT_LABELS if legs == 4 else BIPED_GAITS)])


def label_point_items(_owner: Any, context: Any) -> list[Item]:
    """The contacts of the character that are labelled."""
    return _kept(list(ANIMAL_POINTS if _legs(context) == 4 else BIPED_POINTS))


def pack_items(owner: Any, _context: Any) -> list[Item]:
    """The installed packs, and the chosen one even if it is not installed."""
    items: list[Item] = []
    for index, pack in enumerate(library.installed()):
        icon = "ERROR" if pack.problem else "NONE"
        items.append((pack.id, pack.label, pack.problem or pack.summary, icon, index))
    if owner is not None and owner.pack_id not in [item[0] for item in items]:
        tip = "This pack is not installed: import it, or choose another"
        items.append((owner.pack_id, f"{owner.pack_id} (not installed)", tip, "ERROR", len(items)))
    return _kept(items)


def get_pack(owner: Any) -> int:
    """Index of the pack in use: the chosen one, or the one that fits as long as none is chosen."""
    used = _pack_in_use(owner)
    return next((item[4] for item in pack_items(owner, None) if item[0] == used), 0)


def _pack_in_use(owner: Any) -> str:
    return str(owner.pack_id) if owner.is_property_set("pack_id") else animal.pack_id(bpy.context)


def set_pack(owner: Any, number: int) -> None:
    """Keep the pack of that index by its id."""
    owner.pack_id = pack_items(owner, None)[number][0]


def system_items(owner: Any, _context: Any) -> list[Item]:
    """The systems that can play the chosen pack."""
    names = offered_systems(_pack_in_use(owner) if owner is not None else "")
    items: list[Item] = [(name, SYSTEM_NAMES.get(name, name), "", "NONE", index) for index, name in enumerate(names)]
    return _kept(items)


def offered_systems(pack_id: str) -> tuple[str, ...]:
    """Names of the systems a pack can be played with, its own first."""
    pack = library.find(pack_id)
    return pack.systems if pack is not None else ("lmm",)


def get_system(owner: Any) -> int:
    """Index of the chosen system; the pack's own if it lacks the chosen one."""
    names = offered_systems(_pack_in_use(owner))
    return names.index(owner.system_name) if owner.system_name in names else 0


def set_system(owner: Any, number: int) -> None:
    """Keep the system of that index by its name."""
    owner.system_name = offered_systems(_pack_in_use(owner))[number]
