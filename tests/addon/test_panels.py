"""Registration, and every panel drawn on a layout that checks what it is given."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

import blender_addon
from blender_addon import gait_properties, properties, registration
from tests.addon.fake_layout import FakeLayout


@pytest.fixture(autouse=True)
def addon():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    yield
    blender_addon.unregister()


def panels() -> list[type]:
    return classes(bpy.types.Panel)


def operators() -> list[type]:
    return classes(bpy.types.Operator)


def classes(kind: type) -> list[type]:
    return [c for module in registration.parts() for c in getattr(module, "CLASSES", ()) if issubclass(c, kind)]


def draw(panel: type) -> FakeLayout:
    layout = FakeLayout()
    if panel.poll(bpy.context):
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout


def test_registering_twice_and_unregistering_leaves_nothing() -> None:
    blender_addon.register()
    assert hasattr(bpy.types.Scene, "gaitsmith")
    blender_addon.unregister()
    assert not hasattr(bpy.types.Scene, "gaitsmith")
    assert not [name for name in dir(bpy.types) if name.startswith("GAITSMITH")]
    blender_addon.register()


def test_a_failure_is_loud_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    blender_addon.unregister()
    monkeypatch.setattr(registration, "PARTS", (*registration.PARTS[:5], "no_such_module"))
    with pytest.raises(ModuleNotFoundError):
        blender_addon.register()
    assert not hasattr(bpy.types.Scene, "gaitsmith")
    monkeypatch.undo()
    blender_addon.register()


@pytest.mark.parametrize("number", range(16))
def test_panels_draw_in_an_empty_scene(number: int) -> None:
    found = panels()
    if number >= len(found):
        pytest.skip("fewer panels")
    draw(found[number])


def test_there_are_no_more_panels_than_are_tested() -> None:
    assert len(panels()) <= 16


def test_every_property_and_operator_has_a_tooltip() -> None:
    for cls in operators():
        module, name = cls.bl_idname.split(".")
        assert len(getattr(getattr(bpy.ops, module), name).get_rna_type().description) > 15, cls
    groups = [properties.GAITSMITH_PG_scene, properties.GAITSMITH_PG_mark, gait_properties.GAITSMITH_PG_gaits]
    for group in groups:
        for prop in group.bl_rna.properties:
            if prop.identifier in {"rna_type", "name"} or prop.is_hidden or prop.type == "COLLECTION":
                continue
            if prop.identifier != "report_title":
                assert len(prop.description) > 10, f"{group.__name__}.{prop.identifier}"


def test_an_empty_scene_says_what_is_needed() -> None:
    text = draw(bpy.types.GAITSMITH_PT_bake).labels()
    assert "a path" in text and "a character" in text
