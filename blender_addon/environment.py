"""Create a Python that can train: ``python -m blender_addon.environment FOLDER``; reports JSON lines. No bpy."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

#: What training imports, what tries how far a network leaps, and what draws the report.
PACKAGES = ("numpy", "onnx", "onnxruntime", "tqdm", "matplotlib")
#: torch without GPU libraries is a tenth of the size.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def python_of(folder: Path) -> Path:
    """The environment's own Python."""
    return folder / "Scripts" / "python.exe" if sys.platform == "win32" else folder / "bin" / "python"


def install_commands(python: Path) -> list[list[str]]:
    """The pip calls that fill the environment."""
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    torch = [*pip, "torch"] if sys.platform == "darwin" else [*pip, "torch", "--index-url", TORCH_CPU_INDEX]
    return [torch, [*pip, *PACKAGES]]


def create(folder: Path) -> int:
    """Create the environment and fill it; returns the exit status."""
    _say(event="progress", stage="Creating the environment", fraction=0.05)
    try:
        venv.create(folder, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as error:
        _say(event="error", message=f"The environment could not be created ({error})",
             remedy="Choose a Python of your own in the preferences")  # fmt: skip
        return 1
    python = python_of(folder)
    steps = zip(("torch", "what else training needs"), install_commands(python), strict=True)
    for index, (what, command) in enumerate(steps):
        _say(event="progress", stage=f"Installing {what}", fraction=0.1 + 0.6 * index)
        if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
            _say(event="error", message="pip could not install what training needs",
                 remedy="See that the computer is online, then try again")  # fmt: skip
            return 1
    _say(event="done", python=str(python))
    return 0


def _say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(create(Path(sys.argv[1])))
