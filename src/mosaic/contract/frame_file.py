"""FrameReader: reads the newest frame of a run from the file `frames` that its worker writes.

`docs/protocol.md` documents the layout. The worker is not trusted: every field is checked, and the
file is read, not mapped, because truncating a mapped file would kill its readers.
"""

import os
import struct
from pathlib import Path
from typing import NamedTuple, Self

from mosaic.contract.regular_files import open_regular

MAGIC = b"MOSAICFR"
VERSION = 1
MAX_SIDE = 8192
CHANNELS = (1, 3, 4)
MIN_SLOTS, MAX_SLOTS = 3, 16
MAX_STEP_BYTES = 1 << 20

_HEADER = struct.Struct("<8s6I")
_SEQUENCE = struct.Struct("<Q")
_SLOT = struct.Struct("<QqqI")
HEADER_BYTES = SLOT_HEADER_BYTES = ALIGNMENT = 64
_MAX_ATTEMPTS = 64
"""How often a read is repeated when the writer overwrites the slot while it is read."""


class FrameView(NamedTuple):
    """One complete frame. `pixels` are uint8, row-major from the top, channels last."""

    number: int
    """Frame counter, from 1, within one file."""
    width: int
    height: int
    channels: int
    step: int
    control_seq: int
    step_json: bytes
    """The step that produced the frame; empty when the worker did not write it."""
    pixels: bytes


class _Layout(NamedTuple):
    """The layout that the header of a file declares."""

    width: int
    height: int
    channels: int
    slots: int
    step_bytes: int

    @property
    def pixel_bytes(self) -> int:
        return self.width * self.height * self.channels

    @property
    def slot_bytes(self) -> int:
        size = SLOT_HEADER_BYTES + self.step_bytes + self.pixel_bytes
        return size + -size % ALIGNMENT

    @property
    def file_bytes(self) -> int:
        return HEADER_BYTES + self.slots * self.slot_bytes

    @property
    def is_valid(self) -> bool:
        return (
            1 <= self.width <= MAX_SIDE
            and 1 <= self.height <= MAX_SIDE
            and self.channels in CHANNELS
            and MIN_SLOTS <= self.slots <= MAX_SLOTS
            and self.step_bytes <= MAX_STEP_BYTES
        )


class FrameReader:
    """Reads the frames of one run; the file may not exist yet. One reader per thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._identity = (0, 0)
        self._layout: _Layout | None = None
        self._last_number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._layout = None
        self._last_number = 0

    def newest(self, after: int = 0) -> FrameView | None:
        """Return the newest complete frame, or None. Never blocks, never raises.

        With the number of the previous frame as `after`, returns None until there is a newer one,
        also when the worker has replaced the file and numbers restart at 1.
        """
        try:
            self._reopen()
            frame = self._newest(after if after == self._last_number else 0)
        except OSError:
            self.close()
            return None
        if frame is not None:
            self._last_number = frame.number
        return frame

    def _reopen(self) -> None:
        """Open the file that is at the path now, if it is another one."""
        status = self._path.lstat()
        if self._descriptor >= 0 and self._identity == (status.st_dev, status.st_ino):
            return
        self.close()
        self._descriptor = open_regular(self._path)
        opened = os.fstat(self._descriptor)
        self._identity = (opened.st_dev, opened.st_ino)
        self._layout = self._read_layout()

    def _read_layout(self) -> _Layout | None:
        data = os.pread(self._descriptor, _HEADER.size, 0)
        if len(data) < _HEADER.size:
            return None
        magic, version, *fields = _HEADER.unpack(data)
        layout = _Layout(*fields)
        return layout if (magic, version) == (MAGIC, VERSION) and layout.is_valid else None

    def _newest(self, after: int) -> FrameView | None:
        layout = self._layout
        if layout is None or os.fstat(self._descriptor).st_size != layout.file_bytes:
            return None
        for _ in range(_MAX_ATTEMPTS):
            number, offset = self._newest_slot(layout)
            if number <= after:
                return None
            frame = self._read_slot(layout, number, offset)
            if frame is not None:
                return frame
        return None

    def _newest_slot(self, layout: _Layout) -> tuple[int, int]:
        """Return number and offset of the newest frame that is not being written, or (0, 0)."""
        newest = (0, 0)
        for slot in range(layout.slots):
            offset = HEADER_BYTES + slot * layout.slot_bytes
            sequence = self._sequence(offset)
            if sequence % 2 == 0:
                newest = max(newest, (sequence // 2, offset))
        return newest

    def _read_slot(self, layout: _Layout, number: int, offset: int) -> FrameView | None:
        """Read the frame; None when the writer has overwritten it."""
        header = os.pread(self._descriptor, _SLOT.size, offset)
        if len(header) < _SLOT.size:
            return None
        sequence, step, control_seq, step_bytes = _SLOT.unpack(header)
        if sequence != 2 * number or step_bytes > layout.step_bytes:
            return None
        content = offset + SLOT_HEADER_BYTES
        # Each is copied once, directly from the file: a short read is rarely overwritten.
        step_json = os.pread(self._descriptor, step_bytes, content)
        pixels = os.pread(self._descriptor, layout.pixel_bytes, content + layout.step_bytes)
        if self._sequence(offset) != 2 * number:
            return None
        if len(step_json) < step_bytes or len(pixels) < layout.pixel_bytes:
            return None
        return FrameView(
            number,
            layout.width,
            layout.height,
            layout.channels,
            step,
            control_seq,
            step_json,
            pixels,
        )

    def _sequence(self, offset: int) -> int:
        data = os.pread(self._descriptor, _SEQUENCE.size, offset)
        return int(_SEQUENCE.unpack(data)[0]) if len(data) == _SEQUENCE.size else 0
