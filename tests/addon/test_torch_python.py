"""Checking the Python that trains: a good one, one without torch, no Python at all."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import bpy
import pytest

import blender_addon
from blender_addon import environment, jobs, preferences
from blender_addon.operators import torch_python


@pytest.fixture
def addon(monkeypatch: pytest.MonkeyPatch):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    blender_addon.register()
    yield monkeypatch
    blender_addon.unregister()


def fake_python(folder: Path, text: str) -> str:
    path = folder / "python med mellanslag ü"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def asked(python: str) -> tuple[bool, str]:
    job = torch_python.start_probe(python)
    job.wait(120)
    return torch_python.verdict(job)


def test_what_lacks_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    event = '{"event": "probe", "found": {"python": "3.11.7", "torch": "", "onnx": "", "numpy": "1.26"}}'
    good, text = asked(fake_python(tmp_path, f"echo '{event}'"))
    assert not good and "lacks torch, onnx" in text and "pip install torch onnx" in text


def test_something_else_is_no_python(tmp_path: Path) -> None:
    good, text = asked(fake_python(tmp_path, "echo hello; exit 3"))
    assert not good and "no working Python" in text


@pytest.mark.parametrize("path", ["", "/nowhere/python3"])
def test_no_python_at_all_is_refused(path: str) -> None:
    with pytest.raises(jobs.JobError):
        torch_python.start_probe(path)


def test_the_check_button_tells_the_verdict(addon, tmp_path: Path) -> None:
    event = '{"event": "probe", "found": {"python": "3.13.1", "torch": "2.9", "onnx": "1", "numpy": "2"}}'
    addon.setitem(preferences.DEFAULTS, "python_path", fake_python(tmp_path, f"echo '{event}'"))
    bpy.ops.gaitsmith.check_python()
    assert bpy.context.window_manager.gaitsmith.check_text == "Ready: Python 3.13.1, torch 2.9, onnx 1"


def test_this_python_is_probed_in_earnest() -> None:
    good, text = asked(sys.executable)
    assert text.startswith("Ready: Python" if good else "Python")


def test_creating_a_python_needs_leave_to_go_online(addon) -> None:
    addon.setattr(preferences, "online_access", lambda: False)
    assert not bpy.ops.gaitsmith.create_python.poll()


def test_the_environment_is_filled_by_pip_of_its_own() -> None:
    python = environment.python_of(Path("/x/env"))
    commands = environment.install_commands(python)
    assert all(command[:4] == [str(python), "-m", "pip", "install"] for command in commands)
    assert "torch" in commands[0] and set(environment.PACKAGES) <= set(commands[1])
