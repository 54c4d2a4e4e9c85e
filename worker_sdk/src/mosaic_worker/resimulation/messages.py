"""What the simulation reports to the daemon: messages on stdout, and its position in a file.

Writing blocks while the daemon does not read, so that the simulation does not run ahead of the
viewer. There is no writer thread: copying frames for it, and switching to it, takes longer than
writing (measured: 2 ms per frame of LunarLander instead of 0.2).

The position file survives a crash in native code or a hang, which leave no time for messages. It
is memory-mapped, because it is written twice per step.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker.resimulation.episode_record import RecordComparison
    from mosaic_worker.resimulation.rendering import RenderedFrame

_LENGTHS = struct.Struct(">II")
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20
"""Fits a frame of 600 x 400, so that the next one is rendered while it is read."""

CREATING, RESETTING, STEPPING, RENDERING, WAITING = range(5)
"""Phases: creating the environment, resetting it, taking step n, rendering after n steps, idle."""

_POSITION = struct.Struct("<qq")


class MessageWriter:
    """Writes each message immediately. Not thread-safe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        with contextlib.suppress(OSError):  # not a pipe, or over the limit: only slower
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)

    def opened(self, steps: int, fps: float, packages: dict[str, str | None]) -> None:
        self._send({"kind": "opened", "steps": steps, "fps": fps, "packages": packages})

    def frame(self, request: int, index: int, frame: RenderedFrame) -> None:
        header = {
            "kind": "frame",
            "request": request,
            "index": index,
            "width": frame.width,
            "height": frame.height,
            "channels": frame.channels,
            "problem": frame.problem,
        }
        self._send(header, frame.pixels)

    def checked(self, comparison: RecordComparison) -> None:
        self._send(
            {
                "kind": "checked",
                "steps": comparison.steps,
                "is_over": comparison.is_finished,
                "first_difference": comparison.first_difference,
                "difference": comparison.difference,
            }
        )

    def done(self, request: int) -> None:
        self._send({"kind": "done", "request": request})

    def error(self, message: str, remedy: str) -> None:
        self._send({"kind": "error", "message": message, "remedy": remedy})

    def _send(self, header: dict[str, Any], body: memoryview | None = None) -> None:
        text = json.dumps(header).encode("utf-8")
        size = 0 if body is None else body.nbytes
        buffers = [memoryview(_LENGTHS.pack(len(text), size) + text)]
        if body is not None and size:
            buffers.append(body)
        while buffers:
            written = os.writev(self._descriptor, buffers)
            while buffers and written >= buffers[0].nbytes:
                written -= buffers.pop(0).nbytes
            if written:
                buffers[0] = buffers[0][written:]


class PositionFile:
    """The current phase and step number n. Without a path nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self._memory: mmap.mmap | bytearray = (
            bytearray(_POSITION.size) if path is None else _map_file(path)
        )

    def write(self, phase: int, number: int) -> None:
        _POSITION.pack_into(self._memory, 0, phase, number)


def _map_file(path: Path) -> mmap.mmap:
    descriptor = os.open(str(path), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(descriptor, _POSITION.size)
        return mmap.mmap(descriptor, _POSITION.size)
    finally:
        os.close(descriptor)
