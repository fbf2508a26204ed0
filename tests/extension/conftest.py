"""The built zip, installed into a Blender configuration of its own, and steps that run inside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DRIVER = Path(__file__).resolve().parent / "driver.py"
Step = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def extension_zip(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that GAITSMITH_ZIP names, or one built now."""
    given = os.environ.get("GAITSMITH_ZIP")
    if given:
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("zip")
    command = [sys.executable, str(repository / "tools" / "stage_extension.py")]
    command += ["--out", str(folder / "out"), "--stage", str(folder / "stage")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "out").glob("*.zip")
    return path


@pytest.fixture(scope="session")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration's folder; its name has what names of folders have."""
    return tmp_path_factory.mktemp("Blender Настройки")


@pytest.fixture(scope="session")
def in_blender(resources: Path) -> Step:
    """Run one step of driver.py in a new process that sees the configuration but not the checkout."""
    # Nothing in the environment may lead to the checkout or to another configuration.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BLENDER_"))}
    env["BLENDER_USER_RESOURCES"] = env["TMPDIR"] = str(resources)

    def step(name: str, *arguments: object, timeout: float = 300.0) -> dict[str, Any]:
        # The driver is copied beside the configuration: a script's folder is on its search path.
        script = shutil.copy(DRIVER, resources / "driver.py")
        command = [sys.executable, "-I", str(script), name, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=resources, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip
        output = done.stdout + done.stderr
        assert done.returncode == 0 and "Traceback" not in output, output
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return answer

    return step


@pytest.fixture(scope="session")
def installed(in_blender: Step, extension_zip: Path) -> dict[str, Any]:
    """What Blender says after installing and enabling the zip."""
    return in_blender("install", extension_zip)
