"""DaemonUnderTest: a real daemon process with its own home, ended with everything it started."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import grpc
import pytest

from mosaic.contract.endpoint import SOCKET_SCHEME, SocketFolder
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub
from mosaic.contract.run_states import FINAL_STATES, RunState
from tests.support import leftovers

Result = TypeVar("Result")

TIMEOUT_S = 60.0
_POLL_S = 0.01
_MAX_RECEIVED_BYTES = 64 << 20
_MAX_SOCKET_PATH_BYTES = 107


_DESCRIPTIONS = Path(__file__).parents[2] / ".venv-setup" / "worker-descriptions-for-tests"
"""The daemon's cache, shared by all tests: workers are asked once, not once per daemon."""


def share_descriptions(home: Home) -> None:
    """Let a home use the descriptions that daemons of earlier tests have stored."""
    _DESCRIPTIONS.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(OSError):  # it is shared already, or the test has made the home unusable
        home.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        home.trainer.mkdir(exist_ok=True, mode=0o700)
        home.worker_descriptions.symlink_to(_DESCRIPTIONS)


class DaemonUnderTest:
    """A daemon that a test starts, kills and restarts. Its runs end with it."""

    def __init__(self, folder: Path, options: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.options = options
        self.environment: dict[str, str] = {}
        self.shares_descriptions = True
        self.address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: grpc.Channel | None = None
        self._socket_folder: SocketFolder | None = None

    @property
    def token(self) -> str:
        return self.home.token.read_text().strip()

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_serving(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def channel(self) -> grpc.Channel:
        """Sends the token with every call."""
        if self._channel is None:
            self._channel = self.open_channel()
        return self._channel

    @property
    def stub(self) -> TrainerServiceStub:
        return TrainerServiceStub(self.channel)

    def open_channel(self, *options: tuple[str, int]) -> grpc.Channel:
        """Another channel, with its own options; closed by the test."""
        given = (("grpc.max_receive_message_length", _MAX_RECEIVED_BYTES), *options)
        plain = grpc.insecure_channel(self._reachable_address(), options=given)
        return grpc.intercept_channel(plain, _WithToken(self.token))

    def start(self, *options: str, port: str | None = None) -> str:
        """Its one line: `ready ADDRESS` or `error JSON`."""
        ready, announce = os.pipe()
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.shares_descriptions:
            share_descriptions(self.home)
        given = [*self.options, *options, *(["--port", port] if port else [])]
        before = self._process.pid if self._process else None
        with (self.folder / "daemon.out").open("ab") as output:
            command = [sys.executable, "-m", "mosaic.trainer.daemon", "--home", str(self.home.path)]
            self._process = subprocess.Popen(
                [*command, "--ready-fd", str(announce), *given],
                pass_fds=(announce,),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **self.environment},
                cwd=self.folder,
            )
        if before is not None:
            leftovers.predecessors[self._process.pid] = before
        os.close(announce)
        with os.fdopen(ready, "rb") as pipe:
            assert select.select([pipe], [], [], TIMEOUT_S)[0], "the daemon printed nothing"
            line = pipe.read().decode()
        if line.startswith("ready "):
            self.address = line.removeprefix("ready ").strip()
        else:
            self._process.wait(TIMEOUT_S)
        assert line, (self.folder / "daemon.out").read_text()
        return line.strip()

    def start_error(self, *options: str, port: str | None = None) -> dict[str, str]:
        """Why it does not start."""
        line = self.start(*options, port=port)
        assert line.startswith("error "), line
        assert self._process is not None
        assert self._process.returncode == 1
        error: dict[str, str] = json.loads(line.removeprefix("error "))
        return error

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return self._end(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for its end; returns the exit code."""
        assert self._process is not None
        return self._process.wait(TIMEOUT_S)

    def restart(self) -> None:
        """Stop it if it runs, and start it again."""
        if self._process is not None and self._process.poll() is None:
            self.stop()
        assert self.start().startswith("ready ")

    def submit(self, *, algo: str = "echo", **params: Any) -> str:
        """Submit a run of the echo worker; returns its id."""
        config = {
            "worker": "echo_worker",
            "algo": algo,
            "env_id": "Echo-v0",
            "params": params,
        }
        return self.stub.SubmitRun(
            pb.SubmitRunRequest(config_json=json.dumps(config).encode())
        ).run_id

    def run(self, run_id: str) -> RunDirectory:
        return self.home.run(run_id)

    def record(self, run_id: str) -> pb.RunRecord:
        return self.stub.GetRun(pb.RunRef(run_id=run_id)).run

    def until(self, run_id: str, *states: RunState) -> pb.RunRecord:
        """Wait until the run is in one of the states; default: a final state."""
        expected = states or tuple(FINAL_STATES)

        def reached() -> pb.RunRecord | None:
            record = self.record(run_id)
            if record.state not in expected and RunState(record.state).is_final:
                pytest.fail(f"run {run_id} is {record.state}: {record.reason} {record.remedy}")
            return record if record.state in expected else None

        return eventually(reached)

    def clean_up(self) -> None:
        """The daemon first, so that it starts nothing more; then everything it started."""
        if self.is_serving:
            self.kill()
        self._close_channel()
        eventually(lambda: not _killed_processes_of(self.folder))

    def _end(self, number: signal.Signals) -> int:
        self._close_channel()
        assert self._process is not None
        self._process.send_signal(number)
        return self.wait()

    def _reachable_address(self) -> str:
        """The address; a short one for a socket whose path is longer than the system allows."""
        path = Path(self.address.removeprefix(SOCKET_SCHEME))
        if self.address == str(path) or len(os.fsencode(path)) <= _MAX_SOCKET_PATH_BYTES:
            return self.address
        if self._socket_folder is None:
            self._socket_folder = SocketFolder(path.parent)
        return self._socket_folder.grpc_address(path.name)

    def _close_channel(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._socket_folder is not None:
            self._socket_folder.close()
            self._socket_folder = None


class _WithToken(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    def __init__(self, token: str) -> None:
        self._sent = ("authorization", f"Bearer {token}")

    def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        given = [*(details.metadata or ()), self._sent]
        return continuation(details._replace(metadata=given), request)

    intercept_unary_unary = _call  # type: ignore[assignment]
    intercept_unary_stream = _call  # type: ignore[assignment]
    intercept_stream_unary = _call  # type: ignore[assignment]
    intercept_stream_stream = _call  # type: ignore[assignment]


def eventually(condition: Callable[[], Result | None]) -> Result:
    """Wait until the condition returns a true value; fail after a timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (result := condition()):
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(_POLL_S)
    return result


def _killed_processes_of(folder: Path) -> list[int]:
    """Kill all processes that were started for `folder` or run in it; returns them."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            traces = (entry / "environ").read_bytes() + os.fsencode((entry / "cwd").readlink())
            if state not in b"ZX" and os.fsencode(folder) in traces:
                found.append(int(entry.name))
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue
    return found
