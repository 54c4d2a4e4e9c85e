"""Qt's system libraries: found by loading them, installed when root, named otherwise."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

MISSING = {"libdoes-not-exist.so.7": "libdoes-not-exist7"}

PAINT = """
import sys
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter

application = QGuiApplication(sys.argv)
image = QImage(200, 50, QImage.Format.Format_RGB32)
image.fill(Qt.GlobalColor.white)
painter = QPainter(image)
painter.drawText(QRect(0, 0, 200, 50), Qt.AlignmentFlag.AlignCenter, "MOSAIC")
painter.end()
print(sum(image.pixelColor(x, y).lightness() < 128 for x in range(200) for y in range(50)))
"""


@pytest.fixture
def with_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An apt-get on PATH; the tests pass their own runner, so it is never run."""
    program = tmp_path / "apt-get"
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def never(_command: Sequence[str]) -> bool:
    raise AssertionError("nothing may be installed here")


@pytest.mark.usefixtures("with_apt")
def test_missing_library_is_listed_with_the_command(qt_libraries: ModuleType) -> None:
    """Other users than root get the command to run, and the set-up continues."""
    printed: list[str] = []

    complete = qt_libraries.install_missing(printed.append, MISSING, is_root=False, run=never)

    assert not complete
    assert printed[-1].strip().startswith("sudo apt-get install -y libdoes-not-exist7")


@pytest.mark.usefixtures("with_apt")
def test_root_installs_through_apt(qt_libraries: ModuleType) -> None:
    """As root the packages are installed, without their recommendations."""
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> bool:
        commands.append(command)
        return True

    qt_libraries.install_missing([].append, MISSING, is_root=True, run=run)

    assert commands[0] == ["apt-get", "update"]
    assert commands[1][:5] == [
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        *MISSING.values(),
    ]


@pytest.mark.usefixtures("with_apt")
def test_failing_apt_is_not_fatal(qt_libraries: ModuleType) -> None:
    """If apt-get fails, the command is still printed."""
    printed: list[str] = []

    complete = qt_libraries.install_missing(
        printed.append, MISSING, is_root=True, run=lambda _command: False
    )

    assert not complete
    assert "libdoes-not-exist7" in printed[-1]


def test_library_that_loads_is_not_missing(qt_libraries: ModuleType) -> None:
    """The C library is always there; it is not reported."""
    assert "libc6" not in qt_libraries.missing_packages({"libc.so.6": "libc6"})


def test_every_library_has_its_package(qt_libraries: ModuleType) -> None:
    """A soname and its Debian package belong together: libxcb-icccm.so.4 is in libxcb-icccm4."""
    for soname, package in qt_libraries.LIBRARIES.items():
        stem = soname.partition(".so")[0].lower().removesuffix("-2.0")
        assert package.startswith(stem), (soname, package)


@pytest.mark.process
def test_qt_paints_text_without_a_display() -> None:
    """The window's toolkit starts offscreen and has a font to paint with."""
    if importlib.util.find_spec("PySide6") is None:
        pytest.skip("PySide6 is not installed in this environment; ./test installs it")
    painted = subprocess.run(
        [sys.executable, "-c", PAINT],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(painted.stdout) > 50
