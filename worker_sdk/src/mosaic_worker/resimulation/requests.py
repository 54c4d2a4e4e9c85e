"""Requests of the daemon as JSON lines on stdin, and ending the process with the daemon."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any, Callable, NamedTuple, NoReturn

_READ_BYTES = 65536
_PR_SET_PDEATHSIG = 1


class FrameRequest(NamedTuple):
    """Frames `first`, `first + 1` …; up to the last if `frames` is 0."""

    number: int
    first: int
    frames: int


class FrameRequests:
    """Reads requests in a thread; a newer one replaces the current one between two steps."""

    def __init__(self, descriptor: int) -> None:
        self._newest: FrameRequest | None = None
        self._changed = threading.Condition()
        threading.Thread(
            target=read_json_lines,
            args=(descriptor, self._set_newest),
            name="requests",
            daemon=True,
        ).start()

    def is_replaced(self, request: FrameRequest) -> bool:
        return self._newest is not request

    def wait_for_next(self, request: FrameRequest | None) -> FrameRequest:
        """Wait for a request other than `request`, and return the newest."""
        with self._changed:
            while self._newest is None or self._newest is request:
                self._changed.wait()
            return self._newest

    def _set_newest(self, fields: Any) -> None:
        request = FrameRequest(fields["request"], fields["first"], fields["count"])
        with self._changed:
            self._newest = request
            self._changed.notify_all()


def read_json_lines(descriptor: int, handle: Callable[[Any], object]) -> NoReturn:
    """Call `handle` for each line; ends the process at the end of the input.

    A line that is not JSON, or that `handle` rejects with KeyError, TypeError or ValueError, is
    reported on stderr.
    """
    rest = b""
    while True:
        data = os.read(descriptor, _READ_BYTES)
        if not data:
            end_with_children()
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            _handle_line(line, handle)


def _handle_line(line: bytes, handle: Callable[[Any], object]) -> None:
    try:
        handle(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"not a request: {line[:200]!r}: {error}\n")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies (Linux), even if native code hangs."""
    with contextlib.suppress(Exception):  # the end of stdin ends the process, too
        import ctypes  # noqa: PLC0415 - not every Python has it

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def end_with_children() -> NoReturn:
    """End the process group without clean-up, which an environment that hangs would block."""
    if os.getsid(0) == os.getpid():  # otherwise the group is that of a shell
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
