"""What tests share: the raw motion data, where they find it, and skipping where something is absent."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

# Before numpy is loaded: OpenBLAS starts a thread for every core, and the tests' arrays are too small to gain by it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent

# Examples are drawn anew on a developer's machine, the same ones every time in CI.
settings.register_profile("house", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("house"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``blender`` are skipped where no bpy is installed."""
    if importlib.util.find_spec("bpy") is None:
        for item in items:
            if item.get_closest_marker("blender"):
                item.add_marker(pytest.mark.skip(reason="bpy is not installed"))


_status = 0


def pytest_sessionfinish(exitstatus: int) -> None:
    """Remember how the run ended, for `pytest_unconfigure`."""
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Leave without C++'s destructors where bpy was loaded: some of Blender's wait for ever for a thread of its own."""
    if "bpy" in sys.modules:
        shutil.rmtree(sys.modules["bpy"].app.tempdir, ignore_errors=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The raw takes (index.tsv, skeletons.tsv, human/, ...); tests that need them skip without."""
    folder = Path(os.environ.get("GAITSMITH_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "index.tsv").is_file():
        pytest.skip(f"raw motion data is not at {folder} (set GAITSMITH_DATA)")
    return folder
