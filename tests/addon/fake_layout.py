"""A layout that draws nothing and checks everything: properties, operators, icons, menus and lists must exist."""

from __future__ import annotations

from typing import Any

import bpy

ICONS = {item.identifier for item in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items}


class FakeLayout:
    """Stands in for `bpy.types.UILayout`; remembers what was drawn."""

    def __init__(self, log: list[tuple[str, str]] | None = None) -> None:
        self.drawn: list[tuple[str, str]] = [] if log is None else log
        self.use_property_split = False
        self.use_property_decorate = True
        self.enabled = self.active = True
        self.alert = False
        self.alignment = "EXPAND"
        self.scale_x = self.scale_y = 1.0
        self.operator_context = "INVOKE_DEFAULT"

    def _child(self, **_options: Any) -> FakeLayout:
        return FakeLayout(self.drawn)

    row = column = box = column_flow = grid_flow = _child

    def split(self, factor: float = 0.0, align: bool = False) -> FakeLayout:
        return self._child()

    def label(self, *, text: str = "", icon: str = "NONE", **_options: Any) -> None:
        _icon(icon)
        assert isinstance(text, str)
        self.drawn.append(("label", text))

    def progress(self, *, text: str = "", factor: float = 0.0, type: str = "BAR") -> None:
        assert 0.0 <= factor <= 1.0
        self.drawn.append(("progress", text))

    def separator(self, **_options: Any) -> None:
        pass

    def prop(self, data: Any, name: str, *, text: str | None = None, icon: str = "NONE", **_options: Any) -> None:
        _icon(icon)
        prop = data.bl_rna.properties[name]
        getattr(data, name)
        assert len(prop.description) > 10, f"{name} has no tooltip"
        self.drawn.append(("prop", name))

    def prop_search(
        self, data: Any, name: str, where: Any, collection: str, *, icon: str = "NONE", **_options: Any
    ) -> None:
        _icon(icon)
        assert name in data.bl_rna.properties and collection in where.bl_rna.properties
        self.drawn.append(("prop", name))

    def operator(self, name: str, *, text: str | None = None, icon: str = "NONE", **_options: Any) -> Any:
        _icon(icon)
        module, function = name.split(".")
        kind = getattr(getattr(bpy.ops, module), function).get_rna_type()
        assert len(kind.description) > 10, f"{name} has no tooltip"
        self.drawn.append(("operator", name))
        return _OperatorProperties(kind)

    def menu(self, name: str, *, text: str | None = None, icon: str = "NONE", **_options: Any) -> None:
        _icon(icon)
        assert hasattr(bpy.types, name)
        self.drawn.append(("menu", name))

    def template_list(
        self, kind: str, _identifier: str, data: Any, name: str, active: Any, active_name: str, **_options: Any
    ) -> None:
        assert hasattr(bpy.types, kind)
        assert name in data.bl_rna.properties and active_name in active.bl_rna.properties
        self.drawn.append(("list", kind))

    def labels(self) -> str:
        """All text that was drawn, one line."""
        return " ".join(text for kind, text in self.drawn if kind in {"label", "progress"})

    def names(self, kind: str) -> set[str]:
        """Names of everything drawn of one kind."""
        return {name for what, name in self.drawn if what == kind}


class _OperatorProperties:
    """Accepts only properties that the operator has."""

    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "_kind", kind)

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in self._kind.properties, f"{self._kind.identifier} has no {name}"


def _icon(name: str) -> None:
    assert name in ICONS, f"there is no icon {name}"
