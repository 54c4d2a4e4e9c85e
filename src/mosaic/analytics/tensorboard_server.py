"""TensorBoardServer: runs one `tensorboard` process in the background.

A thread reads its output. The process ends with `stop`, and with this process, even if that is
killed: see `tensorboard_launch.py`.
"""

import logging
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path

from mosaic.analytics import tensorboard_launch
from mosaic.analytics.event_files import has_event_files
from mosaic.analytics.tensorboard_program import TensorBoardProgram
from mosaic.contract.errors import UserError

HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0
_PROBE_TIMEOUT_S = 2.0
_POLL_INTERVAL_S = 0.1
_MAX_LINES = 200
_MAX_LINE_LENGTH = 2_000
_ADDRESS = re.compile(r"TensorBoard \S+ at (http://\S+)")

_log = logging.getLogger(__name__)


class ServerState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    """It did not answer in time or exited; see `problem`."""
    STOPPED = "stopped"


class TensorBoardServer:
    """Starts on construction. Thread-safe; only `join` blocks."""

    def __init__(
        self,
        program: TensorBoardProgram,
        folders: Mapping[str, Path],
        on_change: Callable[[], None] = lambda: None,
        *,
        port: int = 0,
        timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        """`folders` are the log folders by display name; a single one needs no name.

        `on_change` is called on the server's thread. Port 0 selects a free port.
        """
        self.program = program
        self.folders = dict(folders)
        self.state = ServerState.STARTING
        self.address = ""
        self.problem: UserError | None = None
        self.started_at = time.time()
        self._on_change = on_change
        self._port = port
        self._timeout_s = timeout_s
        self._lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._partial_line = b""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="tensorboard", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self.state in (ServerState.STARTING, ServerState.RUNNING)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def output(self) -> str:
        """The last lines of its output."""
        return "\n".join(tuple(self._lines))

    def shows(self, folders: Mapping[str, Path]) -> bool:
        """Return whether the server is alive and shows exactly these folders."""
        is_usable = self.is_alive and not self._stopping.is_set()
        return is_usable and set(self.folders.values()) == set(folders.values())

    def stop(self) -> None:
        """Stop the server without waiting for its end."""
        with self._lock:
            self._stopping.set()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end after `stop`; kill the process on timeout. Return whether it ended."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._kill()
            self._thread.join(1.0)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """Run on the server's thread."""
        try:
            self._check_folders()
            with _single_folder(self.folders) as folder:
                self._serve(folder)
        except UserError as error:
            self._fail(error)
        except OSError as error:
            self._fail(
                UserError(
                    f"TensorBoard could not be started: {error}.",
                    remedy="Check that its environment is complete and the disk has free space.",
                    code="C243",
                )
            )
        except Exception as error:  # noqa: BLE001 - thread boundary
            _log.exception("C249 supervising TensorBoard failed unexpectedly")
            self._kill()
            self._fail(
                UserError(
                    f"Supervising TensorBoard failed: {type(error).__name__}: {error}.",
                    remedy="Start it again; if it fails again, please report it.",
                    code="C246",
                )
            )

    def _check_folders(self) -> None:
        for folder in self.folders.values():
            if not folder.is_dir():
                raise UserError(
                    f"The folder {folder} does not exist.",
                    remedy="Choose another folder; this one may have been moved or deleted.",
                    code="C244",
                )

    def _serve(self, folder: Path) -> None:
        command = [
            *(str(self.program.python), "-I", tensorboard_launch.__file__),
            *("--host", HOST, "--port", str(self._port)),
            *("--logdir", str(folder)),
            *("--reload_interval", "5"),
        ]
        with self._lock:
            if self._stopping.is_set():
                self._set_state(ServerState.STOPPED)
                return
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/",  # do not keep a folder that may be removed
                start_new_session=True,
            )
        process = self._process
        try:
            self._watch(process)
        finally:
            self._kill()  # including child processes in its group
            code = process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        if self._stopping.is_set():
            self._set_state(ServerState.STOPPED)
        elif self.problem is None:
            self._fail(_exit_error(code, was_up=self.state is ServerState.RUNNING))

    def _watch(self, process: "subprocess.Popen[bytes]") -> None:
        """Read its output until it is closed, or until the start times out."""
        assert process.stdout is not None  # noqa: S101 - requested in Popen
        output = process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        deadline = time.monotonic() + self._timeout_s
        while True:
            is_starting = self.state is ServerState.STARTING
            if poll.poll(_POLL_INTERVAL_S * 1000 if is_starting else None):
                data = os.read(output, 1 << 16)
                if not data:
                    return
                self._add_output(data)
            if is_starting and self.address and _is_answering(self.address):
                self._set_state(ServerState.RUNNING)
            elif is_starting and time.monotonic() > deadline:
                self._fail(_timeout_error(self._timeout_s))
                return

    def _add_output(self, data: bytes) -> None:
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        self._partial_line = self._partial_line[-_MAX_LINE_LENGTH:]
        for raw_line in lines:
            line = raw_line.decode("utf-8", "replace").rstrip()[:_MAX_LINE_LENGTH]
            match = _ADDRESS.search(line)
            if match and not self.address:
                self.address = match[1]
            self._lines.append(line)

    def _kill(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _fail(self, error: UserError) -> None:
        self.problem = error
        if self._partial_line:
            self._add_output(b"\n")
        self._set_state(ServerState.FAILED)

    def _set_state(self, state: ServerState) -> None:
        self.state = state
        self._on_change()


@contextmanager
def _single_folder(folders: Mapping[str, Path]) -> Iterator[Path]:
    """Yield one folder for `--logdir`; several are linked into a temporary one, without quoting."""
    if len(folders) == 1:
        only = next(iter(folders.values())).absolute()
        if not has_event_files(only):
            yield only
            return
        # Linked, too: TensorBoard would name its only run ".".
    with tempfile.TemporaryDirectory(prefix="mosaic-tensorboard-") as scratch:
        for name, folder in folders.items():
            (Path(scratch) / _file_name(name, Path(scratch))).symlink_to(folder.absolute())
        yield Path(scratch)


def _file_name(name: str, scratch: Path) -> str:
    """Return `name` as a valid file name that is not used in `scratch`."""
    file_name = re.sub(r"[/\0\n]", "-", name).strip(". ").encode()[:200].decode(errors="ignore")
    file_name = file_name or "run"
    number = 1
    while (scratch / (file_name if number == 1 else f"{file_name} ({number})")).is_symlink():
        number += 1
    return file_name if number == 1 else f"{file_name} ({number})"


def _is_answering(address: str) -> bool:
    # A proxy in the environment variables is for other hosts.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=_PROBE_TIMEOUT_S) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except (OSError, HTTPException):  # HTTPException: another program answers there
        return False


def _exit_error(code: int, *, was_up: bool) -> UserError:
    cause = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    event = "exited" if was_up else "exited before it answered,"
    return UserError(
        f"TensorBoard {event} {cause}.",
        remedy="See its output, fix the cause and try again.",
        code="C245",
    )


def _timeout_error(timeout_s: float) -> UserError:
    return UserError(
        f"TensorBoard did not answer within {timeout_s:.0f} s.",
        remedy="See its output. On a busy machine, try again later.",
        code="C247",
    )
