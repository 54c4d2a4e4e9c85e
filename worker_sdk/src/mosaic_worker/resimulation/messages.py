"""MessageWriter: what the simulation tells the daemon, on a private copy of stdout.

Writing waits while the daemon does not read: that is what keeps the simulation from running ahead
of whoever watches. No thread writes in the background: its copies of the frames, and its turns at
the interpreter, cost more than the writing (measured: 2 ms a frame of LunarLander, against 0.2).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic_worker.resimulation.comparison import Comparison
    from mosaic_worker.resimulation.pictures import Picture

_LENGTHS = struct.Struct(">II")
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20
"""Room for one frame of 600 x 400, so that the next one is drawn while this one is read."""


class MessageWriter:
    """Whole messages, each as soon as it is known. For one thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        with contextlib.suppress(OSError):  # no pipe, or no more room allowed: slower, not wrong
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)

    def opened(self, steps: int, fps: float, packages: dict[str, str | None]) -> None:
        self._send({"kind": "opened", "steps": steps, "fps": fps, "packages": packages})

    def frame(self, request: int, index: int, picture: Picture) -> None:
        head = {
            "kind": "frame",
            "request": request,
            "index": index,
            "width": picture.width,
            "height": picture.height,
            "channels": picture.channels,
            "problem": picture.problem,
        }
        self._send(head, picture.pixels)

    def checked(self, comparison: Comparison) -> None:
        self._send(
            {
                "kind": "checked",
                "steps": comparison.steps,
                "is_over": comparison.is_over,
                "first_difference": comparison.first_difference,
                "difference": comparison.difference,
            }
        )

    def done(self, request: int) -> None:
        self._send({"kind": "done", "request": request})

    def error(self, message: str, remedy: str) -> None:
        self._send({"kind": "error", "message": message, "remedy": remedy})

    def _send(self, head: dict[str, Any], body: memoryview | None = None) -> None:
        text = json.dumps(head).encode("utf-8")
        size = 0 if body is None else body.nbytes
        parts = [memoryview(_LENGTHS.pack(len(text), size) + text)]
        if body is not None and size:
            parts.append(body)
        while parts:
            written = os.writev(self._descriptor, parts)
            while parts and written >= parts[0].nbytes:
                written -= parts.pop(0).nbytes
            if written:
                parts[0] = parts[0][written:]
