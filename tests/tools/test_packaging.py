"""What sets up and packs the product: locks, environments, system libraries, the manifest of the zip."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(f"gaitsmith_tool_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def pins(path: Path) -> dict[str, str]:
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_to_a_public_release(lock: Path) -> None:
    for line in lock.read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line), line


@pytest.mark.parametrize("version", ["py311", "py313"])
def test_locks_that_go_into_one_environment_agree(version: str) -> None:
    seen: dict[str, str] = {}
    for group in ("run", "test", "train", "tools"):
        for name, pin in pins(ROOT / "requirements" / f"{group}-{version}.txt").items():
            assert seen.setdefault(name, pin) == pin, f"{name} in {group}"


def test_the_versions_told_in_several_places_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    manifest = tomllib.loads((ROOT / "blender_addon" / "blender_manifest.toml").read_text())
    assert manifest["version"] == project["version"]
    assert manifest["license"] == [f"SPDX:{project['license']}"]
    bundled = tool("stage_extension").PLATFORMS["linux-x64"].onnxruntime
    assert {pins(lock)["onnxruntime"] for lock in LOCKS if lock.name.startswith("run-")} == {bundled}


def test_the_manifest_is_completed_whatever_it_said_about_wheels() -> None:
    source = 'id = "x"\nplatforms = [\n  "linux-x64",\n]\nwheels = []\n\n[permissions]\nfiles = "[read]"\n'
    text = tool("stage_extension").completed_manifest(source, ["windows-x64"], ["a-1-cp311-cp311-win_amd64.whl"])
    assert tomllib.loads(text) == {
        "id": "x", "platforms": ["windows-x64"], "wheels": ["./wheels/a-1-cp311-cp311-win_amd64.whl"],
        "permissions": {"files": "[read]"},
    }  # fmt: skip
    bare = tomllib.loads(tool("stage_extension").completed_manifest('id = "x"\n', ["macos-x64"], []))
    assert bare == {"id": "x", "platforms": ["macos-x64"], "wheels": []}


def test_missing_system_libraries_are_named_with_their_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checker = tool("check_system_libraries")
    monkeypatch.setattr(checker.sys, "platform", "linux")
    monkeypatch.setattr(checker, "loads", lambda name: not name.startswith(("libXi.", "libEGL_")))
    assert checker.main([]) == 1
    said = capsys.readouterr().err
    assert "libXi.so.6" in said and "apt-get install libegl-mesa0 libgl1-mesa-dri libxi6" in said
    assert "libX11" not in said
    monkeypatch.setattr(checker, "loads", lambda name: True)
    assert checker.main([]) == 0 and capsys.readouterr().err == ""


def test_a_library_that_does_not_exist_does_not_load() -> None:
    assert not tool("check_system_libraries").loads("libgaitsmith-that-nobody-has.so.7")


def test_an_unknown_group_of_requirements_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "environment.py"), str(tmp_path / "venv"), "sculpting"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "sculpting-py" in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_stub_that_does_not_run_is_no_python(tmp_path: Path) -> None:
    stub = tmp_path / "python3.11"
    stub.write_text("#!/bin/sh\necho 'version not installed' >&2\nexit 127\n")
    stub.chmod(0o755)
    finder = str(ROOT / "tools" / "find_python.sh")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([finder, "3.11"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "No working Python" in done.stderr
    assert str(tmp_path) not in done.stdout
    none = subprocess.run([finder, "2.0"], env=env, capture_output=True, text=True, check=False)
    assert none.returncode == 1 and "No working Python of version 2.0" in none.stderr
