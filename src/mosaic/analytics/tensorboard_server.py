"""TensorBoardServer: one `tensorboard` in the background, until it answers and until it ends.

A thread of its own reads what it prints. It ends with `stop`, and with this process, however that
ends: see `tensorboard_launch.py`.
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
from mosaic.analytics.event_files import has_event_files_itself
from mosaic.analytics.tensorboard_program import TensorBoardProgram
from mosaic.contract.errors import UserError

HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0
_PROBE_S = 2.0
_LOOK_S = 0.1
_MOST_LINES = 200
_MOST_LINE_LENGTH = 2_000
_ADDRESS = re.compile(r"TensorBoard \S+ at (http://\S+)")

_log = logging.getLogger(__name__)


class ServerState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    """It did not answer in time, or ended by itself; `problem` says which."""
    STOPPED = "stopped"


class TensorBoardServer:
    """Begins at once. Every method may be called on any thread, and only `join` waits."""

    def __init__(
        self,
        program: TensorBoardProgram,
        folders: Mapping[str, Path],
        on_change: Callable[[], None] = lambda: None,
        *,
        port: int = 0,
        timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        """`folders`: what to show, by the name to show it under; a single one needs no name.

        `on_change` is called on the server's thread. Port 0 is any that is free.
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
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._rest = b""
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
        """The end of what it has printed."""
        return "\n".join(tuple(self._lines))

    def shows(self, folders: Mapping[str, Path]) -> bool:
        """Whether it shows just these, so that no other is needed."""
        is_wanted = self.is_alive and not self._stopping.is_set()
        return is_wanted and set(self.folders.values()) == set(folders.values())

    def stop(self) -> None:
        """Let it end."""
        with self._lock:
            self._stopping.set()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def join(self, timeout_s: float) -> bool:
        """After `stop`: whether it has ended. One that does not is killed."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._kill()
            self._thread.join(1.0)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """On the thread."""
        try:
            self._check_folders()
            with _one_folder(self.folders) as folder:
                self._serve(folder)
        except UserError as error:
            self._fail(error)
        except OSError as error:
            self._fail(
                UserError(
                    f"TensorBoard could not be started: {error}.",
                    remedy="Check that its environment is whole and that the disk has room.",
                    code="C243",
                )
            )
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            _log.exception("C249 watching over TensorBoard failed by a bug")
            self._kill()
            self._fail(
                UserError(
                    f"Watching over TensorBoard failed: {type(error).__name__}: {error}.",
                    remedy="Start it again; if it happens again, please report it.",
                    code="C246",
                )
            )

    def _check_folders(self) -> None:
        for folder in self.folders.values():
            if not folder.is_dir():
                raise UserError(
                    f"The folder {folder} is not there.",
                    remedy="Choose one that is; the files may have been moved or deleted.",
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
                self._become(ServerState.STOPPED)
                return
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/",  # a folder that is removed meanwhile would be held
                start_new_session=True,
            )
        process = self._process
        try:
            self._watch(process)
        finally:
            self._kill()  # what it has left behind in its group
            code = process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        if self._stopping.is_set():
            self._become(ServerState.STOPPED)
        elif self.problem is None:
            self._fail(_ended(code, was_up=self.state is ServerState.RUNNING))

    def _watch(self, process: "subprocess.Popen[bytes]") -> None:
        """Until it closes its output, or has not answered in time."""
        assert process.stdout is not None  # noqa: S101 - it was asked for
        output = process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        deadline = time.monotonic() + self._timeout_s
        while True:
            is_starting = self.state is ServerState.STARTING
            if poll.poll(_LOOK_S * 1000 if is_starting else None):
                data = os.read(output, 1 << 16)
                if not data:
                    return
                self._take(data)
            if is_starting and self.address and _answers(self.address):
                self._become(ServerState.RUNNING)
            elif is_starting and time.monotonic() > deadline:
                self._fail(_too_slow(self._timeout_s))
                return

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-_MOST_LINE_LENGTH:]
        for each in lines:
            line = each.decode("utf-8", "replace").rstrip()[:_MOST_LINE_LENGTH]
            found = _ADDRESS.search(line)
            if found and not self.address:
                self.address = found[1]
            self._lines.append(line)

    def _kill(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _fail(self, error: UserError) -> None:
        self.problem = error
        if self._rest:
            self._take(b"\n")
        self._become(ServerState.FAILED)

    def _become(self, state: ServerState) -> None:
        self.state = state
        self._on_change()


@contextmanager
def _one_folder(folders: Mapping[str, Path]) -> Iterator[Path]:
    """TensorBoard takes one; several are linked into one, so their paths need no quoting."""
    if len(folders) == 1:
        only = next(iter(folders.values())).absolute()
        if not has_event_files_itself(only):
            yield only
            return
        # Linked too: TensorBoard would call its one run ".".
    with tempfile.TemporaryDirectory(prefix="mosaic-tensorboard-") as scratch:
        for name, folder in folders.items():
            (Path(scratch) / _file_name(name, Path(scratch))).symlink_to(folder.absolute())
        yield Path(scratch)


def _file_name(name: str, scratch: Path) -> str:
    """`name` as one, and another one than those that are there."""
    plain = re.sub(r"[/\0\n]", "-", name).strip(". ").encode()[:200].decode(errors="ignore")
    plain = plain or "run"
    number = 1
    while (scratch / (plain if number == 1 else f"{plain} ({number})")).is_symlink():
        number += 1
    return plain if number == 1 else f"{plain} ({number})"


def _answers(address: str) -> bool:
    # A proxy that the environment names is for other hosts.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=_PROBE_S) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except (OSError, HTTPException):  # the latter: somebody else answers there
        return False


def _ended(code: int, *, was_up: bool) -> UserError:
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    when = "ended" if was_up else "ended before it answered,"
    return UserError(
        f"TensorBoard {when} {how}.",
        remedy="Its output says why; try again once that is put right.",
        code="C245",
    )


def _too_slow(timeout_s: float) -> UserError:
    return UserError(
        f"TensorBoard has not answered within {timeout_s:.0f} s.",
        remedy="Its output may say why. On a busy machine, try again when there is less to do.",
        code="C247",
    )
