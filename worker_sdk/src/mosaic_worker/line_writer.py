"""Puts whole lines into a file descriptor, whatever the disk or the reader does."""

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

    from mosaic_worker.flow import Flow

LINES_DROPPED = "W103"
"""Telemetry lines were dropped because the disk was full."""

BURST_LINES = 16
BURST_SECONDS = 0.0005
_STALLED_SECONDS = 0.005  # how long a burst may lie when the loop stops in the middle of one
_RETRY_SECONDS = 0.2
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class LineWriter:
    """Whole lines, in order, from any thread.

    `write` hands a line to the kernel before it returns. `write_soon` does so too, except when the
    last hand-over was less than 0.5 ms ago: then up to 16 lines go in one system call, which
    costs more than all the rest of a step. A loop that stalls within a burst has it written 5 ms
    later by a thread. A forked child has no bursts.

    `sources` are asked, under the lock, for records that go before the lines that wait; so what is
    recorded by the thousand need not become lines one by one. `encode` makes bytes of them all.

    A partial write is continued. When the disk is full the writer waits for space until the run is
    asked to stop; lines that then cannot be written are counted, and said so in a later line. A
    line cut short is ended with a newline before the next one. A reader that went away ends the
    run: `flow` is stopped and further lines are dropped.
    """

    def __init__(
        self,
        fd: int,
        flow: Flow,
        encode: Callable[[list[Any], list[bytes]], bytes],
        burst: int = BURST_LINES,
    ) -> None:
        self.broken = ""
        self.dropped = 0
        self._fd = fd
        self._flow = flow
        self._encode = encode
        self.burst = burst
        self.burst_ends = 0.0
        self.sources: list[Callable[[], list[Any]]] = []
        self._waiting: list[bytes] = []  # append is atomic, so joining a burst needs no lock
        self.lock = threading.Lock()
        self._torn = False
        self._unreported = 0
        self._said_full = False
        self._closed = False
        self.is_resting = True
        self._wake = threading.Event()
        self._finisher: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.flush)

    @property
    def fd(self) -> int:
        """Where lines go. A child process that is given it may write whole lines of its own."""
        return self._fd

    def write_soon(self, line: bytes, now: float) -> None:
        """Write `line` (without newline) now or with the burst it is part of.

        `now` is the time by the monotonic clock.
        """
        waiting = self._waiting
        waiting.append(line)
        if now < self.burst_ends and len(waiting) < self.burst:
            if self.is_resting:
                self.watch_for_stall()
            return
        self.hand_over(now)

    def hand_over(self, now: float) -> None:
        """End the burst: write all that waits."""
        self.burst_ends = now + BURST_SECONDS
        with self.lock:
            self._write_waiting()

    def write(self, line: bytes) -> None:
        """Write `line` (without newline) and all before it."""
        self._waiting.append(line)
        with self.lock:
            self._write_waiting()

    def flush(self) -> None:
        with self.lock:
            self._write_waiting()

    def write_last(self, line: bytes, timeout: float = -1) -> bool:
        """Write the final line; nothing follows it. False when `timeout` passed or it was lost."""
        if not self.lock.acquire(timeout=timeout):
            return False
        try:
            if self._closed:
                return False
            self._waiting.append(line)
            return self._close()
        finally:
            self.lock.release()

    def close(self) -> None:
        """Write all that waits, and end the thread; nothing is written after this."""
        with self.lock:
            self._close()
        if self._finisher is not None and self._finisher is not threading.current_thread():
            self._finisher.join()

    def _close(self) -> bool:
        """The lock is held. False if lines were lost."""
        written = self._write_waiting()
        self._closed = True
        self._wake.set()
        return written

    def _write_waiting(self) -> bool:
        """Write all that waits, as one piece. The lock is held."""
        records: list[Any] = []
        for take in self.sources:
            records += take()
        count = len(self._waiting)
        if not count and not records:
            return True
        lines = self._waiting[:count]
        del self._waiting[:count]
        if self._closed or self.broken:
            return False
        body = self._encode(records, lines)
        repair = self._repair() if self._torn or self._unreported else b""
        written = self._write_whole(repair + body)
        if written == len(repair) + len(body):
            if repair:
                self._torn = False
                self._unreported = 0
            return True
        self._count_lost(repair, body, written)
        return False

    def _repair(self) -> bytes:
        """What has to stand before the next line, once space is there again."""
        newline = b"\n" if self._torn else b""
        return newline + (_dropped_notice(self._unreported) if self._unreported else b"")

    def _count_lost(self, repair: bytes, body: bytes, written: int) -> None:
        if written:
            self._torn = (repair + body)[written - 1 : written] != b"\n"
        if written >= len(repair):
            self._unreported = 0
        lost = body.count(b"\n", max(0, written - len(repair)))
        self._unreported += lost
        self.dropped += lost

    def _write_whole(self, data: bytes) -> int:
        """Write all of `data`, waiting where that helps; how much of it is in the kernel."""
        written = 0
        while written < len(data):
            count = self._write_some(data[written:])
            if count < 0:
                return written
            written += count
        self._said_full = False
        return written

    def _write_some(self, data: bytes) -> int:
        """How much was written; 0 to try again, -1 to give up."""
        try:
            return os.write(self._fd, data)
        except OSError as error:
            return 0 if self._wait_out(error) else -1

    def _wait_out(self, error: OSError) -> bool:
        """Wait for the cause to pass; False when the lines must be given up."""
        if error.errno in _NO_SPACE:
            if not self._said_full:
                self._said_full = True
                _say(
                    f"telemetry cannot be written: {error.strerror}. Training waits; "
                    "free some space and it goes on by itself."
                )
            return not self._flow.wait(_RETRY_SECONDS)
        if error.errno == errno.EAGAIN:
            writable = select.poll()  # select() cannot watch a descriptor past 1023
            writable.register(self._fd, select.POLLOUT)
            ready = writable.poll(_RETRY_SECONDS * 1000)
            return bool(ready) or not self._flow.stopping
        self.broken = error.strerror or str(error)
        _say(f"telemetry cannot be delivered: {self.broken}. The run ends here.")
        self._flow.stop("telemetry cannot be delivered")
        return False

    def watch_for_stall(self) -> None:
        """Let the thread look whether what waits is left behind; when `is_resting`."""
        self.is_resting = False
        if self._finisher is None:
            self._finisher = threading.Thread(
                target=self._finish_stalled_bursts, name="mosaic-burst", daemon=True
            )
            self._finisher.start()
        self._wake.set()

    def _finish_stalled_bursts(self) -> None:
        """One look for each call: a slow loop, whose lines come in small groups, is left alone."""
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            time.sleep(_STALLED_SECONDS)
            self.is_resting = True  # first, so that a line after this look is looked at again
            self.flush()

    def _forget(self) -> None:
        """In a forked child: what waits belongs to the parent, and so do its locks and its thread.

        Every line is written at once from now on: such children often end by `os._exit`, which
        neither flushes nor waits for a thread that would.
        """
        self._waiting.clear()
        self.sources.clear()
        self.burst = 1
        self.lock = threading.Lock()
        self.is_resting = True
        self._wake = threading.Event()
        self._finisher = None


def _dropped_notice(count: int) -> bytes:
    record = {
        "type": "log",
        "level": "warning",
        "code": LINES_DROPPED,
        "message": f"{count} telemetry lines were dropped because the disk was full.",
        "fields": {"dropped": count},
    }
    return json.dumps(record, separators=(",", ":")).encode("utf-8") + b"\n"


def _say(message: str) -> None:
    try:
        sys.stderr.write(f"mosaic_worker: {message}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # without a stderr there is nobody left to tell
