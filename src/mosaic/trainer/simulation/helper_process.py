"""HelperProcess: `python -m mosaic_worker.…` in its own session, with its pipes and work folder.

One thread receives; any other may send requests or kill it. Nothing is buffered beyond one
message: a helper whose messages are not received blocks on its pipe. The messages are the
counterpart of `mosaic_worker.resimulation.messages`.
"""

import hashlib
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mosaic.contract.layout import Home
from mosaic.trainer.processes.child_processes import start_child

LENGTHS: Final = struct.Struct(">II")
"""Precedes each message: the lengths of its JSON and of the pixels after it."""
MAX_HEADER_BYTES: Final = 1 << 20
MAX_BODY_BYTES: Final = 256 << 20


class Opened(msgspec.Struct, tag_field="kind", tag="opened", frozen=True):
    """The environment was reset. `packages`: installed versions of the recorded packages."""

    steps: int
    fps: float
    packages: dict[str, str | None] = {}


class FrameMessage(msgspec.Struct, tag_field="kind", tag="frame", frozen=True):
    """One frame; its pixels follow."""

    request: int
    index: int
    width: int
    height: int
    channels: int
    problem: str = ""


class Checked(msgspec.Struct, tag_field="kind", tag="checked", frozen=True):
    """How far rewards and end flags have been compared with the record."""

    steps: int
    is_over: bool
    first_difference: int | None = None
    difference: str = ""


class Done(msgspec.Struct, tag_field="kind", tag="done", frozen=True):
    """All frames of a request have been sent."""

    request: int


class Failed(msgspec.Struct, tag_field="kind", tag="error", frozen=True):
    """The helper cannot continue; `message` is the reason."""

    message: str
    remedy: str = ""


HelperMessage = Opened | FrameMessage | Checked | Done | Failed

_decoder: msgspec.json.Decoder[HelperMessage] = msgspec.json.Decoder(HelperMessage)


class BrokenMessageError(Exception):
    """The output is not a valid message."""


def decode_message(header: bytes) -> HelperMessage:
    try:
        return _decoder.decode(header)
    except msgspec.MsgspecError as error:
        raise BrokenMessageError(str(error)) from error


class ScratchFolders:
    """Work folders of helper processes, in the system's folder for temporary files.

    Not in the run's directory: environments write into the current folder (MuJoCo its log), and a
    replay must not change its run. One instance per home. Safe from any thread.
    """

    def __init__(self, home: Home) -> None:
        digest = hashlib.sha256(os.fsencode(home.path)).hexdigest()[:12]
        self._prefix = f"mosaic-replay-{digest}-"
        self._lock = threading.Lock()
        self._is_cleared = False

    def make(self) -> "tempfile.TemporaryDirectory[str]":
        """Create a new folder. Raises `OSError`."""
        with self._lock:
            if not self._is_cleared:
                self._is_cleared = True
                self._clear()
        return tempfile.TemporaryDirectory(prefix=self._prefix, ignore_cleanup_errors=True)

    def _clear(self) -> None:
        """Remove folders that a killed daemon left."""
        for left in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            shutil.rmtree(left, ignore_errors=True)


_POLL_S = 0.5
_STDERR_TAIL_BYTES = 4096
_READ_BYTES = 65536
_END_TIMEOUT_S = 2.0
"""A process that waits for a broken driver does not react even to SIGKILL."""


class HelperTimeoutError(Exception):
    """The helper sent nothing within the allowed time."""


class HelperProcess:
    """Starts the process. Raises `OSError` when it cannot be started."""

    def __init__(
        self, command: Sequence[str | Path], environment: Mapping[str, str], folder: Path
    ) -> None:
        self._process = start_child(
            lambda: subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes if pipe)
        self._poll = select.poll()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe, False)
        for pipe in (self._stdout, self._stderr):
            self._poll.register(pipe, select.POLLIN)
        self._stderr_tail = b""
        self._buffer = bytearray()
        """For pixels, reused between frames: allocating costs more than reading."""
        self._lock = threading.Lock()
        self._unsent = b""
        self._is_killed = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last part of its stderr."""
        return self._stderr_tail.decode("utf-8", "replace").strip()

    def drain_stderr(self) -> str:
        """The last part of its stderr since this was called. Not while another thread receives."""
        self._read_stderr()
        stderr_tail, self._stderr_tail = self.stderr_tail, b""
        return stderr_tail

    def send(self, request: Mapping[str, object]) -> None:
        """Send a request; it replaces one that is not sent yet. Never blocks."""
        with self._lock:
            self._unsent = msgspec.json.encode(request) + b"\n"
            self._flush()

    def receive(self, has_timed_out: Callable[[], bool]) -> tuple[HelperMessage, memoryview] | None:
        """The next message with its pixels, valid until the next call; None at the end of output.

        `has_timed_out` is polled while nothing arrives; when it returns True this raises
        `HelperTimeoutError`. Output that is not a message raises `BrokenMessageError`.
        """
        lengths = self._read(memoryview(bytearray(LENGTHS.size)), has_timed_out)
        if lengths is None:
            return None
        header_bytes, body_bytes = LENGTHS.unpack(lengths)
        if header_bytes > MAX_HEADER_BYTES or body_bytes > MAX_BODY_BYTES:
            raise BrokenMessageError(f"a message of {header_bytes} and {body_bytes} bytes")
        if body_bytes > len(self._buffer):
            self._buffer = bytearray(body_bytes)
        header = self._read(memoryview(bytearray(header_bytes)), has_timed_out)
        body = self._read(memoryview(self._buffer)[:body_bytes], has_timed_out)
        if header is None or body is None:
            return None
        return decode_message(bytes(header)), body

    def kill(self) -> None:
        """Kill it with all its children. Safe from any thread, any number of times."""
        with self._lock:
            # Once, and never after it was reaped: its pid may belong to another process then.
            if not self._is_killed:
                self._is_killed = True
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def exit_code(self) -> int | None:
        """Its exit code as in `subprocess`, after the end of its output. Kills what is left."""
        self._wait_for_exit()
        self._read_stderr()
        return self._end()

    def close(self) -> None:
        """Kill it and close its pipes. Not while another thread receives."""
        self._end()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _end(self) -> int | None:
        self.kill()
        try:
            return self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            threading.Thread(
                target=self._process.wait, name=f"reap {self.pid}", daemon=True
            ).start()
            return None

    def _wait_for_exit(self) -> None:
        """Without reaping it, so that its group can still be killed by its pid."""
        handle = os.pidfd_open(self.pid)
        try:
            select.select([handle], [], [], _END_TIMEOUT_S)
        finally:
            os.close(handle)

    def _read(self, buffer: memoryview, has_timed_out: Callable[[], bool]) -> memoryview | None:
        """`buffer`, filled; None when the output ends first."""
        filled = 0
        while filled < len(buffer):
            try:
                count = os.readv(self._stdout, [buffer[filled:]])
            except BlockingIOError:
                self._wait(has_timed_out)
                continue
            if count == 0:
                return None
            filled += count
        return buffer

    def _wait(self, has_timed_out: Callable[[], bool]) -> None:
        ready = [descriptor for descriptor, _ in self._poll.poll(_POLL_S * 1000)]
        if self._stderr in ready:
            self._read_stderr()
        if self._stdout not in ready:
            with self._lock:
                self._flush()
            if has_timed_out():
                raise HelperTimeoutError

    def _read_stderr(self) -> None:
        """Read what is on stderr now; only the last part is stored."""
        with suppress(BlockingIOError):
            while part := os.read(self._stderr, _READ_BYTES):
                self._stderr_tail = (self._stderr_tail + part)[-_STDERR_TAIL_BYTES:]
            with suppress(KeyError):
                self._poll.unregister(self._stderr)  # closed: it would always be ready

    def _flush(self) -> None:
        if self._unsent:
            # Up to a page is written completely or not at all; a longer request is never replaced.
            with suppress(BlockingIOError, BrokenPipeError):
                written = os.write(self._stdin, self._unsent)
                self._unsent = self._unsent[written:]


def describe_exit(code: int | None) -> str:
    """How a helper process ended, from its exit code."""
    if code is None or code >= 0:
        return f"it ended with exit code {code}"
    names = {int(number): number.name for number in signal.Signals}
    return f"it was killed by {names.get(-code, f'signal {-code}')}"
