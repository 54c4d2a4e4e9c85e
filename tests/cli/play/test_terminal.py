"""The terminal of a session: keys are decoded, and its state is always restored."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.play.screen import LEFT, Screen, fresh_settings

pytestmark = pytest.mark.process

_PROGRAM = """
import sys
from mosaic.cli.terminal.terminal import PlayTerminal

terminal = PlayTerminal.find(is_stdout_used=False)
seen = []
try:
    with terminal:
        while True:
            terminal.draw([f"size {terminal.size()}", f"keys {' '.join(seen)}."])
            for key in terminal.wait(0.2):
                if key == "x":
                    raise RuntimeError("on purpose")
                seen.append(key)
            if "q" in seen:
                break
except KeyboardInterrupt:
    print("interrupted")
print("afterwards")
"""

_JOB_CONTROL = """
import os, signal, subprocess, sys
# What a shell does: the program in a group of its own, in the foreground until it stops.
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen([sys.executable, "-c", sys.argv[1]], process_group=0)
os.tcsetpgrp(0, job.pid)
while True:
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    print("the job stands still", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, job.pid)
    os.killpg(job.pid, signal.SIGCONT)
"""


def start(tmp_path: Path, *command: str) -> Screen:
    screen = Screen([sys.executable, *(command or ("-c", _PROGRAM))], os.environ, tmp_path)
    screen.read_until("size (80, 24)")
    return screen


def was_restored(screen: Screen) -> bool:
    """The attributes, the cursor and the normal screen are restored."""
    return not is_taken(screen) and "\x1b[?25h" in screen.output.rpartition(LEFT)[0]


def is_taken(screen: Screen) -> bool:
    return screen.settings()[:4] != fresh_settings()[:4]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"),
        ("\x1bOA\x1bOD", "up left"),
        ("aB7?+, \r\t", "a b 7 ? + comma space enter tab"),
        ("\x1b[1;5C\x1b[3~\x1b[200~z", "right z"),
    ],
)
def test_keys_have_the_names_of_key_maps(tmp_path: Path, typed: str, keys: str) -> None:
    """Arrow keys in both modes of a terminal; unknown keys are ignored."""
    screen = start(tmp_path)
    screen.type(typed)
    screen.read_until(f"keys {keys}.")
    screen.type("q")
    assert screen.end() == 0
    assert "afterwards" in screen.afterwards


def test_escape_alone_is_a_key(tmp_path: Path) -> None:
    """Although every arrow key starts with it."""
    screen = start(tmp_path)
    screen.type("\x1b")
    screen.read_until("keys escape.")
    screen.type("q")
    assert screen.end() == 0


@pytest.mark.parametrize(
    ("typed", "number", "exit_code", "expected"),
    [
        ("q", None, 0, "afterwards"),
        ("x", None, 1, "on purpose"),
        ("\x03", None, 0, "interrupted"),
        ("", signal.SIGTERM, 143, ""),
        ("", signal.SIGHUP, 129, ""),
    ],
    ids=["end", "exception", "ctrl-c", "sigterm", "sighup"],
)
def test_the_terminal_is_always_restored(
    tmp_path: Path, typed: str, number: signal.Signals | None, exit_code: int, expected: str
) -> None:
    """Echo, line mode and cursor are restored, and later output is visible."""
    # The program's parent keeps the terminal open, so that its settings can be looked at after.
    keeper = "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', sys.argv[1]]);"
    keeper += (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "print(f'pid {c.pid};', flush=True); code = c.wait();"
        "print(f'code {code}.', flush=True); sys.stdin.readline()"
    )
    screen = Screen([sys.executable, "-c", keeper, _PROGRAM], os.environ, tmp_path)
    screen.read_until("size (80, 24)")
    assert is_taken(screen)
    if number is not None:
        os.kill(int(screen.output.partition("pid ")[2].partition(";")[0]), number)
    screen.type(typed)
    screen.read_until(lambda: f"code {exit_code}." in screen.output)
    assert was_restored(screen)
    assert expected in screen.afterwards
    screen.type("\n")
    screen.end()


def test_a_resize_redraws(tmp_path: Path) -> None:
    """Without a key being pressed."""
    screen = start(tmp_path)
    screen.resize(50, 12)
    screen.read_until("size (50, 12)")
    screen.type("q")
    assert screen.end() == 0


def test_ctrl_z_restores_the_terminal_until_the_process_continues(tmp_path: Path) -> None:
    """The shell gets its terminal, and the session is redrawn after `fg`."""
    screen = Screen([sys.executable, "-c", _JOB_CONTROL, _PROGRAM], os.environ, tmp_path)
    screen.read_until("size (80, 24)")
    screen.type("a")
    screen.read_until("keys a.")
    screen.type("\x1a")
    screen.read_until(lambda: "the job stands still" in screen.output)
    assert was_restored(screen)
    drawn = len(screen.output)
    screen.type("\n")
    screen.read_until(lambda: "keys a." in screen.output[drawn:])
    assert is_taken(screen)
    screen.type("bq")
    assert screen.end() == 0
