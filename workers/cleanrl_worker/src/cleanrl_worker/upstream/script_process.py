"""ScriptProcess: the script as a child process that can be paused and stopped.

Its output is always read, so it never blocks on a full pipe. Its descendants are found in /proc.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from cleanrl_worker.upstream.output_lines import TELEMETRY_MARKERS, visible_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""In this order: an interrupted script can still close its files. SIGKILL comes last."""

_GRACE_S = 4.0
_LAST_OUTPUT_TIMEOUT_S = 0.5
_DRAIN_TIMEOUT_S = 5.0
_EXIT_TIMEOUT_S = 1.0
_POLL_INTERVAL_S = 0.02
_READ_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 14
_MAX_WAITING = 100_000
_MAX_LAST_LINES = 20
_STDERR = 2
_SET_CHILD_SUBREAPER = 36  # option of prctl
_SIGNAL_ROUNDS = 5


class PrintedLine(NamedTuple):
    """A line that may contain telemetry."""

    text: str
    is_error_stream: bool


class ScriptProcess:
    """One script. All of its output is forwarded to standard error, the run's log.

    A thread reads the output, so the script never waits for the parsing of its lines.
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
        """The number of lines that came faster than they could be parsed."""
        self._waiting: deque[PrintedLine] = deque()
        self._last_lines: deque[str] = deque(maxlen=_MAX_LAST_LINES)
        self._is_finished = threading.Event()
        self._drain_deadline = 0.0
        """The latest time to read output after the script has ended."""
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

    def drain_lines(self) -> list[PrintedLine]:
        """Return the lines since the last call that may contain telemetry."""
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    def last_lines(self) -> list[str]:
        """Return the last lines of both streams together."""
        return list(self._last_lines)

    def pause(self) -> None:
        """Stop the script and its descendants with SIGSTOP."""
        signal_tree(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        signal_tree(self.pid, signal.SIGCONT)

    def stop(self, grace_s: float = _GRACE_S) -> None:
        """Stop it, also if it is paused: SIGINT, then SIGTERM, then SIGKILL."""
        if self.exit_code is None:
            self.resume()
        for number in STOP_SIGNALS:
            if self.exit_code is not None:
                return
            send_signal(self.pid, number)
            self._wait(grace_s)
        if self.exit_code is None:
            signal_tree(self.pid, signal.SIGKILL)
            self._wait(grace_s)

    def close(self, grace_s: float = _GRACE_S) -> int:
        """After its end: stop the processes it left behind, then read the last output.

        In this order, because a process that keeps printing would keep the output open. Returns
        the number of processes that had to be stopped.
        """
        left = _wait_for_descendants(_EXIT_TIMEOUT_S)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                send_signal(pid, number)
            if not _wait_for_descendants(grace_s):
                break
        self._drain_deadline = time.monotonic() + _DRAIN_TIMEOUT_S
        self._is_finished.set()
        self._reader.join(_DRAIN_TIMEOUT_S + _LAST_OUTPUT_TIMEOUT_S)
        return len(left)

    def _wait(self, timeout_s: float) -> None:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return

    def _read(self) -> None:
        streams: list[tuple[IO[bytes], bool]] = []
        for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True)):
            if stream is not None:
                streams.append((stream, is_error))
        with selectors.DefaultSelector() as selector:
            for stream, is_error in streams:
                selector.register(stream, selectors.EVENT_READ, _LineSplitter(is_error))
            self._read_all(selector)
        for stream, _ in streams:
            stream.close()

    def _read_all(self, selector: selectors.BaseSelector) -> None:
        """Read until both streams end, or until a finished script prints no more.

        A detached child may keep the streams open for as long as it runs.
        """
        while selector.get_map():
            timeout_s = _LAST_OUTPUT_TIMEOUT_S if self._is_finished.is_set() else 0.1
            ready = selector.select(timeout_s)
            if self._is_finished.is_set() and (
                not ready or time.monotonic() > self._drain_deadline
            ):
                return
            for key, _ in ready:
                data = os.read(key.fd, _READ_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                _forward(data)
                for line in key.data.split(data):
                    self._handle_line(line, key.data.is_error_stream)

    def _handle_line(self, line: bytes, is_error_stream: bool) -> None:
        text = line.decode("utf-8", "replace")
        if visible_text(text):
            self._last_lines.append(text.rpartition("\r")[2].rstrip())
        if any(marker in line for marker in TELEMETRY_MARKERS):
            if len(self._waiting) < _MAX_WAITING:
                self._waiting.append(PrintedLine(text, is_error_stream))
            else:
                self.skipped += 1


def _wait_for_descendants(timeout_s: float) -> list[int]:
    """Return the descendants of this process that are still running after that time."""
    deadline = time.monotonic() + timeout_s
    left = descendants(os.getpid())
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_INTERVAL_S)
        left = descendants(os.getpid())
    return left


class _LineSplitter:
    """Splits chunks of bytes into lines; a line that is too long is cut."""

    def __init__(self, is_error_stream: bool) -> None:
        self.is_error_stream = is_error_stream
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        if not data:
            last, self._rest = self._rest, b""
            return [last] if last else []
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest.rpartition(b"\r")[2] if len(rest) > _MAX_LINE_BYTES else rest
        self._rest = self._rest[:_MAX_LINE_BYTES]
        return [line[:_MAX_LINE_BYTES] for line in lines]


def _forward(data: bytes) -> None:
    written: Any = 0
    try:
        while written < len(data):
            written += os.write(_STDERR, data[written:])
    except OSError:
        return  # the log is closed


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, so that all of them can be found."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return  # not Linux: orphans cannot be found


def descendants(pid: int) -> list[int]:
    """Return all running descendants of `pid`, parents before their children."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdigit():
            parent = _running_parent(entry)
            if parent is not None:
                children.setdefault(parent, []).append(int(entry.name))
    pids: list[int] = []
    pending = [pid]
    while pending:
        below = children.get(pending.pop(0), [])
        pids += below
        pending += below
    return pids


def signal_tree(pid: int, number: signal.Signals) -> None:
    """Signal `pid` and its descendants, including those that start in the meantime."""
    signalled: set[int] = set()
    for _ in range(_SIGNAL_ROUNDS):
        new = [member for member in (pid, *descendants(pid)) if member not in signalled]
        if not new:
            return
        for member in new:
            send_signal(member, number)
            signalled.add(member)


def send_signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _running_parent(entry: Path) -> int | None:
    try:
        status = (entry / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, parent, *_ = status.rpartition(")")[2].split()
    return None if state == "Z" else int(parent)
