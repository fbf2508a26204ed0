"""The one ordered list of what the add-on registers; it stops at the first failure and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import bpy

#: Modules in order of registration. Each may offer ``CLASSES`` (in order), ``register()`` and
#: ``unregister()`` (properties on Blender's types, handlers, timers). A panel's parent comes before it.
PARTS: tuple[str, ...] = (
    "gait_properties",
    "label_properties",
    "properties",
    "preferences",
    "operators.flow",
    "operators.animal",
    "operators.character",
    "operators.path",
    "operators.schedule",
    "operators.mark_edit",
    "operators.terrain",
    "operators.preview",
    "operators.gait_preview",
    "operators.bake",
    "operators.gait_bake",
    "operators.gait_shape",
    "operators.retarget",
    "operators.labels",
    "operators.label_detect",
    "operators.label_edit",
    "operators.packs",
    "operators.training",
    "operators.torch_python",
    "overlays.draw",
    "overlays.gaits",
    "overlays.labels",
    "panels.bake",
    "panels.character",
    "panels.path",
    "panels.schedule",
    "panels.terrain",
    "panels.motion",
    "panels.preview",
    "panels.gaits",
    "panels.output",
    "panels.retarget",
    "panels.quality",
    "panels.labels",
    "panels.train",
    "panels.packs",
)

#: What is registered now, in order: (kind, thing).
_done: list[tuple[str, Any]] = []


def parts() -> Iterator[ModuleType]:
    """The modules of `PARTS`, imported."""
    for name in PARTS:
        yield import_module(f".{name}", __package__)


def register() -> None:
    """Register everything; on any error take back what was done and let the error through."""
    if _done:
        unregister()
    try:
        for module in parts():
            for cls in getattr(module, "CLASSES", ()):
                bpy.utils.register_class(cls)
                _done.append(("class", cls))
            if hasattr(module, "register"):
                module.register()
                _done.append(("module", module))
    except BaseException:
        unregister()
        raise


def unregister() -> None:
    """Take everything back in reverse order; the first error is raised after the rest is done."""
    first: Exception | None = None
    while _done:
        kind, thing = _done.pop()
        try:
            if kind == "class":
                bpy.utils.unregister_class(thing)
            else:
                thing.unregister()
        except Exception as error:  # noqa: BLE001 - one failure must not leave the rest registered
            first = first or error
    if first is not None:
        raise first
