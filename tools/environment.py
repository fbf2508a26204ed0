"""Make a virtual environment fit the locked requirements; do nothing when it does already.

usage: python tools/environment.py VENV GROUP...      e.g.  .venv run test train

A group is a file ``requirements/GROUP-pyXYZ.txt``, XYZ being the version of the Python that runs
this script. What was installed is remembered inside the environment by a hash of these files, so a
second call costs a fraction of a second. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"
TAG = f"py{sys.version_info[0]}{sys.version_info[1]}"


def main() -> int:
    """Create or update the environment; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("venv", type=Path)
    parser.add_argument("groups", nargs="+", metavar="group")
    options = parser.parse_args()

    locks = {group: REQUIREMENTS / f"{group}-{TAG}.txt" for group in options.groups}
    absent = [str(lock) for lock in locks.values() if not lock.is_file()]
    if absent:
        print(f"No locked requirements for Python {TAG[2]}.{TAG[3:]}: {', '.join(absent)}", file=sys.stderr)
        return 1

    python = environment_python(options.venv)
    wanted = [lock for group, lock in locks.items() if not stamp_of(options.venv, group, lock).exists()]
    if not wanted:
        return 0
    # One call for all of them: pip then checks that the locks agree with each other.
    print(f"Installing {', '.join(lock.name for lock in wanted)} into {options.venv}", flush=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for lock in wanted:
        command += ["-r", str(lock)]
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        print(f"The requirements could not be installed into {options.venv}", file=sys.stderr)
        return status
    for group, lock in locks.items():
        for old in options.venv.glob(f".fits-{group}-{TAG}-*"):
            old.unlink()
        stamp_of(options.venv, group, lock).touch()
    return 0


def environment_python(folder: Path) -> Path:
    """The environment's Python, created first if it is absent, broken, or of another version."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists():
        ask = "import sys; print('py%d%d' % sys.version_info[:2])"
        answer = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=False)
        if answer.stdout.strip() == TAG:
            return python
        shutil.rmtree(folder)
    print(f"Creating {folder} with Python {sys.version.split()[0]}", flush=True)
    try:
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    except (subprocess.CalledProcessError, SystemExit) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SystemExit(f"{sys.executable} cannot make environments ({error}); on Debian: python3-venv") from None
    return python


def stamp_of(folder: Path, group: str, lock: Path) -> Path:
    """The file whose presence says that ``lock`` as it is now has been installed."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    return folder / f".fits-{group}-{TAG}-{digest}"


if __name__ == "__main__":
    raise SystemExit(main())
