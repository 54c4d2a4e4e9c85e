"""Commands reach a worker completely, or the sender gets an error."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from mosaic.contract.control import Action, ControlCommand, Pause, Stop
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.problems import DocumentError
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.trainer.processes.control_channel import (
    ControlChannelFullError,
    send_command,
)
from mosaic.trainer.processes.run_process import Exited, Running, signal_worker
from mosaic.trainer.processes.run_termination import terminate_worker

pytestmark = pytest.mark.process

Eventually = Callable[[Callable[[], object]], None]
LaunchReady = Callable[[str], Running]
WaitForExit = Callable[[], Exited]

_NOT_RUNNING = "T122 .* its worker is not running"
ECHO = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
    if '"stop"' in line:
        break
"""
SENDER = """
import sys
from pathlib import Path
from mosaic.contract.control import Action
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.control_channel import send_command
run_dir = RunDirectory(Path(sys.argv[1]))
for seq in range(200):
    send_command(run_dir, Action(seq=seq, value=sys.argv[2] * 50))
"""


def test_commands_arrive_in_order(
    run_dir: RunDirectory, launch_ready: LaunchReady, exited: WaitForExit
) -> None:
    """Each command is one line; the order of sending is preserved."""
    launch_ready(ECHO)
    sent: list[ControlCommand] = [Pause(seq=1), Action(seq=2, value={"x": "ü\n"}), Stop(seq=3)]
    for command in sent:
        send_command(run_dir, command)
    exited()
    lines = run_dir.spool.read_text().splitlines()[1:]
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3]
    assert json.loads(lines[1]) == {"cmd": "action", "seq": 2, "value": {"x": "ü\n"}}


def test_the_channel_stays_open_without_writers(
    run_dir: RunDirectory, launch_ready: LaunchReady, exited: WaitForExit
) -> None:
    """Writers that exit do not close the worker's input, and concurrent lines do not mix."""
    launch_ready(ECHO)
    for letters in ("ab", "cd"):
        senders = [
            subprocess.Popen([sys.executable, "-c", SENDER, run_dir.path, letter])
            for letter in letters
        ]
        assert [sender.wait() for sender in senders] == [0, 0]
    send_command(run_dir, Stop(seq=9))
    assert exited().exit.exit_code == 0
    received = [json.loads(line) for line in run_dir.spool.read_text().splitlines()[1:-1]]
    for letter in "abcd":
        seqs = [command["seq"] for command in received if command["value"] == letter * 50]
        assert seqs == list(range(200))


def test_a_full_channel(
    run_dir: RunDirectory, launch_ready: LaunchReady, eventually: Eventually
) -> None:
    """A worker that does not read never blocks the sender, and no command is truncated."""
    launch_ready(ECHO)
    signal_worker(run_dir, signal.SIGSTOP)
    sent: list[int] = []

    def fill() -> None:
        for seq in range(1000):
            send_command(run_dir, Action(seq=seq, value="x" * 4000))
            sent.append(seq)

    with pytest.raises(ControlChannelFullError, match="control channel is full") as caught:
        fill()
    assert caught.value.code == "T121"
    assert sent
    signal_worker(run_dir, signal.SIGCONT)
    eventually(lambda: run_dir.spool.read_bytes().count(b"\n") == 1 + len(sent))
    assert isinstance(terminate_worker(run_dir, grace=60), Exited)
    received = [json.loads(line) for line in run_dir.spool.read_text().splitlines()[1:]]
    assert [command["seq"] for command in received if command["cmd"] == "action"] == sent


def test_a_command_that_is_too_long(run_dir: RunDirectory, launch_ready: LaunchReady) -> None:
    """A command of more than 4096 bytes is not written atomically, so it is rejected."""
    launch_ready(ECHO)
    with pytest.raises(DocumentError, match="4096"):
        send_command(run_dir, Action(seq=1, value="x" * 4096))
    terminate_worker(run_dir, grace=30)
    assert "xxx" not in run_dir.spool.read_text()


def test_commands_to_a_run_without_a_worker_are_rejected(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """A run has no worker before its start and after its exit."""
    with pytest.raises(UserError, match=_NOT_RUNNING):
        send_command(run_dir, Stop(seq=1))
    launch_ready(ECHO)
    terminate_worker(run_dir, grace=30)
    with pytest.raises(UserError, match=_NOT_RUNNING):
        send_command(run_dir, Stop(seq=1))


def test_a_dead_worker_with_live_stray_processes(
    run_dir: RunDirectory, launch_ready: LaunchReady, exited: WaitForExit
) -> None:
    """Commands are rejected after the worker exits, even if its children are still alive."""
    process = launch_ready(
        "import os, signal\n"
        "if os.fork() == 0:\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    print('ready', flush=True)\n"
        "    while True:\n"
        "        signal.pause()\n"
        "os.read(0, 1)"
    )
    send_command(run_dir, Stop(seq=1))
    assert process.worker.wait(30)
    with pytest.raises(UserError, match=_NOT_RUNNING):
        send_command(run_dir, Stop(seq=2))
    assert exited().exit.strays_ended == 1


def test_a_regular_file_instead_of_the_channel(
    run_dir: RunDirectory, launch_ready: LaunchReady
) -> None:
    """Commands are not appended to a file that replaced the channel."""
    process = launch_ready(ECHO)
    run_dir.control.unlink()
    run_dir.control.write_bytes(b"")
    with pytest.raises(UserError, match="not a FIFO"):
        send_command(run_dir, Stop(seq=1))
    assert run_dir.control.read_bytes() == b""
    assert ProcessIdentity.of(process.worker.pid) == process.worker
    assert isinstance(terminate_worker(run_dir, grace=0.1), Exited)
