"""LineWriter: writes complete lines to a file descriptor, also when the disk is full."""

from __future__ import annotations

import atexit
import errno
import json
import os
import select
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.run_control import RunControl

LINES_DROPPED = "W103"
"""Telemetry lines were dropped because the disk was full."""

BURST_LINES = 16
BURST_SECONDS = 0.0005
_STALL_SECONDS = 0.005  # how long lines may stay buffered when a loop stops within a burst
_RETRY_SECONDS = 0.2
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class LineWriter:
    """Writes complete lines in order. Thread-safe.

    `write` passes a line to the kernel before it returns. `write_buffered` does the same, except if
    the last system call was less than 0.5 ms ago: then up to 16 lines share one, because a system
    call costs more than the rest of a step. If a loop stalls within a burst, a thread writes the
    buffered lines after 5 ms. A forked child does not buffer.

    `sources` are called under the lock for records that precede the buffered lines, so that
    records collected by the thousand are encoded together by `encode`.

    A partial write is continued. When the disk is full, the writer waits for space until a stop is
    requested; lines that cannot be written then are counted and reported in a later line. A
    truncated line is terminated before the next one. If the reader has closed the pipe, the run
    ends: `run_control` is stopped and further lines are dropped.
    """

    def __init__(
        self,
        fd: int,
        run_control: RunControl,
        encode: Callable[[list[Any], list[bytes]], bytes],
        burst: int = BURST_LINES,
    ) -> None:
        self.broken = ""
        self.dropped = 0
        self._fd = fd
        self._run_control = run_control
        self._encode = encode
        self.burst = burst
        self.burst_ends = 0.0
        self.sources: list[Callable[[], list[Any]]] = []
        self._buffer: list[bytes] = []  # append is atomic, so buffering needs no lock
        self.lock = threading.Lock()
        self._has_partial_line = False
        self._unreported_drops = 0
        self._has_reported_full = False
        self._closed = False
        self.is_idle = True
        self._wake = threading.Event()
        self._stall_thread: threading.Thread | None = None
        self._thread_lock = threading.Lock()
        os.register_at_fork(after_in_child=self._reset_after_fork)
        atexit.register(self.flush)

    @property
    def fd(self) -> int:
        """The file descriptor. A child process that inherits it may write complete lines."""
        return self._fd

    def write_buffered(self, line: bytes, now: float) -> None:
        """Write `line` (without newline) now or with the current burst.

        `now` is the monotonic time.
        """
        buffer = self._buffer
        buffer.append(line)
        if now < self.burst_ends and len(buffer) < self.burst:
            if self.is_idle:
                self.watch_for_stall()
            return
        self.end_burst(now)

    def end_burst(self, now: float) -> None:
        """Write the buffered lines."""
        self.burst_ends = now + BURST_SECONDS
        with self.lock:
            self._write_buffer()

    def write(self, line: bytes) -> None:
        """Write `line` (without newline) and everything buffered before it."""
        self._buffer.append(line)
        with self.lock:
            self._write_buffer()

    def flush(self) -> None:
        with self.lock:
            self._write_buffer()

    def write_last(self, line: bytes, timeout: float = -1) -> bool:
        """Write the final line; later lines are dropped. False on timeout or if it was lost."""
        if not self.lock.acquire(timeout=timeout):
            return False
        try:
            if self._closed:
                return False
            self._buffer.append(line)
            return self._close()
        finally:
            self.lock.release()

    def close(self) -> None:
        """Write buffered lines and end the thread; later lines are dropped."""
        with self.lock:
            self._close()
        if self._stall_thread is not None and self._stall_thread is not threading.current_thread():
            self._stall_thread.join()

    def _close(self) -> bool:
        """Requires the lock. False if lines were lost."""
        written = self._write_buffer()
        self._closed = True
        self._wake.set()
        return written

    def _write_buffer(self) -> bool:
        """Write buffered records and lines at once. Requires the lock."""
        records: list[Any] = []
        for drain in self.sources:
            records += drain()
        count = len(self._buffer)
        if not count and not records:
            return True
        lines = self._buffer[:count]
        del self._buffer[:count]
        if self._closed or self.broken:
            return False
        body = self._encode(records, lines)
        repair = self._make_repair() if self._has_partial_line or self._unreported_drops else b""
        written = self._write_all(repair + body)
        if written == len(repair) + len(body):
            if repair:
                self._has_partial_line = False
                self._unreported_drops = 0
            return True
        self._count_dropped(repair, body, written)
        return False

    def _make_repair(self) -> bytes:
        """Return the bytes that must precede the next line after lines were lost."""
        newline = b"\n" if self._has_partial_line else b""
        return newline + (
            _make_dropped_notice(self._unreported_drops) if self._unreported_drops else b""
        )

    def _count_dropped(self, repair: bytes, body: bytes, written: int) -> None:
        if written:
            self._has_partial_line = (repair + body)[written - 1 : written] != b"\n"
        if written >= len(repair):
            self._unreported_drops = 0
        lost = body.count(b"\n", max(0, written - len(repair)))
        self._unreported_drops += lost
        self.dropped += lost

    def _write_all(self, data: bytes) -> int:
        """Write `data`, waiting for space where possible; returns the number of bytes written."""
        written = 0
        while written < len(data):
            count = self._write_some(data[written:])
            if count < 0:
                return written
            written += count
        self._has_reported_full = False
        return written

    def _write_some(self, data: bytes) -> int:
        """The number of bytes written; 0 to try again, -1 to give up."""
        try:
            return os.write(self._fd, data)
        except OSError as error:
            return 0 if self._wait_for_recovery(error) else -1

    def _wait_for_recovery(self, error: OSError) -> bool:
        """Wait until writing may succeed; False if the lines must be dropped."""
        if error.errno in _NO_SPACE:
            if not self._has_reported_full:
                self._has_reported_full = True
                _print_error(
                    f"telemetry cannot be written: {error.strerror}. Training waits; "
                    "free some disk space and it continues."
                )
            return not self._run_control.wait(_RETRY_SECONDS)
        if error.errno == errno.EAGAIN:
            writable = select.poll()  # select() cannot watch a descriptor past 1023
            writable.register(self._fd, select.POLLOUT)
            ready = writable.poll(_RETRY_SECONDS * 1000)
            return bool(ready) or not self._run_control.is_stopping
        self.broken = error.strerror or str(error)
        _print_error(f"telemetry cannot be delivered: {self.broken}. The run ends.")
        self._run_control.stop("telemetry cannot be delivered")
        return False

    def watch_for_stall(self) -> None:
        """Have the thread write the buffer if the loop stalls. Call it when `is_idle`."""
        self.is_idle = False
        if self._stall_thread is None:
            self._start_stall_thread()
        self._wake.set()

    def _start_stall_thread(self) -> None:
        with self._thread_lock:  # two threads may get here at the same time
            if self._stall_thread is None:
                thread = threading.Thread(
                    target=self._write_stalled_bursts, name="mosaic-burst", daemon=True
                )
                thread.start()
                self._stall_thread = thread

    def _write_stalled_bursts(self) -> None:
        """Check once per `watch_for_stall`, so that slow loops are not disturbed."""
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            time.sleep(_STALL_SECONDS)
            self.is_idle = True  # before the flush, so that a later line wakes this thread again
            self.flush()

    def _reset_after_fork(self) -> None:
        """In a forked child: the buffer, the locks and the thread belong to the parent.

        The child does not buffer, because such processes often end by `os._exit`, which does not
        flush.
        """
        self._buffer.clear()
        self.sources.clear()
        self.burst = 1
        self.lock = threading.Lock()
        self.is_idle = True
        self._wake = threading.Event()
        self._stall_thread = None
        self._thread_lock = threading.Lock()


def _make_dropped_notice(count: int) -> bytes:
    record = {
        "type": "log",
        "level": "warning",
        "code": LINES_DROPPED,
        "message": f"{count} telemetry lines were dropped because the disk was full.",
        "fields": {"dropped": count},
    }
    return json.dumps(record, separators=(",", ":")).encode("utf-8") + b"\n"


def _print_error(message: str) -> None:
    try:
        sys.stderr.write(f"mosaic_worker: {message}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # there is no standard error
