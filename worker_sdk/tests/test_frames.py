"""Frames are written in the layout of docs/protocol.md, and never slow down or end the training."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

from mosaic_worker import Emitter, FrameMailbox, WorkerError
from mosaic_worker.testing import WorkerProcess

HEADER = struct.Struct("<8s6I")
SLOT = struct.Struct("<QqqI")


class Slot(NamedTuple):
    sequence: int
    step: int
    seq: int
    step_json: bytes
    pixels: bytes


def read(path: Path) -> tuple[tuple[int, ...], list[Slot]]:
    """Return the frame shape and every slot; implemented from the documentation only."""
    data = path.read_bytes()
    magic, version, width, height, channels, slots, step_bytes = HEADER.unpack_from(data)
    pixel_bytes = width * height * channels
    slot_bytes = (64 + step_bytes + pixel_bytes + 63) // 64 * 64
    if magic != b"MOSAICFR" or version != 1 or len(data) != 64 + slots * slot_bytes:
        raise AssertionError("the layout differs from the documentation")
    contents = []
    for number in range(slots):
        start = 64 + number * slot_bytes
        sequence, step, seq, length = SLOT.unpack_from(data, start)
        text = data[start + 64 : start + 64 + length]
        pixels_at = start + 64 + step_bytes
        contents.append(Slot(sequence, step, seq, text, data[pixels_at : pixels_at + pixel_bytes]))
    return (width, height, channels), contents


class FrameMailboxTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "frames"

    def mailbox(self) -> FrameMailbox:
        mailbox = FrameMailbox(self.path)
        self.addCleanup(mailbox.close)
        return mailbox

    def emitter(self) -> Emitter:
        self.telemetry = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.telemetry)
        emitter = Emitter(fd=self.telemetry)
        self.addCleanup(emitter.writer.close)
        return emitter

    def test_the_newest_frames_are_in_the_file(self) -> None:
        """Frames use the slots in turn, each with its step, command and line."""
        mailbox = self.mailbox()
        for number in range(1, 8):
            pixels = bytes([number]) * 24
            mailbox.write(pixels, 4, 2, step=number, seq=-number, step_json=b"{%d}" % number)
        shape, slots = read(self.path)
        self.assertEqual(shape, (4, 2, 3))
        self.assertGreaterEqual(len(slots), 3)
        for slot in slots:
            number = slot.sequence // 2
            self.assertEqual(
                slot, (2 * number, number, -number, b"{%d}" % number, bytes([number]) * 24)
            )
        numbers = sorted(slot.sequence // 2 for slot in slots)
        self.assertEqual(numbers, list(range(8 - len(slots), 8)))
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)

    def test_no_file_before_the_first_frame(self) -> None:
        """A worker that renders nothing creates no file."""
        self.mailbox()
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_another_size_creates_another_file(self) -> None:
        """Readers of the old file are not disturbed, and the numbers continue."""
        mailbox = self.mailbox()
        mailbox.write(bytes(12), 2, 2)
        with self.path.open("rb") as old:
            before = old.read()
            mailbox.write(bytes(8), 4, 2, 1)
            old.seek(0)
            self.assertEqual(old.read(), before)
        shape, slots = read(self.path)
        self.assertEqual(shape, (4, 2, 1))
        self.assertEqual(max(slot.sequence for slot in slots), 4)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["frames"])

    def test_pixels_of_any_kind(self) -> None:
        """Any buffer works, including a slice of another image."""
        view = memoryview(bytes(range(24)))
        kinds = [bytes(view), bytearray(view), view, view.cast("B", (2, 4, 3))]
        for pixels in kinds:
            with self.subTest(type=type(pixels).__name__):
                mailbox = self.mailbox()
                mailbox.write(pixels, 4, 2)
                self.assertEqual(read(self.path)[1][1].pixels, bytes(range(24)))
        mailbox = self.mailbox()
        mailbox.write(memoryview(bytes(range(24)))[::2], 4, 3, 1)
        self.assertEqual(read(self.path)[1][1].pixels, bytes(range(0, 24, 2)))

    def test_pixels_of_the_wrong_size_are_rejected(self) -> None:
        """The error has a message and a remedy for the author of the worker."""
        mailbox = self.mailbox()
        for pixels, width, height, channels in (
            (bytes(11), 2, 2, 3),
            (bytes(13), 2, 2, 3),
            (b"", 0, 2, 3),
            (bytes(8), 2, 2, 2),
            (bytes(9000), 9000, 1, 1),
        ):
            with self.subTest(width=width, channels=channels), self.assertRaises(WorkerError) as e:
                mailbox.write(pixels, width, height, channels)
            self.assertTrue(e.exception.remedy)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_step_that_is_too_long_is_omitted(self) -> None:
        """The frame itself is still written."""
        mailbox = self.mailbox()
        mailbox.write(bytes(3), 1, 1, step=5, step_json=b"x" * (64 << 10))
        mailbox.write(bytes(3), 1, 1, step=6, step_json=b"x" * ((64 << 10) + 1))
        lengths = {slot.step: len(slot.step_json) for slot in read(self.path)[1] if slot.sequence}
        self.assertEqual(lengths, {5: 64 << 10, 6: 0})

    def test_without_disk_space_training_continues(self) -> None:
        """Frames are counted as dropped, with one log message."""
        mailbox = FrameMailbox(self.folder / "gone" / "frames", self.emitter())
        for _ in range(50):
            mailbox.write(bytes(3), 1, 1)
        self.assertEqual(mailbox.dropped, 50)
        (line,) = [json.loads(line) for line in os.pread(self.telemetry, 10_000, 0).splitlines()]
        self.assertEqual((line["code"], line["level"]), ("W122", "warning"))

    def test_a_file_size_limit_loses_only_frames(self) -> None:
        """The process keeps running and leaves no file."""
        code = (
            "import resource, signal, sys; from mosaic_worker import FrameMailbox\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
            "mailbox = FrameMailbox('frames')\n"
            "mailbox.write(bytes(640 * 480 * 3), 640, 480)\n"
            "sys.exit(40 + mailbox.dropped)\n"
        )
        with WorkerProcess(["-c", code], self.folder) as worker:
            self.assertEqual(worker.wait(), 41, worker.log.read_text())
            self.assertIn("W122", worker.log.read_text())
        names = {path.name for path in self.folder.iterdir()}
        self.assertEqual(names, {"telemetry.jsonl", "worker.log"})

    def test_frames_resume_after_an_error(self) -> None:
        """Once the folder exists again, the next frame after a short time is written."""
        path = self.folder / "later" / "frames"
        mailbox = FrameMailbox(path, self.emitter())
        self.addCleanup(mailbox.close)
        mailbox.write(bytes(3), 1, 1)
        path.parent.mkdir()
        mailbox._retry_at = 0.0
        mailbox.write(b"abc", 1, 1)
        self.assertEqual(max(read(path)[1]).pixels, b"abc")

    def test_a_forked_child_can_write(self) -> None:
        """Even if another thread was writing during the fork."""
        mailbox = self.mailbox()
        mailbox.write(bytes(3), 1, 1)
        with mailbox._lock:
            child = os.fork()
            if child == 0:
                mailbox.write(b"abc", 1, 1)
                os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(max(read(self.path)[1]).pixels, b"abc")


if __name__ == "__main__":
    unittest.main()
