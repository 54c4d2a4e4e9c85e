"""FrameRequests: what the daemon asks for. Only the newest counts."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import NamedTuple

from mosaic_worker.resimulation.parent import end_with_children

_READ_BYTES = 65536


class FrameRequest(NamedTuple):
    """Frames `first`, `first + 1` …; all that follow when `frames` is 0."""

    number: int
    first: int
    frames: int


class FrameRequests:
    """Reads commands on a thread of its own, so that a newer one is seen between two steps."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._newest: FrameRequest | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def is_replaced(self, request: FrameRequest) -> bool:
        return self._newest is not request

    def wait_for_other_than(self, request: FrameRequest | None) -> FrameRequest:
        """The newest request, once it is not `request`."""
        with self._changed:
            while self._newest is None or self._newest is request:
                self._changed.wait()
            return self._newest

    def _read(self) -> None:
        rest = b""
        while True:
            part = os.read(self._descriptor, _READ_BYTES)
            if not part:
                end_with_children()
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            fields = json.loads(line)
            request = FrameRequest(fields["request"], fields["first"], fields["count"])
        except (ValueError, KeyError, TypeError) as error:
            sys.stderr.write(f"not a request: {line[:200]!r}: {error}\n")
            return
        with self._changed:
            self._newest = request
            self._changed.notify_all()
