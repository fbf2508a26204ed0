"""Stage and build the extension zip: both packages side by side, the manifest at the root, onnxruntime as wheels.

usage: python tools/stage_extension.py [--out dist] [--platforms current|all|NAME...] [--split-platforms]

`blender_addon` and `training` stand side by side in the extension as they do in the checkout, so that
the training process is started by the same call in both. Needs an environment with bpy, whose own
extension builder does the packing. Wheels are kept in ``.cache/wheels`` and bundled unmodified.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("blender_addon", "training")
ROOT_MODULE = '''"""Gaitsmith, as Blender loads it: the add-on is the package beside this file."""

from .blender_addon import register, unregister

__all__ = ["register", "unregister"]
'''
#: Python tags of official builds: Blender 4.2 to 5.0, and 5.1 on.
PYTHON_VERSIONS = ("3.11", "3.13")


@dataclass(frozen=True)
class Platform:
    """One of Blender's platforms, and the onnxruntime wheel for it."""

    name: str
    wheel_tag: str
    onnxruntime: str = "1.32.0"
    pythons: tuple[str, ...] = PYTHON_VERSIONS


PLATFORMS: dict[str, Platform] = {
    each.name: each
    for each in (
        # Linux distributions build Blender with their own, newer Python.
        Platform("linux-x64", "manylinux_2_28_x86_64", pythons=(*PYTHON_VERSIONS, "3.14")),
        Platform("windows-x64", "win_amd64"),
        Platform("windows-arm64", "win_arm64"),
        Platform("macos-arm64", "macosx_14_0_arm64"),
        # The last release for Intel Macs. Blender 5.0 and later do not run on them.
        Platform("macos-x64", "macosx_13_0_x86_64", onnxruntime="1.23.2", pythons=("3.11",)),
    )
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Stage, validate, build; prints the paths of the zips."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="folder for the zips")
    parser.add_argument("--stage", type=Path, default=REPOSITORY / "build" / "extension", help="emptied first")
    parser.add_argument("--wheels", type=Path, default=REPOSITORY / ".cache" / "wheels", help="downloads are kept here")
    parser.add_argument("--platforms", nargs="+", default=["current"], choices=["current", "all", *PLATFORMS])
    parser.add_argument("--split-platforms", action="store_true", help="one zip for each platform")
    options = parser.parse_args(arguments)

    platforms = chosen_platforms(options.platforms)
    wheels = [wheel for each in platforms for wheel in wheels_for(each, options.wheels)]
    stage(options.stage, platforms, wheels)
    for path in build(options.stage, options.out, options.split_platforms):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


def chosen_platforms(names: Iterable[str]) -> list[Platform]:
    """The platforms that ``--platforms`` names; ``current`` is the one this runs on."""
    chosen: list[Platform] = []
    for name in names:
        if name == "all":
            return list(PLATFORMS.values())
        chosen.append(PLATFORMS[current_platform() if name == "current" else name])
    return list(dict.fromkeys(chosen))


def current_platform() -> str:
    """Blender's name of the platform this runs on; exits with a message where the zip has no wheels for it."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), "arm64")
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        raise SystemExit(f"Blender has no official build for {name}: name another with --platforms")
    return name


def wheels_for(target: Platform, cache: Path) -> list[Path]:
    """The onnxruntime wheels of one platform, downloaded unless cached.

    Without its dependencies: importing onnxruntime needs numpy alone, which Blender has. Its others
    (flatbuffers, protobuf, packaging) serve tools that are not used here.
    """
    cache.mkdir(parents=True, exist_ok=True)
    found: list[Path] = []
    for version in target.pythons:
        tag = f"cp{version.replace('.', '')}"
        pattern = f"onnxruntime-{target.onnxruntime}-{tag}-{tag}-*{target.wheel_tag}*.whl"
        if not list(cache.glob(pattern)):
            command = [
                sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--only-binary=:all:", "--platform", target.wheel_tag, "--python-version", version,
                "--dest", str(cache), f"onnxruntime=={target.onnxruntime}",
            ]  # fmt: skip
            _call(command, f"onnxruntime {target.onnxruntime} for {target.name} could not be downloaded")
        matches = sorted(cache.glob(pattern))
        if len(matches) != 1:
            raise SystemExit(f"Expected one wheel {pattern} in {cache}, found {len(matches)}")
        found.append(matches[0])
    return found


def stage(folder: Path, platforms: Sequence[Platform], wheels: Sequence[Path]) -> None:
    """Fill ``folder`` (emptied first) with what the zip shall hold."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    junk = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*-report", "blender_manifest.toml")
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, folder / package, ignore=junk)
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        if (REPOSITORY / name).is_file():
            shutil.copy2(REPOSITORY / name, folder / name)
    # What the README links to.
    shutil.copytree(REPOSITORY / "docs", folder / "docs", ignore=junk)
    (folder / "__init__.py").write_text(ROOT_MODULE, encoding="utf-8")
    (folder / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy2(wheel, folder / "wheels" / wheel.name)
    source = (REPOSITORY / "blender_addon" / "blender_manifest.toml").read_text(encoding="utf-8")
    manifest = completed_manifest(source, [each.name for each in platforms], [wheel.name for wheel in wheels])
    (folder / "blender_manifest.toml").write_text(manifest, encoding="utf-8")


def completed_manifest(source: str, platforms: Sequence[str], wheels: Sequence[str]) -> str:
    """The manifest with the platforms and wheels of this build in place of what it said about them."""
    head, bracket, tables = re.compile(r"^\[", re.MULTILINE).sub("\0[", source, count=1).partition("\0")
    head = re.sub(r"^(wheels|platforms)\s*=\s*\[[^\]]*\]\s*?\n", "", head, flags=re.MULTILINE)
    head += f"platforms = {_toml_list(platforms)}\nwheels = {_toml_list(f'./wheels/{wheel}' for wheel in wheels)}\n"
    text = f"{head}\n{tables}" if bracket else head
    read = tomllib.loads(text)
    if read["platforms"] != list(platforms) or len(read["wheels"]) != len(wheels):
        raise SystemExit("blender_manifest.toml could not be completed: keep `platforms` and `wheels` before any table")
    return text


def build(stage_folder: Path, out: Path, split: bool) -> list[Path]:
    """Validate the staged folder and pack it with Blender's own command line tool; returns the zips."""
    out.mkdir(parents=True, exist_ok=True)
    builder = [sys.executable, str(extension_cli())]
    _call([*builder, "validate", str(stage_folder)], "the staged extension is not valid")
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.zip")}
    command = [*builder, "build", "--source-dir", str(stage_folder), "--output-dir", str(out)]
    _call([*command, "--split-platforms"] if split else command, "the extension could not be built")
    made = [path for path in sorted(out.glob("*.zip")) if before.get(path) != path.stat().st_mtime_ns]
    for path in made:
        _call([*builder, "validate", str(path)], f"{path.name} is not valid")
    return made


def extension_cli() -> Path:
    """Blender's extension command line tool, as the bpy wheel brings it; found without loading Blender."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("This Python has no bpy: run `make zip`, or use the Python of .venv")
    found = sorted(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    if not found:
        raise SystemExit("This bpy has no extension builder: 4.2 or later is needed")
    return found[-1]


def _call(command: Sequence[str], failure: str) -> None:
    """Run a tool; its output is shown, and the script ends, only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}stage_extension: {failure}")


def _toml_list(items: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


if __name__ == "__main__":
    raise SystemExit(main())
