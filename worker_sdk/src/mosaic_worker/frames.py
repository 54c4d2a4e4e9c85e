"""FrameMailbox: publishes the newest frame for live views through a memory-mapped file.

Writing copies the frame once and never waits for readers; older frames are overwritten.
docs/protocol.md defines the layout of the file.
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

from mosaic_worker.compat import make_getattr
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter

    Pixels = Union[bytes, bytearray, memoryview, Any]

MAGIC = b"MOSAICFR"
VERSION = 1
MAX_SIDE = 8192
CHANNELS = (1, 3, 4)
SLOTS = 4  # three suffice; with four a slow reader is overtaken less often
STEP_BYTES = 64 << 10
HEADER_BYTES = SLOT_HEADER_BYTES = ALIGNMENT = 64

FRAMES_DROPPED = "W122"
"""Frames cannot be written, probably because the disk is full; training continues without them."""

_RETRY_SECONDS = 1.0
_HEADER = struct.Struct("<8s6I")
_SEQUENCE = struct.Struct("<Q")
_SLOT = struct.Struct("<qqI")


class FrameMailbox:
    """The file `frames` of a run. Thread-safe.

    The sequence number of a slot is odd while the slot is written, and twice the frame number when
    it is complete: a reader whose copy starts and ends with the same even number has a complete
    frame.
    """

    def __init__(self, path: str | os.PathLike[str], emitter: Emitter | None = None) -> None:
        """The file is created with the first frame. `emitter` logs dropped frames."""
        self.dropped = 0
        """Number of frames that could not be written."""
        self._path = Path(path)
        self._emitter = emitter
        self._lock = threading.Lock()
        self._shape = (0, 0, 0)
        self._map: mmap.mmap | None = None
        self._slot_bytes = 0
        self._number = 0
        self._retry_at = 0.0
        os.register_at_fork(after_in_child=self._reset_after_fork)

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
        """Write a frame: one byte per channel, row by row from the top, like `rgb_array`.

        `seq` is that of the control command that caused it, `step_json` the line of the step,
        omitted if it exceeds 64 KiB. Never waits. Raises `WorkerError` only for pixels that do not
        match the size; if the disk is full, the frame is counted as dropped.
        """
        shape = (width, height, channels)
        if shape != self._shape:
            _check_shape(shape)
        view = memoryview(pixels)
        if view.nbytes != width * height * channels:
            raise WorkerError(
                f"A frame of {width}x{height} with {channels} channels has "
                f"{width * height * channels} bytes, got {view.nbytes}.",
                remedy="Pass one byte per channel (uint8), and the width before the height.",
            )
        if not view.c_contiguous:
            pixels = view.tobytes()  # a transposed or sliced array
        if len(step_json) > STEP_BYTES:
            step_json = b""
        with self._lock:
            memory = self._memory_for(shape)
            if memory is None:
                self.dropped += 1
                return
            self._number += 1
            slot = HEADER_BYTES + self._number % SLOTS * self._slot_bytes
            content = slot + SLOT_HEADER_BYTES
            pixels_at = content + STEP_BYTES
            # Each number is one aligned store of eight bytes, in this order.
            _SEQUENCE.pack_into(memory, slot, 2 * self._number - 1)
            _SLOT.pack_into(memory, slot + _SEQUENCE.size, step, seq, len(step_json))
            memory[content : content + len(step_json)] = step_json
            memory[pixels_at : pixels_at + view.nbytes] = pixels
            _SEQUENCE.pack_into(memory, slot, 2 * self._number)

    def close(self) -> None:
        """Unmap the file; the last frame stays readable."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._map is not None:
            self._map.close()
        self._map = None
        self._shape = (0, 0, 0)

    def _memory_for(self, shape: tuple[int, int, int]) -> mmap.mmap | None:
        """The mapped file for frames of this shape; None if it cannot be created now."""
        if shape == self._shape:
            return self._map
        now = time.monotonic()
        if now < self._retry_at:
            return None
        self._release()
        try:
            self._map, self._slot_bytes = _create_file(self._path, shape)
        except OSError as error:
            self._retry_at = now + _RETRY_SECONDS
            self._log_dropped(error)
            return None
        self._shape = shape
        return self._map

    def _log_dropped(self, error: OSError) -> None:
        if self.dropped:
            return
        message = (
            f"Frames cannot be written: {error.strerror or error}. "
            "Training continues without them; free some disk space to get them back."
        )
        if self._emitter is not None:
            self._emitter.log("warning", FRAMES_DROPPED, message)
        else:
            print(f"mosaic_worker: {FRAMES_DROPPED} {message}", file=sys.stderr)

    def _reset_after_fork(self) -> None:
        """In a forked child the thread that may hold the lock does not exist."""
        self._lock = threading.Lock()


def _check_shape(shape: tuple[int, int, int]) -> None:
    width, height, channels = shape
    if 1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and channels in CHANNELS:
        return
    raise WorkerError(
        f"A frame of {width}x{height} with {channels} channels is not supported.",
        remedy=f"Use sides from 1 to {MAX_SIDE}, and 1 (grey), 3 (RGB) or 4 (RGBA) channels.",
    )


def _create_file(path: Path, shape: tuple[int, int, int]) -> tuple[mmap.mmap, int]:
    """Replace the file; returns its mapping and the size of a slot.

    Readers keep the previous file until they open it again. All blocks are allocated in advance:
    writing to a mapped file without free disk space would kill the process.
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


def make_contiguous(image: Any) -> Any:
    """The array itself, or a C-contiguous copy.

    Many environments transpose an image without moving its pixels. Copying complete pixels instead
    of single bytes takes a third of the time, which matters because frames are rendered every step.
    """
    if image.flags.c_contiguous:
        return image
    import numpy as np  # noqa: PLC0415 - optional

    if image.ndim == 3 and image.strides[2] == 1:
        try:
            pixels = image.view(f"V{image.shape[2]}")
        except ValueError:  # numpy before 1.23 requires contiguous rows
            return np.ascontiguousarray(image)
        return np.ascontiguousarray(pixels).view(image.dtype)
    return np.ascontiguousarray(image)


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
