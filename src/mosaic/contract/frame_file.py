"""FrameReader: the newest frame of a run, from the file `frames` that its worker keeps writing.

`docs/protocol.md` has the layout byte by byte. The worker is not trusted: everything it says is
checked, and the file is read, not mapped, because cutting a mapped file short kills its readers.
"""

import os
import stat
import struct
from pathlib import Path
from typing import NamedTuple, Self

MAGIC = b"MOSAICFR"
VERSION = 1
MOST_SIDE = 8192
CHANNELS = (1, 3, 4)
FEWEST_SLOTS, MOST_SLOTS = 3, 16
MOST_STEP_BYTES = 1 << 20

_HEADER = struct.Struct("<8s6I")
_SEQUENCE = struct.Struct("<Q")
_SLOT = struct.Struct("<QqqI")
HEADER_BYTES = SLOT_HEADER_BYTES = ALIGNMENT = 64
_TRIES = 64
"""A writer that laps its reader so often at once is not one that anybody could watch."""


class FrameView(NamedTuple):
    """One whole frame. `pixels` are bytes, row by row from the top, channel by channel."""

    number: int
    """Counts up from 1 within one file."""
    width: int
    height: int
    channels: int
    step: int
    control_seq: int
    step_json: bytes
    """The step that led to the frame; empty when the worker did not give it."""
    pixels: bytes


class _Layout(NamedTuple):
    """Where everything is, in a file that says so in its header."""

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
    def is_sound(self) -> bool:
        return (
            1 <= self.width <= MOST_SIDE
            and 1 <= self.height <= MOST_SIDE
            and self.channels in CHANNELS
            and FEWEST_SLOTS <= self.slots <= MOST_SLOTS
            and self.step_bytes <= MOST_STEP_BYTES
        )


class FrameReader:
    """Reads one run's frames, whether they are there yet or not. One per thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._identity = (0, 0)
        self._layout: _Layout | None = None
        self._given = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._layout = None
        self._given = 0

    def newest(self, after: int = 0) -> FrameView | None:
        """The newest whole frame, or None when there is none. Never waits, never raises.

        With the number of the frame that was given last as `after`: None until there is a newer
        one, be it in another file whose numbers begin anew.
        """
        try:
            self._reopen()
            frame = self._newest(after if after == self._given else 0)
        except OSError:
            self.close()
            return None
        if frame is not None:
            self._given = frame.number
        return frame

    def _reopen(self) -> None:
        """Turn to the file that the path names now."""
        found = self._path.lstat()
        if self._descriptor >= 0 and self._identity == (found.st_dev, found.st_ino):
            return
        self.close()
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags)
        opened = os.fstat(self._descriptor)
        self._identity = (opened.st_dev, opened.st_ino)
        self._layout = self._read_layout() if stat.S_ISREG(opened.st_mode) else None

    def _read_layout(self) -> _Layout | None:
        data = os.pread(self._descriptor, _HEADER.size, 0)
        if len(data) < _HEADER.size:
            return None
        magic, version, *fields = _HEADER.unpack(data)
        layout = _Layout(*fields)
        return layout if (magic, version) == (MAGIC, VERSION) and layout.is_sound else None

    def _newest(self, after: int) -> FrameView | None:
        layout = self._layout
        if layout is None or os.fstat(self._descriptor).st_size != layout.file_bytes:
            return None
        for _ in range(_TRIES):
            number, place = self._newest_slot(layout)
            if number <= after:
                return None
            frame = self._read_slot(layout, number, place)
            if frame is not None:
                return frame
        return None

    def _newest_slot(self, layout: _Layout) -> tuple[int, int]:
        """Number and place of the newest frame that is not being written; (0, 0) without one."""
        newest = (0, 0)
        for slot in range(layout.slots):
            place = HEADER_BYTES + slot * layout.slot_bytes
            sequence = self._sequence(place)
            if sequence % 2 == 0:
                newest = max(newest, (sequence // 2, place))
        return newest

    def _read_slot(self, layout: _Layout, number: int, place: int) -> FrameView | None:
        """The frame; None when it was written over meanwhile."""
        header = os.pread(self._descriptor, _SLOT.size, place)
        if len(header) < _SLOT.size:
            return None
        sequence, step, control_seq, step_bytes = _SLOT.unpack(header)
        if sequence != 2 * number or step_bytes > layout.step_bytes:
            return None
        content = place + SLOT_HEADER_BYTES
        # Each copied once, straight out of the file: the sooner it is done, the seldomer it is
        # written over meanwhile.
        step_json = os.pread(self._descriptor, step_bytes, content)
        pixels = os.pread(self._descriptor, layout.pixel_bytes, content + layout.step_bytes)
        if self._sequence(place) != 2 * number:
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

    def _sequence(self, place: int) -> int:
        data = os.pread(self._descriptor, _SEQUENCE.size, place)
        return int(_SEQUENCE.unpack(data)[0]) if len(data) == _SEQUENCE.size else 0
