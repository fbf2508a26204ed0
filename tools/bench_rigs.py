"""Bakes over all rigs: how exactly Blender shows them, how the feet stand, how the knees bend; as a Markdown table.

``python -m tools.bench_rigs [--pack PACK] [--animal-pack PACK] [--data FOLDER] [--only NAME] [--json OUT.json]``

Every rig of shared/data/rigs and shared/data/quadruped, Rigify's metarigs and the rigs generated from them, each as
it is and in the variants of `rig_truths`, walks straight on level ground, a slope and stairs; speed, way and ground
are scaled with the legs. Animals walk by the gait model unless told otherwise. The greatest figure of all variants
counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from blender_addon import library
from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve, write
from blender_addon.motion import courses
from blender_addon.motion.animal import shoulder_height
from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.limits import Limits
from blender_addon.motion.schedule import Schedule
from blender_addon.motion.terrain import FlatGround, HeightField, Terrain
from blender_addon.motion.transfer_report import judge_transfer
from blender_addon.scene import actions, setup
from blender_addon.scene.rigs import guess_map, read_rig
from blender_addon.scene.shot import read_shot
from tools import bench_mapping, rig_truths
from tools.make_rigify import REPOSITORY
from tools.render_sheet import quiet

#: The way, metres, and the speed, m/s, of legs this long, metres.
LENGTH, SPEED, LEG = 5.0, 1.2, 0.87
#: Animals are longer than people for their legs; they walk at this Froude number, by their withers.
ANIMAL_LENGTH, FROUDE = 9.0, 0.17
#: Ground -> its height.
GROUNDS: dict[str, Callable[[Any], Any]] = {
    "flat": courses.flat, "slope": courses.slope(), "stairs": courses.stairs(),
}  # fmt: skip
#: Figure -> what is wanted at most.
WANTED = {
    "bake": 1e-5, "slide": 3.0, "penetration": 5.0, "float": 10.0, "knee": 10.0, "pops": 1.2,
}  # fmt: skip


@dataclass
class Row:
    """One rig's figures, the greatest of all variants; by ground where it matters."""

    name: str
    mapped: str
    variants: int = 0
    bake: float = 0.0
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def note(self, figure: str, ground: str, value: float) -> None:
        """Keep the greatest."""
        values = self.figures.setdefault(figure, {})
        if np.isfinite(value):
            values[ground] = max(values.get(ground, 0.0), value)


@dataclass(frozen=True)
class Mover:
    """What makes a rig walk.

    Attributes:
        system: a system, or the gait model.
        speeds: slowest and fastest speed it covers, m/s.
    """

    system: Any
    speeds: tuple[float, float]


def scaled_ground(height: Callable[[Any], Any], scale: float, length: float = LENGTH) -> Terrain:
    """A ground for legs ``scale`` times as long as usual."""
    if height is courses.flat:
        return FlatGround()
    bounds = (-1.5 * scale, -(length + 2.0) * scale, 1.5 * scale, 2.0 * scale)
    return HeightField.from_function(lambda xy: scale * height(np.asarray(xy) / scale), bounds, 0.02 * scale)


def walk(row: Row, ob: Any, mover: Mover) -> None:
    """Bake one rig as it stands over all grounds."""
    rig = read_rig(ob)
    scale = rig.skeleton.leg_length / LEG
    height = float(rig.skeleton.rest_world[0][:, 2].max())
    length, speed, four = LENGTH, min(SPEED, mover.speeds[1]) * scale, rig.skeleton.four_legged
    if four:
        length, speed = ANIMAL_LENGTH, float(np.sqrt(FROUDE * 9.81 * shoulder_height(rig.skeleton)))
    curve = setup.curve_from_points([(0.0, 0.0, 0.0), (0.0, -length * scale, 0.0)])
    for ground, function in GROUNDS.items():
        terrain = scaled_ground(function, scale, length)
        shot = read_shot(ob, curve, terrain)
        settings = BakeSettings(
            schedule=Schedule.constant(speed, "walk"), limits=Limits.responsive(0.5, four), name=f"Walk {ground}"
        )
        solved = solve(shot, mover.system, settings, speeds=mover.speeds, judged=False)
        baked = write(solved, ob, check=0)
        error = actions.measure(ob, shot.rig, solved.keys, baked.written.frame_start, samples=8)
        row.bake = max(row.bake, error.metres / height)
        report = judge_transfer(solved.clip, solved.followed, terrain)
        for figure, key in (("slide", "slide_leg"), ("penetration", "penetration_leg"), ("float", "float_leg"),
                            ("knee", "knee_plane"), ("pops", "pop_source")):  # fmt: skip
            row.note(figure, ground, report[key].value)
    row.variants += 1


def row_of(
    name: str, opened: Callable[[], Any], truth: rig_truths.Truth, mover: Mover, variants: tuple[str, ...]
) -> Row:
    """All variants of one rig."""
    right = truth.bones
    row = Row(name, "")
    found = right_maps = 0
    for variant in variants:
        ob = opened()
        setup.set_fps(_scene(), 60.0)
        ob.hide_set(False)
        at_rest(ob)
        rig_truths.vary(ob, variant)
        bones = guess_map(ob).bones
        found = sum(bones.get(role) == bone for role, bone in right.items()) if variant == "as it is" else found
        right_maps += bones == right
        try:
            setup.plausible_size(ob)
            walk(row, ob, mover)
        except GaitsmithError as error:
            row.refused.append(f"{variant}: {error}")
    row.mapped = f"{found} of {len(right)}, {right_maps} of {len(variants)} ways"
    return row


def at_rest(ob: Any) -> None:
    """Take away what the file animates; drivers stay."""
    data = ob.animation_data
    if data is not None:
        data.action = None
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
    for bone in ob.pose.bones:
        bone.matrix_basis.identity()


def _scene() -> Any:
    import bpy

    return bpy.context.scene


def table(rows: list[Row]) -> str:
    """The figures as a Markdown table; what misses its limit is bold."""
    lines = [
        "| rig | mapped | bake error / height | slide mm/m | sole under mm/m, flat, slope, stairs | sole over mm/m | "
        "knee plane deg | pops x source |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if not row.figures:
            words = "refused: " + "; ".join(row.refused)
            lines.append(f"| {row.name} | {row.mapped} | {words} | | | | | |")
            continue
        cells = [_cell(row.bake, WANTED["bake"], "{:.0e}")]
        for figure in ("slide", "penetration", "float", "knee", "pops"):
            form = "{:.2f}" if figure == "pops" else "{:.1f}"
            cells.append(" / ".join(_cell(row.figures[figure].get(ground, float("nan")), WANTED[figure], form)
                                    for ground in GROUNDS))  # fmt: skip
        lines.append(f"| {row.name} | {row.mapped} | " + " | ".join(cells) + " |")
        lines += [f"| | refused, {words} | | | | | | |" for words in row.refused]
    wanted = " | ".join(f"at most {value:g}" for value in WANTED.values())
    return "\n".join([*lines, f"| wanted | | {wanted} |"])


def _cell(value: float, wanted: float, form: str) -> str:
    text = form.format(value)
    return f"**{text}**" if value > wanted else text


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    sys.stderr.write(f"{name} ...\n")
    with quiet():
        yield


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, default=REPOSITORY / "blender_addon" / "packs" / "biped-lmm")
    parser.add_argument("--animal-pack", default=library.GAIT_MODEL, help="by path or name (default: the gait model)")
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--only", default="", help="rigs whose name holds this")
    parser.add_argument("--json", type=Path, help="write the figures, too")
    parser.add_argument("--quick", action="store_true", help="each rig only as it is")
    options = parser.parse_args(arguments)
    variants = rig_truths.VARIANTS[:1] if options.quick else rig_truths.VARIANTS
    rows: list[Row] = []
    movers = {"biped": str(options.pack), "quadruped": options.animal_pack}
    ready: dict[str, Mover] = {}
    for name, opened, truth in bench_mapping.rigs(options.data):
        if options.only in name:
            with _named(name):
                if truth.kind not in ready:
                    system, info = library.load_named(movers[truth.kind], Path.cwd())
                    ready[truth.kind] = Mover(system, info.speeds)
                rows.append(row_of(name, opened, truth, ready[truth.kind], variants))
    sys.stdout.write(table(rows) + "\n")
    if options.json:
        options.json.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Blender 4.5 may hang at exit where Rigify was at work.
    os._exit(code)
