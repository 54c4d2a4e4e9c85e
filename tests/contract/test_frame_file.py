"""A frame reader returns complete frames only, whatever a worker does to the file."""

import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mosaic.contract import frame_file
from mosaic.contract.frame_file import FrameReader, FrameView
from mosaic_worker import frames
from mosaic_worker.frames import FrameMailbox

HEADER = struct.Struct("<8s6I")
VALID_HEADER = (b"MOSAICFR", 1, 4, 2, 3, 3, 64)
TIMEOUT_S = 60.0

# Each frame has one colour, derived from its number, so that mixed frames are detected.
WRITER = """
import sys
from mosaic_worker.frames import FrameMailbox
path, width, height, count = sys.argv[1], *map(int, sys.argv[2:])
colours = [bytes([colour]) * (width * height * 3) for colour in range(251)]
mailbox = FrameMailbox(path)
for number in range(1, count + 1):
    if number == count // 2:
        mailbox.write(b"abc", 1, 1)  # another file
        continue
    step_json = b"%d" % number * (number % 9)
    mailbox.write(
        colours[number % 251], width, height, step=number, seq=-number, step_json=step_json
    )
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "frames"


@pytest.fixture
def reader(path: Path) -> Iterator[FrameReader]:
    with FrameReader(path) as open_reader:
        yield open_reader


@pytest.fixture
def mailbox(path: Path) -> Iterator[FrameMailbox]:
    with closing(FrameMailbox(path)) as open_mailbox:
        yield open_mailbox


def file_of(fields: tuple[bytes | int, ...] = VALID_HEADER, size: int | None = None) -> bytes:
    """A file with this header and one complete frame, number 5, in its first slot."""
    header = HEADER.pack(*fields).ljust(64, b"\0")
    slot = struct.pack("<QqqI", 10, 7, 8, 2).ljust(64, b"\0") + b"{}".ljust(64, b"\0") + b"p" * 24
    content = header + slot.ljust(192, b"\0") + bytes(2 * 192)
    return content if size is None else content[:size].ljust(size, b"\0")


def test_a_frame_round_trips(reader: FrameReader, mailbox: FrameMailbox) -> None:
    """A reader gets what the SDK wrote: size, step, command, line and pixels."""
    pixels = bytes(range(96))
    mailbox.write(pixels, 8, 3, 4, step=41, seq=-9, step_json=b'{"type":"step"}')
    assert reader.newest() == FrameView(1, 8, 3, 4, 41, -9, b'{"type":"step"}', pixels)
    mailbox.write(bytes(96), 8, 3, 4)
    assert reader.newest() == FrameView(2, 8, 3, 4, 0, 0, b"", bytes(96))


def test_the_documented_layout_is_read(path: Path, reader: FrameReader) -> None:
    """A file made from the documentation alone, as by a worker in another language."""
    path.write_bytes(file_of())
    assert reader.newest() == FrameView(5, 4, 2, 3, 7, 8, b"{}", b"p" * 24)


def test_both_sides_have_the_same_limits() -> None:
    """The reader accepts everything that the SDK writes."""
    for name in ("MAGIC", "VERSION", "MAX_SIDE", "CHANNELS", "HEADER_BYTES", "SLOT_HEADER_BYTES"):
        assert getattr(frames, name) == getattr(frame_file, name)
    assert frame_file.MIN_SLOTS <= frames.SLOTS <= frame_file.MAX_SLOTS
    assert frames.STEP_BYTES <= frame_file.MAX_STEP_BYTES


def test_a_frame_is_returned_once(path: Path, reader: FrameReader, mailbox: FrameMailbox) -> None:
    """A stream that passes its last number gets the next frame, also of a replaced file."""
    for _ in range(5):
        mailbox.write(b"old", 1, 1)
    frame = reader.newest()
    assert frame
    assert frame.number == 5
    assert reader.newest(5) is None
    with closing(FrameMailbox(path)) as restarted:
        for pixels in (b"new", b"two", b"abc", b"def", b"ghi"):
            restarted.write(pixels, 1, 1)
            frame = reader.newest(frame.number)
            assert frame
            assert frame.pixels == pixels


def test_a_change_of_size_is_noticed(reader: FrameReader, mailbox: FrameMailbox) -> None:
    """A resized or replaced environment needs no new reader."""
    for number, side in enumerate((4, 9, 4, 300), start=1):
        mailbox.write(bytes([side % 251]) * side * side, side, side, 1)
        frame = reader.newest()
        assert frame
        assert (frame.number, frame.width, len(frame.pixels)) == (number, side, side * side)


def test_no_file_no_frame(path: Path, reader: FrameReader, mailbox: FrameMailbox) -> None:
    """Before the first frame, and after the run's directory was removed."""
    assert reader.newest() is None
    mailbox.write(b"abc", 1, 1)
    assert reader.newest()
    path.unlink()
    assert reader.newest() is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, b"MOSAICFS"),
        (1, 2),
        (2, 0),
        (2, 8193),
        (3, 0),
        (3, 1 << 31),
        (4, 2),
        (4, 0),
        (5, 2),
        (5, 17),
        (6, (1 << 20) + 1),
        (6, (1 << 32) - 1),
    ],
)
def test_a_header_beyond_the_limits_is_rejected(
    path: Path, reader: FrameReader, field: int, value: bytes | int
) -> None:
    """No header field makes the reader allocate memory or fail."""
    path.write_bytes(file_of((*VALID_HEADER[:field], value, *VALID_HEADER[field + 1 :])))
    assert reader.newest() is None


@pytest.mark.parametrize("size", [0, 5, 63, 64, 200, 639, 641, 5000])
def test_a_file_of_the_wrong_size_is_rejected(path: Path, reader: FrameReader, size: int) -> None:
    """A truncated or padded file is not read past its end."""
    path.write_bytes(file_of(size=size))
    assert reader.newest() is None


def test_truncating_an_open_file_is_harmless(
    path: Path, reader: FrameReader, mailbox: FrameMailbox
) -> None:
    """A worker that truncates its file does not kill its readers."""
    mailbox.write(bytes(640 * 480 * 3), 640, 480)
    assert reader.newest()
    os.truncate(path, 100)
    assert reader.newest() is None


def test_a_file_that_is_not_regular_is_rejected(
    path: Path, reader: FrameReader, tmp_path: Path
) -> None:
    """A FIFO does not block, and a link out of the run's directory is not followed."""
    os.mkfifo(path)
    assert reader.newest() is None
    path.unlink()
    (tmp_path / "elsewhere").write_bytes(file_of())
    path.symlink_to(tmp_path / "elsewhere")
    assert reader.newest() is None
    path.unlink()
    path.mkdir()
    assert reader.newest() is None


def test_a_step_longer_than_its_slot_is_rejected(path: Path, reader: FrameReader) -> None:
    """A slot cannot make the reader return pixels as text."""
    data = bytearray(file_of())
    struct.pack_into("<I", data, 64 + 24, 65)
    path.write_bytes(data)
    assert reader.newest() is None


def test_a_frame_that_is_being_written_is_skipped(path: Path, reader: FrameReader) -> None:
    """The previous one is returned until the newest is complete."""
    data = bytearray(file_of())
    struct.pack_into("<Q", data, 64 + 192, 11)
    path.write_bytes(data)
    frame = reader.newest()
    assert frame
    assert frame.number == 5


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=700), at=st.integers(0, 639))
def test_any_bytes(path: Path, noise: bytes, at: int) -> None:
    """Reading a file with any content returns a valid frame or None."""
    data = bytearray(file_of())
    data[at : at + len(noise)] = noise
    path.write_bytes(data)
    with FrameReader(path) as reader:
        frame = reader.newest()
    assert frame is None or len(frame.pixels) == frame.width * frame.height * frame.channels


@pytest.mark.process
@pytest.mark.parametrize(("width", "height", "count"), [(64, 48, 200_000), (320, 240, 20_000)])
def test_no_frame_is_torn(path: Path, width: int, height: int, count: int) -> None:
    """A writer at full speed in another process: no frame mixes two frames."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path, str(width), str(height), str(count)]
    )
    deadline = time.monotonic() + TIMEOUT_S
    number = seen = 0
    try:
        with FrameReader(path) as reader:
            while number < count:
                frame = reader.newest(number)
                assert time.monotonic() < deadline, f"only {seen} frames seen"
                if frame is None:
                    continue
                assert frame.number > number
                number = frame.number
                seen += 1
                assert_is_complete(frame)
    finally:
        writer.kill()
        writer.wait()
    assert seen > 10


def assert_is_complete(frame: FrameView) -> None:
    number = frame.number
    if frame.pixels == b"abc":
        return
    assert frame.pixels[0] == number % 251
    assert frame.pixels.count(frame.pixels[0]) == frame.width * frame.height * 3
    assert (frame.step, frame.control_seq) == (number, -number)
    assert frame.step_json == b"%d" % number * (number % 9)
