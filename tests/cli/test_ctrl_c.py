"""Ctrl-C while a run is watched: once to stop watching, twice to stop the run."""

import json
import os
import pty
import select
import signal
import sys
import time
from subprocess import Popen
from typing import Any

import pytest

from mosaic.cli.watch import SECOND_CTRL_C_VARIABLE
from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process

_LONG = ("train", "echo_worker", "--env", "Echo-v0", "--set", "steps=1000000", "--set", "rate=300")


def read_until(process: "Popen[str]", text: str) -> None:
    """Wait until the program has printed the text on stderr."""
    assert process.stderr is not None
    printed = ""
    while text not in printed:
        line = process.stderr.readline()
        assert line, f"it ended without saying '{text}': {printed}"
        printed += line


def finish(process: "Popen[str]") -> Any:
    """Return the final JSON document."""
    output, _ = process.communicate(timeout=DEADLINE_S)
    return json.loads(output)


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the second Ctrl-C for a long time, because the machine may be busy."""
    monkeypatch.setenv(SECOND_CTRL_C_VARIABLE, "100")


@pytest.mark.parametrize("command", ["train", "watch"])
def test_one_ctrl_c_leaves_the_run_alone(
    shared_mosaic: Mosaic, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints how to watch again and exits with 130; the run keeps running."""
    monkeypatch.setenv(SECOND_CTRL_C_VARIABLE, "0.1")
    if command == "watch":
        shared_mosaic.ok(*_LONG, "--detach")
        process = shared_mosaic.start("runs", "watch", "last", "--json")
    else:
        process = shared_mosaic.start(*_LONG, "--json")
    read_until(process, "running")
    process.send_signal(signal.SIGINT)
    read_until(process, "mosaic runs watch")
    result = finish(process)
    assert (process.returncode, result["state"]) == (130, "running")
    assert shared_mosaic.json("runs", "stop", result["run_id"])["runs"][0]["state"] == "cancelled"


def test_two_ctrl_c_stop_the_run_without_a_terminal(shared_mosaic: Mosaic) -> None:
    """The program waits until the run ends and prints the result."""
    process = shared_mosaic.start(*_LONG, "--json")
    read_until(process, "running")
    process.send_signal(signal.SIGINT)
    read_until(process, "Ctrl-C again")
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert (process.returncode, result["state"]) == (130, "cancelled")
    assert "Ctrl-C" in result["reason"]


class Terminal:
    """A program on a terminal of 80 columns."""

    def __init__(self, mosaic: Mosaic, *arguments: str) -> None:
        self.output = ""
        self._pid, self._screen = pty.fork()
        if self._pid == 0:  # the child
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(mosaic.folder)
            os.execve(  # noqa: S606 - the program under test, no shell
                sys.executable,
                mosaic.command(*arguments),
                {**mosaic.environment, "TERM": "xterm"},
            )

    def read_until(self, text: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.output:
            assert time.monotonic() < deadline, self.output
            if select.select([self._screen], [], [], 1.0)[0]:
                self.output += os.read(self._screen, 65536).decode(errors="replace")

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def end(self) -> int:
        """Read to the end and return the exit code."""
        try:
            while part := os.read(self._screen, 65536):
                self.output += part.decode(errors="replace")
        except OSError:  # Linux reports a closed other end this way
            pass
        os.close(self._screen)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@pytest.mark.parametrize(("answer", "state"), [("y\n", "cancelled"), ("n\n", "running")])
def test_a_terminal_confirms_before_the_run_is_stopped(
    shared_mosaic: Mosaic, answer: str, state: str
) -> None:
    """On a terminal, the second Ctrl-C asks for confirmation."""
    terminal = Terminal(shared_mosaic, *_LONG)
    terminal.read_until("running")
    terminal.type("\x03")
    terminal.read_until("Ctrl-C again")
    terminal.type("\x03")
    terminal.read_until("Stop the run?")
    terminal.type(answer)
    assert terminal.end() == 130, terminal.output
    run = shared_mosaic.json("runs", "show", "last")
    assert run["state"] == state
    shared_mosaic.ok("runs", "stop", "--all")


def test_the_bar_shows_steps_speed_and_return(shared_mosaic: Mosaic) -> None:
    """On a terminal, while the run is active."""
    terminal = Terminal(
        shared_mosaic, "train", "echo_worker", "--env", "Echo-v0", "--set", "steps=3000",
        "--set", "rate=1500",
    )  # fmt: skip
    terminal.read_until("/3k steps")
    terminal.read_until("return ")
    assert terminal.end() == 0
    assert "succeeded" in terminal.output
