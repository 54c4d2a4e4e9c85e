"""`mosaic gui` and `mosaic` without a command: the window, or a remedy without a display."""

import signal
import subprocess

import pytest

from tests.support.daemon import eventually
from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process

_OF_A_DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def without_display(mosaic: Mosaic) -> dict[str, str]:
    return {name: text for name, text in mosaic.environment.items() if name not in _OF_A_DISPLAY}


@pytest.mark.parametrize("arguments", [(), ("gui",)], ids=["alone", "gui"])
def test_without_a_display_a_remedy_is_printed(arguments: tuple[str, ...], mosaic: Mosaic) -> None:
    """The exit code is 1; `mosaic` without a command also prints its help."""
    done = subprocess.run(
        mosaic.command(*arguments),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env=without_display(mosaic),
    )

    assert done.returncode == 1
    assert "There is no display to open a window on." in done.stderr
    assert "ssh -X" in done.stderr
    assert ("Manage:" in done.stdout) == (not arguments)


@pytest.mark.parametrize("arguments", [(), ("gui",)], ids=["alone", "gui"])
def test_the_window_opens_and_closes_on_sigterm(arguments: tuple[str, ...], mosaic: Mosaic) -> None:
    """It starts a daemon, saves its layout, and leaves no temporary files."""
    window = subprocess.Popen(
        mosaic.command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**without_display(mosaic), "QT_QPA_PLATFORM": "offscreen"},
        cwd=mosaic.folder,
    )
    try:
        eventually(mosaic.home.endpoint.exists)
        window.send_signal(signal.SIGTERM)
        output, errors = window.communicate(timeout=DEADLINE_S)
    finally:
        window.kill()

    assert window.returncode == 0, errors
    assert output == ""
    assert "Traceback" not in errors
    assert "[layout]" in (mosaic.home.path / "window.ini").read_text()
    assert mosaic.ok("daemon", "status")
