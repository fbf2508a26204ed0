"""Runs inside a fresh Blender configuration, away from the checkout, and reports one JSON object on its last line.

usage: python -I driver.py STEP [ARGUMENT...]   with BLENDER_USER_RESOURCES naming the configuration
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

RESOURCES = Path(os.environ["BLENDER_USER_RESOURCES"]).resolve()
MODULE = "bl_ext.user_default.gaitsmith"


class OnlyBundled(importlib.abc.MetaPathFinder):
    """Hides this environment's own onnxruntime: what is found must have come with the extension."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "onnxruntime":
            return None
        inside = [folder for folder in sys.path if RESOURCES in Path(folder).resolve().parents]
        spec = importlib.machinery.PathFinder.find_spec(fullname, inside)
        if spec is None:
            raise ModuleNotFoundError("onnxruntime is not among the extension's wheels", name=fullname)
        return spec


def install(zip_path: str) -> dict[str, Any]:
    """Install the zip as a person does, enable it, and keep that in the preferences."""
    import bpy

    result = bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=zip_path, enable_on_install=True, overwrite=True
    )
    bpy.ops.wm.save_userpref()
    return {"result": sorted(result), **state()}


def start() -> ModuleType:
    """Load Blender and enable what is installed.

    As a module Blender starts with factory settings, and reading the saved ones crashes that of 4.2.
    """
    import bpy  # noqa: I001 - addon_utils is found only once bpy is loaded
    import addon_utils

    addon_utils.enable(MODULE, default_set=True)
    return bpy


def enabled() -> dict[str, Any]:
    """What a later start of Blender finds."""
    start()
    return state()


def disable() -> dict[str, Any]:
    """Switch the add-on off; nothing of it may stay in Blender's types."""
    bpy = start()
    import addon_utils

    addon_utils.disable(MODULE, default_set=True)
    left = [name for name in dir(bpy.types) if name.lower().startswith("gaitsmith")]
    return {"left": left, "scene": hasattr(bpy.types.Scene, "gaitsmith"), "enabled": state()["enabled"]}


def runtime() -> dict[str, Any]:
    """Load the bundled onnxruntime."""
    start()
    import onnxruntime

    return {"file": onnxruntime.__file__, "version": onnxruntime.__version__, "torch": "torch" in sys.modules}


def bake(blend: str) -> dict[str, Any]:
    """Create the character, draw a curve, press Bake; save the result."""
    bpy = start()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    for point, xy in zip(spline.points, [(0, 0), (0, -2), (1, -4)], strict=True):
        point.co = (*xy, 0.0, 1.0)
    path = bpy.data.objects.new("Path", curve)
    scene = bpy.context.scene
    scene.collection.objects.link(path)

    # The buttons of the panel, in the order a person presses them.
    bpy.ops.gaitsmith.character_create()
    armature = next(ob for ob in scene.objects if ob.type == "ARMATURE")
    scene.gaitsmith.armature, scene.gaitsmith.curve = armature, path
    result = bpy.ops.gaitsmith.bake()
    message = bpy.context.window_manager.gaitsmith.message

    action = armature.animation_data.action if armature.animation_data else None
    if action is None:
        return {"result": sorted(result), "message": message}
    first, last = (round(frame) for frame in action.frame_range)
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    return {
        "result": sorted(result), "message": message, "frames": last - first + 1, "curves": len(curves_of(action)),
        "first": hips_at(armature, first), "last": hips_at(armature, last), "figures": len(scene.gaitsmith.report),
        "saved": Path(blend).is_file(), "torch": "torch" in sys.modules,
    }  # fmt: skip


def curves_of(action: Any) -> list[Any]:
    """The animation curves of an action, in Blender 4.2 and in 5.3."""
    if getattr(action, "layers", None):
        bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
        return [curve for bag in bags for curve in bag.fcurves]
    return list(action.fcurves)


def hips_at(armature: Any, frame: int) -> list[float]:
    """Where the hips are in the world, seen from above, as Blender evaluates it."""
    import bpy

    bpy.context.scene.frame_set(frame)
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    hips = next(bone for bone in evaluated.pose.bones if "hips" in bone.name.lower())
    place = evaluated.matrix_world @ hips.matrix.translation
    return [round(place.x, 4), round(place.y, 4)]


def state() -> dict[str, Any]:
    """Whether the add-on is enabled, from where it was loaded, and what it registered."""
    import bpy

    module = sys.modules.get(MODULE)
    return {
        "enabled": MODULE in bpy.context.preferences.addons,
        "file": getattr(module, "__file__", None),
        "preferences": type(getattr(bpy.context.preferences.addons.get(MODULE), "preferences", None)).__name__,
        "operators": len(dir(bpy.ops.gaitsmith)),
        "version": ".".join(map(str, bpy.app.version)),
    }


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    step.__name__: step for step in (install, enabled, disable, runtime, bake)
}

if __name__ == "__main__":
    sys.meta_path.insert(0, OnlyBundled())
    answer = STEPS[sys.argv[1]](*sys.argv[2:])
    print("\n" + json.dumps(answer), flush=True)
    # Blender's module may hang while the interpreter shuts down; there is nothing left to do.
    os._exit(0)
