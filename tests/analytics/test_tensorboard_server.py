"""A real TensorBoard in the background: it answers, ends, and reports failures."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.analytics.event_files import EventFileWriter
from mosaic.analytics.tensorboard_program import (
    TensorBoardProgram,
    find_tensorboard,
)
from mosaic.analytics.tensorboard_server import ServerState, TensorBoardServer
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

pytestmark = pytest.mark.process

_TIMEOUT_S = 60.0


class ServerStarter:
    """Starts servers, waits for their states, and stops them."""

    def __init__(self, program: TensorBoardProgram) -> None:
        self._program = program
        self._changed = threading.Condition()
        self._servers: list[TensorBoardServer] = []

    def start(self, folders: dict[str, Path], **options: Any) -> TensorBoardServer:
        server = TensorBoardServer(self._program, folders, self._on_change, **options)
        self._servers.append(server)
        return server

    def wait(self, server: TensorBoardServer, *states: ServerState) -> None:
        with self._changed:
            reached = self._changed.wait_for(lambda: server.state in states, _TIMEOUT_S)
        assert reached, f"{server.state}: {server.problem}\n{server.output}"

    def clean_up(self) -> None:
        for server in self._servers:
            server.stop()
        for server in self._servers:
            assert server.join(10)

    def _on_change(self) -> None:
        with self._changed:
            self._changed.notify_all()


@pytest.fixture
def watched(program: TensorBoardProgram) -> Iterator[ServerStarter]:
    made = ServerStarter(program)
    yield made
    made.clean_up()


def _get(address: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=30) as answer:
        return str(answer.read().decode())


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def _group_is_gone(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _write_run(folder: Path, tag: str) -> Path:
    with EventFileWriter(folder, 100.0) as file:
        file.add(100.0, 1, {tag: 1.0})
    return folder


def test_several_named_runs_and_no_process_left(watched: ServerStarter, tmp_path: Path) -> None:
    """It serves its page and both runs under their titles, and all processes end."""
    folders = {
        "CartPole, ppo: s1": _write_run(tmp_path / "a,b" / "runs", "loss"),
        "a/b": _write_run(tmp_path / "c:d" / "runs", "loss"),
    }
    server = watched.start(folders)
    watched.wait(server, ServerState.RUNNING, ServerState.FAILED)
    assert server.state is ServerState.RUNNING, server.output
    assert "<title>TensorBoard</title>" in _get(server.address)
    shown: list[str] = []

    def shows_both() -> bool:
        shown[:] = json.loads(_get(f"{server.address}data/runs"))
        return len(shown) == 2

    _until(shows_both)
    assert sorted(shown) == ["CartPole, ppo: s1", "a-b"]
    assert server.shows(folders)
    pid = server.pid
    assert pid is not None
    server.stop()
    watched.wait(server, ServerState.STOPPED)
    assert server.join(10)
    _until(lambda: _group_is_gone(pid))


def test_port_in_use(watched: ServerStarter, tmp_path: Path) -> None:
    """The failure contains TensorBoard's output."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = watched.start({"": tmp_path}, port=port)
        watched.wait(server, ServerState.FAILED)
    assert server.problem is not None
    assert "before it answered" in server.problem.message
    assert str(port) in server.output


def test_missing_folder(watched: ServerStarter, tmp_path: Path) -> None:
    """Nothing is started for it."""
    server = watched.start({"": tmp_path / "gone"})
    watched.wait(server, ServerState.FAILED)
    assert server.problem is not None
    assert "does not exist" in server.problem.message
    assert server.pid is None


def test_slow_start_times_out(watched: ServerStarter, tmp_path: Path) -> None:
    """The start has a timeout, and no process remains."""
    server = watched.start({"": tmp_path}, timeout_s=0.0)
    watched.wait(server, ServerState.FAILED)
    assert server.problem is not None
    assert "did not answer" in server.problem.message
    assert server.join(10)
    assert server.pid is not None
    pid = server.pid
    _until(lambda: _group_is_gone(pid))


def test_stop_while_starting(watched: ServerStarter, tmp_path: Path) -> None:
    """Its state is stopped, not failed."""
    server = watched.start({"": tmp_path})
    server.stop()
    watched.wait(server, ServerState.STOPPED)
    assert server.problem is None


_HOLD = """
import sys, threading
from pathlib import Path
from mosaic.analytics.tensorboard_program import TensorBoardProgram
from mosaic.analytics.tensorboard_server import TensorBoardServer
changed = threading.Event()
program = TensorBoardProgram(Path(sys.argv[1]), "", "")
server = TensorBoardServer(program, {"": Path(sys.argv[2])}, changed.set)
changed.wait(60)
print(server.state, server.pid, flush=True)
threading.Event().wait()
"""


def test_server_ends_with_killed_parent(program: TensorBoardProgram, tmp_path: Path) -> None:
    """It ends although no process is left to stop it."""
    command = [sys.executable, "-c", _HOLD, str(program.python), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as window:
        assert window.stdout is not None
        state, pid = window.stdout.readline().split()
        assert state == "running"
        window.send_signal(signal.SIGKILL)
    _until(lambda: _group_is_gone(int(pid)))


def test_search_order_of_installations(program: TensorBoardProgram, tmp_path: Path) -> None:
    """In a bundle that includes it; otherwise the error has a remedy."""
    assert program.source in ("the bundle cleanrl_worker", "this environment")
    assert program.version.startswith("2.")
    with pytest.raises(UserError, match="CleanRL"):
        find_tensorboard(Home(tmp_path))
