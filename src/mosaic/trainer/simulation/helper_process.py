"""HelperProcess: `python -m mosaic_worker.…` in a session of its own, and its pipes.

One thread receives; any other may ask it or end it. Nothing is buffered beyond one message: a
helper whose messages are not taken waits in its pipe.
"""

import hashlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from mosaic.contract.layout import Home
from mosaic.trainer.simulation.helper_messages import (
    LENGTHS,
    MOST_BODY_BYTES,
    MOST_HEAD_BYTES,
    BrokenMessageError,
    HelperMessage,
    decode_message,
)


class ScratchFolders:
    """Of one home, which has one daemon. Safe from any thread."""

    def __init__(self, home: Home) -> None:
        digest = hashlib.sha256(os.fsencode(home.path)).hexdigest()[:12]
        self._prefix = f"mosaic-replay-{digest}-"
        self._lock = threading.Lock()
        self._is_cleared = False

    def make(self) -> "tempfile.TemporaryDirectory[str]":
        """A new one. Raises `OSError`."""
        with self._lock:
            if not self._is_cleared:
                self._is_cleared = True
                self._clear()
        return tempfile.TemporaryDirectory(prefix=self._prefix, ignore_cleanup_errors=True)

    def _clear(self) -> None:
        """Removes what a daemon has left that was killed."""
        for left in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            shutil.rmtree(left, ignore_errors=True)


_LOOK_EVERY_S = 0.5
_SAID_BYTES = 4096
_READ_BYTES = 65536
_END_PATIENCE_S = 2.0
"""A process that waits for a broken driver does not even die of SIGKILL."""


class HelperSilentError(Exception):
    """Nothing came for longer than allowed."""


class HelperProcess:
    """Started at once; raises `OSError` when that is not possible."""

    def __init__(
        self, command: Sequence[str | Path], environment: Mapping[str, str], folder: Path
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes if pipe)
        self._poll = select.poll()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe, False)
        for pipe in (self._stdout, self._stderr):
            self._poll.register(pipe, select.POLLIN)
        self._said = b""
        self._room = bytearray()
        """For pixels, kept between frames: new memory costs more than reading into it."""
        self._lock = threading.Lock()
        self._unsent = b""
        self._is_killed = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def said(self) -> str:
        """The end of what it wrote to stderr."""
        return self._said.decode("utf-8", "replace").strip()

    def newly_said(self) -> str:
        """The end of what it wrote to stderr since this was called. Not while another thread
        receives."""
        self._hear()
        said, self._said = self.said, b""
        return said

    def ask(self, request: Mapping[str, object]) -> None:
        """Tells it what is wanted. Never waits: what it cannot take now it gets later."""
        with self._lock:
            self._unsent = msgspec.json.encode(request) + b"\n"
            self._send()

    def receive(
        self, is_silent_too_long: Callable[[], bool]
    ) -> tuple[HelperMessage, memoryview] | None:
        """The next message, and its pixels until the next one; None at the end of its output.

        `is_silent_too_long` is asked now and then while nothing comes; on a yes this raises
        `HelperSilentError`. What is no message of ours is `BrokenMessageError`.
        """
        lengths = self._read(memoryview(bytearray(LENGTHS.size)), is_silent_too_long)
        if lengths is None:
            return None
        head_bytes, body_bytes = LENGTHS.unpack(lengths)
        if head_bytes > MOST_HEAD_BYTES or body_bytes > MOST_BODY_BYTES:
            raise BrokenMessageError(f"a message of {head_bytes} and {body_bytes} bytes")
        if body_bytes > len(self._room):
            self._room = bytearray(body_bytes)
        head = self._read(memoryview(bytearray(head_bytes)), is_silent_too_long)
        body = self._read(memoryview(self._room)[:body_bytes], is_silent_too_long)
        if head is None or body is None:
            return None
        return decode_message(bytes(head)), body

    def kill(self) -> None:
        """At once, with all that it started. Safe from any thread, any number of times."""
        with self._lock:
            # Only once, and never after it was waited for: then its number may be another's.
            if not self._is_killed:
                self._is_killed = True
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def exit_code(self) -> int | None:
        """After the end of its output: how it ended, as of `subprocess`. Nothing of it is left."""
        self._wait_for_exit()
        self._hear()
        return self._end()

    def close(self) -> None:
        """Ends it. Not while another thread receives."""
        self._end()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _end(self) -> int | None:
        self.kill()
        try:
            return self._process.wait(_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            threading.Thread(
                target=self._process.wait, name=f"reap {self.pid}", daemon=True
            ).start()
            return None

    def _wait_for_exit(self) -> None:
        """Without reaping it, so that its group can still be killed by its number."""
        handle = os.pidfd_open(self.pid)
        try:
            select.select([handle], [], [], _END_PATIENCE_S)
        finally:
            os.close(handle)

    def _read(self, room: memoryview, is_silent_too_long: Callable[[], bool]) -> memoryview | None:
        """`room`, filled; None when its output ends before."""
        filled = 0
        while filled < len(room):
            try:
                count = os.readv(self._stdout, [room[filled:]])
            except BlockingIOError:
                self._wait(is_silent_too_long)
                continue
            if count == 0:
                return None
            filled += count
        return room

    def _wait(self, is_silent_too_long: Callable[[], bool]) -> None:
        ready = [descriptor for descriptor, _ in self._poll.poll(_LOOK_EVERY_S * 1000)]
        if self._stderr in ready:
            self._hear()
        if self._stdout not in ready:
            with self._lock:
                self._send()
            if is_silent_too_long():
                raise HelperSilentError

    def _hear(self) -> None:
        """What is on stderr now; only the last of it is kept."""
        with suppress(BlockingIOError):
            while part := os.read(self._stderr, _READ_BYTES):
                self._said = (self._said + part)[-_SAID_BYTES:]
            with suppress(KeyError):
                self._poll.unregister(self._stderr)  # closed: it would be ready for ever

    def _send(self) -> None:
        if self._unsent:
            # Up to a page is written as a whole or not at all; nothing replaces what is longer.
            with suppress(BlockingIOError, BrokenPipeError):
                written = os.write(self._stdin, self._unsent)
                self._unsent = self._unsent[written:]
