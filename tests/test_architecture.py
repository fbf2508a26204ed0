"""The rules of the house: who may import what, what importing loads, and how long things may grow."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ADDON = ROOT / "blender_addon"

#: Part -> the parts of the project it may import besides itself. Arrows run one way only.
ARROWS: dict[str, set[str]] = {
    "motion": set(),
    "systems": {"motion"},
    "scene": {"motion"},
    "training": {"systems", "motion"},
    "operators": {"scene", "systems", "motion", "addon"},
    # What is shown knows what can be done (names of operators, the state of a running job), never the other way.
    "panels": {"scene", "motion", "operators", "addon"},
    "overlays": {"scene", "motion", "operators", "addon"},
    # The modules at the top of blender_addon: registration, properties, preferences, jobs, the command line.
    "addon": {"scene", "systems", "motion", "operators", "panels", "overlays"},
}
PARTS = tuple(part for part in ARROWS if part not in ("addon", "training"))

#: Part -> modules from outside that must not occur in it at all ...
FORBIDDEN: dict[str, set[str]] = {
    "motion": {"bpy", "mathutils", "gpu", "torch", "scipy", "onnxruntime", "onnx"},
    "systems": {"bpy", "mathutils", "gpu", "torch", "scipy", "onnx"},
    "scene": {"torch", "scipy", "onnxruntime", "onnx"},
    "training": {"bpy", "mathutils", "gpu"},
    # No mathematics where the context is read, things are called and drawn: that is motion's, and tested there.
    "operators": {"torch", "scipy", "onnx", "onnxruntime", "numpy"},
    "panels": {"torch", "scipy", "onnx", "onnxruntime", "numpy"},
    "overlays": {"torch", "scipy", "onnx", "onnxruntime", "numpy"},
    "addon": {"torch", "scipy", "onnx"},
}
#: ... but for what some modules need, with the reason.
ALLOWED: dict[tuple[str, str], str] = {
    ("blender_addon/overlays/draw.py", "numpy"): "the graphics card takes arrays of one kind of number",
}
#: And those that must not be imported when the module is, only where they are used.
LAZY: dict[str, set[str]] = {"systems": {"onnxruntime"}}

#: Modules of ``blender_addon`` that must be importable without Blender.
WITHOUT_BPY = ("__init__.py", "__main__.py", "jobs.py")

MODULE_LINES = 400
FUNCTION_LINES = 60
#: What is longer than the limits, with the reason.
LONG: dict[str, str] = {}


def modules() -> list[Path]:
    """Every module of the product, smallest path first."""
    return sorted(path for top in ("blender_addon", "training") for path in (ROOT / top).rglob("*.py"))


def part_of(path: Path) -> str:
    """The part of the house that a module belongs to."""
    first, *rest = path.relative_to(ROOT).parts
    if first == "training":
        return "training"
    return rest[0] if rest[0] in PARTS else "addon"


def dotted(path: Path) -> list[str]:
    """The package that relative imports in this module start from."""
    return list(path.relative_to(ROOT).parent.parts)


def imports(path: Path) -> Iterator[tuple[str, bool, int]]:
    """(absolute dotted name, whether at module level, line) of every import in a module.

    ``from x import y`` gives ``x.y``, so that a package's submodule is seen. What stands under
    ``if TYPE_CHECKING`` is never run, and is left out.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, at_top = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            stack.extend((child, at_top) for child in node.orelse)
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, at_top, node.lineno
        elif isinstance(node, ast.ImportFrom):
            package = dotted(path)
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                yield f"{base}.{alias.name}", at_top, node.lineno
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        stack.extend((child, at_top and not inside) for child in ast.iter_child_nodes(node))


def target_of(name: str) -> str | None:
    """The part of the house that an imported name belongs to; None for what comes from outside."""
    first, *rest = name.split(".")
    if first == "training":
        return "training"
    if first != "blender_addon":
        return None
    return rest[0] if rest and rest[0] in PARTS else "addon"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_follow_the_arrows(path: Path) -> None:
    part = part_of(path)
    wrong = []
    for name, at_top, line in imports(path):
        target = target_of(name)
        outside = name.split(".")[0]
        if target is not None and target != part and target not in ARROWS[part]:
            wrong.append(f"line {line}: {part} must not import {name}")
        if outside in FORBIDDEN[part] and (name_of(path), outside) not in ALLOWED:
            wrong.append(f"line {line}: {part} must not import {outside}")
        if at_top and outside in LAZY.get(part, set()):
            wrong.append(f"line {line}: {part} may import {outside} only where it is used")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", sorted(ADDON.rglob("*.py")), ids=name_of)
def test_the_add_on_imports_itself_relatively(path: Path) -> None:
    # An installed extension is called bl_ext.<repository>.gaitsmith: absolute names would miss it.
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] not in ("blender_addon", "training"), f"line {node.lineno}: {name}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in WITHOUT_BPY if (ADDON / name).exists()])
def test_the_way_in_needs_no_blender(name: str) -> None:
    for imported, at_top, line in imports(ADDON / name):
        assert not (at_top and imported.split(".")[0] == "bpy"), f"line {line} imports bpy at module level"


def test_nothing_edits_the_search_path() -> None:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = isinstance(node, ast.Attribute) and node.attr == "path" and ast.unparse(node.value) == "sys"
            assert not found, f"{name_of(path)}: line {node.lineno}"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("package", "unwanted"),
    [
        ("blender_addon", {"bpy", "torch", "numpy"}),
        ("blender_addon.motion", {"bpy", "torch", "scipy", "onnxruntime"}),
        ("blender_addon.systems", {"bpy", "torch", "scipy", "onnxruntime"}),
    ],
)
def test_importing_loads_no_more_than_it_needs(package: str, unwanted: set[str]) -> None:
    folder = ROOT.joinpath(*package.split("."))
    names = [package]
    if package != "blender_addon":
        found = sorted(path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py"))
        names += [".".join((package, *parts)).removesuffix(".__init__") for parts in found]
    script = f"import sys\nfor name in {names!r}: __import__(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not unwanted & set(done.stdout.split())


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_modules_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    if text.strip():
        assert ast.get_docstring(tree), "a module begins with a sentence that says what it is for"
    if name_of(path) in LONG:
        return
    lines = text.count("\n")
    assert lines <= MODULE_LINES, f"{lines} lines: split it, or name the reason in LONG"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"
