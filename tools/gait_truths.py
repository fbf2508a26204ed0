"""What the keyed animal clips of the data folder really are, and how their feet move: read in Blender, bone by bone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from blender_addon.motion.animal import LEGS, leg_roles
from blender_addon.motion.gait_analysis.cycles import Cycle, check_points
from blender_addon.scene.compat import action_curves
from blender_addon.scene.importers import ImportOptions, visit
from blender_addon.scene.read_actions import actions_for
from blender_addon.scene.rigs import guess_map

#: Keys of a .glb are read on a grid so fine that those of 24, 30 and 60 frames a second fall on it.
GRID_FPS = 120
#: Withers over shoulder joints where a rig has no shoulder blades; legs longer than this are in centimetres.
_WITHERS, _LONGEST_LEG = 1.15, 2.5


@dataclass(frozen=True)
class Truth:
    """What a clip is by its feet, whatever its name says.

    Attributes:
        file: below the data folder.
        clip: the action's name.
        gait: as `gait_analysis.classify` names it; empty where there is nothing to name.
        problems: reasons for which it must be refused; where there are none it must pass.
        said: what its notes must tell.
        beats: footfalls of its stride that are heard apart; 0 where that is open.
        near: the gait that comes next.
        still: whether it turns and travels nowhere although it is named a turn.
    """

    file: str
    clip: str
    gait: str
    problems: tuple[str, ...] = ()
    said: str = ""
    beats: int = 0
    near: str = ""
    still: bool = False


TRUTHS: tuple[Truth, ...] = (
    Truth("fox-animations", "Walk", "lateral walk", beats=4),
    Truth("fox-animations", "Sneak", "lateral walk", beats=4),
    Truth("fox-animations", "Run", "rotary gallop", ("doubled frame", "missing frame")),
    Truth("horse-animations", "Walk", "lateral walk", beats=4),
    Truth("horse-animations", "Trot", "pace", beats=2),
    Truth("horse-animations", "Run", "transverse gallop", near="canter"),
    Truth("horse-animations", "Turn_Left", "", ("several strides",), still=True),
    Truth("horse-animations", "Turn_Right", "", ("several strides",), still=True),
    Truth("khronos_fox", "Walk", "lateral walk", said="too short for a walk"),
    Truth("khronos_fox", "Run", "no gait", ("no gait",)),
    *(
        Truth(f"quaternius_{animal}", clip, gait)
        for animal in ("fox", "husky", "shiba_inu", "wolf", "deer")
        for clip, gait in (("Walk", "lateral walk"), ("Gallop", "transverse gallop"))
    ),
)


@dataclass(frozen=True, eq=False)
class Keyed:
    """A keyed clip as points.

    Attributes:
        fps: frames per second of its keys.
        feet: lowest bone of each leg (f, 4, 3), metres.
        tops: hip and shoulder joints (f, 4, 3), metres.
        leg, height: length of the legs and height of the withers at rest, metres.
    """

    fps: float
    feet: np.ndarray
    tops: np.ndarray
    leg: float
    height: float

    def cycle(self, name: str) -> Cycle:
        """The clip looked at as a cycle."""
        return check_points(self.feet, self.tops, self.fps, leg=self.leg, height=self.height, name=name)

    @property
    def net_turn(self) -> float:
        """Radians that the body has turned from the first frame to the last."""
        line = self.tops[:, 2:].mean(axis=1) - self.tops[:, :2].mean(axis=1)
        yaw = np.unwrap(np.arctan2(line[:, 0], -line[:, 1]))
        return float(yaw[-1] - yaw[0])

    @property
    def slides(self) -> np.ndarray:
        """How far each foot moves over the ground while it is low (4,), widest stance, withers' heights."""
        lift = self.feet[..., 2] - self.feet[..., 2].min(axis=0)
        low = lift < 0.2 * np.maximum(np.ptp(self.feet[..., 2], axis=0), 1e-9)
        found = []
        for leg in range(len(LEGS)):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], low[:, leg], [False]])))
            found.append(max(
                float(np.hypot(*np.ptp(self.feet[a:b, leg, :2], axis=0)))
                for a, b in zip(edges[::2], edges[1::2], strict=True)
            ))  # fmt: skip
        return np.array(found) / self.height


def read(data: Path, file: str) -> Iterator[tuple[str, Keyed]]:
    """Name and points of every action of a file of ``data``/quadruped, at the rate of its keys."""
    path = data / "quadruped" / f"{file}.glb"
    with visit(path, ImportOptions(fps=GRID_FPS)) as fresh:
        armature = next(thing for thing in fresh("objects") if thing.type == "ARMATURE")
        tops, feet, blades = _bones(armature)
        rest = _rest(armature)
        top_height = float(rest[tops, 2].mean())
        unit = 0.01 if top_height > _LONGEST_LEG else 1.0
        shoulders = float(rest[tops[2:], 2].mean())
        withers = float(rest[blades, 2].mean()) if blades else 0.0
        height = withers if withers > 1.05 * shoulders else _WITHERS * shoulders
        for action in actions_for(armature):
            places, fps = _places(armature, action)
            # Blender 4.2 adds the armature's name to the action's.
            yield action.name.split("|")[-1].removesuffix(f"_{armature.name}"), Keyed(
                fps, unit * places[:, feet], unit * places[:, tops], unit * top_height, unit * height
            )


def _bones(armature: Any) -> tuple[list[int], list[int], list[int]]:
    """Numbers of the legs' top joints, of the lowest bone under each, and of the shoulder blades.

    Paws of rigs made for IK hang on bones of their own: the lowest bone of a quarter of the body is its foot.
    """
    found = guess_map(armature).bones
    number = {bone.name: at for at, bone in enumerate(armature.data.bones)}
    rest = _rest(armature)
    tops = [number[found[leg_roles(leg)[0]]] for leg in LEGS]
    middle = rest[tops].mean(axis=0)
    feet = []
    for top in tops:
        side, end = np.sign(rest[top, :2] - middle[:2])
        quarter = [
            at for at, bone in enumerate(armature.data.bones)
            if bone.use_deform and side * (rest[at, 0] - middle[0]) > 0.2 * abs(rest[top, 0] - middle[0])
            and end * (rest[at, 1] - middle[1]) > 0.0 and abs(rest[at, 1] - rest[top, 1]) < middle[2]
        ]  # fmt: skip
        feet.append(min(quarter, key=lambda at: rest[at, 2]))
    blades = [number[found[role]] for role in ("left_scapula", "right_scapula") if role in found]
    return tops, feet, blades


def _rest(armature: Any) -> np.ndarray:
    return np.array([armature.matrix_world @ bone.head_local for bone in armature.data.bones])


def _places(armature: Any, action: Any) -> tuple[np.ndarray, float]:
    """Heads of all bones (f, bones, 3) at an action's keys, and their rate."""
    animation = armature.animation_data or armature.animation_data_create()
    animation.action = action
    if hasattr(action, "slots") and action.slots:
        animation.action_slot = action.slots[0]
    times = {round(float(key.co[0])) for curve in action_curves(action) for key in curve.keyframe_points}
    step = max(int(np.median(np.diff(sorted(times)))), 1) if len(times) > 2 else 1
    first, last = (round(edge) for edge in action.frame_range)
    found = []
    for frame in range(first, last + 1, step):
        bpy.context.scene.frame_set(frame)
        found.append([armature.matrix_world @ bone.head for bone in armature.pose.bones])
    return np.array(found), GRID_FPS / step
