"""The zip as a person gets it: installed, enabled, baking, its training process, and switched off again."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.blender, pytest.mark.extension]
Step = Callable[..., dict[str, Any]]


def test_the_zip_holds_the_product_and_nothing_else(extension_zip: Path, repository: Path) -> None:
    with zipfile.ZipFile(extension_zip) as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    tops = {name.split("/")[0] for name in names}
    assert tops <= {
        "__init__.py", "blender_manifest.toml", "blender_addon", "training", "wheels", "LICENSE", "README.md",
        "CHANGELOG.md", "docs",
    }  # fmt: skip
    assert {"__init__.py", "LICENSE", "blender_addon/registration.py", "training/__main__.py"} <= set(names)
    # Raw motion, caches and checkpoints stay at home.
    unwanted = (".bvh", ".fbx", ".pyc", ".pt", ".blend", ".amc")
    assert not [name for name in names if name.endswith(unwanted) or "/." in name]
    assert sorted(manifest["wheels"]) == sorted(f"./{name}" for name in names if name.endswith(".whl"))
    for source in (repository / "blender_addon").rglob("pack.json"):
        assert source.relative_to(repository).as_posix() in names


def test_installing_enables_the_add_on_from_its_own_folder(installed: dict[str, Any], resources: Path) -> None:
    assert installed["result"] == ["FINISHED"] and installed["enabled"]
    assert resources in Path(installed["file"]).parents
    assert installed["preferences"] != "NoneType" and installed["operators"] > 5


@pytest.mark.usefixtures("installed")
def test_a_later_process_can_enable_it_from_where_it_was_installed(in_blender: Step, resources: Path) -> None:
    again = in_blender("enabled")
    assert again["enabled"] and resources in Path(again["file"]).parents


@pytest.mark.usefixtures("installed")
def test_onnxruntime_comes_from_the_bundled_wheel(in_blender: Step, resources: Path) -> None:
    runtime = in_blender("runtime")
    assert resources in Path(runtime["file"]).parents
    assert not runtime["torch"]


@pytest.mark.usefixtures("installed")
def test_it_bakes_with_the_shipped_pack(in_blender: Step, tmp_path: Path) -> None:
    baked = in_blender("bake", tmp_path / "shot with spaces.blend")
    assert baked["result"] == ["FINISHED"], baked
    assert baked["frames"] > 60 and baked["curves"] > 50
    # From the start of the curve to its end, 2 m and then the diagonal of 1 m by 2 m.
    assert baked["first"] == pytest.approx([0.0, 0.0], abs=0.1)
    assert baked["last"] == pytest.approx([1.0, -4.0], abs=0.1)
    assert baked["torch"] is False and baked["saved"] and baked["figures"] > 5


def test_command_lines_start_from_the_extension_s_folder(installed: dict[str, Any]) -> None:
    # As the add-on starts them: in the folder that holds both packages.
    folder = Path(installed["file"]).parent
    for module in ("blender_addon", "training"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--help"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stderr


@pytest.mark.usefixtures("installed")
def test_switching_it_off_leaves_nothing_in_blender(in_blender: Step) -> None:
    off = in_blender("disable")
    assert off == {"left": [], "scene": False, "enabled": False}
