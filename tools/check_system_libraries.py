"""Name the system libraries that the bpy wheel loads and this machine lacks, before anything is installed.

usage: python tools/check_system_libraries.py [--all-versions] [--packages]

The wheels bring most of Blender's libraries along, but not those of the window system and OpenGL,
which they load even without a screen. ``--all-versions`` asks for what any
supported Blender version needs, not only the two that `make` installs; ``--packages`` prints only
the Debian packages to install.
Standard library only. Elsewhere than on Linux the wheels need nothing of the system.
"""

from __future__ import annotations

import ctypes
import sys

#: Library -> Debian package. What the loader wants for ``import bpy`` (versions 4.5 to 5.3), ...
TO_IMPORT = {
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXi.so.6": "libxi6",
    "libXfixes.so.3": "libxfixes3",
    "libXrender.so.1": "libxrender1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libstdc++.so.6": "libstdc++6",
}
#: ... what 4.2 wants besides, ...
TO_IMPORT_4_2 = {"libXxf86vm.so.1": "libxxf86vm1", "libgomp.so.1": "libgomp1", "libz.so.1": "zlib1g"}
#: ... and what is opened while drawing: the pictures of the demo and of the tests.
TO_DRAW = {"libEGL.so.1": "libegl1"}
#: libEGL only dispatches: one of these drivers must stand behind it.
DRIVERS = ("libEGL_mesa.so.0", "libEGL_nvidia.so.0")
DRIVER_PACKAGE = "libegl-mesa0 libgl1-mesa-dri"


def main(arguments: list[str]) -> int:
    """Print what is missing; the exit status is 1 if anything is."""
    if not sys.platform.startswith("linux"):
        return 0
    missing = missing_libraries(all_versions="--all-versions" in arguments)
    packages = sorted({package for names in missing.values() for package in names.split()})
    if "--packages" in arguments:
        print(" ".join(packages))
        return 0
    if not missing:
        return 0
    print("Blender's Python module needs system libraries that are not installed:", file=sys.stderr)
    for library, package in missing.items():
        print(f"  {library:22} (Debian, Ubuntu: {package})", file=sys.stderr)
    print(f"Install them, for example:  apt-get install {' '.join(packages)}", file=sys.stderr)
    return 1


def missing_libraries(all_versions: bool = False) -> dict[str, str]:
    """Library -> Debian packages, of those that cannot be loaded here."""
    wanted = {**TO_IMPORT, **TO_DRAW, **(TO_IMPORT_4_2 if all_versions else {})}
    missing = {name: package for name, package in wanted.items() if not loads(name)}
    if not any(loads(driver) for driver in DRIVERS):
        missing[DRIVERS[0]] = DRIVER_PACKAGE
    return missing


def loads(library: str) -> bool:
    """Whether the system's loader finds ``library`` and all that it needs."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
