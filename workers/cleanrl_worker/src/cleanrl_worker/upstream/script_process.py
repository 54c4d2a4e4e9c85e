"""The script as a child process: its output is always read, and it can be stopped and held."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from cleanrl_worker.upstream.output_lines import CANDIDATE_SIGNS, last_written
from cleanrl_worker.upstream.process_tree import (
    adopt_orphans,
    descendants,
    send,
    signal_tree,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""In this order: an interrupted script can still close files and tracking. SIGKILL comes last."""

_GRACE_SECONDS = 4.0
_LAST_OUTPUT_SECONDS = 0.5
_READ_ON_SECONDS = 5.0
_ENDS_BY_ITSELF_SECONDS = 1.0
_LOOK_SECONDS = 0.02
_READ_BYTES = 1 << 16
_LONGEST_LINE = 1 << 14
_MOST_WAITING = 100_000
_LINES_REMEMBERED = 20
_STDERR = 2


class PrintedLine(NamedTuple):
    """A line that may mean something."""

    text: str
    is_error_stream: bool


class ScriptProcess:
    """One script. Every byte that it prints goes on to standard error, the run's log.

    A thread does the reading, so that the script never waits for what is made of its lines.
    """

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        pass_fds: Sequence[int] = (),
    ) -> None:
        adopt_orphans()
        self.skipped = 0
        """How many lines came faster than they could be looked at."""
        self._waiting: deque[PrintedLine] = deque()
        self._remembered: deque[str] = deque(maxlen=_LINES_REMEMBERED)
        self._has_ended = threading.Event()
        self._read_until = 0.0
        """When the reading ends at the latest; counts once the script has ended."""
        self._process = subprocess.Popen(
            list(argv),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(pass_fds),
        )
        self._reader = threading.Thread(target=self._read, name="script-output", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll()

    def lines(self) -> list[PrintedLine]:
        """Those that have come and may mean something, each once."""
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    def last_lines(self) -> list[str]:
        """What it printed last, both streams together."""
        return list(self._remembered)

    def hold(self) -> None:
        """Stop the clock for it and all its children."""
        signal_tree(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        signal_tree(self.pid, signal.SIGCONT)

    def stop(self, grace_s: float = _GRACE_SECONDS) -> None:
        """End it, also when it is held: it is asked twice, and then not asked any more."""
        if self.exit_code is None:
            self.go_on()
        for number in STOP_SIGNALS:
            if self.exit_code is not None:
                return
            send(self.pid, number)
            self._wait(grace_s)
        if self.exit_code is None:
            signal_tree(self.pid, signal.SIGKILL)
            self._wait(grace_s)

    def close(self, grace_s: float = _GRACE_SECONDS) -> int:
        """After its end: end the processes it left behind, and take the last output.

        In this order, because one that goes on printing would never let the output end. Returns
        how many had to be ended.
        """
        left = _left_after(_ENDS_BY_ITSELF_SECONDS)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                send(pid, number)
            if not _left_after(grace_s):
                break
        self._read_until = time.monotonic() + _READ_ON_SECONDS
        self._has_ended.set()
        self._reader.join(_READ_ON_SECONDS + _LAST_OUTPUT_SECONDS)
        return len(left)

    def _wait(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def _read(self) -> None:
        streams: list[tuple[IO[bytes], bool]] = []
        for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True)):
            if stream is not None:
                streams.append((stream, is_error))
        with selectors.DefaultSelector() as selector:
            for stream, is_error in streams:
                selector.register(stream, selectors.EVENT_READ, _Splitter(is_error))
            self._read_all(selector)
        for stream, _ in streams:
            stream.close()

    def _read_all(self, selector: selectors.BaseSelector) -> None:
        """Until both streams end, or nothing comes any more from a script that has ended.

        A child that got out of sight may hold the streams open for as long as it lives.
        """
        while selector.get_map():
            patience = _LAST_OUTPUT_SECONDS if self._has_ended.is_set() else 0.1
            ready = selector.select(patience)
            if self._has_ended.is_set() and (not ready or time.monotonic() > self._read_until):
                return
            for key, _ in ready:
                data = os.read(key.fd, _READ_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                _pass_on(data)
                for line in key.data.split(data):
                    self._take(line, key.data.is_error_stream)

    def _take(self, line: bytes, is_error_stream: bool) -> None:
        text = line.decode("utf-8", "replace")
        if last_written(text):
            self._remembered.append(text.rpartition("\r")[2].rstrip())
        if any(sign in line for sign in CANDIDATE_SIGNS):
            if len(self._waiting) < _MOST_WAITING:
                self._waiting.append(PrintedLine(text, is_error_stream))
            else:
                self.skipped += 1


def _left_after(seconds: float) -> list[int]:
    """The processes below this one that have not ended in that time."""
    until = time.monotonic() + seconds
    left = descendants(os.getpid())
    while left and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        left = descendants(os.getpid())
    return left


class _Splitter:
    """Makes lines of what comes in pieces; of one that is too long only its beginning."""

    def __init__(self, is_error_stream: bool) -> None:
        self.is_error_stream = is_error_stream
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        if not data:
            last, self._rest = self._rest, b""
            return [last] if last else []
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest.rpartition(b"\r")[2] if len(rest) > _LONGEST_LINE else rest
        self._rest = self._rest[:_LONGEST_LINE]
        return [line[:_LONGEST_LINE] for line in lines]


def _pass_on(data: bytes) -> None:
    written: Any = 0
    try:
        while written < len(data):
            written += os.write(_STDERR, data[written:])
    except OSError:
        return  # without a log there is nobody to read it
