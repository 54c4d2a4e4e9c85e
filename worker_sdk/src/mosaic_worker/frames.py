"""FrameMailbox: offers the newest frame to live views, at the price of copying it once.

Readers take what is there when they look; nobody is waited for and nothing is kept. The layout of
the file is in docs/protocol.md.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter

    Pixels = Union[bytes, bytearray, memoryview, Any]

MAGIC = b"MOSAICFR"
VERSION = 1
MAX_SIDE = 8192
CHANNELS = (1, 3, 4)
SLOTS = 4  # three would do; with four a slow reader is lapped less often
STEP_BYTES = 64 << 10
HEADER_BYTES = SLOT_HEADER_BYTES = ALIGNMENT = 64

FRAMES_DROPPED = "W122"
"""Frames cannot be offered, most likely because the disk is full; training goes on without them."""

_RETRY_SECONDS = 1.0
_HEADER = struct.Struct("<8s6I")
_SEQUENCE = struct.Struct("<Q")
_SLOT = struct.Struct("<qqI")


class FrameMailbox:
    """The file `frames` of a run. Frames may be written from any thread.

    A slot's sequence number is odd while the slot is written, and even, twice the frame's number,
    when it is whole: a reader that finds it unchanged around its copy has a whole frame.
    """

    def __init__(self, path: str | os.PathLike[str], emitter: Emitter | None = None) -> None:
        """Nothing is made before the first frame. `emitter` tells when frames are dropped."""
        self.dropped = 0
        """How many frames could not be offered."""
        self._path = Path(path)
        self._emitter = emitter
        self._lock = threading.Lock()
        self._shape = (0, 0, 0)
        self._map: mmap.mmap | None = None
        self._slot_bytes = 0
        self._number = 0
        self._retry_at = 0.0
        os.register_at_fork(after_in_child=self._forget)

    def write(
        self,
        pixels: Pixels,
        width: int,
        height: int,
        channels: int = 3,
        *,
        step: int = 0,
        seq: int = 0,
        step_json: bytes = b"",
    ) -> None:
        """Offer a frame: one byte per channel, row by row from the top, as `rgb_array` has it.

        `seq` is that of the control command that caused it, `step_json` the step's own line, left
        out when it is over 64 KiB. Never waits. Raises `WorkerError` for pixels that do not fit the
        size, and nothing else: without room on the disk the frame is counted as dropped.
        """
        shape = (width, height, channels)
        if shape != self._shape:
            _check_shape(shape)
        view = memoryview(pixels)
        if view.nbytes != width * height * channels:
            raise WorkerError(
                f"A frame of {width}x{height} with {channels} channels has "
                f"{width * height * channels} bytes, not {view.nbytes}.",
                remedy="Give one byte per channel (uint8), and the width before the height.",
            )
        if not view.c_contiguous:
            pixels = view.tobytes()  # turned or cut out of a larger picture
        if len(step_json) > STEP_BYTES:
            step_json = b""
        with self._lock:
            memory = self._memory_for(shape)
            if memory is None:
                self.dropped += 1
                return
            self._number += 1
            place = HEADER_BYTES + self._number % SLOTS * self._slot_bytes
            content = place + SLOT_HEADER_BYTES
            pixels_at = content + STEP_BYTES
            # Each number is one aligned store of eight bytes, in this order.
            _SEQUENCE.pack_into(memory, place, 2 * self._number - 1)
            _SLOT.pack_into(memory, place + _SEQUENCE.size, step, seq, len(step_json))
            memory[content : content + len(step_json)] = step_json
            memory[pixels_at : pixels_at + view.nbytes] = pixels
            _SEQUENCE.pack_into(memory, place, 2 * self._number)

    def close(self) -> None:
        """Let go of the file; the last frame stays to be seen."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._map is not None:
            self._map.close()
        self._map = None
        self._shape = (0, 0, 0)

    def _memory_for(self, shape: tuple[int, int, int]) -> mmap.mmap | None:
        """The mapped file for frames of this shape; None when it cannot be had now."""
        if shape == self._shape:
            return self._map
        now = time.monotonic()
        if now < self._retry_at:
            return None
        self._release()
        try:
            self._map, self._slot_bytes = _make_file(self._path, shape)
        except OSError as error:
            self._retry_at = now + _RETRY_SECONDS
            self._say_dropped(error)
            return None
        self._shape = shape
        return self._map

    def _say_dropped(self, error: OSError) -> None:
        if self.dropped:
            return
        message = (
            f"Frames cannot be offered: {error.strerror or error}. "
            "Training goes on without them; free some space and they come back."
        )
        if self._emitter is not None:
            self._emitter.log("warning", FRAMES_DROPPED, message)
        else:
            print(f"mosaic_worker: {FRAMES_DROPPED} {message}", file=sys.stderr)

    def _forget(self) -> None:
        """In a forked child the lock may be held by a thread that is not there."""
        self._lock = threading.Lock()


def _check_shape(shape: tuple[int, int, int]) -> None:
    width, height, channels = shape
    if 1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and channels in CHANNELS:
        return
    raise WorkerError(
        f"A frame of {width}x{height} with {channels} channels cannot be offered.",
        remedy=f"Sides go from 1 to {MAX_SIDE}, and channels are 1 (grey), 3 (RGB) or 4 (RGBA).",
    )


def _make_file(path: Path, shape: tuple[int, int, int]) -> tuple[mmap.mmap, int]:
    """A new file in place of the old one, and the size of its slots.

    A reader keeps the old one until it looks again. All of it is allocated beforehand: writing to
    a mapped file for which there is no room would end the process.
    """
    width, height, channels = shape
    slot_bytes = SLOT_HEADER_BYTES + STEP_BYTES + width * height * channels
    slot_bytes += -slot_bytes % ALIGNMENT
    size = HEADER_BYTES + SLOTS * slot_bytes
    partial = path.with_name(f".{path.name}-{os.getpid()}.tmp")
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        _allocate(descriptor, size)
        memory = mmap.mmap(descriptor, size)
        _HEADER.pack_into(memory, 0, MAGIC, VERSION, width, height, channels, SLOTS, STEP_BYTES)
        partial.replace(path)
    except BaseException:
        partial.unlink()
        raise
    finally:
        os.close(descriptor)
    return memory, slot_bytes


def _allocate(descriptor: int, size: int) -> None:
    allocate = getattr(os, "posix_fallocate", None)
    if allocate is not None:
        allocate(descriptor, 0, size)
        return
    block = bytes(1 << 20)  # macOS has no such call
    for start in range(0, size, len(block)):
        os.pwrite(descriptor, block[: size - start], start)
