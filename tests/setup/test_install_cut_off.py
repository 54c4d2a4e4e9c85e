"""Set-ups that are killed, interrupted or started twice, paused in the middle by a gate."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.setup.conftest import Checkout, Gate

pytestmark = pytest.mark.process

KILLS = 2
MORE_KILLS = 10


def begin_and_stop_at(gate: Gate, checkout: Checkout) -> subprocess.Popen[str]:
    """A set-up with the dependencies installed, now in the middle of pip's second run."""
    process = checkout.start_in_background(TINY_GATE=str(gate.path))
    gate.wait_until_reached()
    return process


def process_of(checkout: Checkout, module: str) -> int:
    """The process that runs this module of the checkout's set-up."""
    expected = os.fsencode(checkout.root / "setup" / module)
    (found,) = [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and expected in command_line(folder)
    ]
    return found


def command_line(process_folder: Path) -> list[bytes]:
    try:
        return (process_folder / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []  # it ended meanwhile


def test_kill_in_the_middle_of_pip_is_repaired(checkout: Checkout, gate: Gate) -> None:
    """Also when a package is half unpacked and its metadata says that it is complete."""
    process = begin_and_stop_at(gate, checkout)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (package,) = checkout.installed("tiny_dependency")
    (package / "second.py").unlink()

    finished = checkout.start()

    assert finished.returncode == 0, finished.stderr
    assert "the last set-up did not finish" in finished.stderr
    assert checkout.start().stderr == ""


def test_kill_during_an_update_is_repaired(ready: Checkout, gate: Gate) -> None:
    """A finished environment that was being brought up to date is not believed either."""
    ready.require("base", "tiny_dependency==2.0")
    process = begin_and_stop_at(gate, ready)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (package,) = ready.installed("tiny_dependency")
    (package / "second.py").unlink()

    assert ready.works()["dependency"] == "2.0"


def test_second_start_waits_for_the_orphaned_pip_of_a_killed_set_up(
    checkout: Checkout, gate: Gate
) -> None:
    """Killing the set-up alone leaves pip writing; the next start must not build meanwhile."""
    begin_and_stop_at(gate, checkout)
    os.kill(process_of(checkout, "install.py"), signal.SIGKILL)

    second = checkout.start_in_background()
    assert second.stderr is not None
    assert "Another set-up of this checkout is running" in second.stderr.readline()
    gate.open()

    output, errors = second.communicate()
    assert second.returncode == 0, errors
    assert json.loads(output)["dependency"] == "1.0"


def test_two_at_once_share_one_installation(checkout: Checkout, gate: Gate) -> None:
    """The second waits for the first and then installs nothing itself."""
    first = begin_and_stop_at(gate, checkout)
    second = checkout.start_in_background()
    assert second.stderr is not None
    waiting = second.stderr.readline()
    gate.open()

    first_output, first_errors = first.communicate()
    second_output, second_errors = second.communicate()

    assert "Another set-up of this checkout is running" in waiting
    assert (first.returncode, second.returncode) == (0, 0), first_errors + second_errors
    assert json.loads(first_output) == json.loads(second_output)
    assert second_errors == ""


def test_the_program_does_not_hold_the_lock(ready: Checkout) -> None:
    """A window that stays open for a week must not keep the next set-up waiting."""
    ready.require("base", "tiny_dependency==2.0")
    running = ready.start_in_background(TINY_PROGRAM_STAYS="1")
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["dependency"] == "2.0"
    ready.require("base", "tiny_dependency==1.0")

    finished = ready.start()

    assert finished.returncode == 0, finished.stderr
    assert "Ready in" in finished.stderr
    assert "Another set-up" not in finished.stderr
    assert running.poll() is None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_set_up_ends_cleanly(
    ready: Checkout, gate: Gate, number: signal.Signals, code: int
) -> None:
    """Ctrl-C ends with 130 and a polite kill with 143; neither shows a traceback."""
    ready.require("base", "tiny_dependency==2.0")
    process = begin_and_stop_at(gate, ready)
    if number is signal.SIGINT:
        os.killpg(process.pid, number)  # what a terminal does
    else:
        os.kill(process_of(ready, "install.py"), number)

    _, errors = process.communicate()

    assert process.returncode == code
    assert "Traceback" not in errors


def test_kills_at_random_moments_are_repaired(checkout: Checkout) -> None:
    """Whenever everything is killed, the next start ends with a working program."""
    kill_at_random_moments(checkout, KILLS)


@pytest.mark.repetition
def test_many_kills_at_random_moments_are_repaired(checkout: Checkout) -> None:
    """The same, more often."""
    kill_at_random_moments(checkout, MORE_KILLS)


def kill_at_random_moments(checkout: Checkout, kills: int) -> None:
    checkout.use_real_venvs()
    for _ in range(kills):
        process = checkout.start_in_background()
        try:
            process.communicate(timeout=random.uniform(0.05, 6))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    assert checkout.works()["dependency"] == "1.0"
    assert checkout.start().stderr == ""
    assert not list((checkout.root / ".venv-setup").glob("discarded-*"))
