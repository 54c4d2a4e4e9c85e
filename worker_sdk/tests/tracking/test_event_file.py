"""Event files: their records, and the messages in them."""

from __future__ import annotations

import math
import struct
import tempfile
import unittest
from pathlib import Path

from mosaic_worker.tracking.event_file import EventFile, crc32c, masked_crc32c


class ChecksumTest(unittest.TestCase):
    def test_checksums_are_those_of_the_format(self) -> None:
        """CRC-32C of the usual test string and of zeros, and its mask."""
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(crc32c(bytes(32)), 0x8A9136AA)
        self.assertEqual(crc32c(b""), 0)
        rotated = (0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8
        self.assertEqual(masked_crc32c(b"123456789"), rotated & 0xFFFFFFFF)


class EventFileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "runs" / "a-run"
        self.events = EventFile(self.folder)
        self.addCleanup(self.events.close)

    def records(self) -> list[bytes]:
        """Return the messages, after checking every length and checksum."""
        self.events.flush()
        (path,) = self.folder.iterdir()
        self.assertTrue(path.name.startswith("events.out.tfevents."))
        data, messages = path.read_bytes(), []
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            self.assertEqual(data[8:12], struct.pack("<I", masked_crc32c(data[:8])))
            message = data[12 : 12 + size]
            self.assertEqual(data[12 + size : 16 + size], _checksum(message))
            messages.append(message)
            data = data[16 + size :]
        return messages

    def test_a_file_starts_with_the_version_of_its_format(self) -> None:
        """It is written immediately, so that readers recognise the file."""
        (path,) = self.folder.iterdir()
        self.assertTrue(path.read_bytes())
        self.assertTrue(self.records()[0].endswith(b"\x1a\x0dbrain.Event:2"))

    def test_scalars_are_encoded(self) -> None:
        """Step, tag and number, for the first and later values of a curve."""
        self.events.scalars({"charts/success_rate": 0.25}, 300)
        self.events.scalars({"charts/success_rate": 0.5}, 301)
        _, first, second = self.records()
        self.assertIn(b"\x10\xac\x02", first)  # 300
        self.assertTrue(first.endswith(b"charts/success_rate\x15" + struct.pack("<f", 0.25)))
        self.assertTrue(second.endswith(b"charts/success_rate\x15" + struct.pack("<f", 0.5)))
        self.assertEqual(len(first), len(second))

    def test_out_of_range_numbers_are_clamped(self) -> None:
        """Large numbers become infinite; a negative step takes ten bytes, as in protobuf."""
        self.events.scalars({"large": 1e300, "low": -1e300, "odd": math.nan}, -1)
        message = self.records()[1]
        self.assertIn(b"large\x15" + struct.pack("<f", math.inf), message)
        self.assertIn(b"low\x15" + struct.pack("<f", -math.inf), message)
        self.assertIn(b"odd\x15" + struct.pack("<f", math.nan), message)
        self.assertIn(b"\x10" + b"\xff" * 9 + b"\x01", message)

    def test_texts_are_encoded_for_the_text_plugin(self) -> None:
        """As a tensor of one string."""
        self.events.text("hyperparameters", "|param|value|")
        message = self.records()[1]
        self.assertIn(b"hyperparameters/text_summary", message)
        self.assertIn(b"\x08\x07\x12\x04\x12\x02\x08\x01\x42\x0d|param|value|", message)
        self.assertTrue(message.endswith(b"\x4a\x08\x0a\x06\x0a\x04text"))


def _checksum(data: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(data))


if __name__ == "__main__":
    unittest.main()
