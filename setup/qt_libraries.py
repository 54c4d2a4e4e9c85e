"""Qt's system libraries: which are missing here, and how to get them.

Qt's wheel brings Qt itself, not the libraries of the desktop below it. Those are looked for by
loading them: package names differ between systems, and what counts is that the loader finds them.
Nothing here is fatal, because all headless work does without.

install.py calls `provide`; by hand: `python setup/qt_libraries.py --check`. Standard library only.
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

# What loads it → the Debian and Ubuntu package that has it.
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
ON_A_DISPLAY = {
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
LIBRARIES: Mapping[str, str] = OFFSCREEN | ON_A_DISPLAY
FONT_PACKAGE = "fonts-dejavu-core"

Say = Callable[[str], None]
Run = Callable[[Sequence[str]], bool]


def loads(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def has_a_font() -> bool:
    data_home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", f"{data_home}/fonts", "~/.fonts")
    return any(
        name.endswith((".ttf", ".otf", ".ttc", ".pfb"))
        for folder in folders
        for _, _, names in os.walk(Path(folder).expanduser())
        for name in names
    )


def missing_packages(libraries: Mapping[str, str] = LIBRARIES) -> list[str]:
    packages = [package for soname, package in libraries.items() if not loads(soname)]
    return packages if has_a_font() else [*packages, FONT_PACKAGE]


def run_quietly(command: Sequence[str]) -> bool:
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    finished = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, env=environ
    )
    return finished.returncode == 0


def provide(
    say: Say,
    libraries: Mapping[str, str] = LIBRARIES,
    is_root: bool | None = None,
    run: Run = run_quietly,
) -> bool:
    """Installs what is missing when root, otherwise says the exact line. True when complete."""
    missing = missing_packages(libraries)
    if not missing:
        return True
    is_root = os.geteuid() == 0 if is_root is None else is_root
    if is_root and shutil.which("apt-get"):
        say(f"  installing Qt's system libraries with apt-get: {' '.join(missing)}")
        run(["apt-get", "update"])  # stale lists may still do; installing is what tells
        if run(["apt-get", "install", "-y", "--no-install-recommends", *missing]):
            missing = missing_packages(libraries)
        if not missing:
            return True
    say("  The window will need system libraries that are missing; all else works. To add them:")
    say(f"    {install_line(missing)}")
    return False


def install_line(packages: Sequence[str]) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install -y {' '.join(packages)}"
    return f"your system's package for each of (Debian's names): {' '.join(packages)}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Qt's system libraries: what is missing, and how to get it."
    )
    parser.add_argument("--check", action="store_true", help="only look, install nothing")
    if not parser.parse_args().check:
        return 0 if provide(print) else 1
    missing = missing_packages()
    print(
        "Install them with:\n  " + install_line(missing)
        if missing
        else "All of Qt's libraries load."
    )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
