"""Qt's system libraries: finds those that are missing, and installs them or prints the command.

Qt's wheel contains Qt itself, but not the desktop libraries that it needs. They are found by
loading them, because package names differ between systems. Missing libraries are not an error:
everything except the window works without them.

install.py calls `install_missing`; `python setup/qt_libraries.py --check` only lists them.
Standard library only.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# Library → its package on Debian and Ubuntu.
OFFSCREEN = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libxkbcommon.so.0": "libxkbcommon0",
}
WITH_DISPLAY = {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
LIBRARIES: Mapping[str, str] = OFFSCREEN | WITH_DISPLAY
FONT_PACKAGE = "fonts-dejavu-core"

PrintStatus = Callable[[str], None]
RunCommand = Callable[[Sequence[str]], bool]


def is_loadable(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def has_font() -> bool:
    data_home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", f"{data_home}/fonts", "~/.fonts")
    return any(
        name.endswith((".ttf", ".otf", ".ttc", ".pfb"))
        for folder in folders
        for _, _, names in os.walk(Path(folder).expanduser())
        for name in names
    )


def missing_packages(libraries: Mapping[str, str] = LIBRARIES) -> list[str]:
    packages = [package for soname, package in libraries.items() if not is_loadable(soname)]
    return packages if has_font() else [*packages, FONT_PACKAGE]


def run_silently(command: Sequence[str]) -> bool:
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    finished = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, env=environ
    )
    return finished.returncode == 0


def install_missing(
    print_status: PrintStatus,
    libraries: Mapping[str, str] = LIBRARIES,
    is_root: bool | None = None,
    run: RunCommand = run_silently,
) -> bool:
    """Install missing packages if root, otherwise print the command. True if none is missing."""
    missing = missing_packages(libraries)
    if not missing:
        return True
    is_root = os.geteuid() == 0 if is_root is None else is_root
    if is_root and shutil.which("apt-get"):
        print_status(f"  installing Qt's system libraries with apt-get: {' '.join(missing)}")
        run(["apt-get", "update"])  # a failure is not fatal: the old package lists may do
        if run(["apt-get", "install", "-y", "--no-install-recommends", *missing]):
            missing = missing_packages(libraries)
        if not missing:
            return True
    print_status(
        "  The window needs system libraries that are missing; everything else works. Install them:"
    )
    print_status(f"    {install_command(missing)}")
    return False


def install_command(packages: Sequence[str]) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install -y {' '.join(packages)}"
    return f"the packages of your system for (Debian names): {' '.join(packages)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Install Qt's missing system libraries.")
    parser.add_argument(
        "--check", action="store_true", help="list missing libraries without installing them"
    )
    if not parser.parse_args().check:
        return 0 if install_missing(print) else 1
    missing = missing_packages()
    print(
        "Install them with:\n  " + install_command(missing) if missing else "No library is missing."
    )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
