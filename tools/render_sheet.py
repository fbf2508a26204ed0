"""Pictures of a baked .blend by Workbench, without a screen: a contact sheet (side and front) and a film.

``python tools/render_sheet.py WALK.blend --sheet OUT.png --film OUT.mp4 [--armature NAME] [--every N]``
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

REPOSITORY = Path(__file__).resolve().parent.parent
if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))

from blender_addon.scene import compat

TILE, ANIMAL_TILE = (200, 260), (260, 200)
_LOOK_AT, ANIMAL_LOOK_AT = 0.95, 0.45


def main(arguments: list[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("blend", type=Path)
    parser.add_argument("--armature", help="whom to follow (default: the one with an action)")
    parser.add_argument("--sheet", type=Path, help="contact sheet to write (PNG)")
    parser.add_argument("--film", type=Path, help="film to write (MP4)")
    parser.add_argument("--every", type=int, default=0, help="frames from picture to picture (default: 32 in all)")
    parser.add_argument("--frames", help="first:last of the sheet, for a closer look")
    parser.add_argument("--film-fps", type=float, default=20.0)
    options = parser.parse_args(arguments)
    bpy.ops.wm.open_mainfile(filepath=str(options.blend.resolve()))
    ob = _whom(options.armature)
    if options.sheet:
        first, last = (int(part) for part in options.frames.split(":")) if options.frames else (None, None)
        render_sheet(ob, options.sheet.resolve(), options.every, first, last)
    if options.film:
        render_film(ob, options.film.resolve(), options.film_fps)


def render_sheet(
    ob: bpy.types.Object, path: Path, every: int = 0, first: int | None = None, last: int | None = None
) -> None:
    """Every Nth frame from the side and from the front, in rows, as one PNG; the camera goes along."""
    scene = bpy.context.scene
    first = scene.frame_start if first is None else first
    last = scene.frame_end if last is None else last
    every = every or max((last - first) // 31, 1)
    frames = list(range(first, last + 1, every))
    camera = new_camera(scene)
    compat.set_output(scene.render, "PNG")
    tiles: dict[str, list[Any]] = {"side": [], "front": []}
    size, tile, look_at = size_of(ob), TILE, _LOOK_AT
    if _is_animal(ob):
        # Animals are longer than high.
        size, tile, look_at = 1.45 * size, ANIMAL_TILE, ANIMAL_LOOK_AT
    set_workbench(scene, tile)
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            scene.frame_set(frame)
            place, yaw = place_of(ob)
            for view, turn in (("side", math.pi / 2), ("front", 0.0)):
                # From the front a little from above: what is climbed stands between.
                _aim(camera, place, yaw + turn, 5.7, 0.35 if view == "side" else 1.9, size, look_at)
                picture = str(Path(folder) / f"{view}{frame}.png")
                scene.render.filepath = picture
                with quiet():
                    bpy.ops.render.render(write_still=True)
                tiles[view].append(pixels(picture))
    columns = min(len(frames), 8)
    rows = math.ceil(len(frames) / columns)
    sheet = np.ones((rows * 2 * tile[1], columns * tile[0], 4), dtype=np.float32)
    for index in range(len(frames)):
        row, column = divmod(index, columns)
        for line, view in enumerate(("side", "front")):
            top = (2 * row + line) * tile[1]
            sheet[top : top + tile[1], column * tile[0] : (column + 1) * tile[0]] = tiles[view][index]
    _save(sheet, path)


def render_film(ob: bpy.types.Object, path: Path, fps: float = 20.0, size: tuple[int, int] = (560, 420)) -> None:
    """The whole motion as a film, seen from the front and side, the camera going along smoothly.

    Films are rendered at their own, lower rate: time is remapped, so that it runs at its true speed.
    """
    scene = bpy.context.scene
    set_workbench(scene, size)
    scene.display.render_aa = "FXAA"
    rate = scene.render.fps / scene.render.fps_base
    step = max(rate / fps, 1.0)
    camera = new_camera(scene)
    track = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        track.append((*place_of(ob)[0], frame))
    numbers = np.array(track)
    width = max(int(rate), 3)
    kernel = np.hanning(width + 2)[1:-1]
    padded = np.pad(numbers[:, :3], ((width, width), (0, 0)), mode="edge")
    smooth = np.stack([np.convolve(padded[:, k], kernel / kernel.sum(), "same") for k in range(3)], -1)[width:-width]
    for place, frame in zip(smooth, numbers[:, 3], strict=True):
        _aim(camera, place, math.radians(-50.0), 8.5, height=1.2)
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)
    scene.render.frame_map_old, scene.render.frame_map_new = min(int(round(100 * step)), 900), 100
    start, end = scene.frame_start, scene.frame_end
    scene.frame_start, scene.frame_end = int(start / step), int(end / step)
    scene.render.fps, scene.render.fps_base = max(int(round(rate / step)), 1), 1.0
    compat.set_output(scene.render, "FFMPEG")
    path.parent.mkdir(parents=True, exist_ok=True)
    scene.render.filepath = str(path)
    with quiet():
        bpy.ops.render.render(animation=True)
    scene.frame_start, scene.frame_end = start, end


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Blender's own lines about every frame off the terminal."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def _whom(name: str | None) -> bpy.types.Object:
    armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    found = [ob for ob in armatures if (ob.name == name if name else ob.animation_data)]
    found.sort(key=lambda ob: ob.animation_data is not None and ob.animation_data.action is not None)
    if not found:
        raise SystemExit(f"there is no armature {name or 'with an action'} in the file")
    return found[-1]


def place_of(ob: bpy.types.Object) -> tuple[np.ndarray, float]:
    """The middle of the body on the ground, and its facing."""
    from blender_addon.motion import rotations as rot
    from blender_addon.scene.rigs import bone_map

    final = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = bone_map(ob)

    def head(role: str) -> np.ndarray:
        return np.array(final.matrix_world @ final.pose.bones[bones[role]].head)

    left, right = head("left_hip"), head("right_hip")
    if "left_hock" in bones:
        return _where_animal(final, bones, head)
    across = left - right
    place = 0.5 * (left + right)
    place[2] = min(head("left_ankle")[2], head("right_ankle")[2])
    return place, float(rot.yaw_of_direction(np.array([across[1], -across[0]])))


def _where_animal(final: Any, bones: Any, head: Any) -> tuple[np.ndarray, float]:
    """The middle between an animal's girdles, on the height of its lowest foot, and its facing."""
    from blender_addon.motion import rotations as rot
    from blender_addon.motion.animal import LEGS, leg_roles

    hind, fore = (0.5 * (head(f"left_{part}") + head(f"right_{part}")) for part in ("hip", "shoulder"))
    place = 0.5 * (hind + fore)
    ends = [[bone for role in leg_roles(leg) if (bone := bones.get(role))][-1] for leg in LEGS]
    place[2] = min((final.matrix_world @ final.pose.bones[bone].head).z for bone in ends)
    return place, float(rot.yaw_of_direction((fore - hind)[:2]))


def _is_animal(ob: bpy.types.Object) -> bool:
    from blender_addon.scene.rigs import bone_map

    return "left_hock" in bone_map(ob)


def size_of(ob: bpy.types.Object) -> float:
    """How many times as tall as a person the body is with all that hangs on it; 1 for those that are nearly so."""
    parts = [
        part for part in bpy.data.objects
        if part.type == "MESH" and (part.parent == ob or any(
            modifier.type == "ARMATURE" and modifier.object == ob for modifier in part.modifiers
        ))
    ]  # fmt: skip
    corners = [part.matrix_world @ Vector(corner) for part in parts for corner in part.bound_box]
    if not corners:
        return 1.0
    size = (max(corner.z for corner in corners) - min(corner.z for corner in corners)) / 1.75
    return 1.0 if 0.85 < size < 1.15 else size


def new_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    """The scene's camera, a new one."""
    camera = bpy.data.objects.new("Sheet camera", bpy.data.cameras.new("Sheet camera"))
    camera.data.lens = 85.0
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera


def _aim(
    camera: bpy.types.Object, place: np.ndarray, yaw: float, distance: float, height: float = 0.35, size: float = 1.0,
    look_at: float = _LOOK_AT,
) -> None:  # fmt: skip
    """Look at a body from where ``yaw`` faces; all lengths are those for a person."""
    target = Vector(place) + Vector((0, 0, size * look_at))
    away = Vector((math.sin(yaw), -math.cos(yaw), 0)) * distance + Vector((0, 0, height))
    camera.location = target + size * away
    camera.rotation_euler = (target - camera.location).to_track_quat("-Z", "Y").to_euler()


def set_workbench(scene: bpy.types.Scene, size: tuple[int, int]) -> None:
    """Render plainly, in the materials' colours, pictures of so many pixels."""
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = *size, 100
    render.film_transparent = False
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows = shading.show_cavity = True
    scene.display.render_aa = "5"
    if scene.world is None:
        scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.82, 0.85, 0.9)
    scene.view_settings.view_transform = "Standard"


def row_from_the_left(
    ob: bpy.types.Object, frames: Iterable[int], tile: tuple[int, int], height: float, middle: float
) -> np.ndarray:
    """Pictures of a body from its left side, beside each other (height, width, 4), 0 to 1, without perspective.

    Args:
        ob: the armature, on a straight way towards -Y. frames: one a picture. tile: pixels of each.
        height: what a picture shows, metres. middle: its middle over the feet, metres.
    """
    scene = bpy.context.scene
    camera = new_camera(scene)
    camera.data.type, camera.data.ortho_scale = "ORTHO", height
    set_workbench(scene, tile)
    scene.display.shading.show_shadows = scene.display.shading.show_cavity = False
    scene.render.dither_intensity = 0.0
    compat.set_output(scene.render, "PNG")
    ob.hide_render = False
    row = []
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            scene.frame_set(frame)
            camera.location = Vector(place_of(ob)[0]) + Vector((5.0 * height, 0.0, middle))
            camera.rotation_euler = (math.pi / 2, 0.0, math.pi / 2)
            scene.render.filepath = str(Path(folder) / "tile.png")
            bpy.ops.render.render(write_still=True)
            row.append(pixels(scene.render.filepath))
    return np.concatenate(row, axis=1)


def pixels(path: str) -> np.ndarray:
    """A picture's pixels, top row first."""
    image = bpy.data.images.load(path)
    flat = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(flat)
    width, height = image.size
    bpy.data.images.remove(image)
    return flat.reshape(height, width, 4)[::-1]


def _save(pixels: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = pixels.shape[:2]
    image = bpy.data.images.new("sheet", width, height, alpha=True)
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1]).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


if __name__ == "__main__":
    code = 0
    try:
        main()
    except SystemExit as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    sys.stdout.flush()
    os._exit(code)
